"""Adds the amounts up anew, and measures the bars in the picture's own pixels."""

import csv
import hashlib
import json
import struct
import sys
import zlib
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path

APP = Path("/app")
SEED = "c1e9eba7c8b64ded314bd86cd2f020074593ff5d624055556930f0c34bc9c41c"
SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
Pixel = tuple[int, ...]


class Wrong(Exception):
    """What is not as the task wants it."""


def amounts() -> dict[str, Decimal]:
    """Of each region, from the file as it was given."""
    raw = (APP / "sales.csv").read_bytes()
    if hashlib.sha256(raw).hexdigest() != SEED:
        raise Wrong("sales.csv was changed")
    found: dict[str, Decimal] = defaultdict(Decimal)
    for row in csv.DictReader(raw.decode().splitlines(), delimiter=";"):
        found[row["region"]] += Decimal(row["amount"].replace(",", "."))
    return found


def summary(total: Decimal) -> None:
    path = APP / "summary.json"
    if not path.is_file():
        raise Wrong("there is no summary.json")
    try:
        given = json.loads(path.read_text())["total"]
    except (ValueError, KeyError, TypeError):
        raise Wrong("summary.json is no JSON object with the key total") from None
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise Wrong("summary.json: total is not a number")
    if abs(Decimal(repr(given)) - total) >= Decimal("0.005"):
        raise Wrong("summary.json: total is not the sum of all amounts")


def chunks(raw: bytes) -> dict[bytes, bytes]:
    if not raw.startswith(SIGNATURE):
        raise Wrong("chart.png is not a PNG image")
    found: dict[bytes, bytes] = {}
    at = len(SIGNATURE)
    while at + 12 <= len(raw):
        (size,) = struct.unpack(">I", raw[at : at + 4])
        kind, body = raw[at + 4 : at + 8], raw[at + 8 : at + 8 + size]
        if raw[at + 8 + size : at + 12 + size] != struct.pack(">I", zlib.crc32(kind + body)):
            raise Wrong("chart.png is damaged")
        found[kind] = found.get(kind, b"") + body
        at += 12 + size
    if not {b"IHDR", b"IDAT", b"IEND"} <= found.keys():
        raise Wrong("chart.png is damaged")
    return found


def unfiltered(raw: bytes, lines: int, row: int, step: int) -> list[bytearray]:
    """The five filters of PNG, undone."""
    found, before = [], bytearray(row)
    if len(raw) < lines * (row + 1):
        raise Wrong("chart.png is damaged")
    for number in range(lines):
        start = number * (row + 1)
        kind, line = raw[start], bytearray(raw[start + 1 : start + 1 + row])
        for at in range(row if kind else 0):
            left, up = line[at - step] if at >= step else 0, before[at]
            corner = before[at - step] if at >= step else 0
            line[at] = (line[at] + predicted(kind, left, up, corner)) & 255
        found.append(line)
        before = line
    return found


def predicted(kind: int, left: int, up: int, corner: int) -> int:
    if kind < 4:
        return (0, left, up, (left + up) // 2)[kind]
    guess = left + up - corner
    return min((left, up, corner), key=lambda value: abs(guess - value))


def pixels(raw: bytes) -> list[list[Pixel]]:
    """Red, green and blue of every pixel."""
    parts = chunks(raw)
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    if depth != 8 or interlaced or kind not in CHANNELS:
        raise Wrong("chart.png is not an 8-bit image without interlacing")
    if width < 200 or height < 120 or width * height > 4_000_000:
        raise Wrong("chart.png has the wrong size")
    step = CHANNELS[kind]
    lines = unfiltered(zlib.decompress(parts[b"IDAT"]), height, width * step, step)
    palette = parts.get(b"PLTE", b"")
    return [[colour(line[x * step : x * step + step], kind, palette) for x in range(width)] for line in lines]


def colour(sample: bytearray, kind: int, palette: bytes) -> Pixel:
    if kind == 3:
        return tuple(palette[sample[0] * 3 : sample[0] * 3 + 3])
    return tuple(sample[:3]) if kind in {2, 6} else (sample[0],) * 3


def bars(picture: list[list[Pixel]]) -> list[tuple[int, int, int, bool]]:
    """Left edge, top, bottom and solidity of each coloured area that is big enough to be a bar, from left to right."""
    counts = Counter(pixel for line in picture for pixel in line)
    least = len(picture) * len(picture[0]) * 0.005
    # White, grey and black are background, axes and letters.
    paints = {paint for paint, count in counts.items() if count >= least and max(paint) - min(paint) >= 25}
    rows, columns = defaultdict(set), defaultdict(set)
    for y, line in enumerate(picture):
        for x, pixel in enumerate(line):
            if pixel in paints:
                rows[pixel].add(y)
                columns[pixel].add(x)
    found = []
    for paint in paints:
        top, bottom, left, right = min(rows[paint]), max(rows[paint]), min(columns[paint]), max(columns[paint])
        box = (bottom - top + 1) * (right - left + 1)
        found.append((left, top, bottom, counts[paint] > box * 0.95))
    return sorted(found)


def chart(regions: dict[str, Decimal]) -> None:
    path = APP / "chart.png"
    if not path.is_file():
        raise Wrong("there is no chart.png")
    picture = pixels(path.read_bytes())
    if picture[0][0] != (255, 255, 255):
        raise Wrong("the background of chart.png is not white")
    found = bars(picture)
    if len(found) != len(regions):
        raise Wrong(f"chart.png has {len(found)} bars in colours of their own, and there are {len(regions)} regions")
    if not all(solid for *_, solid in found):
        raise Wrong("a bar of chart.png is not solid")
    bottoms = [bottom for _, _, bottom, _ in found]
    if max(bottoms) - min(bottoms) > 1:
        raise Wrong("the bars of chart.png do not stand on one base line")
    heights = sorted(bottom - top + 1 for _, top, bottom, _ in found)
    wanted = sorted(float(amount / max(regions.values())) for amount in regions.values())
    for height, share in zip(heights, wanted, strict=True):
        if abs(height / heights[-1] - share) > 0.03:
            raise Wrong("chart.png: the heights of the bars are not in proportion to the amounts")


def main() -> int:
    try:
        regions = amounts()
    except Wrong as error:
        print(f"FAIL {error}")
        return 1
    failed = 0
    for check, argument in ((summary, sum(regions.values())), (chart, regions)):
        try:
            check(argument)
            print(f"ok   {check.__name__}")
        except (Wrong, zlib.error, OSError) as error:
            failed = 1
            print(f"FAIL {error}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
