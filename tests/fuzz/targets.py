"""What is fuzzed: functions that take hostile bytes, and the inputs that mutation begins with.

A target returns, or raises `DenseError`. Anything else is a finding, and so is more than `SLOWEST` seconds."""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dense
from dense.analysis.asking.scripted import ScriptedAnswerer
from dense.redact import redact_text
from dense.service import distill_sync
from refit.experiment.config import read_config
from refit.experiment.results_table.files import read_table, write_table
from refit.results import AttemptResult, Cell, Result

ROOT = Path(__file__).parents[2]
SLOWEST = 8.0
"""CPU seconds for one input of at most some hundred kilobytes."""
NESTED = [opened * 50_000 for opened in ("[", '{"a":', "- ", "&a [*a, ", "<a>", "((", "{{")]
WORDS = [
    *(
        "password=",
        "\\u0022",
        "%22",
        "\x1b[31m",
        "\ud800",
        "\0",
        "```",
        "<|im_end|>",
        "&a *a",
        "!!python/object:os.system",
    ),
    *("=cmd|' /C calc'!A0", "1e999", "-0", "NaN", "9" * 400, "\u202e", "eyJ", "ghp_", "-----BEGIN PRIVATE KEY-----"),
    *("a7", "issue_0", "shortcut_0", "n0", '"', "'", "{", "}", "[", "]", ":", ",", "\n", "\r\n", "\t", "#", "|", ">"),
]


def reader(data: bytes, folder: Path) -> None:
    """A file of any format, read and distilled by the rules: readers and markup."""
    path = folder / "trace.json"
    path.write_bytes(data)
    for trajectory in list(dense.read(path))[:3]:
        message = distill_sync(trajectory).feedback.message
        key = re.match(r"\[dense-feedback-([0-9a-z]+)\] ", message)
        if key is None or message.count(f"[dense-feedback-{key[1]}]") != 1 or message.count(f"{key[1]}| end\n") != 1:
            raise AssertionError("the report's beginning is forged")
        message.encode()


def answers(data: bytes, folder: Path) -> None:
    """Answers of a model to a trace: validation."""
    path = folder / "answers.json"
    path.write_bytes(data)
    trajectory = next(iter(dense.read(ROOT / "examples" / "csv-report")))
    distill_sync(trajectory, ScriptedAnswerer(path)).feedback.message.encode()


def settings(data: bytes, folder: Path) -> None:
    """An experiment's file: YAML."""
    path = folder / "refit.yaml"
    path.write_bytes(data)
    read_config(path)


def table(data: bytes, folder: Path) -> None:
    """A table of results, and what is written of it."""
    kind = (".csv", ".tsv", ".jsonl")[data[0] % 3 if data else 0]
    path = folder / f"results{kind}"
    path.write_bytes(data[1:])
    found = read_table(path)
    write_table(found.results, folder / "again.csv")
    if read_table(folder / "again.csv").results != found.results:
        raise AssertionError("a table that is written is not read back as it was")


def redaction(data: bytes, folder: Path) -> None:
    """Any text: a second time changes nothing."""
    text = data.decode("utf-8", "surrogatepass" if data.isascii() else "replace")
    once, _ = redact_text(text, environment={})
    if redact_text(once, environment={})[0] != once:
        raise AssertionError("redaction is not done after the first time")


TARGETS: dict[str, Callable[[bytes, Path], None]] = {
    "reader": reader,
    "answers": answers,
    "settings": settings,
    "table": table,
    "redaction": redaction,
}


def seeds_of(name: str) -> list[bytes]:
    """Real inputs of a target, and some that are nested deeply."""
    nested = [text.encode() for text in NESTED]
    if name == "reader":
        files = [path for path in (ROOT / "tests" / "fixtures").rglob("*.json*") if 0 < path.stat().st_size < 60_000]
        return [*(path.read_bytes() for path in sorted(files)), *nested]
    if name == "answers":
        recorded = [path.read_bytes() for path in sorted((ROOT / "examples" / "recorded").glob("*.json"))]
        return [*recorded, *nested]
    if name == "settings":
        return [*(path.read_bytes() for path in sorted((ROOT / "examples" / "refit").glob("*.yaml"))), *nested]
    if name == "table":
        return [bytes([number]) + text for number, text in enumerate(_tables())] + [b"\0" + one for one in nested]
    return ["\n".join(WORDS).encode("utf-8", "replace"), *nested]


def _tables() -> list[bytes]:
    results = [
        Result(Cell("r", f"t{number}", 0, 0, "none"), AttemptResult(reward=float(number % 2))) for number in range(6)
    ]
    written: list[bytes] = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in (".csv", ".tsv", ".jsonl"):
            path = Path(folder) / f"t{kind}"
            write_table(results, path)
            written.append(path.read_bytes())
    return written


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The same input with some damage: to values if it is JSON, else to bytes; words that have a meaning somewhere."""
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        if chance.random() < 0.4 and (changed := _changed_value(data, chance)) is not None:
            data = changed
            continue
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice((0, 1, 4, 50, 1000)))
        word = chance.choice(WORDS).encode("utf-8", "surrogatepass") * chance.choice((1, 1, 1, 3, 200))
        data = chance.choice(
            (
                data[:start] + word + data[end:],
                data[:start] + word + data[start:],
                data[:start] + data[end:],
                data[:start] + data[start:end] * 4 + data[end:],
                data[:start] + bytes(chance.randrange(256) for _ in range(min(end - start, 8))) + data[end:],
                data[:start],
            )
        )
    return data


def _changed_value(data: bytes, chance: random.Random) -> bytes | None:
    try:
        root: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    holder: Any = root
    while True:
        keys: list[Any] = (
            list(holder) if isinstance(holder, dict) else list(range(len(holder))) if isinstance(holder, list) else []
        )
        if not keys:
            return None
        key = chance.choice(keys)
        inner = holder[key]
        if isinstance(inner, dict | list) and inner and chance.random() < 0.8:
            holder = inner
            continue
        holder[key] = chance.choice(
            (None, True, -1, 10**30, 1e308, "", [], {}, chance.choice(WORDS), [inner] * 3, {"a": inner})
        )
        return json.dumps(root).encode("utf-8", "replace")
