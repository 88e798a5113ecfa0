"""Fuzzes all targets for some minutes. An input that breaks one stays in `corpus/` and is a test from then on.

python tests/fuzz/run.py [--minutes 10] [--seed N] [--only TARGET]"""

from __future__ import annotations

import argparse
import hashlib
import logging
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "src")]

from targets import SLOWEST, TARGETS, mutated, seeds_of  # noqa: E402

from dense.errors import DenseError  # noqa: E402

CORPUS = Path(__file__).parent / "corpus"


def problem_of(target: str, data: bytes, folder: Path) -> str | None:
    """What is wrong with how a target takes an input; None if nothing is."""
    start = time.process_time()
    try:
        TARGETS[target](data, folder)
    except DenseError:
        pass
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    took = time.process_time() - start
    return f"took {took:.1f} s" if took > SLOWEST else None


def fuzz(targets: list[str], seconds: float, seed: int) -> tuple[Counter[str], list[str]]:
    """How many inputs each target took, and the findings."""
    chance = random.Random(seed)
    pools = {
        name: [*seeds_of(name), *(path.read_bytes() for path in sorted(CORPUS.glob(f"{name}-*")))] for name in targets
    }
    counts: Counter[str] = Counter()
    findings: list[str] = []
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            for name in targets:
                data = chance.choice(pools[name])
                data = mutated(data, chance) if counts[name] >= len(pools[name]) else pools[name][counts[name]]
                counts[name] += 1
                problem = problem_of(name, data, Path(folder))
                if problem is not None:
                    path = CORPUS / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}"
                    path.write_bytes(data)
                    findings.append(f"{path.name}: {problem}")
                    print(findings[-1], flush=True)
    return counts, findings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", choices=sorted(TARGETS))
    options = parser.parse_args()
    logging.disable()
    print(f"seed {options.seed}", flush=True)
    counts, findings = fuzz([options.only] if options.only else list(TARGETS), 60 * options.minutes, options.seed)
    print(", ".join(f"{name} {count:,}" for name, count in counts.items()), "inputs;", len(findings), "findings")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
