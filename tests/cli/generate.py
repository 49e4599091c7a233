"""weir generate: keys by a law, as text or bytes, the same for the same seed, into any pipe."""
import collections
import os
import re
import struct
import subprocess
import unittest

from support.command import WEIR, CommandTest, weir
from support.help import help_of

LAWS = re.findall(r"^  weir generate (\S+)$", help_of("generate"), re.MULTILINE)


class Generate(CommandTest):
    def keys(self, *arguments):
        return [int(line) for line in self.output("generate", *arguments).splitlines()]

    def test_help_shows_every_law_and_each_works_as_shown(self):
        self.assertLessEqual(
            {"uniform", "zipf", "working-set", "drift", "bursts", "fixed", "geometric", "pareto", "trace"},
            {law.split(":")[0] for law in LAWS})
        for law in LAWS:
            if not law.startswith("trace"):
                self.assertEqual(len(self.keys(law, "-n", 1234)), 1234, law)

    def test_the_same_seed_gives_the_same_stream(self):
        for law in LAWS:
            if law.startswith("trace"):
                continue
            one = self.output("generate", law, "-n", "70K", "--seed", 4)
            self.assertEqual(one, self.output("generate", law, "-n", "70K", "--seed", 4))
            self.assertNotEqual(one, self.output("generate", law, "-n", "70K", "--seed", 5), law)

    def test_a_share_of_the_records_is_distinct(self):
        for share in (0.1, 0.76):
            keys = self.keys(f"uniform:share={share}", "-n", "100K")
            self.assertAlmostEqual(len(set(keys)) / len(keys), share, delta=0.005)

    def test_weights_belong_to_keys(self):
        lines = self.output("generate", "uniform:U=300", "-n", "30K", "--importance", "proportional",
                            "--imax", 4).decode().splitlines()
        weights = dict(line.split("\t") for line in lines)
        self.assertEqual(set(weights.values()), {"1", "2", "3", "4"})
        times = collections.Counter(lines)
        self.assertEqual(len(times), len(weights))
        for line, count in times.items():
            weight = int(line.split("\t")[1])
            self.assertTrue(12 * weight < count < 90 * weight, (line, count))

    def test_bytes_are_the_same_records(self):
        text = self.output("generate", "zipf:U=1e12,s=0.2", "-n", "40K", "--importance", "uniform")
        data = self.output("generate", "zipf:U=1e12,s=0.2", "-n", "40K", "--importance", "uniform",
                           "--format", "binary")
        self.assertEqual(text.decode(), "".join(f"{key}\t{weight}\n"
                                                for key, weight in struct.iter_unpack("<QI", data)))
        plain = self.output("generate", "uniform:U=9", "-n", 20, "--format", "binary")
        self.assertEqual([key for key, in struct.iter_unpack("<Q", plain)],
                         self.keys("uniform:U=9", "-n", 20))

    def test_a_file_gives_its_keys_and_ends(self):
        path = self.file("requests.tsv", b"10:00\tbob\t3\n10:01\talice\t4\n10:02\tbob\t5")
        lines = self.output("generate", f"trace:file={path},key=2,weight=3").decode().splitlines()
        keys, weights = zip(*(line.split("\t") for line in lines))
        self.assertEqual(weights, ("3", "4", "5"))
        self.assertEqual(keys[0], keys[2])
        self.assertNotEqual(keys[0], keys[1])
        self.assertEqual(len(self.keys(f"trace:file={path}", "-n", 2)), 2)

    def test_what_is_wrong_with_a_file_is_said_with_its_line(self):
        path = self.file("requests.tsv", b"bob\t3\nalice\tmany\n")
        result = weir("generate", f"trace:file={path},key=1,weight=2")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr.decode(), r"\Aweir: .*requests.tsv: line 2 .*'many'[^\n]*\n\Z")
        self.refused(1, "cannot open", "generate", f"trace:file={path}.none")

    def test_a_closed_pipe_ends_it_quietly(self):
        process = subprocess.Popen([WEIR, "generate", "uniform:U=1e9"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.assertRegex(process.stdout.readline(), rb"^\d+\n$")
        process.stdout.close()
        self.assertEqual(process.stderr.read(), b"")
        process.wait(timeout=60)
        process.stderr.close()

    def test_a_full_disk_is_told(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "wb") as full:
            result = subprocess.run([WEIR, "generate", "uniform:U=9", "-n", "1M"], stdout=full,
                                    stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"cannot write", result.stderr)

    def test_bad_streams_get_one_sentence(self):
        for saying, *arguments in (
                ("the nearest is zipf", "zpif:U=9,s=1"),
                ("lacks its parameter s; it is written zipf:U=", "zipf:U=9"),
                ("lacks its parameter U or share", "uniform"),
                ("lacks its parameter N", "uniform:share=0.4"),
                ("has no parameter t=3", "zipf:U=9,s=1,t=3"),
                ("out of range", "zipf:U=9,s=-1"),
                ("out of range", "geometric:mean=5,again=1"),
                ("is given twice", "zipf:U=9,U=9,s=1"),
                ("must have the form", "zipf:U=9,s"),
                ("must be one of: uniform,", "uniform:U=9", "--importance", "loud"),
                ("needs importance", "uniform:U=9", "--imax", 7),
                ("only importance=uniform fits", "fixed:d=7,again=0.5", "--importance", "inverse"),
                ("is a time", "uniform:U=9", "-n", "5min"),
                ("not an interval", "uniform:U=9", "-n", "many"),
                ("STREAM is missing",)):
            self.refused(2, saying, "generate", *arguments)


if __name__ == "__main__":
    unittest.main()
