#!/bin/bash
cat > /app/pairs.py <<'PY'
"""Counts the pairs of readings whose sum is a given number."""

import sys
from collections import Counter
from pathlib import Path


def pairs(readings, wanted):
    seen, count = Counter(), 0
    for reading in readings:
        count += seen[wanted - reading]
        seen[reading] += 1
    return count


if __name__ == "__main__":
    print(pairs([int(line) for line in Path(sys.argv[1]).read_text().split()], int(sys.argv[2])))
PY
