// The help of weir and of a subcommand: 80 columns, a line a flag, one screen.
#include <fmt/format.h>

#include <algorithm>

#include "flags.hpp"

namespace weir::cli {
namespace {

constexpr std::size_t width = 80, screen = 48, widest_names = 26;

std::string names_of(const Flag& flag) {
  if (flag.argument) return flag.name;
  std::string names = flag.letter.empty() ? "    " : flag.letter;
  if (!flag.name.empty()) names += (flag.letter.empty() ? "" : ", ") + flag.name;
  if (flag.value.empty()) return names;
  return names + (flag.when_bare ? "[=" + flag.value + "]" : " " + flag.value);
}

// Rows of two columns; what is too long for its line goes on in the next.
class Table {
 public:
  void add(std::string left, std::string right) {
    rows_.emplace_back(std::move(left), std::move(right));
  }
  void add(const Flag& flag) {
    add(names_of(flag), flag.standard.empty() ? flag.help : flag.help + " [" + flag.standard + "]");
  }
  [[nodiscard]] std::size_t widest() const {
    std::size_t widest = 0;
    for (const auto& [left, right] : rows_)
      if (left.size() <= widest_names) widest = std::max(widest, left.size());
    return widest;
  }
  [[nodiscard]] std::string text(std::size_t left_width) const {
    const std::size_t column = left_width + 4;
    std::string all;
    for (const auto& [left, right] : rows_) {
      std::string line = fmt::format("  {:<{}}  ", left, left_width);
      const auto next_line = [&] {
        all.append(line, 0, line.find_last_not_of(' ') + 1).append("\n");
        line.assign(column, ' ');
      };
      if (line.size() > column) next_line();
      for (const std::string& word : split(right, ' ')) {
        if (line.size() > column && line.size() + 1 + word.size() > width) next_line();
        if (line.size() > column) line += ' ';
        line += word;
      }
      next_line();
    }
    return all;
  }

 private:
  std::vector<std::pair<std::string, std::string>> rows_;
};

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

std::string help_of(const CommandLine& line) {
  Table subcommands, options;
  for (const Command& command : line.commands) subcommands.add(command.name, command.summary);
  for (const Flag& flag : line.own) options.add(flag);
  return fmt::format(
      "Usage: weir SUBCOMMAND [OPTION]... [FILE]...\n"
      "Says of each record of an endless stream whether it came before, in memory that\n"
      "never grows.\n\n"
      "Subcommands:\n{}\n"
      "Options:\n{}\n"
      "More: weir SUBCOMMAND --help, and in full: weir man SUBCOMMAND | man -l -\n"
      "Exit: 0 done, 1 the run failed, 2 the command line makes no sense.\n",
      subcommands.text(subcommands.widest()), options.text(options.widest()));
}

std::string help_of(const Command& command) {
  // Groups in the order in which they were first named; arguments and help stand before all.
  std::vector<std::pair<std::string, Table>> groups(1);
  for (const Flag& flag : command.flags)
    if (flag.argument) groups[0].second.add(flag);
  groups[0].second.add(
      "-h, --help", fmt::format("Show this help; in full: weir man {} | man -l -", command.name));
  for (const Flag& flag : command.flags) {
    if (flag.argument) continue;
    const std::string title = flag.group.empty() ? "Options" : flag.group;
    auto at = std::find_if(groups.begin(), groups.end(),
                           [&](const auto& group) { return group.first == title; });
    if (at == groups.end()) at = groups.insert(groups.end(), {title, {}});
    at->second.add(flag);
  }
  std::size_t widest = 0;
  for (const auto& [title, table] : groups) widest = std::max(widest, table.widest());

  const std::string head =
      fmt::format("Usage: weir {} {}\n{}.\n", command.name, command.synopsis(), command.summary);
  const auto body = [&](const char* gap) {
    std::string text = head;
    for (const auto& [title, table] : groups) {
      text += gap;
      if (!title.empty()) text.append(title).append(":\n");
      text += table.text(widest);
    }
    return text;
  };
  std::string text = body("\n");
  if (lines_of(text) > screen) text = body("");

  std::string examples;
  for (const Example& example : command.examples) {
    const std::string more = fmt::format("  {}\n      {}\n", example.command, example.meaning);
    if (lines_of(text) + lines_of(examples) + 4 > screen || example.command.size() + 2 > width)
      break;
    examples += more;
  }
  return examples.empty() ? text : text + "\nExamples:\n" + examples;
}

}  // namespace weir::cli
