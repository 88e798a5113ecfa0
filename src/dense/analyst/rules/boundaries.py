"""Where a stretch of actions ends, and which stretches belong together.

Actions: from the head of the queue on, the place after each action is weighed by what changes there: what actions are
for, what they work on, whether a check has just passed, whether something cannot be taken back, whether the agent turns
to something new. A stretch ends at the first place that weighs enough for its length; the longer it is, the less is
enough. A failure and what repairs it stay together. Only what lies between the head and a few actions behind the place
counts, so that draining a queue from windows and cutting it at once give the same ends.

Stretches: the same with what they share. How many go together follows from how many there are, so that the levels
stay few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from math import ceil

from msgspec import Struct

from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.paths import base_name
from dense.evidence.facts.phases import Phase
from dense.evidence.links.action_links import ActionLinks

WINDOW = 40
"""How many actions from the head decide where the first stretch ends, at most."""
FEWEST = 4
"""A trajectory of fewer actions is one stretch."""
USUAL = 12
"""How long a stretch may be where nothing holds it together."""
LONGEST = 20
"""How long it may be at all."""
ENOUGH = (99.0, 3.0, 2.25, 2.0, 1.75, 1.5, 1.25, 1.0, 1.0, 0.75, 0.75)
"""What a place must weigh after one action, two, three …"""
CLOSING = 4
"""So few actions at the end, none of them a change, only look back and hand over."""
SEALING = frozenset(["git add", "git commit", "git tag", "git push"])
BEST = 7
"""The length that is taken where places weigh the same."""
INLINE = frozenset(["python -", "node", "ruby", "perl", "php", "rscript", "julia", "lua"])
TOP = 8
"""So many nodes at most are the phases of a task."""
SIDES = 6
"""About so many groups are made of nodes that are few enough to be the top afterwards."""
MOST_NAMES = 64
"""How many names of things a node is known by."""


# Actions


def ends(facts: Sequence[ActionFacts], history: ActionLinks) -> list[int]:
    """The 1-based ordinals of the last action of each stretch. `history` is that of the same facts."""
    found: list[int] = []
    head = 0
    while head < len(facts):
        head += first_end(facts, history, head)
        found.append(head)
    return found


def first_end(facts: Sequence[ActionFacts], history: ActionLinks, head: int = 0) -> int:
    """How many actions from the head on are the first stretch. What the queue holds beyond `WINDOW` actions does not
    matter, nor what came before the head: `history` may be that of the window alone."""
    count = min(len(facts) - head, WINDOW)
    if count < FEWEST:
        return count
    best, best_weight = 0, -99.0
    held = head
    things: set[str] = set()
    for length in range(1, count - 1):  # a last action is never left alone
        position = head + length - 1
        things.update(history.worked_on(position))
        until = history.failure_end(position)
        held = until if until > held else held
        if length >= LONGEST:
            return best or length
        if held > position or length < 2:
            continue
        weight = weigh(facts, history, head, position, things)
        if length < len(ENOUGH) and weight >= ENOUGH[length - 1]:
            return length
        weight -= abs(length - BEST) / 20
        if length > 2 and weight > best_weight:
            best, best_weight = length, weight
        if length >= USUAL and best:
            return best
    return best if best and count > USUAL else count


def weigh(facts: Sequence[ActionFacts], history: ActionLinks, head: int, position: int, things: set[str]) -> float:
    """How much speaks for an end after this position. `things` are those of the stretch so far."""
    here, there = facts[position], facts[position + 1]
    before = position if here.phase != "talk" else acting(facts, head, position)
    after = position + 1 if there.phase != "talk" else next_acting(facts, position + 1)
    last, following = facts[before], facts[after]
    old, new = seen_from(history, last, head, before), seen_from(history, following, head, after)
    weight = phase_change(facts, history, head, before, after, old, new)
    if here.is_followed_by_user:
        weight += 2.0  # a user spoke
    if there.topic_change > here.topic_change:
        weight += 2.0 if there.topic_change == 2 else 0.75  # the agent turns to something new, by its own words
    if here.is_irreversible:
        weight += 1.5 if here.family in SEALING else 1.0
    if here.phase == "talk" and not here.is_followed_by_user:
        weight -= 4.0 if here.delegates_to else 1.0  # what is announced belongs to what follows
    if last.has_failed and following.phase != "deliver":
        weight -= 1.0
    names = history.worked_on(after)
    if things and names:
        if things.isdisjoint(names):
            weight += 0.75
        elif old != "explore":  # what was only looked at is worked on next
            weight -= 0.5
    if last.family == following.family:
        weight -= 0.5
    if following.family in SEALING:
        weight -= 1.5  # a commit belongs to what it commits
    if head <= history.write_position(after) <= position and is_fresh(facts, history, after, position):
        weight -= 1.5  # what was made here is looked at or run next for the first time
    return weight


def acting(facts: Sequence[ActionFacts], head: int, position: int) -> int:
    """The last action up to here that does something."""
    for n in range(position, max(head, position - 3) - 1, -1):
        if facts[n].phase != "talk":
            return n
    return position


def next_acting(facts: Sequence[ActionFacts], position: int) -> int:
    for n in range(position, min(position + 3, len(facts))):
        if facts[n].phase != "talk":
            return n
    return position


def is_fresh(facts: Sequence[ActionFacts], history: ActionLinks, after: int, position: int) -> bool:
    """Whether nothing has looked yet at what the next action looks at."""
    written = history.write_position(after)
    return not any(facts[n].is_check or history.write_position(n) == written for n in range(written + 1, position + 1))


def is_done(facts: Sequence[ActionFacts], position: int) -> bool:
    """Whether nothing is changed any more behind this position, and the end is near."""
    rest = facts[position + 1 : position + 2 + CLOSING]
    return len(rest) <= CLOSING and all(fact.phase not in ("produce", "setup") for fact in rest)


def phase_change(
    facts: Sequence[ActionFacts], history: ActionLinks, head: int, before: int, after: int, old: Phase, new: Phase
) -> float:
    """How much speaks for an end between an action of the old phase and one of the new."""
    last, following = facts[before], facts[after]
    if new == "deliver":
        return 2.0 if old != "deliver" else -1.0
    if old == "deliver":
        return 1.5
    weight = 0.0
    if last.has_passed or (old == "verify" and not last.has_failed and last.phase == "explore"):
        weight += 2.25 if new != "verify" or (last.has_passed and is_done(facts, before)) else 0.25
    elif old == "run" and not last.has_failed and new in ("produce", "setup", "explore"):
        weight += 0.75
    if old == "explore" and new not in ("explore", "verify"):
        explored = before > head and seen_from(history, facts[before - 1], head, before - 1) in ("explore", "talk")
        commits = new in ("produce", "setup") or bool(following.products)
        weight += 2.0 if explored and commits else 0.75
        if following.is_irreversible:
            weight += 0.5
    elif old == "setup" and new == "produce":
        weight += 1.0
    elif old in ("setup", "produce") and new == "explore":
        weight += 0.75
    elif old == "produce" and new == "setup":
        weight += 0.5
    return weight


def seen_from(history: ActionLinks, fact: ActionFacts, head: int, position: int) -> Phase:
    """An action's phase, with what was made since the head: looking at that is verifying. A few lines of code on the
    command line that touch no file are a look at something."""
    phase = fact.phase
    if phase == "run" and fact.family in INLINE and not fact.products:
        phase = "explore"
    return "verify" if phase == "explore" and history.write_position(position) >= head else phase


# Stretches


class Stretch(Struct, frozen=True):
    """What is known of a node when nodes are drawn together."""

    products: frozenset[str]
    """Base names of what it made, changed or ran."""
    targets: frozenset[str]
    """Base names of all that it is about."""
    wanted: frozenset[str] = frozenset()
    """Base names of the deliverables that it works for."""
    begins: Phase = "explore"
    """What its first action was for."""
    has_passed: bool = False
    """Whether its last check passed."""
    has_failed: bool = False
    """Whether its last action failed."""
    opens: bool = False
    """Whether its first action turns to something new, by the agent's words."""


def stretch(facts: Sequence[ActionFacts], wanted: Sequence[str] = ()) -> Stretch:
    """What is known of a node by the facts of its actions. `wanted`: the paths of the task's deliverables."""
    products = frozenset(islice(names(fact.products for fact in facts), MOST_NAMES))
    targets = frozenset(islice(names(fact.targets for fact in facts), MOST_NAMES))
    deliverables = {base_name(path) for path in wanted}
    first = [fact for fact in facts[:4] if fact.phase != "talk"]
    last = [fact for fact in facts[-4:] if fact.phase != "talk"]
    return Stretch(
        products=products,
        targets=targets,
        wanted=frozenset(deliverables & targets) if deliverables else frozenset(),
        begins=first[0].phase if first else "talk",
        has_passed=next((fact.has_passed for fact in reversed(facts) if fact.is_check), False),
        has_failed=bool(last) and last[-1].has_failed,
        opens=bool(facts) and facts[0].topic_change > 0,
    )


def names(paths: Iterator[Sequence[str]]) -> Iterator[str]:
    known: set[str] = set()
    for some in paths:
        for path in some:
            name = base_name(path)
            if name not in known:
                known.add(name)
                yield name


def joined(parts: Sequence[Stretch]) -> Stretch:
    """Several nodes as one."""
    return Stretch(
        products=frozenset(islice(dict.fromkeys(name for part in parts for name in sorted(part.products)), MOST_NAMES)),
        targets=frozenset(islice(dict.fromkeys(name for part in parts for name in sorted(part.targets)), MOST_NAMES)),
        wanted=frozenset(name for part in parts for name in part.wanted),
        begins=parts[0].begins,
        has_passed=parts[-1].has_passed,
        has_failed=parts[-1].has_failed,
        opens=parts[0].opens,
    )


def is_top(count: int) -> bool:
    """Whether so many nodes are the phases of the task as they are."""
    return count <= TOP


def group_size(count: int) -> int:
    """How many nodes go together, about. Up to 64 become at most eight at once; of more, groups as large as the cube
    root, so that two further levels are enough for any length that is met."""
    if count <= TOP * TOP:
        return max(2, ceil(count / SIDES))
    return max(4, ceil(count ** (1 / 3)))


def higher_ends(stretches: Sequence[Stretch]) -> list[int]:
    """The 1-based ordinals of the last node of each group."""
    size = group_size(len(stretches))
    found: list[int] = []
    head = 0
    while head < len(stretches):
        head += first_group(stretches, head, size)
        found.append(head)
    return found


def first_group(stretches: Sequence[Stretch], head: int, size: int) -> int:
    """How many nodes from the head on go together: between half of `size` and half as many again, where they have
    least in common with what follows."""
    left = len(stretches) - head
    shortest, longest = max(2, size - size // 2), size + size // 2
    if left < shortest + 2:
        return left
    best, best_weight = left, -99.0
    for length in range(shortest, min(longest, left) + 1):
        if left - length == 1:
            continue  # a last one is never left alone
        position = head + length - 1
        weight = 99.0 if length == left else apart(stretches[position], stretches[position + 1])
        weight -= abs(length - size) * 0.25
        if length == left and length > size + 1:
            continue
        if weight > best_weight:
            best, best_weight = length, weight
    return best


def apart(one: Stretch, other: Stretch) -> float:
    """How much speaks for an end between two nodes."""
    weight = 0.0
    if one.wanted and other.wanted:
        weight += -1.5 if one.wanted & other.wanted else 1.5
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
