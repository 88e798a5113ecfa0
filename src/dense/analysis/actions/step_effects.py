"""The effects of one step, from its calls alone."""

from __future__ import annotations

from dense.analysis.actions.calls import background_texts, calls_and_texts
from dense.analysis.actions.effects import Effects, EffectsBuilder
from dense.analysis.actions.shell.interpret import run_shell
from dense.analysis.actions.tool_effects import run_call
from dense.trajectory import Step


def commands(step: Step) -> tuple[str, ...]:
    """The shell texts that a step ran, in order: commands of shell tools, and what was typed into a terminal."""
    return tuple([item for item in calls_and_texts(step.calls) if isinstance(item, str)])


def effects(step: Step) -> Effects:
    """What a step did, or tried to do, as far as its calls show."""
    return record(step).build()


def record(step: Step) -> EffectsBuilder:
    """The effects of a step while they are collected."""
    builder = EffectsBuilder()
    for call in calls_and_texts(step.calls):
        if isinstance(call, str):
            run_shell(call, builder)
        else:
            run_call(call, builder)
    for text in background_texts(step.calls):
        builder.services.setdefault(text)
    return builder
