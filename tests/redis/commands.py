"""What each command replies, and what it says when it cannot."""
import math
import time

from support.server import Refused, Server, run_tests

MIB = 1 << 20


def test_filters():
    with Server() as server:
        c = server.client
        assert c("WEIR.RESERVE", "k", "MEMORY", MIB) == "OK"
        assert c("TYPE", "k") == "weir-filt"
        assert c("WEIR.ADD", "k", "a") == 1
        assert c("WEIR.ADD", "k", "a") == 0
        assert c("WEIR.ADD", "k", b"\x00\xff\r\n", "IMPORTANCE", 3) == 1
        assert c("WEIR.ADD", "k", "") == 1  # the empty item is one
        assert c("WEIR.MADD", "k", "a", "b", "c", "b") == [0, 1, 1, 0]
        assert c("WEIR.EXISTS", "k", "b") == 1
        assert c("WEIR.EXISTS", "k", "z") == 0
        assert c("WEIR.MEXISTS", "k", "b", "z", b"\x00\xff\r\n", "") == [1, 0, 1, 1]
        assert c("WEIR.CARD", "k") == 5
        assert c("WEIR.RESET", "k") == "OK"
        assert c("WEIR.MEXISTS", "k", "a", "b") == [0, 0]
        assert c("WEIR.CARD", "k") == 0
        # A key that is not there has seen nothing.
        assert c("WEIR.EXISTS", "none", "a") == 0
        assert c("WEIR.MEXISTS", "none", "a", "b") == [0, 0]
        assert c("WEIR.CARD", "none") == 0
        assert c("WEIR.COUNT", "none", "a", "b") == [0, 0]
        assert c("EXISTS", "none") == 0


def test_every_filter_of_the_catalogue():
    with Server() as server:
        c = server.client
        message = c.refusal("WEIR.RESERVE", "k", "MEMORY", MIB, "FILTER", "nothing")
        assert message.startswith("ERR there is no structure 'nothing'; there are weir, bloom"), message
        names = message.split("there are ")[1].split(", ")
        assert len(names) == 20
        for name in names:
            words = ("WEIR.RESERVE", name, "MEMORY", 200_000, "FILTER", name)
            if "reservoir" in name:
                assert "is a sample" in c.refusal(*words)
                continue
            assert c(*words) == "OK", name
            kind = c("WEIR.INFO", name, "kind")
            if kind == b"filter":
                assert c("WEIR.ADD", name, "x") == 1, name
                assert c("WEIR.ADD", name, "x") == 0 or name in ("rsbf",), name
                assert "use WEIR.ADD" in c.refusal("WEIR.COUNT", name, "x")
                assert "use WEIR.ADD" in c.refusal("WEIR.INCRBY", name, "x", 1)
            else:
                assert c("WEIR.INCRBY", name, "x", 3, "y", 1, "x", 2) == [3, 1, 5], name
                assert c("WEIR.COUNT", name, "x", "y", "z") == [5, 1, 0], name
                assert c("WEIR.CARD", name) == 6
                assert "use WEIR.INCRBY" in c.refusal("WEIR.ADD", name, "x")
                assert "use WEIR.INCRBY" in c.refusal("WEIR.MEXISTS", name, "x")
            assert c("MEMORY", "USAGE", name) <= 200_000 + 1024
            assert c("WEIR.INFO", name, "bytes") <= 200_000


def test_memory_is_what_was_asked_for():
    with Server() as server:
        c = server.client
        for asked in (4096, 10_000, 65_536, 100_000, MIB, 3_000_000, 64 * MIB, 100_000_000):
            before = int(server.client("INFO", "memory").split(b"used_memory:")[1].split(b"\r")[0])
            c("WEIR.RESERVE", "k", "MEMORY", asked)
            after = int(server.client("INFO", "memory").split(b"used_memory:")[1].split(b"\r")[0])
            assert after - before <= asked + 100_000, (asked, after - before)  # a client's buffers too
            bytes_ = c("WEIR.INFO", "k", "bytes")
            assert 0.7 * asked < bytes_ <= asked, (asked, bytes_)
            assert bytes_ < c("MEMORY", "USAGE", "k") <= asked + 1024
            assert c("INFO", "weir").find(b"weir_bytes:%d\r" % bytes_) > 0
            c("DEL", "k")
            assert b"weir_keys:0\r\nweir_bytes:0\r" in c("INFO", "weir")


def test_refusals():
    with Server(module=("max-bytes-per-key", 8 * MIB)) as server:
        c = server.client
        for words in (("ADD", "none", "a"), ("MADD", "none", "a"), ("RESET", "none"), ("INFO", "none"),
                      ("DUMP", "none", 0), ("TOP", "none"), ("INCRBY", "none", "a", 1),
                      ("MERGE", "into", "none")):
            assert "WEIR.RESERVE key MEMORY bytes" in c.refusal("WEIR." + words[0], *words[1:]), words
        c("SET", "text", "x")
        c("WEIR.RESERVE", "k", "MEMORY", 65536)
        for words in (("ADD", "text", "a"), ("MADD", "text", "a"), ("EXISTS", "text", "a"), ("CARD", "text"),
                      ("INFO", "text"), ("RESET", "text"), ("MERGE", "k", "text"), ("MERGE", "text", "k"),
                      ("DUMP", "text", 0), ("LOAD", "text", 0, "x"), ("COUNT", "text", "a"), ("TOP", "text"),
                      ("RESERVE", "text", "MEMORY", 65536)):
            assert c.refusal("WEIR." + words[0], *words[1:]).startswith("WRONGTYPE "), words
        assert "WRONGTYPE" in c.refusal("GET", "k")
        for words, part in (
                (("k", "MEMORY", 65536), "exists already"),
                (("n",), "wrong number"),
                (("n", "FPR", "0.1"), "MEMORY bytes"),
                (("n", "MEMORY", "0"), "MEMORY must be"),
                (("n", "MEMORY", "-5"), "MEMORY must be"),
                (("n", "MEMORY", "x"), "MEMORY must be"),
                (("n", "MEMORY", "4095"), "MEMORY must be"),
                (("n", "MEMORY", 8 * MIB + 1), "raise weir.max-bytes-per-key"),
                (("n", "MEMORY", 65536, "FPR"), "FPR needs a value"),
                (("n", "MEMORY", 65536, "FPR", "1.5"), "above 0 and below 1"),
                (("n", "MEMORY", 65536, "FPR", "nan"), "ERR"),
                (("n", "MEMORY", 65536, "SEED", "xyz"), "SEED must be"),
                (("n", "MEMORY", 65536, "SEED", "1" * 17), "SEED must be"),
                (("n", "MEMORY", 65536, "HASH", "md5"), "HASH must be"),
                (("n", "MEMORY", 65536, "WINDOW", "5", "TTL", "5"), "either"),
                (("n", "MEMORY", 65536, "WINDOW", "0"), "WINDOW must be"),
                (("n", "MEMORY", 65536, "WINDOW", 1_000_000), "MEMORY 65536 is too little for this; MEMORY 3670016 would do"),
                (("n", "MEMORY", 65536, "WINDOW", 1_000_000, "FILTER", "bloom"), "would do"),
                (("n", "MEMORY", 65536, "FILTER", "bloom:m=1000000"), "MEMORY 131072 would do"),
                (("n", "MEMORY", 65536, "WINDOW", 10_000_000_000), "needs"),
                (("n", "MEMORY", 65536, "WINDOW", 10, "FILTER", "stable"), "cannot be held by stable"),
                (("n", "MEMORY", 65536, "WINDOW", 10, "FILTER", "apbf:g=3"), "says what g is"),
                (("n", "MEMORY", 65536, "FILTER", "bloom:nothing=1"), "nothing"),
                (("n", "MEMORY", 65536, "WHAT", 1), "there is no option 'WHAT'"),
                (("n", "MEMORY", 65536, "FILTER", "bloom\r\n+OK"), "ERR there is no structure")):
            message = c.refusal("WEIR.RESERVE", *words)
            assert part in message and "\r" not in message, (words, message)
        assert c("EXISTS", "n") == 0
        for words in (("WINDOW", 1_000_000), ("WINDOW", 900_000, "FILTER", "a2"), ("WINDOW", 1_000_000, "FILTER", "bloom"),
                      ("FILTER", "bloom:m=9000000")):
            enough = int(c.refusal("WEIR.RESERVE", "n", "MEMORY", 8192, *words).split()[-3])
            assert "would do" in c.refusal("WEIR.RESERVE", "n", "MEMORY", enough - 1, *words)
            assert c("WEIR.RESERVE", "n", "MEMORY", enough, *words) == "OK"  # what was said is true
            c("DEL", "n")
        assert "only IMPORTANCE" in c.refusal("WEIR.ADD", "k", "a", "WEIGHT", 3)
        assert "wrong number" in c.refusal("WEIR.ADD", "k", "a", "IMPORTANCE")
        assert "IMPORTANCE must be" in c.refusal("WEIR.ADD", "k", "a", "IMPORTANCE", 0)
        assert "expected_fnr" in c.refusal("WEIR.INFO", "k", "secret")
        assert "space-saving" in c.refusal("WEIR.TOP", "k")
        assert "not a cursor" in c.refusal("WEIR.DUMP", "k", 17) or "begin again" in c.refusal("WEIR.DUMP", "k", 17)
        assert c("CONFIG", "SET", "weir.max-bytes-per-key", "9mb") == "OK"
        assert c("WEIR.RESERVE", "n", "MEMORY", 8 * MIB + 1) == "OK"


def test_sketches():
    with Server() as server:
        c = server.client
        c("WEIR.RESERVE", "s", "MEMORY", 65536, "FILTER", "spectral")
        c("WEIR.RESERVE", "m", "MEMORY", 65536, "FILTER", "count-min")
        c("WEIR.RESERVE", "t", "MEMORY", 65536, "FILTER", "space-saving")
        assert c("WEIR.INCRBY", "m", "a", 5, "b", 1) == [5, 1]
        assert c("WEIR.INCRBY", "m", "a", -2) == [3]
        reply = c("WEIR.INCRBY", "m", "a", -9, "c", 4)
        assert isinstance(reply[0], Refused) and reply[1] == 4, reply
        assert c("WEIR.COUNT", "m", "a", "c") == [3, 4]
        assert "must be a whole number" in c.refusal("WEIR.INCRBY", "m", "a", 1, "b", "x")
        assert c("WEIR.COUNT", "m", "a") == [3]  # nothing was counted
        assert "wrong number" in c.refusal("WEIR.INCRBY", "m", "a", 1, "b")
        c("WEIR.INCRBY", "t", "one", 1, "three", 3, "two", 2)
        assert c("WEIR.TOP", "t") == [[b"three", 3, 3], [b"two", 2, 2], [b"one", 1, 1]]
        assert c("WEIR.TOP", "t", 1) == [[b"three", 3, 3]]
        assert c("WEIR.TOP", "t", 0) == []
        for key in "smt":
            assert c("WEIR.RESET", key) == "OK"
            assert c("WEIR.CARD", key) == 0
            assert c("WEIR.COUNT", key, "a", "three") == [0, 0]


def test_merging():
    with Server() as server:
        c = server.client
        for key in "ab":
            c("WEIR.RESERVE", key, "MEMORY", 65536, "FILTER", "bloom", "SEED", "5")
        c("WEIR.MADD", "a", 1, 2, 3)
        c("WEIR.MADD", "b", 4, 5)
        assert c("WEIR.MERGE", "c", "a", "b") == "OK"  # a new one
        assert c("WEIR.MEXISTS", "c", 1, 2, 3, 4, 5, 6) == [1, 1, 1, 1, 1, 0]
        assert c("WEIR.MERGE", "a", "b") == "OK"
        assert c("WEIR.MEXISTS", "a", 1, 5, 6) == [1, 1, 0]
        assert c("WEIR.MEXISTS", "b", 1, 5, 6) == [0, 1, 0]
        c("WEIR.RESERVE", "other", "MEMORY", 65536, "FILTER", "bloom")
        c("WEIR.RESERVE", "large", "MEMORY", 165536, "FILTER", "bloom", "SEED", "5")
        c("WEIR.RESERVE", "weir", "MEMORY", 65536, "SEED", "5")
        c("WEIR.RESERVE", "window", "MEMORY", 65536, "SEED", "5", "WINDOW", 100)
        digest = server.digest("a")
        for key, part in (("other", "different secrets"), ("large", "parameters differ"),
                          ("weir", "different structures"), ("a", "into itself"), ("window", "window")):
            assert part in c.refusal("WEIR.MERGE", "a", "b", key), key
        assert server.digest("a") == digest  # all or nothing


def test_windows():
    with Server() as server:
        c = server.client
        c("WEIR.RESERVE", "n", "MEMORY", MIB, "WINDOW", 1000)
        c("WEIR.ADD", "n", "first")
        step = c("WEIR.INFO", "n", "window_step")
        for i in range(0, 900, 100):
            c("WEIR.MADD", "n", *range(i, i + 100))
        assert c("WEIR.EXISTS", "n", "first") == 1
        c("WEIR.MADD", "n", *range(1000, 1000 + 100 + 20 * step))
        assert c("WEIR.EXISTS", "n", "first") == 0
        for filter_, kind in (("a2", b"jumping"), ("bloom", b"landmark"), ("apbf", b"sliding")):
            c("WEIR.RESERVE", filter_, "MEMORY", MIB, "WINDOW", 50, "FILTER", filter_)
            assert c("WEIR.INFO", filter_, "window") == kind
            c("WEIR.MADD", filter_, *range(50))
            assert c("WEIR.ADD", filter_, 0) == (1 if kind == b"landmark" else 0)
            c("WEIR.MADD", filter_, *range(100, 300))
            assert c("WEIR.EXISTS", filter_, 3) == 0
        for filter_ in ("apbf", "a2", "blocked-bloom"):
            c("WEIR.RESERVE", "t" + filter_, "MEMORY", MIB, "TTL", 1, "FILTER", filter_)
            time.sleep(1.001 - time.time() % 1)  # at a landmark's begin
            assert c("WEIR.ADD", "t" + filter_, "x") == 1
            assert c("WEIR.ADD", "t" + filter_, "x") == 0
            assert c("WEIR.EXISTS", "t" + filter_, "x") == 1
            digest = server.digest("t" + filter_)
            time.sleep(2.1)
            assert c("WEIR.MEXISTS", "t" + filter_, "x", "y") == [0, 0]
            assert server.digest("t" + filter_) == digest  # looking changes nothing
            assert c("WEIR.ADD", "t" + filter_, "x") == 1


def test_info():
    with Server() as server:
        c = server.client
        c("WEIR.RESERVE", "k", "MEMORY", 65536, "FPR", "0.01")
        c("WEIR.MADD", "k", *range(20_000))
        c("WEIR.MADD", "k", *range(18_000, 20_000))
        c("HELLO", 3)
        info = c("WEIR.INFO", "k")
        assert info["filter"] == b"weir" and info["hash"] == b"siphash"
        assert info["records"] == 22_000 and info["seen"] + info["new"] == 22_000
        assert 0 < info["fill"] <= 1 and 0 < info["fpr"] < 0.02, info
        fnr = c("WEIR.INFO", "k", "EXPECTED_FNR")
        assert fnr is None or 0 <= fnr <= 1
        for name, value in info.items():
            assert c("WEIR.INFO", "k", name) == value
        # The secret is told nowhere.
        state = c("WEIR.DUMP", "k", 0)[1]
        secret = state[64:80]
        c("WEIR.INFO", "k")
        for words in (("WEIR.INFO", "k"), ("INFO", "everything"), ("OBJECT", "ENCODING", "k")):
            c.send(*words)
            reply = repr(c.read())
            assert repr(secret)[2:-1] not in reply and secret.hex() not in reply
        assert math.isfinite(info["fill"])


def test_the_server_knows_the_commands():
    with Server() as server:
        c = server.client
        names = [n.decode() for n in c("COMMAND", "LIST", "FILTERBY", "MODULE", "weir")]
        assert len(names) >= 17
        for name in names:
            docs = c("COMMAND", "DOCS", name)[1]
            fields = dict(zip(docs[::2], docs[1::2]))
            assert len(fields[b"summary"]) > 10 and fields[b"arguments"][0][1] == b"key", name
            info = c("COMMAND", "INFO", name)[0]
            flags = info[2]
            assert ("write" in flags) != ("readonly" in flags), name
            assert "denyoom" in flags or "readonly" in flags
            assert info[3:6] in ([1, 1, 1], [1, -1, 1])
            assert c("COMMAND", "GETKEYS", name, "one", *["1"] * (abs(info[1]) - 2))[0] == b"one"
        assert c("COMMAND", "GETKEYS", "WEIR.MERGE", "a", "b", "c") == [b"a", b"b", b"c"]
        reserve = dict(zip(*[iter(c("COMMAND", "DOCS", "WEIR.RESERVE")[1])] * 2))
        memory = [dict(zip(*[iter(a)] * 2)) for a in reserve[b"arguments"]][2]
        assert memory[b"token"] == b"MEMORY" and b"flags" not in memory, memory
        # Access control: a reader may look and not add. (Servers before 7.2 know modules' commands
        # by name only.)
        c("WEIR.RESERVE", "k", "MEMORY", 65536)
        c("ACL", "SETUSER", "reader", "on", "nopass", "+weir.exists", "~k")
        other = server.connect()
        other("AUTH", "reader", "x")
        assert other("WEIR.EXISTS", "k", "a") == 0
        assert "NOPERM" in other.refusal("WEIR.ADD", "k", "a")
        assert "NOPERM" in other.refusal("WEIR.EXISTS", "other", "a")


def test_events_and_memory_limits():
    with Server("--notify-keyspace-events", "KEA") as server:
        c, listener = server.client, server.connect()
        listener("SUBSCRIBE", "__keyspace@0__:k")
        c("WEIR.RESERVE", "k", "MEMORY", 65536)
        c("WEIR.ADD", "k", "a")
        c("WEIR.MADD", "k", "a")
        c("WEIR.RESET", "k")
        events = [listener.read()[2] for _ in range(4)]
        assert events == [b"weir.reserve", b"weir.add", b"weir.madd", b"weir.reset"], events
        # WATCH sees a change.
        other = server.connect()
        other("WATCH", "k")
        other("MULTI")
        other("PING")
        c("WEIR.ADD", "k", "b")
        assert other("EXEC") is None
        # maxmemory counts the filters.
        c("CONFIG", "SET", "maxmemory", "4mb")
        assert c("WEIR.RESERVE", "x", "MEMORY", 4 * MIB) == "OK"
        assert c.refusal("WEIR.RESERVE", "y", "MEMORY", 65536).startswith("OOM ")
        assert c.refusal("WEIR.ADD", "k", "c").startswith("OOM ")
        assert c("WEIR.EXISTS", "k", "b") == 1


run_tests(globals())
