"""What is known of each action from its own step: what it did, what came back, what it was for.

All of it comes from calls and their effects; the agent's message gives one hint (`topic_change`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from dense.analysis.actions.effects import Effects
from dense.analysis.actions.observations.result import ObservedResult
from dense.analysis.evidence.facts.phases import (
    Phase,
    acts_without_call,
    address_of,
    delegated_to,
    has_code,
    phase_of,
    team_of,
)
from dense.analysis.evidence.facts.traits import TopicChange, family_of, signature_of, targets_of, topic_change_of
from dense.knowledge.programs import LASTING_COMMANDS
from dense.knowledge.test_runners import RUNNERS
from dense.knowledge.tools import plain_name
from dense.knowledge.words import pattern
from dense.text.guarded import GuardedPattern
from dense.text.sentences import first_sentences
from dense.trajectory import Step

FOLLOWED = re.compile(r"[^;&|\n]*(?:;|\n)\s*(?!exit\b|done\b|fi\b|echo \S*\$\?)[^\s#]")
"""The rest of a shell text in which another command follows, whatever the first one comes to."""
SUCCESS = re.compile(r"\b(?:pass(?:ed|es)?|ok|success\w*|correct)\b|✓|✅|100 ?%", re.IGNORECASE)


class ActionFacts(Struct, frozen=True, kw_only=True):
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
    """What kind of thing was done: the program or tool with its subcommand. See `families`."""
    targets: tuple[str, ...]
    """What it is about: normalised paths, to be compared by `same_file`; packages; hosts; queries."""
    signature: str = ""
    """Its calls as text, equal for two actions that do the same; empty if nothing was called."""
    topic_change: TopicChange = 0
    """Whether its own message turns to something new."""
    is_followed_by_user: bool = False
    """Whether a user spoke right after it."""
    is_irreversible: bool = False
    """Whether it cannot be undone: a deletion, a commit, a service, something sent or handed over."""
    delegates_to: str = ""
    """The agent that it asks to act, in a team; what that one does then belongs to it."""
    is_answered: bool = True
    """Whether anything came back at all."""
    has_failed: bool = False
    """Whether anything of what came back went wrong."""
    awaited_tests: tuple[str, ...] = ()
    """Commands that test, that an earlier action left running, and whose output this one asks for."""
    is_check: bool = False
    """Whether it ran tests or checks, by its command or by what came back."""
    is_outcome_hidden: bool = False
    """Whether nothing says how its check ended."""

    @property
    def products(self) -> tuple[str, ...]:
        """What it works on, as opposed to what it looks at: files written or removed, programs run."""
        return self.effects.writes + self.effects.deletes + self.effects.scripts

    @property
    def has_passed(self) -> bool:
        """Whether it ran a check and nothing that came back speaks against it. A runner that counts its tests must
        have counted them: without a count it broke off, or its output was cut."""
        if not self.is_check or not self.result.is_fine:
            return False
        return bool(self.result.tests) or not (self.is_outcome_hidden or self.family in RUNNERS.counting)


def is_outcome_hidden(checks: Sequence[str], texts: Sequence[str], step: Step) -> bool:
    """Whether another command after a check decides the exit code, and nothing that was printed says that all is
    well."""
    rest = [text.partition(check)[2] for check in checks[-1:] for text in texts if check in text]
    if not any(map(FOLLOWED.match, rest)):
        return False
    return not any(SUCCESS.search(observation.text) for observation in step.observations)


def collect_facts(
    steps: Sequence[Step],
    effects: Sequence[Effects],
    results: Sequence[ObservedResult],
    commands: Sequence[tuple[str, ...]],
    first: int = 1,
    awaited: Mapping[int, tuple[str, ...]] | None = None,
) -> list[ActionFacts]:
    """The facts of consecutive actions from number `first` on. `awaited`: tests whose output a step asks for."""
    team = team_of(steps)
    each = zip(steps, effects, results, commands, strict=True)
    waits = awaited or {}
    return [_facts(first + index, *each_part, team, waits.get(index, ())) for index, each_part in enumerate(each)]


def _facts(
    number: int,
    step: Step,
    effects: Effects,
    result: ObservedResult,
    commands: tuple[str, ...],
    team: frozenset[str],
    awaited: tuple[str, ...],
) -> ActionFacts:
    names = [plain_name(call.name) for call in step.calls]
    family = family_of(step.calls, names, commands, effects)
    phase = phase_of(names, commands, effects, family)
    targets = targets_of(step.calls, names, effects)
    is_irreversible = phase == "deliver" or bool(effects.deletes or effects.services) or family in LASTING_COMMANDS
    delegate = delegated_to(step, team) if team and phase != "deliver" else ""
    if delegate:
        phase, targets = "talk", ()
    elif not step.calls and phase == "talk" and acts_without_call(step, team):
        phase = "run" if has_code(step) else "explore"
        targets = (address,) if (address := address_of(step)) else ()
    return ActionFacts(
        action=number,
        effects=effects,
        result=result,
        commands=commands,
        phase=phase,
        family=family,
        targets=targets,
        signature=signature_of(step.calls, names, commands),
        topic_change=topic_change_of(step, names),
        is_followed_by_user="user" in [observation.origin for observation in step.observations],
        is_irreversible=is_irreversible,
        delegates_to=delegate,
        is_answered=bool(step.observations),
        has_failed=result.has_failed,
        awaited_tests=awaited,
        is_check=bool(effects.tests or result.tests or awaited),
        is_outcome_hidden=not result.tests and is_outcome_hidden(effects.tests, commands, step),
    )


# Remarks of the agent on results

MAX_REMARK_CHARS = 1_500
"""How much of a message is read: it begins with what was seen last."""
MAX_COMPLAINT_CHARS = 500
"""How much of a message is about the last result, before it goes on to what is done next."""
EXCUSES = GuardedPattern(pattern("excuse"))
"""A failure is ascribed to something other than the changes."""
EXPECTED = GuardedPattern(pattern("expected"))
"""A failure is what was wanted."""
COMPLAINTS = GuardedPattern(pattern("complaint"))
"""The result is wrong."""


def says_expected(message: str) -> bool:
    """Whether a message says of a failure that it is what was wanted."""
    return EXPECTED.search(message[:MAX_REMARK_CHARS]) is not None


def find_complaint(message: str) -> str:
    """The sentence that says of the last result that it is wrong; empty if there is none."""
    return _sentence_with(COMPLAINTS, message[:MAX_COMPLAINT_CHARS])


def find_excuse(message: str) -> str:
    """The sentence that ascribes a failure to something other than the changes; empty if there is none."""
    return _sentence_with(EXCUSES, message[:MAX_REMARK_CHARS])


def _sentence_with(pattern: GuardedPattern, text: str) -> str:
    match = pattern.search(text)
    if match is None:
        return ""
    start = max(text.rfind(mark, 0, match.start()) for mark in ("\n", ". ", "! ", "? ", "。")) + 1
    return next(iter(first_sentences(text[start:], 200)), "").strip()
