"""Attempts: stretches that pursue one thing, from the first failure to the recovery or to where it was given up."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.links.action_links import ActionLinks

PATIENCE = 6
"""So many actions in a row that have nothing to do with a failure mean that it was given up."""
MAX_ATTEMPT_ACTIONS = 40
MAX_TRY_DISTANCE = 2
"""Two tries that fail so close to each other are tries at one thing."""


class Attempt(Struct, frozen=True):
    """A stretch of actions, by their numbers, both ends included."""

    first: int
    last: int
    failed: tuple[int, ...]
    """The actions that failed, by what came back or by the agent's own word."""
    recovery: int | None
    """The action that shows the recovery; None if it was given up."""


def attempts(
    facts: Sequence[ActionFacts],
    links: ActionLinks,
    unsettled: frozenset[int],
    first_change: int,
) -> list[Attempt]:
    """All attempts, in order, none overlapping another.

    `unsettled`: actions with a check that failed and never passed afterwards, whatever else of them works now.
    `first_change`: a check that fails before it says what the task is, and is no try at it."""
    attempts: list[Attempt] = []
    index = 0
    while index < len(facts):
        fact = facts[index]
        is_baseline = fact.is_check and fact.action < first_change and not _lacks_tool(fact)
        if is_baseline or not _is_failed_try(fact):
            index += 1
            continue
        attempt = _attempt_from(facts, links, index, unsettled)
        if attempt.last > attempt.first:
            attempts.append(attempt)
        index = attempt.last
    return attempts


def _lacks_tool(fact: ActionFacts) -> bool:
    return any(failure.family.is_missing_dependency for failure in fact.result.failures)


def _is_failed_try(fact: ActionFacts) -> bool:
    """Whether it tried something and failed. That a file is not there answers a look."""
    if not fact.has_failed or fact.phase in {"talk", "deliver"}:
        return False
    return fact.phase != "explore" or _lacks_tool(fact)


def _attempt_from(
    facts: Sequence[ActionFacts],
    links: ActionLinks,
    start: int,
    unsettled: frozenset[int],
) -> Attempt:
    """The attempt that begins with a failure and ends with the recovery of its last one."""
    first = facts[start].action
    members, failed = {first}, [first]
    last, recovery = first, None
    recoveries: dict[int, bool] = {}  # the actions at which something that failed works again; whether that settles it

    def note_recovery(action: int) -> None:
        if (back := links.recovered_by(action)) is not None:
            recoveries[back] = recoveries.get(back, False) or action not in unsettled

    note_recovery(first)
    for fact in facts[start + 1 : start + MAX_ATTEMPT_ACTIONS]:
        action = fact.action
        if fact.phase == "deliver":
            break
        if action - last > PATIENCE and not any(action <= at <= failed[-1] + 2 * PATIENCE for at in recoveries):
            break  # looks in between do not mean that it was given up if it works again soon
        recovers = recoveries.get(action, False)
        belongs = recovers or links.repairs(action) in members or links.retries(action) in members
        is_near = recovery is None and action - failed[-1] <= MAX_TRY_DISTANCE and _is_failed_try(fact)
        if not belongs and not is_near:
            if recovery is not None:
                break
            continue
        members.add(action)
        last = action
        if fact.has_failed or (fact.phase == "run" and not recovers and links.complaint(action)):
            failed.append(action)
            recovery = None
            note_recovery(action)
        elif recovers:
            recovery = action
    end = recovery or last
    return Attempt(first, end, tuple([action for action in failed if action <= end]), recovery)
