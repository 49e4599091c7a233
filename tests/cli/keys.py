"""weir dedup: which bytes of a record make its key, and its importance."""
import json
import unittest

from support.exact import LARGE, DedupTest, chosen, first_ones, terminated


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


if __name__ == "__main__":
    unittest.main()
