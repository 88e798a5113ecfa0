"""Feedback that a run was given, cut out of the record of that run, whatever the record's format did to it.

A message of ours is between a first word and a last line that name its key (`message`). They are looked for in the
input of a run: its task, and what users and the harness said, wrapped into another prompt, escaped, indented, broken
into lines, in base64, or split over several messages. What an agent did, printed or said is evidence and stays,
whatever lines are in it: a tool's output that shows such a line hides nothing.

Only an experiment that keeps a record of the message that it delivered as a file can have it cut out of outputs too
(`delivered`): what is between its lines and what is around its markers, by its own keys alone."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from dense.message.message import BEGINS, NO_TASK
from dense.message.page import END, KEY_CHARACTERS, KEY_LENGTH
from dense.redact.texts import Texts
from dense.redact.walk import rewrite_trajectory, texts_of
from dense.text.search import contains_any
from dense.trajectory import Observation, Step, Task, Trajectory

MARK = "[feedback that this run was given is left out]"
"""The text in place of what was cut, except in the task: an output that showed it was not empty."""

_NAME, _LAST_WORD = BEGINS.partition("{")[0].strip("["), END.split()[-1]
_BREAK = r"(?:[\s\"'+|>*#]|\\[nrt]){0,16}"
"""What may have come between two characters: a line's end with the next one's indentation or quotation mark."""


def _broken(word: str) -> str:
    return _BREAK.join(map(re.escape, word))


_KEY = _BREAK.join([f"([{KEY_CHARACTERS}])"] * KEY_LENGTH)
_LINE_END = r"[ \t]*(?:\r?\n|(?:\\+r)?\\+n|&#10;|&#xA;|<br ?/?>)"
_BEGIN = re.compile(rf"\[{_BREAK}{_broken(_NAME)}{_BREAK}{_KEY}{_BREAK}\]")
_END = re.compile(rf"{_KEY}{_BREAK}\|{_BREAK}{_broken(_LAST_WORD)}(?!\w)")
_TWO_LINE_ENDS = re.compile(rf"(?:{_LINE_END}){{0,2}}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{64,}(?:\s{1,2}[A-Za-z0-9+/_-]{16,})*={0,2}")
_BASE64_HINTS = tuple(b64encode(bytes(shift) + _NAME.encode())[4 if shift else 0 : -4].decode() for shift in range(3))
"""How the first word looks in base64, by its place in its group of three."""


class _Limit(Struct, frozen=True):
    """What begins or ends a message."""

    key: str
    is_begin: bool
    start: int
    end: int


def without_injected(trajectory: Trajectory, texts: Texts | None = None, *, delivered: str = "") -> Trajectory:
    """The trajectory as if the run had not been given any feedback; the same one if there is none.

    `texts` are the trajectory's, in the order of `texts_of`, if somebody has them at hand. `delivered` is the message
    that the run was given as a file, by the record of whoever gave it."""
    texts = texts or Texts(texts_of(trajectory))
    if not any(_may_hold(group.plain) for group in texts.groups):
        return trajectory
    keys = list(dict.fromkeys(limit.key for limit in _limits(delivered)))
    cut = _cut_given(trajectory, keys)
    return _cut_delivered(cut, keys) if keys else cut


def own_task(trajectory: Trajectory) -> Task | None:
    """The task of a run without feedback that it was given: the same for all attempts at it."""
    task = trajectory.task
    return task if task is None or not _may_hold(_plain(task.instruction)) else without_injected(trajectory).task


def _cut_given(trajectory: Trajectory, keys: list[str]) -> Trajectory:
    """The input of the run as one text in parts: the task, then what users and the harness said.

    With `keys`, only messages that have one of them: those that the record of the delivery has. Without, a message that
    leaves no task is none of ours, whose task comes behind it: lines in a task cannot erase it."""
    said = [seen for step in trajectory.steps for seen in step.observations if seen.origin != "tool"]
    instruction = trajectory.task.instruction if trajectory.task else ""
    first, *rest = _cut_parts([instruction, *(seen.text for seen in said)], keys)
    if instruction.strip() and not first.strip() and _is_whole(instruction) and NO_TASK not in instruction:
        first, *rest = [instruction, *_cut_parts([seen.text for seen in said], keys)]
    texts = iter(rest)
    task = replace(trajectory.task, instruction=first) if trajectory.task else None
    steps = tuple(_with_texts(step, texts, keys) for step in trajectory.steps)
    return replace(trajectory, task=task if task is not None and task.instruction.strip() else None, steps=steps)


def _is_whole(instruction: str) -> bool:
    """Whether a message both begins and ends in the instruction."""
    limits = list(_limits(_plain(instruction)))
    return any(limit.is_begin for limit in limits) and not limits[-1].is_begin


def _with_texts(step: Step, texts: Iterable[str], keys: list[str]) -> Step:
    """The step with the next texts in place of what it was given, its sub-agents' trajectories cut likewise."""
    given = iter(texts)

    def replaced(observation: Observation) -> Observation:
        is_given = observation.origin != "tool"
        return replace(observation, text="".join(islice(given, 1))) if is_given else observation

    subagents = tuple(_cut_given(subagent, keys) for subagent in step.subagents)
    return replace(
        step, observations=tuple([replaced(observation) for observation in step.observations]), subagents=subagents
    )


def _cut_parts(parts: list[str], keys: list[str] | None = None) -> list[str]:
    """Texts that follow each other without the messages in them, also those that go over several parts."""
    parts = [_plain(part) for part in parts]
    found = [
        (place, limit) for place, part in enumerate(parts) for limit in _limits(part) if not keys or limit.key in keys
    ]
    matches = _matches([limit for _, limit in found])
    cuts: dict[int, list[tuple[int, int]]] = {}
    index = 0
    while index < len(found):
        place, begin = found[index]
        last = matches[index]
        index += 1
        if last is None:
            continue
        until, end = found[last]
        for between in range(place, until + 1):
            start = begin.start if between == place else 0
            cuts.setdefault(between, []).append((start, end.end if between == until else len(parts[between])))
        index = last + 1
    return [_without(part, cuts.get(place, []), "") for place, part in enumerate(parts)]


def _matches(limits: list[_Limit]) -> list[int | None]:
    """For each line that begins a message, which line ends it: the next end with its key."""
    found: list[int | None] = [None] * len(limits)
    ends: dict[str, int] = {}
    for index in reversed(range(len(limits))):
        limit = limits[index]
        if limit.is_begin:
            found[index] = ends.get(limit.key)
        else:
            ends[limit.key] = index
    return found


def _cut_delivered(trajectory: Trajectory, keys: list[str]) -> Trajectory:
    """All texts without messages with these keys, and without pieces of them."""
    marker = re.compile(rf"(?:{'|'.join(keys)})\|")
    return rewrite_trajectory(trajectory, lambda text: _without_pieces(_plain(text), keys, marker))


def _without_pieces(text: str, keys: list[str], marker: re.Pattern[str]) -> str:
    """A text without whole messages, then without what begins or ends in it, then without what is between the first and
    the last line that carry a marker."""
    limits = [limit for limit in _limits(text) if limit.key in keys]
    matches = _matches(limits)
    cuts: list[tuple[int, int]] = []
    done = 0
    for index, limit in enumerate(limits):
        if limit.start < done:
            continue
        if (last := matches[index]) is not None:
            cuts.append((limit.start, limits[last].end))
        elif limit.is_begin:
            cuts.append((limit.start, len(text)))
        else:
            cuts.append((done, limit.end))
        done = cuts[-1][1]
    text = _without(text, cuts, MARK)
    pieces = list(marker.finditer(text))
    if not pieces:
        return text
    start = text.rfind("\n", 0, pieces[0].start()) + 1
    end = text.find("\n", pieces[-1].end())
    return _without(text, [(start, end if end >= 0 else len(text))], MARK)


def _without(text: str, cuts: list[tuple[int, int]], mark: str) -> str:
    kept, place = list[str](), 0
    for start, end in cuts:
        kept += [text[place:start], mark]
        place = end
    return "".join([*kept, text[place:]])


def _may_hold(plain: str) -> bool:
    """Whether a message may be in a text of one byte for each character. One of its two lines is whole in practice,
    however the text was broken up: this is asked of every trajectory, and must be cheap."""
    return contains_any(plain, (_NAME, *_BASE64_HINTS))


def _limits(text: str) -> list[_Limit]:
    """What begins and ends messages, in order. To an end belong the line ends up to the task."""
    found = [_Limit("".join(match.groups()), True, *match.span()) for match in _BEGIN.finditer(text)]
    for match in _END.finditer(text):
        blank = _TWO_LINE_ENDS.match(text, match.end())
        found.append(_Limit("".join(match.groups()), False, match.start(), blank.end() if blank else match.end()))
    return sorted(found, key=lambda limit: limit.start)


def _plain(text: str) -> str:
    """The text; a message in it in base64 is decoded, cut and encoded again."""
    if not any(hint in text for hint in _BASE64_HINTS):
        return text
    return _BASE64.sub(_recoded, text)


def _recoded(match: re.Match[str]) -> str:
    encoded = "".join(match[0].split()).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        decoded = b64decode(encoded + "=" * (-len(encoded) % 4)).decode("utf-8")
    except ValueError:
        return match[0]
    if not _limits(decoded):
        return match[0]
    return b64encode(_cut_parts([decoded])[0].encode()).decode() or MARK
