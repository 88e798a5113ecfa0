"""Mutated traces of all formats: whatever a file contains, reading ends, and ends without a traceback.

The quick run is part of the suite; `make test-slow` does 100,000. A failure prints the seed with which `mutated` gives
the file again."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dense.errors import DenseError
from dense.readers import READERS, Stream, files_of, read_streams

FIXTURES = Path(__file__).parents[1] / "fixtures"
LARGEST_SEED = 100_000
SLOWEST = 5.0
"""Seconds after which a read counts as a hang: the files have at most some hundred kilobytes."""

ODD: list[Any] = [
    *(None, True, 0, -1, 1e308, 2**70, "", "x", "\ud800", "\u202e\x00\x1b[31m", [], {}, [None], {"type": "text"}),
    *([{"type": "tool_result"}], {"role": "assistant"}, "attachment://0", "../../etc/passwd"),
    *("data:image/png;base64,AA", {"type": {"type": []}}),
]
GARBAGE = [
    b"\x00",
    b"\xff\xfe",
    b"\n",
    b"{",
    b"}",
    b"[",
    b'"',
    b"\\u",
    b",",
    b"null",
    b"1e999",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"//",
]


def seeds() -> list[tuple[str, str, bytes]]:
    """Every fixture: its format, its suffix, its bytes. The events of a folder come as one list."""
    found: list[tuple[str, str, bytes]] = []
    for format in sorted(path.name for path in FIXTURES.iterdir() if path.is_dir() and path.name != "make"):
        for file in files_of(FIXTURES / format):
            if file.path.is_dir():
                events = [json.loads(path.read_text()) for path in sorted(file.path.glob("event-*.json"))]
                found.append((format, ".json", json.dumps(events).encode()))
            elif file.path.name.endswith((".json", ".jsonl", ".traj", ".eval", ".zst")):
                data = file.path.read_bytes()
                if 0 < len(data) < LARGEST_SEED:
                    found.append((format, "".join(file.path.suffixes[-2:]) or ".json", data))
    return found


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The same bytes with some damage, to the JSON or to the bytes."""
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        data = _odd_value(data, chance) if chance.random() < 0.6 else _odd_bytes(data, chance)
    return data


def _odd_bytes(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + chance.choice((0, 1, 1, 10, 1000)))
    action = chance.randrange(5)
    if action == 0:
        return data[:start]
    if action == 1:
        return data[:start] + data[end:]
    if action == 2:
        return data[:start] + data[start:end] * 3 + data[end:]
    if action == 3:
        return data[:start] + bytes(chance.randrange(256) for _ in range(end - start)) + data[end:]
    return data[:start] + chance.choice(GARBAGE) * chance.choice((1, 1, 50)) + data[start:]


def _odd_value(data: bytes, chance: random.Random) -> bytes:
    """A value somewhere in the document, or in one of the lines, replaced, removed or moved."""
    try:
        value = json.loads(data)
    except ValueError:
        lines = data.split(b"\n")
        index = chance.randrange(len(lines))
        try:
            lines[index] = json.dumps(_changed(json.loads(lines[index]), chance)).encode()
        except ValueError:
            chance.shuffle(lines)
        return b"\n".join(lines)
    return json.dumps(_changed(value, chance)).encode()


def _changed(root: Any, chance: random.Random) -> Any:
    places = list(_places(root))
    if not places:
        return chance.choice(ODD)
    holder, key = chance.choice(places)
    action = chance.randrange(4)
    if action == 0:
        del holder[key]
    elif action == 1:
        other, other_key = chance.choice(places)
        holder[key] = json.loads(json.dumps(other[other_key]))
    elif action == 2 and isinstance(holder, list):
        holder.insert(key, holder[key])
    else:
        holder[key] = chance.choice(ODD)
    return root


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from _places(inner)


def survives(seed: int, sources: list[tuple[str, str, bytes]], folder: Path) -> str | None:
    """Reads one mutated file, by detection or by force; what went wrong, if anything."""
    chance = random.Random(seed)
    format, suffix, data = sources[seed % len(sources)]
    path = folder / f"trace{suffix}"
    path.write_bytes(mutated(data, chance))
    forced = chance.choice((None, None, format, chance.choice(list(READERS))))
    start = time.perf_counter()
    try:
        for item in read_streams(path, format=forced):
            if isinstance(item, Stream):
                for _ in item.encode():
                    pass
    except DenseError:
        pass
    except Exception as error:
        return f"seed {seed} ({format}, forced {forced}): {type(error).__name__}: {error}"
    took = time.perf_counter() - start
    return f"seed {seed} ({format}): took {took:.1f} s" if took > SLOWEST else None


def run(seeds_: range, folder: Path) -> None:
    sources = seeds()
    assert len(sources) > 40
    broken = [problem for seed in seeds_ if (problem := survives(seed, sources, folder))]
    assert not broken, f"{len(broken)} of {len(seeds_)}: " + "\n".join(broken[:10])


def test_some_mutated_traces(tmp_path: Path) -> None:
    run(range(3000), tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(4))
def test_a_hundred_thousand_mutated_traces(part: int, tmp_path: Path) -> None:
    run(range(part * 25_000, (part + 1) * 25_000), tmp_path)
