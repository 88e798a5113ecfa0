"""Values in the trace that fit what the task says of its answer: how it begins, how it ends, how long it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from dense.evidence.requirements.requirement import Requirement
from dense.trajectory import Step, Task

MIN_LITERAL_CHARS = 2
"""A literal of one character fits too much."""
MAX_LITERALS = 20
MAX_TEXT_CHARS = 64 * 1024
MIN_END_CHARS, MIN_REST_CHARS = 3, 3
ENDS = re.compile(r"\b(?:(?:begin|start|end)\w{0,4} (?:with|in|by)|prefix\w{0,2}|suffix\w{0,2})\b", re.IGNORECASE)
"""How a task says of a value how it begins or ends."""
NO_LETTER = re.compile(r"[\s'\"`<>,;:=()\[\]|]")
LETTERS = re.compile(r"[^\s'\"`<>,;:=()\[\]|]{0,200}")
MAX_BEFORE_CHARS = 200
"""How far a value goes on before and behind the literal in it."""


class Candidate(Struct, frozen=True):
    """A value, and the last action whose observation shows it."""

    text: str
    action: int


def best_candidate(task: Task | None, requirements: Sequence[Requirement], steps: Sequence[Step]) -> Candidate | None:
    """The value that fits the task in most ways, two at least; the last one of several."""
    literals = [one.subject for one in requirements if one.kind == "value" and len(one.subject) >= MIN_LITERAL_CHARS]
    if task is None or not literals:
        return None
    lengths = {int(number) for number in re.findall(r"\d{1,4}", task.instruction[:MAX_TEXT_CHARS])} - {0, 1}
    alternatives = "|".join(map(re.escape, sorted(literals, key=len, reverse=True)[:MAX_LITERALS]))
    pattern = re.compile(alternatives)
    fits: dict[Candidate, int] = {}
    for action, step in enumerate(steps, 1):
        texts = [seen.text[:MAX_TEXT_CHARS] for seen in step.observations if seen.origin == "tool"]
        for token in [
            token for text in texts if any(one in text for one in literals) for token in _tokens(text, pattern)
        ]:
            fits[Candidate(token, action)] = _fit(token, literals, lengths)
    best = max(fits, key=lambda one: (fits[one], one.action, one.text), default=None)
    return best if best is not None and fits[best] >= 2 else None


def pieces(task: Task | None, requirements: Sequence[Requirement], steps: Sequence[Step]) -> list[Candidate]:
    """Values that fit only one end of what the task describes by its beginning or its end: the clues of a search that
    did not finish. For each end the one that was seen first; none that the agent ever typed."""
    ends = [one.subject for one in requirements if one.kind == "value" and ENDS.search(one.clause)]
    ends = [one for one in dict.fromkeys(ends) if len(one) >= MIN_END_CHARS][:MAX_LITERALS]
    if task is None or not ends:
        return []
    typed = "\0".join(str(value) for step in steps for call in step.calls for value in call.arguments.values())
    rest = rf"\w{{{MIN_REST_CHARS},200}}"
    patterns = {end: re.compile(rf"(?<!\w)(?:{re.escape(end)}{rest}|{rest}{re.escape(end)})(?!\w)") for end in ends}
    found: dict[str, Candidate] = {}
    for action, step in enumerate(steps, 1):
        texts = [seen.text[:MAX_TEXT_CHARS] for seen in step.observations if seen.origin == "tool"]
        for end in [end for end in ends if end not in found and any(end in text for text in texts)]:
            tokens = [token for text in texts for token in patterns[end].findall(text)][:MAX_LITERALS]
            if new := next((token for token in tokens if token not in typed and token not in task.instruction), ""):
                found[end] = Candidate(new, action)
    return sorted(found.values(), key=lambda one: one.action)


def _tokens(text: str, literal: re.Pattern[str]) -> Iterator[str]:
    """The values in a text that hold a literal: it, and the letters around it."""
    end = 0
    while (found := literal.search(text, end)) is not None:
        before = NO_LETTER.split(text[max(end, found.start() - MAX_BEFORE_CHARS) : found.start()])[-1]
        behind = LETTERS.match(text, found.end())
        end = behind.end() if behind is not None else found.end()
        yield before + text[found.start() : end]


def _fit(token: str, literals: Sequence[str], lengths: set[int]) -> int:
    """In how many ways a token fits: it begins with a literal, it ends with another, it has a length that the task
    names. If the task names several literals, a token that has one end and not the other does not fit."""
    begins = any(token.startswith(literal) and token != literal for literal in literals)
    ends = any(token.endswith(literal) and token != literal for literal in literals)
    if len(literals) > 1 and not (begins and ends):
        return 0
    return begins + ends + ((begins or ends) and len(token) in lengths)
