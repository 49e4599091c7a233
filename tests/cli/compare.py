"""weir lab run compare: any stream, kept results, and one sentence for what means nothing."""
import csv
import re
import unittest

from support.command import CommandTest


class Compare(CommandTest):
    def compare(self, *arguments):
        return self.output("lab", "run", "compare", "--filter", "weir", "--filter", "stable",
                           "--repeat", 2, "--fpr", 0.01, "--bits", "3,6.5", *arguments).decode()

    def test_a_law_and_a_file_of_the_same_keys_give_like_results(self):
        keys = self.file("keys.txt", self.output("generate", "zipf:U=2e4,s=0.7", "-n", "40K"))
        self.compare("--stream", "zipf:U=2e4,s=0.7", "--records", "40K", "--trace", keys,
                     "--out", self.folder / "out")
        with open(self.folder / "out/compare.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["row"] for row in rows}, {"keys.txt, FPR at most 1 %",
                                                        "zipf:U=2e4,s=0.7, FPR at most 1 %"})
        for series in ("weir", "stable", "ideal LRU"):
            for bits in (3, 6.5):
                fnr = [float(row["value"]) for row in rows
                       if row["series"] == series and float(row["x"]) == bits and row["what"] == "fnr"]
                self.assertIn(len(fnr), (3, 4))  # the ideal LRU runs once on a file
                self.assertLess(max(fnr) - min(fnr), 0.02, (series, bits))
        for row in rows:
            if row["what"] == "bits a key":
                self.assertLessEqual(float(row["value"]), float(row["x"]))

    def test_the_table_names_every_filter_and_the_best_is_first(self):
        said = self.compare("--stream", "geometric:mean=3000,again=0.4", "--records", "40K")
        filters = re.findall(r"^geometric\S+ FPR at most 1 %, (\S+) bits a key +(\w+)", said, re.M)
        self.assertEqual(filters, [(bits, name) for bits in ("3", "6.5")
                                   for name in ("ideal", "weir", "stable")])

    def test_what_means_nothing_gets_one_sentence(self):
        for saying, *arguments in (("the nearest is zipf", "--stream", "zpif:U=3"),
                                   ("separated by commas", "--bits", "2,x"),
                                   ("between 0.1 and 1000", "--bits", "0"),
                                   ("above 0 and below 1", "--fpr", "1.5"),
                                   ("number of records", "--records", "5min"),
                                   ("there is no structure 'wier'", "--filter", "wier"),
                                   ("at least 1000", "--stream", "uniform:U=90", "--filter", "weir")):
            self.refused(2, saying, "lab", "run", "compare", *arguments)
        self.refused(1, "cannot open", "lab", "run", "compare", "--trace", self.folder / "none")


if __name__ == "__main__":
    unittest.main()
