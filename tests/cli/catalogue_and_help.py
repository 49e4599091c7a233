"""What the command says about itself: the catalogue, help, version, and the demonstration."""
import os
import pathlib
import re
import unittest

from support.command import CommandTest, catalogue
from support.help import flags_of, help_of, subcommands

SOURCE = pathlib.Path(os.environ["WEIR_SOURCE_DIR"])


class CatalogueAndHelp(CommandTest):
    def test_the_catalogue_lists_every_structure_once(self):
        lines = (SOURCE / "src/core/structures.def").read_text()
        expected = [name.replace("_", "-") for name in re.findall(r"^WEIR_STRUCTURE\((\w+)\)", lines,
                                                                  re.MULTILINE)]
        listed = [name for names in catalogue().values() for name in names]
        self.assertEqual(sorted(listed), sorted(expected))

    def test_every_structure_says_what_it_is_for_and_its_parameters(self):
        for names in catalogue().values():
            for name in names:
                said = self.output("filters", name).decode()
                self.assertRegex(said, rf"\A{name} \((filter|sketch|sample)\): \S")
                self.assertRegex(said, r"\nGuarantee: \S.*\nPaper: \S.*\d{4}")
                self.assertRegex(said, r"\nParameters \(of one shard\)\n  \w+ +\S.*\n +default: \S")

    def test_version(self):
        declared = re.search(r"VERSION (\S+) LANGUAGES", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertEqual(self.output("--version").decode(), f"weir {declared}\n")

    def test_help_of_every_subcommand_goes_to_standard_output(self):
        overview = self.done("--help")
        self.assertEqual(overview.stderr, b"")
        self.assertEqual(self.output("-h"), overview.stdout)
        self.assertLessEqual({"dedup", "filters", "inspect", "demo", "man", "completions"},
                             set(subcommands()))
        for subcommand in subcommands():
            told = self.done(subcommand, "--help")
            self.assertTrue(told.stdout.decode().startswith(f"Usage: weir {subcommand} "))
            self.assertEqual(told.stderr, b"")
            self.assertEqual(self.output(subcommand, "-h"), told.stdout)

    def test_help_fits_a_screen(self):
        for subcommand in [(), *((name,) for name in subcommands())]:
            lines = help_of(*subcommand).splitlines()
            self.assertLessEqual(max(map(len, lines)), 80, subcommand)
            self.assertLessEqual(len(lines), 50, subcommand)

    def test_help_has_a_line_a_flag(self):
        for subcommand in subcommands():
            for flag in flags_of(subcommand):
                self.assertTrue(flag.help, flag)

    def test_help_of_dedup_names_every_option(self):
        told = help_of("dedup")
        for option in ("-f, --filter SPEC", "-S, --memory SIZE", "--fpr RATE", "-n, --keys COUNT",
                       "--shards N", "--hash NAME", "--seed N", "--mark", "--stats", "--state FILE",
                       "-q, --quiet", "FILE", "[auto]", "[256M]",
                       "--window LENGTH", "--window-kind KIND", "--time KEY", "--no-refresh"):
            self.assertIn(option, told)

    def test_help_tells_how_runs_end(self):
        self.assertIn("Exit: 0 done, 1 ", help_of())


class Demonstration(CommandTest):
    def test_shows_measured_beside_predicted_rates(self):
        said = self.output("demo", "--records", 100_000, "-S", "256K").decode()
        self.assertIn("100,000 call records", said)
        self.assertRegex(said, r"0\tcall;\S+\n  1\tcall;")  # the last record came twice
        rows = re.findall(r"^([a-z-]+) +100,000 +([\d,]+) +([\d,]+) +"
                          r"([\d.]+) % \(([\d.]+)\) +([\d.]+) % \(([\d.]+)\) +([\d.]+) KiB", said,
                          re.MULTILINE)
        self.assertEqual([row[0] for row in rows], ["weir", "stable", "rsbf", "blocked-bloom"])
        for name, first, caught, *_, memory in rows:
            self.assertEqual(int(first.replace(",", "")) + int(caught.replace(",", "")), 100_000)
            self.assertLessEqual(float(memory), 256)


if __name__ == "__main__":
    unittest.main()
