"""`dense+lessons` in the run loop: no task's message holds anything that was learned on that task, in any round."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from made_experiment import made_plan, opened
from made_harness import MadeHarness, write_task

from dense.errors import DenseError
from dense.lessons.files import encode_evidence, read_evidence
from dense.lessons.lesson import LessonEvidence, task_hash
from dense.trajectory import Task
from refit.experiment.executor import CellExecutor
from refit.experiment.experiment import experiment_of
from refit.experiment.feedback import FeedbackMaker
from refit.experiment.run import run
from refit.experiment.store.lock import writing
from refit.harness.sandbox import preflight_now
from refit.results import Result

EXAMPLE = Path(__file__).parents[3] / "examples" / "refit"
METHODS = ["dense", "dense+lessons"]


def learned(tasks: dict[str, str], *, is_named: bool) -> list[LessonEvidence]:
    """Constructed evidence: for each task a package that all tasks but the first two after it needed, and one that all
    needed. Tasks are known by their names, or by the hash of their instruction alone."""
    names = list(tasks)
    needed = {f"package-of-{name}": [*names[:place], *names[place:][3:], name] for place, name in enumerate(names)}
    needed["package-of-all"] = names
    return [
        LessonEvidence(
            f"not installed: {package}", "python", "install", f"pip install {package}", True,
            name if is_named else f"another wording of {name}", "" if is_named else task_hash(Task(tasks[name])),
            "", f"{name} {package}", f"{name}.json", 1, 3, f"No module named '{package}'",
        )
        for package, needing in needed.items()
        for name in needing
    ]  # fmt: skip


def expected(evidence: list[LessonEvidence], task: str) -> set[str]:
    """The packages that at least three other tasks needed."""
    others = [piece for piece in evidence if not piece.run.startswith(f"{task} ")]
    packages = [piece.signature.removeprefix("not installed: ") for piece in others]
    return {package for package in packages if packages.count(package) >= 3}


def check_messages(folder: Path, results: tuple[Result, ...], evidence: list[LessonEvidence]) -> set[int]:
    """That each message has lessons, as many as there is room for, and none that it may not have; in how many tasks the
    first one holds, as it says."""
    packages, counts = {piece.signature.removeprefix("not installed: ") for piece in evidence}, set[int]()
    own = [result for result in results if result.cell.method == "dense+lessons"]
    assert own
    for result in own:
        text = (folder / result.message).read_text()
        task = result.cell.task
        shown = {name for name in packages if f"`{name}`" in text}
        assert {"package-of-all"} <= shown <= expected(evidence, task), task
        given = sum(piece.signature.endswith("-of-all") and not piece.run.startswith(f"{task} ") for piece in evidence)
        assert f"({given} tasks, {given} runs)" in text
        counts.add(given)
    for result in results:
        if result.cell.method == "dense":
            assert "lesson from other tasks" not in (folder / result.message).read_text()
    return counts


@pytest.mark.parametrize("is_named", [True, False])
def test_no_message_holds_what_was_learned_on_its_task(tmp_path: Path, *, is_named: bool) -> None:
    """Two rounds: the second message is about an attempt whose instruction begins with the first message."""
    tasks = {f"task-{number}": f"Write {number} to /app/{number}.txt.\n" for number in range(1, 6)}
    for name, instruction in tasks.items():
        write_task(tmp_path / "tasks" / name, instruction)
    evidence = learned(tasks, is_named=is_named)
    (tmp_path / "lessons.jsonl").write_bytes(encode_evidence(evidence))
    plan = made_plan(tmp_path, count=5, methods=METHODS, repetitions=1, rounds=2, lessons="lessons.md")
    with writing(plan.folder, "test"), opened(plan) as store:
        maker = FeedbackMaker(plan.config, None, plan.config.lesson_evidence(tmp_path))
        executor = CellExecutor(plan, store, MadeHarness(), maker, waits=(0.0,))
        asyncio.run(run(executor))
        results = executor.state.results
    assert {result.cell.round for result in results if result.cell.method == "dense+lessons"} == {1, 2}
    assert check_messages(plan.folder, results, evidence) == {4}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_example_with_lessons(tmp_path: Path) -> None:
    """The example with its scripted recipient; evidence of its own attempts, and constructed evidence on its tasks."""
    try:
        preflight_now(("tmux",))
    except DenseError as error:
        pytest.skip(f"no sandbox on this machine: {error}")
    for entry in EXAMPLE.iterdir():
        (tmp_path / entry.name).symlink_to(entry)
    settings = yaml.safe_load((EXAMPLE / "refit.yaml").read_text()) | {"repetitions": 1}

    def refit(name: str, **changes: object) -> Path:
        file = tmp_path / f"{name}.yaml"
        file.write_text(yaml.safe_dump(settings | {"name": name, **changes}))
        _dense("refit", "run", str(file), "--out", str(tmp_path / name))
        return tmp_path / name

    first = refit("first", methods=["dense"])
    _dense("batch", str(first), "--out", str(tmp_path / "table"), "--quiet")
    _dense("lessons", str(tmp_path / "table"), "--out", str(tmp_path / "seen.md"))
    tasks = {path.name: (path / "instruction.md").read_text() for path in (EXAMPLE / "tasks").iterdir()}
    constructed = learned(tasks, is_named=True)
    seen = read_evidence(tmp_path / "seen.md")
    (tmp_path / "lessons.jsonl").write_bytes(encode_evidence([*seen, *constructed]))
    second = refit("second", methods=METHODS, lessons="lessons.md")
    assert check_messages(second, experiment_of(second).results, constructed) == {5}


def _dense(*words: str) -> None:
    done = subprocess.run([sys.executable, "-m", "dense", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, json.dumps([done.stdout[-2000:], done.stderr[-2000:]])
