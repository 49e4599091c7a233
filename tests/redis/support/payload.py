"""DUMP payloads taken apart and put together again, so that what is inside can be forged."""

# CRC-64/Jones: the polynomial 0xad93d23594c935a9, bits in and out from the lowest on.
TABLE = []
for byte in range(256):
    crc = byte
    for _ in range(8):
        crc = crc >> 1 ^ (0x95AC9329AC4BC9B5 if crc & 1 else 0)
    TABLE.append(crc)


def crc64(data, crc=0):
    table = TABLE
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def seal(body, footer):
    """The body with its version and a right checksum; footer: the ten bytes of the original."""
    sealed = body + footer[:2]
    return sealed + crc64(sealed).to_bytes(8, "little")
