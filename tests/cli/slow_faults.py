"""Any call of the system may fail: one clear sentence, a state that loads, and nothing is lost.

Each test runs a job again and again, and lets the first, second, third ... call of some kind fail
(tests/fixtures/faults/shim.c). Afterwards the same command, without a fault, must complete and
give what a run without any gives.
"""
import collections
import contextlib
import errno
import gzip
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import unittest

from support.command import WEIR, CommandTest, weir

SHIM = pathlib.Path(os.environ["WEIR_SOURCE_DIR"]) / "tests" / "fixtures" / "faults" / "shim.c"
SHORT = "short"
FAULTS = [  # kind, errors
    ("open", [errno.EMFILE, errno.EACCES]),
    ("write", [errno.ENOSPC, errno.EIO, errno.EINTR, SHORT]),
    ("read", [errno.EIO, errno.EINTR, SHORT]),
    ("fsync", [errno.EIO, errno.ENOSPC]),
    ("fdatasync", [errno.EIO, errno.ENOSPC]),
    ("rename", [errno.EIO, errno.ENOSPC]),
    ("ftruncate", [errno.EIO]),
    ("lseek", [errno.EIO]),
    ("close", [errno.EIO]),
    ("stat", [errno.EIO]),
    ("fchmod", [errno.EPERM]),
    ("event", [errno.EMFILE]),
]
delivered = collections.Counter()


def must_succeed(kind, error):
    return kind in ("read", "write") and error in (errno.EINTR, SHORT)


def file_system_without_waiting():
    """Where syncing costs nothing; None, the default, where there is no such thing."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None


class FaultTest(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.built = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.built.cleanup)
        cls.shim = os.path.join(cls.built.name, "shim.so")
        compiler = os.environ.get("CC") or "cc"
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", cls.shim, SHIM], check=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=file_system_without_waiting())
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        lines = [b"line %d of them\n" % (i * i % 1201) for i in range(2000)]
        self.inputs = [self.file("in1", b"".join(lines[:900])[:-1]),  # no newline at its end
                       self.file("in2.gz", gzip.compress(b"".join(lines[900:1500]))),
                       self.file("in3", b"".join(lines[1500:]))]
        self.distinct = self.file("distinct", b"".join(sorted(set(lines))))
        self.out, self.repeats, self.state = (self.folder / "work" / name
                                              for name in ("out", "repeats", "state"))
        self.out.parent.mkdir()
        self.report = self.folder / "report"

    # What lies in the folder that the job writes to.
    def files(self):
        return {path.name: path.read_bytes() for path in self.out.parent.iterdir()}

    def reset(self, files):
        for path in self.out.parent.iterdir():
            path.unlink()
        for name, content in files.items():
            (self.out.parent / name).write_bytes(content)

    def with_fault(self, command, kind, at, error):
        """The run's result, and whether the fault came."""
        with contextlib.suppress(FileNotFoundError):
            self.report.unlink()
        environment = dict(os.environ, LD_PRELOAD=self.shim, FAULT_KIND=kind, FAULT_AT=str(at),
                           FAULT_ERRNO=str(error), FAULT_REPORT=str(self.report))
        result = subprocess.run([WEIR, *map(str, command)], stdin=subprocess.DEVNULL,
                                capture_output=True, env=environment, timeout=20)
        came = self.report.exists() and b"delivered" in self.report.read_bytes()
        delivered[kind] += came
        return result, came

    def calls(self, command, kind, start):
        self.reset(start)
        result, _ = self.with_fault(command, kind, 10**9, errno.EIO)
        self.assertEqual(result.returncode, 0, result.stderr)
        return int(self.report.read_bytes().split()[-1])

    def check_end(self, result, kind, error, may_pass):
        said = result.stderr.decode()
        self.assertIn(result.returncode, (0, 1), said)
        if result.returncode == 0:
            self.assertEqual(said, "")
            self.assertTrue(may_pass, "the fault went unnoticed")
            return
        self.assertFalse(must_succeed(kind, error), said)
        self.assertRegex(said, r"\Aweir: [^\n]+\n\Z")
        if kind in ("malloc", "mmap"):
            self.assertIn("memory", said)
        else:
            self.assertIn(os.strerror(error), said)
        if kind not in ("malloc", "mmap", "event"):
            self.assertIn(str(self.folder), said)  # which file

    def check_files(self, start):
        """Nothing but what belongs there; the state is the old one, or one that loads."""
        self.assertLessEqual({path.name for path in self.out.parent.iterdir()},
                             {"out", "repeats", "state"})
        if not self.state.exists():
            self.assertNotIn("state", start)
        elif self.state.read_bytes() != start.get("state"):
            loaded = weir("inspect", self.state)
            self.assertEqual(loaded.returncode, 0, loaded.stderr)

    def each_fault(self, command, start, kinds, check, step=1):
        """Lets call after call fail; `check` looks at what is left."""
        for kind, errors in kinds:
            for error in errors:
                at = 1
                while True:
                    self.reset(start)
                    result, came = self.with_fault(command, kind, at, error)
                    with self.subTest(kind=kind, at=at, error=error, status=result.returncode,
                                      said=result.stderr.decode()):
                        if not came:
                            self.assertEqual((result.returncode, result.stderr), (0, b""))
                        # A file that cannot be closed has been read, or synced; a status that
                        # cannot be had may be one that is not needed.
                        self.check_end(result, kind, error, not came or
                                       must_succeed(kind, error) or
                                       kind in ("close", "stat", "thread", "lseek", "malloc"))
                        self.check_files(start)
                        check(result)
                    if not came:
                        break
                    at += step


class Jobs(FaultTest):
    """Jobs that are resumed."""

    def setUp(self):
        super().setUp()
        self.making = ["-f", "stable", "-S", "16K", "--seed", 5, "-q"]
        self.done("dedup", *self.making, "-o", self.folder / "wanted", "-D", self.folder / "seen",
                  *self.inputs)
        self.wanted = {"out": (self.folder / "wanted").read_bytes(),
                       "repeats": (self.folder / "seen").read_bytes()}
        self.assertGreater(len(self.wanted["repeats"]), 1000)

    def command(self, *more):
        return ["dedup", *self.making, "-o", self.out, "-D", self.repeats, "--state", self.state,
                "--resume", "--save-every", 300, *more, *self.inputs]

    def interrupted(self, command, at):
        """What a run leaves that a full disk ended at some write."""
        self.reset({})
        result, came = self.with_fault(command, "write", at, errno.ENOSPC)
        self.assertTrue(came)
        self.assertEqual(result.returncode, 1)
        self.assertTrue(self.state.exists())
        return self.files()

    def starts(self, command):
        # The later one is in the compressed input, and its output goes beyond what is saved.
        return [{}, self.interrupted(command, self.calls(command, "write", {}) // 2)]

    def check_whole(self):
        for name, wanted in self.wanted.items():
            self.assertEqual((self.out.parent / name).read_bytes(), wanted, name)

    def goes_on(self, command, start):
        def check(result):
            if result.returncode == 0:
                return self.check_whole()
            if self.files() == start:  # what a run without fault makes of this is known
                return None
            again = weir(*command)
            self.assertEqual((again.returncode, again.stderr), (0, b""))
            self.check_whole()
            self.check_files(start)
            return None
        return check

    def test_system_calls(self):
        command = self.command("-j", 1)
        for start in self.starts(command):
            self.each_fault(command, start, FAULTS, self.goes_on(command, start))

    def test_system_calls_of_two_threads(self):
        command = self.command("-j", 2)
        kinds = [("open", [errno.EMFILE]), ("write", [errno.ENOSPC, SHORT]), ("read", [errno.EIO]),
                 ("fsync", [errno.EIO]), ("rename", [errno.EIO]), ("thread", [errno.EAGAIN])]
        for start in self.starts(command):
            self.each_fault(command, start, kinds, self.goes_on(command, start))

    def test_memory(self):
        command = self.command("-j", 1)
        for start in self.starts(command):
            self.each_fault(command, start, [("malloc", [errno.ENOMEM])],
                            self.goes_on(command, start),
                            step=1 + self.calls(command, "malloc", start) //
                            (300 if start else 3000))

    def test_memory_of_two_threads(self):
        command = self.command("-j", 2)
        calls = self.calls(command, "malloc", {})
        self.each_fault(command, {}, [("malloc", [errno.ENOMEM])], self.goes_on(command, {}),
                        step=1 + calls // 300)

    def test_mapped_memory(self):
        self.making = ["-f", "blocked-bloom", "-S", "4M", "--seed", 5, "-q"]
        command = self.command("-j", 1)
        self.done("dedup", *self.making, "-o", self.folder / "w", "-D", self.folder / "s",
                  *self.inputs)
        self.wanted = {"out": (self.folder / "w").read_bytes(),
                       "repeats": (self.folder / "s").read_bytes()}
        for start in self.starts(command):
            self.assertGreater(self.calls(command, "mmap", start), 0)
            self.each_fault(command, start, [("mmap", [errno.ENOMEM])],
                            self.goes_on(command, start))


class States(FaultTest):
    """A structure that is kept from one run to the next: never ahead of the output."""

    def setUp(self):
        super().setUp()
        self.making = ["-f", "blocked-bloom", "-S", "64K", "--seed", 5, "-q"]
        before = self.file("before", b"".join(b"line %d of them\n" % i for i in range(0, 1201, 7)))
        self.done("dedup", *self.making, "--state", self.state, "-o", "/dev/null", before)
        self.start = self.files()
        self.done(*self.command())
        self.wanted = self.out.read_bytes()
        self.known = set(before.read_bytes().splitlines())

    def command(self, *more):
        return ["dedup", *self.making, "-o", self.out, "--state", self.state, "--save-every", 300,
                *more, *self.inputs]

    def seen(self):
        """The lines that the state calls seen."""
        marked = self.output("dedup", "--read-only", "--state", self.state, "--mark", "-q",
                             self.distinct)
        return {line[2:] for line in marked.splitlines() if line.startswith(b"1\t")}

    def check(self, start):
        known = self.known if "state" in start else set()

        def check(result):
            if result.returncode == 0 and "state" in start:
                self.assertEqual(self.out.read_bytes(), self.wanted)
            if not self.state.exists() or self.state.read_bytes() == start.get("state"):
                self.assertNotEqual(result.returncode, 0)
                return
            written = set(self.out.read_bytes().splitlines())
            seen = self.seen()
            self.assertLessEqual(seen, known | written)
            self.assertLessEqual(known & set(self.distinct.read_bytes().splitlines()), seen)
        return check

    def test_system_calls(self):
        command = self.command("-j", 1)
        self.each_fault(command, self.start, FAULTS, self.check(self.start))
        kinds = [(kind, errors[:1]) for kind, errors in FAULTS]
        self.each_fault(command, {}, kinds, self.check({}))

    def test_memory(self):
        command = self.command("-j", 2)
        calls = self.calls(command, "malloc", self.start)
        self.each_fault(command, self.start, [("malloc", [errno.ENOMEM])], self.check(self.start),
                        step=1 + calls // 300)


class FullDisk(CommandTest):
    def setUp(self):
        super().setUp()
        self.input = self.file("in", b"".join(b"this is line %d\n" % (i * i % 40009)
                                              for i in range(60_000)))
        self.making = ["-f", "blocked-bloom", "-S", "128K", "--seed", 5, "-q"]
        self.wanted = self.output("dedup", *self.making, self.input)
        self.assertGreater(len(self.wanted), 300_000)

    def command(self, folder, *more):
        return [WEIR, "dedup", *self.making, "-o", folder / "out", "--state", folder / "state",
                "--save-every", "2000", *more, self.input]

    def full(self, command, saying, folder, **how):
        ended = subprocess.run(list(map(str, command)), capture_output=True, timeout=60, **how)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertRegex(ended.stderr.decode(), rf"\Aweir: cannot write [^\n]+: {saying}\n\Z")
        self.assertLessEqual({path.name for path in folder.iterdir()}, {"out", "state", "ballast"})
        if not (folder / "state").exists():
            return
        self.done("inspect", folder / "state")
        marked = self.output("dedup", "--read-only", "--state", folder / "state", "--mark", "-q",
                             self.input)
        seen = {line[2:] for line in marked.splitlines() if line.startswith(b"1\t")}
        not_there = seen - set((folder / "out").read_bytes().splitlines())
        self.assertLess(len(not_there), 0.02 * len(seen))  # a Bloom filter errs now and then

    def completes(self, folder):
        result = subprocess.run(list(map(str, self.command(folder, "--resume"))),
                                capture_output=True, timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertEqual((folder / "out").read_bytes(), self.wanted)

    def test_for_real(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk],
                                 capture_output=True)
        if mounted.returncode != 0:
            print("no small disk can be mounted here; the limit of a file's size must do")
            self.skipTest("mounting is not permitted")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        for ballast in range(500_000, 1_000_001, 50_000):
            with self.subTest(ballast=ballast):
                for path in disk.iterdir():
                    path.unlink()
                (disk / "ballast").write_bytes(bytes(ballast))
                for _ in range(2):  # and it stays full
                    self.full(self.command(disk, "--resume"), "No space left on device", disk)
                (disk / "ballast").unlink()
                self.completes(disk)
                for name in ("out", "state"):
                    (disk / name).unlink()
                (disk / "ballast").write_bytes(bytes(ballast))
                self.full(self.command(disk), "No space left on device", disk)

    def test_files_that_may_not_grow(self):
        work = self.folder / "work"
        for limit in range(20_000, 300_001, 40_000):
            with self.subTest(limit=limit):
                shutil.rmtree(work, ignore_errors=True)
                work.mkdir()

                def restrict():
                    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

                for _ in range(2):
                    self.full(self.command(work, "--resume"), "File too large", work,
                              preexec_fn=restrict)
                self.completes(work)


def tearDownModule():
    print("faults that came:", ", ".join(f"{kind} {n}" for kind, n in sorted(delivered.items())))


if __name__ == "__main__":
    unittest.main()
