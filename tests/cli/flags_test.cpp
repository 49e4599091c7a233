// What a declaration yields, on a command line made for the test.
#include "flags.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <sstream>

namespace weir::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

enum class Form : std::uint8_t { None, Text, Json };

class Flags : public ::testing::Test {
 protected:
  Flags() : command(line.command("try", "Try the flags")) {
    command.argument("FILE", files, "Files").hint = Hint::File;
    command.value("-k,--key", key, "LIST", "Key fields").more("Fields count from 1.");
    command.value("--column", columns, "NAME", "A column");
    command.value("--limit", limit, "N", "At most so many");
    letter = &command.toggle("-d", repeats, "Only the repeats");
    command
        .choice("--stats", stats, "FORM", {{"text", Form::Text}, {"json", Form::Json}},
                "Say what was done")
        .bare("text");
    command.toggle("--all", all, "Everything").not_with(*letter);
    command.toggle("--first", first, "The first").needs(*letter);
    command.run([this] { ran = true; });
  }

  // The refusal, or nothing.
  std::string parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), {"weir", "try"});
    try {
      line.parse(static_cast<int>(arguments.size()), arguments.data());
      return {};
    } catch (const CLI::ParseError& error) {
      return line.explain(error);
    }
  }

  CommandLine line;
  Command& command;
  const Flag* letter = nullptr;
  std::vector<std::string> files, columns;
  std::string key = "1";
  std::optional<std::uint64_t> limit;
  Form stats = Form::None;
  bool repeats = false, all = false, first = false, ran = false;
};

TEST_F(Flags, OfOneValueGoByTheLast) {
  EXPECT_EQ(parse({"-k", "2", "--key=3", "-k4"}), "");
  EXPECT_EQ(key, "4");
  EXPECT_TRUE(ran);
}

TEST_F(Flags, ThatCollectKeepEveryValueAsItIs) {
  EXPECT_EQ(parse({"--column", "a", "file", "--column=[b,c]", "--column", "-d"}), "");
  EXPECT_THAT(columns, ElementsAre("a", "[b,c]", "-d"));
  EXPECT_THAT(files, ElementsAre("file"));
  EXPECT_FALSE(repeats);
}

TEST_F(Flags, MayHaveAValueOnlyBehindAnEqualsSign) {
  EXPECT_EQ(parse({"--stats", "file"}), "");
  EXPECT_EQ(stats, Form::Text);
  EXPECT_THAT(files, ElementsAre("file"));
}

TEST_F(Flags, TakeAnOptionalValue) {
  EXPECT_EQ(parse({"--stats", "--stats=json", "-d"}), "");
  EXPECT_EQ(stats, Form::Json);
  EXPECT_TRUE(repeats);
}

TEST_F(Flags, RefuseAWrongOptionalValue) {
  EXPECT_EQ(parse({"--stats=xml"}), "--stats: 'xml' is none of text, json");
}

TEST_F(Flags, KnowWhetherTheyWereGiven) {
  EXPECT_EQ(parse({"--key", "2"}), "");
  EXPECT_TRUE(command.find("-k")->given());
  EXPECT_EQ(command.find("--key")->text(), "2");
  EXPECT_FALSE(letter->given());
  EXPECT_EQ(limit, std::nullopt);
}

TEST_F(Flags, ThatExcludeEachOtherAreRefused) {
  EXPECT_EQ(parse({"--all", "-d"}), "--all and -d cannot be given together");
  EXPECT_FALSE(ran);
}

TEST_F(Flags, ThatNeedAnotherAreRefusedAlone) {
  EXPECT_EQ(parse({"--first"}), "--first needs -d");
  EXPECT_EQ(parse({"--first", "-d"}), "");
}

TEST_F(Flags, TakeEveryFileBehindTwoDashes) {
  EXPECT_EQ(parse({"a", "--", "-d", "--", "--stats"}), "");
  EXPECT_THAT(files, ElementsAre("a", "-d", "--", "--stats"));
  EXPECT_FALSE(repeats);
}

TEST_F(Flags, TellAnEmptyValueFromNone) {
  // An empty one is refused, and does not take the file for its value.
  EXPECT_EQ(parse({"--key=", "file"}), "--key: '' is not a value");
  EXPECT_EQ(parse({"--key"}), "--key needs a value: LIST");
}

TEST_F(Flags, AreShownInHelp) {
  const std::string help = help_of(command);
  for (const char* row :
       {"  -k, --key LIST      Key fields [1]\n", "  -d                  Only",
        "      --stats[=FORM]  Say what was done\n", "  FILE                Files\n"})
    EXPECT_THAT(help, HasSubstr(row));
}

TEST_F(Flags, TellTheManPageMore) {
  const std::string page = man_page(line, &command);
  EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\-k\\fR, \\fB\\-\\-key\\fR \\fILIST\\fR\nKey fields. The "
                              "default is 1.\n.IP\nFields count from 1.\n"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-\\-stats\\fR[=\\fIFORM\\fR]\n"));
  EXPECT_THAT(page, HasSubstr("Not together with \\fB\\-d\\fR."));
  EXPECT_THAT(page, HasSubstr("Can be given several times."));
}

TEST_F(Flags, ThatAreUnlistedWorkUnnamed) {
  std::string chunk;
  command.group(unlisted);
  command.value("--chunk", chunk, "SIZE", "For tests");
  EXPECT_EQ(parse({"--chunk=7"}), "");
  EXPECT_EQ(chunk, "7");
  EXPECT_EQ(parse({"--chunk"}), "--chunk needs a value: SIZE");
  EXPECT_EQ(parse({"--chunky"}), "unknown option --chunky");
  for (const std::string& text : {help_of(command), man_page(line, &command)})
    EXPECT_THAT(text, Not(HasSubstr("chunk")));
}

TEST(Help, OfFortyFlagsFitsAScreen) {
  CommandLine line;
  Command& command = line.command("much", "Do much");
  std::deque<std::string> texts(40);
  std::deque<std::string> names;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i % 8 == 0) command.group(fmt::format("Group {}", i / 8));
    command.value(names.emplace_back(fmt::format("--flag-{}", i)).c_str(), texts[i], "VALUE",
                  "What this flag does, in as many words as there is room");
  }
  command.examples = {{"weir much", "Not enough room for it"}};
  std::istringstream lines(help_of(command));
  int count = 0;
  for (std::string text; std::getline(lines, text); ++count) EXPECT_LE(text.size(), 80u) << text;
  EXPECT_LE(count, 50);
}

TEST(ManPage, EscapesWhatRoffWouldTake) {
  CommandLine line;
  Command& command = line.command("odd", "Say odd things");
  command.description = {".dots, 'quotes', \\backslashes and `--flags`"};
  EXPECT_THAT(man_page(line, &command),
              HasSubstr("\n\\&.dots, \\(aqquotes\\(aq, \\ebackslashes and \\fB\\-\\-flags\\fR\n"));
}

}  // namespace
}  // namespace weir::cli
