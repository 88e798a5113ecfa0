"""What an action did: reads, writes, runs, tests, installs, services, network, from its calls alone.

    effects(step)    what the calls of a step did, or tried to do
    commands(step)   the shell texts that a step ran
    remembered()     the first, which looks at each step once

They are pure, take any step whatever its calls hold, and never raise. What came back is not looked at: that a command
failed is for others to say. Sub-agents in a step have steps of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dense.evidence.actions.carried import Carried
from dense.evidence.actions.effects import Effects, EffectsOf
from dense.evidence.actions.ledger import Ledger
from dense.evidence.actions.programs.files import UNNAMED
from dense.evidence.actions.shell.command import Command
from dense.evidence.actions.shell.interpret import commands_in, run_commands
from dense.evidence.actions.tools import Call, background_texts, in_order, run_call
from dense.trajectory import Step

__all__ = ["Effects", "EffectsOf", "Remembered", "commands", "effects", "remembered"]

NO_EFFECTS = Effects()
AT_ONCE = 256
"""How many steps are looked at together: commands that were taken apart take memory."""


def commands(step: Step) -> tuple[str, ...]:
    """The shell texts that a step ran, in order: commands of shell tools, and what was typed into a terminal."""
    return tuple([item for item in in_order(step.calls) if isinstance(item, str)])


def effects(step: Step) -> Effects:
    """What a step did, or tried to do, as far as its calls tell."""
    if not step.calls:
        return NO_EFFECTS
    return _gone_through(in_order(step.calls), background_texts(step.calls)).close()


def _gone_through(
    calls: Iterable[Call | str], services: Iterable[str], parsed: Mapping[str, Sequence[Command]] | None = None
) -> Ledger:
    """`parsed` are the commands of shell texts, where somebody has taken them apart already."""
    ledger = Ledger()
    for call in calls:
        if isinstance(call, str):
            run_commands(parsed[call] if parsed and call in parsed else commands_in(call), ledger)
        else:
            run_call(call, ledger)
    for text in services:
        ledger.services.setdefault(text)
    return ledger


class Remembered:
    """Tells what a step did, as `effects` does, and looks at each step once; at the same shell text, too, since agents
    run the same command again and again. Where an earlier step wrote the program that a step runs, or opened the file
    that it edits, it tells that too, so long as steps are looked at in their order.

    Steps are told apart by identity, and kept as long as this lives: make one for a trajectory and let go of both."""

    __slots__ = ("_by_texts", "_carried", "_known")

    def __init__(self) -> None:
        self._known: dict[int, tuple[Step, Effects, tuple[str, ...]]] = {}
        self._by_texts: dict[tuple[str, ...], tuple[Effects, dict[str, str], str]] = {}
        """What texts do, and what they leave for later ones: the files that they write, the one that they open."""
        self._carried = Carried()

    def __call__(self, step: Step) -> Effects:
        found = self._known.get(id(step))
        return (self._look(step) if found is None else found)[1]

    def commands(self, step: Step) -> tuple[str, ...]:
        """The shell texts that a step ran, as `commands` gives them."""
        found = self._known.get(id(step))
        return (self._look(step) if found is None else found)[2]

    def look_at(self, steps: Sequence[Step]) -> None:
        """Looks at many steps before they are asked for: first all texts are taken apart, then all commands gone
        through. Either keeps the processor's caches busy with one thing, which is much faster than turn by turn."""
        for start in range(0, len(steps), AT_ONCE):
            some = steps[start : start + AT_ONCE]
            calls = [in_order(step.calls) for step in some]
            texts = dict.fromkeys([call for own in calls for call in own if isinstance(call, str)])
            parsed = {text: commands_in(text) for text in texts}
            for step, own in zip(some, calls, strict=True):
                self._look(step, own, parsed)

    def _look(
        self,
        step: Step,
        calls: tuple[Call | str, ...] | None = None,
        parsed: Mapping[str, Sequence[Command]] | None = None,
    ) -> tuple[Step, Effects, tuple[str, ...]]:
        calls = in_order(step.calls) if calls is None else calls
        services = background_texts(step.calls)
        texts = tuple([call for call in calls if isinstance(call, str)])
        is_all = len(texts) == len(calls) and not services
        looked_at = self._by_texts.get(texts) if is_all else None
        if looked_at is None:
            ledger = _gone_through(calls, services, parsed)
            looked_at = (ledger.close(), ledger.contents, ledger.opened)
            if is_all:
                self._by_texts[texts] = looked_at
        done, contents, opened = looked_at
        if contents or opened or done.scripts or UNNAMED in done.writes:
            done = self._carried.completed(done, contents, opened)
        found = self._known[id(step)] = (step, done, texts)
        return found


def remembered() -> Remembered:
    """One that remembers, for one trajectory."""
    return Remembered()
