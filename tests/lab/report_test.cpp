// The page holds all that was measured, and nothing of it can break the page.
#include "report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "sample_section.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LabReport : public ::testing::Test {
 protected:
  // tests/cli/slow_report_in_browser.py has the page written for itself.
  LabReport() {
    if (const char* wanted = std::getenv("WEIR_KEEP_REPORT")) {
      folder = wanted, keep = true;
    } else {
      folder =
          std::filesystem::temp_directory_path() / ("weir-report-" + std::to_string(::getpid()));
    }
  }
  ~LabReport() override {
    if (!keep) std::filesystem::remove_all(folder);
  }

  static Origin origin(const std::string& name) {
    return {name, "weir lab run " + name + " --trace 'a & b'", {{"machine", "<fast>"}}};
  }
  std::string page() const {
    std::ifstream in(folder / "report.html");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  std::filesystem::path folder;
  bool keep = false;
};

TEST_F(LabReport, ShowsEverythingThatASectionHas) {
  keep_section(folder, origin("sample"), sample_section());
  EXPECT_EQ(write_report(folder, {}), folder / "report.html");
  const std::string html = page();
  for (const char* shown :
       {"<h2><a href=\"#sample\">A sample of everything &amp; &lt;more&gt;</a></h2>",
        "<code>code</code>, &lt;b&gt;tags&lt;/b&gt;", "<td>&lt;weir&gt;</td>",
        "<th class=\"number\">figure 3 %</th>", "<td class=\"number\">cannot</td>",
        "<figcaption>sample-small</figcaption>", "Ten lines of one kind",
        "weir lab run sample --trace &#39;a &amp; b&#39;", "<dt>machine</dt><dd>&lt;fast&gt;</dd>"})
    EXPECT_THAT(html, HasSubstr(shown));
  EXPECT_TRUE(std::filesystem::exists(folder / "sample-stream.svg"));
}

TEST_F(LabReport, NeedsNothingFromElsewhere) {
  keep_section(folder, origin("sample"), sample_section());
  write_report(folder, {});
  const std::string html = page();
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("src=")));
  EXPECT_THAT(html, Not(HasSubstr("@import")));
  const std::regex links("href=[\"']([^\"']*)");
  for (std::sregex_iterator i(html.begin(), html.end(), links), end; i != end; ++i)
    EXPECT_TRUE((*i)[1] == "data:," || (*i)[1].str()[0] == '#') << (*i)[1];
}

TEST_F(LabReport, GivesEveryNameOnce) {
  keep_section(folder, origin("sample"), sample_section());
  write_report(folder, {});
  const std::string html = page();
  std::set<std::string> names;
  const std::regex ids(" id=[\"']([^\"']*)"), uses("href='#([^']*)");
  for (std::sregex_iterator i(html.begin(), html.end(), ids), end; i != end; ++i)
    EXPECT_TRUE(names.insert((*i)[1]).second) << (*i)[1];
  for (std::sregex_iterator i(html.begin(), html.end(), uses), end; i != end; ++i)
    EXPECT_EQ(names.count((*i)[1]), 1u) << (*i)[1];
}

TEST_F(LabReport, HoldsTheSectionsOfEarlierRunsInTheOrderGiven) {
  for (const char* name : {"zeta", "alpha", "first"})
    keep_section(folder, origin(name), {std::string("About ") + name, {}, {}, {}});
  keep_section(folder, origin("alpha"), {"Alpha made again", {}, {}, {}});
  write_report(folder, {"first", "absent", "zeta"});
  const std::string html = page();
  EXPECT_LT(html.find("<h2><a href=\"#first\">"), html.find("<h2><a href=\"#zeta\">"));
  EXPECT_LT(html.find("<h2><a href=\"#zeta\">"), html.find("<h2><a href=\"#alpha\">"));
  EXPECT_THAT(html, HasSubstr("<li><a href=\"#alpha\">Alpha made again</a></li>"));
  EXPECT_THAT(html, Not(HasSubstr("About alpha")));
}

TEST_F(LabReport, SaysWhichFileItCannotWrite) {
  std::ofstream(folder.string()) << "in the way";
  try {
    keep_section(folder, origin("sample"), {"Title", {}, {}, {}});
    FAIL() << "written into a file";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(folder.string()));
    EXPECT_EQ(error.code(), ErrorCode::Io);
  }
}

}  // namespace
}  // namespace weir::lab
