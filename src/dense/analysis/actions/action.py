"""`Action`: one step of a trajectory, taken apart once for all who need it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import overload

from dense.analysis.actions.blocks import Block, background_results, blocks_of
from dense.analysis.actions.effects import Effects
from dense.analysis.actions.observations.harness import separated
from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.observations.result import ObservedResult
from dense.analysis.actions.step_effects import commands, record
from dense.analysis.actions.tool_effects import EarlierSteps
from dense.analysis.actions.transcript import TranscriptAction, joined
from dense.trajectory import Step


class Action:
    """One step. Each side of it is read when somebody asks for it, and once."""

    def __init__(self, number: int, step: Step, actions: Actions) -> None:
        self.number = number
        """1 for `a1`."""
        self.step = step
        self._actions = actions

    def __repr__(self) -> str:
        return f"Action({self.number}, {self.step!r})"

    @property
    def effects(self) -> Effects:
        """What it did, or tried to do. Earlier actions count: one that wrote the program that it runs, or opened the
        file that it edits."""
        return self._actions.effects(self.number)

    @cached_property
    def commands(self) -> tuple[str, ...]:
        """The shell texts that it ran."""
        return commands(self.step)

    @cached_property
    def separated(self) -> Step:
        """Its step with an observation for each call whose output is known apart."""
        return separated(self.step)

    @cached_property
    def result(self) -> ObservedResult:
        """What came back, read by what it did itself."""
        return observe(self.separated, self.effects, self.commands)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Its calls, bodies and outputs in order, as cleaned text; empty if it only says something."""
        return tuple(blocks_of(self.step, self.number, self._actions.background_results))

    def read_blocks(self) -> Iterator[Block]:
        """The same, one after the other: an output is cleaned only when somebody asks for it."""
        if "blocks" in self.__dict__:
            return iter(self.blocks)
        return blocks_of(self.step, self.number, self._actions.background_results)


class Actions(Sequence[Action]):
    """The actions of one trajectory in order."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps
        self._actions = [Action(number, step, self) for number, step in enumerate(steps, 1)]
        self._effects: list[Effects] = []
        self._earlier = EarlierSteps()

    def __len__(self) -> int:
        return len(self._actions)

    @overload
    def __getitem__(self, index: int) -> Action: ...
    @overload
    def __getitem__(self, index: slice) -> list[Action]: ...
    def __getitem__(self, index: int | slice) -> Action | list[Action]:
        return self._actions[index]

    def numbered(self, number: int) -> Action:
        """The action with a number, from 1 on."""
        return self._actions[number - 1]

    def effects(self, number: int) -> Effects:
        """What the action with a number did. Those before it are gone through first."""
        for step in self.steps[len(self._effects) : number]:
            self._effects.append(self._earlier.complete(record(step)))
        return self._effects[number - 1]

    @cached_property
    def background_results(self) -> dict[tuple[int, str], str]:
        """What to write behind a call that asks for the result of an earlier command."""
        return background_results(self.steps)

    @cached_property
    def transcript(self) -> list[TranscriptAction]:
        """The actions as a reader gets them: a step that only says something belongs to the call that it announces."""
        return joined(self)
