#include "core/marked_index.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "core/bits.hpp"

namespace weir {
namespace {

// Positions marked in a set.
struct Marked {
  std::set<std::uint64_t> set;
  [[nodiscard]] std::uint64_t count(std::uint64_t first, std::uint64_t end) const {
    return static_cast<std::uint64_t>(std::distance(set.lower_bound(first), set.lower_bound(end)));
  }
  void prefetch(std::uint64_t, std::uint64_t) const {}
  [[nodiscard]] std::uint64_t select(std::uint64_t first, std::uint64_t, std::uint64_t rank) const {
    return *std::next(set.lower_bound(first), static_cast<std::ptrdiff_t>(rank));
  }
};

struct Fixture {
  Fixture(std::uint64_t positions, std::uint64_t cluster)
      : memory(MarkedIndex::bytes(positions, cluster) / 8),
        index(reinterpret_cast<std::byte*>(memory.data()), positions, cluster, 16, true) {}
  void mark(std::uint64_t i) {
    if (marked.set.insert(i).second) index.mark(i, marked.set.size());
  }
  void unmark(std::uint64_t i) {
    if (marked.set.erase(i) != 0) index.unmark(i);
  }
  std::uint64_t choose(Draws& draws) {
    std::uint64_t found = draws.below(marked.set.size());
    index.find({&found, 1}, marked);
    return found;
  }
  std::vector<std::uint64_t> memory;
  Marked marked;
  MarkedIndex index;
};

// The 0.999 quantile of chi-square with df degrees of freedom (Wilson and Hilferty).
double chi_square_limit(double df) {
  const double z = 3.0902;
  return df * std::pow(1 - 2 / (9 * df) + z * std::sqrt(2 / (9 * df)), 3);
}

TEST(MarkedIndex, ChoosesEveryMarkEquallyOften) {
  for (const std::uint64_t cluster : {1024, 4096}) {
    Fixture f(1'000'000, cluster);
    Draws draws(7);
    for (int i = 0; i < 300; ++i) f.mark(draws.below(1'000'000));
    for (std::uint64_t i = 0; i < 40; ++i) f.mark(5'000 + 3 * i);  // crowded on purpose
    for (int i = 0; i < 100; ++i) f.unmark(*f.marked.set.begin());
    std::map<std::uint64_t, double> chosen;
    const double per_mark = 200, marks = static_cast<double>(f.marked.set.size());
    for (int i = 0; i < static_cast<int>(per_mark * marks); ++i) ++chosen[f.choose(draws)];
    double chi_square = 0;
    for (const std::uint64_t mark : f.marked.set) {
      const double off = chosen[mark] - per_mark;
      chi_square += off * off / per_mark;
    }
    EXPECT_EQ(chosen.size(), f.marked.set.size()) << "only marks are chosen";
    EXPECT_LT(chi_square, chi_square_limit(marks - 1)) << cluster;
  }
}

TEST(MarkedIndex, FindsTheFewMarksOfABillionEquallyOften) {
  for (const std::uint64_t marks : {1, 2, 50}) {
    Fixture f(std::uint64_t{1} << 30, 4096);
    Draws draws(3);
    while (f.marked.set.size() < marks) f.mark(draws.below(std::uint64_t{1} << 30));
    std::map<std::uint64_t, double> chosen;
    constexpr double per_mark = 400;
    for (int i = 0; i < static_cast<int>(per_mark) * static_cast<int>(marks); ++i)
      ++chosen[f.choose(draws)];
    for (const std::uint64_t mark : f.marked.set)
      EXPECT_NEAR(chosen[mark], per_mark, 4 * std::sqrt(per_mark)) << marks << " marks";
  }
}

TEST(MarkedIndex, FindsSeveralAsOneByOne) {
  Fixture f(1'000'000, 1024);
  Draws draws(9);
  for (int i = 0; i < 3'000; ++i) f.mark(draws.below(1'000'000));
  std::vector<std::uint64_t> ranks;
  for (std::size_t i = 0; i < MarkedIndex::most; ++i)
    ranks.push_back(draws.below(f.marked.set.size()));
  std::vector<std::uint64_t> expected;
  for (const std::uint64_t rank : ranks)
    expected.push_back(*std::next(f.marked.set.begin(), static_cast<std::ptrdiff_t>(rank)));
  f.index.find(ranks, f.marked);
  EXPECT_EQ(ranks, expected);
}

TEST(MarkedIndex, StaysTrueThroughAnyMarkingAndUnmarking) {
  Fixture f(70'000, 1024);
  Draws draws(5);
  for (int round = 0; round < 60'000; ++round) {
    const std::uint64_t position = draws.below(70'000);
    // Drifts up to where the index stops, and down again.
    if (draws.below(100) < ((round / 15'000) % 2 == 0 ? 80u : 20u))
      f.mark(position);
    else if (!f.marked.set.empty())
      f.unmark(*f.marked.set.lower_bound(position % (*f.marked.set.rbegin() + 1)));
    if (round % 1'000 == 0) {
      ASSERT_NO_THROW(f.index.verify(f.marked)) << round;
    }
  }
}

TEST(MarkedIndex, AForgedIndexIsRefused) {
  Fixture f(70'000, 1024);
  for (std::uint64_t i = 0; i < 50; ++i) f.mark(i * 1'000);
  f.index.verify(f.marked);
  for (std::uint64_t& word : f.memory) {
    word ^= 4;
    EXPECT_THROW(f.index.verify(f.marked), Error);
    word ^= 4;
  }
}

}  // namespace
}  // namespace weir
