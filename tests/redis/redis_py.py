"""redis-py's r.bf() and r.cms(), unchanged."""
import os
import sys

try:
    import redis
except ImportError:  # Debian's package is of Debian's own Python
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    raise

from support.server import Server, run_tests

PROTOCOLS = (2, 3) if int(redis.__version__.split(".")[0]) >= 5 else (2,)


def clients(server):
    """One of each protocol that this redis-py speaks, on an empty server."""
    for protocol in PROTOCOLS:
        options = {"protocol": protocol} if len(PROTOCOLS) > 1 else {}
        client = redis.Redis(port=server.port, **options)
        client.flushall()
        yield client
        client.close()


def refusal(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except redis.ResponseError as error:
        return str(error)
    raise AssertionError(f"{arguments} gave no error")


def field(info, attribute, name):
    """Of an object, or of the plain dictionary that some versions give for RESP3."""
    if isinstance(info, dict):
        return info[name.encode()] if name.encode() in info else info[name]
    return getattr(info, attribute)


def test_bloom_filters():
    with Server() as server:
        for r in clients(server):
            bf = r.bf()
            assert bf.create("k", 0.01, 1000)
            assert bf.create("grows", 0.01, 10, expansion=4)
            assert bf.create("fixed", 0.01, 3, noScale=True)
            assert "cannot expand" in refusal(bf.create, "both", 0.01, 3, expansion=2, noScale=True)
            assert "item exists" in refusal(bf.create, "k", 0.01, 1000)
            assert bf.add("k", "x") == 1 and bf.add("k", "x") == 0
            assert bf.madd("k", "x", "y", b"\x00\xff") == [0, 1, 1]
            assert bf.exists("k", "y") == 1 and bf.exists("k", "z") == 0
            assert bf.mexists("k", "x", "z", b"\x00\xff") == [1, 0, 1]
            assert bf.insert("made", ["a", "b", "a"], capacity=50, error=0.001, expansion=2) == [1, 1, 0]
            assert "not found" in refusal(bf.insert, "none", ["a"], noCreate=True)
            full = bf.insert("fixed", ["a", "b", "c", "d", "e"])
            assert full[:3] == [1, 1, 1] and len(full) == 4 and "non scaling filter is full" in str(full[3])
            bf.madd("grows", *range(500))
            info = bf.info("grows")
            filters = field(info, "filterNum", "Number of filters")
            assert field(info, "capacity", "Capacity") == sum(10 * 4 ** i for i in range(filters))
            assert field(info, "insertedNum", "Number of items inserted") > 480
            assert field(info, "expansionRate", "Expansion rate") == 4
            assert field(info, "size", "Size") > 500
            assert field(bf.info("fixed"), "expansionRate", "Expansion rate") is None
            if hasattr(bf, "card"):
                assert bf.card("made") == 2 and bf.card("none") == 0


def test_chunks_as_its_users_move_them():
    with Server() as server:
        for r in clients(server):
            bf = r.bf()
            bf.create("k", 0.001, 800_000)
            bf.madd("k", *range(1000))
            chunks, at = [], 0
            while True:
                at, data = bf.scandump("k", at)
                if at == 0:
                    break
                chunks.append((at, data))
            assert len(chunks) > 1
            for at, data in chunks:
                assert bf.loadchunk("other", at, data) in (b"OK", True)
            assert all(bf.mexists("other", *range(1000)))


def test_count_min():
    with Server() as server:
        for r in clients(server):
            cms = r.cms()
            assert cms.initbydim("a", 1000, 5) and cms.initbydim("b", 1000, 5) and cms.initbydim("c", 1000, 5)
            assert cms.initbyprob("p", 0.001, 0.01)
            assert cms.incrby("a", ["x"], [5]) == [5]
            assert cms.incrby("a", ["x", "y"], [5, 3]) == [10, 3]
            assert cms.query("a", "x", "z") == [10, 0]
            cms.incrby("b", ["x", "z"], [1, 1])
            assert cms.merge("c", 2, ["a", "b"])
            assert cms.query("c", "x", "y", "z") == [11, 3, 1]
            assert cms.merge("c", 2, ["a", "b"], [3, 2])
            assert cms.query("c", "x", "y", "z") == [32, 9, 2]
            info = cms.info("c")
            assert field(info, "width", "width") == 1000 and field(info, "depth", "depth") == 5
            assert field(info, "count", "count") == 13 * 3 + 2 * 2
            assert field(cms.info("p"), "width", "width") == 2000
            assert "key does not exist" in refusal(cms.query, "none", "x")
            assert "not equal" in refusal(cms.merge, "c", 1, ["p"])


print(f"redis-py {redis.__version__}, RESP {' and '.join(map(str, PROTOCOLS))}")
run_tests(globals())
