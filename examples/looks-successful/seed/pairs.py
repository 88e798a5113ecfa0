"""Count the pairs of readings that differ by at most 10: python3 pairs.py FILE"""

import sys

LIMIT = 10


def count_pairs(readings):
    count = 0
    for i in range(len(readings)):
        for j in range(i + 1, len(readings)):
            if abs(readings[i] - readings[j]) <= LIMIT:
                count += 1
    return count


def main():
    with open(sys.argv[1]) as f:
        readings = [int(line) for line in f]
    print(count_pairs(readings))


if __name__ == "__main__":
    main()
