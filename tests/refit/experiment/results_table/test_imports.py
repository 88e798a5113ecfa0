"""Results from elsewhere: real Harbor jobs of several releases, tables, experiments of ours."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from dense.errors import DenseError
from dense.trajectory import Usage
from refit.experiment.results_table.files import read_table, write_table
from refit.experiment.results_table.imports import JobArm, import_jobs, import_sources, parse_methods
from refit.experiment.store.events import EventStore, ExperimentOpened, ResultImported
from refit.results import RUN0, AttemptResult, Cell, Result

TERMINUS = "terminus-2 (openai/scripted)"


@pytest.fixture
def jobs(fixtures: Path) -> Path:
    return fixtures / "atif" / "jobs"


def copied(jobs: Path, job: str, to: Path, **changes: Any) -> Path:
    """A recorded trial as another trial of a job: `to` is its folder, changes go into its record."""
    (trial,) = (folder for folder in (jobs / job).iterdir() if folder.is_dir())
    shutil.copytree(trial, to)
    change(to, trial_name=to.name, **changes)
    return to


def change(trial: Path, **changes: Any) -> None:
    record = json.loads((trial / "result.json").read_text())
    for place, value in changes.items():
        inner = record
        *way, last = place.split("__")
        for step in way:
            inner = inner[step]
        inner[last] = value
    (trial / "result.json").write_text(json.dumps(record))


def test_all_recorded_releases(jobs: Path) -> None:
    read = import_jobs([jobs], parse_methods(["basic=dense", "timed-out=dense:2", "summarised=none"]))
    cells = [result.cell for result in read.results]
    assert cells == sorted(cells) and len(cells) == 14
    assert {cell.task for cell in cells} == {"count-words"}
    assert {cell.recipient for cell in cells} == {"nop", "oracle", TERMINUS}
    shared = [result for result in read.results if result.cell.recipient == TERMINUS and result.cell.round == 0]
    assert [result.cell.repetition for result in shared] == list(range(9))
    assert all(result.attempt.reward == 1 and result.cell.method == RUN0 for result in shared)
    assert [Path(result.attempt.trace).parts[-4] for result in shared[:3]] == [
        "terminus-2-harbor-0.1.2",
        "terminus-2-harbor-0.1.18",
        "terminus-2-harbor-0.1.23",
    ], "jobs in the order in which they were run"


def test_what_a_trial_tells(jobs: Path) -> None:
    read = import_jobs(
        [jobs / "basic", jobs / "timed-out"], {"basic": JobArm("dense", 1), "timed-out": JobArm("dense", 2)}
    )
    first, second = read.results
    assert first == Result(
        Cell(TERMINUS, "count-words", 0, 1, "dense"),
        AttemptResult(
            trial=str(next((jobs / "basic").glob("count-words__*")).resolve()),
            reward=1.0,
            usage=Usage(8400, 2000, None, 380),
            tool_calls=7,
            turns=7,
            seconds=first.attempt.seconds,
            trace=first.attempt.trace,
        ),
    )
    assert first.attempt.seconds is not None and 4 < first.attempt.seconds < 6
    assert Path(first.attempt.trace) == (jobs / "basic/count-words__bmTbuNF/agent/trajectory.json").resolve()
    assert (second.cell.round, second.attempt.reward, second.attempt.ending) == (2, 0.0, "AgentTimeoutError")
    assert second.attempt.is_partial and second.feedback is None, "what the feedback took is not known"


def test_a_job_or_a_trial_may_be_given(jobs: Path) -> None:
    whole = import_jobs([jobs / "oracle"])
    assert import_jobs(list((jobs / "oracle").glob("count-words__*"))) == whole
    assert import_jobs([jobs / "oracle", jobs / "oracle"]) == whole, "what is given twice counts once"
    assert whole.notices == ("jobs taken as round 0, without feedback: oracle",)
    assert whole.results == (
        Result(
            Cell("oracle", "count-words", 0, 0, RUN0),
            AttemptResult(
                trial=str(next((jobs / "oracle").glob("count-words__*")).resolve()),
                reward=1.0,
                seconds=whole.results[0].attempt.seconds,
            ),
        ),
    )


def test_repetitions_are_numbered_by_their_start(jobs: Path, tmp_path: Path) -> None:
    days = {"c": 1, "a": 2, "b": 3}
    for name, day in days.items():
        copied(jobs, "oracle", tmp_path / "first" / f"x__{name}", started_at=f"2026-01-0{day}T10:00:00Z")
        copied(jobs, "oracle", tmp_path / "again" / f"x__{name}", started_at=f"2026-02-0{4 - day}T10:00:00Z")
    read = import_jobs([tmp_path], {"again": JobArm("dense", 1)})
    assert sorted((result.cell.repetition, result.cell.method) for result in read.results) == [
        (number, method) for number in range(3) for method in ("dense", RUN0)
    ]
    assert any("paired by the order in which attempts started" in notice for notice in read.notices)
    # by the start, not by the name of the folder
    change(tmp_path / "first" / "x__b", verifier_result__rewards={"reward": 0.5})
    change(tmp_path / "again" / "x__b", verifier_result__rewards={"reward": 0.25})
    read = import_jobs([tmp_path], {"again": JobArm("dense", 1)})
    assert [result.attempt.reward for result in read.results if result.cell.round == 0] == [1.0, 1.0, 0.5]
    assert [result.attempt.reward for result in read.results if result.cell.round == 1] == [0.25, 1.0, 1.0]


def test_several_jobs_of_one_method_are_counted_on(jobs: Path, tmp_path: Path) -> None:
    copied(jobs, "oracle", tmp_path / "late" / "x__1", started_at="2026-01-02T10:00:00Z")
    copied(jobs, "nop", tmp_path / "late" / "x__2", started_at="2026-01-02T10:00:01Z")
    early = copied(jobs, "oracle", tmp_path / "z-early" / "x__1", started_at="2026-01-01T10:00:00Z")
    change(early, verifier_result__rewards={"reward": 0.5})
    read = import_jobs([tmp_path])
    assert [(result.cell.recipient, result.cell.repetition, result.attempt.reward) for result in read.results] == [
        ("nop", 0, 0.0),
        ("oracle", 0, 0.5),
        ("oracle", 1, 1.0),
    ]
    assert not any("paired" in notice for notice in read.notices), "nothing is compared yet"


def test_unfinished_trials_are_left_out_and_keep_their_number(jobs: Path, tmp_path: Path) -> None:
    for name in ("x__1", "x__2", "x__3"):
        copied(jobs, "oracle", tmp_path / "night" / name, started_at=f"2026-01-01T10:00:0{name[-1]}Z")
    (tmp_path / "night" / "x__1" / "result.json").unlink()
    change(tmp_path / "night" / "x__2", finished_at=None)
    (tmp_path / "night" / "result.json").write_text('{"half": ')
    copied(jobs, "oracle", tmp_path / "next" / "x__4", started_at="2026-01-03T10:00:00Z")
    read = import_jobs([tmp_path])
    assert [result.cell.repetition for result in read.results] == [1, 3]
    assert read.notices[0] == "trials left out, because they have no complete result.json: night/x__2, night/x__1"
    (tmp_path / "night" / "x__3" / "result.json").write_text('{"trial_name": "x__3", "finis')
    assert len(import_jobs([tmp_path]).results) == 1


def test_an_attempt_without_a_reward_is_invalid(jobs: Path, tmp_path: Path) -> None:
    copied(
        jobs,
        "timed-out",
        tmp_path / "night" / "x__1",
        verifier_result=None,
        exception_info={"exception_type": "EnvironmentStartError", "exception_message": "no space left"},
    )
    (result,) = import_jobs([tmp_path]).results
    assert result.attempt.reward is None
    assert result.attempt.ending == "EnvironmentStartError: no space left"


@pytest.mark.parametrize(
    ("changes", "recipient", "task"),
    [
        ({}, TERMINUS, "count-words"),
        ({"config__task__path": "C:\\tasks\\count\\"}, TERMINUS, "count"),
        ({"config__task": {"name": "org/other"}, "task_name": "org/other"}, TERMINUS, "other"),
        ({"config__task": {"path": "."}}, TERMINUS, "x"),
        ({"config__agent": {"import_path": "own.agent:Own"}, "agent_info": {}}, "own.agent:Own", "count-words"),
        ({"config__agent": {"name": "codex"}}, "codex (openai/scripted)", "count-words"),
    ],
)
def test_names(changes: dict[str, Any], recipient: str, task: str, jobs: Path, tmp_path: Path) -> None:
    copied(jobs, "basic", tmp_path / "night" / "x__1", **changes)
    (result,) = import_jobs([tmp_path]).results
    assert (result.cell.recipient, result.cell.task) == (recipient, task)


def test_two_tasks_of_one_name_stay_two(jobs: Path, tmp_path: Path) -> None:
    for number, org in enumerate(("here", "there", "there")):
        copied(jobs, "oracle", tmp_path / "night" / f"x__{number}", task_name=f"{org}/count-words")
    read = import_jobs([tmp_path])
    assert [(result.cell.task, result.cell.repetition) for result in read.results] == [
        ("here/count-words", 0),
        ("there/count-words", 0),
        ("there/count-words", 1),
    ]


def test_different_options_are_reported_without_their_values(jobs: Path, tmp_path: Path) -> None:
    copied(jobs, "basic", tmp_path / "night" / "x__1", config__agent__kwargs={"temperature": 0, "key": "sk-1"})
    copied(jobs, "basic", tmp_path / "night" / "x__2", config__agent__kwargs={"temperature": 1, "key": "sk-1"})
    notices = import_jobs([tmp_path]).notices
    assert f"{TERMINUS} ran with different options (temperature) and is counted as one recipient" in notices
    assert "sk-1" not in str(notices)


def test_folders_with_nothing_in_them(jobs: Path, tmp_path: Path) -> None:
    with pytest.raises(DenseError, match="no Harbor trial here; give a job"):
        import_jobs([tmp_path])
    with pytest.raises(DenseError, match="no such folder"):
        import_jobs([tmp_path / "missing"])
    (tmp_path / "loop").symlink_to(tmp_path)
    shutil.copytree(jobs / "oracle", tmp_path / "oracle")
    (tmp_path / "link").symlink_to(tmp_path / "oracle")
    assert len(import_jobs([tmp_path]).results) == 1


# What the user says of jobs


@pytest.mark.parametrize(
    ("text", "job", "arm"),
    [
        ("night=dense", "night", JobArm("dense", 1)),
        ("night=dense:3", "night", JobArm("dense", 3)),
        ("night=own.methods:Mine", "night", JobArm("own.methods:Mine", 1)),
        ("night=own.methods:Mine:2", "night", JobArm("own.methods:Mine", 2)),
        ("a=b=none", "a=b", JobArm("none", 1)),
        ("night=run0", "night", JobArm()),
        ("night=dense:0", "night", JobArm()),
    ],
)
def test_methods_of_jobs(text: str, job: str, arm: JobArm) -> None:
    assert parse_methods([text]) == {job: arm}


@pytest.mark.parametrize("text", ["dense", "night=", "=dense", "night=:2", "night=run0:1", "", "night= "])
def test_methods_of_jobs_that_are_refused(text: str) -> None:
    with pytest.raises(DenseError):
        parse_methods([text])


def test_a_job_is_reported_once() -> None:
    with pytest.raises(DenseError, match="something else was said"):
        parse_methods(["night=dense", "night=none"])


def test_jobs_are_found_by_name_or_path(jobs: Path, tmp_path: Path) -> None:
    with pytest.raises(DenseError, match=r"nigth: no such job \(there is oracle\)"):
        import_jobs([jobs / "oracle"], {"nigth": JobArm("dense", 1)})
    for place in ("one", "two"):
        copied(jobs, "oracle", tmp_path / place / "night" / "x__1")
    with pytest.raises(DenseError, match="several jobs are called that"):
        import_jobs([tmp_path], {"night": JobArm("dense", 1)})
    read = import_jobs([tmp_path], {str(tmp_path / "two" / "night"): JobArm("dense", 1)})
    assert [result.cell.method for result in read.results] == [RUN0, "dense"]


# Several sources


def test_a_table_and_jobs_together(jobs: Path, tmp_path: Path) -> None:
    reported = Result(
        Cell(TERMINUS, "count-words", 0, 1, "none"), AttemptResult(reward=0.0), feedback=Usage(0, 0, 0, 0, 0.0)
    )
    write_table([reported], tmp_path / "more.csv")
    read = import_sources([tmp_path / "more.csv", jobs / "basic"])
    assert [result.cell.method for result in read.results] == ["none", RUN0]
    assert read.results[0] == reported
    write_table(read.results, tmp_path / "all.parquet")
    assert read_table(tmp_path / "all.parquet").results == read.results
    with pytest.raises(
        DenseError, match=r"in more than one source.*\n  .*round 1 · none: in .*more.csv and in .*more.csv"
    ):
        import_sources([tmp_path / "more.csv", tmp_path / "more.csv"])
    with pytest.raises(
        DenseError, match=r"count-words · repetition 0 · round 0 · run0: in .*other.jsonl and in .*basic"
    ):
        write_table(
            [Result(Cell(TERMINUS, "count-words", 0, 0, RUN0), AttemptResult(reward=0.0))], tmp_path / "other.jsonl"
        )
        import_sources([tmp_path / "other.jsonl", jobs / "basic"])


def test_what_cannot_be_imported(tmp_path: Path) -> None:
    with pytest.raises(DenseError, match="missing: no such file or folder"):
        import_sources([tmp_path / "missing"])
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(DenseError, match=r"a table ends in \.csv"):
        import_sources([tmp_path / "result.json"])
    write_table([], tmp_path / "a.csv")
    with pytest.raises(DenseError, match="for folders of Harbor jobs only"):
        import_sources([tmp_path / "a.csv"], {"night": JobArm("dense", 1)})


def test_an_experiment_knows_its_cells(jobs: Path, tmp_path: Path) -> None:
    shared = Result(Cell("kimi", "t", 0, 0, RUN0), AttemptResult(reward=0.0, trace="cells/a/trajectory.json"))
    rerun = Result(
        Cell("kimi", "t", 0, 1, "dense"),
        AttemptResult(reward=1.0),
        feedback_folder="cells/b/feedback",
        message="cells/b/message.txt",
    )
    store = EventStore(tmp_path / "demo")
    store.append(ExperimentOpened("demo", {}))
    for result in (shared, rerun):
        store.append(ResultImported(result, "elsewhere"), result.cell)
    shutil.copytree(jobs / "oracle", tmp_path / "demo" / "cells" / "oracle")
    first, second = import_sources([tmp_path / "demo"]).results
    assert (first.cell, first.attempt.trace) == (shared.cell, str(tmp_path / "demo/cells/a/trajectory.json"))
    assert second.feedback_folder == str(tmp_path / "demo/cells/b/feedback")
    assert second.message == str(tmp_path / "demo/cells/b/message.txt")
    assert len(import_sources([tmp_path, tmp_path / "demo"]).results) == 2
    with pytest.raises(DenseError, match=r"a part of the experiment in .*demo, which knows its cells"):
        import_sources([tmp_path / "demo" / "cells"])


def test_an_experiment_without_results_says_so(tmp_path: Path) -> None:
    EventStore(tmp_path / "demo").append(ExperimentOpened("demo", {}))
    read = import_sources([tmp_path / "demo"])
    assert read.results == () and read.notices == (f"{tmp_path / 'demo'}: the experiment has no results yet",)
