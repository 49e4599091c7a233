// weir completions: what bash, zsh and fish need to complete a command line. The scripts hold all
// names themselves, so nothing is started while a user types.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands.hpp"

namespace weir::cli {
namespace {

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

// "-f --filter", with what stands between.
std::string names_of(const Flag& flag, const char* between) {
  if (flag.letter.empty() || flag.name.empty()) return flag.said();
  return flag.letter + between + flag.name;
}

std::string flag_names(const CommandLine& line, const Command& command) {
  std::string names;
  for (const Flag& flag : command.flags)
    if (!flag.argument) names += names_of(flag, " ") + " ";
  return names + names_of(line.own.front(), " ");
}

// bash ---------------------------------------------------------------------------------------

std::string bash_offer(const Flag& flag) {
  switch (flag.hint) {
    case Hint::File:
      return "_weir_paths -f";
    case Hint::Folder:
      return "_weir_paths -d";
    case Hint::Words:
      return fmt::format("_weir_words \"{}\"", joined(flag.words));
    default:
      return ":";
  }
}

std::string bash(const CommandLine& line) {
  std::string script = R"(# bash completion for weir, written by `weir completions bash`.

_weir_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }

_weir_paths() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}

_weir() {
  local cur=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD - 1]} behind_equals=
  COMPREPLY=()
  # bash makes words of --flag, = and value.
  if [[ $cur == "=" ]]; then
    cur= behind_equals=1
  elif [[ $flag == "=" ]]; then
    flag=${COMP_WORDS[COMP_CWORD - 2]} behind_equals=1
  fi
  if ((COMP_CWORD == 1)); then
)";
  script += fmt::format("    _weir_words \"{}", joined(line.names()));
  for (const Flag& flag : line.own) script += " " + names_of(flag, " ");
  script += "\"\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n";
  for (const Command& command : line.commands) {
    script += fmt::format("    {})\n      case $flag in\n", command.name);
    std::string rest = ":";
    for (const Flag& flag : command.flags) {
      if (flag.argument) {
        rest = bash_offer(flag);
        continue;
      }
      if (flag.value.empty()) continue;
      if (flag.when_bare)
        script += fmt::format("        {}) [[ $behind_equals ]] && {{ {}; return; }} ;;\n",
                              names_of(flag, "|"), bash_offer(flag));
      else
        script += fmt::format("        {}) {}; return ;;\n", names_of(flag, "|"), bash_offer(flag));
    }
    script += fmt::format(
        "      esac\n      case $cur in\n        -*) _weir_words \"{}\" ;;\n"
        "        *) {} ;;\n      esac ;;\n",
        flag_names(line, command), rest);
  }
  return script + "  esac\n}\n\ncomplete -F _weir weir\n";
}

// zsh ----------------------------------------------------------------------------------------

// For use inside '...', in a description inside [...] or behind a colon.
std::string zsh_text(std::string text) {
  for (const char* special : {"\\", "[", "]", ":"})
    text = replaced(text, special, std::string("\\") + special);
  return replaced(text, "'", "'\\''");
}

std::string zsh_offer(const Flag& flag) {
  switch (flag.hint) {
    case Hint::File:
      return "_files";
    case Hint::Folder:
      return "_files -/";
    case Hint::Words:
      return fmt::format("({})", joined(flag.words));
    default:
      return " ";
  }
}

std::string zsh_flag(const Flag& flag) {
  if (flag.argument)
    return fmt::format("      '{}:{}:{}' \\\n", flag.many ? "*" : "", flag.name, zsh_offer(flag));
  const std::string value = flag.value.empty() ? ""
                                               : fmt::format("{}{}:{}", flag.when_bare ? "::" : ":",
                                                             flag.value, zsh_offer(flag));
  const std::string before = flag.many ? "*" : "(" + names_of(flag, " ") + ")";
  std::string all;
  for (const std::string& name : {flag.letter, flag.name}) {
    if (name.empty()) continue;
    const char* const joint = flag.value.empty()       ? ""
                              : flag.when_bare         ? "=-"  // only behind an equals sign
                              : name.starts_with("--") ? "="
                                                       : "+";
    all +=
        fmt::format("      '{}{}{}[{}]{}' \\\n", before, name, joint, zsh_text(flag.help), value);
  }
  return all;
}

std::string zsh(const CommandLine& line) {
  std::string script = R"(#compdef weir
# zsh completion for weir, written by `weir completions zsh`.

_weir() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C \
)";
  for (const Flag& flag : line.own) script += replaced(zsh_flag(flag), "      ", "    ");
  script += "    '1: :->subcommand' '*:: :->rest' && return\n";
  script += "  if [[ $state == subcommand ]]; then\n    local -a subcommands=(\n";
  for (const Command& command : line.commands)
    script += fmt::format("      '{}:{}'\n", command.name, zsh_text(command.summary));
  script += "    )\n    _describe subcommand subcommands\n    return\n  fi\n  case $words[1] in\n";
  for (const Command& command : line.commands) {
    script += fmt::format("    {}) _arguments -s -S \\\n", command.name);
    for (const Flag& flag : command.flags) script += zsh_flag(flag);
    script += zsh_flag(line.own.front());
    script.resize(script.size() - 3);  // the last line does not go on
    script += " ;;\n";
  }
  return script + R"(  esac
}

# Loaded by compinit it is the body of _weir; sourced it only defines it.
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _weir "$@"; else compdef _weir weir; fi
)";
}

// fish ---------------------------------------------------------------------------------------

std::string fish_text(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_offer(const Flag& flag) {
  switch (flag.hint) {
    case Hint::File:
      return " -F";
    case Hint::Folder:
      return " -f -a '(__fish_complete_directories)'";
    case Hint::Words:
      return " -f -a " + fish_text(joined(flag.words));
    default:
      return " -f";
  }
}

std::string fish_flag(const std::string& condition, const Flag& flag) {
  std::string entry = "complete -c weir -n " + condition;
  if (flag.argument) return entry + fish_offer(flag) + "\n";
  if (!flag.letter.empty()) entry += " -s " + flag.letter.substr(1);
  if (!flag.name.empty()) entry += " -l " + flag.name.substr(2);
  if (!flag.value.empty()) entry += (flag.when_bare ? "" : " -r") + fish_offer(flag);
  return entry + " -d " + fish_text(flag.help) + "\n";
}

std::string fish(const CommandLine& line) {
  std::string script = R"(# fish completion for weir, written by `weir completions fish`.

function __weir_is -d 'Whether the subcommand is this one; without a name, whether there is none'
    set -l words (commandline -opc)
    if test (count $argv) -eq 0
        test (count $words) -eq 1
    else
        test (count $words) -gt 1; and test "$words[2]" = "$argv[1]"
    end
end

complete -c weir -f
)";
  for (const Flag& flag : line.own) script += fish_flag("__weir_is", flag);
  for (const Command& command : line.commands) {
    const std::string condition = fish_text("__weir_is " + command.name);
    script += fmt::format("\ncomplete -c weir -n __weir_is -a {} -d {}\n", command.name,
                          fish_text(command.summary));
    for (const Flag& flag : command.flags) script += fish_flag(condition, flag);
    script += fish_flag(condition, line.own.front());
  }
  return script;
}

}  // namespace

void add_completions(CommandLine& line) {
  using Writer = std::string (*)(const CommandLine&);
  auto shell = std::make_shared<Writer>(nullptr);
  Command& command = line.command("completions", "Write a completion script for a shell");
  command.description = {
      "Writes to standard output what the shell needs to complete subcommands, options and their "
      "values. `cmake --install` puts the scripts where the shells look for them; this is for "
      "other ways to install."};
  command
      .choice<Writer>("SHELL", *shell, "SHELL", {{"bash", bash}, {"zsh", zsh}, {"fish", fish}},
                      "bash, zsh or fish")
      .require();
  command.examples = {
      {"source <(weir completions bash)", "Complete in this bash"},
      {"weir completions zsh > ~/.zfunc/_weir", "For zsh, where ~/.zfunc is in its fpath"},
      {"weir completions fish > ~/.config/fish/completions/weir.fish", "For fish"}};
  command.run([&line, shell] { fmt::print("{}", (*shell)(line)); });
}

}  // namespace weir::cli
