"""Shell completion: the scripts work in the shells themselves, and offer what the help names."""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

from support.command import CommandTest, catalogue, weir
from support.help import flags_of, subcommands

# Command line up to the cursor -> what must be offered, and what must not.
CASES = [
    ("weir ", {"dedup", "filters", "man", "completions"}, {"stable"}),
    ("weir de", {"dedup", "demo"}, {"filters"}),
    ("weir --ver", {"--version"}, {"--help"}),
    ("weir dedup --fil", {"--filter"}, {"--fpr"}),
    ("weir dedup -", {"-f", "--memory", "-h"}, {"--folder"}),
    ("weir dedup --hash ", {"xxh3", "siphash"}, {"records.txt"}),
    ("weir dedup -f st", {"stable"}, {"rsbf", "records.txt"}),
    ("weir dedup --filter b", {"bloom", "blocked-bloom"}, {"biased-reservoir"}),
    ("weir dedup -S ", set(), {"64M", "records.txt"}),
    ("weir dedup rec", {"records.txt"}, set()),
    ("weir dedup -q --mark rec", {"records.txt"}, set()),
    ("weir dedup --state rec", {"records.txt"}, set()),
    ("weir filters count-", {"count-min"}, {"counting"}),
    ("weir inspect rec", {"records.txt"}, set()),
    ("weir completions ", {"bash", "zsh", "fish"}, {"records.txt"}),
    ("weir man ", {"dedup", "man"}, {"records.txt"}),
    ("weir man dedup --", {"--folder"}, {"--filter"}),
    ("weir man --folder fold", {"folder"}, {"records.txt"}),
]


class Shell(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("records.txt", b"")
        (self.folder / "folder").mkdir()
        self.script = self.file(self.script_name, self.output("completions", self.shell))

    def check_cases(self, offered):
        for text, expected, unwanted in CASES:
            with self.subTest(line=text):
                # A folder may come with a slash, a flag with the sign before its value.
                given = {word.rstrip("/=") for word in offered(text)}
                self.assertLessEqual(expected, given)
                self.assertFalse(unwanted & given, given)
                if not expected:
                    self.assertEqual(given, set())

    def check_every_flag(self, offered):
        for name in subcommands():
            given = {word.rstrip("=") for word in offered(f"weir {name} -")}
            long = {word.rstrip("=") for word in offered(f"weir {name} --")}
            for flag in flags_of(name):
                with self.subTest(subcommand=name, flag=flag.names):
                    self.assertLessEqual(set(flag.names), given | long)
                    if flag.optional:
                        bare = offered(f"weir {name} {flag.names[-1]} rec")
                        self.assertEqual({word.rstrip("/") for word in bare}, {"records.txt"})

    def run_shell(self, *arguments):
        result = subprocess.run(arguments, cwd=self.folder, capture_output=True, text=True,
                                timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.splitlines()


class Bash(Shell):
    shell, script_name = "bash", "weir.bash"

    def offered(self, text):
        # As bash itself cuts a line into words.
        words = [w for w in re.split(r"\s+|(=)", text) if w] + ([""] if text.endswith(" ") else [])
        return self.run_shell(
            "bash", "--norc", "-c",
            'source ./weir.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _weir weir; '
            'printf "%s\\n" "${COMPREPLY[@]}"', "bash", *words)

    def test_offers_what_fits(self):
        self.check_cases(lambda text: set(self.offered(text)) - {""})

    def test_completes_values_behind_an_equals_sign(self):
        self.assertEqual(self.offered("weir dedup --hash="), ["xxh3", "siphash"])
        self.assertEqual(self.offered("weir dedup --hash=si"), ["siphash"])

    def test_offers_every_flag(self):
        self.check_every_flag(lambda text: set(self.offered(text)))

    def test_is_registered(self):
        self.assertEqual(self.run_shell("bash", "--norc", "-c", "source ./weir.bash; complete -p weir"),
                         ["complete -F _weir weir"])


@unittest.skipUnless(shutil.which("fish"), "fish is not installed")
class Fish(Shell):
    shell, script_name = "fish", "weir.fish"

    def offered(self, text):
        lines = self.run_shell("fish", "--no-config", "-c",
                               f"source ./weir.fish; complete -C'{text}'")
        return {line.split("\t")[0] for line in lines}

    def test_is_valid(self):
        self.run_shell("fish", "-n", self.script)

    def test_offers_what_fits(self):
        self.check_cases(self.offered)

    def test_completes_values_behind_an_equals_sign(self):
        self.assertEqual(self.offered("weir dedup --hash=si"), {"--hash=siphash"})

    def test_offers_every_flag(self):
        self.check_every_flag(self.offered)


@unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
class Zsh(Shell):
    shell, script_name = "zsh", "_weir"

    # An interactive zsh that writes what is offered into a file, a line "=" behind each answer.
    setup = r"""
fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D
setopt no_list_beep; unsetopt auto_menu; LISTMAX=9999; PS1=
compadd() {
  local -a hits
  if [[ " $* " == *" -"[OAD]" "* ]]; then builtin compadd "$@"; return; fi
  builtin compadd -O hits "$@"
  (( $#hits )) && print -rl -- $hits >>offered
  builtin compadd "$@"
}
answered() { print = >>offered }
comppostfuncs=(answered)
offer() { BUFFER=$(<asked); CURSOR=$#BUFFER; comppostfuncs=(answered); zle complete-word; BUFFER= }
zle -N offer; bindkey '^T' offer
print ready
"""

    def start(self):
        self.file("setup.zsh", self.setup.encode())
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.environ.update(TERM="dumb", HOME=str(self.folder))
            os.execlp("zsh", "zsh", "-f", "-i")
        self.addCleanup(os.waitpid, child, 0)
        self.addCleanup(os.close, terminal)
        self.terminal = terminal
        os.write(terminal, b"source ./setup.zsh\n")
        self.wait_for(lambda seen: b"\nready" in seen)

    def wait_for(self, done):
        seen, end = b"", time.monotonic() + 30
        while not done(seen):
            self.assertLess(time.monotonic(), end, seen)
            if select.select([self.terminal], [], [], 0.05)[0]:
                seen += os.read(self.terminal, 65536)

    def offered(self, text):
        answers = self.folder / "offered"
        answers.write_bytes(b"")
        self.file("asked", text.encode())
        os.write(self.terminal, b"\x14")
        self.wait_for(lambda _: answers.read_bytes().endswith(b"=\n"))
        return set(answers.read_text().splitlines()) - {"=", ""}

    def test_is_valid(self):
        self.run_shell("zsh", "-n", self.script)

    def test_offers_what_fits(self):
        self.start()
        self.check_cases(self.offered)

    def test_completes_values_behind_an_equals_sign(self):
        self.start()
        self.assertEqual(self.offered("weir dedup --hash=si"), {"siphash"})

    def test_offers_every_flag(self):
        self.start()
        self.check_every_flag(self.offered)

    def test_can_be_sourced(self):
        said = self.run_shell("zsh", "-f", "-c", "autoload -Uz compinit; compinit -u -D; "
                              "source ./_weir; print $_comps[weir]")
        self.assertEqual(said, ["_weir"])


class Scripts(CommandTest):
    def test_know_every_structure(self):
        filters = set(catalogue()["Filters"])
        for shell in ("bash", "zsh", "fish"):
            script = self.output("completions", shell).decode()
            for name in filters:
                self.assertRegex(script, rf"[\s('\"]{name}[\s)'\"]", shell)

    def test_other_shells_are_refused(self):
        self.refused(2, "SHELL: 'ksh' is none of bash, zsh, fish", "completions", "ksh")
        self.refused(2, "SHELL is missing", "completions")
        self.assertEqual(weir("completions", "bash", "zsh").returncode, 2)


del Shell  # not a test by itself

if __name__ == "__main__":
    unittest.main()
