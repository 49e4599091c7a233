// A state file may be forged with correct checksums, and then hold any date.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "checkpoint/forger.hpp"
#include "commands.hpp"
#include "weir/catalog.hpp"

namespace weir {
namespace {

std::string inspected(std::int64_t saved_at) {
  test::Forgery forgery(*make_structure("bloom:m=64,k=1", {.seed = 1}));
  forgery.header.saved_at = saved_at;
  const test::Bytes bytes = forgery.sealed();
  const auto path = std::filesystem::path(testing::TempDir()) /
                    ("weir-date-" + std::to_string(saved_at) + ".weir");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  const std::string name = path;
  const char* const arguments[] = {"weir", "inspect", name.c_str(), nullptr};
  testing::internal::CaptureStdout();
  const int status = cli::run(3, arguments);
  std::filesystem::remove(path);
  const std::string said = testing::internal::GetCapturedStdout();
  return status == 0 ? said : "status " + std::to_string(status);
}

TEST(InspectDates, AreShownWhateverTheyAre) {
  EXPECT_THAT(inspected(0), testing::HasSubstr("saved       1970-01-01 00:00:00 UTC"));
  EXPECT_THAT(inspected(-1), testing::HasSubstr("saved       1969-12-31 23:59:59 UTC"));
  EXPECT_THAT(inspected(32'503'680'000), testing::HasSubstr("3000-01-01 00:00:00 UTC"));
  EXPECT_THAT(inspected(32'503'680'000), testing::HasSubstr("in the future"));
  EXPECT_THAT(inspected(std::numeric_limits<std::int64_t>::max()),
              testing::HasSubstr("impossible date"));
  EXPECT_THAT(inspected(std::numeric_limits<std::int64_t>::min()),
              testing::HasSubstr("impossible date"));
}

}  // namespace
}  // namespace weir
