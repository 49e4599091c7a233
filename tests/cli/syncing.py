"""weir sync: two processes, folders that become alike, and every way to lose the other side."""
import json
import os
import pathlib
import random
import shlex
import signal
import stat
import subprocess
import time
import unittest

from support.command import WEIR, CommandTest


def tree(folder):
    """name -> kind, mode, time, contents of all that is below a folder."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        status = path.lstat()
        kind = stat.S_IFMT(status.st_mode)
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(folder))] = (
            kind, None if path.is_symlink() else status.st_mode & 0o777, status.st_mtime_ns, content)
    return found


class SyncTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.source, self.destination = self.folder / "source", self.folder / "destination"
        chance = random.Random(1)
        for name in ("a", "b/c", "b/d/e", "b/with space", "b/new\nline", "b/\xff".encode("latin-1")):
            path = pathlib.Path(os.fsdecode(os.fsencode(self.source) + b"/" + os.fsencode(name)))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(chance.randbytes(chance.randrange(50_000)))
        (self.source / "empty").mkdir()
        (self.source / "none").write_bytes(b"")
        (self.source / "link").symlink_to("../outside")
        (self.source / "a").chmod(0o600)
        (self.source / "empty").chmod(0o750)
        os.utime(self.source / "a", ns=(1, 1_234_567_890_123_456_789))
        os.utime(self.source / "none", ns=(1, -1_000_000_001))  # before 1970

    def serve(self, *arguments):
        return " ".join(map(shlex.quote, [WEIR, "sync", "--serve", *map(str, arguments)]))

    def alike(self):
        self.assertEqual(tree(self.destination), tree(self.source))

    def change(self):
        content = bytearray((self.source / "a").read_bytes())
        content[3:3] = b"inserted"
        (self.source / "a").write_bytes(content)
        (self.source / "b/c").unlink()
        (self.source / "more").mkdir()
        (self.source / "more/file").write_bytes(b"more")


class Syncing(SyncTest):
    ways = ("local", "push", "pull")

    def run_sync(self, way, *more):
        arguments = {"local": [self.source, self.destination],
                     "push": ["--with", self.serve(self.destination), self.source],
                     "pull": ["--receive", "--with", self.serve("--send", self.source),
                              self.destination]}[way]
        return self.done("sync", *more, *arguments)

    def test_a_folder_becomes_the_other(self):
        for way in self.ways:
            with self.subTest(way=way):
                self.assertEqual(self.run_sync(way).stderr, b"")
                self.alike()
                stats = json.loads(self.run_sync(way, "--stats=json").stderr)
                self.assertEqual((stats["new"], stats["updated"], stats["troubles"]), (0, 0, 0))
                subprocess.run(["rm", "-r", self.destination], check=True)

    def test_only_what_changed_is_brought_over(self):
        for way in self.ways:
            with self.subTest(way=way):
                self.run_sync(way, "--delete")
                self.change()
                stats = json.loads(self.run_sync(way, "--stats=json", "--delete").stderr)
                self.assertEqual((stats["new"], stats["updated"], stats["removed"]), (2, 1, 1))
                if way != "local":
                    self.assertLess(stats["literal"], 5000)
                self.alike()
                (self.source / "b/c").write_bytes(b"back again")
                subprocess.run(["rm", "-r", self.source / "more"], check=True)

    def test_nothing_is_removed_unless_asked_for(self):
        self.run_sync("push")
        (self.destination / "b/own").write_bytes(b"own")
        self.run_sync("push")
        self.assertTrue((self.destination / "b/own").exists())
        self.run_sync("push", "--delete")
        self.alike()

    def test_a_dry_run_says_what_would_be_done(self):
        for way in self.ways:
            self.run_sync(way, "--delete")
            before = tree(self.destination)
            self.change()
            said = self.run_sync(way, "-n", "--delete").stdout.decode()
            self.assertEqual(sorted(said.splitlines()),
                             ["new    more/", "new    more/file", "remove b/c", "update a"])
            self.assertEqual(tree(self.destination), before)
            said = self.run_sync(way, "-v", "--delete").stdout.decode()
            self.assertEqual(sorted(said.splitlines()),
                             ["new    more/", "new    more/file", "remove b/c", "update a"])
            self.alike()
            (self.source / "b/c").write_bytes(b"back again")
            subprocess.run(["rm", "-r", self.source / "more"], check=True)

    def test_a_single_file(self):
        target = self.folder / "copy"
        for more in ([], ["--level", 19], ["-W"]):
            self.output("sync", *more, "--with", self.serve(target), self.source / "a")
            self.assertEqual(target.read_bytes(), (self.source / "a").read_bytes())
            self.change_file(self.source / "a")
        into = self.folder / "into"
        into.mkdir()
        self.output("sync", self.source / "a", into)
        self.assertEqual((into / "a").read_bytes(), (self.source / "a").read_bytes())

    def change_file(self, path):
        path.write_bytes(b"!" + path.read_bytes())

    def test_over_a_port(self):
        listening = subprocess.Popen(
            [WEIR, "sync", "--serve", "--listen", "0", self.destination], stderr=subprocess.PIPE,
            text=True)
        address = listening.stderr.readline().split()[-1]
        self.output("sync", "--connect", address, self.source)
        self.assertEqual(listening.wait(timeout=60), 0)
        listening.stderr.close()
        self.alike()

    def test_what_cannot_be_read_is_told(self):
        os.mkfifo(self.source / "pipe")
        ended = subprocess.run([WEIR, "sync", self.source, self.destination], capture_output=True,
                               timeout=60)
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(ended.stderr.decode(),
                         "weir: warning: pipe is neither a file nor a folder nor a link: passed over\n"
                         "weir: one name could not be brought over; all else was\n")
        (self.source / "pipe").unlink()
        self.alike()


class Refused(SyncTest):
    def test_senseless_command_lines(self):
        self.refused(2, "give two names, SRC and DEST", "sync", self.source)
        self.refused(2, "give one name", "sync", "--with", "true", self.source, self.destination)
        self.refused(2, "--send and --receive cannot", "sync", "--send", "--receive", self.source)
        self.refused(1, "No such file", "sync", self.folder / "none", self.destination)
        self.refused(1, "is not a folder, but the source is one", "sync", self.source,
                     self.source / "a")

    def test_two_senders(self):
        ended = subprocess.run([WEIR, "sync", "--with", self.serve("--send", self.source),
                                self.source], capture_output=True, timeout=60)
        self.assertEqual(ended.returncode, 1)
        self.assertIn(b"both sides want to send", ended.stderr)

    def test_something_else_at_the_other_end(self):
        for command, said in (("echo hello", "is no weir; it says: hello"), ("true", "has ended"),
                              ("exit 7", "exit status 7"), ("nonesuch-command", "not found")):
            ended = subprocess.run([WEIR, "sync", "--with", command, self.source],
                                   capture_output=True, timeout=60)
            self.assertEqual(ended.returncode, 1)
            self.assertIn(said, ended.stderr.decode())

    def test_a_receiver_that_is_killed_leaves_whole_files(self):
        old = random.Random(2).randbytes(3_000_000)
        new = random.Random(3).randbytes(3_000_000)
        self.destination.mkdir()
        for number in range(8):
            (self.source / f"large{number}").write_bytes(new)
            (self.destination / f"large{number}").write_bytes(old)
        for wait in (0.02, 0.05, 0.1, 0.2):
            run = subprocess.Popen([WEIR, "sync", "--with", "exec " + self.serve(self.destination),
                                    self.source], stderr=subprocess.PIPE, start_new_session=True)
            time.sleep(wait)
            for child in pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split():
                os.kill(int(child), signal.SIGKILL)
            run.communicate(timeout=60)
            for number in range(8):
                self.assertIn((self.destination / f"large{number}").read_bytes(), (old, new))
        self.output("sync", "--delete", "--with", self.serve(self.destination), self.source)
        self.alike()

    def test_a_full_disk_at_the_receiver(self):
        self.destination.mkdir()
        (self.destination / "a").write_bytes(b"old")
        served = f"ulimit -f 4; trap '' XFSZ; {self.serve(self.destination)}"
        (self.source / "a").write_bytes(bytes(100_000))
        ended = subprocess.run([WEIR, "sync", "--with", served, self.source], capture_output=True,
                               timeout=60)
        self.assertEqual(ended.returncode, 1)
        self.assertIn(b"the other side says: cannot write", ended.stderr)
        self.assertEqual((self.destination / "a").read_bytes(), b"old")
        self.assertEqual([path for path in self.destination.rglob(".weir-sync*")], [])


if __name__ == "__main__":
    unittest.main()
