"""A run of the lab that is killed goes on where it was, and ends as if nothing had happened."""
import subprocess
import time
import unittest

from support.command import WEIR, CommandTest

RUN = ["lab", "run", "distances", "--repeat", "3", "--filter", "stable", "--filter", "qht"]


class LabKill(CommandTest):
    def parts(self, out):
        return {path.name: path.stat().st_mtime_ns
                for path in (out / "parts" / "distances").glob("*.csv")}

    def test_a_killed_run_keeps_its_finished_parts(self):
        whole, out = self.folder / "whole", self.folder / "out"
        self.done(*RUN, "--out", whole)
        run = subprocess.Popen([WEIR, *RUN, "-j", "1", "--out", out], stdout=subprocess.DEVNULL)
        end = time.monotonic() + 120
        while len(self.parts(out)) < 2:
            self.assertIsNone(run.poll(), "it ended before it could be killed")
            self.assertLess(time.monotonic(), end, "no part is finished")
            time.sleep(0.01)
        run.kill()
        run.wait()
        kept = self.parts(out)
        self.assertLess(len(kept), 6)
        self.assertFalse((out / "report.html").exists())

        ended = self.done(*RUN, "-j", "2", "--out", out)
        self.assertIn(b"How far back a filter remembers", ended.stdout)
        after = self.parts(out)
        self.assertEqual(len(after), 6)
        self.assertEqual({name: after[name] for name in kept}, kept, "a finished part was run again")
        self.assertEqual((out / "distances.csv").read_bytes(), (whole / "distances.csv").read_bytes())
        self.assertEqual((out / "distances.svg").read_bytes(), (whole / "distances.svg").read_bytes())


if __name__ == "__main__":
    unittest.main()
