"""Servers of Redis's own kind on free local ports, each in a folder of its own, and a plain client.

A server is ended by its process id; no other server is ever touched."""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(os.environ["WEIR_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["WEIR_SOURCE_DIR"])
WEIR = os.environ["WEIR"]
MODULE = BUILD / "weir.so"


# Debian's redis-tools holds the server under another name, without the service that redis-server starts.
BINARY = shutil.which("redis-server") or shutil.which("redis-check-rdb")


# With sanitizers: their libraries, which the server must have before it loads the module.
PRELOAD = os.environ.get("WEIR_PRELOAD", "")
ENVIRONMENT = os.environ | ({"LD_PRELOAD": PRELOAD} if PRELOAD else {})


class Refused(Exception):
    """An error that the server replied with."""


class Client:
    def __init__(self, port, seconds=120):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        self.buffer = self.socket.makefile("rb")

    def close(self):
        self.buffer.close()
        self.socket.close()

    def send(self, *words):
        parts = [b"*%d\r\n" % len(words)]
        for word in words:
            data = word if isinstance(word, bytes) else str(word).encode()
            parts += [b"$%d\r\n" % len(data), data, b"\r\n"]
        self.socket.sendall(b"".join(parts))

    def read(self):
        """The next reply; errors within an array are returned, not raised."""
        line = self.buffer.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server is gone")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return Refused(rest.decode())
        if kind in (b":", b"("):
            return int(rest)
        if kind == b",":
            return float(rest)
        if kind == b"#":
            return rest == b"t"
        if kind == b"_":
            return None
        if kind in (b"$", b"="):
            if rest == b"-1":
                return None
            data = self.buffer.read(int(rest) + 2)[:-2]
            return data if kind == b"$" else data[4:]
        if kind in (b"*", b"~", b">"):
            return None if rest == b"-1" else [self.read() for _ in range(int(rest))]
        if kind == b"%":
            return {self.key(self.read()): self.read() for _ in range(int(rest))}
        raise ValueError(line)

    @staticmethod
    def key(value):
        return value.decode() if isinstance(value, bytes) else value

    def __call__(self, *words):
        self.send(*words)
        reply = self.read()
        if isinstance(reply, Refused):
            raise reply
        return reply

    def many(self, commands):
        """All commands at once, then all replies."""
        commands = list(commands)
        for command in commands:
            self.send(*command)
        return [self.read() for _ in commands]

    def refusal(self, *words):
        """The error that this command must give."""
        self.send(*words)
        reply = self.read()
        assert isinstance(reply, Refused), f"{words[:4]} gave {reply!r} and no error"
        return str(reply)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """with Server("--appendonly", "yes") as server: server.client("PING")"""

    def __init__(self, *options, module=(), folder=None, first=()):
        """`module`: the module's arguments; `first`: options in front of it."""
        self.options, self.module, self.first = options, module, first
        self.own = folder is None
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="weir-redis-"))
        self.process = None
        self.start()

    def start(self):
        for _ in range(5):  # another program may take the port in between
            self.port = free_port()
            log = open(self.folder / "log", "ab")
            self.process = subprocess.Popen(
                ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder),
                 "--save", "", "--enable-debug-command", "yes", "--daemonize", "no",
                 *map(str, self.first), "--loadmodule", str(MODULE), *map(str, self.module), *map(str, self.options)],
                executable=BINARY, env=ENVIRONMENT, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
            log.close()
            end = time.monotonic() + 60
            while self.process.poll() is None and time.monotonic() < end:
                try:
                    client = Client(self.port)
                    client("PING")
                    self.client = client
                    return
                except Refused:  # it loads
                    client.close()
                    time.sleep(0.02)
                except OSError:
                    time.sleep(0.02)
        raise RuntimeError("the server does not start:\n" + self.log()[-1500:])

    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def connect(self):
        return Client(self.port)

    def stop(self, kill=False):
        if self.process is None:
            return
        self.client.close()
        (self.process.kill if kill else self.process.terminate)()
        self.process.wait(60)
        self.process = None

    def restart(self, kill=False):
        self.stop(kill)
        self.start()

    def digest(self, *keys):
        return [d if isinstance(d, str) else d.decode() for d in self.client("DEBUG", "DIGEST-VALUE", *keys)]

    def __enter__(self):
        return self

    def __exit__(self, *trouble):
        if trouble[0] is not None:
            sys.stderr.write("".join(self.log().splitlines(True)[-40:]))
        self.stop(kill=not PRELOAD)  # leaks are told at the end
        # The server asks for what a forged length says, and takes no for an answer.
        log = self.log().replace("WARNING: AddressSanitizer failed to allocate", "")
        complaint = log.find("Sanitizer")
        if complaint >= 0:
            raise RuntimeError(log[max(0, complaint - 200):][:5000])
        if self.own:
            shutil.rmtree(self.folder, ignore_errors=True)


def dump_state(client, key):
    """The whole state file of a key."""
    cursor, data = 0, b""
    while True:
        following, chunk = client("WEIR.DUMP", key, cursor)
        data += chunk
        if following == 0:
            return data
        assert following == len(data)
        cursor = following


def load_state(client, key, data, piece=1 << 20):
    at = 0
    while True:
        reply = client("WEIR.LOAD", key, at, data[at:at + piece])
        if reply == 0:
            return
        at += piece
        assert reply == at < len(data)


def run_tests(namespace):
    """Every function named test_..., in order."""
    for name, test in list(namespace.items()):
        if name.startswith("test_"):
            print(name, flush=True)
            test()
