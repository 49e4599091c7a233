// Parts are run once, kept as they finish, and give the same on any number of threads.
#include "runner.hpp"

#include <gtest/gtest.h>

#include <unistd.h>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "weir/error.hpp"

namespace weir::lab {
namespace {

class LabRunner : public ::testing::Test {
 protected:
  LabRunner()
      : folder(std::filesystem::temp_directory_path() /
               ("weir-lab-" + std::to_string(::getpid()))) {}
  ~LabRunner() override { std::filesystem::remove_all(folder); }

  // Ten parts of one measurement; the one called `broken` fails.
  Experiment counting(int broken = -1) {
    Experiment e;
    e.name = "counting";
    e.parts = [this, broken](const Setting& setting) {
      std::vector<Part> parts;
      for (int i = 0; i < 10; ++i)
        parts.push_back({"part " + std::to_string(i), 1, 1 << 20, [this, i, broken, setting] {
                           ++ran;
                           if (i == broken) throw Error(ErrorCode::Config, "broken");
                           return std::vector<Measurement>{{"row, with \"quotes\"", "s", "", 1,
                                                            i / 3.0, "v", setting.scale * i}};
                         }});
      return parts;
    };
    return e;
  }
  std::string raw() const {
    std::ifstream in(folder / "counting.csv");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  std::filesystem::path folder;
  std::atomic<int> ran = 0;
};

TEST_F(LabRunner, GivesTheSameOnAnyNumberOfThreads) {
  run_parts(counting(), {}, {.folder = folder, .threads = 1});
  const std::string one = raw();
  std::filesystem::remove_all(folder);
  run_parts(counting(), {}, {.folder = folder, .threads = 7});
  EXPECT_EQ(raw(), one);
  EXPECT_EQ(ran, 20);
}

TEST_F(LabRunner, GoesOnWhereItWasInterrupted) {
  EXPECT_THROW(run_parts(counting(6), {}, {.folder = folder, .threads = 1}), Error);
  EXPECT_EQ(ran, 7);
  EXPECT_EQ(raw(), "");
  const Results results = run_parts(counting(), {}, {.folder = folder, .threads = 1});
  EXPECT_EQ(ran, 7 + 4);
  ASSERT_EQ(results.all.size(), 10u);
  EXPECT_EQ(results.all[5].x, 5 / 3.0);
  EXPECT_EQ(results.all[5].value, 0.05);
}

TEST_F(LabRunner, DoesNotTakeWhatAnotherSettingGave) {
  run_parts(counting(), {}, {.folder = folder, .threads = 1});
  Setting other;
  other.scale = 0.5;
  EXPECT_EQ(run_parts(counting(), other, {.folder = folder, .threads = 1}).all[4].value, 2);
  EXPECT_EQ(ran, 20);
}

TEST_F(LabRunner, DoesNotTakeAPartThatIsNotWhole) {
  run_parts(counting(), {}, {.folder = folder, .threads = 1});
  const auto file = folder / "parts" / "counting" / "part-3.csv";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 3);
  EXPECT_EQ(run_parts(counting(), {}, {.folder = folder, .threads = 1}).all.size(), 10u);
  EXPECT_EQ(ran, 11);
}

TEST_F(LabRunner, DoesNotTakeAPartThatSomebodyElseWrote) {
  run_parts(counting(), {}, {.folder = folder, .threads = 1});
  const auto file = folder / "parts" / "counting" / "part-3.csv";
  std::ifstream in(file);
  std::string head;
  std::getline(in, head);
  std::ofstream(file) << head << "\na\tb\tc\tmany\t1\tv\t2\n# end\n";
  EXPECT_EQ(run_parts(counting(), {}, {.folder = folder, .threads = 1}).all[3].row,
            "row, with \"quotes\"");
  EXPECT_EQ(ran, 11);
}

TEST_F(LabRunner, KeepsPartsOfAnyName) {
  Experiment odd;
  odd.name = "odd";
  odd.parts = [this](const Setting&) {
    return std::vector<Part>{{std::string(400, 'x'), 1, 1, [this] {
                                ++ran;
                                return std::vector<Measurement>{{"a\tb", "c\nd", "", 1, 0, "v", 1}};
                              }}};
  };
  for (int i = 0; i < 2; ++i) {
    const Results results = run_parts(odd, {}, {.folder = folder, .threads = 1});
    ASSERT_EQ(results.all.size(), 1u);
    EXPECT_EQ(results.mean("a b", "c d", "v").seeds, 1u);
  }
  EXPECT_EQ(ran, 1);
}

TEST_F(LabRunner, RefusesAPartThatNeedsMoreMemoryThanThereIs) {
  EXPECT_THROW(run_parts(counting(), {}, {.memory = 1 << 19}), Error);
  EXPECT_EQ(ran, 0);
}

TEST_F(LabRunner, TellsHowFarItIs) {
  std::size_t last = 99, calls = 0;
  run_parts(counting(), {}, {.threads = 2, .progress = [&](const Progress& p) {
                               EXPECT_EQ(p.all, 10u);
                               last = p.done, ++calls;
                             }});
  EXPECT_EQ(last, 10u);
  EXPECT_EQ(calls, 11u);
}

TEST(LabResults, MeanAndStandardErrorAreThoseOfTheSeeds) {
  Results results;
  for (unsigned seed = 1; seed <= 4; ++seed)
    results.all.push_back({"r", "s", "", seed, 0, "fnr", static_cast<double>(seed)});
  const Mean mean = results.mean("r", "s", "fnr");
  EXPECT_DOUBLE_EQ(mean.value, 2.5);
  EXPECT_NEAR(mean.error, 0.6455, 1e-4);  // sqrt(5/3) / 2
  EXPECT_EQ(mean.seeds, 4u);
  EXPECT_EQ(results.mean("r", "s", "fpr").seeds, 0u);
}

}  // namespace
}  // namespace weir::lab
