"""What weir dedup has to give: an exact set beside it, and every way to run it."""
import itertools

from support.command import CommandTest

# No repeat is missed, and at a few thousand records no new one is taken for a repeat.
LARGE = ["-f", "blocked-bloom", "-S", "1M", "--seed", 1]


def first_ones(records, key, on_bad="pass"):
    """The records to be written, where key(record) is None for a bad one."""
    seen, kept = set(), []
    for record in records:
        found = key(record)
        if found is None:
            if on_bad == "pass":
                kept.append(record)
        elif found not in seen:
            seen.add(found)
            kept.append(record)
    return b"".join(kept)


def chosen(fields, selection):
    """The fields that a list as in cut selects; None where one of them is missing."""
    wanted = set()
    for item in selection.split(","):
        first, dash, last = item.partition("-")
        first = int(first or 1)
        last = int(last) if last else max(len(fields), first) if dash else first
        wanted |= set(range(first, last + 1))
    if max(wanted) > len(fields):
        return None
    return tuple(fields[number - 1] for number in sorted(wanted))


def ways(shards=(1, 4), threads=(1, 2, 4), chunks=(64, 100, 1000, "256K")):
    """Options that must not make a difference."""
    for s, j, chunk in itertools.product(shards, threads, chunks):
        yield ["--shards", s, "-j", j, "--chunk", chunk]


def terminated(records, end=b"\n"):
    return b"".join(record + end for record in records)


class DedupTest(CommandTest):
    def dedup(self, stdin, *arguments):
        return self.output("dedup", *LARGE, *arguments, stdin=stdin)

    def same_every_way(self, stdin, expected, *arguments, **limits):
        for way in ways(**limits):
            result = self.done("dedup", *LARGE, "-q", *way, *arguments, stdin=stdin)
            if result.stdout != expected:
                at = next((i for i, (a, b) in enumerate(zip(result.stdout, expected)) if a != b),
                          min(len(result.stdout), len(expected)))
                self.fail(f"{way} {arguments}: from byte {at} on {result.stdout[at:at + 80]!r} "
                          f"instead of {expected[at:at + 80]!r}")
