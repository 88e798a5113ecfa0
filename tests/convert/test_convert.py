"""Converted traces: valid by Harbor's own models; reading them back gives the same trajectory and feedback."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

import dense
from dense.convert import convert, losses
from dense.readers import Stream, read_streams
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory, Usage

FIXTURES = Path(__file__).parents[1] / "fixtures"
FOLDERS = sorted(
    path.name for path in FIXTURES.iterdir() if path.is_dir() and path.name not in ("make", "test-runners")
)
replace = msgspec.structs.replace


@cache
def originals(folder: str) -> list[Trajectory]:
    found = [item.collect() for item in read_streams(FIXTURES / folder) if isinstance(item, Stream)]
    assert found
    return found


def read_back(trajectory: Trajectory, form: Any, folder: Path) -> Trajectory:
    path = folder / "converted.json"
    path.write_bytes(convert(trajectory, form))
    (found,) = dense.read(path)
    return found


def without_places(trajectory: Trajectory) -> Trajectory:
    """What must survive: everything but where it was read. Words of users come after the results of their step."""
    steps = [
        replace(
            step,
            source=Source(""),
            observations=tuple(sorted(step.observations, key=lambda seen: seen.origin != "tool")),
            subagents=tuple(map(without_places, step.subagents)),
        )
        for step in trajectory.steps
    ]
    return replace(trajectory, format="", source=Source(""), notices=(), steps=tuple(steps))


@pytest.mark.parametrize("folder", FOLDERS)
def test_atif_is_valid_and_holds_the_whole_trajectory(folder: str, tmp_path: Path) -> None:
    from harbor.models.trajectories import Trajectory as HarborTrajectory  # pyright: ignore[reportMissingTypeStubs]

    for original in originals(folder):
        HarborTrajectory.model_validate_json(convert(original, "atif"))
        back = read_back(original, "atif", tmp_path)
        assert without_places(back) == without_places(original), original.source
        assert back.format == "atif"


@pytest.mark.parametrize("folder", FOLDERS)
def test_feedback_is_the_same_after_the_conversion(folder: str, tmp_path: Path) -> None:
    original = max(originals(folder), key=lambda trajectory: len(trajectory.steps))
    back = read_back(original, "atif", tmp_path)
    assert dense.distill_sync(back).feedback == dense.distill_sync(original).feedback


@pytest.mark.parametrize("folder", FOLDERS)
def test_normalised_json_loses_nothing(folder: str, tmp_path: Path) -> None:
    for original in originals(folder):
        assert read_back(original, "dense", tmp_path) == original


def chat(trajectory: Trajectory) -> list[Any]:
    """What chat messages can hold: who said what, and the calls."""
    return [
        (
            step.message,
            step.reasoning,
            [(call.name, call.arguments) for call in step.calls],
            [(seen.text, seen.origin) for seen in step.observations if seen.text],
        )
        for step in trajectory.steps
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_messages_hold_texts_and_calls(folder: str, tmp_path: Path) -> None:
    for original in originals(folder):
        if any(not step.calls and seen.origin == "tool" for step in original.steps for seen in step.observations):
            continue  # a result without a call is a user's message: OpenAI's dialect has no other place
        back = read_back(original, "messages", tmp_path)
        assert chat(back) == chat(original), original.source
        assert (back.task is None) == (original.task is None)


def odd() -> Trajectory:
    """What few programs record: no IDs, late results, times that are no ISO 8601, sub-agents of one name."""
    source = Source("odd.json")
    inner = Trajectory("x", "same", source, steps=(Step(source, "inside"),))
    other = replace(inner, steps=(Step(source, "```bash\nls\n```", timestamp="yesterday"),))
    first = Step(
        source,
        "I look.",
        calls=(ToolCall("bash", {"command": "ls"}), ToolCall("bash", {"n": 10**30}, "b")),
        observations=(Observation('{"stdout": "", "exitCode": 3, "why": 1}', exit_code=3),),
        agent="worker",
        timestamp="12 o'clock",
        usage=Usage(5, None, 7, 2),
        subagents=(inner, other),
    )
    late = Observation("late", "b", timestamp="noon", is_error=False)
    stop = Observation("Stop.", origin="user", is_request=True, timestamp="2026-01-01T00:00:00Z")
    limit = Observation("out of time", origin="system", is_error=True)
    second = Step(source, observations=(late, stop, limit))
    task = Task("<pr_description>\nkept\n</pr_description>", "name", "file")
    return Trajectory("x", "odd", source, task=task, steps=(first, second), usage=Usage(5, None, 7, 2))


def test_odd_trajectories_survive(tmp_path: Path) -> None:
    from harbor.models.trajectories import Trajectory as HarborTrajectory  # pyright: ignore[reportMissingTypeStubs]

    HarborTrajectory.model_validate_json(convert(odd(), "atif"))
    assert without_places(read_back(odd(), "atif", tmp_path)) == without_places(odd())
    assert losses(odd(), "messages") == ["2 sub-agents are left out: chat messages cannot hold them"]
    assert losses(odd(), "atif") == []


def test_atif_of_others_is_still_unwrapped(tmp_path: Path) -> None:
    """Only what our converter marks is taken as it is written."""
    document = msgspec.json.decode(convert(odd(), "atif"))
    del document["extra"]
    (tmp_path / "other.json").write_bytes(msgspec.json.encode(document))
    (found,) = dense.read(tmp_path / "other.json")
    assert found.task is not None
    assert found.task.instruction == "kept"
