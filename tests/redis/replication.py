"""A replica is bit for bit what its primary is, whatever is done to it, by chance and by the clock."""
import random
import time

from support.server import Server, dump_state, run_tests

KEYS = [f"k{i}" for i in range(12)]
FILTERS = ["weir", "bloom", "stable", "rsbf", "bsbf", "rlbsbf", "qht", "counting", "weir:imax=7", "apbf", "a2", "ibf-2c"]


def replicate(replica, primary):
    replica.client("REPLICAOF", "127.0.0.1", primary.port)
    end = time.monotonic() + 60
    while b"master_link_status:up" not in replica.client("INFO", "replication"):
        assert time.monotonic() < end, replica.log()[-2000:]
        time.sleep(0.05)


def settle(primary):
    assert primary.client("WAIT", 1, 30_000) == 1


def same(primary, replica, keys):
    settle(primary)
    ours, theirs = primary.digest(*keys), replica.digest(*keys)
    assert ours == theirs, [key for key, a, b in zip(keys, ours, theirs) if a != b]


def random_command(draw):
    key = draw.choice(KEYS)
    items = [draw.randrange(3000) for _ in range(draw.randrange(1, 60))]
    return draw.choices([
        ("WEIR.MADD", key, *items), ("WEIR.ADD", key, items[0], "IMPORTANCE", draw.randrange(1, 9)),
        ("WEIR.RESERVE", key, "MEMORY", draw.choice((8192, 20_000, 70_000)), "FILTER", draw.choice(FILTERS)),
        ("WEIR.RESERVE", key, "MEMORY", 60_000, "WINDOW", draw.randrange(1, 500)),
        ("WEIR.RESERVE", key, "MEMORY", 60_000, "TTL", 1),
        ("WEIR.RESERVE", key, "MEMORY", 9000, "FILTER", draw.choice(("count-min", "space-saving", "spectral"))),
        ("WEIR.INCRBY", key, items[0], draw.randrange(-3, 9), "x", 1), ("WEIR.RESET", key), ("DEL", key),
        ("COPY", key, draw.choice(KEYS)), ("WEIR.MERGE", key, draw.choice(KEYS)), ("WEIR.EXISTS", key, items[0]),
    ], [30, 30, 4, 2, 2, 3, 6, 1, 2, 2, 2, 5])[0]


def test_random_commands():
    draw = random.Random(20)
    with Server() as primary, Server() as replica:
        replicate(replica, primary)
        for _ in range(30):
            primary.client.many(random_command(draw) for _ in range(300))
            same(primary, replica, KEYS)
        primary.client("WEIR.RESERVE", "own", "MEMORY", 9000)
        settle(primary)
        assert "READONLY" in replica.client.refusal("WEIR.ADD", "own", "x")


def test_time_comes_from_the_primary():
    with Server() as primary, Server() as replica:
        replicate(replica, primary)
        for key, name in (("slide", "apbf"), ("jump", "a2"), ("mark", "bloom")):
            primary.client("WEIR.RESERVE", key, "MEMORY", 60_000, "TTL", 1, "FILTER", name)
        for i in range(60):
            for key in ("slide", "jump", "mark"):
                primary.client("WEIR.MADD", key, i, i - 1, "often")
            time.sleep(0.05)
        same(primary, replica, ("slide", "jump", "mark"))
        time.sleep(2.2)
        for server in (primary, replica):  # both know by their own clock that it is over
            assert server.client("WEIR.EXISTS", "slide", "often") == 0


def test_transactions_and_scripts():
    with Server() as primary, Server() as replica:
        replicate(replica, primary)
        c = primary.client
        c("MULTI")
        c("WEIR.RESERVE", "k", "MEMORY", 9000, "TTL", 5)
        c("WEIR.ADD", "k", "x")
        assert c("EXEC") == ["OK", 1]
        assert c("EVAL", "return redis.call('WEIR.ADD', KEYS[1], ARGV[1])", 1, "k", "x") == 0
        same(primary, replica, ("k",))


def test_a_replica_that_joins_during_a_load():
    with Server() as primary, Server() as replica:
        c = primary.client
        c("WEIR.RESERVE", "k", "MEMORY", 3 << 20)
        c("WEIR.MADD", "k", *range(1000))
        state = dump_state(c, "k")
        cut = len(state) // 3
        c("WEIR.LOAD", "copy", 0, state[:cut])
        replicate(replica, primary)
        same(primary, replica, ("k", "copy"))
        c("WEIR.LOAD", "copy", cut, state[cut:2 * cut])
        same(primary, replica, ("k", "copy"))
        assert c("WEIR.LOAD", "copy", 2 * cut, state[2 * cut:]) == 0
        same(primary, replica, ("k", "copy"))
        assert primary.digest("k") == replica.digest("copy")
        # What fails, fails there too.
        c("WEIR.LOAD", "bad", 0, state[:cut])
        assert "damaged" in c.refusal("WEIR.LOAD", "bad", cut, b"x" * len(state))
        settle(primary)
        assert replica.client("EXISTS", "bad") == c("EXISTS", "bad") == 0


run_tests(globals())
