#!/usr/bin/env python3
"""Examples in the documents are true: every ```console block is run, its output compared.

A line "$ COMMAND" is run by bash in an empty folder of its document; the lines behind it are its
output. A line "..." stands for any lines. `./run` means the command under test. The C++ example is
the outside program that the install test builds.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["WEIR_SOURCE_DIR"])
WEIR = os.environ["WEIR"]
DOCUMENTS = [*SOURCE.glob("*.md"), *SOURCE.glob("docs/**/*.md"), *SOURCE.glob("*/README.md")]


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def examples(block):
    """(command, expected output) pairs."""
    pairs = []
    for line in block.splitlines():
        if line.startswith("$ "):
            pairs.append((line[2:], []))
        else:
            pairs[-1][1].append(line)
    return pairs


def fits(expected, output):
    pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in expected)
    return re.fullmatch(pattern, output) is not None


def run_document(path, folder):
    failures = count = 0
    for block in blocks(path.read_text(), "console"):
        for command, expected in examples(block):
            count += 1
            real = re.sub(r"(^|[|;'] *)\./run\b", rf"\1{WEIR}", command)
            done = subprocess.run(["bash", "-c", real], cwd=folder, capture_output=True, text=True,
                                  timeout=60)
            if done.returncode != 0 or not fits(expected, done.stdout):
                failures += 1
                print(f"{path.name}: $ {command}\nexit {done.returncode}\n{done.stdout}"
                      f"{done.stderr}instead of\n" + "\n".join(expected))
    return failures, count


def links_lead_somewhere(path):
    failures = 0
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
        if not (path.parent / target).exists():
            failures += 1
            print(f"{path.name}: there is no {target}")
    return failures


failures = ran = 0
for document in DOCUMENTS:
    with tempfile.TemporaryDirectory() as folder:
        failed, count = run_document(document, folder)
    failures += failed + links_lead_somewhere(document)
    ran += count
if ran < 5:
    failures += 1
    print(f"only {ran} examples found: the README must have some")

program = (SOURCE / "tests/install/main.cpp").read_text().split("\n", 1)[1]
if blocks((SOURCE / "README.md").read_text(), "cpp") != [program]:
    failures += 1
    print("README.md: the C++ example is not the program of tests/install/main.cpp")

print(f"{ran} examples in {len(DOCUMENTS)} documents, {failures} failures")
sys.exit(1 if failures else 0)
