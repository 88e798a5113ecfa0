"""How fast redaction is with other engines behind `dense.text.search.fast_search` (decision 0012).

    python bench/search_engines.py

Engines that are not installed are skipped: `pip install google-re2 hyperscan` adds two. Each is measured in a process
of its own, on the corpus traces (our fixtures if there are none) and on the made trace of `bench/rules.py`, by CPU
time, the best of several rounds. All engines must find the same credentials."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dense.text import search

type Search = Callable[[str], bool]

ROUNDS, MADE_ROUNDS = 3, 50


def with_re(pattern: str) -> Search:
    find = re.compile(pattern).search
    return lambda text: find(text) is not None


def with_re2(pattern: str) -> Search:
    re2: Any = import_module("re2")
    options = re2.Options()
    options.encoding, options.never_capture, options.max_mem = re2.Options.Encoding.LATIN1, True, 64 << 20
    find = re2.compile(pattern.encode("latin-1"), options).search
    return lambda text: find(text.encode("latin-1")) is not None


def with_hyperscan(pattern: str) -> Search:
    hyperscan: Any = import_module("hyperscan")
    database = hyperscan.Database()
    database.compile(
        expressions=[pattern.encode("latin-1")], ids=[0], elements=1, flags=[hyperscan.HS_FLAG_SINGLEMATCH]
    )

    def find(text: str) -> bool:
        found: list[bool] = []

        def stop(*_: object) -> bool:
            found.append(True)
            return True

        with suppress(hyperscan.ScanTerminated):
            database.scan(text.encode("latin-1"), match_event_handler=stop)
        return bool(found)

    return find


ENGINES: dict[str, tuple[str, Callable[[str], Search] | None]] = {
    "pydantic": ("pydantic", None),
    "re": ("re", with_re),
    "google-re2": ("re2", with_re2),
    "hyperscan": ("hyperscan", with_hyperscan),
}
"""The module that an engine needs, and how it searches; None for the one that is built in."""


def measure(name: str) -> None:
    """Measure redaction with one engine in this process."""
    logging.disable()  # notices of the readers about damaged fixtures
    if (engine := ENGINES[name][1]) is not None:
        search.fast_search = cache(engine)  # before anybody imports it
    bench, rules, redact_package, walk = _imported("redact", "rules", "dense.redact", "dense.redact.walk")
    redact = redact_package.redact
    traces = bench.trajectories()
    size = sum(len(text) for trace in traces for text in walk.texts_of(trace))
    found = sum(sum(redact(trace)[1].counts.values()) for trace in traces)
    seconds = min(_seconds(lambda: [redact(trace) for trace in traces]) for _ in range(ROUNDS))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.traj.json"
        rules.Made().write(path, rules.ACTIONS, rules.SIZE)
        made = rules.only(path)
    one = min(_seconds(lambda: redact(made)) for _ in range(MADE_ROUNDS))
    print(
        f"{name:<12}{size / 1e6 / seconds:>7.0f} million characters a second on {len(traces)} traces"
        f" ({found} credentials);{1e3 * one:>7.2f} ms for {rules.ACTIONS} actions",
        flush=True,
    )


def _imported(*names: str) -> list[Any]:
    return [import_module(name) for name in names]


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    if len(sys.argv) > 1:
        measure(sys.argv[1])
        return
    for name, (module, _) in ENGINES.items():
        if find_spec(module) is None:
            print(f"{name:<12} not installed")
        else:
            subprocess.run([sys.executable, __file__, name], check=True)


if __name__ == "__main__":
    main()
