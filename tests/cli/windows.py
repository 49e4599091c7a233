"""weir dedup --window: beside an exact window that is kept here, record by record."""
import datetime
import json
import random
import re
import subprocess
import time
import unittest

from support.command import WEIR, CommandTest, weir
from support.exact import terminated

DAY = 86_400_000_000  # microseconds


def event_clock(times, length):
    """Of each record where the clock stands when it is judged, and whether it leapt there."""
    now, doubt = None, 0
    for time in times:
        leap = False
        if now is None:
            now = time
        elif abs(time - now) <= max(length, 7 * DAY):
            doubt = max(doubt - 1, 0)
            now = max(now, time)
        else:
            doubt += 1
            if doubt == 10:
                leap, now, doubt = True, time, 0
        yield now, leap


class Judged:
    """Counts what marks say against the exact window."""

    def __init__(self, keys, clock, marks, length, reach, kind, refresh=True):
        """The clock as event_clock() gives it; beyond `reach` a key can be known by chance only."""
        self.missed = self.must = self.wrong = self.unknown = 0
        last, unclear = {}, set()
        for key, (now, leap), mark in zip(keys, clock, marks, strict=True):
            if leap:  # what was before may be known, or not
                unclear |= last.keys()
                last.clear()
            met = last.get(key)
            if kind == "landmark":
                certain = possible = met is not None and met // length == now // length
            else:
                certain = met is not None and now - met <= length
                possible = met is not None and now - met <= reach
            if certain:
                self.must += 1
                self.missed += mark == 0
            elif not possible and key not in unclear:
                self.unknown += 1
                self.wrong += mark == 1
            if refresh or mark == 0:
                last[key] = now
                unclear.discard(key)

    def check(self, test, fpr, about):
        test.assertGreater(self.must, 500, about)
        test.assertGreater(self.unknown, 500, about)
        test.assertEqual(self.missed, 0, about)
        error = (fpr * (1 - fpr) / self.unknown) ** 0.5
        test.assertLessEqual(self.wrong / self.unknown, fpr + 3 * error, about)


def structure(stats):
    return {name: value for name, value in
            (item.split("=") for item in stats["parameters"].split(","))}


class WindowTest(CommandTest):
    def marks(self, text, *arguments):
        """Marks of the good records, and the statistics."""
        result = self.done("dedup", "--mark", "--seed", 3, "-q", "--stats=json", *arguments,
                           stdin=text)
        stats = json.loads(result.stderr)
        return [int(line[:1]) for line in result.stdout.splitlines()], stats

    def reach(self, stats, length, kind):
        """How far back a key can be known for other reasons than chance."""
        if kind == "jumping":
            return 2 * length
        shape = structure(stats)
        steps = int(shape["l"]) + int(shape["k"])
        return (steps + 1) * -(-length // int(shape["l"]))

    def stream(self, count, seed=1):
        """Keys that come back at all distances, and as many that never do."""
        draw = random.Random(seed)
        fresh = iter(range(10**6, 10**7))
        return [next(fresh) if draw.random() < 0.4 else
                int(draw.paretovariate(0.5)) % 4000 for _ in range(count)]

    def every_way(self, text, shards, *arguments):
        """The same marks for every number of threads and chunk size."""
        given = [self.marks(text, "--shards", shards, "-j", threads, "--chunk", chunk, *arguments)
                 for threads, chunk in ((1, "256K"), (1, 100), (2, 1000), (4, 100), (4, "256K"))]
        for marks, _ in given:
            self.assertTrue(marks == given[0][0], (shards, arguments))
        return given[0]


class Records(WindowTest):
    def test_no_repeat_within_the_window_is_missed_and_those_beyond_are_new(self):
        keys = self.stream(30_000)
        text = terminated(b"%d" % key for key in keys)
        clock = [(i, False) for i in range(len(keys))]
        for kind in ("sliding", "jumping", "landmark"):
            for refresh in (True, False):
                for shards in (1, 4):
                    for length, fpr in ((1000, 0.01), (333, 0.05)):
                        given = ["--window", length, "--window-kind", kind, "--fpr", fpr]
                        given += [] if refresh else ["--no-refresh"]
                        marks, stats = self.every_way(text, shards, *given)
                        reach = 0 if kind == "landmark" else self.reach(stats, length, kind)
                        Judged(keys, clock, marks, length, reach, kind, refresh).check(
                            self, fpr, (given, shards))

    def test_bad_records_do_not_count(self):
        text = b"a 1\n" + b"bad\n" * 50 + b"b 1\nb 1\na 1\n"
        self.assertEqual(self.output("dedup", "-k", 2, "--window", 2, "--on-bad", "drop", "-q",
                                     stdin=text), b"a 1\n")

    def test_with_more_memory_the_fpr_is_lower(self):
        small, large = (self.marks(b"a\n", "--window", 1000, *more)[1]
                        for more in ([], ["-S", "64K"]))
        self.assertLess(small["memory"], large["memory"])
        self.assertLessEqual(large["memory"], 65536)

    def test_short_ones_are_as_short_as_they_say(self):
        for length in (1, 2, 3, 5, 40, 63, 64, 65, 100):
            for kind, most in (("sliding", 1.5 * length + 15), ("jumping", 2 * length)):
                for distance, mark in ((length, 1), (int(most) + 1, 0)):
                    between = [b"%d" % i for i in range(distance - 1)]
                    text = terminated([b"a", *between, b"a"])
                    self.assertEqual(self.marks(text, "--window", length, "--window-kind", kind,
                                                "--fpr", 0.0001)[0][-1], mark,
                                     (length, kind, distance))

    def test_a_window_of_one_record(self):
        for kind in ("sliding", "jumping"):
            self.assertEqual(self.output("dedup", "--window", 1, "--window-kind", kind,
                                         stdin=b"a\na\na\nb\nb\n"), b"a\nb\n")
        self.assertEqual(self.output("dedup", "--window", 1, "--window-kind", "landmark",
                                     stdin=b"a\na\nb\nb\n"), b"a\na\nb\nb\n")


def rfc3339(draw, micros):
    minutes = draw.choice([0, 0, 60, -330, 765])
    zone = datetime.timezone(datetime.timedelta(minutes=minutes))
    shown = datetime.datetime.fromtimestamp(micros // 10**6, zone).replace(microsecond=micros % 10**6)
    return shown.isoformat().replace("+00:00", "Z")


class EventTime(WindowTest):
    length = 600 * 10**6

    def times(self, count, draw, gap=700_000):
        """Mostly in order, some late; a few from broken clocks, and a silence of nine days."""
        now, times = 1_790_000_000 * 10**6, []
        for i in range(count):
            now += draw.randrange(gap * 2)
            if i == count // 2:
                now += 9 * DAY
            late = draw.randrange(self.length // 2) if draw.random() < 0.1 else 0
            broken = draw.choice([4 * 365 * DAY, -9 * 365 * DAY]) if draw.random() < 0.002 else 0
            times.append(now - late + broken)
        burst = count // 4
        for i in range(burst, burst + 15):  # a burst that is believed, until the others come
            times[i] = 2_000_000_000 * 10**6 + i
        return times

    def test_no_repeat_within_the_window_is_missed_and_those_beyond_are_new(self):
        draw = random.Random(2)
        keys = self.stream(30_000, 2)
        times = self.times(len(keys), draw)
        clock = list(event_clock(times, self.length))
        self.assertEqual(sum(leap for _, leap in clock), 3)
        text = terminated(b"%d %s" % (key, rfc3339(draw, time).encode())
                          for key, time in zip(keys, times))
        for kind in ("sliding", "jumping", "landmark"):
            for refresh in (True, False):
                for shards in (1, 4):
                    given = ["-k", 1, "--time", 2, "--window", "10min", "--window-kind", kind,
                             "--fpr", 0.01, "-n", 2000]
                    given += [] if refresh else ["--no-refresh"]
                    marks, stats = self.every_way(text, shards, *given)
                    reach = 0 if kind == "landmark" else self.reach(stats, self.length, kind)
                    Judged(keys, clock, marks, self.length, reach, kind, refresh).check(
                        self, 0.01, (given, shards))
                    highest, late = None, 0
                    for time, (now, _) in zip(times, clock):
                        late += highest is not None and time < highest
                        highest = now
                    self.assertEqual(stats["late"], late)
                    self.assertGreaterEqual(stats["doubted"], 10)

    def test_stands_in_a_field_a_column_or_a_member(self):
        moments = [0, 10, 70, 200]  # seconds
        forms = [lambda s: b"%d" % (1_790_000_000 + s),
                 lambda s: b"%d.250" % (1_790_000_000 + s),
                 lambda s: b"%d" % ((1_790_000_000 + s) * 1000),
                 lambda s: b"%d" % ((1_790_000_000 + s) * 10**6),
                 lambda s: b"%d" % ((1_790_000_000 + s) * 10**9),
                 lambda s: rfc3339(random.Random(s), (1_790_000_000 + s) * 10**6).encode(),
                 lambda s: b"2026-11-16 00:%02d:%02d" % divmod(s, 60),
                 lambda s: b"2026-11-16t00:%02d:%02d.5z" % divmod(s, 60)]
        for form in forms:
            stamps = [form(s) for s in moments]
            for text, options in (
                    (b"".join(b"a;%s\n" % t for t in stamps), ["-t", ";", "-k", 1, "--time", 2]),
                    (b"when,k\n" + b"".join(b'"%s",a\n' % t for t in stamps),
                     ["--column", "k", "--time", "when"]),
                    (b"".join(b'{"k":1,"t":["%s"]}\n' % t for t in stamps),
                     ["--pointer", "/k", "--time", "/t/0"])):
                marks, _ = self.marks(text, *options, "--window", "60s")
                self.assertEqual(marks[-4:], [0, 1, 1, 0], (form(0), options))
        numbers = b"".join(b'{"k":1,"t":%d}\n' % (1_790_000_000 + s) for s in moments)
        self.assertEqual(self.marks(numbers, "--pointer", "/k", "--time", "/t", "--window",
                                    "1min")[0], [0, 1, 1, 0])

    def test_that_cannot_be_read_makes_a_record_bad(self):
        for wrong in ("x", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-01-01",
                      "2026-01-01T24:00:00Z", "2026-01-01T00:00:00+1:00", "2026-01-01T00:00Z",
                      "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Zz", "nan", "inf", "1e300",
                      "-1e30", "12 ", "0x10"):
            result = self.done("dedup", "-t", ";", "-k", 1, "--time", 2, "--window", "1h", stdin=
                               b"a;1790000000\nb;%s\na;1790000001\n" % wrong.encode())
            self.assertEqual(result.stdout, b"a;1790000000\nb;%s\n" % wrong.encode())
            self.assertIn(b"record 2: its time cannot be read", result.stderr, wrong)
        result = self.done("dedup", "-t", ";", "-k", 1, "--time", 2, "--window", "1h", "--on-bad",
                           "drop", stdin=b"a;1790000000\nb\n")
        self.assertEqual(result.stdout, b"a;1790000000\n")
        self.assertIn(b"record 2: it has no time", result.stderr)
        result = self.done("dedup", "--pointer", "/k", "--time", "/t", "--window", "1h", stdin=
                           b'{"k":1,"t":null}\n{"k":1}\n{"k":1,"t":true}\n')
        self.assertIn(b"3 records without a key", result.stderr)

    def test_reset_every_is_a_landmark(self):
        lines = b"".join(b"%d\n" % (i % 7) for i in range(100))
        landmark = self.output("dedup", "--window", 10, "--window-kind", "landmark", stdin=lines)
        self.assertEqual(self.output("dedup", "--reset-every", 10, stdin=lines), landmark)
        self.assertEqual(len(landmark.split()), 70)
        state = self.folder / "reset"
        self.output("dedup", "--reset-every", 10, "--state", state, stdin=lines)
        self.output("dedup", "--window", 10, "--window-kind", "landmark", "--state", state, stdin=b"")
        self.refused(2, "does not agree with --reset-every 11", "dedup", "--reset-every", 11,
                     "--state", state)
        sliding = self.folder / "sliding"
        self.output("dedup", "--window", 10, "--state", sliding, stdin=lines)
        self.refused(2, "does not agree with --reset-every 10", "dedup", "--reset-every", 10,
                     "--state", sliding)

    def test_a_landmark_of_a_day_is_midnight_in_utc(self):
        text = (b"a 2026-11-15T23:59:59Z\na 2026-11-16T00:00:00Z\n"
                b"a 2026-11-16T23:59:59.999999Z\na 2026-11-17T01:00:00+01:00\n")
        self.assertEqual(self.marks(text, "-k", 1, "--time", 2, "--window", "24h",
                                    "--window-kind", "landmark")[0], [0, 0, 1, 0])

    def test_an_undersized_filter_warns(self):
        text = terminated(b"%d %d" % (i, 1_790_000_000) for i in range(20_000))
        said = self.done("dedup", "-k", 1, "--time", 2, "--window", "1h", "-S", "16K",
                         stdin=text).stderr.decode()
        self.assertRegex(said, r"\Aweir: warning: .*--fpr 0.001; give more memory \(-S\) or a "
                               r"shorter window\n\Z")


class ArrivalTime(WindowTest):
    def test_a_key_is_forgotten_when_it_was_silent(self):
        with open(self.folder / "out", "wb") as out:
            run = subprocess.Popen([WEIR, "dedup", "--window", "0.5s", "--mark"], bufsize=0,
                                   stdin=subprocess.PIPE, stdout=out)
            for pause in (0, 2.5):
                time.sleep(pause)
                run.stdin.write(b"a\na\n")  # read together, so that no time passes in between
            run.stdin.close()
            self.assertEqual(run.wait(timeout=60), 0)
        self.assertEqual((self.folder / "out").read_bytes(), b"0\ta\n1\ta\n0\ta\n1\ta\n")

    def test_time_between_runs_counts(self):
        state = self.folder / "state"
        self.assertEqual(self.output("dedup", "--window", "0.5s", "-S", "64K", "--state", state,
                                     stdin=b"a\n"), b"a\n")
        time.sleep(2.5)
        self.assertEqual(self.output("dedup", "--state", state, stdin=b"a\na\n"), b"a\n")


class State(WindowTest):
    def setUp(self):
        super().setUp()
        self.state = self.folder / "state"

    def test_goes_on_as_if_it_had_never_stopped(self):
        draw = random.Random(4)
        keys = self.stream(9000, 4)
        times = [1_790_000_000 + i // 3 - draw.randrange(50) for i in range(len(keys))]
        lines = [b"%d %d\n" % pair for pair in zip(keys, times)]
        for kind in ("sliding", "jumping", "landmark"):
            for window in (["--window", 700], ["--window", "4min", "--time", 2, "-n", 1000]):
                for shards in (1, 3):
                    making = ["-k", 1, *window, "--window-kind", kind, "--seed", 2, "--shards",
                              shards, "-q"]
                    whole = self.output("dedup", *making, stdin=b"".join(lines))
                    self.state = self.folder / f"{kind}{len(window)}{shards}"
                    again = ["-k", 1, *(["--time", 2] if len(window) > 2 else [])]
                    pieces = b""
                    for at in range(0, len(lines), 1234):
                        options = making if at < 3000 else again
                        pieces += self.output("dedup", *options, "-q", "--state", self.state,
                                              stdin=b"".join(lines[at:at + 1234]))
                    self.assertTrue(pieces == whole, making)

    def test_is_told_by_inspect(self):
        self.output("dedup", "--window", "24h", "--time", 2, "-k", 1, "-S", "64K", "--state",
                    self.state, stdin=b"a 2026-11-16T00:00:00Z\n")
        told = self.output("inspect", self.state).decode()
        self.assertRegex(told, r"(?m)^window +sliding, 24 h by the time of the records; no repeat "
                               r"is missed within 24 h, none is found for certain beyond [\d.]+ h$")
        self.assertRegex(told, r"(?m)^clock +2026-11-16 00:00:00 UTC$")
        self.assertNotIn("job", told)

    def test_is_refused_when_the_options_ask_for_something_else(self):
        self.output("dedup", "--window", "1K", "-S", "64K", "--state", self.state, stdin=b"a\n")
        for options in (["--window", 999], ["--window", "1h"], ["--no-refresh", "--window", "1K"],
                        ["--window", 1000, "--window-kind", "jumping"], ["-f", "weir"]):
            self.refused(2, "does not agree with", "dedup", "--state", self.state, *options)
        self.refused(2, "--time is for a window of time", "dedup", "--state", self.state, "--time",
                     1)
        for same in (["--window", 1000], ["--window", "1K", "--window-kind", "sliding"], [],
                     ["-f", "auto"], ["-f", "apbf"]):
            self.output("dedup", "--state", self.state, *same, stdin=b"a\n")
        other = self.folder / "other"
        self.output("dedup", "-S", "64K", "--state", other, stdin=b"a\n")
        self.refused(2, "holds no window, which does not agree with --window 5", "dedup", "--state",
                     other, "--window", 5)
        times = self.folder / "times"
        self.output("dedup", "--window", "1h", "--time", 1, "-S", "64K", "--state", times,
                    stdin=b"1790000000\n")
        self.refused(2, "say where it stands, with --time", "dedup", "--state", times)

    def test_read_only_looks_at_the_window_as_it_was_saved(self):
        self.output("dedup", "--window", 10, "--state", self.state, stdin=b"a\nb\n")
        before = self.state.read_bytes()
        many = terminated(b"%d" % i for i in range(100))
        self.assertEqual(self.output("dedup", "--state", self.state, "--read-only",
                                     stdin=many + b"a\n"), many)
        self.assertEqual(self.state.read_bytes(), before)


class Refusals(WindowTest):
    def test_say_what_is_wrong(self):
        for saying, *arguments in [
            ("'10m' is not an interval; write a time, as in 30s, 5min", "--window", "10m"),
            ("is not an interval", "--window", "0"),
            ("is not an interval", "--window", "1.5"),
            ("is not an interval", "--window", "-5s"),
            ("--window needs a value", "--window"),
            ("1000 years", "--window", "1000000d"),
            ("--window-kind: 'round' is none of sliding, jumping, landmark", "--window", "5",
             "--window-kind", "round"),
            ("--window-kind needs --window", "--window-kind", "jumping"),
            ("--no-refresh needs --window", "--no-refresh"),
            ("--time is for a window of time", "--time", "1"),
            ("--time is for a window of time", "--time", "1", "--window", "5"),
            ("no field for --time", "--fixed", "4", "--time", "1", "--window", "1h"),
            ("'/x' is not the number of a field", "--time", "/x", "--window", "1h"),
            ("'x' is not a JSON pointer", "--json", "--time", "x", "--window", "1h"),
            ("a sliding window cannot be held by bloom; leave -f out, or choose apbf", "--window",
             "5", "-f", "bloom"),
            ("a jumping window cannot be held by apbf; leave -f out, or choose a2", "--window",
             "5", "-f", "apbf", "--window-kind", "jumping"),
            ("a landmark window cannot be held by weir", "--window", "5", "-f", "weir",
             "--window-kind", "landmark"),
            ("there is no structure 'nope'", "--window", "5", "-f", "nope"),
            ("--window says what g is", "--window", "5", "-f", "apbf:g=7"),
            ("--window says what refresh is", "--window", "5", "-f", "apbf:k=7,refresh=no"),
            ("-c counts all that came", "--window", "5", "-c"),
            ("above 0 and below 1", "--window", "5", "--fpr", "0"),
            ("above 0 and below 1", "--window", "5", "--fpr", "1.5"),
            ("needs at least", "--window", "5", "-S", "100"),
        ]:
            self.refused(2, saying, "dedup", *arguments)

    def test_name_sizes_that_do(self):
        """A window that does not fit: the longest one that does, and the memory that this needs."""
        for kind in ("sliding", "jumping", "landmark"):
            for shards in (1, 4):
                given = ["--window-kind", kind, "--fpr", 0.01, "--shards", shards]
                result = weir("dedup", "--window", "1M", "-S", "256K", *given)
                said = re.fullmatch(
                    r"weir: [a-z0-9-]+ with an FPR of 0.01 in 262144 bytes holds a window of (\d+) "
                    r"records; a window of (\d+) records needs (\d+) bytes\n(?:.*\n)?",
                    result.stderr.decode())
                self.assertTrue(said, result.stderr)
                self.assertEqual(result.returncode, 2)
                held, asked, needed = map(int, said.groups())
                self.assertAlmostEqual(asked, 10**6, delta=2 * shards)
                self.assertGreater(held, 10_000)
                self.output("dedup", "--window", held, "-S", "256K", *given)
                self.refused(2, "holds a window", "dedup", "--window", int(held * 1.05), "-S",
                             "256K", *given)
                self.output("dedup", "--window", "1M", "-S", needed, *given)
                self.refused(2, "holds a window", "dedup", "--window", "1M", "-S",
                             int(needed * 0.95), *given)

    def test_more_than_the_machine_has(self):
        self.refused(1, "ask for less", "dedup", "--window", "100000G")


if __name__ == "__main__":
    unittest.main()
