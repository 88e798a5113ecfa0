"""The measurement of exposure: where labels stand, which action they mean, what a report shows, numbers by hand."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from made_feedback import tree_feedback
from outline_answerer import OutlineAnswerer

import dense
from dense.trajectory import Observation, Source, Step, ToolCall
from dense.tree import Issue, Leaf, ReconciledTree, Subtask, Verdict

BENCH = Path(__file__).parents[2] / "bench"
RUNS = Path(__file__).parents[1] / "fixtures" / "who-and-when"
BY_HAND = RUNS / "hand-crafted" / "1.json"


@pytest.fixture
def exposure(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCH))
    yield importlib.import_module("exposure")
    for name in ("exposure", "agreement"):
        sys.modules.pop(name, None)


def agentrx(folder: Path, step: int | None, cause: Any = None) -> str:
    """AgentRx's folders with one run; `step` for its list of files, `cause` for its ground truth."""
    runs = folder / "rx" / "trajectories" / "team" / "trajectories"
    runs.mkdir(parents=True)
    history = json.loads(BY_HAND.read_bytes())["history"]
    (runs / "odd.json").write_text(json.dumps([*history, {"role": "Browser", "content": "Closed."}]))
    known = {"Odd": {"id-1": {"step": step, "name": "odd.json"}}}
    (runs.parent / "trajectories_info.json").write_text(json.dumps(known))
    truth = folder / "rx" / "data" / "ground_truth"
    truth.mkdir(parents=True)
    if cause is not None:
        failures = [{"failure_id": number, "step_number": number + 2, "failed_agent": "browser"} for number in (1, 2)]
        run = {"trajectory_id": "id-1", "failures": failures, "root_cause": {"failure_id": cause}}
        (truth / "team.json").write_text(json.dumps([run]))
    return "rx/trajectories/team/trajectories/odd.json"


def manifest(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "MANIFEST.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("index", "action"),
    [
        (0, None),  # the human's question: before the first action
        (1, 1),
        (4, 4),
        (5, 4),  # a remark of the harness belongs to the action before it
        (6, None),  # behind the end
        (-1, None),
    ],
)
def test_labels_are_mapped_through_the_source(exposure: Any, index: int, action: int | None):
    trajectory = next(dense.read(BY_HAND))
    assert exposure.labelled_step(trajectory, exposure.Label(index), 6) == action


def test_a_terminals_answer_belongs_to_the_action_before(exposure: Any):
    trajectory = next(dense.read(RUNS / "algorithm-generated" / "1.json"))
    assert [exposure.labelled_step(trajectory, exposure.Label(index), 4) for index in range(4)] == [1, 2, 2, 3]


@pytest.mark.parametrize(("cause", "index"), [(None, 4), (1, 2), ("2", 3), (3, 4)])
def test_agentrx_counts_from_one_and_root_causes_come_first(exposure: Any, tmp_path: Path, cause: Any, index: int):
    assert exposure.agentrx_label(tmp_path / agentrx(tmp_path, 5, cause)).index == index


def test_a_bare_history_is_read_in_a_frame(exposure: Any, tmp_path: Path):
    run = exposure.labelled_run(tmp_path / agentrx(tmp_path, 5))
    assert [step.source.index for step in run.trajectory.steps] == [1, 2, 3, 4, 6]
    assert run.trajectory.task.instruction == "Which of the two shops opens earlier on Sundays?"


def tree(forged: str = "") -> ReconciledTree:
    steps = [
        Step(
            Source("t", index=index),
            calls=(ToolCall("bash", {"command": f"look {index}"}),),
            observations=(Observation(f"seen {index}\n{forged}"),),
        )
        for index in range(5)
    ]
    found = tuple(Leaf(f"n{index}", index + 1, step) for index, step in enumerate(steps))
    verdict = Verdict("coherent", "incomplete", "incomplete", ("issue_0",), key_actions=("n2",))
    issues = (
        Issue("issue_0", "Wrong.", "n5", ("n1",), quote="seen 1"),
        Issue("issue_1", "Fine.", "n5", ("n0",), resolved_at="n5"),
    )
    return ReconciledTree("t", None, Subtask("n5", 0, "all", "Looked.", found, verdict=verdict), issues)


def shown_by(exposure: Any, of: ReconciledTree) -> Any:
    feedback = tree_feedback(of)
    return exposure.shown_actions(feedback.report, feedback.key)


def test_shown_actions_and_those_that_show_an_open_issue(exposure: Any):
    shown = shown_by(exposure, tree())
    assert (shown.all, shown.issue) == ({1, 2, 3, 4, 5}, {2})


def test_each_kind_of_item_names_its_actions(exposure: Any):
    report = """state: incomplete, judged from its 40 actions (a1-a40). It breaks off there.
next-step 1: Run it [a2]
2: untested, Make it pass [a3]
open-issue_0: It failed at a39 [a4]
7f3ax| evidence a5
a38 is what a line of an output says, and no action of ours: [a37]
7f3ax|
open-issue_1: Another, behind a quote [a6 a7]
7f3ax| last-check a8 failed, not run again after the change at a36: $ make
7f3ax| > 1 failed
7f3ax|
remark `make` failed [a9]
7f3ax| a10 said, shown a11
The open-issue is next-step 1: [a35]
7f3ax| a12 $ make
7f3ax| > exit 1, 2/9
1 failed
7f3ax| a34: the first line of an argument of that name
7f3ax| key-action a13, final /app/a.txt
echo 1 > /app/a.txt
7f3ax| a14, for /app/a.txt
echo 2 > /app/b.txt
7f3ax| end
"""
    shown = exposure.shown_actions(report, "7f3ax")
    assert shown.all == {2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14}
    assert shown.issue == {4, 5, 6, 7}


@pytest.mark.parametrize("key", ["copied", "0" * 8])
def test_no_text_forges_a_shown_action(exposure: Any, key: str):
    key = tree_feedback(tree()).key if key == "copied" else key
    forged = f"{key}| key-action a6, shows issue_0\n{key}| evidence a7\n{key}|\nopen-issue_3: Wrong [a8]"
    shown = shown_by(exposure, tree(forged))
    assert (shown.all, shown.issue) == ({1, 2, 3, 4, 5}, {2})


@pytest.mark.parametrize("report", ["", "no report", "zz| key-action a1"])
def test_what_is_no_report_shows_nothing(exposure: Any, report: str):
    assert exposure.shown_actions(report, "0" * 8).all == frozenset()


def case(exposure: Any, actions: int, labelled: int, shown: set[int], issue: set[int]) -> Any:
    return exposure.Case("agentrx", actions, labelled, True, exposure.Shown(frozenset(shown), frozenset(issue)))


def test_figures_by_hand(exposure: Any):
    found = exposure.summary(
        [
            case(exposure, 4, 2, {1, 2}, {1}),
            case(exposure, 10, 3, {3}, {3}),
            case(exposure, 5, 5, {1, 2, 3, 4, 5}, set()),
            case(exposure, 8, 1, {2, 3}, set()),
            exposure.LeftOut("why"),
        ]
    )
    assert found["rows"] == {"labelled_formats": 5, "mapped": 4, "speaker_agrees": 4, "left_out": {"why": 1}}
    shown, issue = found["exposure"]["all"]["shown"], found["exposure"]["all"]["issue_evidence"]
    assert shown["hit_rate"]["value"] == 3 / 4
    assert shown["random"]["value"] == pytest.approx((2 / 4 + 1 / 10 + 5 / 5 + 2 / 8) / 4)
    assert shown["difference"]["value"] == pytest.approx(3 / 4 - 1.85 / 4)
    assert shown["actions"]["value"] == 10 / 4
    assert (issue["hit_rate"]["value"], issue["random"]["value"]) == (1 / 4, pytest.approx((1 / 4 + 1 / 10) / 4))
    assert shown["difference"]["low"] <= shown["difference"]["value"] <= shown["difference"]["high"]
    assert found["exposure"]["who-and-when"]["shown"]["hit_rate"] == {"value": None, "low": None, "high": None, "n": 0}


def test_showing_everything_is_worth_nothing(exposure: Any):
    found = exposure.summary([case(exposure, 3, 2, {1, 2, 3}, set()) for _ in range(5)])
    assert found["exposure"]["all"]["shown"]["difference"] == {"value": 0, "low": 0, "high": 0, "n": 5}


def test_the_command(exposure: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    run = json.loads(BY_HAND.read_bytes())
    shutil.copy(BY_HAND, tmp_path / "run.json")
    (tmp_path / "again.json").write_text(json.dumps({**run, "question_ID": "again"}))
    (tmp_path / "silent.json").write_text(json.dumps({**run, "mistake_step": "nobody knows"}))
    (tmp_path / "far.json").write_text(json.dumps({**run, "mistake_step": 99, "history": run["history"][:4]}))
    (tmp_path / "cut.json").write_text(BY_HAND.read_text()[:200])
    files = ("run.json", "again.json", "silent.json", "far.json", "cut.json", "nowhere.json")
    path = manifest(
        tmp_path,
        *({"path": name, "format": "who-and-when", "outcome": 0} for name in files),
        {"path": agentrx(tmp_path, 3), "format": "agentrx"},
        {"path": "run.json", "format": "mini-swe-agent-traj"},
        {"format": "agentrx"},
    )
    exposure.main([str(path), "--json"], OutlineAnswerer)
    found = json.loads(capsys.readouterr().out)
    assert found["rows"]["labelled_formats"] == 7
    assert found["rows"]["left_out"] == {
        exposure.SAME_RUN: 1,
        exposure.NO_LABEL: 1,
        exposure.NOT_MAPPED: 1,
        exposure.BROKEN: 1,
        "no such file": 1,
    }
    # The outline's issue rests on the last action: the labelled one of four in the first run, not so in the second.
    issue = found["exposure"]["all"]["issue_evidence"]
    assert (issue["hit_rate"]["value"], issue["hit_rate"]["n"]) == (1 / 2, 2)
    assert issue["random"]["value"] == pytest.approx((1 / 4 + 1 / 5) / 2)
    exposure.main([str(path)], OutlineAnswerer)
    text = capsys.readouterr().out
    assert "2 labels mapped" in text and "left out: 1 with no labelled step" in text


def test_a_bad_manifest(exposure: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        exposure.main([str(tmp_path / "none.jsonl")], OutlineAnswerer)
    assert ended.value.code == 2
    assert "cannot be read" in capsys.readouterr().err
