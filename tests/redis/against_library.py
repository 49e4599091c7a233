"""10,000 random commands give what the library called directly gives."""
from support.compare import compare

compare(10_000, 1)
