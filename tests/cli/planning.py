"""weir plan: the rest from what is known, the line that runs it, and one sentence where nothing fits."""
import json
import random
import re
import shlex
import unittest

from support.command import CommandTest, weir


class Planning(CommandTest):
    def plan(self, *arguments, stdin=b""):
        return json.loads(self.output("plan", "--json", "--no-rate", *arguments, stdin=stdin))

    def test_keys_and_fpr_give_the_memory(self):
        plan = self.plan("-n", 1_000_000, "--fpr", 1e-4, "--machine", "1G")
        self.assertEqual(plan["plan"]["filter"], "blocked-bloom")
        self.assertEqual(plan["plan"]["fnr"], 0)
        self.assertLess(plan["plan"]["fpr"], 1e-4)
        self.assertLess(19 * 1e6 / 8, plan["plan"]["memory"])
        self.assertLess(plan["plan"]["memory"], 32 * 1e6 / 8)

    def test_memory_and_keys_give_the_fpr(self):
        plan = self.plan("-S", "1M", "-n", 500_000)
        self.assertIn("bloom", plan["plan"]["filter"])
        self.assertLess(plan["plan"]["fpr"], 0.001)

    def test_memory_fpr_and_stream_give_the_fnr(self):
        plan = self.plan("-S", "64K", "--fpr", 0.01, "--stream", "zipf:U=1e6,s=1", "--records", "10M")
        self.assertEqual(plan["plan"]["filter"], "weir")
        self.assertTrue(0.05 < plan["plan"]["fnr"] < 0.5)

    def test_far_too_many_keys_are_no_trouble(self):
        for stream in ("uniform:U=1e15", "zipf:U=1e15,s=0.2", "pareto:least=1e9,shape=1,again=0.5"):
            plan = self.plan("-S", "64K", "--fpr", 0.01, "--stream", stream)
            self.assertGreater(plan["plan"]["fnr"], 0.98)

    def test_fnr_and_stream_give_the_memory(self):
        stream = ["--stream", "geometric:mean=20000,again=0.3"]
        plan = self.plan("--fnr", 0.1, *stream)
        self.assertTrue(0.08 < plan["plan"]["fnr"] <= 0.1)
        less = self.plan("-S", plan["plan"]["memory"] * 3 // 4, *stream)
        self.assertGreater(less["plan"]["fnr"], 0.1)

    def test_memory_and_fnr_give_the_fpr(self):
        plan = self.plan("-S", "64K", "--fnr", 0.3, "--stream", "zipf:U=1e5,s=1")
        self.assertTrue(0 < plan["plan"]["fpr"] < 0.3)
        self.assertLessEqual(plan["plan"]["fnr"], 0.3)

    def test_a_window_is_for_apbf(self):
        plan = self.plan("--window", 10000, "--fpr", 0.01)
        self.assertEqual(plan["plan"]["filter"], "apbf")
        self.assertEqual(plan["plan"]["fnr"], 0)
        self.assertEqual(self.plan("--window", 10000, "-S", "64K")["plan"]["filter"], "apbf")

    def test_the_memory_for_a_window_is_enough_for_it(self):
        for window in (1000, 77_777, 1_000_000):
            for fpr in (0.1, 0.001, 1e-6):
                plan = self.plan("--window", window, "--fpr", fpr)
                again = self.plan("--window", window, "--fpr", fpr, "-S", plan["plan"]["memory"])
                self.assertEqual(again["plan"]["spec"], plan["plan"]["spec"])

    def test_what_it_says_to_run_runs(self):
        for arguments in (["-n", 1000], ["-S", "64K"], ["--window", 5000, "--fpr", 0.01],
                          ["-S", "64K", "--window", 5000],
                          ["-S", "64K", "--stream", "uniform:U=1e6"]):
            line = shlex.split(self.plan(*arguments)["run"])
            self.assertEqual(line[0], "weir")
            self.assertEqual(self.output(*line[1:], stdin=b"a\nb\na\n"), b"a\nb\n")

    def test_the_run_has_the_memory_and_parameters_of_the_plan(self):
        for i, arguments in enumerate((["-S", "64K", "--stream", "uniform:U=1e6", "--fpr", 0.2],
                                       ["--window", "77K", "--fpr", 0.003])):
            plan = self.plan(*arguments)
            run = shlex.split(plan["run"])
            state = self.folder / f"state{i}"
            self.output(*run[1:], "--state", state, stdin=b"a\n")
            said = self.output("inspect", state).decode()
            for parameter in plan["plan"]["spec"].split(":")[1].split(","):
                if not parameter.startswith("g="):  # the run's clock moves a window's filter on
                    self.assertIn(parameter, said)

    def test_a_sample_foretells_the_run(self):
        draws = random.Random(1)
        lines = [b"user%d,%d\n" % (min(int(draws.paretovariate(0.6)), 10**6), i % 7)
                 for i in range(200_000)]
        sample = self.file("sample.csv", b"user,x\n" + b"".join(lines))
        plan = self.plan("-S", "24K", "--fpr", 0.01, "--sample", sample, "--column", "user")
        self.assertEqual(plan["sample"]["records"], 200_000)
        keys = [line.split(b",")[0] for line in lines]
        self.assertEqual(plan["sample"]["distinct"], len(set(keys)))
        run = shlex.split(plan["run"])
        marked = self.output(*run[1:], "--mark", "--seed", 3, "--column", "user", sample)
        met, missed, repeats = set(), 0, 0
        for row in marked.splitlines()[1:]:
            new, key = row[:1] == b"0", row[2:].split(b",")[0]
            repeats += key in met
            missed += key in met and new
            met.add(key)
        error = (plan["plan"]["fnr"] / repeats) ** 0.5
        self.assertAlmostEqual(plan["plan"]["fnr"], missed / repeats,
                               delta=max(0.1 * missed / repeats, 3 * error))

    def test_text_has_the_line_the_source_and_the_speed(self):
        said = self.output("plan", "-S", "64K", "--stream", "uniform:U=1e6").decode()
        for part in ("\nrun       weir dedup -f ", "\nfrom      ", "\nspeed     ", "\nFNR       ",
                     " million records a second", "\nblocked-bloom "):
            self.assertIn(part, said)

    def test_a_plan_for_several_machines(self):
        said = self.output("plan", "-n", 10**11, "--fpr", 1e-6, "--machine", "64G").decode()
        self.assertRegex(said, r"\nmachines  \d+ of 64.0 GiB: each owns 1/\d+ of the digests")

    def test_a_figure(self):
        figure = self.folder / "figure.svg"
        self.output("plan", "-S", "64K", "--stream", "zipf:U=1e5,s=1", "--records", "1M", "--no-rate",
                    "--plot", figure)
        svg = figure.read_text()
        self.assertRegex(svg, r"\A<svg [^>]*>")
        self.assertIn("FNR: repeats let through", svg)
        self.assertGreaterEqual(len(re.findall("<path ", svg)), 3)
        self.refused(1, "cannot write", "plan", "-S", "64K", "--no-rate", "--plot",
                     self.folder / "missing" / "figure.svg")

    def test_what_is_impossible_is_refused_with_what_is_nearest(self):
        for saying, *arguments in [
            ("nothing to plan from",),
            ("--fpr 0 is no rate; the nearest possible", "-S", "1M", "--fpr", 0),
            ("--fpr 1.5 is no rate; the nearest possible", "-S", "1M", "--fpr", 1.5),
            ("the lowest is 1e-9", "-S", "1M", "--fpr", "1e-15"),
            ("--fnr 2 is no rate", "-S", "1M", "--fnr", 2),
            ("holds a window of", "-S", "64K", "--window", "1M", "--fpr", 0.001),
            ("the least is", "-S", "100"),
            ("the most is 64G", "-S", "65G", "--machine", "64G"),
            ("the lowest is 0.", "-S", "64K", "--fnr", 0.01, "--fpr", 0.001, "--stream",
             "zipf:U=1e6,s=0.9"),
            ("without end", "--fnr", 0, "--stream", "fixed:d=100,again=0.5"),
            ("the lowest FPR is", "-S", "64K", "-n", "1M", "--fnr", 0),
            ("give --stream, --sample or --keys", "-S", "64K", "--fnr", 0.1),
            ("'normal' is not a stream; there are uniform", "-S", "1M", "--stream", "normal:m=1"),
            ("the stream lacks its parameter s", "-S", "1M", "--stream", "zipf:U=100"),
            ("--window and --keys cannot be given together", "-n", 5, "--window", 5),
            ("-S must be above 0", "-S", 0),
            ("--key needs --sample", "-S", "1M", "-k", 1),
            ("'ab' is not a separator", "-S", "64K", "--sample", "-", "-k", 1, "-t", "ab"),
        ]:
            self.refused(2, saying, "plan", *arguments)
        self.refused(2, "no record", "plan", "-S", "64K", "--sample", "-")
        self.refused(1, "cannot open", "plan", "-S", "64K", "--sample", self.folder / "missing")


if __name__ == "__main__":
    unittest.main()
