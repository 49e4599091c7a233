"""weir dedup: what a record is, which of its bytes make the key, and what is a bad one."""
import csv
import gzip
import io
import json
import random
import re
import shutil
import subprocess
import unittest

from support.command import WEIR
from support.exact import LARGE, DedupTest, chosen, first_ones, ways

MARK = b"\xef\xbb\xbf"  # byte order mark


def terminated(records, end=b"\n"):
    return b"".join(record + end for record in records)


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


class Fields(DedupTest):
    def test_of_lines_are_chosen_as_in_cut(self):
        lines = [b"a;b;c;d;e", b"x;b;y;d;e", b"a;x;c;x;x", b"a;b;x;x;x", b"x;x;c;d;e", b"b;a;c;e;d"]
        for selection in ("2,4-5", "3-", "-2", "1,5", "2", "1-", "-1", "1-3,2-4", "3,1-2", "1,2-"):
            with self.subTest(selection):
                expected = first_ones(lines, lambda line: chosen(line.split(b";"), selection))
                self.assertEqual(
                    self.dedup(b"\n".join(lines), "-t", ";", "-k", selection).replace(b"\n", b""),
                    expected)

    def test_may_be_listed_in_any_order(self):
        text = b"a b c d e\nx b c d e\na x x x e\nx x x x e\ne b c d a\n"
        self.assertEqual(self.dedup(text, "-k", "5,1"), self.dedup(text, "-k", "1,5"))
        self.assertEqual(self.dedup(text, "-k", "5,1"), b"a b c d e\nx b c d e\ne b c d a\n")

    def test_are_separated_by_runs_of_blanks_unless_told(self):
        text = b"a  b\n\ta \tb\nab\n  a b  \nb a\n"
        self.assertEqual(self.dedup(text, "-k", "1,2", "-q"), b"a  b\nab\nb a\n")
        self.assertEqual(self.dedup(text, "-k", 2, "-q"), b"a  b\nab\nb a\n")

    def test_are_separated_by_each_byte_that_t_names(self):
        self.assertEqual(self.dedup(b"a\tb c\nx\tb c\n\tb\n", "-t", "\\t", "-k", 2),
                         b"a\tb c\n\tb\n")
        self.assertEqual(self.dedup(b"a\tb c\nx\tb c\n\tb\n", "-t", "\t", "-k", 2),
                         b"a\tb c\n\tb\n")
        self.assertEqual(self.dedup(b"a  b\na b\na  c\n", "-t", " ", "-k", 2), b"a  b\na b\n")
        self.assertEqual(self.dedup(b"a\0b\nx\0b\n", "-t", "\\0", "-k", 2), b"a\0b\n")
        self.assertEqual(self.dedup(b"a;b\0x;b\0x;\n\0", "-z", "-t", ";", "-k", 2), b"a;b\0x;\n\0")

    def test_that_a_line_lacks_make_it_bad(self):
        text = b"a\na b\nx b\n\nc\n"
        for selection, lacking in (("2", 3), ("1,2", 3), ("-2", 3), ("2-", 3), ("1,2-", 3),
                                   ("1", 1), ("1-", 1)):
            with self.subTest(selection):
                result = self.done("dedup", *LARGE, "-k", selection, "--stats=json", "-q",
                                   stdin=text)
                self.assertEqual(json.loads(result.stderr)["bad"], lacking)

    def test_are_compared_one_by_one(self):
        self.assertEqual(self.dedup(b"ab,c\na,bc\n", "-t", ",", "-k", "1,2"), b"ab,c\na,bc\n")
        self.assertEqual(self.dedup(b"ab c\na bc\n", "-k", "1,2"), b"ab c\na bc\n")
        rows = b'x,y\nab,c\na,bc\n"a,b",c\na,"b,c"\n"a",bc\n'
        for key in (["-k", "1,2"], ["-k", "1-"], ["--column", "x", "--column", "y"]):
            self.assertEqual(self.dedup(rows, "--csv", *key), rows[:rows.rindex(b'"a",bc')])

    def test_of_csv_stay_apart_when_case_is_ignored(self):
        # Lengths of 65 and 97 bytes are those of 'A' and 'a'.
        inner = b"a" + bytes(7)
        first = b"x" * 65 + b"," + b"y" * 24 + inner + b"z" * 65
        other = b"x" * 65 + inner + b"y" * 24 + b"," + b"z" * 65
        rows = b"p,q\n" + first + b"\n" + other + b"\n" + first.upper() + b"\n"
        self.assertEqual(self.dedup(rows, "--csv", "-i", "-k", "1,2"),
                         b"p,q\n" + first + b"\n" + other + b"\n")

    def test_ignore_case_of_ascii_letters_only(self):
        text = "Ab x\naB x\n[b x\n{b x\nÄ x\nä x\nAB X\n".encode()
        self.assertEqual(self.dedup(text, "-i"), "Ab x\n[b x\n{b x\nÄ x\nä x\n".encode())
        self.assertEqual(self.dedup(text, "-i", "-k", 1), "Ab x\n[b x\n{b x\nÄ x\nä x\n".encode())
        self.assertEqual(self.dedup(text, "-i", "-k", 2), b"Ab x\n")
        self.assertEqual(self.dedup(b"h,H\na,b\nA,b\na,B\n", "--csv", "-i", "--column", "H"),
                         b"h,H\na,b\n")

    def test_of_another_format_are_refused(self):
        for saying, *arguments in [
            ("JSON has no fields", "--json", "-k", 1),
            ("fixed width have no fields", "--fixed", 3, "-k", 1),
            ("either -k or --column", "--csv", "-k", 1, "--column", "a"),
            ("columns need CSV", "--column", "a", "--pointer", "/a", "--json"),
            ("pointers need JSON", "--csv", "--pointer", "/a"),
            ("choose one", "-z", "--column", "a"),
        ]:
            self.refused(2, saying, "dedup", *LARGE, *arguments, stdin=b"a\n")


class Columns(DedupTest):
    text = b"id,name,id2\n1,a,x\n2,a,x\n1,b,x\n1,a,y\n"

    def test_are_found_by_name_or_number(self):
        for columns, expected in (
                (["id"], b"1,a,x\n2,a,x\n"), ([1], b"1,a,x\n2,a,x\n"), ([3], b"1,a,x\n1,a,y\n"),
                (["id", "name"], b"1,a,x\n2,a,x\n1,b,x\n"),
                (["name", "id"], b"1,a,x\n2,a,x\n1,b,x\n"),
                (["name", 3], b"1,a,x\n1,b,x\n1,a,y\n")):
            options = [item for column in columns for item in ("--column", column)]
            self.assertEqual(self.dedup(self.text, *options), b"id,name,id2\n" + expected, columns)
        self.assertEqual(self.dedup(b"1,a\n2,a\n1,b\n", "--no-header", "--column", 2),
                         b"1,a\n1,b\n")
        self.assertEqual(self.dedup(b'a,"x ""y"""\n1,2\n3,2\n', "--column", 'x "y"'),
                         b'a,"x ""y"""\n1,2\n')

    def test_whose_name_is_a_number_are_found_by_name_first(self):
        self.assertEqual(self.dedup(b"2,x\na,b\na,c\n", "--column", 2), b"2,x\na,b\n")

    def test_that_are_not_there_are_refused_with_the_names(self):
        output = self.file("output", b"kept")
        self.refused(2, "there is no column 'nope'; the header has: id, name, id2",
                     "dedup", "--column", "nope", "-o", output, stdin=self.text)
        self.assertEqual(output.read_bytes(), b"kept")
        self.refused(2, "there is no column '4'", "dedup", "--column", 4, stdin=self.text)
        self.refused(2, "there is no column 'ID'", "dedup", "--column", "ID", stdin=self.text)
        self.refused(2, "'name' is not the number", "dedup", "--no-header", "--column", "name",
                     stdin=self.text)
        self.refused(2, "0", "dedup", "--column", 0, stdin=self.text)

    def test_that_are_there_twice_are_refused_by_name(self):
        text = b"a,b,a\n1,2,3\n1,2,4\n"
        self.refused(2, "several columns 'a'", "dedup", "--column", "a", stdin=text)
        self.assertEqual(self.dedup(text, "--column", "b"), b"a,b,a\n1,2,3\n")
        self.assertEqual(self.dedup(text, "--column", "3"), text)


class Pointers(DedupTest):
    def kept(self, *lines, options=()):
        """Which of the lines are written, by number."""
        text = terminated(line.encode() for line in lines)
        marks = self.dedup(text, "--json", "--mark", *options).split(b"\n")[:-1]
        return [number for number, line in enumerate(marks) if line.startswith(b"0\t")]

    def test_a_document_is_a_line_and_not_what_brackets_say(self):
        # As many documents as lines, each beginning in its line, and yet no line is one.
        lines = b'{"a":\n1} {"b":2}\n' * 2
        self.assertEqual(self.dedup(lines, "--json", "-q"), lines)
        self.assertEqual(self.dedup(b'[1]\n[1] [2]\n[1]\n', "--json", "-q"), b'[1]\n[1] [2]\n')
        self.assertEqual(self.dedup(b'{"a":1}\n\n{"a":1} x\n{"a":1}\n', "--json", "-q"),
                         b'{"a":1}\n\n{"a":1} x\n')

    def test_choose_members_and_items(self):
        lines = ('{"a":{"b":[1,2]},"c":1}', '{"a":{"b":[1,3]},"c":1}', '{"a":{"b":[2,2]},"c":2}')
        for pointers, expected in ((["/a/b/0"], [0, 2]), (["/a/b/1"], [0, 1]), (["/c"], [0, 2]),
                                   (["/a/b/0", "/a/b/1"], [0, 1, 2]), (["/a"], [0, 1, 2]),
                                   ([""], [0, 1, 2]), (["/c", "/a/b/1"], [0, 1, 2])):
            options = [item for pointer in pointers for item in ("--pointer", pointer)]
            self.assertEqual(self.kept(*lines, options=options), expected, pointers)

    def test_write_slash_and_tilde_with_a_tilde(self):
        lines = ('{"a/b":1,"m~n":1,"":1}', '{"a/b":1,"m~n":2,"":1}', '{"a/b":2,"m~n":1,"":1}')
        self.assertEqual(self.kept(*lines, options=["--pointer", "/a~1b"]), [0, 2])
        self.assertEqual(self.kept(*lines, options=["--pointer", "/m~0n"]), [0, 1])
        self.assertEqual(self.kept(*lines, options=["--pointer", "/"]), [0])
        for wrong in ("a", "/a~", "/a~2", "/a~b"):
            self.refused(2, f"'{wrong}' is not a JSON pointer", "dedup", "--pointer", wrong)

    def test_several_values_stay_apart(self):
        lines = ('{"a":"x,y","b":"z"}', '{"a":"x","b":"y,z"}', '{"a":"x\\",\\"y","b":"z"}',
                 '{"a":"x","b":"y\\",\\"z"}', '{"a":[1],"b":2}', '{"a":1,"b":[2]}')
        self.assertEqual(self.kept(*lines, options=["--pointer", "/a", "--pointer", "/b"]),
                         list(range(6)))

    def test_to_nothing_make_a_record_bad(self):
        text = b'{"a":1}\n{"b":1}\n{"b":1}\n[1]\n1\nnot json\n\n{"a":null}\n{"a":null}\n{"a":1}\n'
        self.assertEqual(self.dedup(text, "--pointer", "/a", "-q"),
                         b'{"a":1}\n{"b":1}\n{"b":1}\n[1]\n1\nnot json\n\n{"a":null}\n')
        self.assertEqual(self.dedup(text, "--pointer", "/a", "-q", "--on-bad", "drop"),
                         b'{"a":1}\n{"a":null}\n')

    def test_equal_values_have_equal_keys(self):
        for lines in (('{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}',
                       ' { "a" : 1 , "b" : { "c" : 2 , "d" : 3 } } ', '{"a":1,"b":{"c":2,"d":3}}\r'),
                      ("1", "1.0", "1e0", "10e-1", "0.1e1", "100E-2"), ("0", "-0", "0.0", "-0.0"),
                      ('"A"', '"\\u0041"'), ('"/"', '"\\/"'), ('"\u00e9"', '"\\u00e9"'),
                      ('"\U0001f600"', '"\\ud83d\\ude00"'), ("0.5", "5e-1", "0.50"),
                      ("[1,2]", "[ 1.0 , 2e0 ]"), ("-3", "-3.0"), ("1e3", "1000"),
                      ("9223372036854775807", "9223372036854775807"), ("1e300", "10e299"),
                      ("9223372036854775808", "9223372036854775808.0"),
                      ("10000000000000000000", "1e19", "10000000000000000000.0"),
                      ('{"\\u0061":1}', '{"a":1}')):
            self.assertEqual(self.kept(*lines), [0], lines)

    def test_different_values_have_different_keys(self):
        lines = ('{"a":1}', '{"a":"1"}', '{"a":true}', '{"a":"true"}', '{"a":null}', '{"a":"null"}',
                 '{}', '{"a":[]}', '{"a":{}}', '{"a":[1]}', '{"a":1.5}', '{"a":"a"}', '{"a":"A"}',
                 '{"a":[1,2]}', '{"a":[2,1]}', '{"a":[[1],2]}', '{"a":[[1,2]]}', '{"a":""}',
                 '{"a":false}', '{"a":"\\u0000"}', '{"A":1}', '{"a":1,"b":1}', '{"a":{"b":1}}',
                 '{"a":"\\n"}', '{"a":"\\\\n"}', '{"a":9007199254740992}', '{"a":9007199254740993}',
                 '[]', '""', 'null', '0', 'false', '1e-300', '18446744073709551615')
        self.assertEqual(self.kept(*lines), list(range(len(lines))))
        self.assertEqual(self.kept(*lines[:6], options=["--pointer", "/a"]), list(range(6)))

    def test_case_is_ignored_in_names_and_strings(self):
        self.assertEqual(self.kept('{"a":"X"}', '{"A":"x"}', options=["-i"]), [0])
        self.assertEqual(self.kept('{"a":"X"}', '{"a":"x"}', options=["-i", "--pointer", "/a"]),
                         [0])
        self.assertEqual(self.kept('{"A":1,"b":2}', '{"a":1,"B":2}', '{"b":2,"A":1}',
                                   options=["-i"]), [0])

    def test_what_is_not_json_is_bad(self):
        bad = [b"{", b"nope", b'{"a":1}x', b"{'a':1}", b'"\xff"', b"[1,]", b"", b"1 2", b'"a\x01"',
               b"NaN", b"01", b"[" * 5000, b"1e999"]
        text = terminated(bad) * 2
        result = self.done("dedup", *LARGE, "--json", stdin=text)
        self.assertEqual(result.stdout, text)
        self.assertIn(b"26 records without a key", result.stderr)
        self.assertIn(b"record 1: it is not valid JSON", result.stderr)


class Random(DedupTest):
    """Thousands of awkward records in every way, beside an exact set."""

    def setUp(self):
        super().setUp()
        self.draw = random.Random(7)

    def words(self, count, alphabet, longest):
        draw = self.draw
        return [b"".join(draw.choices(alphabet, k=draw.randrange(longest + 1)))
                for _ in range(count)]

    def test_lines(self):
        alphabet = [bytes([b]) for b in b"abAB \t;,\"\0\r\xff\x80"]
        records = self.words(3000, alphabet, 9) + [b"long" * 60, b"long" * 61, b"long" * 60]
        self.draw.shuffle(records)
        text = terminated(records)
        lines = [record + b"\n" for record in records]
        self.same_every_way(text, first_ones(lines, bytes))

        def blanks(line):
            return re.findall(rb"[^ \t]+", line[:-1])

        def separated(line):
            return line[:-1].split(b";")

        self.same_every_way(text, first_ones(lines, lambda line: chosen(separated(line), "2")),
                            "-t", ";", "-k", 2)
        way = list(ways())
        for selection in ("1", "2", "1,3", "2-", "-2", "3-,1", "2-3", "1-"):
            for options, fields in (([], blanks), (["-t", ";"], separated)):
                for case in ([], ["-i"]):
                    def key(line):
                        return chosen(fields(line.lower() if case else line), selection)
                    for on_bad in ("pass", "drop"):
                        given = ["-k", selection, *options, *case, "--on-bad", on_bad, "-q",
                                 *self.draw.choice(way)]
                        self.assertTrue(self.dedup(text, *given) == first_ones(lines, key, on_bad),
                                        given)

    def test_records_that_end_with_nul(self):
        records = self.words(3000, [b"a", b"b", b"\n", b" ", b"\xff"], 6)
        ended = [record + b"\0" for record in records]
        self.same_every_way(b"".join(ended)[:-1], first_ones(ended, bytes)[:-1]
                            if records[-1] not in records[:-1] else first_ones(ended, bytes), "-z")
        self.same_every_way(b"".join(ended),
                            first_ones(ended, lambda r: chosen(r[:-1].split(b" "), "2")),
                            "-z", "-t", " ", "-k", 2, threads=(2,))

    def test_records_of_fixed_width(self):
        for width in (1, 3, 7, 64, 150):
            pool = [self.draw.randbytes(width) for _ in range(40)]
            records = self.draw.choices(pool, k=600)
            expected = first_ones(records, bytes)
            for rest in range(0, width, max(1, width // 2)):
                self.same_every_way(b"".join(records) + b"\n" * rest, expected + b"\n" * rest,
                                    "--fixed", width, threads=(1, 4), shards=(4,))

    def rows(self, count):
        """Rows of CSV as (bytes, fields), each written with more or less quotes."""
        draw = self.draw
        pool = ["", "a", "A", "ab", "c", "bc", "b,c", 'q"q', '"', '""', ",", "new\nline", "x\r\ny",
                "\n", "é", " a", "a ", ";", "\t", "long " * 30, "\0"]
        for _ in range(count):
            fields = [draw.choice(pool) for _ in range(draw.choice((2, 3, 3, 3, 3, 4)))]
            written = []
            for field in fields:
                must = field.startswith('"') or re.search("[,\r\n]", field)
                if must or draw.random() < 0.3:
                    field = '"' + field.replace('"', '""') + '"'
                written.append(field)
            row = ",".join(written) + draw.choice(("\n", "\n", "\r\n"))
            # The expectation is that of another reader of CSV.
            self.assertEqual(list(csv.reader(io.StringIO(row, newline=""))), [fields])
            yield row.encode(), [field.encode() for field in fields]

    def test_rows_of_csv(self):
        rows = list(self.rows(2000))
        fields = dict(rows)
        records = [row for row, _ in rows]
        header = b'one,"two\n2",three\n'
        text = header + b"".join(records)
        self.same_every_way(text, header + first_ones(records, lambda r: re.sub(rb"\r?\n\Z", b"", r)),
                            "--csv")
        self.same_every_way(text, header + first_ones(records, lambda r: chosen(fields[r], "2,3")),
                            "--column", "two\n2", "--column", "three")
        way = list(ways())
        for selection in ("1", "2", "3", "1-2", "1,3", "2-", "1-", "3,1"):
            for case in ([], ["-i"]):
                def key(row):
                    found = chosen(fields[row], selection)
                    return found and case and tuple(f.lower() for f in found) or found
                given = ["--csv", "-k", selection, *case, "-q", *self.draw.choice(way)]
                self.assertTrue(self.dedup(text, *given) == header + first_ones(records, key), given)

    def value(self, depth):
        draw = self.draw
        kind = draw.randrange(7 if depth > 0 else 5)
        if kind == 0:
            return draw.choice((True, False, None))
        if kind in (1, 2):
            return draw.choice((0, 1, -1, 2, 10, 1.5, 0.25, 1e20, -1e-7, 2**53, 2**62))
        if kind in (3, 4):
            return draw.choice(("", "a", "A", "1", "true", 'q"q', "\\", "/", "é", "\n", "\0", "😀"))
        if kind == 5:
            return [self.value(depth - 1) for _ in range(draw.randrange(3))]
        return {name: self.value(depth - 1) for name in draw.sample("abc~/", draw.randrange(4))}

    def spelt(self, value):
        """One of the ways to write a value."""
        draw = self.draw
        blank = draw.choice(("", "", " ", "\t", " \t "))
        if isinstance(value, bool) or value is None:
            text = json.dumps(value)
        elif isinstance(value, (int, float)):
            ways_ = [repr(value)]
            if value == int(value) and abs(value) < 2**53:
                ways_ += [f"{int(value)}.0", f"{int(value)}e0", f"{int(value)}0E-1"]
            text = draw.choice(ways_)
        elif isinstance(value, str):
            text = json.dumps(value, ensure_ascii=draw.random() < 0.5)
            if draw.random() < 0.3:
                text = text.replace("a", "\\u0061").replace("/", "\\/")
        elif isinstance(value, list):
            text = "[" + ",".join(map(self.spelt, value)) + "]"
        else:
            members = list(value.items())
            draw.shuffle(members)
            text = "{" + ",".join(f"{self.spelt(n)}:{self.spelt(v)}" for n, v in members) + "}"
        return blank + text + blank

    def canonical(self, value):
        if isinstance(value, bool) or value is None:
            return repr(value)
        if isinstance(value, list):
            return ("list", *map(self.canonical, value))
        if isinstance(value, dict):
            return frozenset((name, self.canonical(item)) for name, item in value.items())
        return value  # Python compares 1 and 1.0 by value, and strings with neither

    def test_json_lines(self):
        values = [self.value(3) for _ in range(1500)]
        lines = [self.spelt(value).encode() + b"\n" for value in values * 2]
        lines += self.words(200, [b"{", b"}", b'"', b"a", b":", b"[", b"]", b" "], 5)
        lines = [line if line.endswith(b"\n") else b"!" + line + b"\n" for line in lines]
        self.draw.shuffle(lines)

        def parsed(line):
            try:
                return json.loads(line), True
            except ValueError:
                return None, False

        def whole(line):
            value, good = parsed(line)
            return ("value", self.canonical(value)) if good else None

        def members(*names):
            def key(line):
                value, good = parsed(line)
                if not good or not isinstance(value, dict) or not all(n in value for n in names):
                    return None
                return tuple(self.canonical(value[name]) for name in names)
            return key

        text = b"".join(lines)
        self.same_every_way(text, first_ones(lines, whole), "--json", chunks=(64, 1000, "256K"))
        for pointers, key in ((["/a"], members("a")), (["/a", "/b"], members("a", "b")),
                              (["/~1"], members("/")), (["/~0", "/c"], members("~", "c"))):
            options = [item for pointer in pointers for item in ("--pointer", pointer)]
            self.same_every_way(text, first_ones(lines, key), *options, chunks=(100,),
                                threads=(1, 4))

    def test_errors_of_a_small_filter_do_not_depend_on_threads_or_chunks(self):
        text = terminated(b"%d" % self.draw.randrange(30_000) for _ in range(20_000))
        for spec in ("stable", "rsbf", "bloom", "ibf-mc:K=2"):
            for shards in (1, 4):
                making = ["-f", spec, "-S", "24K", "--seed", 3, "-q", "--mark"]
                outputs = {self.output("dedup", *making, *way, stdin=text)
                           for way in ways(shards=(shards,), chunks=(64, 1000, "256K"))}
                self.assertEqual(len(outputs), 1, (spec, shards))


class Importance(DedupTest):
    def marks(self, text, *arguments, spec="ibf-mc", size="8K"):
        result = self.done("dedup", "-f", spec, "-S", size, "--seed", 1, "--mark", "-q", *arguments,
                           stdin=text)
        return [line[:1] == b"1" for line in result.stdout.splitlines()]

    def repeats_later(self, importance, gap=1000):
        """Each key twice, with `gap` other new ones and as many repeats between them."""
        keys = list(range(6000))
        late = keys[:gap] + [both for i, key in enumerate(keys[gap:]) for both in (key, i)]
        return [(key, importance(key)) for key in late]

    def test_decides_how_long_keys_are_remembered(self):
        for spec, gap in (("ibf-mc", 1000), ("ibf-2c", 1000), ("ibf-h", 250)):
            pairs = self.repeats_later(lambda key: 7 if key % 4 == 0 else 1, gap)
            for options, text, header in (
                    (["-k", 1, "--importance", 2], b"".join(b"%d %d\n" % pair for pair in pairs), 0),
                    (["--column", "key", "--importance", "weight"],
                     b"key,weight\n" + b"".join(b"%d,%d\n" % pair for pair in pairs), 1),
                    (["--pointer", "/k", "--importance", "/w"],
                     b"".join(b'{"k":"%d","w":%d}\n' % pair for pair in pairs), 0)):
                marks = self.marks(text, *options, spec=spec)[header:]
                seen, caught = set(), {1: [], 7: []}
                for (key, weight), mark in zip(pairs, marks):
                    if key in seen:
                        caught[weight].append(mark)
                    seen.add(key)
                share = {weight: sum(marks) / len(marks) for weight, marks in caught.items()}
                # Of more than a thousand repeats each: a standard error is 0.014 at most.
                self.assertGreater(share[7], share[1] + 0.1, (spec, options, share))

    def test_is_the_whole_record_s_without_a_key(self):
        text = b"a 1\na 1\na 2\nb\nc x\n"
        result = self.done("dedup", "-f", "ibf-mc", "-S", "64K", "--seed", 1, "--importance", 2,
                           stdin=text)
        self.assertEqual(result.stdout, b"a 1\na 2\nb\nc x\n")

    def test_missing_or_not_a_number_makes_a_record_bad(self):
        making = ["-f", "ibf-mc", "-S", "64K", "--seed", 1]
        for text, options, bad in (
                (b"a 1\na x\na\na 2\na 1e1\na nan\n", ["-k", 1, "--importance", 2], 3),
                (b"k,w\na,1\na,\na\na,2\na,\"3\"\n", ["--column", "k", "--importance", "w"], 2),
                (b'{"k":1,"w":1}\n{"k":1}\n{"k":1,"w":null}\n{"k":1,"w":"x"}\n{"k":1,"w":"5"}\n',
                 ["--pointer", "/k", "--importance", "/w"], 3)):
            result = self.done("dedup", *making, *options, "--stats=json", "-q", stdin=text)
            stats = json.loads(result.stderr)
            self.assertEqual((stats["bad"], stats["first"]), (bad, 1), options)
        warned = self.done("dedup", *making, "-k", 1, "--importance", 2, stdin=b"a 1\nb x\nc\n")
        self.assertIn(b"record 2: its importance is not a number", warned.stderr)
        warned = self.done("dedup", *making, "-k", 1, "--importance", 2, stdin=b"a 1\nc\nb x\n")
        self.assertIn(b"record 2: it has no importance", warned.stderr)

    def test_beyond_the_limits_counts_as_the_limit(self):
        def lines(least, most):
            return b"".join(b"%d %s\n" % (key, weight) for key, weight in
                            self.repeats_later(lambda key: most if key % 4 == 0 else least))
        options = ["-k", 1, "--importance", 2, "--importance-max", 100]
        plain = self.marks(lines(b"1", b"100"), *options)
        for least, most in ((b"0", b"101"), (b"-3", b"1e12"), (b"0.5", b"inf"), (b"1.9", b"100.5")):
            self.assertTrue(self.marks(lines(least, most), *options) == plain, (least, most))
        self.assertFalse(self.marks(lines(b"1", b"50"), *options) == plain)
        self.assertTrue(self.marks(lines(b"1", b"100"), "-k", 1, "--importance", 2,
                                   spec="ibf-mc:imax=100") == plain)

    def test_is_refused_where_nothing_knows_it(self):
        for spec in ("bloom", "stable", "rsbf", "blocked-bloom"):
            self.refused(2, f"{spec} knows no importance", "dedup", "-f", spec, "--importance", 1)
        self.refused(2, "--importance-max needs --importance", "dedup", "-f", "ibf-mc",
                     "--importance-max", 5)
        for wrong in ("0", "x", "-1", "4294967296", "1.5"):
            self.refused(2, "--importance-max", "dedup", "-f", "ibf-mc", "--importance", 1,
                         f"--importance-max={wrong}")
        self.refused(2, "'name' is not the number of a field", "dedup", "-f", "ibf-mc",
                     "--importance", "name")
        self.refused(2, "there is no column 'w'", "dedup", "-f", "ibf-mc", "--csv",
                     "--importance", "w", stdin=b"a,b\n1,2\n")


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
