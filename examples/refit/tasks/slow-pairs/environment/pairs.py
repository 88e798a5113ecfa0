"""Counts the pairs of readings whose sum is a given number."""

import sys
from pathlib import Path


def pairs(readings, wanted):
    count = 0
    for i in range(len(readings)):
        for j in range(i + 1, len(readings)):
            if readings[i] + readings[j] == wanted:
                count += 1
    return count


if __name__ == "__main__":
    print(pairs([int(line) for line in Path(sys.argv[1]).read_text().split()], int(sys.argv[2])))
