"""Runs the program on other readings: the count against one made in another way, the steps against the limit."""

import hashlib
import importlib.util
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

APP = Path("/app")
LIMIT = 60_000
SEED = {
    "measure.py": "bdc6e44675dca76b574a317fb11f725bd6e32615501e32c69e9524f2c2632ce3",
    "test_pairs.py": "85897c982e9dc53e1b4b211ffdff8ef92eaa2f7e376a5030dbf67c28d050f83f",
    "readings.txt": "d2b90504caac345cefb1ef4899213a5460f782b60b35840b8e8fa707126f5c51",
}


class Wrong(Exception):
    """What is not as the task wants it."""


class TooMany(BaseException):
    """The limit was passed; not to be caught by the program itself."""


def untouched() -> None:
    for name, digest in SEED.items():
        path = APP / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            raise Wrong(f"{name} was changed")


def expected(readings: list[int], wanted: int) -> int:
    counts = Counter(readings)
    both = sum(count * counts[wanted - value] for value, count in counts.items())
    alone = counts[wanted // 2] if wanted % 2 == 0 else 0
    return (both - alone) // 2


def loaded() -> Any:
    spec = importlib.util.spec_from_file_location("pairs", APP / "pairs.py")
    if spec is None or spec.loader is None or not (APP / "pairs.py").is_file():
        raise Wrong("there is no pairs.py")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the program is whatever was left
        raise Wrong(f"pairs.py cannot be loaded: {error!r}") from None
    if not hasattr(module, "pairs"):
        raise Wrong("pairs.py has no function pairs")
    return module.pairs


def counted(function: Any, readings: list[int], wanted: int) -> int:
    steps = 0

    def trace(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal steps
        steps += event == "line"
        if steps > LIMIT:
            raise TooMany
        return trace

    sys.settrace(trace)
    try:
        return function(list(readings), wanted)
    except TooMany:
        raise Wrong("pairs.py is too slow: it takes too many steps") from None
    except Exception as error:
        raise Wrong(f"pairs fails: {error!r}") from None
    finally:
        sys.settrace(None)


def program(readings: list[int], wanted: int) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("".join(f"{reading}\n" for reading in readings))
        file.flush()
        done = subprocess.run(
            [sys.executable, "-I", str(APP / "pairs.py"), file.name, str(wanted)],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    return done.stdout.strip()


def judge() -> None:
    untouched()
    function = loaded()
    rng = random.Random(11)
    cases = [([7, 7, 7, 7], 14), ([0, 0, 1], 1), ([-4, 4, 4, -4], 0)]
    cases += [([rng.randrange(-600, 1601) for _ in range(3000)], wanted) for wanted in (1000, 999)]
    for readings, wanted in cases:
        if counted(function, readings, wanted) != expected(readings, wanted):
            raise Wrong("pairs.py does not count right: equal readings at different places are different readings")
    if program(*cases[-1]) != str(expected(*cases[-1])):
        raise Wrong("the program does not print the count")


def main() -> int:
    try:
        judge()
    except (Wrong, OSError, subprocess.TimeoutExpired) as error:
        print(f"FAIL {error}")
        return 1
    print("ok   pairs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
