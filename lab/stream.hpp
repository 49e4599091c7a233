// Streams of numbered keys, made or read, the same for the same seed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weir::lab {

// An endless stream, or as many records as a file has.
class Stream {
 public:
  virtual ~Stream() = default;
  // Fills `keys` from the front, and as many weights unless there is no room for any; fewer than
  // asked for only at the end of a file.
  virtual std::size_t fill(std::span<std::uint64_t> keys, std::span<std::uint32_t> weights) = 0;
  // All keys are below; 0 where there is no bound.
  [[nodiscard]] virtual std::uint64_t universe() const { return 0; }
  // All keys of the first so many records are below; 0 where there is no bound.
  [[nodiscard]] virtual std::uint64_t bound(std::uint64_t /*records*/) const { return universe(); }
  // Weights are given, and not all 1.
  [[nodiscard]] virtual bool weighted() const { return false; }
};

// What can be written for a stream: NAME:parameter=value,... Every law that `weir plan` knows as
// a model has the same name and parameters here.
struct StreamLaw {
  const char* name;
  const char* example;
  const char* meaning;
};
std::span<const StreamLaw> stream_laws();

// `records` is the length of the run, for uniform:share= without N=; 0 where it is not known.
// Any law takes importance=uniform|proportional|inverse and imax=. Throws Error(Config) in one
// sentence with the nearest name.
std::unique_ptr<Stream> make_stream(const std::string& spec, std::uint64_t seed,
                                    std::uint64_t records = 0);

// The universe of which `records` uniform draws meet a share of distinct records:
// U (1 - exp(-N/U)) = share N.
std::uint64_t universe_of_share(double share, std::uint64_t records);

// Each record one of `universe` keys, independently: the papers' stream.
std::unique_ptr<Stream> uniform(std::uint64_t universe, std::uint64_t seed);

// New keys, but for a share of records that each repeat, for the first and only time, the key
// that came a given number of records before; the distances take turns by chance.
struct Distances {
  std::vector<std::uint64_t> distances;
  double share = 0.05;
};
class DistanceStream final : public Stream {
 public:
  DistanceStream(Distances what, std::uint64_t seed);
  std::size_t fill(std::span<std::uint64_t> keys, std::span<std::uint32_t> weights) override;
  // Beside the keys: which of the distances a record repeats at, or `fresh`.
  static constexpr std::uint32_t fresh = ~std::uint32_t{0};
  std::size_t fill_with_distances(std::span<std::uint64_t> keys, std::span<std::uint32_t> which);

 private:
  Distances what_;
  std::uint64_t state_, records_ = 0, next_key_ = 0;
  std::vector<std::uint64_t> ring_;  // keys of the last records; repeated ones are marked
};

// The lines of a file, numbered in the order of their first occurrence; or, of lines with a
// separator, of one field, counted from 1; by gzip or zstd too. Throws weir::Error with the line
// where it cannot.
struct Trace {
  std::vector<std::uint32_t> keys;
  std::vector<std::uint32_t> weights;  // empty without a weight field
  std::uint32_t distinct = 0;
};
struct TraceFormat {
  char separator = '\t';
  unsigned key_field = 0;     // 0: the whole line
  unsigned weight_field = 0;  // 0: none
};
Trace read_trace(const std::string& path, const TraceFormat& format = {});
// The same lines as an unnumbered stream, read as it goes: a key is the digest of its bytes.
std::unique_ptr<Stream> file_stream(const std::string& path, const TraceFormat& format = {});

}  // namespace weir::lab
