"""weir dedup: the first of equal lines, in order, whatever the lines are made of."""
import random
import subprocess
import unittest

from support.command import WEIR, CommandTest, catalogue


def numbered(numbers):
    return b"".join(b"line %d\n" % n for n in numbers)


def exact(lines):
    return b"".join(dict.fromkeys(lines.splitlines(keepends=True)))


class DedupLines(CommandTest):
    def dedup(self, stdin, *arguments):
        # A Bloom filter misses no repeat, and one of this size has no false positive here.
        return self.output("dedup", "-f", "bloom", "-S", "8M", "--seed", 1, *arguments, stdin=stdin)

    def test_agrees_with_awk(self):
        draw = random.Random(1)
        lines = numbered(draw.randrange(30_000) for _ in range(60_000))
        awk = subprocess.run(["awk", "!seen[$0]++"], input=lines, capture_output=True, check=True)
        self.assertEqual(self.dedup(lines, "--fpr", "1e-9"), awk.stdout)

    def test_reads_files_in_order_with_standard_input_among_them(self):
        first, last = self.file("first", b"a\nb\n"), self.file("last", b"c\na\nd\n")
        self.assertEqual(self.dedup(b"b\nx\n", first, "-", last), b"a\nb\nx\nc\nd\n")

    def test_reads_a_file_whose_name_looks_like_an_option(self):
        self.file("-S", b"a\na\n")
        result = subprocess.run([WEIR, "dedup", "--", "-S"], cwd=self.folder, capture_output=True)
        self.assertEqual(result.stdout, b"a\n", result.stderr)

    def test_reads_files_of_any_name(self):
        for name in ("[a,b]", "[a]", "=", "-", "dedup"):
            self.file(name, name.encode() + b"\n")
        result = subprocess.run([WEIR, "dedup", "[a,b]", "--", "[a]", "=", "./-", "dedup"],
                                cwd=self.folder, capture_output=True)
        self.assertEqual(result.stdout, b"[a,b]\n[a]\n=\n-\ndedup\n", result.stderr)

    def test_goes_by_the_last_of_equal_options(self):
        last = ["--hash", "md5", "--hash", "xxh3", "--shards", "two", "--shards=010", "-S", "0"]
        self.assertEqual(self.dedup(b"a\na\n", *last, "-S1M"), b"a\n")
        self.assertIn("shards      10\n", self.inspected(b"a\n", "--shards=two", "--shards", "010"))

    def inspected(self, stdin, *arguments):
        self.dedup(stdin, "--state", self.folder / "state", *arguments)
        return self.output("inspect", self.folder / "state").decode()

    def test_leaves_a_last_line_without_newline_as_it_is(self):
        self.assertEqual(self.dedup(b"x\ny"), b"x\ny")
        self.assertEqual(self.dedup(b"x\nx"), b"x\n")
        self.assertEqual(self.dedup(b"x"), b"x")

    def test_ends_a_last_line_when_the_next_file_goes_on(self):
        first, last = self.file("first", b"x\ny"), self.file("last", b"y\nz\n")
        self.assertEqual(self.dedup(b"", first, last), b"x\ny\nz\n")

    def test_passes_on_nothing_of_nothing(self):
        self.assertEqual(self.dedup(b""), b"")
        self.assertEqual(self.dedup(b"", self.file("empty", b"")), b"")

    def test_takes_the_empty_line_for_a_line(self):
        self.assertEqual(self.dedup(b"\n\na\n\n"), b"\na\n")

    def test_takes_lines_of_any_length(self):
        for length in (2**18 - 1, 2**18, 2**18 + 1, 3_000_000):  # around the buffer's size
            long, other = b"x" * length + b"\n", b"x" * (length - 1) + b"y\n"
            self.assertEqual(self.dedup(long + other + b"short\n" + long + other),
                             long + other + b"short\n", length)

    def test_takes_bytes_of_any_value(self):
        lines = b"a\0b\n" b"a\0c\n" b"a\0b\n" b"a\n" b"a\r\n" b"\xff\xfe\n" b"\xff\xfe\n" b"\0\n\0\0\n"
        self.assertEqual(self.dedup(lines),
                         b"a\0b\n" b"a\0c\n" b"a\n" b"a\r\n" b"\xff\xfe\n" b"\0\n\0\0\n")
        draw = random.Random(2)
        noise = draw.randbytes(100_000)
        lines = [line + b"\n" for line in noise.split(b"\n")]
        self.assertEqual(self.dedup(b"".join(lines * 2)), b"".join(dict.fromkeys(lines)))

    def test_marks_every_line(self):
        self.assertEqual(self.dedup(b"a\nb\na\n\n\na", "--mark"),
                         b"0\ta\n0\tb\n1\ta\n0\t\n1\t\n1\ta")

    def test_keeps_order_in_any_number_of_shards(self):
        lines = numbered(i * 7919 % 500 for i in range(2000))
        for shards in (1, 2, 7, 64):
            self.assertEqual(self.dedup(lines, "--shards", shards), exact(lines), shards)


class DedupFilters(CommandTest):
    lines = numbered(list(range(200)) * 3)
    # Parameters that only lead to others.
    derived = {"stable": ["d=2", "FPS=0.1"], "rsbf": ["FPRt=0.1", "aim=fnr"],
               "apbf": ["window=300"], "a2": ["window=300"],
               "ibf-2c": ["d=4"], "ibf-mc": ["d=4"], "ibf-h": ["d=4"]}

    def stats(self, spec, *arguments):
        result = self.done("dedup", "--seed", 1, "--stats", "-f", spec, *arguments,
                           stdin=self.lines)
        # Some filters forget, and let a repeat through.
        self.assertEqual(exact(result.stdout), exact(self.lines), spec)
        fields = (line.split(None, 1) for line in result.stderr.decode().splitlines())
        return {name: value for name, value in fields}

    def test_every_filter_is_reachable_with_all_its_parameters(self):
        filters = catalogue()["Filters"]
        self.assertIn("bloom", filters)
        for name in filters:
            full = self.stats(name, "-S", "1M")["structure"]
            self.assertTrue(full.startswith(name + ":"), full)
            self.assertEqual(self.stats(full, "-S", "1M")["structure"], full)
            listed = self.output("filters", name).decode().split("Parameters (of one shard)\n")[1]
            shown = [item.split("=")[0] for item in full.split(":")[1].split(",")]
            for parameter in (line.split()[0] for line in listed.splitlines()[::2]):
                if parameter in shown:
                    continue
                for given in self.derived.get(name, []):
                    if given.startswith(parameter + "="):
                        self.stats(f"{name}:{given}", "-S", "1M")
                        break
                else:
                    self.assertEqual(parameter, "imax", f"{name} {parameter}: no value to try")

    def test_every_filter_has_the_default_memory_unless_something_says_a_size(self):
        for name in catalogue()["Filters"]:
            self.assertRegex(self.stats(name)["memory"], "25[56].* MiB")
        self.assertRegex(self.stats("ibf-mc:M=7")["memory"], "25[56].* MiB")
        self.assertIn("KiB", self.stats("bloom:m=100000,k=3")["memory"])
        self.assertIn("KiB", self.stats("bloom", "-n", "20K")["memory"])

    def test_memory_is_given_in_bytes_or_with_a_suffix(self):
        for same in (["1048576", "1024K", "1024k", "1M", "1m"], ["1572864", "1536K", "1.5M"],
                     ["2097152", "2M", "0.001953125G"]):
            filters = {self.stats("bloom:k=3", "-S", size)["structure"] for size in same}
            self.assertEqual(len(filters), 1, filters)

    def test_statistics_count_what_came_and_went(self):
        stats = self.stats("bloom", "-S", "1M")
        self.assertEqual((stats["records"].split()[0], stats["first"], stats["repeats"]),
                         ("600", "200", "400"))

    def test_a_seed_makes_errors_reproducible(self):
        # So small that most lines are wrongly dropped, and which ones depends on the secret.
        lines = numbered(range(20_000))
        small = ["dedup", "-S", "6K", "-f", "bloom:k=2", "-q"]
        one = self.output(*small, "--seed", 1, stdin=lines)
        self.assertLess(len(one), len(lines))
        self.assertEqual(self.output(*small, "--seed", 1, stdin=lines), one)
        self.assertNotEqual(self.output(*small, "--seed", 2, stdin=lines), one)
        self.assertNotEqual(self.output(*small, "--seed", 1, "--hash", "siphash", stdin=lines), one)
        self.assertNotEqual(self.output(*small, stdin=lines), self.output(*small, stdin=lines))

    def test_warns_before_an_undersized_filter_eats_unique_lines(self):
        undersized = ["dedup", "-S", "6K", "-f", "bloom", "--seed", 1]
        lines = numbered(range(20_000))
        warned = self.done(*undersized, stdin=lines)
        self.assertIn(b"warning", warned.stderr)
        quiet = self.done(*undersized, "-q", stdin=lines)
        self.assertEqual((quiet.stderr, quiet.stdout), (b"", warned.stdout))
        self.assertEqual(self.done("dedup", "-S", "1M", "-f", "bloom", stdin=lines).stderr, b"")


if __name__ == "__main__":
    unittest.main()
