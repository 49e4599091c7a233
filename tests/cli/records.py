"""weir dedup: what a record is, how it may be packed, and what becomes of a bad one."""
import gzip
import shutil
import subprocess
import unittest

from support.command import WEIR
from support.exact import LARGE, DedupTest, first_ones, terminated, ways

MARK = b"\xef\xbb\xbf"  # byte order mark


def zstd(data):
    return subprocess.run(["zstd", "-qc"], input=data, capture_output=True, check=True).stdout


class Records(DedupTest):
    def test_nul_ends_records_that_may_hold_newlines(self):
        self.assertEqual(self.dedup(b"a\nb\0a\0a\nb\0\0\0c", "-z"), b"a\nb\0a\0\0c")
        first, last = self.file("first", b"a\0b"), self.file("last", b"b\0c\0")
        self.assertEqual(self.dedup(b"", "-z", first, last), b"a\0b\0c\0")

    def test_fixed_widths_need_no_terminator(self):
        self.assertEqual(self.dedup(b"abcab\nabc\0\0\0ab\n", "--fixed", 3), b"abcab\n\0\0\0")
        self.assertEqual(self.dedup(b"aabba", "--fixed", 1), b"ab")

    def test_a_short_last_record_of_fixed_width_is_bad_and_passed_on(self):
        result = self.done("dedup", *LARGE, "--fixed", 4, stdin=b"abcdabcdab")
        self.assertEqual(result.stdout, b"abcdab")
        self.assertIn(b"standard input, record 3: it is shorter than --fixed", result.stderr)
        self.assertEqual(self.dedup(b"abcdab", "--fixed", 4, "--on-bad", "drop", "-q"), b"abcd")
        first, last = self.file("first", b"abcdef"), self.file("last", b"abcdefgh")
        self.assertEqual(self.dedup(b"", "--fixed", 4, "-q", first, last), b"abcdefefgh")

    def test_json_lines_are_equal_when_their_values_are(self):
        self.assertEqual(self.dedup(b'{"a":1,"b":[1,2]}\n{ "b": [1, 2], "a": 1.0 }\r\n[]\n', "--json"),
                         b'{"a":1,"b":[1,2]}\n[]\n')

    def test_ends_the_last_record_of_a_file_only_when_another_follows(self):
        files = [self.file(name, data) for name, data in
                 (("1", b"a\nb"), ("2", b""), ("3", b"a"), ("4", b"c"), ("5", b"b"))]
        self.assertEqual(self.dedup(b"", *files), b"a\nb\nc")
        self.assertEqual(self.dedup(b"", *files[:3]), b"a\nb")
        self.assertEqual(self.dedup(b"", "-D", self.folder / "again", *files), b"a\nb\nc")
        self.assertEqual((self.folder / "again").read_bytes(), b"a\nb")
        self.assertEqual(self.dedup(b"", "--mark", *files), b"0\ta\n0\tb\n1\ta\n0\tc\n1\tb")

    def test_reads_an_input_twice_when_it_is_given_twice(self):
        lines = self.file("lines", b"a\nb\n")
        self.assertEqual(self.dedup(b"", lines, lines), b"a\nb\n")
        self.assertEqual(self.dedup(b"", "-d", lines, lines), b"a\nb\n")


class Csv(DedupTest):
    def rows(self, text, *arguments):
        return self.dedup(text, "--csv", *arguments)

    def test_passes_the_header_on_and_compares_whole_rows(self):
        self.assertEqual(self.rows(b"a,b\n1,2\na,b\n1,2\n1,3\n"), b"a,b\n1,2\na,b\n1,3\n")
        self.assertEqual(self.rows(b"a,b\n1,2\na,b\n1,2\n", "--no-header"), b"a,b\n1,2\n")
        self.assertEqual(self.rows(b"a,b\n"), b"a,b\n")
        self.assertEqual(self.rows(b"a,b"), b"a,b")
        self.assertEqual(self.rows(b""), b"")

    def test_quotes_hold_separators_newlines_and_doubled_quotes(self):
        text = b'id,name\n1,"x,y"\n2,"x\ny"\n3,"x""y"\n4,"x,y"\n5,"x\ny"\n6,"x""y"\n7,"x"\n8,x\n'
        self.assertEqual(self.rows(text, "--column", "name"),
                         b'id,name\n1,"x,y"\n2,"x\ny"\n3,"x""y"\n7,"x"\n')

    def test_a_field_is_the_same_with_and_without_quotes(self):
        self.assertEqual(self.rows(b'a,b\n"1",2\n1,"2"\n', "--column", "a", "--column", "b"),
                         b'a,b\n"1",2\n')
        self.assertEqual(self.rows(b'a,b\n"1",2\n1,"2"\n'), b'a,b\n"1",2\n1,"2"\n')  # bytes differ

    def test_a_quote_in_the_middle_of_a_field_is_an_ordinary_byte(self):
        text = b'size,n\n5"x,1\n5"x,2\n6"\n5"x,3\n'
        self.assertEqual(self.rows(text, "-k", 1), b'size,n\n5"x,1\n6"\n')

    def test_rows_end_with_a_newline_or_carriage_return_and_newline(self):
        text = b'a,b\r\n1,2\r\n1,2\n"1","x\r\ny"\r\n"1","x\r\ny"\n3,4\r\n'
        self.assertEqual(self.rows(text), b'a,b\r\n1,2\r\n"1","x\r\ny"\r\n3,4\r\n')
        self.assertEqual(self.rows(text, "--column", "b"), b'a,b\r\n1,2\r\n"1","x\r\ny"\r\n3,4\r\n')
        self.assertEqual(self.rows(b'a,b\r\n1,2\r\n3,2', "--column", "b"), b"a,b\r\n1,2\r\n")

    def test_a_byte_order_mark_is_not_part_of_the_first_name(self):
        for header in (b"a,b\n", b'"a","b"\n'):
            self.assertEqual(self.rows(MARK + header + b"1,2\n1,3\n", "--column", "a"),
                             MARK + header + b"1,2\n")
        self.assertEqual(self.rows(MARK + b'"a\nb",c\n1,2\n1,3\n', "--column", "a\nb"),
                         MARK + b'"a\nb",c\n1,2\n')

    def test_a_byte_order_mark_that_comes_in_two_pieces_is_one_all_the_same(self):
        run = subprocess.Popen([WEIR, "dedup", *map(str, LARGE), "--column", "c"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, bufsize=0)
        run.stdin.write(MARK[:1])
        with self.assertRaises(subprocess.TimeoutExpired):  # it reads, and waits for more
            run.wait(timeout=0.3)
        written, said = run.communicate(MARK[1:] + b'"a\nb",c\n1,2\n3,2\n', timeout=60)
        self.assertEqual((written, said), (MARK + b'"a\nb",c\n1,2\n', b""))

    def test_a_byte_order_mark_is_not_part_of_the_first_field_without_header(self):
        self.assertEqual(self.rows(MARK + b'a,1\na,2\n', "--no-header", "-k", 1), MARK + b"a,1\n")
        self.assertEqual(self.rows(MARK + b'"x,y",1\n"x,y",2\n', "--no-header", "-k", 1),
                         MARK + b'"x,y",1\n')

    def test_files_with_the_same_header_have_it_written_once(self):
        files = [self.file("1", b"a,b\n1,2\n"), self.file("2", b"a,b\r\n1,2\n3,4"),
                 self.file("3", b"a,b"), self.file("4", b""), self.file("5", b"a,b\n3,4\n5,6\n")]
        self.assertEqual(self.rows(b"", *files), b"a,b\n1,2\n3,4\n5,6\n")

    def test_a_header_without_newline_is_ended_when_rows_follow(self):
        files = [self.file("1", b"a,b"), self.file("2", b"a,b\n1,2\n1,2\n")]
        self.assertEqual(self.rows(b"", *files), b"a,b\n1,2\n")
        repeats = self.folder / "repeats"
        self.assertEqual(self.rows(b"", "-d", *files), b"a,b\n1,2\n")
        self.assertEqual(self.rows(b"", "-D", repeats, *files), b"a,b\n1,2\n")
        self.assertEqual(repeats.read_bytes(), b"a,b\n1,2\n")

    def test_files_with_different_headers_are_refused(self):
        first, other = self.file("first", b"a,b\n1,2\n"), self.file("other", b"b,a\n1,2\n")
        result = subprocess.run([WEIR, "dedup", *map(str, LARGE), "--csv", first, other],
                                capture_output=True)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr.decode(), rf"\Aweir: {other} has another header[^\n]+\n\Z")
        self.assertTrue(b"a,b\n1,2\n".startswith(result.stdout))
        self.assertEqual(self.rows(b"", "--no-header", first, other), b"a,b\n1,2\nb,a\n")

    def test_blank_lines_are_rows_without_fields(self):
        self.assertEqual(self.rows(b"a,b\n\n1,2\n\r\n1,2\n\n"), b"a,b\n\n1,2\n")
        text = b"a,b\n\n1,2\n\n1,2\n"
        self.assertEqual(self.rows(text, "--column", "a", "-q"), b"a,b\n\n1,2\n\n")
        self.assertEqual(self.rows(text, "--column", "a", "-q", "--on-bad", "drop"), b"a,b\n1,2\n")

    def test_rows_that_are_too_short_are_bad(self):
        text = b"a,b,c\n1,2,3\n1,2\n1,2,3,4\n1\n1,2,3\n"
        self.assertEqual(self.rows(text, "--column", "c", "-q"), b"a,b,c\n1,2,3\n1,2\n1\n")
        self.assertEqual(self.rows(text, "--column", "c", "-q", "--on-bad", "drop"),
                         b"a,b,c\n1,2,3\n")
        result = self.done("dedup", *LARGE, "--column", "c", stdin=text)
        self.assertIn(b"2 records without a key, passed on as they are; the first: standard input, "
                      b"record 3: it lacks a column", result.stderr)

    def test_quotes_that_are_never_closed_make_the_rest_a_bad_row(self):
        text = b'a,b\n1,2\n1,2\n3,"x\n1,2\n1,2\n'
        for arguments in ([], ["--column", "a"], ["--column", "b"], ["-i"]):
            result = self.done("dedup", *LARGE, "--csv", *arguments, stdin=text)
            self.assertEqual(result.stdout, b'a,b\n1,2\n3,"x\n1,2\n1,2\n')
            self.assertIn(b"record 4: its quotes are never closed", result.stderr)

    def test_quotes_of_one_file_do_not_reach_into_the_next(self):
        first, last = self.file("first", b'a,b\n1,"x'), self.file("last", b"a,b\n1,2\n1,2\n")
        self.assertEqual(self.rows(b"", "-q", first, last), b'a,b\n1,"x\n1,2\n')

    def test_text_behind_closing_quotes_makes_a_row_bad(self):
        text = b'a,b\n"1"x,2\n"1"x,2\n1,2\n'
        self.assertEqual(self.rows(text, "--column", "b", "-q"), text)
        self.assertEqual(self.rows(text, "--column", "b", "-q", "--on-bad", "drop"), b"a,b\n1,2\n")

    def test_tabs_separate_with_tsv_and_any_byte_with_t(self):
        self.assertEqual(self.dedup(b"a\tb\n1,1\t2\n1,2\t2\n", "--tsv", "--column", "b"),
                         b"a\tb\n1,1\t2\n")
        self.assertEqual(self.rows(b'a;b\n"1;1";2\n1;2\n', "-t", ";", "--column", "b"),
                         b'a;b\n"1;1";2\n')
        self.assertEqual(self.dedup(b"a\tb\n1\t2\n3\t2\n", "--csv", "-t", "\\t", "-k", 2),
                         b"a\tb\n1\t2\n")

    def test_a_long_row_in_pieces_ends_where_its_quotes_say(self):
        # The quotes open with the first byte of a chunk, and hold newlines.
        for before in range(58, 70):
            long = b"x" * before + b',"' + b"in\nquotes" * 20 + b'"\n'
            text = b"a,b\n" + long + b"1,2\n1,2\n"
            for on_bad, expected in (("drop", b"a,b\n1,2\n"), ("pass", b"a,b\n" + long + b"1,2\n")):
                self.assertEqual(self.rows(text, "--chunk", 64, "--max-record", 30, "-q",
                                           "--on-bad", on_bad), expected, before)

    def test_a_header_beyond_the_longest_record_is_the_header_all_the_same(self):
        header = b"a," + b"b" * 200 + b"\n"
        for way in ways(shards=(1,), threads=(1,)):
            self.assertEqual(self.rows(header + b"1,2\n1,3\n", "--column", "a", "--max-record", 50,
                                       *way), header + b"1,2\n")


class Compression(DedupTest):
    lines = terminated(b"line %d" % (n * n % 601) for n in range(1000))
    once = first_ones(lines.splitlines(keepends=True), bytes)

    def compressed(self):
        """Each kind of stream with these lines in it."""
        third = len(self.lines) // 3
        parts = [self.lines[:third], b"", self.lines[third:2 * third], self.lines[2 * third:]]
        yield "gzip", gzip.compress(self.lines)
        yield "gzip of several members", b"".join(map(gzip.compress, parts))
        yield "gzip with an empty member first", gzip.compress(b"") + gzip.compress(self.lines)
        yield "gzip padded with zeros", gzip.compress(self.lines) + bytes(5000)
        if shutil.which("zstd"):
            skippable = b"\x50\x2a\x4d\x18" + (7).to_bytes(4, "little") + b"skipped"
            yield "zstd", zstd(self.lines)
            yield "zstd of several frames", b"".join(map(zstd, parts))
            yield "zstd with frames to skip", skippable + zstd(self.lines) + skippable
        else:
            print("zstd is not there: its frames are not tested")

    def test_is_found_in_files_and_in_standard_input_whatever_the_name(self):
        for kind, data in self.compressed():
            with self.subTest(kind):
                self.assertEqual(self.dedup(b"", self.file("plain.txt", data)), self.once)
                self.assertEqual(self.dedup(data), self.once)
                self.assertEqual(self.dedup(data, "--chunk", 64, "-j", 4), self.once)

    def test_of_nothing_is_nothing(self):
        self.assertEqual(self.dedup(gzip.compress(b"")), b"")
        self.assertEqual(self.dedup(gzip.compress(b"") * 3), b"")
        if shutil.which("zstd"):
            self.assertEqual(self.dedup(zstd(b"")), b"")
        empty, lines = self.file("empty", gzip.compress(b"")), self.file("lines", b"a\na\n")
        self.assertEqual(self.dedup(b"", empty, lines, empty), b"a\n")

    def test_files_of_every_kind_mix(self):
        files = [self.file("plain", b"a\nb"), self.file("gzip", gzip.compress(b"b\nc")), "-"]
        if shutil.which("zstd"):
            files.append(self.file("zstd", zstd(b"c\nd")))
        files.append(self.file("last", b"d\ne\na\n"))
        self.assertEqual(self.dedup(gzip.compress(b"x\na\n"), *files), b"a\nb\nc\nx\nd\ne\n")

    def test_is_left_alone_when_asked(self):
        data = gzip.compress(self.lines)
        self.assertEqual(self.dedup(data, "--plain"), data)

    def test_is_not_mistaken_for_a_line_that_begins_alike(self):
        for start in (b"\x1f", b"\x1f\n", b"\x28\xb5\x2f", b"\x28\xb5\n", b"P*M", b"P", b"P\n", b"(\n"):
            self.assertEqual(self.dedup(start), start)
            self.assertEqual(self.dedup(start + b"\nx\nx\n"),
                             first_ones((start + b"\nx\nx\n").splitlines(keepends=True), bytes))

    def test_of_csv_and_json_is_seen_through_too(self):
        self.assertEqual(self.dedup(gzip.compress(MARK + b"a,b\n1,2\n1,3\n"), "--column", "a"),
                         MARK + b"a,b\n1,2\n")
        self.assertEqual(self.dedup(gzip.compress(b'{"a":1}\n{"a":1.0}\n'), "--json"), b'{"a":1}\n')


class BadRecords(DedupTest):
    text = b"a 1\nbad\na 1\nb 1\nbad\nc 2\n"

    def test_are_passed_on_in_their_place_and_told_once(self):
        for options in ([], ["--on-bad", "pass"]):
            result = self.done("dedup", *LARGE, "-k", 2, *options, stdin=self.text)
            self.assertEqual(result.stdout, b"a 1\nbad\nbad\nc 2\n")
            self.assertRegex(result.stderr.decode(),
                             r"\Aweir: warning: 2 records [^\n]*passed on[^\n]*"
                             r"standard input, record 2: it lacks a field of the key\n\Z")

    def test_are_left_out_when_dropped(self):
        result = self.done("dedup", *LARGE, "-k", 2, "--on-bad", "drop", stdin=self.text)
        self.assertEqual(result.stdout, b"a 1\nc 2\n")
        self.assertRegex(result.stderr.decode(), r"\Aweir: warning: 2 records [^\n]*left out[^\n]*"
                                                 r"standard input, record 2: [^\n]+\n\Z")

    def test_are_no_repeats_and_are_marked_as_new(self):
        self.assertEqual(self.dedup(self.text, "-k", 2, "-d", "-q"), b"a 1\nb 1\n")
        self.assertEqual(self.dedup(self.text, "-k", 2, "--mark", "-q"),
                         b"0\ta 1\n0\tbad\n1\ta 1\n1\tb 1\n0\tbad\n0\tc 2\n")
        self.assertEqual(self.dedup(self.text, "-k", 2, "--mark", "-q", "--on-bad", "drop"),
                         b"0\ta 1\n1\ta 1\n1\tb 1\n0\tc 2\n")
        repeats = self.folder / "repeats"
        self.dedup(self.text, "-k", 2, "-q", "-D", repeats)
        self.assertEqual(repeats.read_bytes(), b"a 1\nb 1\n")

    def test_end_the_run_on_fail_with_everything_before_written(self):
        before = b"".join(b"%d x\n" % n for n in range(5000))
        good = self.file("good", b"x x\n" * 10)
        wrong = self.file("wrong", before + b"bad\n" + b"more x\nbad\n" * 1000)
        for way in ways(shards=(1, 3), chunks=(64, 1000, "256K")):
            result = subprocess.run(
                list(map(str, [WEIR, "dedup", *LARGE, *way, "-k", "1,2", "--on-bad", "fail", good,
                               wrong])), capture_output=True, timeout=60)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stdout, b"x x\n" + before, way)
            self.assertRegex(result.stderr.decode(),
                             rf"\Aweir: {wrong}, record 5001: it lacks a field[^\n]+\n\Z")

    def test_end_the_run_where_they_stand_when_nothing_is_remembered_too(self):
        # The chunk with the bad record is slow, the ones behind it are not.
        slow = b"".join(b'{"a":%d,"b":[1,2,3,{"x":"y"}]}\n' % n for n in range(2000))
        text = b'{"good":1}\nbad\n' + slow + b"1\n" * 2000
        for _ in range(15):
            result = subprocess.run(
                list(map(str, [WEIR, "dedup", *LARGE, "--json", "--on-bad", "fail", "--read-only",
                               "-j", 4, "--chunk", "64K"])), input=text, capture_output=True)
            self.assertEqual((result.returncode, result.stdout), (1, b'{"good":1}\n'))


if __name__ == "__main__":
    unittest.main()
