// Law 6: creation, saving, loading and use at 2^31, 2^32 and 2^33 bits, minus and plus 64.
#include <unistd.h>

#include <array>
#include <map>
#include <thread>

#include "laws/every_structure.hpp"

namespace weir::laws {
namespace {

// Snapshots go through a pipe, so that no third copy exists.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  ~Pipe() { ::close(ends_[0]), ::close(ends_[1]); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  [[nodiscard]] int in() const { return ends_[1]; }
  [[nodiscard]] int out() const { return ends_[0]; }

 private:
  std::array<int, 2> ends_{};
};

struct PipeSink final : ByteSink {
  explicit PipeSink(int end) : fd(end) {}
  void write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd, bytes.data(), bytes.size());
      if (n <= 0) throw Error(ErrorCode::Io, "pipe");
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }
  int fd;
};
struct PipeSource final : ByteSource {
  PipeSource(int end, std::uint64_t bytes) : fd(end), total(bytes) {}
  void read(std::span<std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::read(fd, bytes.data(), bytes.size());
      if (n <= 0) throw Error(ErrorCode::Io, "pipe");
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }
  [[nodiscard]] std::uint64_t size() const override { return total; }
  int fd;
  std::uint64_t total;
};

// Of known structures the exact number of bits; of others the memory.
StructurePtr make_of(const std::string& name, std::uint64_t bits) {
  const auto n = [](std::uint64_t value) { return std::to_string(value); };
  const std::map<std::string, std::string> specs = {
      {"bloom", "bloom:k=8,m=" + n(bits)},
      {"blocked-bloom", "blocked-bloom:k=6,lines=" + n(bits / 512)},
      {"counting", "counting:k=6,m=" + n(bits / 4)},
      {"stable", "stable:K=3,P=6,m=" + n(bits)},
      {"rsbf", "rsbf:k=1,M=" + n(bits)},
      {"bsbf", "bsbf:k=4,M=" + n(bits)},
      {"bsbfsd", "bsbfsd:k=3,M=" + n(bits)},
      {"rlbsbf", "rlbsbf:k=5,M=" + n(bits)},
      {"qht", "qht:b=1,f=7,n=" + n(bits / 7)},
      {"ibf-2c", "ibf-2c:m=" + n(bits / 3)},
      {"ibf-mc", "ibf-mc:m=" + n(bits / 3)},
      {"ibf-h", "ibf-h:m=" + n(bits / 3)},
      {"apbf", "apbf:k=5,l=3,g=40000,m=" + n(bits / 8 / 512 * 511)},
      {"a2", "a2:k=5,g=60000,m=" + n(bits / 512 * 255)},
      {"spectral", "spectral:k=5,bits=8,m=" + n(bits / 8)},
      {"count-min", "count-min:d=2,bits=8,w=" + n(bits / 16)},
      {"space-saving", "space-saving:text=0,m=" + n(bits / 8 / 42)},
      {"reservoir", "reservoir:s=" + n(bits / 64)},
      {"biased-reservoir", "biased-reservoir:s=" + n(bits / 64)},
  };
  const auto known = specs.find(name);
  if (known != specs.end()) return make_structure(known->second, {.seed = 1});
  return make_structure(name, {.memory = bits / 8 + (64 << 10), .seed = 1});
}

bool any_nonzero(std::span<const std::byte> bytes) {
  return std::ranges::any_of(bytes, [](std::byte b) { return b != std::byte{0}; });
}

class SlowSizes : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Every, SlowSizes, testing::ValuesIn(every_structure()), test_name);

TEST_P(SlowSizes, AroundPowersOfTwoItIsMadeUsedSavedAndLoaded) {
  for (const int power : {31, 32, 33})
    for (const int off : {-64, 0, 64}) {
      SCOPED_TRACE("2^" + std::to_string(power) + " + " + std::to_string(off) + " bits");
      const std::uint64_t bits = (std::uint64_t{1} << power) + static_cast<std::uint64_t>(off);
      const auto original = make_of(GetParam(), bits);
      EXPECT_NEAR(static_cast<double>(original->payload().size()) * 8, static_cast<double>(bits),
                  0.01 * static_cast<double>(bits) + 8e5);
      answers(*original, stream(1, 100'000, std::uint64_t{1} << 40), 1024);
      if (original->info().kind != Kind::Sample) {  // the far end is reached
        const auto end = original->payload().last(original->payload().size() / 16);
        EXPECT_TRUE(any_nonzero(end));
      }
      Pipe pipe;
      std::thread writer([&] {
        PipeSink sink(pipe.in());
        write_snapshot(*original, sink);
      });
      PipeSource source(pipe.out(), snapshot_bytes(*original));
      const auto restored = read_snapshot(source);
      writer.join();
      const auto more = stream(2, 50'000, std::uint64_t{1} << 40);
      EXPECT_EQ(answers(*original, more, 1024), answers(*restored, more, 1024));
      answers(*original, stream(1, 20'000, std::uint64_t{1} << 40), 0);
      answers(*restored, stream(1, 20'000, std::uint64_t{1} << 40), 0);
      const Health a = original->health(), b = restored->health();
      EXPECT_EQ(a.fill, b.fill);
      EXPECT_EQ(a.seen, b.seen);
    }
}

}  // namespace
}  // namespace weir::laws
