"""Which cells an experiment has: round 0 once for each recipient, task and repetition, then a chain for each method."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from dense.errors import BadConfig
from refit.experiment.config import ExperimentConfig, is_excluded
from refit.experiment.tasks import TaskFolder, resolve_tasks
from refit.results import RUN0, Cell


class ComparedPair(NamedTuple):
    """What is compared: one repetition of one recipient at one task."""

    recipient: str
    task: str
    repetition: int

    def cell(self, number: int, method: str = RUN0) -> Cell:
        """The cell of a round."""
        return Cell(self.recipient, self.task, self.repetition, number, method)


class Plan:
    """An experiment that is ready to be run: its configuration, its tasks, its folder."""

    def __init__(self, config: ExperimentConfig, tasks: tuple[TaskFolder, ...], folder: Path, base: Path) -> None:
        self.config, self.folder, self.base = config, folder.absolute(), base
        """`base` is the folder of the experiment's file: what it names is relative to it."""
        self.tasks = {task.name: task for task in tasks}
        self.recipients = {entry.name: entry.recipient(base) for entry in config.recipients}

    def tasks_of(self, recipient: str) -> list[TaskFolder]:
        """The tasks that a recipient runs."""
        entry = next(entry for entry in self.config.recipients if entry.name == recipient)
        return [task for name, task in self.tasks.items() if entry.runs(name)]

    @cached_property
    def pairs(self) -> tuple[ComparedPair, ...]:
        """Repetition by repetition, so that a run that is stopped early has whole repetitions."""
        return tuple(
            ComparedPair(recipient.name, task, repetition)
            for repetition in range(self.config.repetitions)
            for task in self.tasks
            for recipient in self.config.recipients
            if recipient.runs(task)
        )

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All of them, in order."""
        return tuple(sorted(cell for pair in self.pairs for cell in self.of(pair)))

    def of(self, pair: ComparedPair) -> Iterator[Cell]:
        """The cells of a pair: the shared attempt, then each method's rounds."""
        yield pair.cell(0)
        for method in self.config.arms:
            for number in range(1, self.config.rounds + 1):
                yield pair.cell(number, method)

    def round_of(self, cell: Cell) -> Iterator[Cell]:
        """All methods' cells of the pair and the round of this one."""
        return (ComparedPair(*cell.pair).cell(cell.round, method) for method in self.config.arms)

    def folder_of(self, cell: Cell) -> Path:
        """The cell's folder."""
        return self.folder / "cells" / cell.key


MAX_CELLS = 1_000_000
"""A plan is held in memory."""


def plan_of(config: ExperimentConfig, base: Path, folder: Path) -> Plan:
    """The plan of a configuration whose file lies in `base`."""
    tasks = resolve_tasks(config.tasks, base)
    for recipient in config.recipients:
        for pattern in recipient.exclude:
            if not any(is_excluded(task.name, [pattern]) for task in tasks):
                raise BadConfig(f"recipient {recipient.name!r}: exclude: no task is called {pattern!r}")
        if not any(recipient.runs(task.name) for task in tasks):
            raise BadConfig(f"recipient {recipient.name!r}: exclude: no task is left")
    attempts = 1 + len(config.methods) * config.rounds
    if (cells := len(config.recipients) * len(tasks) * config.repetitions * attempts) > MAX_CELLS:
        raise BadConfig(f"an experiment of {cells:,} cells: at most {MAX_CELLS:,} are possible; split it")
    return Plan(config, tasks, folder, base)


def seed_of(cell: Cell) -> int:
    """A number for agents and models that take one: another in each round, the same for all methods, so that what
    differs between methods is what they said."""
    words = f"{cell.recipient}\0{cell.task}\0{cell.repetition}\0{cell.round}"
    return int.from_bytes(hashlib.sha256(words.encode()).digest()[:4]) & 0x7FFF_FFFF
