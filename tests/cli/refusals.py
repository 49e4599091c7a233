"""What cannot be done is refused with one sentence: exit 2 for usage, 1 for the run."""
import subprocess
import unittest

from support.command import GOLDEN, WEIR, CommandTest, catalogue, weir


class Refusals(CommandTest):
    def test_usage(self):
        for saying, *arguments in [
            ("a subcommand is missing",),
            ("there is no subcommand 'bogus'; there are dedup, ", "bogus"),
            ("unknown option --bogus\n", "--bogus"),
            ("unknown option --bogus\n", "dedup", "--bogus"),
            ("unknown option --bogus\n", "dedup", "--bogus=3"),
            ("unknown option --filtre; did you mean --filter?", "dedup", "--filtre=stable"),
            ("unknown option --mem; did you mean --memory?", "dedup", "--mem", "64K"),
            ("unknown option --verison; did you mean --version?", "--verison"),
            ("unknown option --bo?us\n", "dedup", "--bo\x1bus"),
            ("unknown option -x\n", "dedup", "-qx"),
            ("--filter needs a value: SPEC", "dedup", "--filter"),
            ("--filter needs a value: SPEC", "dedup", "-qf"),
            ("--mark takes no value", "dedup", "--mark=3"),
            ("'nope'; there are weir, bloom", "dedup", "-f", "nope"),
            ("''", "dedup", "-f", ""),
            ("reservoir is a sample", "dedup", "-f", "reservoir"),
            ("-c needs a sketch", "dedup", "-c", "-f", "bloom"),
            ("no parameter 'zz'; it has m, k", "dedup", "-f", "bloom:zz=1"),
            ("name=value", "dedup", "-f", "bloom:k"),
            ("name=value", "dedup", "-f", "bloom:k="),
            ("given twice", "dedup", "-f", "bloom:k=1,k=2"),
            ("k='three' is not a whole number", "dedup", "-f", "bloom:k=three"),
            ("k='-1'", "dedup", "-f", "bloom:k=-1"),
            ("between 1 and", "dedup", "-f", "bloom:k=0"),
            ("m='99999999999999999999'", "dedup", "-f", "bloom:m=99999999999999999999"),
            ("must be one of: tables, text", "dedup", "-f", "rsbf:mode=prose"),
            ("needs at least", "dedup", "-S", "100"),
            ("needs at least", "dedup", "-S", "64K", "--shards", "65536"),
            ("more than the budget", "dedup", "-S", "64K", "-f", "bloom:m=1000000"),
            ("above 0", "dedup", "-S", "0"),
            ("'much' is not a size", "dedup", "-S", "much"),
            ("'1e3' is not a size", "dedup", "-S", "1e3"),
            ("'-1' is not a size", "dedup", "--memory=-1"),
            ("'1.5' is not a size", "dedup", "-S", "1.5"),
            ("'1MB' is not a size", "dedup", "-S", "1MB"),
            ("--memory: '' is not a size", "dedup", "--memory="),
            ("--memory: '' is not a size", "dedup", "--memory=", "1M"),
            ("more than any machine has", "dedup", "-S", "3000000G"),
            ("more than any machine has", "dedup", "-S", "9999999999G"),
            ("'few' is not a size", "dedup", "-n", "few"),
            ("above 0 and below 1", "dedup", "--fpr", "0"),
            ("above 0 and below 1", "dedup", "--fpr", "1"),
            ("above 0 and below 1", "dedup", "--fpr", "nan"),
            ("--fpr: 'low' is not a number", "dedup", "--fpr", "low"),
            ("between 1 and 65536", "dedup", "--shards", "0"),
            ("between 1 and 65536", "dedup", "--shards", "65537"),
            ("--shards: 'two' is not a whole number", "dedup", "--shards", "two"),
            ("--shards: '0x10' is not a whole number", "dedup", "--shards", "0x10"),
            ("--shards: 4294967297 is too large", "dedup", "--shards", "4294967297"),
            ("--seed: '-1' is not a whole number", "dedup", "--seed", "-1"),
            ("--seed: '18446744073709551616' is too large", "dedup", "--seed",
             "18446744073709551616"),
            ("--hash: 'md5' is none of xxh3, siphash", "dedup", "--hash", "md5"),
            ("'nope'", "filters", "nope"),
            ("FILE is missing", "inspect"),
            ("unexpected argument 'two'", "inspect", "one", "two"),
            ("--records: 1 is not between 1000 and 1000000000", "demo", "--records", "1"),
            ("no subcommand 'nope'", "man", "nope"),
            ("--folder and SUBCOMMAND cannot be given together", "man", "dedup", "--folder", "x"),
            ("'much' is not a size", "demo", "-S", "much"),
        ]:
            self.refused(2, saying, *arguments, stdin=b"a\n")

    def test_inputs_that_cannot_be_read(self):
        missing = self.folder / "missing"
        self.refused(1, f"cannot open {missing}: No such file", "dedup", missing)
        self.refused(1, f"cannot open {self.folder}: it is a directory", "dedup", self.folder)
        readable = self.file("readable", b"a\n")
        self.refused(1, f"cannot open {missing}", "dedup", readable, missing)


class State(CommandTest):
    def setUp(self):
        super().setUp()
        self.state = self.folder / "state"

    def dedup(self, stdin, *arguments):
        return self.output("dedup", "--state", self.state, *arguments, stdin=stdin)

    def test_goes_on_as_if_it_had_never_stopped(self):
        lines = [b"line %d\n" % (i * i % 6007) for i in range(6000)]
        for name in catalogue()["Filters"]:
            making = ["-S", "16K", "-f", name, "--shards", 2, "--seed", 1, "-q"]
            self.state = self.folder / name
            pieces = [self.dedup(b"".join(lines[at:at + 2000]), *making)
                      for at in range(0, 6000, 2000)]
            self.assertEqual(b"".join(pieces), self.output("dedup", *making, stdin=b"".join(lines)),
                             name)

    def test_needs_no_options_to_go_on(self):
        self.dedup(b"a\nb\n", "-S", "64K", "-f", "bloom")
        self.assertEqual(self.dedup(b"b\nc\na\n"), b"c\n")
        self.assertEqual(self.dedup(b"b\nd\na\n", "-f", "auto"), b"d\n")

    def test_is_for_the_owner_only(self):
        self.dedup(b"a\n", "-S", "64K")
        self.assertEqual(self.state.stat().st_mode & 0o777, 0o600)

    def test_the_same_command_goes_on_when_parameters_only_lead_to_others(self):
        making = ["-S", "64K", "-f", "rsbf:aim=fpr,pstar=0.2,FPRt=0.1"]
        self.dedup(b"a\n", *making)
        self.assertEqual(self.dedup(b"a\nb\n", *making), b"b\n")

    def test_is_refused_when_the_options_ask_for_something_else(self):
        self.dedup(b"a\n", "-S", "64K", "-f", "bloom:k=3", "--shards", 2, "--seed", 5)
        before = self.state.read_bytes()
        for options in (["-f", "stable"], ["-f", "bloom:k=4"], ["-S", "16K"], ["--shards", 3],
                        ["--hash", "siphash"], ["--seed", 6]):
            self.refused(2, "does not agree with", "dedup", "--state", self.state, *options,
                         stdin=b"a\nb\n")
        self.refused(2, "no parameter 'zz'", "dedup", "--state", self.state, "-f", "bloom:zz=1")
        self.assertEqual(self.state.read_bytes(), before)

    def test_is_refused_when_damaged_and_stays_as_it_is(self):
        self.dedup(b"a\n", "-S", "64K")
        whole = self.state.read_bytes()
        for damaged in (b"", whole[:-1], whole + b"x", whole[:5000] + b"?" + whole[5001:]):
            self.state.write_bytes(damaged)
            self.refused(1, str(self.state), "dedup", "--state", self.state, stdin=b"a\n")
            self.assertEqual(self.state.read_bytes(), damaged)

    def test_that_holds_a_sample_is_refused(self):
        self.state.write_bytes((GOLDEN / "reservoir.v1.weir").read_bytes())
        self.refused(2, "reservoir is a sample", "dedup", "--state", self.state, stdin=b"a\n")

    def test_cannot_be_a_folder_or_in_a_missing_one(self):
        self.refused(1, "not a file", "dedup", "--state", self.folder, stdin=b"a\n")
        self.state = self.folder / "missing" / "state"
        late = weir("dedup", "-S", "64K", "--state", self.state, stdin=b"a\n")
        self.assertEqual(late.returncode, 1)
        self.assertRegex(late.stderr.decode(), r"\Aweir: cannot write [^\n]*missing[^\n]*\n\Z")
        self.assertEqual(late.stdout, b"")

    def test_is_not_written_when_the_output_was_not(self):
        with open("/dev/full", "wb") as full:
            ended = subprocess.run([WEIR, "dedup", "-S", "64K", "--state", self.state],
                                   input=b"a\n", stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(ended.returncode, 1)
        self.assertFalse(self.state.exists())


if __name__ == "__main__":
    unittest.main()
