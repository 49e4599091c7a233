"""10,000 forged values."""
from support.hostile import attack

attack(10_000, 2)
