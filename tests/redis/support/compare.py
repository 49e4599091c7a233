"""A random sequence of commands, against the library called directly (direct.cpp)."""
import random
import subprocess

from support.server import BUILD, Server

SETUPS = (("weir", ()), ("weir:imax=7", ()), ("bloom", ()), ("blocked-bloom", ("HASH", "xxh3")), ("counting", ()),
          ("stable", ()), ("rsbf", ()), ("bsbf", ()), ("bsbfsd", ()), ("rlbsbf", ()), ("qht", ("HASH", "xxh3")),
          ("ibf-2c", ()), ("ibf-mc", ()), ("ibf-h", ()), ("apbf", ()), ("a2", ()), ("apbf", ("WINDOW", 333)),
          ("a2", ("WINDOW", 200)), ("blocked-bloom", ("WINDOW", 500)), ("count-min", ()), ("spectral", ()),
          ("space-saving", ()))


class Direct:
    def __init__(self):
        self.process = subprocess.Popen([BUILD / "weir-direct"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, *words):
        self.process.stdin.write((" ".join(map(str, words)) + "\n").encode())

    def replies(self, count):
        self.process.stdin.flush()
        return [[int(n) for n in self.process.stdout.readline().split()] for _ in range(count)]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def make(client, direct, key, filter_, words, seed):
    client("WEIR.RESERVE", key, "MEMORY", 16_000, "FILTER", filter_, "SEED", f"{seed:x}", *words)
    info = client("WEIR.INFO", key)
    info = {info[i].decode(): info[i + 1] for i in range(0, len(info), 2)}
    direct("make", key, info["filter"].decode() + ":" + info["parameters"].decode(), info["hash"].decode(), seed,
           info.get("window_step", 0), info.get("window", b"none").decode())
    direct.replies(1)
    return info["kind"] == b"filter"


def one(draw, keys, filters):
    """A command for the server, and the same for the library."""
    key = draw.choice(keys)
    items = [draw.randrange(2500) for _ in range(draw.choice((1, 1, 1, 7, 40)))]
    if key not in filters:
        if draw.random() < 0.5:
            times = draw.randrange(1, 5)
            return ("WEIR.INCRBY", key, items[0], times), ("incr", key, times, items[0])
        return ("WEIR.COUNT", key, *items), ("count", key, *items)
    choice = draw.random()
    if choice < 0.45:
        weight = draw.randrange(1, 9)
        return ("WEIR.ADD", key, items[0], "IMPORTANCE", weight), ("add", key, weight, items[0])
    if choice < 0.75:
        return ("WEIR.MADD", key, *items), ("add", key, 1, *items)
    if choice < 0.998:
        return ("WEIR.MEXISTS", key, *items), ("exists", key, *items)
    return ("WEIR.RESET", key), ("reset", key)


def compare(commands, seed, between=lambda server: None):
    draw = random.Random(seed)
    direct = Direct()
    with Server() as server:
        keys = [f"k{i}" for i in range(len(SETUPS))]
        filters = {key for key, (name, words) in zip(keys, SETUPS)
                   if make(server.client, direct, key, name, words, draw.getrandbits(63))}
        done = 0
        while done < commands:
            batch = [one(draw, keys, filters) for _ in range(500)]
            replies = server.client.many(theirs for theirs, _ in batch)
            for _, ours in batch:
                direct(*ours)
            for (words, _), got, expected in zip(batch, replies, direct.replies(len(batch))):
                got = [] if got == "OK" else got if isinstance(got, list) else [got]
                assert got == expected, (words, got, expected)
            done += len(batch)
            between(server)
        print(f"{done} commands", flush=True)
    direct.close()
