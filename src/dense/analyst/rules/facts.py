"""What the rules know of each action: what it did, what came back, what it was for. Looked at once, asked for often.

    facts(leaf, effects, seen)   all of it
    same_file(a, b)              whether two paths, as written, may be the same file

Everything here is told by calls and their effects; prose gives one hint (`opens`). Each part has a module of its own;
this is their door."""

from __future__ import annotations

from msgspec import Struct

from dense.actions import commands
from dense.actions.effects import Effects
from dense.analyst.rules.families import command_family, family_of
from dense.analyst.rules.gists import gist_of
from dense.analyst.rules.openings import Opening, opening
from dense.analyst.rules.phases import LASTING, Phase, is_scratch, phase_of
from dense.analyst.rules.targets import NO_TARGETS, same_file, targets_of
from dense.analyst.rules.tool_names import plain_name
from dense.observations.seen import Seen
from dense.tree import Leaf

__all__ = [
    "NO_TARGETS",
    "Facts",
    "Opening",
    "Phase",
    "command_family",
    "facts",
    "is_scratch",
    "plain_name",
    "same_file",
]


class Facts(Struct, frozen=True):
    """What is known of one action, from its step alone."""

    action: int
    """Its number: 1 for `a1`."""
    effects: Effects
    """What its calls did, or tried to do."""
    seen: Seen
    """What came back."""
    commands: tuple[str, ...]
    """The shell texts that it ran."""
    phase: Phase
    """What it was for."""
    family: str
    """What kind of thing was done: the program or tool with its subcommand (`pytest`, `git diff`, `python solve.py`,
    `str_replace`). Two actions of one family do the same thing to something."""
    targets: tuple[str, ...]
    """What it is about: files that it touches, normalised so that `./a.py`, `/app/a.py` and `a.py` may be compared by
    `same_file`; packages; hosts; queries."""
    gist: str = ""
    """Its calls as text, without what changes nothing: blanks, `2>&1`, a `| head` at the end. Equal for two actions
    that do the same. Empty where nothing was called."""
    opens: Opening = 0
    """Whether its own words turn to something new: 2 by structure (a numbered step, an update of the plan), 1 by a
    word."""
    is_answered: bool = False
    """Whether a user spoke right after it."""
    is_lasting: bool = False
    """Whether it cannot be taken back: a deletion, a commit, a service, something sent or handed over."""

    @property
    def has_failed(self) -> bool:
        return self.seen.has_failed

    @property
    def is_check(self) -> bool:
        """Whether it ran tests or checks, by its command or by what came back."""
        return bool(self.effects.tests or self.seen.tests)

    @property
    def has_passed(self) -> bool:
        """Whether it ran a check and something came back that does not speak against it."""
        return self.is_check and not self.seen.is_empty and not self.seen.has_failed

    @property
    def products(self) -> tuple[str, ...]:
        """What it works on, as against what it looks at: files written or removed, programs run."""
        effects = self.effects
        return effects.writes + effects.deletes + effects.scripts


def facts(leaf: Leaf, effects: Effects, seen: Seen) -> Facts:
    """What is known of an action. `effects` and `seen` are those of the leaf's own step."""
    step = leaf.step
    calls = step.calls
    names = tuple([plain_name(call.name) for call in calls])
    texts = commands(step) if names else ()
    family = family_of(calls, names, texts, effects)
    phase = phase_of(calls, names, texts, effects, family)
    return Facts(
        action=leaf.action,
        effects=effects,
        seen=seen,
        commands=texts,
        phase=phase,
        family=family,
        targets=targets_of(calls, names, effects),
        gist=gist_of(calls, names, texts),
        opens=opening(step, names),
        is_answered=any(observation.origin == "user" for observation in step.observations),
        is_lasting=phase == "deliver" or bool(effects.deletes or effects.services) or family in LASTING,
    )
