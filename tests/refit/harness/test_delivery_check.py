"""What a trace says of the message, whatever a program did to it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refit.harness.delivery_check import compare_received
from refit.harness.derived_task import FEEDBACK_FILE, MAX_ARGUMENT_BYTES, instruction_with

TASK = "Count the lines of /app/words.txt that contain the letter e and write the number to /app/count.txt.\n"
MESSAGE = f"[dense-feedback-0bada] What was tried:\n\n  grep -c e\n0bada| end\n\n{TASK}"


def write(folder: Path, *steps: dict[str, Any], name: str = "trajectory.json", **more: Any) -> Path:
    """A trial with an ATIF trace of these steps."""
    (folder / "agent").mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text('{"trial_name": "t__1", "task": {"path": "nowhere"}}')
    document = {"schema_version": "ATIF-v1.8", "session_id": "s", "agent": {"name": "a", "version": "1"}, **more}
    document["steps"] = [{"step_id": number, **step} for number, step in enumerate(steps, 1)]
    (folder / "agent" / name).write_text(json.dumps(document))
    return folder


def said(source: str, message: Any, **more: Any) -> dict[str, Any]:
    return {"source": source, "message": message, **more}


def acted(command: str) -> dict[str, Any]:
    call = {"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": command}}
    return said("agent", "I act.", tool_calls=[call])


@pytest.mark.parametrize(
    "prompts",
    [
        [said("user", MESSAGE)],
        [said("user", f"You are an agent.\n\nTask:\n{MESSAGE}\n\nScreen:\n$ ")],
        [said("user", MESSAGE.strip())],
        [said("user", MESSAGE.replace("\n", "\r\n"))],
        [said("system", "Be good."), said("user", MESSAGE)],
        [said("system", f"Be good.\n{MESSAGE}")],
        [said("user", [{"type": "text", "text": MESSAGE}])],
        [said("user", "Hello."), said("user", MESSAGE)],
        [said("user", MESSAGE.partition("\n")[0]), said("user", MESSAGE.partition("\n")[2])],
    ],
)
def test_the_same(tmp_path: Path, prompts: list[dict[str, Any]]) -> None:
    trial = write(tmp_path, *prompts, acted("ls"))
    assert compare_received(trial, MESSAGE, "instruction") == "same"


@pytest.mark.parametrize(
    "text", [TASK, MESSAGE[:-20], MESSAGE.replace("grep", "Grep"), MESSAGE.replace("  grep", " grep")]
)
def test_another(tmp_path: Path, text: str) -> None:
    assert compare_received(write(tmp_path, said("user", text), acted("ls")), MESSAGE, "instruction") == "different"


def test_what_the_agent_says_itself_does_not_count(tmp_path: Path) -> None:
    trial = write(tmp_path, said("user", TASK), said("agent", MESSAGE), said("user", MESSAGE))
    assert compare_received(trial, MESSAGE, "instruction") == "different"


def test_no_trace(tmp_path: Path) -> None:
    assert compare_received(tmp_path, MESSAGE, "instruction") == "not recorded"
    assert compare_received(tmp_path / "nowhere", MESSAGE, "instruction") == "not recorded"


def test_a_trace_without_prompts(tmp_path: Path) -> None:
    """Also where our own instruction lies beside it."""
    trial = write(tmp_path, acted("ls"))
    (trial / "instruction.md").write_text(MESSAGE)
    assert compare_received(trial, MESSAGE, "instruction") == "not recorded"


def test_no_message(tmp_path: Path) -> None:
    assert compare_received(write(tmp_path, said("user", TASK), acted("ls")), TASK, "") == ""


def test_continuations_and_sub_agents(tmp_path: Path) -> None:
    """The file of the beginning may be lost; what another one copied of it is still there."""
    write(tmp_path, said("user", "Sum it up."), acted("ls"), name="trajectory.summarization-1-summary.json")
    assert compare_received(tmp_path, MESSAGE, "instruction") == "different"
    write(tmp_path, said("user", MESSAGE, is_copied_context=True), acted("ls"), name="trajectory.cont-1.json")
    assert compare_received(tmp_path, MESSAGE, "instruction") == "same"


@pytest.mark.parametrize("job", ["basic", "summarised", "summarised-linear", "raw-content", "timed-out"])
def test_real_traces(fixtures: Path, tmp_path: Path, job: str) -> None:
    (trial,) = (path.parent for path in (fixtures / "atif" / "jobs" / job).glob("*/result.json"))
    assert compare_received(trial, TASK, "instruction") == "same"
    assert compare_received(trial, MESSAGE, "instruction") == "different"


def test_the_oldest_release_calls_it_system(fixtures: Path) -> None:
    folder = fixtures / "atif" / "jobs" / "terminus-2-harbor-0.1.18"
    (trial,) = (path.parent for path in folder.glob("*/result.json"))
    assert compare_received(trial, TASK, "instruction") == "same"


def test_agents_with_a_format_of_their_own(fixtures: Path, tmp_path: Path) -> None:
    """Where Harbor wrote no trajectory, the program's own session is asked."""
    session = sorted((fixtures / "claude-code").rglob("*.jsonl"))[0]
    write(tmp_path)
    (tmp_path / "agent" / "trajectory.json").unlink()
    (tmp_path / "agent" / "sessions").mkdir()
    shutil.copy(session, tmp_path / "agent" / "sessions")
    assert compare_received(tmp_path, MESSAGE, "instruction") == "different"
    from dense.readers import read

    (trajectory, *_) = read(session)
    assert trajectory.task is not None
    assert compare_received(tmp_path, trajectory.task.instruction, "instruction") == "same"


LONG = "x" * (MAX_ARGUMENT_BYTES + 1)


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (f"cat {FEEDBACK_FILE}", "opened"),
        ("cd / && head -c 20000 dense-feedback.txt", "opened"),
        ("ls /", "not opened"),
    ],
)
def test_a_file(tmp_path: Path, command: str, answer: str) -> None:
    pointer = instruction_with(LONG, TASK, as_file=True).text
    trial = write(tmp_path, said("user", f"Do this:\n{pointer}"), acted("ls"), acted(command))
    assert compare_received(trial, pointer, "file") == answer


def test_a_file_that_was_never_pointed_to(tmp_path: Path) -> None:
    pointer = instruction_with(LONG, TASK, as_file=True).text
    assert compare_received(write(tmp_path, said("user", TASK), acted("ls")), pointer, "file") == "different"
    assert compare_received(tmp_path / "nowhere", pointer, "file") == "not recorded"


KEYS = ["steps", "source", "message", "schema_version", "tool_calls", "arguments", "type", "text", "content"]
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["agent", "user", MESSAGE]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(
    values | st.lists(st.dictionaries(st.sampled_from(KEYS), values), max_size=4).map(lambda steps: {"steps": steps})
)
def test_whatever_the_trace_an_answer_comes(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    trial = write(tmp_path_factory.mktemp("trial"))
    (trial / "agent" / "trajectory.json").write_text(json.dumps(value))
    for delivered in ("instruction", "file"):
        assert compare_received(trial, MESSAGE, delivered) in {
            "same",
            "different",
            "not recorded",
            "opened",
            "not opened",
        }


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe\0", b"[" * 200_000, b'{"steps": ' + b"[" * 100_000, b"null"])
def test_damaged_traces(tmp_path: Path, data: bytes) -> None:
    trial = write(tmp_path)
    (trial / "agent" / "trajectory.json").write_bytes(data)
    assert compare_received(trial, MESSAGE, "instruction") == "not recorded"
    assert compare_received(trial, MESSAGE, "file") == "not recorded"
