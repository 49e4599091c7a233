"""weir lab: what it says, what it leaves in its folder, and what it refuses before it begins."""
import csv
import os
import re
import subprocess
import unittest

from support.command import WEIR, CommandTest

KEYS = b"".join(b"%d\n" % (n * n % 29989) for n in range(40000))


class Lab(CommandTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"
        keys = self.file("keys of <me>, it's $mine.txt", KEYS)
        self.quick = ("compare", "--trace", keys, "--filter", "weir", "--repeat", 2)

    def run_without(self, path, *arguments):
        return subprocess.run([WEIR, *map(str, arguments)], capture_output=True,
                              env={**os.environ, "PATH": str(path)})

    def test_the_list_names_every_experiment_with_its_time(self):
        lines = self.output("lab", "list").decode().splitlines()
        self.assertRegex(lines[0], r"^name +takes +scale +what it shows$")
        names = [line.split()[0] for line in lines[1:lines.index("")]]
        for name in ("compare", "distances", "weir-tables"):
            self.assertIn(name, names)
        self.assertEqual(len(names), len(set(names)))
        for line in lines[1:lines.index("")]:
            self.assertRegex(line, r"^\S+ +(\d+ s|\d+ min|\d+\.\d h|-) +[\d.e-]+  \S")

    def test_a_folder_holds_measurements_charts_and_the_report(self):
        ended = self.done("lab", "run", *self.quick, "--filter", "qht", "--out", self.out)
        self.assertEqual(ended.stderr.decode(), f"report: {self.out}/report.html\n")
        with open(self.out / "compare.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["experiment"] for row in rows}, {"compare"})
        self.assertEqual({row["series"] for row in rows}, {"ideal LRU", "weir", "qht"})
        self.assertEqual({row["seed"] for row in rows if row["series"] == "weir"}, {"1", "2"})
        page = (self.out / "report.html").read_text()
        self.assertIn("$mine.txt&#39; --filter weir --filter qht --out ", page)
        self.assertNotIn("<me>", page)
        self.assertRegex(page, r"<dt>seeds</dt><dd>1 to 2</dd>")
        self.assertRegex(page, r"<dt>made</dt><dd>20\d\d-\d\d-\d\d \d\d:\d\d UTC, weir \d")

    def test_the_command_in_the_report_makes_the_same_measurements(self):
        self.done("lab", "run", *self.quick, "--out", self.out)
        page = (self.out / "report.html").read_text()
        command = re.search(r"<pre[^>]*><code>(.*?)</code>", page)[1]
        for name, sign in (("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
            command = command.replace(name, sign)
        before = self.without_times()
        subprocess.run(["bash", "-c", command.replace("weir lab", f"{WEIR} lab", 1) + "2 -j 2"],
                       check=True, capture_output=True)
        self.out = self.folder / "out2"
        self.assertEqual(self.without_times(), before)

    def without_times(self):
        with open(self.out / "compare.csv", newline="") as file:
            return [row for row in csv.reader(file) if row[6] != "ns"]

    def test_a_report_holds_what_earlier_runs_left(self):
        self.done("lab", "run", "weir-tables", "--scale", "0.0001", "--repeat", 1, "--out", self.out)
        self.done("lab", "run", *self.quick, "--out", self.out)
        page = (self.out / "report.html").read_text()
        sections = re.findall(r'<section id="(.*?)"', page)
        self.assertEqual(sections, ["compare", "weir-tables"])
        self.assertEqual(re.findall(r'<li><a href="#(.*?)"', page), sections)

    def test_refuses_what_means_nothing(self):
        for scale in ("0", "-1", "1.5", "nan", "inf"):
            self.refused(2, "--scale", "lab", "run", "weir-tables", "--scale", scale)
        self.refused(2, "--scale", "lab", "run", "weir-tables", "--scale", "much")
        self.refused(2, "the least is 0.0001", "lab", "run", "weir-tables", "--scale", "1e-9")
        self.refused(2, "'distanecs'; the nearest is distances", "lab", "run", "distanecs")
        self.refused(2, "name an experiment", "lab", "run")
        self.refused(2, "weir lab list", "lab")
        self.refused(2, "--repeat", "lab", "run", "distances", "--repeat", "0")
        self.refused(2, "the nearest is zipf", "lab", "run", "compare", "--stream", "zpif")

    def test_refuses_before_anything_is_run(self):
        # The first experiment would take minutes, the second cannot be.
        self.refused(2, "is not a stream", "lab", "run", "distances", "compare", "--stream", "zpif",
                     "--out", self.out)
        self.assertFalse((self.out / "parts").exists())

    def test_a_trace_that_cannot_be_read_is_an_error(self):
        self.refused(1, "missing", "lab", "run", "compare", "--trace", self.folder / "missing")

    def test_a_folder_that_cannot_be_written_is_an_error(self):
        in_the_way = self.file("in-the-way", b"")
        self.refused(1, f"cannot write into the folder {in_the_way}/out", "lab", "run", *self.quick,
                     "--out", in_the_way / "out")
        self.refused(1, f"cannot write into the folder {in_the_way}", "lab", "run", *self.quick, "--out",
                     in_the_way)
        closed = self.folder / "closed"
        closed.mkdir(mode=0o555)
        if os.geteuid() != 0:  # whom nothing is closed to
            self.refused(1, "Permission denied", "lab", "run", *self.quick, "--out", closed)

    def test_without_gnuplot_it_says_how_to_get_it(self):
        ended = self.run_without(self.folder, "lab", "run", *self.quick, "--out", self.out)
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(ended.stdout, b"")
        self.assertRegex(ended.stderr, rb"\Aweir: charts need gnuplot, [^\n]+ gnuplot-nox\n\Z")
        # Tables alone need none.
        self.assertEqual(self.run_without(self.folder, "lab", "run", *self.quick).returncode, 0)

    def test_a_gnuplot_that_fails_is_heard(self):
        broken = self.file("gnuplot", b"#!/bin/sh\necho 'cannot open the ink' >&2\nexit 3\n")
        broken.chmod(0o755)
        ended = self.run_without(self.folder, "lab", "run", *self.quick, "--out", self.out)
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(ended.stderr, b"weir: gnuplot failed: cannot open the ink\n")


if __name__ == "__main__":
    unittest.main()
