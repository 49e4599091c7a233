"""weir intersect: two processes, exact answers, and every way to lose the other side."""
import json
import random
import re
import shlex
import signal
import subprocess
import time
import unittest
from concurrent import futures

from support.command import WEIR, CommandTest, weir
from support.exact import terminated


def some_keys(numbers):
    return [b"https://example.org/shop/%x" % (n * 0x9E3779B97F4A7C15 % 2**64) for n in numbers]


class Intersecting(CommandTest):
    def setUp(self):
        super().setUp()
        chance = random.Random(1)
        self.here, self.there = some_keys(range(0, 6000)), some_keys(range(4000, 9000))
        chance.shuffle(self.here)
        chance.shuffle(self.there)
        self.one = self.file("one", terminated(self.here + self.here[:50]))
        self.two = self.file("two", terminated(self.there))

    def serve(self, *arguments):
        return " ".join(map(shlex.quote, [WEIR, "intersect", "--serve", *map(str, arguments)]))

    def test_the_answer_is_exact(self):
        there = set(self.there)
        common = [key for key in self.here if key in there]
        run = self.done("intersect", "--with", self.serve(self.two), self.one)
        self.assertEqual(run.stdout, terminated(common))
        self.assertRegex(run.stderr.decode(),
                         r"\Aweir: 6,000 keys here, 5,000 there, 2,000 in both; \S+ KiB sent and "
                         r"\S+ KiB received, where all keys there are 2\d\d\.\d KiB\n\Z")
        only = [key for key in self.here if key not in there]
        self.assertEqual(self.output("intersect", "--difference", "--with", self.serve(self.two),
                                     self.one), terminated(only))
        every = [key for key in self.here + self.here[:50] if key in there]
        self.assertEqual(self.output("intersect", "--every", "--with", self.serve(self.two),
                                     self.one), terminated(every))
        self.assertEqual(self.output("intersect", "--union-size", "--with", self.serve(self.two),
                                     self.one), b"9000\n")

    def test_statistics_add_up(self):
        run = self.done("intersect", "-o", "/dev/null", "--stats=json", "--with",
                        self.serve("-S", "64K", self.two), "-S", "64K", self.one)
        stats = json.loads(run.stderr)
        self.assertEqual([stats[name] for name in
                          ("here", "there", "both", "only_here", "only_there", "union", "records")],
                         [6000, 5000, 2000, 4000, 3000, 9000, 6050])
        moved = stats["bytes_sent"] + stats["bytes_received"]
        self.assertLess(abs(moved - stats["bytes_expected"]), 0.15 * moved)
        self.assertLess(moved, stats["bytes_of_all_keys_there"] / 3)
        self.assertEqual(stats["bytes_of_all_keys_there"], self.two.stat().st_size)
        text = self.done("intersect", "-o", "/dev/null", "--stats", "--with", self.serve(self.two),
                         self.one).stderr.decode()
        self.assertRegex(text, r"(?m)^both +2,000$")

    def test_over_a_port_from_either_side(self):
        for serving, asking in (("--listen", "--connect"), ("--connect", "--listen")):
            first = [WEIR, "intersect", *(["--serve"] if serving == "--listen" else []),
                     "--listen", "0", str(self.two if serving == "--listen" else self.one)]
            waiting = subprocess.Popen(first, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
            said = waiting.stderr.readline().decode()
            address = re.fullmatch(r"weir: waiting for the other side on (127\.0\.0\.1:\d+)\n",
                                   said)[1]
            other = self.done("intersect", *(["--serve"] if serving == "--connect" else []),
                              "--connect", address,
                              self.two if serving == "--connect" else self.one)
            output, errors = waiting.communicate(timeout=60)
            self.assertEqual(waiting.returncode, 0, errors)
            answer = other.stdout if asking == "--connect" else output
            self.assertEqual(sorted(answer.split()), sorted(set(self.here) & set(self.there)))

    def test_other_records_keys_and_pipes(self):
        rows = self.file("rows.csv", b"name,id\nann,1\nbob,2\ncid,3\nbob again,2\n")
        ids = self.file("ids.jsonl", b'{"id":2}\n{"id":3}\n{"id":9}\nno json\n')
        names = self.file("names", b"x 2\ny 3\n")
        self.assertEqual(self.output("intersect", "-q", "--csv", "--column", "id", "--with",
                                     self.serve("-k", 2, names), rows),
                         b"name,id\nbob,2\ncid,3\n")
        run = self.done("intersect", "--json", "--pointer", "/id", "--with",
                        self.serve("-k", 2, names), ids)
        self.assertEqual(run.stdout, b'{"id":2}\n{"id":3}\n')
        self.assertIn("1 record without a key left out", run.stderr.decode())
        zeros = self.output("intersect", "-q", "-z", "--with", self.serve("-z", ids),
                            stdin=ids.read_bytes() + b"\0more")
        self.assertEqual(zeros, ids.read_bytes() + b"\0")
        packed = self.file("one.gz", subprocess.run(["gzip", "-c", str(self.one)],
                                                    capture_output=True, check=True).stdout)
        self.assertEqual(self.output("intersect", "-q", "--with", self.serve(packed), self.two),
                         self.output("intersect", "-q", "--with", self.serve(self.one),
                                     stdin=self.two.read_bytes()))

    def test_bad_input(self):
        for saying, arguments in (
                ("where is the other side? Say --with CMD", [self.one]),
                ("is no address; write HOST:PORT", ["--connect", "7000", self.one]),
                ("the keys must come from a FILE", ["--serve"]),
                ("nothing is written here", ["--serve", "--difference", self.one]),
                ("--timeout must be", ["--timeout", "0", "--with", "x", self.one]),
                ("--with", ["--with", "x", "--connect", "a:1", self.one])):
            self.refused(2, saying, "intersect", *arguments)
        for saying, arguments in (
                ("No such file", ["--with", self.serve(self.two), self.folder / "none"]),
                ("the other side says: cannot open ",
                 ["--with", self.serve(self.folder / "none") + " 2>/dev/null", self.one]),
                ("(exit status 127: the command was not found)",
                 ["--with", "/no/such/weir 2>/dev/null", self.one]),
                ("is no weir; it says: Welcome", ["--with", "echo Welcome", self.one]),
                ("has been silent for 0.3 seconds",
                 ["--timeout", "0.3", "--with", "sleep 5", self.one]),
                ("cannot connect to 127.0.0.1:1: ", ["--connect", "127.0.0.1:1", self.one])):
            self.refused(1, saying, "intersect", *arguments)

    def test_a_side_that_dies_at_any_byte_is_an_error_not_a_hang(self):
        """The other side's words end early, here and there."""
        whole = int(json.loads(self.done(
            "intersect", "-o", "/dev/null", "--stats=json", "--with", self.serve(self.two),
            self.one).stderr)["bytes_received"])
        def cut_off(bytes_heard):
            command = f"{self.serve(self.two)} 2>/dev/null | head -c {bytes_heard}"
            return weir("intersect", "--timeout", 2, "--with", command, self.one)

        places = sorted({0, 1, 7, 8, 20, 60, 100, whole // 2, whole - 1})
        with futures.ThreadPoolExecutor(len(places)) as pool:
            for place, run in zip(places, pool.map(cut_off, places)):
                with self.subTest(bytes=place, said=run.stderr):
                    self.assertEqual(run.returncode, 1)
                    self.assertEqual(run.stdout, b"")
                    self.assertRegex(run.stderr.decode(), r"\Aweir: the other side [^\n]+\n\Z")

    def test_a_server_that_stands_still_or_is_killed_is_noticed(self):
        for timeout, saying in (("1", "has been silent for 1 second"),
                                ("60", "has ended the conversation")):
            server = subprocess.Popen([WEIR, "intersect", "--serve", "--listen", "0",
                                       str(self.two)], stderr=subprocess.PIPE)
            address = server.stderr.readline().decode().split()[-1]
            server.send_signal(signal.SIGSTOP)
            asking = subprocess.Popen([WEIR, "intersect", "--timeout", timeout, "--connect",
                                       address, str(self.one)], stderr=subprocess.PIPE)
            if timeout == "60":
                time.sleep(0.5)
                server.send_signal(signal.SIGKILL)
            _, said = asking.communicate(timeout=30)
            server.kill()
            server.communicate()
            self.assertEqual(asking.returncode, 1)
            self.assertIn(saying, said.decode())

    def test_garbage_never_harms_a_server(self):
        chance = random.Random(2)
        hello = b"WEIRXCHG\x01" + (34).to_bytes(4, "little") + b"\x09\0\0\0intersect" + \
            b"\1\0\0\0" + bytes(6) + b"\x4e\x40" + b"\5\0\0\0" + b"0.0.0"  # patience: 60.0
        begin = b"\x10\x10\0\0\0" + bytes(16)
        for start in (b"", b"WEIR", hello, hello + begin, hello + begin + b"\x12\x2c\0\0\0"):
            for _ in range(4):
                run = weir("intersect", "--serve", "--timeout", 5, self.two,
                           stdin=start + chance.randbytes(chance.randrange(200)))
                said = run.stderr.decode()
                with self.subTest(start=start, said=said):
                    self.assertEqual(run.returncode, 1)
                    self.assertRegex(said, r"\Aweir: [^\n]+\n\Z")


if __name__ == "__main__":
    unittest.main()
