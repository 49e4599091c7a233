"""What the tests of the command share."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

WEIR = os.environ["WEIR"]
GOLDEN = pathlib.Path(os.environ["WEIR_SOURCE_DIR"]) / "tests" / "golden"


def weir(*arguments, stdin=b""):
    return subprocess.run([WEIR, *map(str, arguments)], input=stdin, capture_output=True,
                          timeout=120)


def catalogue():
    """Title of each section of `weir filters` -> names of its structures."""
    sections = {}
    for line in weir("filters").stdout.decode().splitlines():
        if title := re.match(r"(\w+): ", line):
            sections[title[1]] = []
        elif entry := re.match(r"  (\S+)", line):
            list(sections.values())[-1].append(entry[1])
    return sections


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def done(self, *arguments, stdin=b""):
        """The result of a run that succeeds."""
        result = weir(*arguments, stdin=stdin)
        self.assertEqual(result.returncode, 0, f"{arguments}: {result.stderr}")
        return result

    def output(self, *arguments, stdin=b""):
        return self.done(*arguments, stdin=stdin).stdout

    def refused(self, status, saying, *arguments, stdin=b""):
        """Nothing but one sentence, which says what is wrong, where help is, and the status."""
        result = weir(*arguments, stdin=stdin)
        said = result.stderr.decode()
        with self.subTest(arguments=arguments, said=said):
            self.assertEqual(result.returncode, status)
            self.assertEqual(result.stdout, b"")
            asked = re.compile(r"[a-z]+").fullmatch(str(arguments[0])) if arguments else None
            helping = f" {asked[0]}" if asked and asked[0] != "bogus" else ""
            self.assertRegex(said, rf"\Aweir: [^\n]+\n(Try: weir{helping} --help\n)?\Z")
            self.assertIn(saying, said)
