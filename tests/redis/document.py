"""The examples of docs/redis.md are true."""
import re
import subprocess

from support.server import SOURCE, Server

blocks = re.findall(r"^```redis\n(.*?)^```$", (SOURCE / "docs" / "redis.md").read_text(), re.M | re.S)
assert blocks
with Server() as server:
    for block in blocks:
        for example in block.split("> ")[1:]:
            command, expected = example.split("\n", 1)
            done = subprocess.run(["redis-cli", "--no-raw", "-p", str(server.port), *command.split()],
                                  capture_output=True, text=True, check=False)
            assert done.stdout.strip() == expected.strip(), f"{command}\n{done.stdout}"
