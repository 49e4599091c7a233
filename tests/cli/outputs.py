"""weir dedup: what is written where, what is told on stderr, and what the state file keeps."""
import json
import os
import pty
import random
import re
import select
import signal
import subprocess
import time
import unittest

from support.command import WEIR, weir
from support.exact import LARGE, DedupTest, ways


def numbered(numbers):
    return b"".join(b"line %d\n" % n for n in numbers)


def started(*arguments, **descriptors):
    given = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([WEIR, "dedup", *map(str, arguments)], bufsize=0,
                            **(given | descriptors))


class Outputs(DedupTest):
    text = b"a\nb\na\n\nc\nb\na\n\nd"
    first, repeats = b"a\nb\n\nc\nd", b"a\nb\na\n\n"

    def test_a_file_takes_the_output_and_loses_what_it_held(self):
        output = self.file("output", b"old and longer than what is to come\n")
        self.assertEqual(self.dedup(self.text, "-o", output), b"")
        self.assertEqual(output.read_bytes(), self.first)
        self.assertEqual(self.dedup(b"", "-o", output), b"")
        self.assertEqual(output.read_bytes(), b"")

    def test_a_dash_is_standard_output(self):
        self.assertEqual(self.dedup(self.text, "-o", "-"), self.first)

    def test_a_file_that_cannot_be_made_is_told(self):
        for place, why in ((self.folder / "missing" / "x", "No such file"),
                           (self.folder, "directory")):
            for flag in ("-o", "-D"):
                self.refused(1, f"cannot create {place}: ", "dedup", *LARGE, flag, place,
                             stdin=b"a\n")
                self.refused(1, why, "dedup", *LARGE, flag, place, stdin=b"a\n")

    def test_only_the_repeats(self):
        self.assertEqual(self.dedup(self.text, "-d"), self.repeats)
        self.assertEqual(self.dedup(b"h,i\n1,2\n1,2\n", "--csv", "-d"), b"h,i\n1,2\n")

    def test_repeats_to_a_file_beside_any_output(self):
        side = self.folder / "side"
        for options, main in (([], self.first), (["-d"], self.repeats),
                              (["--mark"], b"0\ta\n0\tb\n1\ta\n0\t\n0\tc\n1\tb\n1\ta\n1\t\n0\td"),
                              (["-c", "-f", "count-min"],
                               b"1\ta\n1\tb\n2\ta\n1\t\n1\tc\n2\tb\n3\ta\n2\t\n1\td")):
            for way in ways(chunks=(64,), threads=(1, 2)):
                self.assertEqual(self.dedup(self.text, "-D", side, *options, *way), main, options)
                self.assertEqual(side.read_bytes(), self.repeats, options)

    def test_first_ones_and_repeats_are_all_there_is(self):
        draw = random.Random(3)
        lines = [b"%d\n" % draw.randrange(4000) for _ in range(9000)]
        side = self.folder / "side"
        small = ["-f", "stable", "-S", "16K", "--seed", 1, "-q", "-D", side]
        for way in ways(chunks=(100, "256K")):
            kept = self.output("dedup", *small, *way, stdin=b"".join(lines))
            marks = self.output("dedup", *small[:-2], "--mark", *way, stdin=b"".join(lines))
            marked = marks.splitlines(keepends=True)
            self.assertEqual([line[2:] for line in marked], lines)
            self.assertEqual(b"".join(line[2:] for line in marked if line[:2] == b"0\t"), kept)
            self.assertEqual(b"".join(line[2:] for line in marked if line[:2] == b"1\t"),
                             side.read_bytes())

    def test_counts_so_far(self):
        draw = random.Random(4)
        lines = [b"%d\n" % min(draw.randrange(300), draw.randrange(300)) for _ in range(3000)]
        counts, told, again = {}, [], []
        for line in lines:
            counts[line] = counts.get(line, 0) + 1
            told.append(b"%d\t" % counts[line] + line)
            if counts[line] > 1:
                again.append(told[-1])
        for spec in ([], ["-f", "count-min"], ["-f", "spectral"]):
            making = ["-S", "1M", "--seed", 1, "-c", *spec]
            self.assertEqual(self.output("dedup", *making, stdin=b"".join(lines)), b"".join(told))
            self.assertEqual(self.output("dedup", *making, "-d", "-j", 2, "--chunk", 64,
                                         stdin=b"".join(lines)), b"".join(again))

    def test_a_sketch_can_stand_in_for_a_filter(self):
        for spec in ("count-min", "spectral"):
            self.assertEqual(self.dedup(self.text, "-f", spec), self.first)

    def test_ways_of_output_that_exclude_each_other_are_refused(self):
        for options in (["-d", "--mark"], ["-c", "--mark"], ["-c", "-d", "--mark"]):
            self.refused(2, "cannot be given together", "dedup", *options)

    def test_lines_are_passed_on_while_the_input_stays_open(self):
        for threads in (1, 2):
            for options in ([], ["--mark"], ["--json"], ["-k", 1, "--state", self.folder / "s"]):
                run = started(*LARGE, "-j", threads, *options)
                for number in range(3):
                    run.stdin.write(b"%d\n" % number)
                    ready, _, _ = select.select([run.stdout], [], [], 20)
                    self.assertTrue(ready, (threads, options, "nothing came"))
                    self.assertTrue(os.read(run.stdout.fileno(), 100).endswith(b"%d\n" % number))
                rest, said = run.communicate(timeout=60)
                self.assertEqual((run.returncode, rest, said), (0, b"", b""))
                (self.folder / "s").unlink(missing_ok=True)


class SameFile(DedupTest):
    """What is written to is not read from."""
    content = b"a\nb\na\n" * 100

    def setUp(self):
        super().setUp()
        self.input = self.file("input", self.content)
        os.link(self.input, self.folder / "link")
        os.symlink(self.input, self.folder / "symlink")

    def untouched(self):
        self.assertEqual(self.input.read_bytes(), self.content)

    def test_output_repeats_and_state_are_no_inputs(self):
        for name in ("input", "link", "symlink", "./input", "../" + self.folder.name + "/input"):
            for flag in ("-o", "-D", "--state"):
                where = f"{self.folder}/{name}"
                result = weir("dedup", *LARGE, flag, where, self.input)
                self.assertNotEqual(result.returncode, 0)
                self.assertRegex(result.stderr.decode(), r"\Aweir: [^\n]+\n\Z")
                self.untouched()
                if flag != "--state":  # what is not a state is refused even earlier
                    self.refused(2, f"is also the input {self.input}", "dedup", *LARGE, flag, where,
                                 self.input)
                    self.untouched()

    def test_a_state_that_is_read_as_input_is_refused_and_kept(self):
        state = self.folder / "state"
        self.dedup(b"a\n", "--state", state)
        before = state.read_bytes()
        self.refused(2, f"the state file is also the input {state}", "dedup", "--state", state,
                     state)
        self.assertEqual(state.read_bytes(), before)

    def test_redirections_count_too(self):
        for command in ('"$0" dedup -S 1M "$1" >> "$1"', '"$0" dedup -S 1M "$1" 1<> "$1"',
                        '"$0" dedup -S 1M < "$1" >> "$1"', '"$0" dedup -S 1M - < "$1" -o "$1"',
                        '"$0" dedup -S 1M < "$1" -D "$1"'):
            result = subprocess.run(["bash", "-c", command, WEIR, self.input], capture_output=True)
            self.assertEqual(result.returncode, 2, command)
            self.assertRegex(result.stderr.decode(), r"\Aweir: [^\n]* is also the input [^\n]+\n\Z")
            self.untouched()
        # The shell has emptied it by then, but it does not grow for ever.
        result = subprocess.run(["bash", "-c", '"$0" dedup -S 1M "$1" > "$1"', WEIR, self.input],
                                capture_output=True)
        self.assertEqual(result.returncode, 2)

    def test_outputs_are_not_each_other(self):
        new = self.folder / "new"
        other = f"{self.folder}/./new"
        there = self.file("there", b"kept")
        for options in (["-o", new, "-D", new], ["-o", new, "--state", new],
                        ["-D", new, "--state", new], ["-o", new, "-D", other],
                        ["-o", new, "--state", other], ["-D", new, "--state", other],
                        ["-o", there, "-D", f"{self.folder}/./there"]):
            self.refused(2, "same file", "dedup", *LARGE, *options, self.input)
            self.assertFalse(new.exists(), options)
            self.assertEqual(there.read_bytes(), b"kept")


class Statistics(DedupTest):
    def stats(self, stdin, *arguments):
        result = self.done("dedup", "--stats=json", "--seed", 1, "-q", *arguments, stdin=stdin)
        return json.loads(result.stderr), result.stdout

    def test_in_json_add_up(self):
        text = b"a 1\nbad\na 1\nb 1\nbad\nc 2\n"
        for way in ways(chunks=(64,)):
            for options, written in ((["-k", 2], 4), (["-k", 2, "--on-bad", "drop"], 2), ([], 4),
                                     (["-k", 2, "-d"], 2)):
                stats, output = self.stats(text, *LARGE, *options, *way)
                self.assertEqual(stats["records"], 6)
                self.assertEqual(stats["bytes"], len(text))
                self.assertEqual(stats["first"] + stats["repeats"] + stats["bad"], 6)
                self.assertEqual(stats["output_bytes"], len(output))
                self.assertEqual(output.count(b"\n"), written, options)
                self.assertEqual(stats["bad"], 2 if "-k" in options else 0)
                self.assertEqual(stats["shards"], way[1])

    def test_count_no_header_and_no_byte_twice(self):
        text = b"a,b\n1,2\n1,2\n3,4\n"
        stats, output = self.stats(text, *LARGE, "--csv")
        self.assertEqual((stats["records"], stats["first"], stats["repeats"], stats["bytes"]),
                         (3, 2, 1, len(text)))
        self.assertEqual(stats["output_bytes"], len(output))
        stats, output = self.stats(b"x" * 1000 + b"\na\n" + b"y" * 1000, *LARGE, "--chunk", 64,
                                   "--max-record", 100)
        self.assertEqual((stats["records"], stats["bad"], stats["bytes"], stats["output_bytes"]),
                         (3, 2, 2003, 2003))
        stats, _ = self.stats(b"", *LARGE)
        self.assertEqual((stats["records"], stats["bytes"], stats["output_bytes"]), (0, 0, 0))

    def test_tell_the_expected_false_negatives(self):
        draw = random.Random(5)
        text = numbered(draw.randrange(20_000) for _ in range(40_000))
        for spec in ("bloom", "blocked-bloom", "counting"):
            self.assertEqual(self.stats(text, "-f", spec, "-S", "1M")[0]["expected_fnr"], 0)
        repeats = 40_000 - len(set(text.splitlines()))
        for making in (["-f", "stable"], [], ["--shards", 4], ["-f", "qht"], ["-f", "stable",
                                                                              "--shards", 4]):
            stats, _ = self.stats(text, "-S", "16K", *making)
            missed = 1 - stats["repeats"] / repeats
            self.assertGreater(missed, 0.1)
            error = (missed * (1 - missed) / repeats) ** 0.5
            self.assertAlmostEqual(stats["expected_fnr"], missed, msg=making,
                                   delta=max(0.05 * missed, 3 * error))
        for few in (b"a\n", b"a\na\n", b"a\nb\nc\n", b""):
            for shards in (1, 4, 64):
                self.stats(few, "-S", "64K", "--shards", shards)

    def test_do_not_swallow_the_file_behind_them(self):
        lines = self.file("lines", b"a\na\n")
        for flag in ("--stats", "--stats=text", "--stats=json"):
            result = self.done("dedup", *LARGE, flag, lines, stdin=b"x\n")
            self.assertEqual(result.stdout, b"a\n")
            self.assertIn(b"records", result.stderr)
        self.assertRegex(self.done("dedup", *LARGE, "--stats", lines).stderr.decode(),
                         r"(?m)^records +2 .*\n^first +1\n^repeats +1\n^bad +0\n")
        self.refused(2, "--stats", "dedup", "--stats=xml", lines)

    def test_tell_of_the_first_bad_record(self):
        result = self.done("dedup", *LARGE, "-k", 2, "--stats", "-q", stdin=b"a b\na\nb\n")
        self.assertRegex(result.stderr.decode(),
                         r"(?m)^bad +2, first: standard input, record 2: it lacks a field")


class Rates(DedupTest):
    small = ["-f", "bloom", "-S", "6K", "--seed", 1]
    lines = numbered(range(30_000))

    def test_beyond_the_wanted_one_are_told_once_with_the_figure(self):
        for way in ways(threads=(1, 2), chunks=(1000, "256K"), shards=(1,)):
            result = self.done("dedup", *self.small, *way, stdin=self.lines)
            told = re.fullmatch(r"weir: warning: ([0-9.]+) % of new records[^\n]+--fpr 0.001[^\n]+\n",
                                result.stderr.decode())
            self.assertTrue(told, result.stderr)
            self.assertTrue(0.1 < float(told[1]) < 1, told[1])  # soon, not at the end
        self.assertEqual(self.done("dedup", *self.small, "-q", stdin=self.lines).stderr, b"")
        self.assertIn(b"--fpr 0.05", self.done("dedup", *self.small, "--fpr", "0.05",
                                               stdin=self.lines).stderr)

    def test_within_the_wanted_one_are_not_worth_a_word(self):
        for spec in ("bloom", "blocked-bloom", "stable", "rsbf"):
            self.assertEqual(self.done("dedup", "-f", spec, "-S", "1M", "--seed", 1,
                                       stdin=self.lines).stderr, b"", spec)
        for spec in ("stable",):  # full for long, and holds its rate all the same
            self.assertEqual(self.done("dedup", "-f", spec, "-S", "16K", "--seed", 1,
                                       stdin=self.lines).stderr, b"", spec)

    def test_beyond_the_greatest_one_end_the_run(self):
        everything = self.output("dedup", *self.small, "-q", stdin=self.lines)
        for limit in (0.001, 0.01, 0.1):
            ends = set()
            for way in ways(shards=(1,), chunks=(64, 1000, "256K")):
                result = weir("dedup", *self.small, "-q", *way, "--stats=json", "--max-fpr", limit,
                              stdin=self.lines)
                self.assertEqual(result.returncode, 1)
                stats, _, said = result.stderr.partition(b"\n")
                ends.add((result.stdout, said))
                read = json.loads(stats)["records"]
            self.assertEqual(len(ends), 1, limit)
            self.assertTrue(everything.startswith(result.stdout))
            self.assertTrue(result.stdout.endswith(b"\n"))
            self.assertRegex(said.decode(), rf"\Aweir: stopped after {read:,} records: "
                                            rf"[0-9.]+ %[^\n]+--max-fpr {limit}; [^\n]+\n\Z")
            # All lines differ, so that every one that is missing was dropped wrongly.
            dropped = read - result.stdout.count(b"\n")
            self.assertLess(dropped / read, limit + 3 * (limit / read) ** 0.5, (limit, read))
            self.assertGreater(read, 1000)

    def test_below_the_greatest_one_change_nothing(self):
        self.assertEqual(self.dedup(self.lines, "--max-fpr", "0.001"), self.lines)
        for wrong in ("0", "-1", "2", "x", "nan", "1.01"):
            self.refused(2, "--max-fpr", "dedup", f"--max-fpr={wrong}")

    def test_that_a_state_brings_along_count_too(self):
        state = self.folder / "state"
        self.output("dedup", *self.small, "-q", "--state", state, stdin=self.lines)
        before = state.read_bytes()
        result = weir("dedup", "--state", state, "--read-only", "--max-fpr", 0.01, stdin=b"new\n")
        self.assertEqual((result.returncode, result.stdout), (1, b""))
        self.assertEqual(state.read_bytes(), before)


class Progress(DedupTest):
    def shown(self, *arguments, terminal=True):
        """What a terminal on stderr gets to see of a run on a slow pipe."""
        ours, theirs = pty.openpty() if terminal else os.pipe()
        with open(self.folder / "output", "wb") as output:
            run = started(*LARGE, *arguments, stdout=output, stderr=theirs)
        os.close(theirs)
        for number in range(3):
            run.stdin.write(b"%d\n" % number)
            time.sleep(0.6)  # it is told twice a second at most
        run.stdin.close()
        self.assertEqual(run.wait(timeout=60), 0)
        seen = b""
        try:
            while piece := os.read(ours, 1000):
                seen += piece
        except OSError:  # how a terminal ends
            pass
        os.close(ours)
        self.assertEqual((self.folder / "output").read_bytes(), b"0\n1\n2\n")
        return seen

    def test_is_shown_on_a_terminal_and_wiped_away(self):
        seen = self.shown()
        self.assertRegex(seen, rb"\r\d records, 0 repeats, [^\r\n]+\x1b\[K")
        self.assertTrue(seen.endswith(b"\r\x1b[K"), seen)

    def test_is_not_shown_when_asked_to_be_quiet(self):
        self.assertEqual(self.shown("-q"), b"")

    def test_is_not_shown_in_a_pipe(self):
        self.assertEqual(self.shown(terminal=False), b"")


class State(DedupTest):
    def setUp(self):
        super().setUp()
        self.state = self.folder / "state"

    def test_a_second_run_goes_on(self):
        for way in (["-j", 1], ["-j", 4, "--chunk", 64]):
            self.assertEqual(self.dedup(b"a\nb\na\n", "--state", self.state, *way), b"a\nb\n")
            self.assertEqual(self.dedup(b"c\na\nb\nc\n", "--state", self.state, *way), b"c\n")
            self.assertEqual(self.output("dedup", "--state", self.state, stdin=b"c\nd\n"), b"d\n")
            self.state.unlink()

    def test_of_a_sketch_counts_on(self):
        self.output("dedup", "-c", "-S", "64K", "--state", self.state, stdin=b"a\nb\na\n")
        self.assertEqual(self.output("dedup", "-c", "--state", self.state, stdin=b"a\nc\n"),
                         b"3\ta\n1\tc\n")
        self.assertEqual(self.output("dedup", "-d", "--state", self.state, stdin=b"c\nd\n"), b"c\n")

    def test_is_not_touched_when_it_is_only_read(self):
        self.dedup(b"a\nb\n", "--state", self.state)
        os.chmod(self.state, 0o400)
        before, status = self.state.read_bytes(), self.state.stat()
        for way in ways(chunks=(64,)):
            if way[1] == 1:
                self.assertEqual(self.output("dedup", "--state", self.state, "--read-only", *way,
                                             stdin=b"b\nc\nc\na\n"), b"c\nc\n")
        after = self.state.stat()
        self.assertEqual(self.state.read_bytes(), before)
        self.assertEqual((after.st_ino, after.st_mtime_ns), (status.st_ino, status.st_mtime_ns))
        self.assertEqual(os.listdir(self.folder), ["state"])

    def test_that_is_only_read_must_be_there(self):
        self.refused(1, f"cannot open {self.state}", "dedup", "--state", self.state, "--read-only",
                     stdin=b"a\n")
        self.assertFalse(self.state.exists())

    def test_must_agree_with_the_parameters(self):
        self.dedup(b"a\n", "--state", self.state)
        before = self.state.read_bytes()
        for options in (["-f", "stable"], ["-S", "64K"], ["--shards", 2], ["--seed", 2],
                        ["-f", "blocked-bloom:k=1"]):
            self.refused(2, "does not agree", "dedup", "--state", self.state, *options,
                         stdin=b"b\n")
        self.refused(2, "-c needs a sketch", "dedup", "--state", self.state, "-c", "-f",
                     "blocked-bloom", stdin=b"b\n")
        self.assertEqual(self.state.read_bytes(), before)

    def test_is_saved_during_the_run(self):
        run = started(*LARGE, "--state", self.state, "--save-every", 1000, "--stats=json")
        run.stdin.write(numbered(range(1000)))
        for _ in range(3000):
            if self.state.exists():
                break
            time.sleep(0.01)
        looked = self.output("dedup", "--state", self.state, "--read-only",
                             stdin=numbered(range(998, 1003)))
        self.assertEqual(looked, numbered(range(1000, 1003)))
        _, said = run.communicate(numbered(range(1000, 5500)), timeout=60)
        self.assertEqual(json.loads(said)["saves"], 6)  # 5 on the way, and at the end
        self.assertEqual(self.output("dedup", "--state", self.state,
                                     stdin=numbered(range(5498, 5502))), numbered((5500, 5501)))

    def test_is_saved_as_often_as_asked_for_every_number_of_threads(self):
        for way in ways(shards=(1,)):
            self.state.unlink(missing_ok=True)
            said = self.done("dedup", *LARGE, *way, "--state", self.state, "--save-every", "1K",
                             "--stats=json", stdin=numbered(range(3500))).stderr
            self.assertEqual(json.loads(said)["saves"], 4, way)

    def test_is_saved_after_a_while(self):
        run = started(*LARGE, "--state", self.state, "--save-every", "0.2s", "--stats=json")
        run.stdin.write(b"a\n")
        for _ in range(3000):  # nothing more comes, and it is saved all the same
            if self.state.exists():
                break
            time.sleep(0.01)
        self.assertTrue(self.state.exists())
        _, said = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0)
        self.assertGreaterEqual(json.loads(said)["saves"], 2)

    def test_of_a_complete_job_is_left_alone_and_changed_inputs_are_told(self):
        lines, output = self.file("lines", b"a\nb\na\n"), self.folder / "output"
        job = ["dedup", *LARGE, "--state", self.state, "--resume", "-o", output, lines]
        self.done(*job)
        state = self.state.read_bytes()
        again = self.done(*job)
        self.assertIn(b"nothing is left to do", again.stderr)
        for changed in (b"a\nb\na\nc\n", b"a\nb\nc\n", b""):
            lines.write_bytes(changed)
            self.refused(1, "its inputs have changed since", *job)
        self.assertEqual((output.read_bytes(), self.state.read_bytes()), (b"a\nb\n", state))
        # Written to another file it is another job, which knows what the first one knew.
        lines.write_bytes(b"b\nc\n")
        self.done(*job[:-3], "-o", self.folder / "other", lines)
        self.assertEqual((self.folder / "other").read_bytes(), b"c\n")

    def test_survives_a_signal_that_comes_twice_at_once(self):
        run = subprocess.Popen([WEIR, "dedup", "-S", "64M", "--state", str(self.state)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        run.stdin.write(b"a\n")
        run.stdin.flush()
        self.assertEqual(run.stdout.readline(), b"a\n")
        run.send_signal(signal.SIGTERM)
        run.send_signal(signal.SIGTERM)
        run.wait(timeout=60)  # with its input open: an end of input would be a reason to end too
        _, said = run.communicate()
        self.assertEqual((run.returncode, said.count(b"the state is saved")), (-signal.SIGTERM, 1))
        self.done("inspect", self.state)

    def test_is_saved_at_intervals_that_make_sense(self):
        for good in ("30s", "5min", "2h", "0.5h", "1d", "1000", "10K", "5M", "1G"):
            self.dedup(b"a\n", "--state", self.state, f"--save-every={good}")
        before = self.state.read_bytes()
        for wrong in ("5m", "x", "0", "0s", "-1", "1.5", "s", "inf", "infs", "nan", "nans", "1e3",
                      "5 min", "30sec", "+5", "1k", "99999999999999999999999", "999999999999G"):
            self.refused(2, f"'{wrong}' is not an interval; write a time, as in 30s, 5min, 2h or 1d, "
                            "or a number of records", "dedup", "--state", self.state, "--save-every",
                         wrong, stdin=b"b\n")
        self.refused(2, "--save-every: '' is not a value", "dedup", "--state", self.state,
                     "--save-every", "")
        self.refused(2, "--save-every needs --state", "dedup", "--save-every", "5min")
        self.assertEqual(self.state.read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
