"""What `pairs` must give."""

import sys

sys.path.insert(0, "/app")

from pairs import pairs

CASES = [
    ([], 10, 0),
    ([5], 10, 0),
    ([5, 5], 10, 1),
    ([5, 5, 5], 10, 3),
    ([1, 9, 9, 1, 4], 10, 4),
    ([-3, 13, 0, 10, 2], 10, 2),
]

if __name__ == "__main__":
    failed = 0
    for readings, wanted, expected in CASES:
        found = pairs(list(readings), wanted)
        if found != expected:
            failed += 1
            print(f"FAILED: pairs({readings}, {wanted}) gives {found}, expected {expected}")
    print(f"{len(CASES) - failed} of {len(CASES)} passed")
    sys.exit(1 if failed else 0)
