"""weir count: counts against exact ones, from files, pipes, states and lists."""
import collections
import json
import random
import unittest

from support.command import CommandTest
from support.exact import terminated


def drawn(seed, records=5000, keys=400):
    draw = random.Random(seed)
    return [b"%d" % min(draw.randrange(keys), draw.randrange(keys)) for _ in range(records)]


class Counting(CommandTest):
    def setUp(self):
        super().setUp()
        self.lines = drawn(1)
        self.truth = collections.Counter(self.lines)
        self.input = self.file("input", terminated(self.lines))
        self.state = self.folder / "state"

    def count(self, *arguments, stdin=b""):
        return self.output("count", "--seed", 1, *arguments, stdin=stdin)

    def with_totals(self, lines=None, truth=None):
        return terminated(b"%d\t" % (truth or self.truth)[line] + line
                          for line in lines or self.lines)

    def test_an_output_that_gets_nothing_is_refused(self):
        self.refused(2, "nothing is written to -o here", "count", "--state", self.folder / "kept",
                     "-o", self.folder / "out", stdin=b"a\n")
        self.assertFalse((self.folder / "kept").exists())

    def test_files_are_read_twice_and_each_record_has_its_count_in_all(self):
        for sketch in ([], ["--count-min"], ["--spectral"], ["-f", "count-min:update=conservative"],
                       ["--epsilon", "1e-5"], ["--spectral", "--keys", "1K", "--delta", "1e-6"]):
            for way in ([], ["-j", 1], ["-j", 3, "--chunk", 100], ["--total"]):
                self.assertEqual(self.count(*sketch, *way, self.input), self.with_totals(), sketch)

    def test_what_cannot_be_read_twice_is_refused_with_what_to_do(self):
        for arguments in ([], ["-"], ["--total", "-"], [self.input, "-"]):
            self.refused(2, "cannot be read a second time", "count", *arguments, stdin=b"a\n")
        self.refused(2, "--mark writes them while they grow", "count", stdin=b"a\n")

    def test_marks_count_so_far(self):
        sofar, told = collections.Counter(), []
        for line in self.lines:
            sofar[line] += 1
            told.append(b"%d\t" % sofar[line] + line)
        self.assertEqual(self.count("--mark", stdin=terminated(self.lines)), terminated(told))
        output = self.folder / "output"
        self.assertEqual(self.count("--mark", "-o", output, self.input), b"")
        self.assertEqual(output.read_bytes(), terminated(told))

    def test_a_list_is_asked_for_by_the_same_keys(self):
        asked = [b"0", b"7", b"never", b"399", b"7"]
        query = self.file("query", terminated(asked))
        self.assertEqual(self.count("--query", query, self.input), self.with_totals(asked))
        self.assertEqual(self.count("--query", query, stdin=terminated(self.lines)),
                         self.with_totals(asked))
        self.assertEqual(self.count("--query", "-", self.input, stdin=terminated(asked)),
                         self.with_totals(asked))
        rows = self.file("rows", b"name,n\nann,1\nbob,2\nann,3\n")
        names = self.file("names", b"name,n\nbob,\nann,\n")
        self.assertEqual(self.count("--column", "name", "--query", names, rows),
                         b"0\tname,n\n1\tbob,\n2\tann,\n")
        lines = self.file("json", b'{"a":1}\n{"a":1.0}\n[]\n')
        self.assertEqual(self.count("-q", "--pointer", "/a", lines),
                         b'2\t{"a":1}\n2\t{"a":1.0}\n0\t[]\n')
        self.assertEqual(self.count("-q", "--pointer", "/a", "--on-bad", "drop", lines),
                         b'2\t{"a":1}\n2\t{"a":1.0}\n')

    def test_a_state_adds_up(self):
        more = drawn(2)
        query = self.file("query", terminated(sorted(set(self.lines))))
        self.assertEqual(self.count("--state", self.state, "-S", "1M", self.input), b"")
        self.assertEqual(self.output("count", "--state", self.state, stdin=terminated(more)), b"")
        both = self.truth + collections.Counter(more)
        before = self.state.read_bytes()
        self.assertEqual(self.output("count", "--state", self.state, "--query", query),
                         self.with_totals(sorted(set(self.lines)), both))
        self.assertEqual(self.state.read_bytes(), before)

    def test_what_is_taken_back_is_gone(self):
        more = self.file("more", terminated(drawn(2)))
        query = self.file("query", terminated(sorted(set(self.lines))))
        for sketch in ([], ["--spectral"]):
            self.count("--state", self.state, "-S", "1M", *sketch, more)
            self.count("--state", self.state, "--remove", more, self.input)
            self.assertEqual(self.output("count", "--state", self.state, "--query", query),
                             self.with_totals(sorted(set(self.lines))))
            self.assertEqual(self.output("count", "--state", self.state, "--remove", self.input,
                                         "--query", self.file("q", b"0\n7\n")), b"0\t0\n0\t7\n")
            self.state.unlink()

    def test_what_never_came_is_not_taken_back(self):
        self.count("--state", self.state, "-S", "1M", self.input)
        before = self.state.read_bytes()
        bad = self.file("bad", b"a 0\nbad\nb 7\nc never\n")
        self.refused(1, f"{bad}, record 4: its key did not come", "count", "-q", "-k", 2,
                              "--state", self.state, "--remove", bad)
        self.assertEqual(self.state.read_bytes(), before)
        for sketch, why in (("count-min:update=conservative", "update=plain can"),
                            ("spectral:rule=minimal-increase", "rule=minimum-selection can")):
            self.refused(1, why, "count", "-S", "1M", "-f", sketch, "--remove", self.input,
                         self.input)

    def test_stats_state_the_error(self):
        result = self.done("count", "--stats=json", "--mark", "--epsilon", 0.01, "--delta", 0.02,
                           self.input)
        said = json.loads(result.stderr)
        self.assertEqual((said["records"], said["occurrences"], said["bad"]), (5000, 5000, 0))
        self.assertLessEqual(said["surplus"], 50)
        self.assertLessEqual(said["chance"], 0.02)
        self.assertIs(said["never_too_low"], True)
        text = self.done("count", "--stats", "--mark", "--epsilon", 0.01, self.input).stderr.decode()
        self.assertRegex(text, r"(?m)^counts +never too low, and too high by more than \d+ for "
                               r"0\.\d+ % of the keys at most$")

    def test_flags_that_make_no_sense_are_refused(self):
        for arguments, why in ((["--spectral", "--epsilon", 0.1], "--spectral is sized by --keys"),
                               (["--keys", 10], "--count-min is sized by --epsilon"),
                               (["--epsilon", 2], "--epsilon must be above 0 and below 1"),
                               (["--delta", 0], "--delta must be above 0 and below 1"),
                               (["-f", "bloom"], "bloom is a filter; counting needs a sketch"),
                               (["-f", "nonsense"], "there is no structure 'nonsense'"),
                               (["--mark", "--total"], "cannot be given together"),
                               (["--query", "-", "-"], "standard input can be read only once"),
                               (["--state", self.state, "--save-every", "1s", "--remove",
                                 self.input], "a state in between")):
            self.refused(2, why, "count", *arguments, self.input)

    def test_a_state_of_something_else_is_refused(self):
        self.output("dedup", "--state", self.state, "-S", "1M", self.input)
        self.refused(2, "which does not count", "count", "--state", self.state, self.input)
        self.state.unlink()
        self.count("--state", self.state, "--epsilon", 0.001, self.input)
        self.output("count", "--state", self.state, "--epsilon", 0.001, self.input)
        self.refused(2, "would not give", "count", "--state", self.state, "--epsilon", 0.01)
        self.refused(2, "not what is asked for", "count", "--state", self.state, "--spectral")


if __name__ == "__main__":
    unittest.main()
