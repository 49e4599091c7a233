"""weir signature, delta and patch: with each other, with rdiff, and with everything that can be wrong."""
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import time
import unittest

from support.command import WEIR, CommandTest


def some_bytes(seed, size):
    return random.Random(seed).randbytes(size)


def edited(content, seed, edits=5):
    """Insertions, removals and changes."""
    chance = random.Random(seed)
    content = bytearray(content)
    for _ in range(edits):
        at = chance.randrange(len(content))
        content[at:at + chance.randrange(60)] = chance.randbytes(chance.randrange(60))
    return bytes(content)


class DeltaTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.before = some_bytes(1, 200_000)
        self.after = edited(self.before, 2)
        self.old, self.new = self.file("old", self.before), self.file("new", self.after)
        self.sig, self.delta, self.out = (self.folder / name for name in ("sig", "delta", "out"))

    def make(self, *signature, delta=()):
        self.output("signature", self.old, "-o", self.sig, *signature)
        self.output("delta", self.sig, self.new, "-o", self.delta, *delta)

    def left(self):
        return sorted(path.name for path in self.folder.iterdir())


class Deltas(DeltaTest):
    def test_three_steps_give_the_new_file(self):
        self.make()
        self.output("patch", self.old, self.delta, "-o", self.out)
        self.assertEqual(self.out.read_bytes(), self.after)
        self.assertLess(self.delta.stat().st_size, 10_000)
        self.assertLess(self.sig.stat().st_size, 7_000)

    def test_through_pipes(self):
        ended = subprocess.run(
            ["bash", "-o", "pipefail", "-c",
             '"$0" signature - < "$1" | "$0" delta - "$2" | "$0" patch "$1" - -o -',
             WEIR, self.old, self.new], capture_output=True)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, self.after, b""))

    def test_in_place_keeps_the_mode(self):
        self.make()
        self.old.chmod(0o640)
        self.output("patch", "--in-place", self.old, self.delta)
        self.assertEqual(self.old.read_bytes(), self.after)
        self.assertEqual(self.old.stat().st_mode & 0o777, 0o640)
        self.assertEqual(self.left(), ["delta", "new", "old", "sig"])

    def test_a_link_stays_and_its_file_is_replaced(self):
        self.make()
        link = self.folder / "link"
        link.symlink_to("old")
        self.output("patch", "--in-place", link, self.delta)
        self.assertTrue(link.is_symlink())
        self.assertEqual(self.old.read_bytes(), self.after)

    def test_statistics(self):
        made = json.loads(self.done("signature", self.old, "-o", self.sig, "--stats=json").stderr)
        self.assertEqual(made["old_bytes"], 200_000)
        self.assertEqual(made["blocks"], -(-200_000 // made["block"]))
        self.assertEqual(made["written"], self.sig.stat().st_size)
        self.assertLessEqual(made["log2_false_match"], -40)
        found = json.loads(self.done("delta", self.sig, self.new, "-o", self.delta,
                                     "--stats=json").stderr)
        self.assertEqual(found["copied"] + found["literal"], len(self.after))
        self.assertEqual(found["written"], self.delta.stat().st_size)
        done = json.loads(self.done("patch", self.old, self.delta, "-o", self.out,
                                    "--stats=json").stderr)
        self.assertEqual((done["new_bytes"], done["checked"]), (len(self.after), True))
        for command in (["signature", self.old], ["delta", self.sig, self.new],
                        ["patch", self.old, self.delta]):
            text = self.done(*command, "-o", self.out, "--stats").stderr.decode()
            self.assertRegex(text, r"(?s)\A(old|new) file .*\ntime +\d")

    def test_an_output_that_is_a_device_stays_one(self):
        self.make()
        null = self.folder / "null"
        os.mkfifo(null)
        reader = subprocess.Popen(["cat", null], stdout=subprocess.PIPE)
        self.output("signature", self.old, "-o", null)
        self.assertEqual(reader.communicate(timeout=60)[0], self.sig.read_bytes())
        self.assertTrue(null.is_fifo())


@unittest.skipUnless(shutil.which("rdiff"), "rdiff is not installed")
class WithRdiff(DeltaTest):
    def rdiff(self, *arguments):
        subprocess.run(["rdiff", "-f", *map(str, arguments)], check=True, capture_output=True)

    def sums(self):
        for hashed in ("blake2", "md4"):
            for rolling in ("rabinkarp", "rollsum"):
                yield hashed, rolling

    def test_reads_what_rdiff_writes(self):
        for hashed, rolling in self.sums():
            self.rdiff("-H", hashed, "-R", rolling, "signature", self.old, self.sig)
            for ours in (True, False):
                if ours:
                    self.output("delta", self.sig, self.new, "-o", self.delta)
                else:
                    self.rdiff("delta", self.sig, self.new, self.delta)
                self.output("patch", self.old, self.delta, "-o", self.out)
                self.assertEqual(self.out.read_bytes(), self.after, (hashed, rolling, ours))

    def test_writes_what_rdiff_reads(self):
        for hashed, rolling in self.sums():
            self.output("signature", "--rdiff", "--hash", hashed, "--rollsum", rolling, self.old,
                        "-o", self.sig)
            for ours in (True, False):
                if ours:
                    self.output("delta", "--rdiff", self.sig, self.new, "-o", self.delta)
                else:
                    self.rdiff("delta", self.sig, self.new, self.delta)
                self.rdiff("patch", self.old, self.delta, self.out)
                self.assertEqual(self.out.read_bytes(), self.after, (hashed, rolling, ours))

    def test_writes_the_very_bytes_of_rdiff(self):
        for hashed, rolling in self.sums():
            theirs = self.folder / "theirs"
            self.rdiff("-H", hashed, "-R", rolling, "-b", 1000, "signature", self.old, theirs)
            self.output("signature", "--rdiff", "--hash", hashed, "--rollsum", rolling, "-b", 1000,
                        self.old, "-o", self.sig)
            self.assertEqual(self.sig.read_bytes(), theirs.read_bytes())


class Refused(DeltaTest):
    def nothing_written(self, status, saying, *arguments, **more):
        before = self.left()
        self.refused(status, saying, *arguments, **more)
        self.assertEqual(self.left(), before)

    def test_a_wrong_old_file(self):
        self.make()
        longer = self.file("longer", self.before + b"x")
        other = self.file("other", b"x" + self.before[1:])
        for wrong, said in ((longer, "it has 200001 bytes, not 200000"),
                            (other, "its contents differ")):
            self.nothing_written(1, said, "patch", wrong, self.delta, "-o", self.out)
            self.nothing_written(1, said, "patch", wrong, self.delta, "-o", "-")
            self.nothing_written(1, said, "patch", "--in-place", wrong, self.delta)
        self.assertEqual(other.read_bytes()[1:], self.before[1:])

    def test_a_damaged_or_truncated_delta(self):
        self.make()
        whole = self.delta.read_bytes()
        self.file("out", b"as it was")
        for at in (0, 9, 20, 60, len(whole) // 2, len(whole) - 60, len(whole) - 1):
            self.delta.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            self.nothing_written(1, "delta: ", "patch", self.old, self.delta, "-o", self.out)
            self.delta.write_bytes(whole[:at])
            self.nothing_written(1, "delta: ", "patch", self.old, self.delta, "-o", self.out)
        self.assertEqual(self.out.read_bytes(), b"as it was")

    def test_files_in_the_wrong_order(self):
        self.make()
        self.nothing_written(1, "this is a signature, not a delta", "patch", self.old, self.sig,
                             "-o", self.out)
        self.nothing_written(1, "this is a delta, not a signature", "delta", self.delta, self.new)
        self.nothing_written(1, "new: this is no signature of weir or rdiff", "delta", self.new,
                             self.sig)

    def test_senseless_command_lines(self):
        self.make()
        self.nothing_written(2, "where should the new file go?", "patch", self.old, self.delta)
        self.nothing_written(2, "--in-place and --output cannot", "patch", self.old, self.delta,
                             "--in-place", "-o", self.out)
        self.nothing_written(2, "only one of SIGNATURE and NEW", "delta", "-", "-")
        self.nothing_written(2, "at most 16 bytes", "signature", "--hash", "md4", "--strong", 17,
                             self.old)
        self.nothing_written(2, "--block must be", "signature", "-b", 0, self.old)
        self.nothing_written(2, "--block must be", "signature", "-b", "1G", self.old)
        self.nothing_written(1, "Is a directory", "signature", self.folder)
        self.nothing_written(1, "No such file", "patch", self.folder / "none", self.delta, "-o",
                             self.out)
        self.nothing_written(1, "not a regular file", "patch", "/dev/null", self.delta, "-o",
                             self.out)

    # A limit on the size of files fails a write as a full disk does.
    def limited(self, *arguments):
        def little():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        return subprocess.run([WEIR, *map(str, arguments)], capture_output=True, preexec_fn=little,
                              timeout=60)

    def test_a_signal_leaves_all_as_it_was(self):
        self.make()
        before, content = self.left(), self.delta.read_bytes()
        run = subprocess.Popen([WEIR, "patch", self.old, "-", "-o", self.out],
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        run.stdin.write(content[:len(content) // 2])
        run.stdin.flush()
        while not any(name.startswith("out") for name in self.left()):
            time.sleep(0.01)
        run.terminate()
        run.stdin.close()
        self.assertEqual((run.stderr.read(), run.wait(timeout=60)), (b"", -signal.SIGTERM))
        run.stderr.close()
        self.assertEqual(self.left(), before)

    def test_a_full_disk_leaves_all_as_it_was(self):
        self.make()
        before, content = self.left(), self.old.read_bytes()
        for arguments in (["patch", self.old, self.delta, "-o", self.out],
                          ["patch", "--in-place", self.old, self.delta],
                          ["signature", "--strong", 32, self.old, "-o", self.out]):
            ended = self.limited(*arguments)
            self.assertEqual(ended.returncode, 1)
            self.assertRegex(ended.stderr.decode(), r"\Aweir: cannot write \S+: File too large\n\Z")
            self.assertEqual(self.left(), before)
            self.assertEqual(self.old.read_bytes(), content)
        with open("/dev/full", "wb") as full:
            ended = subprocess.run([WEIR, "signature", self.old], stdout=full,
                                   stderr=subprocess.PIPE)
        self.assertEqual((ended.returncode, ended.stderr),
                         (1, b"weir: cannot write the output: No space left on device\n"))


if __name__ == "__main__":
    unittest.main()
