"""A table with a delimiter and a decimal comma to be noticed, and a chart without the usual tools."""

from __future__ import annotations

from scripted.facts import Facts
from scripted.moves import IDLE, Goal, Move, Repertoire, says

SUM = """\
python3 - <<'EOF'
import csv, json
rows = list(csv.DictReader(open("/app/sales.csv"){delimiter}))
total = sum(float(row["amount"]{decimal}) for row in rows)
json.dump({{"total": round(total, 2)}}, open("/app/summary.json", "w"))
print(len(rows), "rows, total", round(total, 2))
EOF"""
PLOT = """\
python3 - <<'EOF'
import csv
{tool}
rows = list(csv.DictReader(open("/app/sales.csv"){delimiter}))
{draw}
EOF"""
BY_HAND = """\
python3 - <<'EOF'
import csv, struct, zlib
sums = {{}}
for row in csv.DictReader(open("/app/sales.csv"){delimiter}):
    sums[row["region"]] = sums.get(row["region"], 0) + float(row["amount"]{decimal})
least, most = {least}, max(sums.values())
colours = [(200, 40, 40), (40, 120, 200), (40, 160, 80), (220, 160, 30), (120, 60, 160)]
white, lines = (255, 255, 255), []
for y in range(200):
    line = []
    for x in range(60 * len(sums) + 20):
        bar, inside = divmod(x - 20, 60)
        tall = 180 * (list(sums.values())[bar] - least) / (most - least) if 0 <= bar < len(sums) else 0
        line += colours[bar % 5] if 0 <= inside < 40 and x >= 20 and 190 - tall <= y < 190 else white
    lines.append(bytes([0, *line]))
chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
head = struct.pack(">IIBBBBB", 60 * len(sums) + 20, 200, 8, 2, 0, 0, 0)
data = zlib.compress(b"".join(lines))
picture = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
open("/app/chart.png", "wb").write(picture)
print(len(sums), "bars,", len(picture), "bytes")
EOF"""


def _form(facts: Facts) -> dict[str, str]:
    """How the table is read, by what was seen of it."""
    delimiter, decimal = ', delimiter=";"', '.replace(",", ".")'
    return {
        "delimiter": delimiter if facts.shows(r"region;month") or facts.knows(delimiter) else "",
        "decimal": decimal if facts.shows(r";\d+,\d\d\b|float: '\d+,\d\d'") or facts.knows(decimal) else "",
    }


def _plot(tool: str, draw: str) -> str:
    return PLOT.format(tool=tool, draw=draw, delimiter=', delimiter=";"')


def _by_hand(facts: Facts) -> str | None:
    """Nobody writes a picture byte by byte before a tool was seen to be missing."""
    if not facts.absent & {"matplotlib", "gnuplot", "convert", "PIL"}:
        return None
    least = "0" if facts.thinks("bars from zero", 0.85, "proportion") else "0.5 * min(sums.values())"
    return BY_HAND.format(least=least, **_form(facts))


REPERTOIRE = Repertoire(
    name="csv-report",
    words=("sales.csv", "chart.png"),
    goals=(
        Goal("summary.json", lambda facts: facts.made("/app/summary.json")),
        Goal("chart.png", lambda facts: facts.made("/app/chart.png"), forgotten=0.3),
    ),
    moves=(
        Move("list", "See what is here.", says("ls -la /app"), 3),
        Move("head", "Look at the first rows of the table.", says("head -4 /app/sales.csv"), 2, after="KeyError"),
        Move("count", "See how long the table is.", says("wc -l /app/sales.csv"), 1),
        Move("kind", "See what kind of file it is.", says("file /app/sales.csv"), 0.7),
        Move(
            "pandas",
            "pandas reads, sums and plots a table in three lines.",
            says("python3 -c \"import pandas; print(pandas.read_csv('/app/sales.csv').dtypes)\""),
            1.5,
        ),
        Move(
            "awk",
            "Add the third column up with awk.",
            says("awk -F';' '{s += $3} END {print s}' /app/sales.csv"),
            0.8,
        ),
        Move(
            "sum",
            "Add the amounts up with Python's own csv module, and write the total.",
            lambda facts: SUM.format(**_form(facts)),
            2.5,
            goal="summary.json",
        ),
        Move(
            "matplotlib",
            "Draw the bars with matplotlib.",
            says(_plot("import matplotlib.pyplot as plot", 'plot.bar([r["region"] for r in rows], range(len(rows)))')),
            1.6,
            goal="chart.png",
        ),
        Move(
            "pillow",
            "Draw the bars with Pillow.",
            says(_plot("from PIL import Image, ImageDraw", 'Image.new("RGB", (320, 240), "white").verify()')),
            1.0,
            goal="chart.png",
        ),
        Move(
            "gnuplot",
            "gnuplot draws bars from a table.",
            says("gnuplot -e 'set terminal png; plot \"/app/sales.csv\" with boxes'"),
            1.2,
            goal="chart.png",
        ),
        Move(
            "imagemagick",
            "ImageMagick can draw rectangles.",
            says("convert -size 320x240 xc:white -draw 'rectangle 20,20 70,220' png:-"),
            1.0,
            goal="chart.png",
        ),
        Move(
            "by hand",
            "A PNG image is only a few packed blocks: write it with zlib and struct.",
            _by_hand,
            1.0,
            goal="chart.png",
        ),
        Move(
            "look at both",
            "Look at what was written.",
            says("cat /app/summary.json; ls -l /app/chart.png"),
            goal="/app/",
            is_check=True,
        ),
        *IDLE,
    ),
)
