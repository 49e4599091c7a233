// The exact answer is that of a plain map, with and without a window, and never grows beyond the
// machine.
#include "oracle.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <unordered_map>

#include "core/bits.hpp"
#include "oracle_numbered.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

// One record after the other.
class PlainMap final : public Oracle {
 public:
  explicit PlainMap(Window window) : window_(window) {}
  void observe(std::span<const std::uint64_t> keys, std::span<std::uint8_t> first) override {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto at = times_.find(keys[i]);
      ++now_;
      first[i] = at == times_.end() || (window_.records != 0 && now_ - at->second > window_.records)
                     ? 1
                     : 0;
      if (first[i] != 0 || window_.renewed) times_[keys[i]] = now_;
    }
  }
  [[nodiscard]] std::uint64_t bytes() const override { return 0; }

 private:
  Window window_;
  std::uint64_t now_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> times_;
};

// Some keys are frequent, some rare, some come once.
std::vector<std::uint64_t> numbers(std::size_t records, std::uint64_t universe) {
  std::vector<std::uint64_t> keys(records);
  Draws draws(5);
  for (auto& key : keys) key = draws.below(draws.below(universe) + 1);
  return keys;
}

void expect_as_plain(Oracle& oracle, Window window, const std::vector<std::uint64_t>& keys) {
  PlainMap plain(window);
  std::vector<std::uint8_t> expected(keys.size()), got(keys.size());
  plain.observe(keys, expected);
  for (std::size_t at = 0, n = 1; at < keys.size(); at += n, n = n % 1000 + 7) {
    n = std::min(n, keys.size() - at);
    oracle.observe(std::span(keys).subspan(at, n), std::span(got).subspan(at, n));
  }
  EXPECT_EQ(got, expected) << "window " << window.records << (window.renewed ? " renewed" : "");
}

const Window windows[] = {{},
                          {1},
                          {100},
                          {100, false},
                          {5000},
                          {5000, false},
                          {1u << 31, false},
                          {std::uint64_t{1} << 40}};

TEST(LabOracle, NumberedAnswersAsAPlainMap) {
  const auto keys = numbers(200'000, 30'000);
  for (const Window window : windows)
    expect_as_plain(*numbered_oracle(30'000, window), window, keys);
}

TEST(LabOracle, ATableAnswersAsAPlainMapForKeysOfAllKinds) {
  auto keys = numbers(300'000, 200'000);
  for (const Window window : windows) expect_as_plain(*table_oracle(window), window, keys);
  for (auto& key : keys) key = mix(key, 3);
  keys[7] = keys[5000] = 0, keys[9] = keys[200'000] = ~std::uint64_t{0};
  for (const Window window : windows) expect_as_plain(*table_oracle(window), window, keys);
}

TEST(LabOracle, ShortTimesAreCountedAnewBeforeTheyRunOver) {
  const auto keys = numbers(400'000, 3'000);
  for (const Window window :
       {Window{1}, Window{1000}, Window{1000, false}, Window{1 << 15}, Window{1 << 15, false}}) {
    NumberedWindow<std::uint16_t> oracle(3'000, window);
    expect_as_plain(oracle, window, keys);
  }
}

TEST(LabOracle, ATableStaysWithinWhatIsStated) {
  std::vector<std::uint64_t> keys(1'000'000);
  std::vector<std::uint8_t> first(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = mix(i, 9);
  const auto all = table_oracle();
  all->observe(keys, first);
  EXPECT_GE(all->bytes(), keys.size() * 8 / 0.8);
  EXPECT_LE(all->bytes(), table_bytes(keys.size(), {}));
  for (const std::uint64_t window : {500u, 20'000u, 300'000u}) {
    const auto within = table_oracle({window});
    within->observe(keys, first);  // what is out of the window makes room
    EXPECT_LE(within->bytes(), table_bytes(keys.size(), {window})) << window;
  }
}

TEST(LabOracle, RefusesWhatTheMachineDoesNotHaveAndSaysHowMuchItNeeds) {
  const auto said = [](const std::function<void()>& make) -> std::string {
    try {
      make();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::NoMemory);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(said([] { numbered_oracle(std::uint64_t{1} << 56); }).find("8.389e+06 GiB"),
            std::string::npos);
  EXPECT_NE(said([] { numbered_oracle(~std::uint64_t{0}, {5}); }), "");
  std::vector<std::uint64_t> keys(100'000);
  std::vector<std::uint8_t> first(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = mix(i, 9);
  const auto small = table_oracle({}, 1 << 19);
  const std::string refused = said([&] { small->observe(keys, first); });
  EXPECT_NE(refused.find("needs 0.0004"), std::string::npos) << refused;
  EXPECT_LE(small->bytes(), 1u << 19);
}

TEST(LabOracle, NumbersAreOf64Bits) {
  constexpr std::uint64_t far = std::uint64_t{1} << 32;
  const std::vector<std::uint64_t> keys = {5, far + 5, far + 5, 5, far * 2 - 1};
  std::vector<std::uint8_t> first(keys.size());
  numbered_oracle(2 * far, {}, 0)->observe(keys, first);  // memory is taken as it is touched
  EXPECT_EQ(first, (std::vector<std::uint8_t>{1, 1, 0, 0, 1}));
}

TEST(LabOracle, TheSmallerOneAnswersAStream) {
  const auto dense = make_stream("uniform:U=1e6", 1), sparse = make_stream("uniform:U=1e12", 1);
  const auto numbered = make_stream("geometric:mean=100,again=0.5", 1);
  EXPECT_EQ(oracle_bytes(*dense, 10'000'000), numbered_bytes(1'000'000, {}));
  EXPECT_EQ(oracle_bytes(*sparse, 1'000'000), table_bytes(1'000'000, {}));
  EXPECT_EQ(oracle_bytes(*numbered, 8'000'000), numbered_bytes(8'000'000, {}));
  for (const Stream* stream : {dense.get(), sparse.get(), numbered.get()}) {
    const auto oracle = oracle_for(*stream, 1'000'000);
    EXPECT_LE(oracle->bytes(), oracle_bytes(*stream, 1'000'000) + 64);
  }
}

}  // namespace
}  // namespace weir::lab
