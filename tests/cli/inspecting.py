"""weir inspect: says what a state file holds, and refuses everything that is not a whole one."""
import re
import struct
import unittest

from support.command import GOLDEN, CommandTest, catalogue


class Inspecting(CommandTest):
    def state_of(self, *making):
        state = self.folder / "state"
        self.output("dedup", "-S", "8K", "--state", state, "--seed", 1, *making, stdin=b"a\nb\na\n")
        return state

    def test_says_what_dedup_saved(self):
        said = self.output("inspect", self.state_of("-f", "bloom:k=3", "--hash", "siphash",
                                                    "--shards", 2)).decode()
        for line in ("structure +bloom ", "parameters +.*k=3", "shards +2$", "hash +SipHash-2-4$",
                     r"saved +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, \d+ seconds? ago", "records +3$",
                     "repeats +1$", r"fill +\d", r"live FPR +\d"):
            self.assertRegex(said, re.compile("^" + line, re.MULTILINE))

    def test_says_how_far_a_job_has_come(self):
        lines, output, state = (self.folder / name for name in ("in\x1b[31m", "out", "state"))
        lines.write_bytes(b"a\nb\na\n")
        self.output("dedup", "-S", "8K", "--state", state, "--resume", "-o", output, lines)
        said = self.output("inspect", state).decode()
        self.assertRegex(said, r"\njob +complete, 3 records in, 4 bytes out\n")
        self.assertRegex(said, rf"\n +input {self.folder}/in\?\[31m\n")

    def test_knows_every_structure(self):
        for names in catalogue().values():
            for name in names:
                said = self.output("inspect", GOLDEN / f"{name}.v1.weir").decode()
                self.assertRegex(said, rf"\Astructure +{name} ")
                self.assertIn("records     20,000\n", said)

    def test_refuses_every_truncation(self):
        whole = self.state_of().read_bytes()
        for size in {0, 1, 8, 255, 256, 257, len(whole) - 1, *range(0, len(whole), 199)}:
            cut = self.file("cut", whole[:size])
            self.refused(1, f"{cut}: ", "inspect", cut)

    def test_refuses_every_changed_byte(self):
        whole = self.state_of().read_bytes()
        for at in {*range(0, 64, 3), *range(64, len(whole), 149), len(whole) - 1}:
            changed = self.file("changed", whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1:])
            self.refused(1, f"{changed}: ", "inspect", changed)

    def test_refuses_what_is_no_state_file(self):
        self.refused(1, "empty", "inspect", self.file("empty", b""))
        self.refused(1, "not a weir state file", "inspect", self.file("text", b"lines\n" * 1000))
        self.refused(1, "not a file", "inspect", self.folder)
        self.refused(1, "not a file", "inspect", "/dev/zero")
        self.refused(1, "cannot open", "inspect", self.folder / "missing")
        whole = self.state_of().read_bytes()
        self.refused(1, "should have", "inspect", self.file("longer", whole + b"\0"))

    def test_names_a_newer_format(self):
        whole = self.state_of().read_bytes()
        newer = self.file("newer", whole[:8] + struct.pack("<I", 4711) + whole[12:])
        self.refused(1, "format version 4711; this weir reads versions 1 to", "inspect", newer)


if __name__ == "__main__":
    unittest.main()
