"""BF.* and CMS.*: what clients of RedisBloom send and read, byte by byte, in both protocols."""
import random

from support.server import BUILD, Refused, Server, run_tests

MIB = 1 << 20


def expect(client, reply, *words):
    """These very bytes."""
    client.send(*words)
    wanted = reply.encode()
    got = client.buffer.read(len(wanted)) if len(wanted) else b""
    assert got == wanted, (words, got, wanted)


def resp3(server):
    client = server.connect()
    client("HELLO", 3)
    return client


def test_replies_of_resp2():
    with Server() as server:
        c = server.client
        expect(c, "+OK\r\n", "BF.RESERVE", "b", "0.01", 1000)
        expect(c, ":1\r\n", "BF.ADD", "b", "x")
        expect(c, ":0\r\n", "BF.ADD", "b", "x")
        expect(c, "*3\r\n:0\r\n:1\r\n:0\r\n", "BF.MADD", "b", "x", "y", "y")
        expect(c, "*2\r\n:0\r\n:1\r\n", "BF.INSERT", "b", "ITEMS", "x", "z")
        expect(c, ":1\r\n", "BF.EXISTS", "b", "z")
        expect(c, "*2\r\n:1\r\n:0\r\n", "BF.MEXISTS", "b", "z", "nothing")
        expect(c, ":3\r\n", "BF.CARD", "b")
        size = c("BF.INFO", "b", "SIZE")[0]
        expect(c, f"*10\r\n+Capacity\r\n:1000\r\n+Size\r\n:{size}\r\n+Number of filters\r\n:1\r\n"
                  "+Number of items inserted\r\n:3\r\n+Expansion rate\r\n:2\r\n", "BF.INFO", "b")
        expect(c, "*1\r\n:1000\r\n", "BF.INFO", "b", "capacity")
        c("BF.RESERVE", "fixed", "0.01", 2, "NONSCALING")
        expect(c, "*1\r\n$-1\r\n", "BF.INFO", "fixed", "EXPANSION")
        expect(c, "*3\r\n:1\r\n:1\r\n-ERR non scaling filter is full\r\n", "BF.MADD", "fixed", "a", "b", "c", "d")
        expect(c, "-ERR non scaling filter is full\r\n", "BF.ADD", "fixed", "c")
        expect(c, ":0\r\n", "BF.ADD", "fixed", "b")
        expect(c, ":0\r\n", "BF.EXISTS", "none", "x")
        expect(c, "*2\r\n:0\r\n:0\r\n", "BF.MEXISTS", "none", "x", "y")
        expect(c, ":0\r\n", "BF.CARD", "none")
        expect(c, "+OK\r\n", "CMS.INITBYDIM", "s", 2000, 5)
        expect(c, "+OK\r\n", "CMS.INITBYPROB", "p", "0.001", "0.01")
        expect(c, "*2\r\n:3\r\n:1\r\n", "CMS.INCRBY", "s", "x", 3, "y", 1)
        expect(c, "*3\r\n:3\r\n:1\r\n:0\r\n", "CMS.QUERY", "s", "x", "y", "z")
        expect(c, "*6\r\n+width\r\n:2000\r\n+depth\r\n:5\r\n+count\r\n:4\r\n", "CMS.INFO", "s")
        expect(c, "*6\r\n+width\r\n:2000\r\n+depth\r\n:7\r\n+count\r\n:0\r\n", "CMS.INFO", "p")
        c("CMS.INITBYDIM", "sum", 2000, 5)
        expect(c, "+OK\r\n", "CMS.MERGE", "sum", 2, "s", "s", "WEIGHTS", 2, 1)
        expect(c, "*1\r\n:9\r\n", "CMS.QUERY", "sum", "x")


def test_replies_of_resp3():
    with Server() as server:
        c = resp3(server)
        expect(c, "+OK\r\n", "BF.RESERVE", "b", "0.01", 1000)
        expect(c, "#t\r\n", "BF.ADD", "b", "x")
        expect(c, "#f\r\n", "BF.ADD", "b", "x")
        expect(c, "*3\r\n#f\r\n#t\r\n#f\r\n", "BF.MADD", "b", "x", "y", "y")
        expect(c, "*2\r\n#f\r\n#t\r\n", "BF.INSERT", "b", "ITEMS", "x", "z")
        expect(c, "#t\r\n", "BF.EXISTS", "b", "z")
        expect(c, "*2\r\n#t\r\n#f\r\n", "BF.MEXISTS", "b", "z", "nothing")
        expect(c, ":3\r\n", "BF.CARD", "b")
        size = c("BF.INFO", "b", "SIZE")["Size"]
        expect(c, f"%5\r\n+Capacity\r\n:1000\r\n+Size\r\n:{size}\r\n+Number of filters\r\n:1\r\n"
                  "+Number of items inserted\r\n:3\r\n+Expansion rate\r\n:2\r\n", "BF.INFO", "b")
        expect(c, "%1\r\n+Number of items inserted\r\n:3\r\n", "BF.INFO", "b", "ITEMS")
        c("BF.RESERVE", "fixed", "0.01", 1, "NONSCALING")
        expect(c, "%1\r\n+Expansion rate\r\n_\r\n", "BF.INFO", "fixed", "EXPANSION")
        expect(c, "*2\r\n#t\r\n-ERR non scaling filter is full\r\n", "BF.MADD", "fixed", "a", "b", "c")
        expect(c, "#f\r\n", "BF.EXISTS", "none", "x")
        expect(c, "*1\r\n#f\r\n", "BF.MEXISTS", "none", "x")
        c("CMS.INITBYDIM", "s", 2000, 5)
        expect(c, "*1\r\n:3\r\n", "CMS.INCRBY", "s", "x", 3)
        expect(c, "%3\r\n+width\r\n:2000\r\n+depth\r\n:5\r\n+count\r\n:3\r\n", "CMS.INFO", "s")


def test_sentences():
    with Server() as server:
        c = server.client
        c("SET", "text", "x")
        c("BF.RESERVE", "b", "0.01", 10)
        c("WEIR.RESERVE", "w", "MEMORY", 65536, "FILTER", "bloom")
        c("CMS.INITBYDIM", "s", 20, 5)
        c("CMS.INITBYDIM", "other", 21, 5)
        wrong = "WRONGTYPE Operation against a key holding the wrong kind of value"
        arity = "ERR wrong number of arguments for '%s' command"
        for sentence, *words in (
                ("ERR item exists", "BF.RESERVE", "b", "0.01", 10),
                ("ERR bad error rate", "BF.RESERVE", "n", "x", 10),
                ("ERR (0 < error rate range < 1)", "BF.RESERVE", "n", "1", 10),
                ("ERR (0 < error rate range < 1)", "BF.RESERVE", "n", "0", 10),
                ("ERR bad capacity", "BF.RESERVE", "n", "0.1", "x"),
                ("ERR (capacity should be larger than 0)", "BF.RESERVE", "n", "0.1", 0),
                ("ERR no expansion", "BF.RESERVE", "n", "0.1", 10, "EXPANSION"),
                ("ERR bad expansion", "BF.RESERVE", "n", "0.1", 10, "EXPANSION", "x"),
                ("Nonscaling filters cannot expand", "BF.RESERVE", "n", "0.1", 10, "NONSCALING", "EXPANSION", 2),
                (arity % "BF.RESERVE", "BF.RESERVE", "n", "0.1"),
                (arity % "BF.ADD", "BF.ADD", "b"),
                (arity % "BF.INSERT", "BF.INSERT", "b", "CAPACITY", 10),
                (arity % "BF.INSERT", "BF.INSERT", "b", "NOCREATE", "ITEMS"),
                ("Bad capacity", "BF.INSERT", "n", "CAPACITY", "0.3", "ITEMS", "x"),
                ("Bad error rate", "BF.INSERT", "n", "ERROR", "big", "ITEMS", "x"),
                ("Bad expansion", "BF.INSERT", "n", "EXPANSION", "big", "ITEMS", "x"),
                ("Bad argument received", "BF.INSERT", "n", "CAPACITY", 0, "ITEMS", "x"),
                ("Unknown argument received", "BF.INSERT", "n", "DONTEXIST", "ITEMS", "x"),
                ("ERR not found", "BF.INSERT", "n", "NOCREATE", "ITEMS", "x"),
                ("ERR not found", "BF.INFO", "n"),
                ("Invalid information value", "BF.INFO", "b", "nothing"),
                (wrong, "BF.ADD", "text", "x"), (wrong, "BF.RESERVE", "text", "0.1", 10),
                (wrong, "BF.ADD", "w", "x"), (wrong, "BF.EXISTS", "w", "x"), (wrong, "BF.INFO", "s"),
                (wrong, "BF.CARD", "text"), (wrong, "CMS.QUERY", "b", "x"), (wrong, "CMS.INFO", "w"),
                (wrong, "CMS.INCRBY", "text", "x", 1),
                ("CMS: key already exists", "CMS.INITBYDIM", "s", 20, 5),
                ("CMS: key already exists", "CMS.INITBYDIM", "text", 20, 5),
                ("CMS: invalid width", "CMS.INITBYDIM", "n", 0, 5),
                ("CMS: invalid depth", "CMS.INITBYDIM", "n", 5, "x"),
                ("CMS: invalid depth (32 rows at most)", "CMS.INITBYDIM", "n", 5, 33),
                ("CMS: invalid init arguments", "CMS.INITBYDIM", "n", 1 << 62, 5),
                ("CMS: invalid overestimation value", "CMS.INITBYPROB", "n", 1, "0.1"),
                ("CMS: invalid prob value", "CMS.INITBYPROB", "n", "0.1", 0),
                ("CMS: key does not exist", "CMS.INCRBY", "n", "x", 1),
                ("CMS: key does not exist", "CMS.QUERY", "n", "x"),
                ("CMS: key does not exist", "CMS.INFO", "n"),
                ("CMS: Cannot parse number", "CMS.INCRBY", "s", "x", "y"),
                ("CMS: Number cannot be negative", "CMS.INCRBY", "s", "x", -1),
                (arity % "CMS.INCRBY", "CMS.INCRBY", "s", "x", 1, "y"),
                ("CMS: invalid numkeys", "CMS.MERGE", "s", "x", "other"),
                ("CMS: Number of keys must be positive", "CMS.MERGE", "s", 0, "other"),
                ("CMS: wrong number of keys", "CMS.MERGE", "s", 2, "other"),
                ("CMS: wrong number of keys/weights", "CMS.MERGE", "s", 1, "other", "WEIGHTS"),
                ("CMS: invalid weight value", "CMS.MERGE", "s", 1, "s", "WEIGHTS", "x"),
                ("CMS: width/depth is not equal", "CMS.MERGE", "s", 1, "other"),
                ("CMS: key does not exist", "CMS.MERGE", "s", 1, "n")):
            expect(c, f"-{sentence}\r\n", *words)
        assert c("EXISTS", "n") == 0
        for words in (("WEIR.ADD", "b", "x"), ("WEIR.EXISTS", "b", "x"), ("WEIR.CARD", "b"), ("WEIR.DUMP", "b", 0),
                      ("WEIR.RESET", "b"), ("WEIR.MERGE", "w", "b")):
            assert "use the BF commands" in c.refusal(*words), words


def fill(client, items, capacity, *options):
    client("BF.RESERVE", "b", "0.01", capacity, *options)
    return sum(sum(client("BF.MADD", "b", *range(i, i + 500))) for i in range(0, items, 500))


def test_a_chain_grows_and_forgets_nothing():
    for expansion in (1, 2, 4):
        with Server() as server:
            c = server.client
            new = fill(c, 100_000, 1000, "EXPANSION", expansion)
            assert c("BF.CARD", "b") == new <= 100_000
            info = c("BF.INFO", "b")
            assert sum(1000 * expansion ** i for i in range(info[5])) == info[1] >= new
            assert sum(1000 * expansion ** i for i in range(info[5] - 1)) < new
            for i in range(0, 100_000, 5000):
                assert all(c("BF.MEXISTS", "b", *range(i, i + 5000)))


def test_the_rate_is_the_one_asked_for_and_the_one_stated():
    """A million strangers: 3 standard errors are 3 % of the rate, and the secret is another every time."""
    with Server() as server:
        c = server.client
        lost = 200_000 - fill(c, 200_000, 10_000)
        assert lost <= 2000
        wrong = sum(sum(c("BF.MEXISTS", "b", *range(i, i + 5000))) for i in range(1_000_000, 2_000_000, 5000)) / 1e6
        stated = float(c("WEIR.INFO", "b", "fpr"))
        print(f"  {c('BF.INFO', 'b', 'FILTERS')[0]} filters: FPR {wrong:.3%}, stated {stated:.3%}")
        assert wrong <= 0.01 * 1.05 and abs(wrong - stated) <= 0.05 * stated, (wrong, stated)


def test_growth_ends_at_the_limit():
    with Server(module=("max-bytes-per-key", 65536)) as server:
        c = server.client
        assert "raise weir.max-bytes-per-key" in c.refusal("BF.RESERVE", "b", "0.01", 1_000_000)
        assert "raise weir.max-bytes-per-key" in c.refusal("CMS.INITBYDIM", "b", 1_000_000, 5)
        assert c("EXISTS", "b") == 0
        reply = c("BF.INSERT", "b", "CAPACITY", 1000, "ITEMS", *range(100_000))
        assert isinstance(reply[-1], Refused) and "raise weir.max-bytes-per-key" in str(reply[-1]), reply[-1]
        assert c("MEMORY", "USAGE", "b") <= 65536 + 1024
        held = len(reply) - 1
        assert 10_000 < held < 100_000
        assert all(c("BF.MEXISTS", "b", *range(held)))
        assert "raise weir.max-bytes-per-key" in c.refusal("BF.ADD", "b", held)
        c("CONFIG", "SET", "weir.max-bytes-per-key", MIB)
        assert c("BF.ADD", "b", held) == 1


def test_counts():
    with Server() as server:
        c = server.client
        for key in "abc":
            c("CMS.INITBYDIM", key, 1000, 5)
        for i in range(100):
            c("CMS.INCRBY", "a", f"foo{i}", 1)
            c("CMS.INCRBY", "b", f"bar{i}", 2)
        c("CMS.MERGE", "c", 2, "a", "b")
        assert c("CMS.QUERY", "c", "foo7", "bar7", "baz") == [1, 2, 0]
        assert c("CMS.INFO", "c") == ["width", 1000, "depth", 5, "count", 300]
        c("CMS.MERGE", "c", 2, "c", "b", "weights", 1, -1)
        assert c("CMS.QUERY", "c", "foo7", "bar7") == [1, 0]
        assert c.refusal("CMS.MERGE", "c", 2, "c", "b", "WEIGHTS", 1, -1) == "CMS: MERGE overflow"
        assert c("CMS.QUERY", "c", "foo7", "bar7") == [1, 0]
        large = 2 ** 31 - 1
        c("CMS.INITBYDIM", "o", 500, 2)
        assert c("CMS.INCRBY", "o", "x", large) == [large]
        assert c("CMS.INCRBY", "o", "x", large) == [2 * large]
        reply = c("CMS.INCRBY", "o", "x", large, "y", 5)
        assert str(reply[0]) == "CMS: INCRBY overflow" and reply[1] == 5
        # The same sketch by its other names.
        assert c("WEIR.COUNT", "a", "foo7") == [1]
        assert c("WEIR.INFO", "a", "filter") == b"count-min"
        c("WEIR.RESERVE", "w", "MEMORY", 65536, "FILTER", "count-min")
        assert c("CMS.INCRBY", "w", "x", 4) == [4]
        assert c("CMS.QUERY", "w", "x") == [4]
        c("WEIR.RESERVE", "v", "MEMORY", 65536, "FILTER", "count-min")
        assert "different secrets" in c.refusal("CMS.MERGE", "w", 1, "v")


def test_against_a_set():
    """Random commands on chains of odd shapes: what was added is there, new is what the filter says."""
    draw = random.Random(7)
    with Server() as server:
        c = server.client
        for round_ in range(20):
            key, held, cards = f"k{round_}", set(), 0
            c("BF.RESERVE", key, draw.choice(("0.5", "0.01", "1e-9")), draw.choice((1, 3, 64)), "EXPANSION", draw.choice((1, 2, 7)))
            for _ in range(30):
                items = [draw.randrange(2000) for _ in range(draw.randrange(1, 40))]
                seen = c("BF.MEXISTS", key, *items)
                new = c("BF.MADD", key, *items)
                assert all(there or item not in held for there, item in zip(seen, items))
                for one, item in zip(new, items):
                    assert not (one and item in held)
                    held.add(item)
                cards += sum(new)
                assert c("BF.CARD", key) == cards
                assert all(c("BF.MEXISTS", key, *held))


def chunks_of(client, key):
    """As clients do it: until the cursor is 0."""
    chunks = [client("BF.SCANDUMP", key, 0)]
    while True:
        chunk = client("BF.SCANDUMP", key, chunks[-1][0])
        if chunk[0] == 0:
            assert chunk[1] == b""
            return chunks
        chunks.append(chunk)


def test_chunks():
    with Server() as server:
        c = server.client
        for key, reserve in (("small", ("0.01", 10)), ("large", ("0.001", 2_000_000)), ("fixed", ("0.1", 500, "NONSCALING"))):
            c("BF.RESERVE", key, *reserve)
            c("BF.MADD", key, *range(500))
            chunks = chunks_of(c, key)
            assert all(len(data) <= MIB + 4096 for _, data in chunks)
            assert chunks_of(c, key) == chunks
            for at, (cursor, data) in enumerate(chunks):
                assert c("BF.LOADCHUNK", "copy", cursor, data) == "OK"
                if at + 1 < len(chunks):
                    assert "not finished" in c.refusal("BF.EXISTS", "copy", 1)
                    assert "not finished" in c.refusal("BF.ADD", "copy", 1)
                    assert "bad data" in c.refusal("BF.LOADCHUNK", "copy", cursor + 7, data)
            assert server.digest("copy") == server.digest(key)
            assert c("BF.INFO", "copy") == c("BF.INFO", key)
            assert c.refusal("BF.LOADCHUNK", "copy", *chunks[0]) == "ERR item exists"
            assert all(c("BF.MEXISTS", "copy", *range(500)))
            c("DEL", "copy")
            if len(chunks) > 1:  # begun, and begun again
                c("BF.LOADCHUNK", "copy", *chunks[0])
            for cursor, data in chunks:
                c("BF.LOADCHUNK", "copy", cursor, data)
            assert server.digest("copy") == server.digest(key)
            # What is damaged is refused, and leaves nothing behind.
            for at in range(0, len(chunks[0][1]), max(len(chunks[0][1]) // 97, 1)):
                damaged = bytearray(chunks[0][1])
                damaged[at] ^= 64
                c("DEL", "copy")
                replies = c.many([("BF.LOADCHUNK", "copy", chunks[0][0], bytes(damaged)),
                                  *(("BF.LOADCHUNK", "copy", *chunk) for chunk in chunks[1:])])
                assert any(isinstance(reply, Refused) for reply in replies), at
                assert c("EXISTS", "copy") == 0, (at, replies)
            c("DEL", "copy")
        message = c.refusal("BF.LOADCHUNK", "copy", 1, b"\x00" * 60)  # as RedisBloom's begins
        assert message.startswith("ERR received bad data") and "add the items anew" in message
        assert c.refusal("BF.SCANDUMP", "none", 0) == "ERR not found"
        assert c.refusal("BF.SCANDUMP", "small", "x") == "Second argument must be numeric"
        assert c.refusal("BF.LOADCHUNK", "small", "x", "y") == "ERR Second argument must be numeric"
        assert c.refusal("BF.LOADCHUNK", "none", 500, "y") == "ERR not found"
        cursor, _ = c("BF.SCANDUMP", "small", 0)
        c("BF.ADD", "small", "another")
        assert "has changed" in c.refusal("BF.SCANDUMP", "small", cursor)
        for cursor in (-1, 1, 7, 57, 10 ** 15):
            c("BF.SCANDUMP", "small", 0)
            assert "not a cursor" in c.refusal("BF.SCANDUMP", "small", cursor), cursor
        c("WEIR.RESERVE", "w", "MEMORY", 65536)
        assert "WRONGTYPE" in c.refusal("BF.SCANDUMP", "w", 0) and "WRONGTYPE" in c.refusal("BF.LOADCHUNK", "w", 2, "x")


def test_what_replicas_are_told_is_checked_too():
    with Server(module=("max-bytes-per-key", 65536)) as server:
        c = server.client
        c("BF.RESERVE", "b", 0.01, 10)
        c("WEIR.RESERVE", "w", "MEMORY", 8192, "FILTER", "bloom")
        before = server.digest("b", "w")
        assert "raise weir" in c.refusal("WEIR.GROW", "b", "bloom:m=8000000000,k=3")
        assert "bloom filters only" in c.refusal("WEIR.GROW", "b", "stable:K=2,P=4,Max=1,m=1000")
        assert "WRONGTYPE" in c.refusal("WEIR.GROW", "w", "bloom:m=800,k=3")
        for notes in (b"x", b"\0" * 48, b"\1" + b"\0" * 47, b"\xff" * 128):
            c.refusal("WEIR.NOTES", "w", notes)
            c.refusal("WEIR.NOTES", "b", notes)
        assert "BF.LOADCHUNK" in c.refusal("WEIR.LOAD", "b", 0, b"x", "PART", 1)
        assert server.digest("b", "w") == before


def test_what_the_server_knows_of_them():
    with Server() as server:
        c = server.client
        assert c("COMMAND", "GETKEYS", "CMS.MERGE", "d", 2, "a", "b", "WEIGHTS", 1, 2) == [b"d", b"a", b"b"]
        assert c("COMMAND", "GETKEYS", "BF.MADD", "k", "a", "b") == [b"k"]
        docs = dict(zip(*[iter(c("COMMAND", "DOCS", "BF.RESERVE"))] * 2))
        assert b"NONSCALING" in str(docs).encode()


def test_names_that_are_taken():
    other = ("--loadmodule", BUILD / "weir-redis-other.so")
    with Server(first=other, module=("noaliases",)) as server:  # each has its own
        assert server.client("BF.ADD", "b", "x") is None
        assert server.client("WEIR.RESERVE", "k", "MEMORY", 65536) == "OK"
    try:
        Server(first=other).stop(kill=True)
        raise AssertionError("the server started with one name for two commands")
    except RuntimeError as error:
        assert "the command BF.ADD; another module has that name; load this one with `noaliases`" in str(error), error


def test_without_the_names():
    with Server(module=("noaliases",)) as server:
        assert "unknown command" in server.client.refusal("BF.ADD", "b", "x")
        assert "unknown command" in server.client.refusal("CMS.INFO", "b")
        assert server.client("WEIR.RESERVE", "k", "MEMORY", 65536) == "OK"
    with Server(module=("cms-seed", "abc", "max-bytes-per-key", MIB)) as server:
        server.client("CMS.INITBYDIM", "k", 10, 2)
        assert "raise weir" in server.client.refusal("CMS.INITBYDIM", "n", 1_000_000, 2)


run_tests(globals())
