"""After a kill at any point the same command goes on, and the output is that of a run without."""
import collections
import contextlib
import fcntl
import gzip
import json
import os
import random
import re
import signal
import subprocess
import threading
import time
import unittest

from support.command import WEIR, CommandTest

SEED = 20240611
WANTED_KILLS = 300
phases = collections.Counter()


def setUpModule():
    print("seed:", SEED, flush=True)


def tearDownModule():
    print("kills:", dict(phases))


def lines(count, distinct):
    return [b"line %d of the input\n" % (i * i % distinct) for i in range(count)]


class KillTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.work = self.folder / "work"
        self.work.mkdir()
        self.out, self.repeats, self.state = (self.work / name
                                              for name in ("out", "repeats", "state"))
        self.killed = set()

    def start(self, *arguments, **how):
        run = subprocess.Popen([WEIR, *map(str, arguments)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, **{"stdin": subprocess.DEVNULL, **how})
        self.addCleanup(run.stderr.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        return run

    def ended(self, run, *statuses):
        said = run.stderr.read().decode()
        self.assertIn(run.wait(timeout=60), statuses, said)
        return said

    def contents(self):
        return {path.name: path.read_bytes() for path in self.work.iterdir()}

    def clear(self):
        for path in self.work.iterdir():
            path.unlink()
        self.killed.clear()

    def temporary(self, run):
        return self.work / f"state.tmp.{run.pid}"

    def wait_for(self, run, happened):
        """Until it happened; False: the run was over before."""
        until = time.monotonic() + 60
        while not happened():
            if run.poll() is not None:
                return False
            self.assertLess(time.monotonic(), until)
            time.sleep(0.0005)
        return True

    def kill(self, run):
        """True: it was running. What is left must be in order."""
        run.kill()
        said = run.stderr.read().decode()
        status = run.wait(timeout=60)
        self.assertIn(status, (0, -signal.SIGKILL), said)
        if status == 0:
            return False
        self.killed.add(run.pid)
        if self.state.exists():
            self.done("inspect", self.state)
        if self.temporary(run).exists():
            phases["during a save"] += 1
        elif self.state.exists():
            phases["between saves"] += 1
        else:
            phases["before the first save"] += 1
        for path in self.work.iterdir():
            if path.name not in ("out", "repeats", "state"):
                self.assertIn(path.name, {f"state.tmp.{pid}" for pid in self.killed})
        return True

    def saved(self):
        with contextlib.suppress(FileNotFoundError):
            status = self.state.stat()
            return status.st_ino, status.st_mtime_ns
        return None

    def interrupted(self, *command):
        """Leaves the files of a job that was killed after its first save."""
        self.clear()
        run = self.start(*command)
        self.assertTrue(self.wait_for(run, self.state.exists))
        self.assertTrue(self.kill(run), "the job was over before it could be killed")
        for pid in self.killed:
            with contextlib.suppress(FileNotFoundError):
                (self.work / f"state.tmp.{pid}").unlink()


class Kills(KillTest):
    def job(self, inputs, *options, every=None):
        """Arguments; beside those for a run without interruption."""
        paths = [self.file(name, content) for name, content in inputs]
        records = sum(content.count(b"\n") for name, content in inputs
                      if not name.endswith(".gz"))
        plain = ["dedup", "-q", "--seed", 9, *options, *paths]
        saving = ["--state", self.state, "--resume", "--save-every", every or records // 24 + 1]
        return plain, saving

    def variants(self):
        text = lines(48_000, 20_011)
        cut = [b"".join(text[at:at + 16_000]) for at in range(0, 48_000, 16_000)]
        several = [("a", cut[0][:-1]), ("b.gz", gzip.compress(cut[1], 1)), ("c", cut[2])]
        one = [("all", b"".join(text))]
        rows = [b'%d,"name, %d",%d\r\n' % (i, i * i % 9973, i % 7) for i in range(30_000)]
        head = b"id,name,rank\r\n"
        tables = [("t.csv", head + b"".join(rows[:20_000])),
                  ("u.csv.gz", gzip.compress(head + b"".join(rows[20_000:]), 1))]
        objects = [("o.jsonl", b"".join(
            json.dumps({"id": i, "key": {"n": i * i % 9973, "s": "ä\n"}}).encode() + b"\n"
            for i in range(30_000)))]
        exact = ["-f", "blocked-bloom", "-S", "256K"]
        both = ["-D", self.repeats]
        yield "one file", self.job(one, "-j", 1, *exact)
        yield "several files", self.job(several, "-j", 2, *exact, *both)
        yield "several files, several shards", self.job(several, "-j", 2, "-f", "stable", "-S",
                                                        "64K", "--shards", 5, *both)
        yield "csv", self.job(tables, "-j", 2, *exact, "--csv", "--column", "name", *both)
        yield "json", self.job(objects, "-j", 1, *exact, "--json", "--pointer", "/key")
        yield "stable, too small", self.job(one, "-j", 1, "-f", "stable", "-S", "16K", *both)
        yield "rsbf, too small", self.job(several, "-j", 2, "-f", "rsbf", "-S", "16K", *both)
        yield "importance", self.job(tables, "-j", 1, "-f", "ibf-mc", "-S", "16K", "--csv",
                                     "--column", "name", "--importance", "rank",
                                     "--importance-max", 7)
        yield "counts", self.job(several, "-j", 2, "-c", "-f", "count-min", "-S", "64K")
        yield "large, saves take long", self.job(one, "-j", 1, "-f", "blocked-bloom", "-S", "8M")
        yield "by time, marked", self.job(several, "-j", 2, *exact, "--mark", every="0.02s")
        yield "a window of records", self.job(several, "-j", 2, "--window", 5000, "--fpr", 0.01,
                                              "--shards", 3, *both)
        timed = [("w", b"".join(b"%s %d\n" % (line[:-1].replace(b" ", b"_"),
                                              1_790_000_000 + i // 5 - i * 7919 % 40)
                                for i, line in enumerate(text)))]
        yield "a window of time", self.job(timed, "-j", 2, "-k", 1, "--time", 2, "--window", "20min",
                                           "-n", 6000, "--no-refresh", *both)
        yield "a landmark window", self.job(several, "-j", 1, "--window", 7001, "--window-kind",
                                            "landmark")
        yield "a header only, and nothing", self.job([("e.csv", head), ("f.csv", b"")], "--csv",
                                                     "-j", 1, *exact)

    def test_the_output_is_that_of_a_run_without(self):
        kills, rounds, end = 0, 0, time.monotonic() + 240
        while kills < WANTED_KILLS:
            self.assertLess(time.monotonic(), end, f"only {kills} kills")
            for name, (plain, saving) in self.variants():
                with self.subTest(name, kills=kills):
                    kills += self.until_it_completes(plain, saving, 16 * 1.5**rounds)
                    if "too small" in name:
                        first = self.out.read_bytes().splitlines()
                        self.assertGreater(len(first), len(set(first)), "it made no errors")
                if rounds > 0 and kills >= WANTED_KILLS:
                    break
            rounds += 1
        print("kills that hit a running process:", kills)
        self.assertGreaterEqual(kills, WANTED_KILLS)
        self.assertGreaterEqual(phases["before the first save"], 5)
        self.assertGreaterEqual(phases["between saves"], 50)
        self.assertGreaterEqual(phases["during a save"], 50)

    def until_it_completes(self, plain, saving, share):
        """How often it was killed, at moments up to 1/share of the run's time."""
        self.clear()
        begin = time.monotonic()
        self.done(*plain, "-o", self.out, *saving)
        most = (time.monotonic() - begin) / share
        wanted = self.contents()
        self.clear()
        self.done(*plain, "-o", self.out)
        self.assertEqual(self.contents(), {name: content for name, content in wanted.items()
                                           if name != "state"})
        self.clear()
        kills = idle = 0
        while True:
            before = self.saved()
            run = self.start(*plain, "-o", self.out, *saving)
            time.sleep(self.random.uniform(0, most))
            if not self.kill(run):
                break
            kills += 1
            idle = 0 if self.saved() != before else idle + 1
            if idle >= 4:  # it must come on
                most, idle = most * 1.3 + 0.001, 0
        self.complete_as(wanted)
        return kills

    def complete_as(self, wanted):
        left = self.contents()
        for name in wanted:
            if name != "state":  # which holds the time
                self.assertEqual(left[name], wanted[name], name)
        self.assertEqual(len(left["state"]), len(wanted["state"]))

    def test_during_the_only_save(self):
        plain, saving = self.job([("all", b"".join(lines(20_000, 9973)))], "-j", 2, "-f",
                                 "blocked-bloom", "-S", "8M", every=10**9)
        self.done(*plain, "-o", self.out, *saving)
        wanted = self.contents()
        self.clear()
        hits = 0
        for i in range(10):
            run = self.start(*plain, "-o", self.out, *saving)
            self.wait_for(run, self.temporary(run).exists)
            time.sleep(i % 5 * 0.001)
            hits += self.kill(run) and self.temporary(run).exists()
            if self.state.exists():  # it was too late: complete
                self.clear()
        self.assertGreater(hits, 2)
        phases["of these, during the last save"] += hits
        self.done(*plain, "-o", self.out, *saving)
        self.complete_as(wanted)

    def test_the_state_is_never_ahead_of_the_output(self):
        distinct = lines(30_000, 10**9)
        path = self.file("all", b"".join(distinct))
        command = ["dedup", "-q", "-f", "blocked-bloom", "-S", "1M", "-o", self.out, "--state",
                   self.state, "--save-every", 1500, path]
        begin = time.monotonic()
        self.done(*command)
        most = time.monotonic() - begin
        self.assertEqual(self.out.read_bytes(), path.read_bytes())
        with_state = 0
        for i in range(30):
            self.clear()
            run = self.start(*command, "-j", 1 + i % 2)
            time.sleep(self.random.uniform(0, most))
            self.kill(run)
            if not self.state.exists():
                continue
            with_state += 1
            marked = self.output("dedup", "--read-only", "--state", self.state, "--mark", path)
            seen = {line[2:] for line in marked.splitlines() if line.startswith(b"1\t")}
            self.assertGreater(len(seen), 0)
            self.assertLessEqual(seen, set(self.out.read_bytes().splitlines()))
        self.assertGreater(with_state, 5)


class Signals(KillTest):
    """A request to stop: what was read is written and saved, then it ends by the signal."""

    def command(self, *more):
        return ["dedup", "-f", "blocked-bloom", "-S", "256K", "-o", self.out, "--state",
                self.state, *more]

    def test_a_job_that_reads_files(self):
        text = lines(48_000, 20_011)
        paths = [self.file("a", b"".join(text[:30_000])[:-1]),
                 self.file("b.gz", gzip.compress(b"".join(text[30_000:]), 1))]
        wanted = self.output("dedup", "-f", "blocked-bloom", "-S", "256K", *paths)
        for threads in (1, 2):
            self.clear()
            command = self.command("--resume", "--save-every", 2000, "-j", threads, *paths)
            stops = 0
            for number in range(100):
                before = self.saved()
                run = self.start(*command)
                if self.wait_for(run, lambda: self.saved() != before):
                    run.send_signal((signal.SIGTERM, signal.SIGINT)[number % 2])
                said = self.ended(run, 0, -signal.SIGTERM, -signal.SIGINT)
                self.assertLessEqual(set(self.contents()), {"out", "state"})
                if run.returncode == 0:
                    break
                self.assertRegex(said, r"\Aweir: stopped by a signal after [\d,]+ records; "
                                       r"the state is saved\n\Z")
                self.done("inspect", self.state)
                stops += 1
            self.assertEqual(run.returncode, 0)
            self.assertGreater(stops, 2)
            self.assertEqual(self.out.read_bytes(), wanted)

    def wait_for_output(self, run):
        """This run has begun to read, and handles its signals."""
        self.wait_for(run, lambda: self.out.exists() and self.out.stat().st_size > 0)

    def pieces_of_a_pipe(self, read_end, signals, *options, times):
        """Runs that are stopped, one after the other; in the pipe is every line that often."""
        pieces = []
        for number in signals:
            with contextlib.suppress(FileNotFoundError):
                self.out.unlink()
            run = self.start(*self.command(*options), stdin=read_end)
            self.wait_for_output(run)
            run.send_signal(number)
            said = self.ended(run, -number)
            told = re.search(r"after ([\d,]+) records; the state is saved", said)
            self.assertTrue(told, said)
            pieces.append(self.out.read_bytes())
            self.assertEqual(int(told[1].replace(",", "")), times * len(pieces[-1].splitlines()))
            self.done("inspect", self.state)
        return pieces

    def last_piece(self, read_end, *options):
        self.ended(self.start(*self.command(*options), stdin=read_end), 0)
        return self.out.read_bytes()

    def test_a_slow_pipe(self):
        for threads in (1, 2):
            self.clear()
            text = lines(40_000, 10**9)
            read_end, write_end = os.pipe()
            given, enough = [], threading.Event()

            def feed():
                with open(write_end, "wb", buffering=0) as pipe:
                    while not enough.is_set() and len(given) < len(text):
                        four = text[len(given):len(given) + 4]  # whole lines; all come twice
                        pipe.write(b"".join(four * 2))
                        given.extend(four)
                        time.sleep(0.003)

            options = ["-j", threads, "--save-every", "0.01s"]
            feeder = threading.Thread(target=feed)
            feeder.start()
            pieces = self.pieces_of_a_pipe(read_end, [signal.SIGTERM, signal.SIGINT] * 2, *options,
                                           times=2)
            enough.set()
            feeder.join()
            pieces.append(self.last_piece(read_end, *options))
            os.close(read_end)
            self.assertEqual(b"".join(pieces), b"".join(given))

    def test_a_pipe_that_is_ahead(self):
        # More lines have been read than were given out when the signal comes.
        for threads in (1, 2):
            self.clear()
            text = b"".join(lines(30_000, 10**9))
            read_end, write_end = os.pipe()
            fcntl.fcntl(write_end, 1031, 1 << 20)  # F_SETPIPE_SZ
            self.assertEqual(os.write(write_end, text), len(text))
            options = ["-j", threads, "--save-every", 1000]
            pieces = self.pieces_of_a_pipe(read_end, [signal.SIGTERM], *options, times=1)
            os.close(write_end)
            pieces.append(self.last_piece(read_end, *options))
            os.close(read_end)
            # The first run may have stopped within a line, and output its half.
            self.assertEqual(len(b"".join(pieces)), len(text))
            self.assertEqual(b"".join(pieces), text)

    def test_a_second_signal_ends_it_at_once(self):
        text = lines(48_000, 20_011)
        path = self.file("all", b"".join(text))
        making = ["-q", "-f", "blocked-bloom", "-S", "4M"]
        wanted = self.output("dedup", *making, path)
        command = ["dedup", *making, "-o", self.out, "--state", self.state, "--resume",
                   "--save-every", 2000, path]
        for number in (signal.SIGTERM, signal.SIGINT):
            self.clear()
            for attempt in range(200):
                before = self.saved()
                run = self.start(*command)
                if self.wait_for(run, lambda: self.saved() != before):
                    run.send_signal(number)
                    time.sleep(self.random.uniform(0, 0.01))
                    run.send_signal(number)
                self.ended(run, 0, -number)
                if self.state.exists():
                    self.done("inspect", self.state)
                if run.returncode == 0:
                    break
            self.assertEqual(run.returncode, 0)
            self.assertGreater(attempt, 2)
            self.assertEqual(self.out.read_bytes(), wanted)


class Changes(KillTest):
    """What does not fit the interrupted job is refused, and nothing is changed."""

    def setUp(self):
        super().setUp()
        self.text = b"".join(line * 2 for line in lines(24_000, 20_011))
        self.input = self.file("in", self.text)
        self.second = self.file("second", b"more\n")

    def command(self, *more, inputs=None, out=None):
        return ["dedup", "-f", "blocked-bloom", "-S", "256K", "-o", out or self.out, "-D",
                self.repeats, "--state", self.state, "--resume", "--save-every", 2000, *more,
                *(inputs or [self.input, self.second])]

    def refuses(self, status, saying, command):
        before = self.contents()
        self.refused(status, saying, *command)
        after = self.contents()
        for name, content in before.items():
            (self.work / name).write_bytes(content)
        with self.subTest("nothing is changed", command=command):
            self.assertEqual({name: len(content) for name, content in after.items()},
                             {name: len(content) for name, content in before.items()})
            self.assertEqual(after, before)

    def test_inputs(self):
        self.interrupted(*self.command())
        for saying, changed in (
            (f"{self.input} is not the file", b"other " + self.text),
            (f"{self.input} is not the file", self.text[:100]),
            (f"{self.input} is not the file", b""),
            (str(self.input), self.text[:10_000]),
            (str(self.input), gzip.compress(self.text)),
        ):
            with self.subTest(bytes=len(changed)):
                self.input.write_bytes(changed)
                self.refuses(1, saying, self.command())
        self.input.unlink()
        self.refuses(1, f"cannot open {self.input}", self.command())
        self.input.write_bytes(self.text + b"and one more\n")  # a log that grows is no other file
        self.done(*self.command())
        wanted = self.output("dedup", "-f", "blocked-bloom", "-S", "256K", self.input, self.second)
        self.assertEqual(self.out.read_bytes(), wanted)

    def test_compressed_inputs(self):
        noisy = random.Random(SEED)
        text = b"".join(b"%x\n" % noisy.getrandbits(200) for _ in range(48_000))
        packed = gzip.compress(text, 1)
        self.input = self.file("in.gz", packed)
        self.interrupted(*self.command())
        self.input.write_bytes(packed[:20_000])
        self.refuses(1, str(self.input), self.command())
        self.input.write_bytes(gzip.compress(text[:20_000], 1))
        self.refuses(1, str(self.input), self.command())
        self.input.write_bytes(packed)
        self.done(*self.command())
        self.assertEqual(self.out.read_bytes(), text + b"more\n")

    def test_outputs(self):
        for path in (self.out, self.repeats):
            with self.subTest(path=path.name):
                self.interrupted(*self.command())
                for file in (self.out, self.repeats):  # written, but not saved yet
                    file.write_bytes(file.read_bytes() + b"line 1 of")
                whole = path.read_bytes()
                for left in (0, 100):
                    path.write_bytes(whole[:left])
                    self.refuses(1, f"{path} has {left} bytes, but the job had written",
                                 self.command())
                path.unlink()
                self.refuses(1, f"cannot open {path}", self.command())
                path.write_bytes(whole)
                self.done(*self.command())

    def test_options(self):
        self.interrupted(*self.command())
        other = self.folder / "other"
        for command in (
            self.command("-k", "1"), self.command("-i"), self.command("-z"),
            self.command("--csv"), self.command("--mark"), self.command("--on-bad", "drop"),
            self.command(inputs=[self.input]), self.command(inputs=[self.second, self.input]),
            self.command(inputs=[self.input, self.second, self.second]),
            self.command(out=other),
        ):
            self.refuses(2, f"{self.state} belongs to another job that is not finished", command)
        self.refuses(2, f"{self.state} belongs to a job that is not finished",
                     [part for part in self.command() if part != "--resume"])
        self.refuses(2, "does not agree with", self.command("-f", "stable"))
        self.refuses(2, "does not agree with", self.command("--seed", 12345))
        self.assertFalse(other.exists())
        self.done(*self.command())

    def test_a_complete_job(self):
        self.done(*self.command())
        before = self.contents()
        self.assertEqual(self.out.read_bytes(),
                         self.output("dedup", "-f", "blocked-bloom", "-S", "256K", self.input,
                                     self.second))
        again = self.done(*self.command())
        self.assertEqual(again.stderr.decode(), f"weir: {self.state} says that this job is "
                                                "complete; nothing is left to do\n")
        self.assertEqual(again.stdout, b"")
        self.assertEqual(self.done(*self.command("-q")).stderr, b"")
        self.assertEqual(self.contents(), before)


if __name__ == "__main__":
    unittest.main()
