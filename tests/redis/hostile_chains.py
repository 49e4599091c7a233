"""10,000 damaged RESTORE and BF.LOADCHUNK payloads of chains, with valid outer checksums."""
from support.hostile import attack_chains

attack_chains(10_000, 5)
