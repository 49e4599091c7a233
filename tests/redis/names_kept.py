"""Chains and count-min keys come back as they were, and replicas hold the same bits."""
import random
import time

from support.server import Refused, Server, run_tests

KEYS = [f"k{i}" for i in range(8)]
COUNTS = [f"c{i}" for i in range(4)]


def random_command(draw):
    key, items = draw.choice(KEYS), [draw.randrange(4000) for _ in range(draw.randrange(1, 80))]
    count = draw.choice(COUNTS)
    return draw.choices([
        ("BF.MADD", key, *items), ("BF.ADD", key, items[0]),
        ("BF.INSERT", key, "CAPACITY", draw.randrange(1, 50), "ERROR", draw.choice(("0.3", "0.01", "1e-7")),
         "EXPANSION", draw.choice((0, 1, 2, 5)), "ITEMS", *items),
        ("BF.RESERVE", key, "0.01", draw.randrange(1, 400), *draw.choice(((), ("NONSCALING",), ("EXPANSION", 3)))),
        ("BF.EXISTS", key, items[0]), ("DEL", key), ("COPY", key, draw.choice(KEYS), "REPLACE"),
        ("CMS.INITBYDIM", count, 50, 3), ("CMS.INCRBY", count, items[0], draw.choice((1, 5, 2 ** 30)), "x", 1),
        ("CMS.MERGE", count, 2, *draw.sample(COUNTS, 2), "WEIGHTS", draw.randrange(-1, 3), draw.randrange(3)),
        ("DEL", count), ("CONFIG", "SET", "weir.max-bytes-per-key", draw.choice((4096, 20_000, 1 << 20))),
    ], [30, 20, 15, 4, 5, 1, 2, 4, 20, 5, 1, 3])[0]


def chunks_of(client, key):
    chunks = [client("BF.SCANDUMP", key, 0)]
    while True:
        chunk = client("BF.SCANDUMP", key, chunks[-1][0])
        if chunk[0] == 0:
            return chunks
        chunks.append(chunk)


def begin_loads(client):
    """Loads that stand at their beginning, within a filter and between two: {key: chunks to come}."""
    client("BF.RESERVE", "large", "0.001", 900_000)
    client("BF.MADD", "large", *range(1000))
    client("BF.RESERVE", "long", "0.01", 5)
    client("BF.MADD", "long", *range(1000))
    rest = {}
    for key in ("large", "long"):
        chunks = chunks_of(client, key)
        for taken in (1, len(chunks) - 1):
            name = f"{key}-{taken}"
            for chunk in chunks[:taken]:
                client("BF.LOADCHUNK", name, *chunk)
            rest[name] = chunks[taken:]
    return rest


def check_restart(server, save):
    c = server.client
    draw = random.Random(3)
    replies = c.many(random_command(draw) for _ in range(600))
    assert any(isinstance(r, list) and isinstance(r[-1], Refused) for r in replies)  # some chains met a limit
    c("CONFIG", "SET", "weir.max-bytes-per-key", 1 << 30)
    loads = begin_loads(c)
    every = [*KEYS, *COUNTS, "large", "long", *loads]
    before = server.digest(*every)
    infos = [c("BF.INFO", key) for key in ("large", "long")]
    save(c)
    server.restart()
    c = server.client
    assert server.digest(*every) == before
    assert [c("BF.INFO", key) for key in ("large", "long")] == infos
    for name, chunks in loads.items():
        assert "not finished" in c.refusal("BF.ADD", name, 1)
        for chunk in chunks:
            c("BF.LOADCHUNK", name, *chunk)
        assert server.digest(name) == server.digest(name.split("-")[0])
        assert all(c("BF.MEXISTS", name, *range(1000)))


def rewrite(client):
    client("BGREWRITEAOF")
    end = time.monotonic() + 60
    while b"aof_rewrite_in_progress:1" in client("INFO", "persistence") or \
            b"aof_rewrite_scheduled:1" in client("INFO", "persistence"):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_save_and_restart():
    with Server() as server:
        check_restart(server, lambda c: c("SAVE"))


def test_append_only_file_as_written():
    with Server("--appendonly", "yes", "--auto-aof-rewrite-percentage", "0") as server:
        check_restart(server, lambda c: None)


def test_append_only_file_rewritten_as_commands():
    with Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no") as server:
        check_restart(server, rewrite)


def test_append_only_file_rewritten_with_a_preamble():
    with Server("--appendonly", "yes", "--aof-use-rdb-preamble", "yes") as server:
        check_restart(server, rewrite)


def test_copy_and_restore():
    with Server() as server:
        c = server.client
        rest = begin_loads(c)
        for key in ("large", "long"):
            assert c("COPY", key, "copy") == 1
            c("RESTORE", "restored", 0, c("DUMP", key))
            assert len(set(server.digest(key, "copy", "restored"))) == 1
            assert c("BF.MADD", "copy", *range(500, 3000)) == c("BF.MADD", "restored", *range(500, 3000))
            assert server.digest("copy") == server.digest("restored") != server.digest(key)
            c("DEL", "copy", "restored")
        for key in rest:
            assert "failed to copy" in c.refusal("COPY", key, "copy")  # a part of a chain is no value


def replicate(replica, primary):
    replica.client("REPLICAOF", "127.0.0.1", primary.port)
    end = time.monotonic() + 60
    while b"master_link_status:up" not in replica.client("INFO", "replication"):
        assert time.monotonic() < end, replica.log()[-2000:]
        time.sleep(0.05)


def test_a_replica_holds_the_same_bits():
    draw = random.Random(5)
    with Server() as primary, Server(module=("max-bytes-per-key", 1 << 13)) as replica:  # its limit is not asked
        replicate(replica, primary)
        refused = 0
        for _ in range(20):
            replies = primary.client.many(random_command(draw) for _ in range(300))
            refused += sum(isinstance(r, list) and isinstance(r[-1], Refused) for r in replies)
            assert primary.client("WAIT", 1, 30_000) == 1
            ours, theirs = primary.digest(*KEYS, *COUNTS), replica.digest(*KEYS, *COUNTS)
            assert ours == theirs, [key for key, a, b in zip(KEYS + COUNTS, ours, theirs) if a != b]
        assert refused > 20
        primary.client("CONFIG", "SET", "weir.max-bytes-per-key", 1 << 30)
        loads = begin_loads(primary.client)
        for name, chunks in loads.items():
            for chunk in chunks:
                primary.client("BF.LOADCHUNK", name, *chunk)
        assert primary.client("WAIT", 1, 30_000) == 1
        assert primary.digest(*loads) == replica.digest(*loads)
        assert "READONLY" in replica.client.refusal("BF.ADD", "large", "x")
        assert replica.client("BF.EXISTS", "large", 5) == 1
        primary.client("MULTI")
        primary.client("BF.MADD", "new", *range(1000))
        primary.client("CMS.INITBYPROB", "newer", "0.01", "0.1")
        primary.client("EXEC")
        primary.client("EVAL", "return redis.call('BF.MADD', KEYS[1], unpack(ARGV))", 1, "script", *range(1000))
        assert primary.client("WAIT", 1, 30_000) == 1
        assert primary.digest("new", "newer", "script") == replica.digest("new", "newer", "script")


run_tests(globals())
