"""Make `password-recovery/seed/disk.img`: leftovers of files, a broken archive, a password in two pieces.

    python examples/make/password_image.py

Nothing in it comes from a real disk. The same bytes come out each time.
"""

from __future__ import annotations

import random
import struct
import zlib
from pathlib import Path

IMAGE = Path(__file__).resolve().parents[1] / "password-recovery" / "seed" / "disk.img"
SIZE = 48 * 1024
FRAGMENTS = (b"8XDR7K2MQ9T", b"4HBV6NC3LW54")  # 11 and 12 characters

NOTES = b"""meeting notes, week 9
- the vault moves to the new server on Friday
- remove the old lists after the move
- ask Ines about the W54 label on the spare key
"""
LIST = b"old list, see the vault. nothing is kept here any more.\n" * 6


def broken_archive() -> bytes:
    """The beginning of a ZIP file: a local header and most of its data, but no central directory."""
    name = b"backup/passwords.txt"
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(LIST) + packer.flush()
    head = struct.pack(
        "<IHHHHHIIIHH", 0x04034B50, 20, 0, 8, 0, 0x5C63, zlib.crc32(LIST), len(data), len(LIST), len(name), 0
    )
    return head + name + data[:-6]


def main() -> None:
    noise = random.Random(23)
    image = bytearray(SIZE)
    for start in (2048, 14336, 30720, 43008):  # sectors that were never cleaned
        image[start : start + 1024] = noise.randbytes(1024)
    pieces = {
        4096: b"SYSLOG vault: session opened for user ines\nSYSLOG vault: session closed\n",
        9216: NOTES,
        12800: b"[vault]\nuser=ines\nPASSWORD=" + FRAGMENTS[0],
        20480: broken_archive(),
        26112: b"tmp_8XD_cache\0label=W54-spare\0",
        37376: FRAGMENTS[1] + b"\n[end of vault]\n",
    }
    for start, piece in pieces.items():
        image[start : start + len(piece)] = piece
    IMAGE.parent.mkdir(parents=True, exist_ok=True)
    IMAGE.write_bytes(image)


if __name__ == "__main__":
    main()
