"""Where a stretch of actions ends, and which stretches belong together.

Actions: the place after each action is weighed by what changes there: the phase, the files, whether a check has just
passed, whether something is irreversible, whether the agent turns to something new. A stretch ends at the first place
that weighs enough for its length; the longer it is, the less is enough. A failure and its repair stay together.

Stretches: the same by what they share. How many go together follows from how many there are, so that the levels stay
few."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from math import ceil

from msgspec import Struct

from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.facts.paths import base_name
from dense.analysis.evidence.facts.phases import Phase
from dense.analysis.evidence.links.action_links import ActionLinks
from dense.knowledge.programs import STORE_COMMANDS

WINDOW_ACTIONS = 40
"""How many actions from the head decide where the first stretch ends, at most."""
MIN_CUT_ACTIONS = 4
"""A trajectory of fewer actions is one stretch."""
USUAL_ACTIONS = 12
"""How long a stretch may be if nothing holds it together."""
MAX_ACTIONS = 20
"""How long it may be at all."""
BEST_ACTIONS = 7
"""The length that is taken if places weigh the same."""
ENOUGH = (99.0, 3.0, 2.25, 2.0, 1.75, 1.5, 1.25, 1.0, 1.0, 0.75, 0.75)
"""What a place must weigh after one action, two, three …"""
CLOSING_ACTIONS = 4
"""So few actions at the end, none of them a change, only look back and hand over."""
INLINE_PROGRAMS = frozenset(["python -", "node", "ruby", "perl", "php", "rscript", "julia", "lua"])
MAX_TOP_NODES = 8
"""So many nodes at most are the phases of a task."""
USUAL_GROUPS = 6
"""About so many groups are made of nodes that are few enough to be the top afterwards."""
MAX_NAMES = 64
"""How many names of files a node is known by."""


# Actions


def ends(facts: Sequence[ActionFacts], links: ActionLinks) -> list[int]:
    """How many actions each stretch and those before it hold. `links` are those of the same facts."""
    found: list[int] = []
    head = 0
    while head < len(facts):
        head += first_end(facts, links, head)
        found.append(head)
    return found


def first_end(facts: Sequence[ActionFacts], links: ActionLinks, head: int = 0) -> int:
    """How many actions from the head on are the first stretch."""
    count = min(len(facts) - head, WINDOW_ACTIONS)
    if count < MIN_CUT_ACTIONS:
        return count
    best, best_weight = 0, -99.0
    held = head
    files: set[str] = set()
    for length in range(1, count - 1):  # a last action is never left alone
        position = head + length - 1
        files.update(links.worked_on[position])
        held = max(held, links.failure_ends[position])
        if length >= MAX_ACTIONS:
            return best or length
        if held > position or length < 2:
            continue
        weight = _weight(facts, links, head, position, files)
        if length < len(ENOUGH) and weight >= ENOUGH[length - 1]:
            return length
        weight -= abs(length - BEST_ACTIONS) / 20
        if length > 2 and weight > best_weight:
            best, best_weight = length, weight
        if length >= USUAL_ACTIONS and best:
            return best
    return best if best and count > USUAL_ACTIONS else count


def _weight(facts: Sequence[ActionFacts], links: ActionLinks, head: int, position: int, files: set[str]) -> float:
    """How much speaks for an end after this position. `files` are those of the stretch so far."""
    here, there = facts[position], facts[position + 1]
    before = _acting(facts, range(position, max(head, position - 3) - 1, -1))
    after = _acting(facts, range(position + 1, min(position + 4, len(facts))))
    last, following = facts[before], facts[after]
    old, new = _phase(links, last, head, before), _phase(links, following, head, after)
    weight = _phase_change(facts, links, head, before, after, old, new)
    if here.is_followed_by_user:
        weight += 2.0
    if there.topic_change > here.topic_change:
        weight += 2.0 if there.topic_change == 2 else 0.75
    if here.is_irreversible:
        weight += 1.5 if here.family in STORE_COMMANDS else 1.0
    if here.phase == "talk" and not here.is_followed_by_user:
        weight -= 4.0 if here.delegates_to else 1.0  # what is announced belongs to what follows
    if last.has_failed and following.phase != "deliver":
        weight -= 1.0
    names = links.worked_on[after]
    if files and names:
        if files.isdisjoint(names):
            weight += 0.75
        elif old != "explore":  # what was only looked at is worked on next
            weight -= 0.5
    if last.family == following.family:
        weight -= 0.5
    if following.family in STORE_COMMANDS:
        weight -= 1.5  # a commit belongs to what it commits
    written = links.write_position(after)
    if head <= written <= position and not any(
        facts[n].is_check or links.write_position(n) == written for n in range(written + 1, position + 1)
    ):
        weight -= 1.5  # what was made here is looked at or run next for the first time
    return weight


def _acting(facts: Sequence[ActionFacts], positions: range) -> int:
    """The first of these positions whose action does more than talk; the first of all if none does."""
    first = positions[0]
    return first if facts[first].phase != "talk" else next((n for n in positions if facts[n].phase != "talk"), first)


PHASE_CHANGES: dict[tuple[Phase, Phase], float] = {
    ("setup", "produce"): 1.0,
    ("setup", "explore"): 0.75,
    ("produce", "explore"): 0.75,
    ("produce", "setup"): 0.5,
}
"""How much speaks for an end where one phase follows another. What an exploration leads to is weighed apart."""


def _phase_change(
    facts: Sequence[ActionFacts], links: ActionLinks, head: int, before: int, after: int, old: Phase, new: Phase
) -> float:
    """How much speaks for an end between an action of the old phase and one of the new."""
    if new == "deliver":
        return 2.0 if old != "deliver" else -1.0
    if old == "deliver":
        return 1.5
    weight = _result_weight(facts, before, old, new)
    if old == "explore" and new not in ("explore", "verify"):
        following = facts[after]
        explored = before > head and _phase(links, facts[before - 1], head, before - 1) in ("explore", "talk")
        commits = new in ("produce", "setup") or bool(following.products)
        return weight + (2.0 if explored and commits else 0.75) + (0.5 if following.is_irreversible else 0.0)
    return weight + PHASE_CHANGES.get((old, new), 0.0)


def _result_weight(facts: Sequence[ActionFacts], before: int, old: Phase, new: Phase) -> float:
    """How much an action that was no failure speaks for an end behind it: it showed that what was made is right, or it
    ran something."""
    last = facts[before]
    if last.has_passed or (old == "verify" and not last.has_failed and last.phase == "explore"):
        rest = facts[before + 1 : before + 2 + CLOSING_ACTIONS]
        # So few actions at the end, none of which changes anything, only close.
        closes = len(rest) <= CLOSING_ACTIONS and all(fact.phase not in ("produce", "setup") for fact in rest)
        return 2.25 if new != "verify" or (last.has_passed and closes) else 0.25
    return 0.75 if old == "run" and not last.has_failed and new in ("produce", "setup", "explore") else 0.0


def _phase(links: ActionLinks, fact: ActionFacts, head: int, position: int) -> Phase:
    """An action's phase within the stretch: to look at what the stretch wrote is to verify it. A few lines of code on
    the command line that touch no file are a look at something."""
    phase = fact.phase
    if phase == "run" and fact.family in INLINE_PROGRAMS and not fact.products:
        phase = "explore"
    return "verify" if phase == "explore" and links.write_position(position) >= head else phase


# Stretches


class StretchTraits(Struct, frozen=True):
    """What is known of a stretch when stretches are drawn together."""

    products: frozenset[str]
    """Base names of what it made, changed or ran."""
    targets: frozenset[str]
    """Base names of all that it is about."""
    begins: Phase = "explore"
    """The phase of its first action."""
    has_passed: bool = False
    """Whether its last check passed."""
    has_failed: bool = False
    """Whether its last action failed."""
    opens: bool = False
    """Whether its first action turns to something new, by the agent's words."""


def stretch_traits(facts: Sequence[ActionFacts]) -> StretchTraits:
    """The traits of these actions."""
    first = [fact for fact in facts[:4] if fact.phase != "talk"]
    last = [fact for fact in facts[-4:] if fact.phase != "talk"]
    return StretchTraits(
        products=_names(fact.products for fact in facts),
        targets=_names(fact.targets for fact in facts),
        begins=first[0].phase if first else "talk",
        has_passed=next((fact.has_passed for fact in reversed(facts) if fact.is_check), False),
        has_failed=bool(last) and last[-1].has_failed,
        opens=bool(facts) and facts[0].topic_change > 0,
    )


def _names(paths: Iterable[Sequence[str]]) -> frozenset[str]:
    """The first base names of these paths."""
    return frozenset(islice(dict.fromkeys(base_name(path) for some in paths for path in some), MAX_NAMES))


def is_top(count: int) -> bool:
    """Whether so many nodes are the phases of the task as they are."""
    return count <= MAX_TOP_NODES


def higher_ends(stretches: Sequence[StretchTraits]) -> list[int]:
    """How many stretches each group and those before it hold."""
    size = _group_size(len(stretches))
    found: list[int] = []
    head = 0
    while head < len(stretches):
        head += _first_group(stretches[head : head + 2 * size + 2], len(stretches) - head, size)
        found.append(head)
    return found


def _group_size(count: int) -> int:
    """How many nodes go together, about. Up to 64 become at most eight at once; of more, groups as large as the cube
    root, so that two further levels are enough for any length that is met."""
    if count <= MAX_TOP_NODES * MAX_TOP_NODES:
        return max(2, ceil(count / USUAL_GROUPS))
    return max(4, ceil(count ** (1 / 3)))


def _first_group(stretches: Sequence[StretchTraits], left: int, size: int) -> int:
    """How many of the `left` stretches go first, about `size`: where they have least in common with the next."""
    shortest, longest = max(2, size - size // 2), size + size // 2
    best, best_weight = left, -99.0
    for length in range(shortest, min(longest, left) + 1):
        if left - length == 1 or (length == left and length > size + 1):
            continue  # a last one is never left alone
        weight = 99.0 if length == left else _distance(stretches[length - 1], stretches[length])
        weight -= abs(length - size) * 0.25
        if weight > best_weight:
            best, best_weight = length, weight
    return best


def _distance(one: StretchTraits, other: StretchTraits) -> float:
    """How much speaks for an end between two stretches."""
    weight = 0.0
    if one.products and other.products:
        weight += -1.5 if one.products & other.products else 0.75
    if one.targets and other.targets and one.targets.isdisjoint(other.targets):
        weight += 0.5
    if one.has_passed:
        weight += 1.0
    if one.has_failed:
        weight -= 1.5
    if other.opens:
        weight += 0.5
    if other.begins in ("explore", "deliver"):
        weight += 0.5
    return weight
