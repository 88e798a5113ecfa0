"""A slow count: several ideas that stay slow, some that are quick and wrong, two that are right."""

from __future__ import annotations

from scripted.facts import Facts
from scripted.moves import IDLE, Goal, Make, Move, Repertoire, anew, says

MEASURE, TEST = "python3 /app/measure.py", "python3 /app/test_pairs.py"
PROGRAM = """\
cat > /app/pairs.py <<'EOF'
import sys
{imports}

def pairs(readings, wanted):
{body}

if __name__ == "__main__":
    print(pairs([int(line) for line in open(sys.argv[1])], int(sys.argv[2])))
EOF"""


def _version(imports: str, *body: str) -> Make:
    """A version of the program, then what looks at it: the measure always, the tests by who thinks of them."""
    program = PROGRAM.format(imports=imports, body="\n".join(f"    {line}" for line in body))

    def make(facts: Facts) -> tuple[str, ...]:
        tests = facts.thinks("running the tests", 0.7, "count right", "expected", "different readings")
        return (program, MEASURE, TEST) if tests else (program, MEASURE)

    return make


def _is_quick(facts: Facts) -> bool:
    measured, tested = facts.since(MEASURE, "/app/pairs.py"), facts.since(TEST, "/app/pairs.py")
    is_right = tested is None or tested.worked
    return facts.made("/app/pairs.py") and measured is not None and measured.worked and is_right


def _measure(facts: Facts) -> tuple[str, ...] | None:
    """What was repeated from a message is measured, as all else."""
    if facts.made("/app/pairs.py") and facts.since(MEASURE, "/app/pairs.py") is None:
        return MEASURE, TEST
    return None


REPERTOIRE = Repertoire(
    name="slow-pairs",
    words=("pairs.py", "measure.py"),
    goals=(Goal("pairs.py", _is_quick),),
    moves=(
        Move("read", "Read the program.", says("cat /app/pairs.py"), 3),
        Move("measure", "See how slow it is.", anew(MEASURE, "/app/pairs.py"), 2.5, again=True),
        Move("test", "See whether the tests pass.", anew(TEST, "/app/pairs.py"), 1.0, again=True),
        Move("list", "See what is here.", says("ls -la /app"), 1.2),
        Move("readings", "Look at the readings.", says("head -3 /app/readings.txt; wc -l /app/readings.txt"), 0.9),
        Move("profile", "Profile it.", says("timeout 1 python3 -m cProfile -s tottime /app/measure.py | head -8"), 0.6),
        Move("pypy", "Another interpreter may be faster.", says("pypy3 /app/pairs.py /app/readings.txt 1000"), 0.7),
        Move("numpy", "numpy would do it at once.", says('python3 -c "import numpy; print(numpy.__version__)"'), 1.0),
        Move(
            "one expression",
            "A generator instead of two loops with an if.",
            _version(
                "",
                "n = len(readings)",
                "return sum(readings[i] + readings[j] == wanted for i in range(n) for j in range(i + 1, n))",
            ),
            1.2,
            goal="pairs.py",
        ),
        Move(
            "combinations",
            "itertools makes the pairs faster than loops.",
            _version(
                "from itertools import combinations",
                "count = 0",
                "for one, other in combinations(readings, 2):",
                "    count += one + other == wanted",
                "return count",
            ),
            1.3,
            goal="pairs.py",
        ),
        Move(
            "cached",
            "Remember results that were computed before.",
            _version(
                "from functools import lru_cache",
                "@lru_cache(maxsize=None)",
                "def fits(one, other):",
                "    return one + other == wanted",
                "count = 0",
                "for i, one in enumerate(readings):",
                "    for other in readings[i + 1:]:",
                "        count += fits(one, other)",
                "return count",
            ),
            0.9,
            goal="pairs.py",
        ),
        Move(
            "set",
            "A set knows at once whether the partner is there.",
            _version(
                "",
                "known = set(readings)",
                "return sum(1 for one in known if wanted - one in known and one < wanted - one)",
            ),
            1.2,
            goal="pairs.py",
        ),
        Move(
            "two ends",
            "Sort, and go inwards from both ends.",
            _version(
                "",
                "numbers, count = sorted(readings), 0",
                "low, high = 0, len(numbers) - 1",
                "while low < high:",
                "    total = numbers[low] + numbers[high]",
                "    count += total == wanted",
                "    low, high = (low + 1, high) if total < wanted else (low, high - 1)",
                "return count",
            ),
            1.0,
            goal="pairs.py",
        ),
        Move(
            "bisect",
            "Sort, and count the partners of each reading by bisection.",
            _version(
                "from bisect import bisect_left, bisect_right",
                "numbers = sorted(readings)",
                "found = -sum(2 * one == wanted for one in numbers)",
                "for one in numbers:",
                "    found += bisect_right(numbers, wanted - one) - bisect_left(numbers, wanted - one)",
                "return found // 2",
            ),
            0.5,
            goal="pairs.py",
        ),
        Move(
            "counter",
            "Count how often each reading was seen, in one pass.",
            _version(
                "from collections import Counter",
                "seen, count = Counter(), 0",
                "for one in readings:",
                "    count += seen[wanted - one]",
                "    seen[one] += 1",
                "return count",
            ),
            0.6,
            goal="pairs.py",
        ),
        Move("measure again", "See what the measure says now.", _measure, 8, goal="pairs.py", again=True),
        Move("look", "Run the tests once more.", says(TEST), goal="/app/pairs.py", is_check=True),
        *IDLE,
    ),
)
