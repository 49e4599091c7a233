// A structure's shape is a small struct whose `visit` names each field once, with its range:
//
//   struct Shape {
//     std::uint64_t m; unsigned K;
//     template <class V> void visit(V& v) { v.whole("m", m, 1, max_cells); v.whole("K", K, 1, 32);
//     }
//   };
//
// From that one list come the parsing of parameters (command line and snapshot alike) and
// their printing.
#pragma once

#include "core/params.hpp"

namespace weir {

// Positions times bits a cell must stay far from 2^64.
inline constexpr std::uint64_t max_cells = std::uint64_t{1} << 48;

class ShapeReader {
 public:
  explicit ShapeReader(const Params& params) : params_(params) {}
  template <class N>
  void whole(const char* name, N& field, std::uint64_t least, std::uint64_t most) {
    field = static_cast<N>(params_.whole(name, least, most));
  }
  void real(const char* name, double& field, double least, double most) {
    field = params_.real(name, least, most);
  }
  template <class E>
  void choice(const char* name, E& field, std::span<const char* const> names) {
    field = static_cast<E>(params_.choice(name, names));
  }

 private:
  const Params& params_;
};

class ShapeWriter {
 public:
  template <class N>
  void whole(const char* name, N& field, std::uint64_t, std::uint64_t) {
    params_.fill(name, static_cast<std::uint64_t>(field));
  }
  void real(const char* name, double& field, double, double) { params_.fill(name, field); }
  template <class E>
  void choice(const char* name, E& field, std::span<const char* const> names) {
    params_.fill(name, std::string_view(names[static_cast<std::size_t>(field)]));
  }
  [[nodiscard]] std::string text() const { return params_.text(); }

 private:
  Params params_;
};

template <class Shape>
Shape read_shape(const Params& params) {
  Shape shape{};
  ShapeReader reader(params);
  shape.visit(reader);
  if constexpr (requires { shape.check(); }) shape.check();
  return shape;
}

template <class Shape>
std::string write_shape(Shape shape) {
  ShapeWriter writer;
  shape.visit(writer);
  return writer.text();
}

}  // namespace weir
