"""weir dedup on random records of every kind, against an exact answer."""
import csv
import io
import json
import random
import re
import unittest

from support.exact import DedupTest, chosen, first_ones, terminated, ways


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


if __name__ == "__main__":
    unittest.main()
