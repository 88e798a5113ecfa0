"""What the rules know of each action: what it did, what came back, what it was for. Looked at once, asked for often.

    facts(leaf, effects, seen)   all of it
    same_file(a, b)              whether two paths, as written, may be the same file

All of it comes from calls and their effects; prose gives one hint (`topic_change`)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dense.evidence.actions import commands
from dense.evidence.actions.effects import Effects
from dense.evidence.facts.families import command_family, family_of
from dense.evidence.facts.gists import gist_of
from dense.evidence.facts.phases import Phase, is_scratch, phase_of
from dense.evidence.facts.targets import NO_TARGETS, same_file, targets_of
from dense.evidence.facts.teams import acts_unseen, address_of, handed_to, runs_code, team_of
from dense.evidence.facts.topic_changes import TopicChange, opening
from dense.evidence.observations.result import ObservedResult
from dense.knowledge.programs import LASTING_COMMANDS
from dense.knowledge.tools import plain_name
from dense.trajectory import Step
from dense.tree import Leaf

__all__ = [
    "NO_TARGETS",
    "ActionFacts",
    "Phase",
    "TopicChange",
    "command_family",
    "facts",
    "is_scratch",
    "plain_name",
    "same_file",
]


class ActionFacts(Struct, frozen=True):
    """What is known of one action, from its step alone."""

    action: int
    """Its number: 1 for `a1`."""
    effects: Effects
    """What its calls did, or tried to do."""
    result: ObservedResult
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
    products: tuple[str, ...]
    """What it works on, as against what it looks at: files written or removed, programs run."""
    has_failed: bool
    """Whether anything of what came back went wrong."""
    is_check: bool
    """Whether it ran tests or checks, by its command or by what came back."""
    signature: str = ""
    """Its calls as text, without what changes nothing: blanks, `2>&1`, a `| head` at the end. Equal for two actions
    that do the same. Empty where nothing was called."""
    topic_change: TopicChange = 0
    """Whether its own words turn to something new: 2 by structure (a numbered step, an update of the plan), 1 by a
    word."""
    is_followed_by_user: bool = False
    """Whether a user spoke right after it."""
    is_irreversible: bool = False
    """Whether it cannot be taken back: a deletion, a commit, a service, something sent or handed over."""
    delegates_to: str = ""
    """The agent that it tells what to do, in a run of several; what that one does then belongs to it."""

    @property
    def has_passed(self) -> bool:
        """Whether it ran a check and something came back that does not speak against it."""
        return self.is_check and self.result.is_fine


def facts(leaf: Leaf, effects: Effects, seen: ObservedResult, texts: tuple[str, ...] | None = None) -> ActionFacts:
    """What is known of an action. `effects`, `seen` and `texts`, the shell texts, are those of the leaf's own step."""
    (found,) = collect_facts(
        [leaf.step], [effects], [seen], [commands(leaf.step) if texts is None else texts], leaf.action
    )
    return found


def collect_facts(
    steps: Sequence[Step],
    effects: Sequence[Effects],
    came: Sequence[ObservedResult],
    texts: Sequence[tuple[str, ...]],
    first: int = 1,
) -> list[ActionFacts]:
    """The same for consecutive steps, of which the first one's number is `first`. One part after the other for all of
    them: what a part needs stays in the caches."""
    calls = [step.calls for step in steps]
    names = [tuple([plain_name(call.name) for call in own]) for own in calls]
    families = list(map(family_of, calls, names, texts, effects))
    phases = list(map(phase_of, calls, names, texts, effects, families))
    targets = list(map(targets_of, calls, names, effects))
    products = [done.writes + done.deletes + done.scripts for done in effects]
    failed = [seen.has_failed for seen in came]
    checked = [bool(done.tests or seen.tests) for done, seen in zip(effects, came, strict=True)]
    gists = list(map(gist_of, calls, names, texts))
    opens = list(map(opening, steps, names))
    answered = ["user" in [seen.origin for seen in step.observations] for step in steps]
    lasting = [
        phase == "deliver" or bool(done.deletes or done.services) or family in LASTING_COMMANDS
        for phase, done, family in zip(phases, effects, families, strict=True)
    ]
    handed = [""] * len(steps)
    team = team_of(steps)
    for n, step in enumerate(steps):
        if not step.calls and phases[n] == "talk" and acts_unseen(step, team):
            phases[n] = "run" if runs_code(step) else "explore"
            targets[n] = (address,) if (address := address_of(step)) else ()
        elif team and step.calls and phases[n] != "deliver" and (who := handed_to(step, team)):
            phases[n], handed[n], targets[n] = "talk", who, ()
    numbers = range(first, first + len(steps))
    told = (effects, came, texts, phases, families, targets, products, failed, checked)
    return list(map(ActionFacts, numbers, *told, gists, opens, answered, lasting, handed))
