"""100,000 random commands, with a save and a restart now and then."""
from support.compare import compare

count = 0


def sometimes(server):
    global count
    count += 1
    if count % 40 == 0:
        server.client("SAVE")
        server.restart()


compare(100_000, 2, sometimes)
