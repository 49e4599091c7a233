"""weir dedup: whatever comes in, no byte is lost in silence, nothing hangs, nothing crashes."""
import gzip
import os
import random
import shutil
import subprocess
import threading
import unittest
import zlib

from support.command import WEIR, weir
from support.exact import LARGE, DedupTest, first_ones, ways


def numbered(numbers):
    return b"".join(b"line %d\n" % n for n in numbers)


def command(*arguments):
    return [WEIR, "dedup", *map(str, [*LARGE, *arguments])]


def shell(text, *arguments):
    """A command line in which "$@" is weir dedup with a large filter."""
    return subprocess.run(["bash", "-c", text, "bash", *command(*arguments)], capture_output=True,
                          timeout=60)


class BadInputTest(DedupTest):
    def failing(self, stdin, saying, *arguments):
        """What is written by a run that ends with exit 1 and one sentence."""
        result = weir("dedup", *LARGE, *arguments, stdin=stdin)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr.decode(), r"\Aweir: [^\n]+\n\Z")
        self.assertIn(saying, result.stderr.decode())
        return result.stdout


class Contents(BadInputTest):
    def test_binary_garbage_passes_as_lines(self):
        noise = b"\n" + random.Random(1).randbytes(200_000)
        lines = [line + b"\n" for line in noise.split(b"\n")]
        self.same_every_way(b"".join(lines) * 2, first_ones(lines, bytes), chunks=(1000, "256K"),
                            shards=(1,), threads=(1, 4))

    def test_binary_garbage_of_every_format_loses_no_byte(self):
        side = self.folder / "side"
        for seed in range(8):
            noise = random.Random(seed).randbytes(2000)
            for options in (["--csv", "--no-header"], ["--csv", "--no-header", "-k", 2],
                            ["--tsv", "--no-header", "-k", "1-"], ["--json"],
                            ["--pointer", "/a"], ["-k", "1,3-"], ["-z"], ["--fixed", 7],
                            ["-t", "a", "-k", "2-"], ["-i"]):
                first = self.dedup(noise, *options, "--chunk", 64, "-j", 1 + seed % 3, "-q", "-D",
                                   side)
                self.assertEqual(sorted(noise), sorted(first + side.read_bytes()), options)
            header = weir("dedup", *LARGE, "--csv", "-k", 1, "-q", stdin=noise)
            if header.returncode != 0:
                self.assertEqual(header.returncode, 2)
                self.assertRegex(header.stderr, rb"\Aweir: the header cannot be read: [^\n]+\n\Z")

    def test_a_missing_last_newline_is_not_made_up(self):
        self.assertEqual(self.dedup(b"a\nb\na\nc"), b"a\nb\nc")
        self.assertEqual(self.dedup(b"a\nb\na"), b"a\nb\n")

    def test_carriage_returns_belong_to_lines(self):
        self.assertEqual(self.dedup(b"a\r\na\na\r\n\r\n\n\r"), b"a\r\na\n\r\n\n")

    def test_empty_lines_are_lines(self):
        self.assertEqual(self.dedup(b"\n\n\na\n\n"), b"\na\n")
        self.assertEqual(self.dedup(b"\n" * 100_000), b"\n")

    def test_files_of_no_bytes_are_empty(self):
        empty, other = self.file("empty", b""), self.file("other", b"a")
        for options in ([], ["-z"], ["--csv"], ["--json"], ["--fixed", 3], ["--csv", "--column", "a"]):
            self.assertEqual(self.dedup(b"", *options, empty, empty), b"")
        self.assertEqual(self.dedup(b"", empty, other, empty), b"a")
        self.assertEqual(self.dedup(b"", "/dev/null", other, "/dev/null"), b"a")

    def test_ten_megabytes_without_newline_are_one_line(self):
        long = b"long line " * 1_000_000
        other = long[:-1] + b"!"
        for way in (["-j", 1], ["-j", 2, "--chunk", 1000]):
            self.assertTrue(self.dedup(long, *way) == long, way)
            self.assertTrue(self.dedup(b"\n".join((long, b"a", other, long)), *way) ==
                            b"\n".join((long, b"a", other)) + b"\n", way)
        # Nobody puts it together when it is too long anyway.
        self.assertTrue(self.dedup(long + b"\na\na", "--max-record", "1M", "-q") == long + b"\na\n")

    def test_hundreds_of_thousands_of_lines_of_a_byte_fit_in_a_chunk(self):
        draw = random.Random(2)
        lines = [b"%c\n" % draw.choice(b"abcdefgh") for _ in range(300_000)]
        for threads in (1, 2):
            self.assertEqual(self.dedup(b"".join(lines), "-j", threads), first_ones(lines, bytes))
            marks = self.dedup(b"".join(lines), "-j", threads, "--mark").splitlines(keepends=True)
            self.assertTrue([mark[2:] for mark in marks] == lines)

    def test_records_that_are_too_long(self):
        for end, flags in ((b"\n", []), (b"\0", ["-z"])):
            for length in (100, 101, 128, 5000):
                long = b"x" * length + end
                text = b"a" + end + long + b"b" + end + long + b"a" + end + b"y" * length
                bad = length > 100
                expected = {
                    "pass": (b"a" + end + long + b"b" + end + long * bad + b"y" * length),
                    "drop": b"a" + end + b"b" + end if bad
                    else b"a" + end + long + b"b" + end + b"y" * length}
                for way in ways(shards=(1,), threads=(1, 2), chunks=(64, 101, "256K")):
                    options = [*flags, *way, "--max-record", 100]
                    for on_bad, output in expected.items():
                        self.assertEqual(self.dedup(text, *options, "--on-bad", on_bad, "-q"),
                                         output, (length, options))
                    if bad:
                        self.assertEqual(
                            self.failing(text, "standard input, record 2: it is longer than "
                                         "--max-record", *options, "--on-bad", "fail"), b"a" + end)

    def test_a_record_that_is_too_long_is_told_once(self):
        text = b"a\n" + b"x" * 5000 + b"\nb\n" + b"y" * 5000 + b"\nb\n"
        result = self.done("dedup", *LARGE, "--chunk", 64, "--max-record", 100, stdin=text)
        self.assertEqual(result.stdout, text[:-2])
        self.assertRegex(result.stderr, rb"\Aweir: warning: 2 records [^\n]+record 2: it is longer "
                                        rb"than --max-record\n\Z")
        marks = self.dedup(text, "--chunk", 64, "--max-record", 100, "--mark", "-q")
        self.assertEqual(marks, b"0\ta\n0\t" + b"x" * 5000 + b"\n0\tb\n0\t" + b"y" * 5000 +
                         b"\n1\tb\n")
        self.assertEqual(self.dedup(text, "--chunk", 64, "--max-record", 100, "-d", "-q"), b"b\n")


class Files(BadInputTest):
    def test_a_file_that_shrinks_is_an_error(self):
        content = numbered(range(1_000_000))
        for threads in (1, 2):
            shrinking = self.file("shrinking", content)
            run = subprocess.Popen(command("-j", threads, "-f", "bloom", "-S", "8M", shrinking),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
            written = run.stdout.read(7)  # it goes on until the pipe is full, far from the end
            os.truncate(shrinking, 1000)
            rest, said = run.communicate(timeout=60)
            written += rest
            self.assertEqual(run.returncode, 1)
            self.assertRegex(said.decode(), rf"\Aweir: {shrinking} shrank while it was read: it had "
                                            rf"{len(content)} bytes [^\n]+\n\Z")
            self.assertTrue(content.startswith(written) and written.endswith(b"\n"))

    def test_a_file_that_may_not_be_read_is_told(self):
        secret = self.file("secret", b"a\n")
        secret.chmod(0)
        self.folder.chmod(0o755)
        as_nobody = []
        if os.geteuid() == 0:
            as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            tried = shutil.which("setpriv") and subprocess.run([*as_nobody, WEIR, "--version"],
                                                               capture_output=True).returncode
            if tried != 0:
                self.skipTest("nobody else can be asked to run weir")
        result = subprocess.run([*as_nobody, *command(secret)], capture_output=True)
        self.assertEqual((result.returncode, result.stdout), (1, b""))
        self.assertRegex(result.stderr.decode(),
                         rf"\Aweir: cannot open {secret}: Permission denied\n\Z")
        readable = self.file("readable", b"a\n")
        result = subprocess.run([*as_nobody, *command(readable, secret)], capture_output=True)
        self.assertEqual((result.returncode, result.stdout), (1, b""))  # before anything is done

    def test_a_directory_is_told(self):
        self.refused(1, f"cannot open {self.folder}: it is a directory", "dedup", self.folder)
        result = shell(f'"$@" < {self.folder}')
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr.decode(),
                         r"\Aweir: cannot read standard input: it is a directory\n\Z")

    def test_a_named_pipe_is_read_to_its_end(self):
        pipe, plain = self.folder / "pipe", self.file("plain", b"a\nx\n")
        os.mkfifo(pipe)
        for inputs, expected in (([pipe], b"a\nb\n"), ([plain, pipe], b"a\nx\nb\n"),
                                 ([pipe, plain], b"a\nb\nx\n")):
            for _ in range(3):
                def feed():
                    try:
                        with open(pipe, "wb", buffering=0) as end:
                            end.write(b"a\nb\na\n")
                    except BrokenPipeError:
                        pass  # nobody read it: told below
                feeding = threading.Thread(target=feed, daemon=True)
                feeding.start()
                run = subprocess.Popen(command(*inputs), stdout=subprocess.PIPE)
                try:
                    self.assertEqual(run.communicate(timeout=10)[0], expected)
                except subprocess.TimeoutExpired:
                    run.kill()
                    run.communicate()
                    self.fail("it opened the pipe more than once, and waits for ever")
                feeding.join(timeout=10)

    def test_a_process_substitution_is_read(self):
        result = shell('"$@" <(printf "a\\nb\\n") <(printf "b\\nc\\n" | gzip)')
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"a\nb\nc\n", b""))

    def test_an_input_may_appear_twice_but_not_standard_input(self):
        lines = self.file("lines", b"a\nb\n")
        self.assertEqual(self.dedup(b"", lines, lines), b"a\nb\n")
        self.refused(2, "standard input can be read only once", "dedup", "-", "-", stdin=b"a\n")

    def test_a_missing_file_is_told_before_anything_is_done(self):
        output = self.file("output", b"kept")
        lines = self.file("lines", b"a\n")
        missing = self.folder / "missing"
        self.refused(1, f"cannot open {missing}: No such file", "dedup", "-o", output, lines, missing)
        self.assertEqual(output.read_bytes(), b"kept")

    def test_closed_descriptors_are_told(self):
        lines = self.file("lines", numbered(range(1000)))
        for redirection, saying, rest in (("<&-", b"cannot read standard input", []),
                                          (">&-", b"cannot write the output", [lines]),
                                          (">&-", b"cannot write the output", ["-d", lines, lines]),
                                          ("<&- >&-", b"cannot write the output", [lines]),
                                          ("<&-", b"cannot read standard input", [lines, "-"])):
            for threads in (1, 2):
                result = shell(f'"$@" {redirection}', "-j", threads, *rest)
                self.assertEqual(result.returncode, 1, redirection)
                self.assertRegex(result.stderr, rb"\Aweir: " + saying + rb": [^\n]+\n\Z")
        self.assertEqual(shell('"$@" <&-', lines).stdout, lines.read_bytes())
        self.assertEqual(shell('"$@" 2>&-', lines).stdout, lines.read_bytes())

    def test_a_full_disk_is_told(self):
        lines = self.file("lines", numbered(range(100_000)))
        for threads in (1, 2):
            for redirection, options, saying in (
                    (">/dev/full", [], b"cannot write the output"), ("", ["-o", "/dev/full"],
                                                                     b"cannot write /dev/full"),
                    (">/dev/null", ["-D", "/dev/full", lines], b"cannot write /dev/full")):
                result = shell(f'"$@" {redirection}', "-j", threads, "-f", "bloom", *options, lines)
                self.assertEqual((result.returncode, result.stdout), (1, b""), options)
                self.assertEqual(result.stderr, b"weir: " + saying + b": No space left on device\n")

    def test_a_broken_pipe_is_quiet(self):
        lines = self.file("lines", numbered(range(200_000)))
        for threads in (1, 2):
            result = shell('"$@" | head -1; echo ${PIPESTATUS[0]}', "-j", threads, "-f", "bloom",
                           "-S", "8M", lines)
            self.assertRegex(result.stdout, rb"\Aline 0\n(0|141)\n\Z")
            self.assertEqual(result.stderr, b"")


class Compressed(BadInputTest):
    lines = numbered(n * 7919 % 100_003 for n in range(3000))

    def places(self, size):
        return sorted({*range(0, 24), *range(24, size, size // 40), *range(size - 12, size)})

    def test_truncated_gzip_is_told_behind_all_that_was_whole(self):
        data = gzip.compress(self.lines)
        for place in self.places(len(data)):
            cut = data[:place]
            if place < 2:  # nothing says what it is
                self.assertEqual(self.dedup(cut), cut)
                continue
            whole = zlib.decompressobj(31).decompress(cut)
            whole = whole[:whole.rfind(b"\n") + 1]
            written = self.failing(cut, "standard input is truncated: it ends in the middle of its "
                                   "gzip", "-j", 1 + place % 2)
            self.assertEqual(written, whole, place)

    def test_truncated_second_member_is_told(self):
        first, second = gzip.compress(b"a\nb\n"), gzip.compress(b"c\nd\n")
        for place in range(1, len(second)):
            written = self.failing(first + second[:place], "truncated")
            self.assertTrue(written.startswith(b"a\nb\n"), place)

    def test_damaged_gzip_is_told(self):
        data = bytearray(gzip.compress(self.lines))
        for place in (-1, -4, -5, -8):  # length and checksum
            wrong = bytearray(data)
            wrong[place] ^= 1
            damaged = self.file("damaged.gz", wrong)
            self.failing(b"", f"{damaged} is damaged: its gzip data cannot be read", damaged)
            written = {self.failing(b"", "damaged", "--chunk", chunk, damaged)
                       for chunk in (64, 1000, "256K")}
            self.assertEqual(len(written), 1, "what was read before depends on the chunks")
        for place in range(20, len(data) - 8, len(data) // 40):
            wrong = bytearray(data)
            wrong[place] ^= 0x10
            result = weir("dedup", *LARGE, stdin=bytes(wrong))
            self.assertEqual(result.returncode, 1, place)
            self.assertRegex(result.stderr, rb"\Aweir: standard input is (damaged|truncated): ")
        self.failing(b"\x1f\x8b\x09" + data[3:], "damaged")

    def test_gzip_followed_by_garbage_is_told(self):
        data = gzip.compress(self.lines)
        for garbage in (b"garbage", b"\0\0garbage", b"\n\n", b"\xff" * 100):
            written = self.failing(data + garbage, "standard input is damaged")
            self.assertEqual(written, self.lines)
        for garbage in (b"\x1f", b"\n"):  # perhaps the beginning of another member
            self.assertEqual(self.failing(data + garbage, "standard input is "), self.lines)

    def test_truncated_and_damaged_zstd_are_told(self):
        if not shutil.which("zstd"):
            self.skipTest("zstd is not there")
        data = subprocess.run(["zstd", "-qc", "--check"], input=self.lines, capture_output=True,
                              check=True).stdout
        for place in self.places(len(data)):
            cut = data[:place]
            if place < 4:
                self.assertEqual(self.dedup(cut), cut)
                continue
            written = self.failing(cut, "standard input is truncated: it ends in the middle of its "
                                   "zstd")
            self.assertTrue(self.lines.startswith(written), place)
            self.assertTrue(written == b"" or written.endswith(b"\n"))
        for wrong in (data[:-1] + bytes([data[-1] ^ 1]), data + b"garbage",
                      data[:200] + bytes([data[200] ^ 0x10]) + data[201:]):
            self.failing(wrong, "standard input is damaged: its zstd data cannot be read")
        self.assertEqual(self.failing(data + b"xx", "damaged"), self.lines)

    def test_a_damaged_file_does_not_hide_the_ones_before(self):
        good = self.file("good", b"a\nb")
        wrong = self.file("wrong", gzip.compress(self.lines)[:-1])
        self.assertEqual(self.failing(b"", str(wrong), good, wrong, good), b"a\nb\n" + self.lines)


class Flags(DedupTest):
    def test_values_that_make_no_sense_are_refused(self):
        state, output = self.folder / "state", self.folder / "output"
        lines = self.file("lines", b"a\n")
        self.dedup(b"a\n", "--state", state)
        before = state.read_bytes()
        for saying, *arguments in [
            ("width", "--fixed", "0"),
            ("'x' is not a size", "--fixed", "x"),
            ("'1.5' is not a size", "--fixed", "1.5"),
            ("--fixed", "--fixed", ""),
            ("--threads: 0 is not between 1 and 1024", "-j", "0"),
            ("--threads: 'x' is not a whole number", "-j", "x"),
            ("--threads: '-1' is not a whole number", "--threads=-1"),
            ("--threads: '2.5' is not a whole number", "-j", "2.5"),
            ("--threads: 1025 is not between 1 and 1024", "-j", "1025"),
            ("--threads", "-j", ""),
            ("'x' is not a size", "--max-record", "x"),
            ("'-5' is not a size", "--max-record=-5"),
            ("--max-record", "--max-record", ""),
            ("longer than --max-record", "--fixed", "10", "--max-record", "5"),
            ("chunks must have at least 64 bytes", "--chunk", "10"),
            ("'0' is not a list of fields", "-k", "0"),
            ("'2-1' is not a list of fields", "-k", "2-1"),
            ("--key: '' is not a value", "-k", ""),
            ("'1,,2' is not a list of fields", "-k", "1,,2"),
            ("'1,' is not a list of fields", "-k", "1,"),
            ("'-' is not a list of fields", "-k", "-"),
            ("'1-0' is not a list of fields", "-k", "1-0"),
            ("'x' is not a list of fields", "-k", "x"),
            ("'1 2' is not a list of fields", "-k", "1 2"),
            ("'1-2-3' is not a list of fields", "-k", "1-2-3"),
            ("'99999999999999999999' is not a list of fields", "-k", "99999999999999999999"),
            ("--field-separator: '' is not a value", "-k", "1", "-t", ""),
            ("'ab' is not a separator", "-k", "1", "-t", "ab"),
            ("'é' is not a separator", "-k", "1", "-t", "é"),
            ("give -k too", "-t", ";"),
            ("cannot separate columns", "--csv", "-t", '"'),
            ("cannot separate columns", "--csv", "-t", "\n"),
            ("knows no importance", "-f", "stable", "--importance", "1"),
            ("--resume needs --state", "--resume", "-o", output, lines),
            ("--resume needs -o", "--resume", "--state", state, lines),
            ("--resume needs -o", "--resume", "--state", state, "-o", "-", lines),
            ("--resume needs files to read from", "--resume", "--state", state, "-o", output),
            ("--resume needs files to read from", "--resume", "--state", state, "-o", output, "-"),
            ("exclude each other", "--resume", "--state", state, "-o", output, "--read-only", lines),
            ("choose one", "--csv", "--json"),
            ("choose one", "--csv", "-z"),
            ("choose one", "--json", "--fixed", "3"),
            ("choose one", "-z", "--fixed", "3"),
            ("choose one", "--tsv", "--json"),
            ("--tsv and --csv cannot be given together", "--csv", "--tsv"),
            ("--no-header needs --csv", "--no-header"),
            ("--on-bad", "--on-bad", "explode"),
            ("--on-bad", "--on-bad", ""),
            ("--importance", "-f", "ibf-mc", "--importance", ""),
            ("--state", "--state", ""),
            ("--output", "-o", ""),
            ("--repeats", "-D", ""),
            ("--max-fpr", "--max-fpr", ""),
            ("--key", "-k"),
            ("cannot be given together", "-c", "--mark"),
        ]:
            self.refused(2, saying, "dedup", *LARGE, *arguments, stdin=b"a b c\n")
        self.assertEqual(state.read_bytes(), before)
        self.assertFalse(output.exists())


if __name__ == "__main__":
    unittest.main()
