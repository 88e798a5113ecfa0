"""What an action did: reads, writes, runs, tests, installs, services, network, from its calls alone.

    effects(step)    what the calls of a step did, or tried to do
    commands(step)   the shell texts that a step ran
    remembered()     the first, which looks at each step once

They are pure, take any step whatever its calls hold, and never raise. What came back is not looked at: that a command
failed is for others to say. Sub-agents in a step have steps of their own."""

from __future__ import annotations

from dense.actions.effects import Effects, EffectsOf
from dense.actions.interpret import run_shell
from dense.actions.ledger import Ledger
from dense.actions.tools import background_texts, in_order, run_call
from dense.trajectory import Step

__all__ = ["Effects", "EffectsOf", "Remembered", "commands", "effects", "remembered"]

NO_EFFECTS = Effects()


def commands(step: Step) -> tuple[str, ...]:
    """The shell texts that a step ran, in order: commands of shell tools, and what was typed into a terminal."""
    return tuple(item for item in in_order(step.calls) if isinstance(item, str))


def effects(step: Step) -> Effects:
    """What a step did, or tried to do, as far as its calls tell."""
    if not step.calls:
        return NO_EFFECTS
    ledger = Ledger()
    for item in in_order(step.calls):
        if isinstance(item, str):
            run_shell(item, ledger)
        else:
            run_call(item, ledger)
    for text in background_texts(step.calls):
        ledger.services.setdefault(text)
    return ledger.close()


class Remembered:
    """Tells what a step did, as `effects` does, and looks at each step once.

    Steps are told apart by identity, and kept as long as this lives: make one for a trajectory and let go of both."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, tuple[Step, Effects]] = {}

    def __call__(self, step: Step) -> Effects:
        found = self._known.get(id(step))
        if found is None:
            found = self._known[id(step)] = (step, effects(step))
        return found[1]


def remembered() -> EffectsOf:
    """One that remembers, for one trajectory."""
    return Remembered()
