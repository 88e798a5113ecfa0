"""The effects of a step, from its calls alone, and those of the steps of one trajectory, where earlier ones count."""

from __future__ import annotations

from dense.actions.calls import background_texts, calls_and_texts
from dense.actions.effects import Effects, EffectsBuilder
from dense.actions.shell.interpret import run_shell
from dense.actions.tool_effects import EarlierSteps, run_call
from dense.trajectory import Step


def commands(step: Step) -> tuple[str, ...]:
    """The shell texts that a step ran, in order: commands of shell tools, and what was typed into a terminal."""
    return tuple([item for item in calls_and_texts(step.calls) if isinstance(item, str)])


def effects(step: Step) -> Effects:
    """What a step did, or tried to do, as far as its calls show."""
    return _record(step).build()


def _record(step: Step) -> EffectsBuilder:
    builder = EffectsBuilder()
    for call in calls_and_texts(step.calls):
        if isinstance(call, str):
            run_shell(call, builder)
        else:
            run_call(call, builder)
    for text in background_texts(step.calls):
        builder.services.setdefault(text)
    return builder


class EffectsCache:
    """The effects of the steps of one trajectory, each computed once.

    If steps are asked for in their order, an earlier step counts too: one that wrote the program that a step runs, or
    opened the file that it edits. Steps are distinguished by identity and kept as long as the cache."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Step, Effects]] = {}
        self._earlier = EarlierSteps()

    def __call__(self, step: Step) -> Effects:
        found = self._known.get(id(step))
        if found is None:
            found = self._known[id(step)] = (step, self._earlier.complete(_record(step)))
        return found[1]
