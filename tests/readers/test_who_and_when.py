"""`who-and-when`: who acted, what a terminal answered, and no label."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dense
from dense.trajectory import Observation, ToolCall

FIXTURES = Path(__file__).parents[1] / "fixtures" / "who-and-when"
HALVES = ["hand-crafted", "algorithm-generated"]


def one(path: Path) -> dense.Trajectory:
    (trajectory,) = dense.read(path)
    assert trajectory.format in ("who-and-when", "agentrx")
    return trajectory


def of(tmp_path: Path, run: dict[str, Any]) -> dense.Trajectory:
    path = tmp_path / "1.json"
    path.write_text(json.dumps(run))
    return one(path)


def fixture(half: str) -> dict[str, Any]:
    return json.loads((FIXTURES / half / "1.json").read_text())


@pytest.mark.parametrize("half", HALVES)
def test_task_and_id(half: str) -> None:
    read = one(FIXTURES / half / "1.json")
    assert read.id == "constructed-1"
    assert read.task and read.task.instruction == "Which of the two shops opens earlier on Sundays?"
    assert not read.notices


def test_speakers_of_the_hand_crafted_half() -> None:
    steps = one(FIXTURES / "hand-crafted" / "1.json").steps
    assert [(step.source.index, step.agent) for step in steps] == [
        (1, "Orchestrator"),
        (2, "Orchestrator"),
        (3, "Browser"),
        (4, "Browser"),
    ]
    assert steps[1].calls == (ToolCall("Browser", {"input": "Look up the bakery's hours."}),)
    assert [seen.origin for seen in steps[3].observations] == ["system"]


def test_speakers_of_the_generated_half() -> None:
    """`role` says user for an expert and assistant for the terminal: only the name counts."""
    steps = one(FIXTURES / "algorithm-generated" / "1.json").steps
    assert [(step.source.index, step.agent) for step in steps] == [
        (0, "Hours_Expert"),
        (1, "Hours_Expert"),
        (3, "Hours_Expert"),
    ]
    (seen,) = steps[1].observations
    assert (seen.origin, seen.exit_code) == ("tool", 0)


@pytest.mark.parametrize("half", HALVES)
def test_every_label_has_its_step(half: str) -> None:
    run = fixture(half)
    wrong = int(run["mistake_step"])
    indexes = [step.source.index for step in one(FIXTURES / half / "1.json").steps]
    step = one(FIXTURES / half / "1.json").steps[max(n for n, i in enumerate(indexes) if i is not None and i <= wrong)]
    assert step.agent == run["mistake_agent"]


def test_pages_and_remarks_are_observations(tmp_path: Path) -> None:
    run = fixture("hand-crafted")
    run["history"][3:] = [
        {"role": "Orchestrator (thought)", "content": "Next speaker Browser"},
        {"role": "Browser", "content": "I clicked 'Hours'.\n\nHere is a screenshot of [Hours](x). It is empty."},
        {"role": "human", "content": "Hurry."},
    ]
    steps = of(tmp_path, run).steps
    assert [step.source.index for step in steps] == [1, 2, 4]
    assert steps[1].observations == (Observation("Next speaker Browser", origin="system"),)
    assert steps[2].message == "I clicked 'Hours'."
    assert steps[2].observations == (
        Observation("Here is a screenshot of [Hours](x). It is empty."),
        Observation("Hurry.", origin="user"),
    )


@pytest.mark.parametrize("half", HALVES)
def test_labels_do_not_pass(tmp_path: Path, half: str) -> None:
    run = fixture(half)
    before = of(tmp_path, run)
    labels = (
        "ground_truth groundtruth is_correct is_corrected mistake_agent mistake_step mistake_reason mistake_type level"
    )
    run |= dict.fromkeys([*labels.split(), "system_prompt"], "CHANGED")
    assert of(tmp_path, run) == before


def test_damaged_entries_are_reported(tmp_path: Path) -> None:
    run = fixture("hand-crafted")
    run["history"][3] = "nonsense"
    read = of(tmp_path, run)
    assert [step.source.index for step in read.steps] == [1, 2, 4]
    assert [(notice.kind, notice.source.index) for notice in read.notices] == [("skipped", 3)]


def test_rows_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    path.write_text("".join(json.dumps(fixture(half)) + "\n" for half in HALVES))
    first, second = dense.read(path)
    assert (first.id, second.id) == ("constructed-1", "constructed-1#row 1")
    assert (second.steps[1].source.line, second.steps[1].source.index, second.steps[1].source.part) == (2, 1, "row 1")


def test_every_mistake_of_the_corpus_has_its_step(corpus: Path) -> None:
    found = 0
    for path in sorted((corpus / "who-and-when").rglob("*.json")):
        run = json.loads(path.read_text())
        before = [step for step in one(path).steps if (step.source.index or 0) <= int(run["mistake_step"])]
        assert before
        found += before[-1].agent == run["mistake_agent"]
    # Three of the labels name another agent than the one that spoke in the entry they point to.
    assert found >= 27


def test_a_bare_history_is_a_run(tmp_path: Path) -> None:
    """As Magentic-One writes it: no question beside it, so the human's first entry is the task."""
    run = fixture("hand-crafted")
    path = tmp_path / "console_log.json"
    path.write_text(json.dumps(run["history"]))
    bare, framed = one(path), one(FIXTURES / "hand-crafted" / "1.json")
    assert bare.id == "console_log"
    assert bare.task and bare.task.instruction == run["history"][0]["content"].strip()
    assert [(step.source.index, step.agent, step.calls, step.message) for step in bare.steps] == [
        (step.source.index, step.agent, step.calls, step.message) for step in framed.steps
    ]


@pytest.mark.parametrize(
    "entries",
    [
        [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello (there)"}],
        [{"role": "human", "content": "Hello"}, {"role": "Orchestrator (thought)"}],
        [["Orchestrator (thought)", "We plan."]],
    ],
)
def test_other_lists_are_not_claimed(tmp_path: Path, entries: list[Any]) -> None:
    from dense.readers.formats.who_and_when import WhoAndWhen

    assert not WhoAndWhen().claims([entries])
