#!/usr/bin/env python3
"""Follows "Add a structure in three steps" of CONTRIBUTING.md in a copy of the tree: the toy's own
files, one line, its golden file. Then the command, the laws and the loader's tests know it.

Nothing else changes, so nothing else is compiled: the list of structures, the toy, and the golden
test (which knows where the tree is) are linked with the objects of the build under test.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["WEIR_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["WEIR_BUILD_DIR"])
ADDED = ["src/filter/toy.cpp", "src/core/catalog.cpp"]


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


class AddStructure(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)
        self.tree = self.work / "tree"
        for part in ("include", "src", "tests"):
            shutil.copytree(SOURCE / part, self.tree / part)

    def compile(self, file, like=None):
        """As the build compiles it, or another file, but out of the copied tree."""
        wanted = str(SOURCE / (like or file))
        entry = next(e for e in json.loads((BUILD / "compile_commands.json").read_text())
                     if e["file"] == wanted)
        out = self.work / (file.replace("/", ".") + ".o")
        words = []
        for word in shlex.split(entry["command"]):
            if str(BUILD) not in word:
                word = word.replace(str(SOURCE), str(self.tree))
            words.append(word)
        words[words.index("-o") + 1] = str(out)
        words[words.index("-c") + 1] = str(self.tree / file)
        run(words, cwd=entry["directory"])
        return str(out)

    def link(self, target, output, objects, instead=()):
        command = run(["ninja", "-C", str(BUILD), "-t", "commands", target]).splitlines()[-1]
        for old, new in instead:
            self.assertIn(old, command)
            command = command.replace(old, new)
        place = f" -o {output} "
        self.assertIn(place, command)
        made = self.work / output
        command = command.replace(place, f" {' '.join(objects)} -o {made} ")
        run(["bash", "-c", command], cwd=BUILD)
        return made

    def test_three_steps(self):
        for name in ("toy.hpp", "toy.cpp"):  # step 1
            shutil.copy(self.tree / "tests/fixtures/toy" / name, self.tree / "src/filter")
        with open(self.tree / "src/core/structures.def", "a") as list_of_all:  # step 2
            list_of_all.write("WEIR_STRUCTURE(toy)\n")
        objects = [self.compile(ADDED[0], like="src/filter/bloom.cpp"), self.compile(ADDED[1])]

        weir = self.link("weir-cli", "weir", objects)
        self.assertRegex(run([weir, "filters"]), r"(?m)^  toy ")
        self.assertEqual(run([weir, "dedup", "--filter", "toy:m=1000"], input="a\nb\na\n"), "a\nb\n")

        golden = self.compile("tests/golden/golden_test.cpp")
        tests = self.link("weir-tests", "weir-tests", objects, instead=[
            ("CMakeFiles/weir-tests.dir/tests/golden/golden_test.cpp.o", golden)])
        subprocess.run([tests, "--gtest_filter=*Golden*"], capture_output=True, timeout=500,
                       env={**os.environ, "WEIR_WRITE_GOLDEN": "1"})  # step 3
        self.assertTrue(list((self.tree / "tests/golden").glob("toy*")))
        log = run([tests, "--gtest_filter=*toy*:*Golden*"])
        held = re.findall(r"^\[       OK \].*toy", log, re.M)
        self.assertGreaterEqual(len(held), 25)


if __name__ == "__main__":
    unittest.main()
