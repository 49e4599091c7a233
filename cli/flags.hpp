// What a user can write, declared once: from a declaration come parser, help, man page and shell
// completions. CLI11 parses; nothing else of it shows.
//
//   Command& command = line.command("dedup", "Pass on the first of equal records, in order");
//   command.group("Output");
//   command.toggle("-d,--repeated", options->repeated, "Only the repeats");
//   command.value("-k,--key", options->fields, "LIST", "Fields that make the key: 2,4-5")
//       .more("Fields are counted from 1. ...");                          // man page only
//   command.choice("--stats", options->stats, "FORM", {{"text", Form::Text}, {"json", Form::Json}},
//                  "Say afterwards what was done").bare("text");          // --stats, --stats=json
//   command.size("-S,--memory", options->memory, "Memory in all");        // 64K, 1.5G
//   command.file("-o,--output", options->output, "Write to FILE");
//   command.argument("FILE", options->files, "Input files in order").hint = Hint::File;
//   command.run([options] { run_dedup(*options); });
//
// The variable's type says how a value is read: text, whole number, number, or an optional of
// these where nothing is the default; a vector collects every occurrence. Otherwise the last
// occurrence counts, as with the classic tools. A default that is not empty is shown.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sizes.hpp"
#include "weir/catalog.hpp"

namespace CLI {  // only where it parses is CLI11 seen: its header takes long to compile
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace weir::cli {

// What a shell offers for a value.
enum class Hint : std::uint8_t { Nothing, File, Folder, Words };

struct Flag {
  std::string letter;  // "-k", or empty
  std::string name;    // "--key", or empty; "FILE" of an argument
  std::string value;   // "LIST"; empty for a toggle
  std::string help;    // one line, without a full stop
  std::string group;
  std::string standard;                  // the default, as it is shown
  std::optional<std::string> when_bare;  // the value may be left out, and is then this
  std::vector<std::string> paragraphs;   // for the man page
  std::vector<std::string> words;        // for completion
  Hint hint = Hint::Nothing;
  bool argument = false;  // goes without a name
  bool many = false;      // every occurrence counts
  bool required = false;
  CLI::Option* option = nullptr;

  // Adds a paragraph for the man page; `code` in it becomes bold there, here and in help.
  Flag& more(std::string paragraph);
  // What to show as the default, where it is not the variable's value.
  Flag& shown_as(std::string text);
  // The value may be left out, and can only be written behind "=".
  Flag& bare(std::string text);
  // Words that shells offer; others are taken as well.
  Flag& suggest(std::vector<std::string> offered);
  // Refuses whole numbers outside.
  Flag& between(std::uint64_t least, std::uint64_t most);
  Flag& not_with(const Flag& other);
  Flag& needs(const Flag& other);
  Flag& require();

  [[nodiscard]] bool given() const;
  [[nodiscard]] std::string text() const;  // as it was given
  [[nodiscard]] const std::string& said() const { return name.empty() ? letter : name; }

  std::optional<std::pair<std::uint64_t, std::uint64_t>> limits;
  std::vector<const Flag*> excluded, needed;
};

inline constexpr const char* unlisted = "unlisted";

struct Example {
  std::string command, meaning;
};

struct Section {
  std::string title;
  std::vector<std::string> paragraphs;
};

class Command {
 public:
  using Reader = std::function<void(const std::string&)>;

  Command(CLI::App& app, std::string name, std::string summary);

  std::string name, summary;
  std::vector<std::string> description;  // paragraphs of the man page
  std::vector<Example> examples;         // the first ones also end the help, where they fit
  std::vector<Section> sections;         // further ones of the man page, as FILES
  std::string see_also;                  // other programs' pages: "sort(1), uniq(1)"
  std::deque<Flag> flags;                // a deque, because Flag& stay valid

  // The flags that follow belong to it; those of the group `unlisted` work, but no text names them.
  void group(std::string title) { group_ = std::move(title); }

  Flag& toggle(const char* names, bool& variable, const char* help);
  template <class T>
  Flag& value(const char* names, T& variable, const char* value, const char* help) {
    return add(names, value, help, written(variable), is_many(variable),
               [&variable](const std::string& text) { read(text, variable); });
  }
  // Bytes with K, M, G or T; `value` names what is counted.
  template <class T>
  Flag& size(const char* names, T& variable, const char* help, const char* value = "SIZE") {
    std::string standard;
    if constexpr (std::is_integral_v<T>) standard = write_size(variable);
    return add(names, value, help, std::move(standard), false,
               [&variable](const std::string& text) { variable = parse_size(text); });
  }
  template <class T>
  Flag& file(const char* names, T& variable, const char* help, const char* value_name = "FILE") {
    Flag& flag = value(names, variable, value_name, help);
    flag.hint = Hint::File;
    return flag;
  }
  template <class T>
  Flag& folder(const char* names, T& variable, const char* help, const char* value_name = "DIR") {
    Flag& flag = value(names, variable, value_name, help);
    flag.hint = Hint::Folder;
    return flag;
  }
  // One of fixed words, each with what it stands for.
  template <class T>
  Flag& choice(const char* names, T& variable, const char* value,
               std::initializer_list<std::pair<const char*, T>> choices, const char* help) {
    std::vector<std::string> words;
    words.reserve(choices.size());
    std::vector<T> meanings;
    meanings.reserve(choices.size());
    std::string standard;
    for (const auto& [word, meaning] : choices) {
      words.emplace_back(word);
      meanings.push_back(meaning);
      if (meaning == variable) standard = word;
    }
    return add(names, value, help, standard, false,
               [&variable, words, meanings](const std::string& text) {
                 variable = meanings[place_among(words, text)];
               })
        .suggest(words);
  }
  // Without a name: "FILE". A vector takes any number.
  template <class T>
  Flag& argument(const char* value_name, T& variable, const char* help) {
    Flag& flag = value(value_name, variable, value_name, help);
    flag.standard.clear();
    return flag;
  }

  void run(std::function<void()> action);

  // "[OPTION]... [FILE]...", from what is declared.
  [[nodiscard]] std::string synopsis() const;
  [[nodiscard]] const Flag* find(const std::string& name) const;

 private:
  // How a variable of each type is read and, for the default, written.
  static void read(const std::string& text, std::string& variable);
  static void read(const std::string& text, std::uint64_t& variable);
  static void read(const std::string& text, std::uint32_t& variable);
  static void read(const std::string& text, double& variable);
  template <class T>
  static void read(const std::string& text, std::optional<T>& variable) {
    read(text, variable.emplace());
  }
  static void read(const std::string& text, std::vector<std::string>& variable) {
    variable.push_back(text);
  }
  static std::string written(const std::string& variable) { return variable; }
  static std::string written(std::uint64_t variable) { return std::to_string(variable); }
  static std::string written(std::uint32_t variable) { return std::to_string(variable); }
  static std::string written(double variable);
  template <class T>
  static std::string written(const T&) {
    return {};
  }
  template <class T>
  static bool is_many(const T&) {
    return std::is_same_v<T, std::vector<std::string>>;
  }
  static std::size_t place_among(const std::vector<std::string>& words, const std::string& text);

  Flag& add(const char* names, std::string value, std::string help, std::string standard, bool many,
            const Reader& reader);
  Flag& declare(const char* names, std::string value, std::string help);
  void check_company() const;

  CLI::App& app_;
  std::string group_;
  std::deque<Flag> unlisted_;
};

class CommandLine {
 public:
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  Command& command(std::string name, std::string summary);

  // Throws CLI::ParseError.
  void parse(int argc, const char* const* argv);
  // What is wrong, as one sentence; only behind a parse that threw.
  [[nodiscard]] std::string explain(const CLI::ParseError& error) const;
  // The subcommand of the last parse, or null.
  [[nodiscard]] const Command* chosen() const;

  [[nodiscard]] const Command* find(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;

  std::vector<Flag> own;  // --help and --version
  std::deque<Command> commands;
  std::unique_ptr<CLI::App> app;
};

std::vector<std::string> split(const std::string& text, char separator);

// The names of the catalogue, of one kind or all, for completion.
std::vector<std::string> structure_names(std::optional<Kind> kind = {});

// What comes from the declarations.
std::string help_of(const CommandLine& line);
std::string help_of(const Command& command);
std::string man_page(const CommandLine& line, const Command* command);  // null: of weir itself

inline constexpr const char* exit_statuses[] = {"Done.", "The run failed: input, output or state.",
                                                "The command line makes no sense."};

}  // namespace weir::cli
