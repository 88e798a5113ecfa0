"""Grades never pass a reader: change every field that carries one, and the trajectory is equal, byte for byte."""

from __future__ import annotations

import io
import json
import re
import shutil
import struct
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard

from dense.readers import Stream, read_streams

HERE = Path(__file__).parent
FIXTURES = HERE.parent / "fixtures"
CORPUS = HERE.parents[2] / "shared" / "corpus"

GRADES = re.compile(
    r"rewards?|scores?|is_correct|is_corrected|ground_truth|mistake_\w+|verifier\w*|resolved|submission|exit_status|target"
    r"|test_result|report|git_patch|correctness|grade|results|level"
)
"""Names of fields that carry a grade, wherever they stand in a file."""

VISIBLE = frozenset({"arguments", "input", "content", "observation", "action", "tool_calls", "args", "kwargs"})
"""What an agent wrote or saw: a `score` that a tool printed is evidence, not a grade."""

CANARY = "GRADE-CANARY-7f3a"


def changed(value: Any, key: str = "") -> Any:
    """The same value with every grade replaced by something else."""
    if GRADES.fullmatch(key):
        return _other(value)
    if isinstance(value, dict):
        return {k: v if k in VISIBLE else changed(v, k) for k, v in value.items()}
    return [changed(item) for item in value] if isinstance(value, list) else value


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 17
    return CANARY


def changed_text(text: str) -> str:
    """A document or lines of JSON, changed."""
    try:
        return json.dumps(changed(json.loads(text)))
    except ValueError:
        return "\n".join(map(_changed_line, text.split("\n")))


def _changed_line(line: str) -> str:
    try:
        return json.dumps(changed(json.loads(line)))
    except ValueError:
        return line


def changed_archive(path: Path) -> bytes:
    """An Inspect log with every member changed, packed without the compression that the standard library lacks."""
    data, out = path.read_bytes(), io.BytesIO()
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(out, "w") as copy:
        for member in archive.infolist():
            text = changed_text(_member(archive, member, data).decode())
            copy.writestr(member.filename, text)
    return out.getvalue()


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, data: bytes) -> bytes:
    if member.compress_type != 93:
        return archive.read(member)
    lengths = struct.unpack_from("<HH", data, member.header_offset + 26)
    start = member.header_offset + 30 + sum(lengths)
    packed = data[start : start + member.compress_size]
    return zstandard.ZstdDecompressor().decompressobj().decompress(packed)


def trajectories(path: Path) -> list[bytes]:
    return [msgspec.json.encode(item.collect()) for item in read_streams(path) if isinstance(item, Stream)]


def change_all(folder: Path) -> None:
    """Every file below a folder, grades, result files and all."""
    for path in folder.rglob("*"):
        if path.suffix == ".eval":
            path.write_bytes(changed_archive(path))
        elif path.suffix in (".json", ".jsonl", ".traj") and path.is_file() and path.stat().st_size:
            if path.name in ("result.json", "reward.json"):
                path.write_text(json.dumps({"reward": CANARY}))
            else:
                path.write_text(changed_text(path.read_text(errors="surrogateescape")), errors="surrogateescape")
        elif path.parent.name == "verifier" and path.is_file():
            path.write_text(CANARY)


def folders() -> list[Path]:
    own = [path for path in FIXTURES.iterdir() if path.is_dir() and path.name not in ("make", "test-runners")]
    real = [path for path in CORPUS.iterdir() if path.is_dir()] if CORPUS.is_dir() else []
    return sorted(own) + sorted(real)


@pytest.mark.parametrize("folder", folders(), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_grades_do_not_pass(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy, copy_function=shutil.copyfile)
    before = trajectories(copy)
    change_all(copy)
    after = trajectories(copy)
    assert len(before) == len(after)
    for one, other in zip(before, after, strict=True):
        assert one == other
    assert CANARY.encode() not in b"".join(after)


def test_the_proof_can_fail() -> None:
    """The changes do reach what they should."""
    text = json.dumps(
        [{"reward": 1.0, "info": {"reward_info": 1, "resolved": True}, "traj": [{"content": {"score": 3}}]}]
    )
    assert json.loads(changed_text(text)) == [
        {"reward": 18.0, "info": {"reward_info": 1, "resolved": False}, "traj": [{"content": {"score": 3}}]}
    ]
