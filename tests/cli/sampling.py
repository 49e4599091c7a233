"""weir sample: what is written when, in which order, from which records."""
import collections
import os
import select
import signal
import subprocess
import time
import unittest

from support.command import WEIR, CommandTest
from support.exact import terminated


class Sampling(CommandTest):
    lines = [b"line %d" % n for n in range(5000)]

    def setUp(self):
        super().setUp()
        self.input = self.file("input", terminated(self.lines))
        self.state = self.folder / "state"

    def sample(self, *arguments, stdin=b""):
        return self.output("sample", *arguments, stdin=stdin).splitlines()

    def test_a_short_stream_is_the_sample(self):
        for way in ([], ["--distinct"], ["--weight", 2]):
            self.assertEqual(self.sample("-n", 5000, *way, self.input), self.lines)
        self.assertEqual(self.output("sample", stdin=b""), b"")
        self.assertEqual(self.output("sample", stdin=b"a\nb"), b"a\nb\n")

    def test_the_order_of_the_input_is_kept_unless_shuffled(self):
        for way in ([], ["--distinct"], ["--weight", 2], ["--bias", 2000]):
            kept = self.sample("-n", 100, "--seed", 3, *way, self.input)
            self.assertEqual(len(kept), len(set(kept)))
            self.assertGreater(len(kept), 60)
            self.assertLessEqual(set(kept), set(self.lines))
            self.assertEqual(kept, sorted(kept, key=self.lines.index))
            shuffled = self.sample("-n", 100, "--seed", 3, "--shuffle", *way, self.input)
            self.assertNotEqual(shuffled, kept)
            self.assertEqual(sorted(shuffled), sorted(kept))

    def test_a_seed_makes_it_reproducible_and_chunks_no_difference(self):
        one = self.sample("-n", 50, "--seed", 1, self.input)
        self.assertEqual(self.sample("-n", 50, "--seed", 1, "--chunk", 100, self.input), one)
        self.assertNotEqual(self.sample("-n", 50, "--seed", 2, self.input), one)
        self.assertNotEqual(self.sample("-n", 50, self.input), self.sample("-n", 50, self.input))

    def test_recent_ones_are_likelier(self):
        numbers = [int(line.split()[1]) for seed in range(20)
                   for line in self.sample("-n", 100, "--bias", 500, "--seed", seed, self.input)]
        recent = sum(number >= 4500 for number in numbers)
        # A half of the sample is from the last half-life, by its law.
        self.assertAlmostEqual(recent / len(numbers), 0.5, delta=3 * 0.5 / len(numbers) ** 0.5)

    def test_heavy_ones_are_likelier_and_keys_count_once(self):
        weighted = collections.Counter()
        text = b"light 1\nheavy 9\n"
        for seed in range(300):
            weighted[self.sample("-n", 1, "--weight", 2, "--seed", seed, stdin=text)[0]] += 1
        self.assertAlmostEqual(weighted[b"heavy 9"] / 300, 0.9, delta=3 * (0.09 / 300) ** 0.5)
        rows = b"user,n\n" + b"".join(b"u%d,%d\n" % (n % 10, n) for n in range(1000))
        kept = self.sample("--distinct", "--column", "user", "-n", 10, stdin=rows)
        self.assertEqual(kept, [b"user,n", *(b"u%d,%d" % (n, n) for n in range(10))])

    def test_records_of_every_kind(self):
        self.assertEqual(self.output("sample", "-z", stdin=b"a\nb\0c\0"), b"a\nb\0c\0")
        self.assertEqual(self.output("sample", "--fixed", 2, "-q", stdin=b"aabbc"), b"aabb")
        self.assertEqual(self.output("sample", "--csv", stdin=b'h\n"a\nb"\n'), b'h\n"a\nb"\n')
        result = self.done("sample", "--distinct", "--pointer", "/a", stdin=b'{"a":1}\n{}\n')
        self.assertEqual(result.stdout, b'{"a":1}\n')
        self.assertIn(b"1 record left out; the first: standard input, record 2", result.stderr)

    def test_a_state_goes_on(self):
        for way in ([], ["--distinct"], ["--weight", 2], ["--bias", 1000]):
            self.state.unlink(missing_ok=True)
            whole = self.sample("-n", 40, "--seed", 7, *way, self.input)
            self.sample("-n", 40, "--seed", 7, *way, "--state", self.state,
                        stdin=terminated(self.lines[:1234]))
            self.assertEqual(self.sample(*way, "--state", self.state,
                                         stdin=terminated(self.lines[1234:])), whole, way)

    def test_every_so_many_records(self):
        output = self.sample("-n", 2, "--every", 2000, "--seed", 1, self.input)
        self.assertEqual([len(part.split(b"\n")) for part in b"\n".join(output).split(b"\n\n")],
                         [2, 2, 2])
        file = self.folder / "out"
        self.assertEqual(self.sample("-n", 2, "--every", 2000, "--seed", 1, "-o", file, self.input),
                         [])
        self.assertEqual(file.read_bytes().splitlines(), output[-2:])

    def test_a_signal_asks_for_the_sample_so_far(self):
        run = subprocess.Popen([WEIR, "sample", "-n", "3", "--state", self.state], bufsize=0,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        run.stdin.write(b"a\nb\n")
        time.sleep(0.5)
        run.send_signal(signal.SIGUSR1)
        ready, _, _ = select.select([run.stdout], [], [], 20)
        self.assertTrue(ready)
        self.assertEqual(os.read(run.stdout.fileno(), 100), b"a\nb\n")
        run.stdin.write(b"c\n")
        time.sleep(0.5)
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(timeout=30), -signal.SIGTERM)  # while the input is open
        rest, _ = run.communicate(timeout=30)
        self.assertEqual(rest, b"\na\nb\nc\n")
        self.assertEqual(self.sample("--state", self.state, stdin=b""), [b"a", b"b", b"c"])

    def test_inspect_says_what_a_saved_sample_holds(self):
        self.sample("-n", 40, "--distinct", "--state", self.state, self.input)
        said = self.output("inspect", self.state).decode()
        self.assertRegex(said, r"\Astructure   sample of records, of distinct keys\n"
                               r"records     [\d,]+\nheld        40 of at most 40, ")

    def test_refusals(self):
        for arguments, why in ((["-n", 0], "is not between 1 and"),
                               (["--bias", "1h"], "is a time; the half-life is a number"),
                               (["--bias", 100, "-n", 1000], "has 144 records at most"),
                               (["-k", 1], "they need --distinct"),
                               (["--bias", 10, "--distinct"], "cannot be given together"),
                               (["-o", self.input], "is also the input")):
            self.refused(2, why, "sample", *arguments, self.input)
        self.refused(1, "no sample is written", "sample", "--distinct", "-k", 9, "--on-bad", "fail",
                     self.input)
        self.sample("-n", 40, "--state", self.state, self.input)
        for arguments, why in ((["-n", 41], "not 41"), (["--distinct"], "not --distinct"),
                               (["--bias", 1000], "not --bias")):
            self.refused(2, why, "sample", "--state", self.state, *arguments, self.input)
        self.refused(1, "this is not a saved sample", "sample", "--state",
                     self.file("other", b"x" * 1000))


if __name__ == "__main__":
    unittest.main()
