// A sample of records of any length, in one of four ways; what weir sample runs.
//
//   n records are held, N have been met; each record has its ordinal, from 0 on.
//   Uniform    Algorithm L (reservoir.hpp): every set of n records with the same probability
//   Recent     (1) the record takes part with probability q = n (1 - 2^(-1/h)), (2) and then takes
//              a random slot (Aggarwal, VLDB 2006, section 3: biased_reservoir.hpp). Held is a
//              record that is a records old with probability q (1 - q/n)^a = q 2^(-a/h)
//   Weighted   (3) rank = -ln(U) / weight, U uniform in (0, 1); (5) the n least ranks stay
//              (Efraimidis, Spirakis, IPL 2006): as n draws without replacement, each by weight
//   Distinct   (4) rank = the key's digest; (5) the n least ranks stay, each once: the first
//              record of each of n uniformly drawn keys
//
// Guarantee: as stated, up to the 2^-52 grain of U and to digests that are equal. U follows from
//   seed and ordinal, so a sample that was saved goes on as if it had never stopped.
// Predicted: all of it. Measured: the chi-square tests of tests/sample/record_sampler_test.cpp.
// Stops working: a half-life h below n ln 2 cannot be: not even when every record takes part are
//   there so many recent ones. Memory is n records, as long as they are.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_set>
#include <variant>
#include <vector>

#include "weir/digest.hpp"
#include "weir/samplers.hpp"
#include "weir/snapshot.hpp"

namespace weir {

class RecordSampler {
 public:
  enum class Way : std::uint8_t { Uniform, Recent, Weighted, Distinct };
  struct Held {
    std::uint64_t ordinal = 0, rank = 0;
    std::string record;
  };

  // half_life: records, of Recent. The digester makes the digests of Distinct; it is kept, so that
  // a saved sample goes on with the same. Throws Error(Config).
  RecordSampler(Way way, std::uint64_t n, double half_life, std::uint64_t seed,
                const Digester& digester);

  // How many of the coming records need not be offered, if skip() is told.
  [[nodiscard]] std::uint64_t certain_misses() const noexcept;
  void skip(std::uint64_t records) noexcept;
  void offer(std::string_view record, std::uint32_t weight, Digest digest);

  // In no order in particular.
  [[nodiscard]] const std::vector<Held>& held() const noexcept { return held_; }
  [[nodiscard]] Way way() const noexcept { return way_; }
  [[nodiscard]] std::uint64_t capacity() const noexcept { return n_; }
  [[nodiscard]] double half_life() const noexcept { return half_life_; }
  [[nodiscard]] std::uint64_t met() const noexcept { return met_; }
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  [[nodiscard]] const Digester& digester() const noexcept { return digester_; }

  // The bytes of a saved sample (src/checkpoint/record_sample.cpp), there and back. read() throws
  // Error(BadState) for anything that is not whole and valid.
  void write(ByteSink& sink) const;
  static RecordSampler read(ByteSource& source);
  // Replaces the file atomically, as save() of weir/snapshot.hpp.
  void save(const std::filesystem::path& path) const;
  static RecordSampler load(const std::filesystem::path& path);
  // Whether the file begins as a saved sample does; false also for one that cannot be read.
  static bool is_saved_at(const std::filesystem::path& path) noexcept;

 private:
  void put(std::uint64_t slot, std::string_view record);
  void offer_rank(std::uint64_t rank, std::string_view record);
  [[nodiscard]] const SamplerState& slots_state() const;

  Way way_;
  std::uint64_t n_, seed_, met_ = 0;
  double half_life_, share_ = 1;  // q
  Digester digester_;
  std::variant<std::monostate, ReservoirSlots, BiasedSlots> slots_;
  std::vector<Held> held_;  // by slot; of Weighted and Distinct a heap, the largest first
  std::unordered_set<Digest> distinct_;  // ranks that are held
};

}  // namespace weir
