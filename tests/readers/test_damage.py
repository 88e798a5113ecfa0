"""Broken input: never a traceback, each skipped record named with its place, the good ones kept."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import dense
from dense.errors import NoTrajectory, SkippedRecords, UnknownFormat
from dense.readers import Stream, UnreadFile, files, read_streams


def lines(*records: dict[str, Any] | bytes) -> bytes:
    return b"".join((r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in records)


def said(number: int, text: str) -> dict[str, Any]:
    message = {
        "id": f"m{number}",
        "role": "assistant",
        "model": "scripted",
        "content": [{"type": "text", "text": text}],
    }
    return {"type": "assistant", "uuid": f"u{number}", "parentUuid": None, "sessionId": "s", "message": message}


ASKED = {
    "type": "user",
    "uuid": "u0",
    "parentUuid": None,
    "sessionId": "s",
    "message": {"role": "user", "content": "Count."},
}


def session(tmp_path: Path, *records: dict[str, Any] | bytes, end: bytes = b"") -> Path:
    path = tmp_path / "session.jsonl"
    path.write_bytes(lines(ASKED, *records) + end)
    return path


def only(path: Path, **options: Any) -> dense.Trajectory:
    (trajectory,) = dense.read(path, **options)
    return trajectory


def reported(trajectory: dense.Trajectory) -> list[tuple[str, int | None, str]]:
    return [(n.kind, n.source.line, n.text) for n in trajectory.notices]


def test_a_cut_last_line(tmp_path: Path) -> None:
    read = only(session(tmp_path, said(1, "one"), said(2, "two"), end=json.dumps(said(3, "three")).encode()[:90]))
    assert [step.message for step in read.steps] == ["one", "two"]
    assert [(kind, line) for kind, line, _ in reported(read)] == [("skipped", 4)]


def test_strict_makes_a_skip_an_error(tmp_path: Path) -> None:
    path = session(tmp_path, said(1, "one"), b'{"type": "assist')
    with pytest.raises(SkippedRecords, match=r"session\.jsonl:3: not valid JSON"):
        list(dense.read(path, strict=True))


def test_strict_passes_what_is_whole(tmp_path: Path) -> None:
    assert len(only(session(tmp_path, said(1, "one")), strict=True).steps) == 1


def test_invalid_utf8_is_repaired_and_reported(tmp_path: Path) -> None:
    bad = json.dumps(said(1, "a@b")).encode().replace(b"@", b"\xff\xfe")
    read = only(session(tmp_path, bad, said(2, "two")))
    assert [step.message for step in read.steps] == ["a\ufffd\ufffdb", "two"]
    assert reported(read) == [("repaired", 2, "invalid UTF-8 replaced")]


def test_nul_bytes(tmp_path: Path) -> None:
    inside = json.dumps(said(1, "a@b")).encode().replace(b"@", b"\0")
    read = only(session(tmp_path, inside, b"\0" * 512, said(2, "two")))
    assert [step.message for step in read.steps] == ["ab", "two"]
    assert reported(read) == [("repaired", 2, "NUL bytes removed"), ("skipped", 3, "nothing but NUL bytes")]


def test_lone_surrogates_can_be_written_again(tmp_path: Path) -> None:
    read = only(session(tmp_path, json.dumps(said(1, "a\ud800b")).encode()))
    assert read.steps[0].message == "a\ufffdb"
    assert reported(read) == [("repaired", 2, "lone surrogates replaced")]


def test_null_and_strange_content(tmp_path: Path) -> None:
    empty, number = said(1, ""), said(2, "")
    empty["message"]["content"], number["message"]["content"] = None, 7
    read = only(session(tmp_path, empty, number))
    assert [step.message for step in read.steps] == ["", "7"]


def test_unknown_record_types_are_reported(tmp_path: Path) -> None:
    read = only(session(tmp_path, {"type": "brand-new", "sessionId": "s"}, b"[1, 2]", said(1, "one")))
    assert reported(read) == [("skipped", 2, "unknown line type 'brand-new'"), ("skipped", 3, "line is not an object")]
    assert len(read.steps) == 1


def test_a_damaged_first_line_hides_nothing(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"\x00\x00garbage\n" + lines(ASKED, said(1, "one")))
    read = only(path)
    assert len(read.steps) == 1
    assert reported(read)[0][:2] == ("skipped", 1)


def test_comment_lines_are_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"// recorded by hand\n// twice\n" + lines(ASKED, said(1, "one")))
    assert reported(only(path)) == []


def test_deep_nesting(tmp_path: Path) -> None:
    read = only(session(tmp_path, b"[" * 100_000 + b"]" * 100_000, said(1, "one")))
    assert reported(read) == [
        ("repaired", 2, "what is nested too deeply is left out"),
        ("skipped", 2, "line is not an object"),
    ]


def test_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.json"
    path.touch()
    with pytest.raises(NoTrajectory, match="the file is empty"):
        list(dense.read(path))


@pytest.mark.parametrize(
    "content",
    [b"\0" * 4096, b"   \n\n", b"hello", b"{", b"[", b"\xff\xfe", b"PK\x03\x04broken", b"\x28\xb5\x2f\xfdbroken"],
)
def test_files_that_are_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(content)
    with pytest.raises(NoTrajectory):
        list(dense.read(path))


def test_a_missing_file_and_an_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(NoTrajectory, match="no such file"):
        list(dense.read(tmp_path / "nowhere.jsonl"))
    with pytest.raises(UnknownFormat, match="known are"):
        list(dense.read(session(tmp_path, said(1, "one")), format="nonsense"))


def test_a_document_that_was_cut_off_gives_what_came_before(tmp_path: Path) -> None:
    steps = [{"step_id": 1, "source": "user", "message": "Count."}]
    steps += [{"step_id": n, "source": "agent", "message": f'step {n}, {{["quoted"]}}'} for n in range(2, 7)]
    whole = json.dumps({"schema_version": "ATIF-v1.5", "agent": {"name": "a"}, "steps": steps}, indent=1)
    for cut in range(whole.index("step 3"), len(whole)):
        path = tmp_path / "trajectory.json"
        path.write_text(whole[:cut])
        read = only(path)
        ended = [n for n in range(2, 7) if f'step {n}, {{[\\"quoted\\"]}}"\n  }}' in whole[:cut]]
        expected = [f'step {n}, {{["quoted"]}}' for n in ended]
        assert [step.message for step in read.steps if step.message] == expected
        assert cut == len(whole) or reported(read)[0][0] == "skipped"


def test_a_loop_of_links(tmp_path: Path) -> None:
    session(tmp_path, said(1, "one"))
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "back").symlink_to(tmp_path)
    (inner / "self").symlink_to(inner / "self")
    (inner / "again.jsonl").symlink_to(tmp_path / "session.jsonl")
    assert len(list(dense.read(tmp_path))) == 1


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    good = session(tmp_path, said(1, "one"))
    fifo = tmp_path / "pipe.jsonl"
    os.mkfifo(fifo)
    assert [item.source.path for item in read_streams(tmp_path) if isinstance(item, Stream)] == [str(good)]
    with pytest.raises(NoTrajectory, match="neither a file nor a folder"):
        list(dense.read(fifo))


def test_one_bad_file_does_not_stop_the_folder(tmp_path: Path) -> None:
    session(tmp_path, said(1, "one"))
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "notes.md").write_text("# Notes\n{not json}\n")
    (tmp_path / "package.json").write_text('{"name": "x", "messages": "no"}')
    items = list(read_streams(tmp_path))
    unread = {Path(item.path).name: item.is_trace for item in items if isinstance(item, UnreadFile)}
    assert unread == {"empty.jsonl": True, "notes.md": False, "package.json": False}
    assert len(list(dense.read(tmp_path))) == 1


def test_a_line_beyond_the_limit_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_RECORD_BYTES", 3 << 20)
    monkeypatch.setattr(files, "CHUNK", 1 << 20)
    path = session(tmp_path, said(1, "x" * (2 << 20)), said(2, "y" * (4 << 20)), said(3, "three"))
    read = only(path)
    assert [step.message[:1] for step in read.steps] == ["x", "t"]
    assert reported(read) == [("skipped", 3, "line is longer than 3 MiB")]


@pytest.mark.slow
def test_a_line_of_two_gigabytes(tmp_path: Path) -> None:
    """A real line of 2 GB is skipped in less than 200 MB.

    The peak is read from `/proc`: `ru_maxrss` of a new process starts with the size of the process that forked it."""
    import subprocess
    import sys

    if not Path("/proc/self/status").is_file():
        pytest.skip("peak memory is read from Linux's /proc")

    path = tmp_path / "session.jsonl"
    with path.open("wb") as file:
        file.write(lines(ASKED, said(1, "one")))
        file.write(b'{"type": "user", "message": "')
        for _ in range(2 << 10):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n' + lines(said(2, "two")))
    code = (
        "import dense, re, sys\n"
        "(t,) = dense.read(sys.argv[1])\n"
        "peak = int(re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read())[1])\n"
        "print(len(t.steps), t.notices[0].source.line, peak // 1024)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    steps, line, megabytes = map(int, done.stdout.split())
    assert (steps, line) == (2, 3)
    assert megabytes < 200
