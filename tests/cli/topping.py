"""weir top: lists against exact counts; bounds, places, texts and states."""
import collections
import json
import unittest

from support.command import CommandTest
from support.exact import terminated
from support.zipf import bounds, zipf


class Topping(CommandTest):
    def setUp(self):
        super().setUp()
        self.lines = zipf(1)
        self.truth = collections.Counter(self.lines)
        self.input = self.file("input", terminated(self.lines))
        self.state = self.folder / "state"

    def listed(self, *arguments, stdin=b""):
        """(place, (least, most), key) of each line."""
        rows = []
        for line in self.output("top", *arguments, stdin=stdin).decode().splitlines():
            place, count, key = line.split("\t")
            rows.append((place, bounds(count), key))
        return rows

    def expect_true(self, rows, truth):
        ordered = sorted(truth.values(), reverse=True)
        for place, (least, most), key in rows:
            count = truth[key.encode()]
            self.assertLessEqual(least, count)
            self.assertLessEqual(count, most)
            better = sum(other > count for other in ordered)  # keys before it
            ties = sum(other == count for other in ordered)
            first, dash, last = place.partition("-")
            self.assertLessEqual(int(first), better + ties)
            if last or not dash:
                self.assertGreaterEqual(int(last or first), better + 1)

    def test_is_exact_where_all_keys_fit(self):
        expected = sorted(self.truth.values(), reverse=True)[:100]
        rows = self.listed(self.input)
        self.assertEqual([count for _, count, _ in rows], [(n, n) for n in expected])
        self.expect_true(rows, self.truth)
        for place, (count, _), _ in rows:
            if self.truth.most_common(1)[0][1] == count:
                self.assertEqual(place, "1")

    def test_bounds_and_places_are_true_where_they_do_not(self):
        for memory in ("16K", "32K", "64K"):
            rows = self.listed("-S", memory, "-n", 200, "--seed", 1, self.input)
            self.assertLess(len(rows), 201)
            self.expect_true(rows, self.truth)
            self.assertEqual(rows, sorted(rows, key=lambda row: -row[1][1]))
        self.assertTrue(any("-" in place for place, _, _ in rows))
        self.assertEqual(rows[0][2].encode(), self.truth.most_common(1)[0][0])

    def test_threads_and_chunks_make_no_difference(self):
        expected = self.output("top", "-S", "16K", "--seed", 1, "-j", 1, self.input)
        for way in (["-j", 3, "--chunk", "64"], ["-j", 2, "--chunk", "1000"]):
            self.assertEqual(self.output("top", "-S", "16K", "--seed", 1, *way, self.input),
                             expected)

    def test_texts_are_the_keys(self):
        self.assertEqual(self.output("top", "-q", "-k", 2, stdin=b"a x\nb y\nbad\nc x\n\nd x\n"),
                         b"1\t3\tx\n2\t1\ty\n")
        self.assertEqual(self.output("top", "--column", "b", "--column", "a",
                                     stdin=b'a,b\n1,"x,""y"\n2,z\n1,"x,""y"\n'),
                         b'1\t2\t1,x,"y\n2\t1\t2,z\n')
        self.assertEqual(self.output("top", "--pointer", "/a", "-n", 1,
                                     stdin=b'{"a":"q"}\n{"a":2}\n{"a": "q"}\n'), b'1\t2\t"q"\n')
        self.assertEqual(self.output("top", "-i", stdin=b"A\na\n"), b"1\t2\ta\n")
        self.assertEqual(self.output("top", "-z", stdin=b"a\nb\0a\nb\0c\0"),
                         b"1\t2\ta\nb\x002\t1\tc\0")
        self.assertEqual(self.output("top", "--csv", "--no-header", "-k", 1,
                                     stdin=b'"a\nb",1\n"a\nb",2\n'), b"1\t2\ta\\nb\n")
        long = b"x" * 100
        self.assertEqual(self.output("top", stdin=long + b"1\n" + long + b"2\n" + long + b"1\n"),
                         b"1\t2\t" + long[:38] + b"...\n2\t1\t" + long[:38] + b"...\n")
        self.assertEqual(self.output("top", "--text", 101, stdin=long + b"1\n"),
                         b"1\t1\t" + long + b"1\n")
        self.assertEqual(self.output("top", stdin=b""), b"")

    def test_a_state_goes_on_and_is_listed(self):
        half = len(self.lines) // 2
        whole = self.output("top", "-S", "32K", "--seed", 1, "-j", 1, self.input)
        self.output("top", "-S", "32K", "--seed", 1, "--state", self.state,
                    stdin=terminated(self.lines[:half]))
        again = self.output("top", "--state", self.state, stdin=terminated(self.lines[half:]))
        self.assertEqual(again, whole)
        before = self.state.read_bytes()
        self.assertEqual(self.output("top", "--state", self.state, "--list"), whole)
        self.assertEqual(self.state.read_bytes(), before)

    def test_stats_say_what_is_certain(self):
        said = json.loads(self.done("top", "--stats=json", "-S", "16K", self.input).stderr)
        self.assertEqual((said["records"], said["occurrences"]), (20_000, 20_000))
        self.assertLessEqual(said["others_at_most"], 20_000 / said["held"])
        self.assertLessEqual(said["exact"], said["listed"])
        text = self.done("top", "--stats", self.input).stderr.decode()
        self.assertRegex(text, r"(?m)^certain +100 counts and \d+ places of the 100 listed$")

    def test_refusals(self):
        self.refused(2, "--epsilon must be above 0", "top", "--epsilon", 3, self.input)
        self.refused(1, "--list needs --state", "top", "--list")
        self.refused(1, "there is no such file", "top", "--list", "--state", self.state)
        self.refused(2, "is not between 1 and", "top", "-n", 0, self.input)
        self.output("count", "--state", self.state, "-S", "1M", self.input)
        self.refused(2, "which lists no keys", "top", "--state", self.state, self.input)
        self.state.unlink()
        self.output("top", "--state", self.state, self.input)
        self.refused(2, "not --text 9", "top", "--state", self.state, "--text", 9, self.input)


if __name__ == "__main__":
    unittest.main()
