// weir man: the manual pages, in the man macros that groff and mandoc read.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "commands.hpp"
#include "weir/error.hpp"
#include "weir_version.hpp"

namespace weir::cli {
namespace {

// A hyphen becomes the one of the keyboard, because options are copied out of pages.
std::string roff(char c) {
  switch (c) {
    case '\\':
      return "\\e";
    case '-':
      return "\\-";
    case '\'':
      return "\\(aq";
    case '"':
      return "\\(dq";
    case '^':
      return "\\(ha";
    case '~':
      return "\\(ti";
    case '`':
      return "\\(ga";
    default:
      return {c};
  }
}

// Plain text for roff; a dot that begins a line would be a request.
std::string escaped(const std::string& text) {
  std::string out = text.starts_with('.') ? "\\&" : "";
  for (const char c : text) out += c == '\n' ? " " : roff(c);
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

// `code` is bold, the rest plain.
std::string prose(const std::string& text) {
  std::string out;
  bool code = false;
  for (std::size_t at = 0; at <= text.size(); code = !code) {
    const std::size_t end = std::min(text.find('`', at), text.size());
    const std::string part = text.substr(at, end - at);
    if (code)
      out += bold(part);
    else if (out.empty())
      out += escaped(part);
    else
      for (const char c : part) out += roff(c);
    at = end + 1;
  }
  return out;
}

// Words in capitals are what the user replaces.
std::string synopsis(const std::string& text) {
  std::string out, word;
  for (const char c : text + " ") {
    if (c >= 'A' && c <= 'Z') {
      word += c;
      continue;
    }
    if (!word.empty()) out += italic(word);
    word.clear();
    out += roff(c);
  }
  out.pop_back();
  return out;
}

class Page {
 public:
  explicit Page(const std::string& name) {
    std::string title = name;
    std::transform(title.begin(), title.end(), title.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    text_ = fmt::format(
        ".\\\" Written by `weir man`, from the declarations of the flags.\n"
        ".TH {} 1 \"\" \"weir {}\" \"User commands\"\n",
        escaped(title), version);
  }
  void section(const char* title) { text_ += fmt::format(".SH {}\n", title), fresh_ = true; }
  void group(const std::string& title) {
    text_ += fmt::format(".SS {}\n", escaped(title)), fresh_ = true;
  }
  void line(const std::string& roff) { text_ += roff + "\n", fresh_ = false; }
  void paragraph(const std::string& plain) {
    if (!fresh_) text_ += ".PP\n";  // directly behind a title it would be empty
    line(prose(plain));
  }
  void item(const std::string& roff_head, const std::string& plain) {
    text_ += ".TP\n" + roff_head + "\n" + prose(plain) + "\n", fresh_ = false;
  }
  void item_goes_on(const std::string& plain) { text_ += ".IP\n" + prose(plain) + "\n"; }
  void example(const Example& example) {
    paragraph(example.meaning + ":");
    text_ += fmt::format(".PP\n.RS 4\n.EX\n{}\n.EE\n.RE\n", escaped(example.command));
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
  bool fresh_ = true;
};

std::string head_of(const Flag& flag) {
  if (flag.argument) return italic(flag.name);
  std::string head = flag.letter.empty() ? "" : bold(flag.letter);
  if (!flag.name.empty()) head += (head.empty() ? "" : ", ") + bold(flag.name);
  if (flag.value.empty()) return head;
  return head + (flag.when_bare ? "[=" + italic(flag.value) + "]" : " " + italic(flag.value));
}

void write_flag(Page& page, const Flag& flag) {
  std::string text = flag.help + (flag.help.ends_with(".") ? "" : ".");
  if (!flag.standard.empty()) text += " The default is " + flag.standard + ".";
  if (flag.when_bare) text += " Without a value it is " + *flag.when_bare + ".";
  if (flag.many && !flag.argument) text += " Can be given several times.";
  for (const Flag* other : flag.excluded) text += " Not together with `" + other->said() + "`.";
  for (const Flag* other : flag.needed) text += " Needs `" + other->said() + "`.";
  page.item(head_of(flag), text);
  for (const std::string& paragraph : flag.paragraphs) page.item_goes_on(paragraph);
}

void write_exit_status(Page& page) {
  page.section("EXIT STATUS");
  for (int status = 0; status < 3; ++status)
    page.item(bold(std::to_string(status)), exit_statuses[status]);
}

void write_see_also(Page& page, const std::vector<std::string>& pages, const std::string& others) {
  std::string list;
  for (const std::string& name : pages) list += (list.empty() ? "" : ", ") + bold(name) + "(1)";
  if (!others.empty()) list += ", " + escaped(others);
  page.section("SEE ALSO");
  page.line(list);
}

std::string lower_first(std::string text) {
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] + 32);
  return text;
}

std::string page_of(const CommandLine& line) {
  Page page("weir");
  page.section("NAME");
  page.line("weir \\- remove the repeated records of a stream in fixed memory");
  page.section("SYNOPSIS");
  page.line(bold("weir") + " " + synopsis("SUBCOMMAND [OPTION]... [FILE]..."));
  page.section("DESCRIPTION");
  page.paragraph(
      "Weir reads an endless stream of records once, in memory that never grows, and says of each "
      "record whether it came before. It holds a budget in bytes, forgets what is old instead of "
      "filling up, and says what error to expect.");
  page.paragraph(
      "Results go to standard output in input order, everything else to standard error. A size "
      "is in bytes, or has a suffix K, M, G or T (powers of 1024). Of an option that is given "
      "more than once the last one counts, where its description does not say otherwise.");
  page.section("SUBCOMMANDS");
  std::vector<std::string> others;
  for (const Command& command : line.commands) {
    page.item(bold(command.name), command.summary + ".");
    others.push_back("weir-" + command.name);
  }
  page.section("OPTIONS");
  for (const Flag& flag : line.own) write_flag(page, flag);
  write_exit_status(page);
  write_see_also(page, others, "");
  return page.take();
}

std::string page_of(const CommandLine& line, const Command& command) {
  Page page("weir-" + command.name);
  page.section("NAME");
  page.line(escaped("weir-" + command.name) + " \\- " + escaped(lower_first(command.summary)));
  page.section("SYNOPSIS");
  page.line(bold("weir " + command.name) + " " + synopsis(command.synopsis()));
  page.section("DESCRIPTION");
  if (command.description.empty()) page.paragraph(command.summary + ".");
  for (const std::string& paragraph : command.description) page.paragraph(paragraph);
  for (const Flag& flag : command.flags)
    if (flag.argument) write_flag(page, flag);

  page.section("OPTIONS");
  std::vector<std::string> groups;
  for (const Flag& flag : command.flags)
    if (!flag.argument && std::find(groups.begin(), groups.end(), flag.group) == groups.end())
      groups.push_back(flag.group);
  for (const std::string& group : groups) {
    if (!group.empty()) page.group(group);
    for (const Flag& flag : command.flags)
      if (!flag.argument && flag.group == group) write_flag(page, flag);
  }
  if (groups.size() > 1 || (groups.size() == 1 && !groups[0].empty())) page.group("Help");
  write_flag(page, line.own.front());

  if (!command.examples.empty()) page.section("EXAMPLES");
  for (const Example& example : command.examples) page.example(example);
  write_exit_status(page);
  for (const Section& section : command.sections) {
    page.section(section.title.c_str());
    for (const std::string& paragraph : section.paragraphs) page.paragraph(paragraph);
  }
  std::vector<std::string> others = {"weir"};
  for (const Command& other : line.commands)
    if (other.name != command.name) others.push_back("weir-" + other.name);
  write_see_also(page, others, command.see_also);
  return page.take();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    throw Error(ErrorCode::Io, fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

void run_man(const CommandLine& line, const std::string& name, const std::string& folder) {
  if (!folder.empty()) {
    write_file(folder + "/weir.1", man_page(line, nullptr));
    for (const Command& command : line.commands)
      write_file(fmt::format("{}/weir-{}.1", folder, command.name), man_page(line, &command));
    return;
  }
  const Command* const command = line.find(name);
  if (command == nullptr && !name.empty())
    throw Error(ErrorCode::Config, fmt::format("there is no subcommand '{}'; there are {}", name,
                                               fmt::join(line.names(), ", ")));
  fmt::print("{}", man_page(line, command));
}

}  // namespace

std::string man_page(const CommandLine& line, const Command* command) {
  return command == nullptr ? page_of(line) : page_of(line, *command);
}

void add_man(CommandLine& line) {
  struct Options {
    std::string subcommand, folder;
  };
  auto options = std::make_shared<Options>();
  Command& command = line.command("man", "Write the manual page of weir or of a subcommand");
  command.description = {
      "Writes a page in the man macros of roff to standard output. It is made from the same "
      "declarations as the parser, so it describes the very program that writes it."};
  Flag& subcommand = command
                         .argument("SUBCOMMAND", options->subcommand,
                                   "Whose page; none is the page of weir itself")
                         .suggest(line.names());
  command.folder("--folder", options->folder, "Write all pages there, as weir.1, weir-dedup.1, ...")
      .not_with(subcommand);
  command.examples = {{"weir man dedup | man -l -", "Read a page"},
                      {"weir man --folder ~/.local/share/man/man1", "Let man(1) find all pages"}};
  command.run([&line, options] { run_man(line, options->subcommand, options->folder); });
}

}  // namespace weir::cli
