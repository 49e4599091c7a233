#include "flags.hpp"

#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "weir/error.hpp"
#include "weir_version.hpp"

namespace weir::cli {
namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  throw CLI::ValidationError(sentence, CLI::ExitCodes::ValidationError);
}

void require_between(std::uint64_t number, std::pair<std::uint64_t, std::uint64_t> limits) {
  if (number < limits.first || number > limits.second)
    throw Error(ErrorCode::Config,
                fmt::format("{} is not between {} and {}", number, limits.first, limits.second));
}

// How many letters to change, add, drop or swap with a neighbour to come from one to the other.
std::size_t distance(const std::string& from, const std::string& to) {
  std::vector<std::vector<std::size_t>> cost(from.size() + 1,
                                             std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const bool same = from[i - 1] == to[j - 1];
      cost[i][j] =
          std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[from.size()][to.size()];
}

// "; did you mean --filter?", where one of them is close.
std::string suggestion(const std::string& written, const std::vector<std::string>& known) {
  constexpr std::size_t longest = 40;  // what is longer than any name needs no comparing
  if (written.size() > longest) return {};
  const std::string* nearest = nullptr;
  std::size_t least = written.size() < 6 ? 2 : 3;
  for (const std::string& name : known) {
    const bool begun = written.size() > 3 && name.starts_with(written);
    const std::size_t apart = begun ? 0 : distance(written, name);
    if (apart < least) least = apart, nearest = &name;
  }
  return nearest == nullptr ? "" : fmt::format("; did you mean {}?", *nearest);
}

}  // namespace

Flag& Flag::more(std::string paragraph) {
  paragraphs.push_back(std::move(paragraph));
  return *this;
}

Flag& Flag::shown_as(std::string text) {
  standard = std::move(text);
  return *this;
}

Flag& Flag::bare(std::string text) {
  // For CLI11 a flag that has its default by itself: so it never takes the next argument.
  option->expected(0, 0)->default_str(text);
  when_bare = std::move(text);
  return *this;
}

Flag& Flag::suggest(std::vector<std::string> offered) {
  words = std::move(offered);
  hint = Hint::Words;
  return *this;
}

Flag& Flag::between(std::uint64_t least, std::uint64_t most) {
  limits = {least, most};
  return *this;
}

Flag& Flag::not_with(const Flag& other) {
  excluded.push_back(&other);
  return *this;
}

Flag& Flag::needs(const Flag& other) {
  needed.push_back(&other);
  return *this;
}

Flag& Flag::require() {
  option->required();
  required = true;
  return *this;
}

bool Flag::given() const { return option->count() != 0; }
std::string Flag::text() const { return option->results().back(); }

Command::Command(CLI::App& app, std::string its_name, std::string its_summary)
    : name(std::move(its_name)), summary(std::move(its_summary)), app_(app) {}

Flag& Command::declare(const char* names, std::string value, std::string help) {
  Flag& flag = (group_ == unlisted ? unlisted_ : flags).emplace_back();
  for (const std::string& one : split(names, ',')) {
    if (one.starts_with("-") && !one.starts_with("--"))
      flag.letter = one;
    else
      flag.name = one;
  }
  flag.argument = !flag.said().starts_with("-");
  flag.value = std::move(value);
  flag.help = std::move(help);
  flag.group = group_;
  return flag;
}

Flag& Command::toggle(const char* names, bool& variable, const char* help) {
  Flag& flag = declare(names, "", help);
  flag.option = app_.add_flag_callback(names, [&variable] { variable = true; });
  flag.option->disable_flag_override();
  return flag;
}

Flag& Command::add(const char* names, std::string value, std::string help, std::string standard,
                   bool many, const Reader& reader) {
  Flag& flag = declare(names, std::move(value), std::move(help));
  flag.standard = std::move(standard);
  flag.many = many;
  flag.option = app_.add_option(names, [&flag, reader](const CLI::results_t& texts) {
    try {
      for (const std::string& text : texts) {
        if (flag.limits) require_between(parse_whole(text), *flag.limits);
        reader(text);
      }
    } catch (const Error& error) {
      refuse(fmt::format("{}: {}", flag.said(), error.what()));
    }
    return true;
  });
  flag.option->multi_option_policy(many ? CLI::MultiOptionPolicy::TakeAll
                                        : CLI::MultiOptionPolicy::TakeLast);
  // "Never enough" instead of CLI11's "unlimited", which takes a file named [a,b] for two, and
  // forgets about -- behind the first file.
  constexpr int never_enough = 1 << 28;
  if (flag.argument && many) flag.option->expected(never_enough, never_enough);
  return flag;
}

void Command::run(std::function<void()> action) {
  app_.callback([this, act = std::move(action)] {
    check_company();
    act();
  });
}

void Command::check_company() const {
  for (const Flag& flag : flags) {
    if (!flag.given()) continue;
    for (const Flag* other : flag.excluded)
      if (other->given())
        refuse(fmt::format("{} and {} cannot be given together", flag.said(), other->said()));
    for (const Flag* other : flag.needed)
      if (!other->given()) refuse(fmt::format("{} needs {}", flag.said(), other->said()));
  }
}

std::string Command::synopsis() const {
  std::string text = "[OPTION]...";
  for (const Flag& flag : flags)
    if (flag.argument)
      text += (flag.required ? " " + flag.name : " [" + flag.name + "]") + (flag.many ? "..." : "");
  return text;
}

const Flag* Command::find(const std::string& wanted) const {
  if (wanted.empty()) return nullptr;
  for (const std::deque<Flag>* all : {&flags, &unlisted_})
    for (const Flag& flag : *all)
      if (flag.name == wanted || flag.letter == wanted) return &flag;
  return nullptr;
}

// A script's unset variable must not pass for "not given".
void Command::read(const std::string& text, std::string& variable) {
  if (text.empty()) throw Error(ErrorCode::Config, "'' is not a value");
  variable = text;
}

void Command::read(const std::string& text, std::uint64_t& variable) {
  variable = parse_whole(text);
}

void Command::read(const std::string& text, std::uint32_t& variable) {
  const std::uint64_t number = parse_whole(text);
  if (number > UINT32_MAX) throw Error(ErrorCode::Config, fmt::format("{} is too large", number));
  variable = static_cast<std::uint32_t>(number);
}

void Command::read(const std::string& text, double& variable) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, variable);
  if (error != std::errc{} || rest != end)
    throw Error(ErrorCode::Config, fmt::format("'{}' is not a number", text));
}

std::string Command::written(double variable) { return fmt::format("{}", variable); }

std::size_t Command::place_among(const std::vector<std::string>& words, const std::string& text) {
  const auto at = std::find(words.begin(), words.end(), text);
  if (at == words.end())
    throw Error(ErrorCode::Config, fmt::format("'{}' is none of {}", text, fmt::join(words, ", ")));
  return static_cast<std::size_t>(at - words.begin());
}

CommandLine::CommandLine() : app(std::make_unique<CLI::App>()) {
  app->name("weir");
  app->require_subcommand(0, 1);  // so that a wrong one is named; none is refused by parse()
  Flag& help = own.emplace_back();
  help.letter = "-h", help.name = "--help", help.help = "Show a short help";
  Flag& release = own.emplace_back();
  release.name = "--version", release.help = "Show the version";
  app->set_help_flag("-h,--help");
  app->set_version_flag("--version", std::string("weir ") + version);
}

CommandLine::~CommandLine() = default;

Command& CommandLine::command(std::string name, std::string summary) {
  CLI::App& sub = *app->add_subcommand(name);
  return commands.emplace_back(sub, std::move(name), std::move(summary));
}

const Command* CommandLine::find(const std::string& name) const {
  const auto at = std::find_if(commands.begin(), commands.end(),
                               [&](const Command& command) { return command.name == name; });
  return at == commands.end() ? nullptr : &*at;
}

std::vector<std::string> CommandLine::names() const {
  std::vector<std::string> all;
  all.reserve(commands.size());
  for (const Command& command : commands) all.push_back(command.name);
  return all;
}

const Command* CommandLine::chosen() const {
  const auto parsed = app->get_subcommands();
  return parsed.empty() ? nullptr : find(parsed.front()->get_name());
}

void CommandLine::parse(int argc, const char* const* argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  // CLI11 takes "--memory=" for "--memory" and would swallow the next argument.
  const Command* const command = arguments.empty() ? nullptr : find(arguments.front());
  for (std::size_t i = 1; command != nullptr && i < arguments.size(); ++i) {
    if (arguments[i] == "--") break;
    if (!arguments[i].starts_with("--") || arguments[i].find('=') + 1 != arguments[i].size())
      continue;
    const std::string name = arguments[i].substr(0, arguments[i].size() - 1);
    const Flag* const flag = command->find(name);
    if (flag == nullptr || flag->value.empty() || flag->when_bare) continue;
    arguments[i] = name;
    arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, "");
  }
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  app->parse(arguments);
  if (app->get_subcommands().empty()) refuse("a subcommand is missing");
}

std::string CommandLine::explain(const CLI::ParseError& error) const {
  std::string said = error.what();
  const Command* const command = chosen();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    std::vector<std::string> extras = app->remaining(true);
    std::erase(extras, "--");
    std::string first = extras.empty() ? "" : extras.front();
    const bool option = first.starts_with("-") && first.size() > 1;
    if (first.starts_with("--")) first = first.substr(0, first.find('=', 3));
    std::vector<std::string> known;
    if (option) {
      for (const Flag& flag : own)
        if (command == nullptr || flag.name != "--version") known.push_back(flag.name);
      if (command != nullptr)
        for (const Flag& flag : command->flags)
          if (flag.name.starts_with("--")) known.push_back(flag.name);
      return fmt::format("unknown option {}{}", first, suggestion(first, known));
    }
    if (command != nullptr) return fmt::format("unexpected argument '{}'", first);
    const std::string close = suggestion(first, names());
    return fmt::format(
        "there is no subcommand '{}'{}", first,
        close.empty() ? fmt::format("; there are {}", fmt::join(names(), ", ")) : close);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string name = said.substr(0, said.find_first_of(": "));
    const Flag* const flag = command == nullptr ? nullptr : command->find(name);
    if (flag != nullptr) return fmt::format("{} needs a value: {}", name, flag->value);
    return fmt::format("{}{} takes no value", name.size() == 1 ? "-" : "--", name);
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    return fmt::format("{} is missing", said.substr(0, said.find(' ')));
  return said;
}

std::vector<std::string> split(const std::string& text, char separator) {
  return CLI::detail::split(text, separator);
}

std::vector<std::string> structure_names(std::optional<Kind> kind) {
  std::vector<std::string> names;
  for (const StructureInfo* info : catalog())
    if (!kind || info->kind == *kind) names.emplace_back(info->name);
  return names;
}

}  // namespace weir::cli
