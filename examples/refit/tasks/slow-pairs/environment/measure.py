"""Counts the lines of Python that `pairs` runs on the readings, and stops where there are too many."""

import sys
from pathlib import Path

sys.path.insert(0, "/app")

from pairs import pairs

LIMIT = 60_000


class TooMany(Exception):
    """The limit was passed."""


def steps(readings, wanted, limit=LIMIT):
    """How many lines ran; counting is the same on every machine, however busy it is."""
    count = 0

    def trace(_frame, event, _argument):
        nonlocal count
        count += event == "line"
        if count > limit:
            raise TooMany
        return trace

    sys.settrace(trace)
    try:
        pairs(readings, wanted)
    finally:
        sys.settrace(None)
    return count


if __name__ == "__main__":
    numbers = [int(line) for line in Path("/app/readings.txt").read_text().split()]
    try:
        print(f"quick enough: {steps(numbers, 1000):,} steps, the limit is {LIMIT:,}")
    except TooMany:
        sys.exit(f"FAILED: too slow, more than {LIMIT:,} steps for {len(numbers):,} readings")
