"""Stretches that pursue one thing: from the first failure to the recovery, or to where it was given up."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dense.analyst.rules.facts import Facts
from dense.analyst.rules.sequence import History

PATIENCE = 6
"""So many actions in a row that have nothing to do with a failure mean that it was given up."""
LONGEST = 40
"""No stretch is longer."""
NEAR = 2
"""Two tries that fail so close to each other are tries at one thing."""
ABSENT = frozenset({"no_such_command", "no_such_module"})
"""Families that say that a tool is not there."""


class Attempt(Struct, frozen=True):
    """A stretch of actions, by their numbers, both ends included."""

    first: int
    last: int
    failed: tuple[int, ...]
    """The actions that failed."""
    recovery: int | None
    """The action that shows the recovery; None where it was given up."""


def attempts(
    facts: Sequence[Facts], history: History, unsettled: frozenset[int] = frozenset(), first_change: int = 0
) -> list[Attempt]:
    """All of them, in order, none overlapping another. `unsettled`: actions with a check that failed and never passed
    since, whatever else they did that works now. A check that fails before anything was changed tells what the task
    is, and is no try at it."""
    found: list[Attempt] = []
    place = 0
    while place < len(facts):
        if not _is_try(facts[place]) or _is_baseline(facts[place], first_change):
            place += 1
            continue
        attempt = _from(facts, history, place, unsettled)
        if attempt.last > attempt.first:
            found.append(attempt)
        place = attempt.last
    return found


def _is_baseline(fact: Facts, first_change: int) -> bool:
    if not fact.is_check or fact.action >= first_change:
        return False
    return not any(failure.family in ABSENT for failure in fact.seen.failures)


def _is_try(fact: Facts) -> bool:
    """Whether an action tried something and failed. A look at something that is not there is a question, and that is
    the answer; a tool that is not there is not."""
    if not fact.has_failed or fact.phase in {"talk", "deliver"}:
        return False
    return fact.phase != "explore" or any(failure.family in ABSENT for failure in fact.seen.failures)


def _from(facts: Sequence[Facts], history: History, start: int, unsettled: frozenset[int]) -> Attempt:
    """The stretch that begins with a failure. It goes on as long as actions repair, retry or recover one of its
    failures, and ends with the recovery of the last one."""
    members, failed = {facts[start].action}, [facts[start]]
    last, recovery = facts[start].action, None
    for fact in facts[start + 1 : start + LONGEST]:
        if fact.phase == "deliver" or fact.action - last > PATIENCE:
            break
        recovered = [one.action for one in failed if history.recovered_by(one.action) == fact.action]
        recovers = not unsettled.issuperset(recovered)
        belongs = recovers or history.repairs(fact.action) in members or history.retries(fact.action) in members
        is_next = _is_try(fact) and fact.action - failed[-1].action <= NEAR
        if not belongs and not is_next:
            if recovery is not None:
                break
            continue
        members.add(fact.action)
        last = fact.action
        if fact.has_failed:
            failed.append(fact)
            recovery = None
        elif recovers:
            recovery = fact.action
    end = recovery or last
    return Attempt(facts[start].action, end, tuple(one.action for one in failed if one.action <= end), recovery)
