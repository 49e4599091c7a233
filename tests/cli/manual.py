"""weir man: pages that groff and mandoc read without complaint, and that leave no flag out."""
import re
import shutil
import subprocess
import unittest

from support.command import CommandTest
from support.help import flags_of, subcommands


def rendered(page, *command):
    """The page as a terminal shows it, without overstriking, and what the program complained of."""
    shown = subprocess.run(command, input=page, capture_output=True, timeout=60)
    text = re.sub(r".\x08|\x1b\[[0-9;]*m", "", shown.stdout.decode())
    return text.replace("\u2010", "-"), shown.stderr.decode()


class Manual(CommandTest):
    def pages(self):
        yield "", self.output("man")
        for name in subcommands():
            yield name, self.output("man", name)

    def test_has_the_usual_sections(self):
        for name, page in self.pages():
            sections = re.findall(r"^\.SH (.*)$", page.decode(), re.MULTILINE)
            wanted = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"]
            self.assertEqual([s for s in sections if s in wanted], wanted, name)
            self.assertEqual(sections[-1], "SEE ALSO")
        self.assertIn("EXAMPLES", self.output("man", "dedup").decode())
        self.assertIn("FILES", self.output("man", "dedup").decode())

    def test_names_every_flag_with_its_value_and_help(self):
        for name in subcommands():
            page = self.output("man", name).decode()
            for flag in flags_of(name):
                with self.subTest(subcommand=name, flag=flag.names):
                    head = ", ".join(rf"\fB{n}\fR".replace("-", r"\-") for n in flag.names)
                    if flag.value:
                        head += rf"[=\fI{flag.value}\fR]" if flag.optional else rf" \fI{flag.value}\fR"
                    self.assertIn(f"\n.TP\n{head}\n", page)

    def test_lists_every_subcommand(self):
        page = self.output("man").decode()
        for name in subcommands():
            self.assertIn(f"\n.TP\n\\fB{name}\\fR\n", page)
            self.assertIn(f"\\fBweir\\-{name}\\fR(1)", page)

    def test_writes_all_pages_into_a_folder(self):
        self.assertEqual(self.output("man", "--folder", self.folder), b"")
        written = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        expected = {f"weir-{name}.1" if name else "weir.1": page for name, page in self.pages()}
        self.assertEqual(written, expected)
        missing = self.folder / "missing"
        self.refused(1, f"cannot write {missing}/weir.1: No such file", "man", "--folder", missing)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_is_clean_for_groff(self):
        for name, page in self.pages():
            text, complaints = rendered(page, "groff", "-man", "-ww", "-Tutf8")
            self.assertEqual(complaints, "", name)
            self.assertIn("NAME", text)
        self.assertIn("NAME:parameter=value,...", text_of_dedup := rendered(
            self.output("man", "dedup"), "groff", "-man", "-Tutf8", "-rLL=200n")[0])
        self.assertIn("-f, --filter SPEC", text_of_dedup)

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_is_clean_for_mandoc(self):
        for name, page in self.pages():
            found = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=page,
                                   capture_output=True, text=False, timeout=60).stdout.decode()
            # A page has the date of no day, so that the same sources give the same page.
            found = [line for line in found.splitlines() if "missing date" not in line]
            self.assertEqual(found, [], name)


if __name__ == "__main__":
    unittest.main()
