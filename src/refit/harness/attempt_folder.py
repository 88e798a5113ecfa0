"""The folder of one attempt: cleared before, reduced to the instruction after, and checked for changes."""

from __future__ import annotations

import shutil
from pathlib import Path

from dense.errors import DenseError
from refit.harness.derived_task import INSTRUCTION, digest, instruction_of, instruction_with
from refit.harness.finished_trial import RESULT_FILE
from refit.harness.harness import AttemptOrder

TASK_FOLDER = "task"
"""The folder of derived tasks within an order's folder."""
OUTDATED_RESULT = f"outdated-{RESULT_FILE}"
"""What the record of a trial is called whose task was changed meanwhile: nothing takes it for a result."""


def clear_folder(folder: Path) -> None:
    """Nothing of an earlier execution may be there."""
    try:
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
    except OSError as error:
        raise DenseError(f"{folder}: cannot be cleared ({error.strerror or error}); remove it by hand") from None


def keep_only_instruction(order: AttemptOrder) -> None:
    """Of a derived task only what the agent was given stays: the rest is in the task's own folder."""
    task = order.folder / TASK_FOLDER / order.task.name
    for entry in task.iterdir() if task.is_dir() else ():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name != INSTRUCTION:
            entry.unlink(missing_ok=True)


def has_same_instruction(order: AttemptOrder) -> bool:
    """Whether what is left of a killed run was given the same instruction."""
    try:
        left = (order.folder / TASK_FOLDER / order.task.name / INSTRUCTION).read_bytes()
        if order.message is None:
            return left == (order.task / INSTRUCTION).read_bytes()
    except OSError:
        return False
    given = instruction_with(order.message, instruction_of(order.task), as_file=order.as_file)
    return left == given.text.encode()


def check_unchanged(order: AttemptOrder, current: str) -> None:
    """That the task is the one that was planned: a grade of another one would be recorded under its name."""
    if order.digest and current != order.digest:
        raise DenseError(
            f"the task {order.task} was changed while the experiment ran: undo that, or run into another folder"
        )


def check_still_unchanged(order: AttemptOrder) -> None:
    """The same when the trial is over. Its record stays, under another name: no later run may take it up."""
    try:
        check_unchanged(order, digest(order.task) if order.digest else "")
    except DenseError:
        for result in order.folder.glob(f"*/{RESULT_FILE}"):
            result.replace(result.with_name(OUTDATED_RESULT))
        raise
