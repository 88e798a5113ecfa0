"""Results from elsewhere: tables, finished Harbor jobs, other experiments of ours.

A Harbor job does not record which feedback its attempts got, so the user says it: `JOB=METHOD[:ROUND]`. A job without
that is a round 0. Attempts at a task are numbered in the order in which they started, and so attempts of two jobs are
paired by that order: which is arbitrary unless the attempts were really made in pairs, and is said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from dense.errors import DenseError, NoTrajectory
from dense.readers.files import TraceFile
from dense.readers.json_value import obj, string
from refit.experiment.experiment import IMPORT_NOTE, experiment_of
from refit.experiment.results_table.files import ResultTable, read_table
from refit.experiment.store.events import STORE_FILE
from refit.experiment.store.state import load_state
from refit.harness.finished_trial import read_trial
from refit.results import RUN0, Cell, Experiment, Result

MAX_SHOWN_NAMES = 20
NEVER = datetime.max.replace(tzinfo=UTC)
"""When an attempt started that does not say."""
_METHOD = re.compile(r"(?P<job>.+?)=(?P<method>[^=]*?)(?::(?P<round>\d{1,4}))?")


class JobArm(Struct, frozen=True):
    """Which feedback the attempts of a job got."""

    method: str = RUN0
    """Which method wrote the feedback."""
    round: int = 0
    """In which round; 0 without feedback."""


class HarborTrial(Struct, frozen=True):
    """A folder of Harbor's with one attempt in it, as far as it says which."""

    folder: Path
    """Where it lies, resolved; its job is the folder around it."""
    recipient: str
    """Agent and model."""
    task: str
    """The task's name, as that of its folder."""
    full_task: str
    """The task's name with what Harbor puts before it."""
    options: dict[str, Any] = {}
    """The agent's."""
    started: datetime = NEVER
    """When."""


def import_sources(paths: Sequence[Path], methods: Mapping[str, JobArm] | None = None) -> ResultTable:
    """All results of tables, Harbor jobs and experiments. A cell with two results is an error unless they agree."""
    if missing := [path for path in paths if not path.exists()]:
        raise DenseError(f"{missing[0]}: no such file or folder")
    folders = [path for path in paths if path.is_dir()]
    if methods and not folders:
        raise DenseError("methods can be named for folders of Harbor jobs only; a table has them in a column")
    tables = [(str(path), read_table(path)) for path in paths if not path.is_dir()]
    if folders:
        tables.append((", ".join(map(str, folders)), import_jobs(folders, methods)))
    return _together(tables)


def import_jobs(folders: Iterable[Path], methods: Mapping[str, JobArm] | None = None) -> ResultTable:
    """The attempts of finished Harbor jobs at or below some folders, and the results of experiments of ours there.

    `methods` says of a job, by its folder's name or path, which feedback its attempts got."""
    trials: dict[Path, HarborTrial] = {}
    experiments: dict[Path, ResultTable] = {}
    for root in folders:
        items = list(_found(_folder(root), set()))
        if not items:
            raise DenseError(
                f"{root}: no Harbor trial here; give a job, or the folder around jobs: JOB/TRIAL/result.json"
            )
        experiments |= {item: _experiment(item) for item in items if isinstance(item, Path)}
        trials |= {item.folder: item for item in items if isinstance(item, HarborTrial)}
    arms = _arms({trial.folder.parent for trial in trials.values()}, methods or {})
    tables = [(str(folder), table) for folder, table in experiments.items()]
    return _together([*tables, ("Harbor jobs", _results(list(trials.values()), arms))])


def parse_methods(texts: Iterable[str]) -> dict[str, JobArm]:
    """What the user says of jobs, `JOB=METHOD[:ROUND]` each; the round is 1 unless it is given."""
    arms: dict[str, JobArm] = {}
    for text in texts:
        match = _METHOD.fullmatch(text.strip())
        method = match["method"].strip() if match else ""
        if match is None or not method:
            raise DenseError(f"{text!r}: say JOB=METHOD, or JOB=METHOD:ROUND, as in night-2=dense or night-3=dense:2")
        number = int(match["round"] or method != RUN0)
        if match["job"] in arms:
            raise DenseError(f"{text!r}: something else was said of this job before")
        if method == RUN0 and number:
            raise DenseError(f"{text!r}: {RUN0} is round 0; a rerun without feedback is the method none")
        arms[match["job"]] = JobArm(method, number) if number else JobArm()
    return arms


# Finding trials


def _folder(root: Path) -> Path:
    if not root.is_dir():
        raise DenseError(f"{root}: no such folder")
    whole = root.resolve()
    if around := next((parent for parent in whole.parents if (parent / STORE_FILE).is_file()), None):
        raise DenseError(f"{root}: a part of the experiment in {around}, which knows its cells; give all of it")
    return whole


def _found(folder: Path, visited: set[Path]) -> Iterator[HarborTrial | Path]:
    """The trials and experiments at or below a folder, in the order of their names; loops of links are cut."""
    if folder in visited:
        return
    visited.add(folder)
    try:
        is_experiment = (folder / STORE_FILE).is_file()
        inner = sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    except OSError as error:
        raise DenseError(f"{folder}: cannot be read ({error.strerror or error})") from None
    if is_experiment:
        yield folder
        return
    result, config = _object(folder / "result.json"), _object(folder / "config.json")
    if "trial_name" in result or "trial_name" in config:
        yield _trial(folder, result, config)
        return
    for entry in inner:
        yield from _found(entry.resolve(), visited)


def _object(path: Path) -> dict[str, Any]:
    """A small file of Harbor's; what is not there or half written has nothing in it."""
    try:
        return obj(TraceFile(path, path.name).document().value) if path.is_file() else {}
    except (NoTrajectory, OSError):
        return {}


def _trial(folder: Path, result: dict[str, Any], config: dict[str, Any]) -> HarborTrial:
    config = obj(result.get("config")) or config
    agent, task = obj(config.get("agent")), obj(config.get("task"))
    full = string(result.get("task_name")) or string(task.get("name")) or ""
    path = string(task.get("path")) or string(task.get("name")) or full
    name = re.split(r"[\\/]", path.rstrip("\\/"))[-1]
    return HarborTrial(
        folder=folder,
        recipient=_recipient(agent, obj(result.get("agent_info"))),
        task=name if name.strip(". ") else folder.name.rpartition("__")[0] or folder.name,
        full_task=full,
        options=obj(agent.get("kwargs")),
        started=_time(result.get("started_at")),
    )


def _recipient(agent: dict[str, Any], info: dict[str, Any]) -> str:
    """`agent (model)`. A configuration leaves out what is Harbor's default, and its default agent is the oracle."""
    name = string(agent.get("name")) or string(agent.get("import_path")) or string(info.get("name")) or "oracle"
    info_of_model = obj(info.get("model_info"))
    known = "/".join(part for key in ("provider", "name") if (part := string(info_of_model.get(key))))
    model = string(agent.get("model_name")) or known
    return f"{name} ({model})" if model else name


def _time(value: Any) -> datetime:
    """Older releases of Harbor write times without a zone."""
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else NEVER
    except ValueError:
        return NEVER
    return time if time.tzinfo else time.replace(tzinfo=UTC)


# From trials to results


def _arms(jobs: set[Path], methods: Mapping[str, JobArm]) -> dict[Path, JobArm]:
    """The method and round of each job."""
    arms = dict.fromkeys(sorted(jobs), JobArm())
    for name, arm in methods.items():
        fitting = [job for job in arms if name in (job.name, str(job)) or Path(name).resolve() == job]
        if len(fitting) != 1:
            there = ", ".join(str(job) for job in fitting) or ", ".join(job.name for job in arms) or "none"
            what = "several jobs are called that; name one by its path" if fitting else "no such job"
            raise DenseError(f"{name}: {what} (there is {there})")
        arms[fitting[0]] = arm
    return arms


def _results(trials: Sequence[HarborTrial], arms: Mapping[Path, JobArm]) -> ResultTable:
    """The results of all finished trials, in the order of their cells."""
    results: list[Result] = []
    unfinished: list[str] = []
    for trial, cell in _cells(trials, arms):
        result = _result(trial, cell)
        if result is None:
            unfinished.append(f"{trial.folder.parent.name}/{trial.folder.name}")
        else:
            results.append(result)
    notices = _notices(trials, arms, results)
    if unfinished:
        notices.insert(0, f"trials left out, because they have no complete result.json: {_some(unfinished)}")
    return ResultTable(tuple(sorted(results, key=lambda result: result.cell)), tuple(notices))


def _cells(trials: Sequence[HarborTrial], arms: Mapping[Path, JobArm]) -> Iterator[tuple[HarborTrial, Cell]]:
    """Numbers the attempts of each arm at a task: jobs by when they began, within a job by when each attempt did.

    An attempt that never ended has a number too: those after it keep their partners."""
    began: dict[Path, datetime] = {}
    for trial in trials:
        job = trial.folder.parent
        began[job] = min(trial.started, began.get(job, NEVER))
    names = _task_names(trials)
    numbers: dict[tuple[JobArm, str, str], int] = {}

    def order(trial: HarborTrial) -> tuple[datetime, Path, datetime, str]:
        return began[trial.folder.parent], trial.folder.parent, trial.started, trial.folder.name

    for trial in sorted(trials, key=order):
        arm, task = arms[trial.folder.parent], names[trial.folder]
        number = numbers.get(group := (arm, trial.recipient, task), 0)
        numbers[group] = number + 1
        yield trial, Cell(trial.recipient, task, number, arm.round, arm.method)


def _task_names(trials: Sequence[HarborTrial]) -> dict[Path, str]:
    """Tasks by the names of their folders; by their full names where two tasks have one name."""
    full: dict[str, set[str]] = {}
    for trial in trials:
        if "/" in trial.full_task:
            full.setdefault(trial.task, set()).add(trial.full_task)
    return {
        trial.folder: trial.full_task if len(full.get(trial.task, ())) > 1 and trial.full_task else trial.task
        for trial in trials
    }


def _result(trial: HarborTrial, cell: Cell) -> Result | None:
    attempt = read_trial(trial.folder, trial.folder)
    if attempt is None:
        return None
    return Result(cell=cell, attempt=attempt.with_paths(lambda path: (trial.folder / path).as_posix()))


def _notices(trials: Sequence[HarborTrial], arms: Mapping[Path, JobArm], results: Sequence[Result]) -> list[str]:
    """What the user should know before believing a comparison."""
    notices: list[str] = []
    job_arms = set(arms.values())
    if shared := [job.name for job, arm in arms.items() if arm.round == 0]:
        notices.append(f"jobs taken as round 0, without feedback: {_some(shared)}")
    if len(job_arms) > 1 and any(result.cell.repetition for result in results):
        notices.append(
            "repetitions of different jobs are paired by the order in which attempts started; that is arbitrary "
            "unless the attempts were really made in pairs"
        )
    for recipient in sorted({trial.recipient for trial in trials}):
        options = [trial.options for trial in trials if trial.recipient == recipient]
        names = sorted({key for given in options for key in given})
        if differ := [key for key in names if any(given.get(key) != options[0].get(key) for given in options)]:
            notices.append(
                f"{recipient} ran with different options ({', '.join(differ)}) and is counted as one recipient"
            )
    return notices


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_SHOWN_NAMES} more" if len(names) > MAX_SHOWN_NAMES else ""
    return ", ".join(names[:MAX_SHOWN_NAMES]) + more


# Putting together


def _experiment(folder: Path) -> ResultTable:
    """What an experiment of ours came to: it knows its cells."""
    state = load_state(folder)
    results = state.results if state is not None else ()
    # What must be said of them is known from the first session on.
    known = experiment_of(folder) if state is not None and state.sessions else Experiment(name="", results=())

    results = tuple(result.with_paths(lambda path: (folder / path).as_posix()) for result in results)
    notices = () if results else (f"{folder}: the experiment has no results yet",)
    notes = tuple(note for note in known.notes if note != IMPORT_NOTE)
    return ResultTable(results, notices, notes, tuple(sorted(known.privileged)))


def _together(tables: Sequence[tuple[str, ResultTable]]) -> ResultTable:
    """Several tables as one."""
    kept: dict[Cell, tuple[str, Result]] = {}
    twice: list[str] = []
    for source, table in tables:
        for result in table.results:
            first = kept.setdefault(result.cell, (source, result))
            if first[1] is not result and (result.cell.round or first[1] != result):
                twice.append(f"{result.cell}: in {first[0]} and in {source}")
    if twice:
        raise DenseError(
            "\n  ".join(
                [
                    "the same cell is in more than one source; leave one out, or give it other repetitions",
                    *twice[:MAX_SHOWN_NAMES],
                    *([f"… and {len(twice) - MAX_SHOWN_NAMES} more"] if len(twice) > MAX_SHOWN_NAMES else []),
                ]
            )
        )
    return ResultTable(
        tuple(result for _, result in kept.values()),
        tuple(notice for _, table in tables for notice in table.notices),
        tuple(dict.fromkeys(note for _, table in tables for note in table.notes)),
        tuple(sorted({name for _, table in tables for name in table.privileged})),
    )
