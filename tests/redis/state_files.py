"""A filter built by the command line goes on in the server, and the other way round."""
import pathlib
import random
import subprocess
import tempfile

from support.server import WEIR, Server, dump_state, load_state, run_tests


def dedup(lines, *options):
    """Which lines are new, as weir dedup sees them."""
    done = subprocess.run([WEIR, "dedup", "--mark", "-q", *map(str, options)], check=True, stdout=subprocess.PIPE,
                          input="".join(f"{line}\n" for line in lines).encode())
    return [1 if mark.startswith(b"0") else 0 for mark in done.stdout.splitlines()]


def test_there_and_back():
    draw = random.Random(5)
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        c = server.client
        for number, words in enumerate((
                ("-f", "weir", "-S", "40K"), ("-f", "bloom", "-S", "40K"), ("-f", "stable", "-S", "20K"),
                ("-f", "rsbf", "-S", "20K"), ("-f", "qht", "-S", "20K", "--hash", "siphash"),
                ("-f", "weir", "-S", "3M", "--shards", "5"), ("--window", "800", "-S", "100K"),
                ("--window", "800", "-S", "100K", "--window-kind", "jumping"),
                ("--window", "800", "-S", "100K", "--window-kind", "landmark"))):
            key = f"k{number}"
            ours, theirs = pathlib.Path(folder, key), pathlib.Path(folder, key + "-all")
            parts = [[draw.randrange(6000) for _ in range(4000)] for _ in range(3)]
            seed = ("--seed", 9)
            # All by the command line ...
            expected = [dedup(part, *(words if i == 0 else ()), *(seed if i == 0 else ()), "--state", theirs)
                        for i, part in enumerate(parts)]
            # ... and the second part by the server.
            assert dedup(parts[0], *words, *seed, "--state", ours) == expected[0]
            load_state(c, key, ours.read_bytes(), 50_000)
            assert c("WEIR.MADD", key, *parts[1]) == expected[1], words
            ours.write_bytes(dump_state(c, key))
            assert dedup(parts[2], "--state", ours) == expected[2], words
            told = subprocess.run([WEIR, "inspect", str(ours)], check=True, capture_output=True).stdout
            assert c("WEIR.INFO", key, "filter") in told


def test_a_window_of_time():
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        c, file = server.client, pathlib.Path(folder, "state")
        dedup(["a", "b"], "--window", "1h", "-S", "100K", "--state", file)
        load_state(c, "k", file.read_bytes())
        assert c("WEIR.MADD", "k", "a", "b", "c") == [0, 0, 1]
        file.write_bytes(dump_state(c, "k"))
        assert dedup(["a", "c", "d"], "--state", file) == [0, 0, 1]
        other = pathlib.Path(folder, "event")
        subprocess.run([WEIR, "dedup", "-q", "--csv", "--time", "t", "--window", "1h", "-S", "100K", "--state", other],
                       input=b"t,x\n2026-01-01T00:00:00Z,1\n", check=True, stdout=subprocess.DEVNULL)
        assert "time of the records" in c.refusal("WEIR.LOAD", "event", 0, other.read_bytes())
        sample = pathlib.Path(folder, "sample")
        assert c("EXISTS", "event", str(sample)) == 0


run_tests(globals())
