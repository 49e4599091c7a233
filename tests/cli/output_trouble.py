"""Output that cannot be written: a closed pipe ends quietly, a full disk is an error."""
import signal
import subprocess
import unittest

from support.command import GOLDEN, WEIR, CommandTest


class OutputTrouble(CommandTest):
    def setUp(self):
        super().setUp()
        self.lines = self.file("lines", b"".join(b"line %d\n" % n for n in range(200_000)))

    def test_a_broken_pipe_ends_quietly(self):
        # Python ignores SIGPIPE; its children do too unless restore_signals puts it back.
        for as_a_shell_does in (True, False):
            run = subprocess.Popen([WEIR, "dedup", "-f", "bloom", "-S", "8M", self.lines],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   restore_signals=as_a_shell_does)
            self.assertEqual(run.stdout.readline(), b"line 0\n")
            run.stdout.close()
            said = run.stderr.read()
            run.stderr.close()
            self.assertIn(run.wait(timeout=60), (0, -signal.SIGPIPE))
            self.assertEqual(said, b"")

    def test_head_ends_quietly(self):
        ended = subprocess.run(
            ["bash", "-c", '"$0" dedup -f bloom -S 8M "$1" | head -1; echo ${PIPESTATUS[0]}', WEIR,
             self.lines], capture_output=True)
        self.assertRegex(ended.stdout, rb"\Aline 0\n(0|141)\n\Z")
        self.assertEqual(ended.stderr, b"")

    def test_a_full_disk_is_an_error(self):
        for arguments in (["dedup", "-S", "1M", self.lines], ["dedup", "-S", "1M", "--mark", "-"],
                          ["filters"], ["filters", "bloom"], ["inspect", GOLDEN / "bloom.v1.weir"],
                          ["demo", "--records", "1000"], ["--help"], ["--version"]):
            with self.subTest(arguments=arguments), open("/dev/full", "wb") as full:
                ended = subprocess.run([WEIR, *arguments], stdout=full, stderr=subprocess.PIPE,
                                       input=b"a\n")
                self.assertEqual(ended.returncode, 1)
                self.assertEqual(ended.stderr,
                                 b"weir: cannot write the output: No space left on device\n")

    def test_an_error_that_cannot_be_told_keeps_its_status(self):
        for status, arguments in ((2, ["dedup", "-f", "nope"]), (2, ["bogus"]),
                                  (1, ["dedup", self.folder])):
            with self.subTest(arguments=arguments), open("/dev/full", "wb") as full:
                self.assertEqual(subprocess.run([WEIR, *arguments], stderr=full).returncode, status)

    def test_closed_descriptors_are_errors(self):
        for redirection, said in (("<&-", b"cannot read standard input"),
                                  (">&-", b"cannot write the output")):
            ended = subprocess.run(["bash", "-c", f'"$0" dedup -S 1M {redirection}', WEIR],
                                   input=b"a\n", capture_output=True)
            self.assertEqual(ended.returncode, 1)
            self.assertIn(said, ended.stderr)


if __name__ == "__main__":
    unittest.main()
