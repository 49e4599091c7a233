"""weir merge and weir shrink: joined and halved states, and what is refused."""
import collections
import unittest

from support.command import CommandTest
from support.exact import terminated
from support.zipf import bounds, zipf


class Merging(CommandTest):
    def setUp(self):
        super().setUp()
        self.one, self.two = zipf(1), zipf(2)
        self.files = [self.file(name, terminated(lines))
                      for name, lines in (("one", self.one), ("two", self.two))]
        self.states = [self.folder / "one.weir", self.folder / "two.weir"]
        self.joined = self.folder / "joined.weir"

    def made(self, command, *arguments):
        for file, state in zip(self.files, self.states):
            state.unlink(missing_ok=True)
            self.output(command, "--seed", 1, "--state", state, *arguments, file)

    def merged(self):
        result = self.done("merge", "-o", self.joined, *self.states)
        self.assertRegex(result.stderr.decode(), r"\Aweir: 2 states, 40,000 records in all, as ")
        self.assertEqual(result.stdout, b"")

    def test_counts_add_up(self):
        both = collections.Counter(self.one + self.two)
        query = self.file("query", terminated(both))
        for sketch in ("count-min", "spectral"):
            self.made("count", "-f", sketch, "-S", "4M")
            self.merged()
            self.assertEqual(self.output("count", "--state", self.joined, "--query", query),
                             terminated(b"%d\t" % n + key for key, n in both.items()))

    def test_bloom_filters_know_the_keys_of_both(self):
        for spec in ("bloom", "blocked-bloom"):
            self.made("dedup", "-f", spec, "-S", "1M", "-o", "/dev/null")
            self.merged()
            self.assertEqual(self.output("dedup", "--state", self.joined, "--read-only",
                                         *self.files), b"")

    def test_lists_keep_their_bounds(self):
        truth = collections.Counter(self.one + self.two)
        self.made("top", "-S", "32K")
        self.merged()
        rows = self.output("top", "--state", self.joined, "--list").decode().splitlines()
        self.assertEqual(len(rows), 100)
        for row in rows:
            _, count, key = row.split("\t")
            least, most = bounds(count)
            self.assertLessEqual(least, truth[key.encode()])
            self.assertLessEqual(truth[key.encode()], most)

    def test_what_cannot_be_merged_is_refused_with_the_reason(self):
        self.made("dedup", "-f", "stable", "-S", "1M", "-o", "/dev/null")
        self.refused(1, "stable structures cannot be merged: ", "merge", "-o", self.joined,
                     *self.states)
        self.made("count", "-S", "1M")
        self.states[1].unlink()
        self.output("count", "--state", self.states[1], "-S", "2M", "--seed", 1, self.files[1])
        self.refused(2, "their parameters differ", "merge", "-o", self.joined, *self.states)
        self.states[1].unlink()
        self.output("count", "--state", self.states[1], "-S", "1M", self.files[1])
        self.refused(2, "different secrets; make both with the same seed", "merge", "-o",
                     self.joined, *self.states)
        self.refused(2, "there is nothing to merge", "merge", "-o", self.joined, self.states[0])
        self.refused(1, "missing", "merge", "-o", self.joined, self.states[0],
                     self.folder / "missing")
        self.assertFalse(self.joined.exists())


class Shrinking(CommandTest):
    def test_halves_a_bloom_filter_and_loses_no_key(self):
        lines = self.file("lines", terminated(zipf(1)))
        large, small = self.folder / "large", self.folder / "small"
        self.output("dedup", "-f", "bloom", "-S", "1M", "--state", large, "-o", "/dev/null", lines)
        for ask, times in (([], 1), (["-n", 3], 3), (["-S", "200K"], 3)):
            said = self.done("shrink", *ask, "-o", small, large).stderr.decode()
            self.assertRegex(said, rf"\Aweir: halved {times} times, from \S+ .iB to \S+ .iB; "
                                   r"the live FPR was \S+ % and is \S+ %\n\Z")
            self.assertLess(small.stat().st_size, 1.05 * large.stat().st_size / 2 ** times)
            self.assertEqual(self.output("dedup", "--state", small, "--read-only", lines), b"")

    def test_other_structures_are_refused_with_the_reason(self):
        lines = self.file("lines", terminated(zipf(1)))
        for command, spec in (("dedup", "stable"), ("dedup", "blocked-bloom"), ("count", "spectral")):
            state = self.folder / spec
            self.output(command, "-f", spec, "-S", "1M", "--state", state, lines)
            self.refused(1, "the bloom filter can", "shrink", "-o", self.folder / "x", state)
        small = self.folder / "small"
        self.output("dedup", "-f", "bloom:m=256,k=2", "--state", small, "-q", "-o", "/dev/null",
                    lines)
        self.refused(1, "halved 2 times: a bloom filter of 64 bits cannot be halved", "shrink",
                     "-n", 3, "-o", self.folder / "x", small)
        self.assertFalse((self.folder / "x").exists())


if __name__ == "__main__":
    unittest.main()
