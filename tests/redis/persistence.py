"""Values come back as they were: from a save, from the append-only file, from COPY and RESTORE."""
import random
import time

from support.server import Server, dump_state, load_state, run_tests


def fill(client, seed=1):
    """A key of many kinds each; returns their names."""
    draw = random.Random(seed)
    keys = []
    for name in ("weir", "bloom", "blocked-bloom", "counting", "stable", "rsbf", "bsbf", "bsbfsd", "rlbsbf", "qht",
                 "ibf-2c", "ibf-mc", "ibf-h", "apbf", "a2"):
        client("WEIR.RESERVE", name, "MEMORY", 30_000, "FILTER", name)
        client("WEIR.MADD", name, *[draw.randrange(4000) for _ in range(5000)])
        keys.append(name)
    for name in ("spectral", "count-min", "space-saving"):
        client("WEIR.RESERVE", name, "MEMORY", 30_000, "FILTER", name)
        for _ in range(20):
            client("WEIR.INCRBY", name, *[draw.randrange(1, 300) for _ in range(200)])
        keys.append(name)
    for key, words in (("window", ("WINDOW", 700)), ("jump", ("WINDOW", 300, "FILTER", "a2")),
                       ("mark", ("WINDOW", 900, "FILTER", "bloom")), ("ttl", ("TTL", 30)), ("xxh3", ("HASH", "xxh3")),
                       ("large", ("MEMORY", 3 << 20))):
        client("WEIR.RESERVE", key, "MEMORY", 100_000, *words)
        client("WEIR.MADD", key, *[draw.randrange(1500) for _ in range(4000)])
        keys.append(key)
    return keys


def start_load(client, key, state, share):
    """Part of a state, so that the load is under way."""
    cut = int(len(state) * share)
    assert client("WEIR.LOAD", key, 0, state[:cut]) == cut
    return cut


def check_restart(server, save):
    c = server.client
    keys = fill(c)
    state = dump_state(c, "large")
    loads = {f"load{i}": start_load(c, f"load{i}", state, share)
             for i, share in enumerate((0.00001, 0.0001, 0.0002, 0.1, 0.5, 0.99999))}
    before = server.digest(*keys, *loads)
    save(c)
    server.restart()
    c = server.client
    assert server.digest(*keys, *loads) == before
    for key, cut in loads.items():
        assert "not finished" in c.refusal("WEIR.EXISTS", key, 1)
        assert c("WEIR.LOAD", key, cut, state[cut:]) == 0
        assert server.digest(key) == server.digest("large")


def test_save_and_restart():
    with Server() as server:
        check_restart(server, lambda c: c("SAVE"))


def test_append_only_file_as_written():
    with Server("--appendonly", "yes", "--auto-aof-rewrite-percentage", "0") as server:
        check_restart(server, lambda c: None)


def rewrite(client):
    client("BGREWRITEAOF")
    end = time.monotonic() + 60
    while b"aof_rewrite_in_progress:1" in client("INFO", "persistence") or \
            b"aof_rewrite_scheduled:1" in client("INFO", "persistence"):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_append_only_file_rewritten_as_commands():
    with Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no") as server:
        check_restart(server, rewrite)


def test_append_only_file_rewritten_with_a_preamble():
    with Server("--appendonly", "yes", "--aof-use-rdb-preamble", "yes") as server:
        check_restart(server, rewrite)


def test_it_goes_on_as_if_never_stopped():
    with Server() as stopped, Server() as runs:
        draw = random.Random(3)
        for server in (stopped, runs):
            for key, words in (("k", ()), ("s", ("FILTER", "stable")), ("w", ("WINDOW", 500))):
                server.client("WEIR.RESERVE", key, "MEMORY", 20_000, "SEED", "abc", *words)
        for _ in range(4):
            items = [draw.randrange(3000) for _ in range(3000)]
            replies = [[server.client("WEIR.MADD", key, *items) for key in "ksw"] for server in (stopped, runs)]
            assert replies[0] == replies[1]
            stopped.client("SAVE")
            stopped.restart()
            assert stopped.digest(*"ksw") == runs.digest(*"ksw")


def test_copy_restore_and_unlink():
    with Server() as server:
        c = server.client
        keys = fill(c)
        for key in keys:
            assert c("COPY", key, "copy") == 1
            c("RESTORE", "restored", 0, c("DUMP", key))
            assert len(set(server.digest(key, "copy", "restored"))) == 1, key
            if c("WEIR.INFO", key, "kind") == b"filter" and key != "ttl":
                items = [random.randrange(9000) for _ in range(1000)]
                assert c("WEIR.MADD", key, *items) == c("WEIR.MADD", "copy", *items), key
                assert server.digest(key) == server.digest("copy") != server.digest("restored")
            c("UNLINK", "copy")
            c("DEL", "restored")
        c("FLUSHALL", "ASYNC")
        end = time.monotonic() + 20
        while b"weir_keys:0\r\nweir_bytes:0\r" not in c("INFO", "weir"):
            assert time.monotonic() < end
            time.sleep(0.02)


def test_a_load_replaces_all_or_nothing():
    with Server() as server:
        c = server.client
        fill(c)
        state = dump_state(c, "bloom")
        before = server.digest("weir")
        for cut in (1, 100, 300, 5000, len(state) - 1):
            c("WEIR.LOAD", "weir", 0, state[:cut])
            assert c("WEIR.EXISTS", "weir", "never") in (0, 1)  # it still answers
            assert "at cursor" in c.refusal("WEIR.LOAD", "weir", cut + 1, state[cut:])
        assert "must not be empty" in c.refusal("WEIR.LOAD", "weir", 0, b"")
        damaged = bytearray(state)
        damaged[len(state) // 2] ^= 1
        assert "damaged" in c.refusal("WEIR.LOAD", "weir", 0, bytes(damaged))
        assert server.digest("weir") == before
        assert "no load has begun" in c.refusal("WEIR.LOAD", "weir", 5, b"x")
        assert "damaged" in c.refusal("WEIR.LOAD", "fresh", 0, bytes(damaged))
        assert c("EXISTS", "fresh") == 0
        assert "behind its end" in c.refusal("WEIR.LOAD", "fresh", 0, state + b"x")
        load_state(c, "weir", state, 777)
        assert server.digest("weir") == server.digest("bloom")


def test_a_dump_of_a_key_that_changes_is_refused():
    with Server() as server:
        c, other = server.client, server.connect()
        c("WEIR.RESERVE", "k", "MEMORY", 4 << 20)
        cursor, first = c("WEIR.DUMP", "k", 0)
        assert cursor == len(first)
        assert other("WEIR.DUMP", "k", 0) == [cursor, first]  # another reader
        following = c("WEIR.DUMP", "k", cursor)
        assert c("WEIR.DUMP", "k", cursor) == following  # once more
        c("WEIR.ADD", "k", "x")
        assert "begin again" in c.refusal("WEIR.DUMP", "k", following[0])


run_tests(globals())
