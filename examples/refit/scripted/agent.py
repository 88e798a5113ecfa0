"""The decision: one turn of the agent, from what is known.

message says what worked  → repeat it, a few commands in a turn
something is still open   → the next move that comes to mind, without what is known to lead nowhere
all seems done            → look at it, if it is a careful day; hand in
patience is at its end    → hand in what there is"""

from __future__ import annotations

import re
from dataclasses import dataclass

from scripted.facts import Facts
from scripted.moves import Goal, Move, Repertoire
from scripted.reading import makes

PATIENCE, SPREAD = 7, 4
"""An agent gives up after so many turns at least; by the seed, some later, but not as many as this."""
AT_ONCE = 3
"""Commands of a message that are repeated in one turn."""
PRESSING = 3.0
"""How much sooner a move comes to mind that works on what is said to be open, or that a failure calls for."""
CARE = 0.5
"""The chance that it looks at its work before it hands in."""


@dataclass(frozen=True)
class Decision:
    """What to do next."""

    analysis: str
    plan: str
    commands: tuple[str, ...] = ()
    is_end: bool = False


def decide(facts: Facts, repertoire: Repertoire) -> Decision:
    """One turn."""
    open_goals = [goal for goal in repertoire.goals if not goal.met(facts) and not _overlooks(facts, goal)]
    if facts.turns >= PATIENCE + int(facts.chance("patience") * SPREAD):
        return Decision("My steps are used up.", "Hand in what there is.", is_end=True)
    if open_goals:
        return (
            _repeat(facts)
            or _move(facts, _candidates(facts, repertoire, open_goals))
            or Decision("Nothing else comes to mind.", "Hand in what there is.", is_end=True)
        )
    checks = [move for move in repertoire.moves if move.is_check]
    cares = facts.chance("care") < CARE or any(facts.told(goal.name) for goal in repertoire.goals)
    looked = _move(facts, _possible(facts, checks)) if cares else None
    return looked or Decision(
        "Everything that was asked for seems to be there.", "Hand in the work as complete.", is_end=True
    )


def _overlooks(facts: Facts, goal: Goal) -> bool:
    """A goal may slip the mind; less easily if it is named again and again, and not if it is said to be open."""
    if goal.forgotten == 0 or facts.told(goal.name):
        return False
    chance = goal.forgotten if facts.reading.text.count(goal.name) < 2 else goal.forgotten / 2
    return facts.chance(f"forgets {goal.name}") < chance


def _repeat(facts: Facts) -> Decision | None:
    """The commands of the message that worked and made something, unless what they made is said to be wrong."""
    ran = {one.command for one in facts.done}
    wrong = " ".join(facts.reading.wrong)
    left = [command for command in facts.reading.repeat if command not in ran and not _is_doubtful(command, wrong)]
    if not left:
        return None
    return Decision(
        "What I was told of earlier work shows commands that worked. This machine is fresh, so their results are gone.",
        "Repeat what worked, as it is quoted.",
        tuple(left[:AT_ONCE]),
    )


def _is_doubtful(command: str, wrong: str) -> bool:
    """Whether a file that the command makes is among what is said to be wrong."""
    return any(word.rpartition("/")[2] in wrong for word in _paths(command))


def _paths(command: str) -> list[str]:
    text = command.replace('"', " ").replace("'", " ").replace("(", " ").replace(")", " ").replace(",", " ")
    return [word for word in text.split() if word.startswith("/") and "." in word.rpartition("/")[2]]


def _candidates(facts: Facts, repertoire: Repertoire, goals: list[Goal]) -> list[tuple[Move, tuple[str, ...]]]:
    names = {goal.name for goal in goals}
    wanted = [move for move in repertoire.moves if not move.is_check and (not move.goal or move.goal in names)]
    return _possible(facts, wanted)


def _possible(facts: Facts, moves: list[Move]) -> list[tuple[Move, tuple[str, ...]]]:
    """Moves whose commands can be given and are not known to lead nowhere, the one that comes to mind first first."""
    found = list[tuple[float, Move, tuple[str, ...]]]()
    for move in moves:
        made = move.make(facts)
        commands = (made,) if isinstance(made, str) else made or ()
        if commands and not _is_known(facts, move, commands):
            is_pressing = bool(move.goal) and facts.told(move.goal)
            appeal = move.appeal * (PRESSING if is_pressing or _is_called_for(facts, move) else 1)
            found.append((facts.chance(f"move {move.name}") ** (1 / appeal), move, commands))
    found.sort(key=lambda entry: (-entry[0], entry[1].name))
    return [(move, commands) for _, move, commands in found]


def _is_called_for(facts: Facts, move: Move) -> bool:
    """Whether what just went wrong makes one think of it."""
    last = facts.done[-1] if facts.done else None
    return bool(move.after) and last is not None and last.failed and re.search(move.after, last.answer) is not None


def _is_known(facts: Facts, move: Move, commands: tuple[str, ...]) -> bool:
    """Whether the result is known: it was tried here, or the message shows that it fails, or what it showed."""
    first = commands[0]
    if move.is_check:
        last = facts.since(first, move.goal)
        return last is not None
    if any(one.command == first for one in facts.done):
        return not move.again
    if move.again:
        return False
    if first in facts.reading.failed:
        return True
    if not makes(first) and first in facts.reading.shown:
        return True
    words = set(first.replace("/", " ").replace(".", " ").replace(";", " ").split())
    return bool(words & facts.absent)


def _move(facts: Facts, candidates: list[tuple[Move, tuple[str, ...]]]) -> Decision | None:
    if not candidates:
        return None
    move, commands = candidates[0]
    last = facts.done[-1] if facts.done else None
    if last is None:
        analysis = "A fresh terminal."
    else:
        analysis = f"That did not work: {last.complaint[:160]}" if last.failed else "That went through."
    return Decision(analysis, move.why, commands)
