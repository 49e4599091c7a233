"""Streams by Zipf's law, and what weir top says of their counts."""
import random


def zipf(seed, records=20_000, keys=3000, exponent=1.1):
    draw = random.Random(seed)
    weights = [1 / (rank + 1) ** exponent for rank in range(keys)]
    return [b"key%d" % key for key in draw.choices(range(keys), weights, k=records)]


def bounds(text):
    least, _, most = text.partition("-")
    return int(least), int(most or least)
