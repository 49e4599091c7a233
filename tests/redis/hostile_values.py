"""2,000 forged values; slow_hostile_values.py has 10,000."""
from support.hostile import attack

attack(2000, 1)
