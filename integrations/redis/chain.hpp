// A chain of Bloom filters that grows: what a key of the BF.* commands holds (Almeida, Baquero,
// Preguica, Hutchison: Scalable Bloom Filters, 2007).
//
//   Filter i is made for capacity * expansion^i items at the rate error / 2^(i+1); a chain that
//   does not grow is one filter at the rate `error`. All hash with the secret of the first. add(x):
//   (1) seen, if any filter holds x
//           (2) the last filter has taken as many as it was made for: the next is made, or the
//               item is refused
//           (3) the last filter takes x in
//
// Guarantee: no false negative, ever; what was refused is not there, and the reply said so.
// Predicted: FPR at most the sum of the filters' rates, which is below `error` for any length. No
//   filter is made for a rate below 2^-50: digests of 64 bits give no less at any size that fits.
// Measured (error 0.01, capacity 10,000, 200,000 items in 5 filters; 1,000,000 strangers): FPR
//   0.942 %, where 0.944 % was stated by their fill.
// Stops working: a look-up asks every filter, so that a chain with EXPANSION 1 or far too small a
//   capacity is slow; 4096 filters, or the bytes that a key may take, are the end.
//
// The value's notes: {kind of notes, capacity, bits of the error rate, expansion, parts, checksum},
// where expansion 0 means that it does not grow, and parts how many filters an unfinished
// BF.LOADCHUNK is to bring.
#pragma once

#include "value.hpp"

namespace weir::redis {

struct ChainPlan {
  std::uint64_t capacity = 100;
  double error = 0.01;
  std::uint64_t expansion = 2;
};
inline constexpr std::size_t chain_notes = 6;
inline constexpr std::uint64_t most_capacity = std::uint64_t{1} << 48, most_expansion = 32768;

// Takes notes in. Throws Error(BadState) when they are not those of a chain, or the value's
// structures are no chain: nothing that was checked here is checked again.
void set_notes(Value& value, std::vector<std::uint64_t> notes);

class Chain {
 public:
  // A new one: the first filter with a secret of its own.
  static std::unique_ptr<Value> make(const ChainPlan& plan, std::uint64_t allowed);

  // One that comes in by BF.LOADCHUNK: what head() gave of another, and no filter yet. Throws
  // Error(BadState).
  static std::unique_ptr<Value> expect(std::vector<std::uint64_t> head);
  [[nodiscard]] std::vector<std::uint64_t> head() const;
  // Takes the next filter of such a chain in, and is whole with the last. Throws Error(BadState).
  void adopt(StateReader&& state);

  static bool is(const Value& value) { return !value.notes.empty(); }
  // Of a value that is one.
  explicit Chain(Value& value) : value_(value) {}

  [[nodiscard]] ChainPlan plan() const;
  // Filters that are still to come by BF.LOADCHUNK; 0 when it is whole.
  static std::uint64_t missing(const Value& value);
  [[nodiscard]] std::uint64_t capacity() const;  // of all filters
  [[nodiscard]] std::uint64_t items() const;     // that were new
  [[nodiscard]] double fpr() const;              // as full as they are
  [[nodiscard]] const Digester& digester() const { return value_.structures.front()->digester(); }

  void contains(std::span<const Digest> digests, std::span<Verdict> out) const;
  // Takes digests in, up to the first that needs a further filter. How many were.
  std::size_t add(std::span<const Digest> digests, std::span<Verdict> out);
  // What the next filter is made from. Throws Error when there can be none: the chain does not
  // grow, or the key would take more than `allowed` bytes.
  [[nodiscard]] std::string next(std::uint64_t allowed) const;
  void grow(const std::string& spec);

 private:
  [[nodiscard]] Filter& filter(std::size_t i) const {
    return static_cast<Filter&>(*value_.structures[i]);
  }
  // How many digests of the beginning the last filter takes.
  std::size_t add_to_last(std::span<const Digest> digests, std::span<Verdict> out);

  Value& value_;
};

}  // namespace weir::redis
