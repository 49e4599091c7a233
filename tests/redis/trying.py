"""What `./run redis` starts (scripts/redis) answers on its port, and ends with Ctrl-C."""
import os
import re
import signal
import socket
import subprocess

from support.server import ENVIRONMENT, MODULE, SOURCE, Client

process = subprocess.Popen([SOURCE / "scripts" / "redis", MODULE], stdout=subprocess.PIPE, text=True,
                           env=ENVIRONMENT | {"ASAN_OPTIONS": "detect_leaks=0"},
                           start_new_session=True,
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
try:
    port = int(re.search(r"on port (\d+)", process.stdout.readline())[1])
    text = "".join(process.stdout.readline() for _ in range(6))
    client = Client(port)
    for command in re.findall(r"redis-cli -p \d+ (.*)", text):  # what it says can be tried
        client(*command.split())
    assert client("WEIR.MEXISTS", "seen", "apple", "quince") == [1, 0]
finally:
    os.killpg(process.pid, signal.SIGINT)
assert process.wait(30) == 0
try:
    socket.create_connection(("127.0.0.1", port), timeout=5).close()
    raise AssertionError("the server is still there")
except ConnectionRefusedError:
    pass
