"""What the command says about itself: the catalogue, help, version, and the demonstration."""
import os
import pathlib
import re
import unittest

from support.command import CommandTest, catalogue

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
        subcommands = re.findall(r"^  (\w+) ", overview.stdout.decode().split("Subcommands:")[1],
                                 re.MULTILINE)
        self.assertLessEqual({"dedup", "filters", "inspect", "demo"}, set(subcommands))
        for subcommand in subcommands:
            told = self.done(subcommand, "--help")
            self.assertIn(f"Usage: weir {subcommand}", told.stdout.decode())
            self.assertEqual(told.stderr, b"")
            self.assertEqual(self.output(subcommand, "-h"), told.stdout)

    def test_help_of_dedup_names_every_option(self):
        told = self.output("dedup", "--help").decode()
        for option in ("-f,--filter", "-S,--memory", "--fpr", "-n,--keys", "--shards", "--hash",
                       "--seed", "--mark", "--stats", "--state", "-q,--quiet", "FILE"):
            self.assertIn(option, told)


class Demonstration(CommandTest):
    def test_shows_measured_beside_predicted_rates(self):
        said = self.output("demo", "--records", 100_000, "-S", "256K").decode()
        self.assertIn("100,000 call records", said)
        self.assertRegex(said, r"0\tcall;\S+\n  1\tcall;")  # the last record came twice
        rows = re.findall(r"^([a-z-]+) +100,000 +([\d,]+) +([\d,]+) +"
                          r"([\d.]+) % \(([\d.]+)\) +([\d.]+) % \(([\d.]+)\) +([\d.]+) KiB", said,
                          re.MULTILINE)
        self.assertEqual([row[0] for row in rows], ["stable", "rsbf", "blocked-bloom"])
        for name, first, caught, *_, memory in rows:
            self.assertEqual(int(first.replace(",", "")) + int(caught.replace(",", "")), 100_000)
            self.assertLessEqual(float(memory), 256)


if __name__ == "__main__":
    unittest.main()
