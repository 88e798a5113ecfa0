"""Stretches that pursue one thing: from the first failure to the recovery, or to where it was given up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from dense.evidence.facts.facts import ActionFacts
from dense.evidence.links.action_links import ActionLinks, is_retry

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
    """The actions that failed, by what came back or by the agent's own word."""
    recovery: int | None
    """The action that shows the recovery; None where it was given up."""


def _trusts(_action: int) -> str:
    return ""


def attempts(
    facts: Sequence[ActionFacts],
    history: ActionLinks,
    unsettled: frozenset[int] = frozenset(),
    first_change: int = 0,
    wrong: Callable[[int], str] = _trusts,
) -> list[Attempt]:
    """All of them, in order, none overlapping another. `unsettled`: actions with a check that failed and never passed
    since, whatever else they did that works now. A check that fails before anything was changed tells what the task
    is, and is no try at it. `wrong`: what the agent says is wrong with what an action gave, empty for nothing: such a
    run is no recovery, whatever else says that it went well."""
    found: list[Attempt] = []
    place = 0
    while place < len(facts):
        fact = facts[place]
        if not fact.has_failed or not _is_try(fact) or _is_baseline(fact, first_change):
            place += 1
            continue
        attempt = _from(facts, history, place, unsettled, wrong)
        if attempt.last > attempt.first:
            found.append(attempt)
        place = attempt.last
    return found


def _is_baseline(fact: ActionFacts, first_change: int) -> bool:
    if not fact.is_check or fact.action >= first_change:
        return False
    return not any(failure.family in ABSENT for failure in fact.result.failures)


def _is_try(fact: ActionFacts) -> bool:
    """Whether an action tried something and failed. A look at something that is not there is a question, and that is
    the answer; a tool that is not there is not."""
    if not fact.has_failed or fact.phase in {"talk", "deliver"}:
        return False
    return fact.phase != "explore" or any(failure.family in ABSENT for failure in fact.result.failures)


def _from(
    facts: Sequence[ActionFacts],
    history: ActionLinks,
    start: int,
    unsettled: frozenset[int],
    wrong: Callable[[int], str],
) -> Attempt:
    """The stretch that begins with a failure. It goes on as long as actions repair, retry or recover one of its
    failures, and ends with the recovery of the last one."""
    first = facts[start].action
    members, failed = {first}, [first]
    last, recovery, doubtful = first, None, None
    awaited: dict[int, bool] = {}  # the actions at which something that failed works again; whether that settles it
    _await(awaited, first, history, unsettled)
    for fact in facts[start + 1 : start + LONGEST]:
        action = fact.action
        if fact.phase == "deliver":
            break
        if action - last > PATIENCE and not any(action <= at <= failed[-1] + 2 * PATIENCE for at in awaited):
            break  # looks in between do not mean that it was given up, where it works again soon
        recovers = awaited.get(action, False)
        if doubtful is not None and fact.result.is_fine and not recovers:
            recovers = is_retry(doubtful, fact, action - doubtful.action)
        belongs = recovers or history.repairs(action) in members or history.retries(action) in members
        is_near = recovery is None and action - failed[-1] <= NEAR and _is_try(fact)
        if not belongs and not is_near:
            if recovery is not None:
                break
            continue
        members.add(action)
        last = action
        if fact.has_failed:
            failed.append(action)
            recovery = None
        elif recovers and wrong(action):
            failed.append(action)
            recovery, doubtful = None, fact
        elif recovers:
            recovery = action
        if failed[-1] == action:
            _await(awaited, action, history, unsettled)
    end = recovery or last
    return Attempt(first, end, tuple([one for one in failed if one <= end]), recovery)


def _await(awaited: dict[int, bool], failed: int, history: ActionLinks, unsettled: frozenset[int]) -> None:
    """Notes at which action something that failed works again."""
    if (back := history.recovered_by(failed)) is not None:
        awaited[back] = awaited.get(back, False) or failed not in unsettled
