#!/bin/bash
python3 - <<'PY'
import csv
import json
import struct
import zlib
from collections import defaultdict
from decimal import Decimal

amounts = defaultdict(Decimal)
with open("/app/sales.csv", newline="") as file:
    for row in csv.DictReader(file, delimiter=";"):
        amounts[row["region"]] += Decimal(row["amount"].replace(",", "."))
with open("/app/summary.json", "w") as file:
    json.dump({"total": float(sum(amounts.values()))}, file)

width, height, base, most = 320, 240, 220, 200
colours = [(31, 119, 180), (255, 127, 14), (44, 160, 44), (214, 39, 40)]
pixels = [[(255, 255, 255)] * width for _ in range(height)]
for place, amount in enumerate(amounts.values()):
    tall = round(float(amount / max(amounts.values())) * most)
    for y in range(base - tall, base):
        for x in range(20 + place * 75, 70 + place * 75):
            pixels[y][x] = colours[place % 4]
raw = b"".join(b"\0" + bytes(part for pixel in line for part in pixel) for line in pixels)


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


with open("/app/chart.png", "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
    file.write(chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))
PY
