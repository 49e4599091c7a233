"""What `--help` says, taken apart: every other text about a flag is held against it."""
import dataclasses
import re

from support.command import weir


@dataclasses.dataclass
class Described:
    names: list  # ["-f", "--filter"]
    value: str   # "SPEC", or empty
    optional: bool
    help: str


def help_of(*subcommand):
    return weir(*subcommand, "--help").stdout.decode()


def subcommands():
    listed = help_of().split("Subcommands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\S+) ", listed, re.MULTILINE)


def flags_of(subcommand):
    flags = []
    for line in help_of(subcommand).split("\nExamples:\n")[0].splitlines():
        if found := re.match(r"  (?:(-\w)|   )(?:(?:, | )(--[\w-]+))?(?:( |\[=)([A-Z]+)\]?)?(?:  +(.*)|$)",
                             line):
            letter, name, joint, value, text = found.groups()
            if letter or name:
                flags.append(Described([n for n in (letter, name) if n], value or "", joint == "[=",
                                       text or ""))
    return flags
