"""Forged values: whatever a client sends as RESTORE payload or as a state, the server lives, and
what it takes is a value that works."""
import random

from support.payload import crc64, seal
from support.server import Server, dump_state, Refused

SPECS = (("weir",), ("bloom",), ("stable",), ("qht",), ("apbf",), ("a2",), ("count-min",), ("space-saving",),
         ("spectral",), ("blocked-bloom",))


def mutate(draw, data):
    data = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 5))):
        kind = draw.randrange(6)
        at = draw.randrange(min(len(data), draw.choice((40, 400, 1 << 30)))) if data else 0
        if kind == 0:
            data[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            data[at] = draw.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif kind == 2:
            del data[at:at + draw.randrange(1, 40)]
        elif kind == 3:
            data[at:at] = bytes(draw.randrange(256) for _ in range(draw.randrange(1, 20)))
        elif kind == 4:
            data[at:at + 8] = draw.choice((0, 1, 2**63, 2**64 - 1, 2**40, draw.getrandbits(64))).to_bytes(8, "little")
        else:
            del data[at:]
        if not data:
            data = bytearray(b"\0")
    return bytes(data)


def values(client):
    """Payloads and states of values that were used, and one with an unfinished load."""
    payloads, states = [], []
    for number, (spec,) in enumerate(SPECS):
        key = f"v{number}"
        client("WEIR.RESERVE", key, "MEMORY", 12_000, "FILTER", spec)
        if client("WEIR.INFO", key, "kind") == b"filter":
            client("WEIR.MADD", key, *range(500))
        else:
            client("WEIR.INCRBY", key, *range(1, 401))
        payloads.append(client("DUMP", key))
        states.append(dump_state(client, key))
    last = f"v{len(SPECS)}"
    client("WEIR.RESERVE", last, "MEMORY", 12_000, "TTL", 60)
    client("WEIR.ADD", last, "x")
    states.append(dump_state(client, last))
    client("WEIR.LOAD", last, 0, states[0][:5000])
    payloads.append(client("DUMP", last))
    return payloads, states


def chains(client):
    """The same of chains: payloads, and the chunks of each."""
    client("BF.RESERVE", "b0", 0.01, 20)
    client("BF.MADD", "b0", *range(300))
    client("BF.INSERT", "b1", "CAPACITY", 500, "NONSCALING", "ITEMS", *range(100))
    every = []
    for key in ("b0", "b1"):
        chunks, at = [], 0
        while True:
            at, data = client("BF.SCANDUMP", key, at)
            if at == 0:
                break
            chunks.append((at, data))
        every.append(chunks)
    for at, data in every[0][:2]:
        client("BF.LOADCHUNK", "b2", at, data)  # two filters of five
    return [client("DUMP", f"b{i}") for i in range(3)], every


def use(client, key):
    """It was taken, so it must work."""
    replies = client.many((("WEIR.INFO", key), ("WEIR.MADD", key, "a", "b"), ("WEIR.EXISTS", key, "a"),
                           ("WEIR.INCRBY", key, "a", 1), ("WEIR.CARD", key), ("WEIR.TOP", key), ("DUMP", key),
                           ("MEMORY", "USAGE", key), ("DEL", key)))
    assert replies[-1] == 1
    assert not isinstance(replies[6], Refused)


def restore(client, payload):
    client.send("RESTORE", "x", 0, payload)
    return client.read()


def load(draw, client, state):
    """In two chunks; a state that is too short is as good as refused."""
    reply, at = None, 0
    for end in (draw.randrange(1, len(state) + 1), len(state)):
        if end == at:
            continue
        client.send("WEIR.LOAD", "x", at, state[at:end])
        reply, at = client.read(), end
        if isinstance(reply, Refused) or reply == 0:
            return reply
    assert client("DEL", "x") == 1
    return Refused("too short")


def attack(rounds, seed):
    draw = random.Random(seed)
    with Server(module=("max-bytes-per-key", 1 << 20)) as server:
        c = server.client
        assert crc64(b"123456789") == 0xE9C6D914C4B8D9CA
        payloads, states = values(c)
        for number, state in enumerate(states):
            assert c("WEIR.LOAD", f"s{number}", 0, state) == 0
        for payload in payloads:  # sealing changes nothing
            assert seal(payload[:-10], payload[-10:]) == payload
        count = {"refused": 0, "equal": 0, "of the server's own types": 0, "with an unfinished load": 0}
        for number in range(rounds):
            if number % 2 == 0:
                payload = draw.choice(payloads)
                reply = restore(c, seal(mutate(draw, payload[:-10]), payload[-10:]))
                original = f"v{payloads.index(payload)}"
            else:
                state = draw.choice(states)
                reply = load(draw, c, mutate(draw, state))
                original = f"s{states.index(state)}"
            if isinstance(reply, Refused):
                count["refused"] += 1
                assert c("EXISTS", "x") == 0
                continue
            # Strings of a payload are compressed, in more than one way; its first byte is the type.
            if c("TYPE", "x") != "weir-filt":
                count["of the server's own types"] += 1
            elif server.digest("x") == server.digest(original):
                count["equal"] += 1
            else:  # its bytes are not checked before they are all there
                assert number % 2 == 0 and original == f"v{len(SPECS)}", (number, original)
                count["with an unfinished load"] += 1
            use(c, "x")
        assert server.process.poll() is None
        print(count, flush=True)
        assert count["refused"] > 0.95 * rounds
        for key in [f"v{i}" for i in range(len(SPECS))]:
            assert c("WEIR.CARD", key) > 0
        c("FLUSHALL")
        assert b"weir_keys:0\r\nweir_bytes:0\r" in c("INFO", "weir")  # nothing was lost on the way


def attack_chains(rounds, seed):
    draw = random.Random(seed)
    with Server(module=("max-bytes-per-key", 1 << 20)) as server:
        c = server.client
        payloads, every = chains(c)
        before = server.digest("b0", "b1", "b2")
        refused = equal = foreign = 0
        for number in range(rounds):
            if number % 2 == 0:
                which = draw.randrange(3)
                reply = restore(c, seal(mutate(draw, payloads[which][:-10]), payloads[which][-10:]))
                replies = [reply]
            else:
                which = draw.randrange(2)
                chunks = list(every[which])
                at = draw.randrange(len(chunks))
                chunks[at] = (chunks[at][0], mutate(draw, chunks[at][1]))
                if draw.random() < 0.5:  # a cursor that fits the new length, as a forger would set it
                    chunks[at] = (every[which][at][0] + len(chunks[at][1]) - len(every[which][at][1]), chunks[at][1])
                replies = c.many(("BF.LOADCHUNK", "x", *chunk) for chunk in chunks)
            if c("EXISTS", "x") == 0:
                assert any(isinstance(reply, Refused) for reply in replies)
                refused += 1
                continue
            if c("TYPE", "x") != "weir-filt":
                foreign += 1
            elif server.digest("x")[0] == before[which]:
                equal += 1
            else:  # a chunk was refused because of its cursor, and the load waits for the right one
                assert number % 2 == 1 and "not finished" in c.refusal("BF.EXISTS", "x", 1), (number, which)
                refused += 1
            c.many((("BF.INFO", "x"), ("BF.MADD", "x", *range(50)), ("BF.EXISTS", "x", 1), ("WEIR.INFO", "x")))
            assert c("DEL", "x") == 1
        assert server.process.poll() is None
        assert server.digest("b0", "b1", "b2") == before
        print({"refused": refused, "equal": equal, "of the server's own types": foreign}, flush=True)
        assert refused > 0.95 * rounds
