#include "stream.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>
#include <unordered_map>

#include "core/bits.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

class Uniform final : public Stream {
 public:
  Uniform(std::uint64_t universe, std::uint64_t seed) : universe_(universe), draws_(mix(seed, 7)) {}
  std::size_t fill(std::span<std::uint64_t> keys, std::span<std::uint32_t> weights) override {
    for (std::uint64_t& key : keys) key = draws_.below(universe_);
    std::fill(weights.begin(), weights.end(), 1);
    return keys.size();
  }
  [[nodiscard]] std::uint64_t universe() const override { return universe_; }

 private:
  std::uint64_t universe_;
  Draws draws_;
};

constexpr std::uint64_t repeated = std::uint64_t{1} << 63;

// The n-th field of a line, counted from 1.
std::string_view field_of(std::string_view line, char separator, unsigned n,
                          const std::string& where) {
  for (; n > 1; --n) {
    const auto at = line.find(separator);
    if (at == std::string_view::npos)
      throw Error(ErrorCode::BadInput, where + " has too few fields");
    line.remove_prefix(at + 1);
  }
  return line.substr(0, line.find(separator));
}

}  // namespace

std::unique_ptr<Stream> uniform(std::uint64_t universe, std::uint64_t seed) {
  return std::make_unique<Uniform>(universe, seed);
}

DistanceStream::DistanceStream(Distances what, std::uint64_t seed)
    : what_(std::move(what)), state_(mix(seed, 8)) {
  ring_.assign(*std::max_element(what_.distances.begin(), what_.distances.end()), repeated);
}

std::size_t DistanceStream::fill(std::span<std::uint64_t> keys, std::span<std::uint32_t> weights) {
  std::vector<std::uint32_t> which(keys.size());
  std::fill(weights.begin(), weights.end(), 1);
  return fill_with_distances(keys, which);
}

std::size_t DistanceStream::fill_with_distances(std::span<std::uint64_t> keys,
                                                std::span<std::uint32_t> which) {
  for (std::size_t i = 0; i < keys.size(); ++i, ++records_) {
    Draws draws(mix(state_, records_));
    std::uint64_t key = repeated;
    if (draws.unit() < what_.share) {
      const auto d = static_cast<std::uint32_t>(draws.below(what_.distances.size()));
      const std::uint64_t distance = what_.distances[d];
      if (distance <= records_) {
        std::uint64_t& past = ring_[(records_ - distance) % ring_.size()];
        if ((past & repeated) == 0) {
          key = past, which[i] = d;
          past |= repeated;
        }
      }
    }
    if (key == repeated) {
      key = next_key_++, which[i] = fresh;
      ring_[records_ % ring_.size()] = key;
    } else {
      ring_[records_ % ring_.size()] = key | repeated;
    }
    keys[i] = key;
  }
  return keys.size();
}

Trace read_trace(const std::string& path, const TraceFormat& format) {
  std::ifstream in(path);
  if (!in) throw Error(ErrorCode::Io, "cannot read " + path);
  Trace trace;
  std::unordered_map<std::string, std::uint32_t> numbers;
  std::string line;
  for (std::uint64_t n = 1; std::getline(in, line); ++n) {
    const auto where = [&] { return path + ": line " + std::to_string(n); };
    const std::string_view key = format.key_field == 0
                                     ? std::string_view(line)
                                     : field_of(line, format.separator, format.key_field, where());
    const auto [number, is_new] = numbers.emplace(key, static_cast<std::uint32_t>(numbers.size()));
    static_cast<void>(is_new);
    trace.keys.push_back(number->second);
    if (format.weight_field == 0) continue;
    const std::string_view text = field_of(line, format.separator, format.weight_field, where());
    std::uint32_t weight = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), weight);
    if (error != std::errc() || end != text.data() + text.size())
      throw Error(ErrorCode::BadInput,
                  where() + " has the weight '" + std::string(text) + "', not a whole number");
    trace.weights.push_back(weight);
  }
  if (in.bad()) throw Error(ErrorCode::Io, "cannot read on in " + path);
  trace.distinct = static_cast<std::uint32_t>(numbers.size());
  return trace;
}

}  // namespace weir::lab
