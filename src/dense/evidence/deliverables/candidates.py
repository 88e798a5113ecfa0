"""Values in the trace that fit what the task tells of its answer: how it begins, how it ends, how long it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from dense.evidence.requirements.requirement import Requirement
from dense.trajectory import Step, Task

SHORTEST = 2
"""A literal of one character fits too much."""
HEAD = 64 * 1024
"""How much of an observation is looked through."""
LETTER = r"[^\s'\"`<>,;:=()\[\]|]"


class Candidate(Struct, frozen=True):
    """A value, and the action whose observation shows it last."""

    text: str
    action: int


def candidates(task: Task | None, values: Sequence[Requirement], steps: Sequence[Step]) -> list[Candidate]:
    """Values that observations show and that fit the task in two ways at least, best first."""
    literals = [one.subject for one in values if one.kind == "value" and len(one.subject) >= SHORTEST]
    if task is None or not literals:
        return []
    lengths = {int(number) for number in re.findall(r"\d{1,4}", task.instruction[:HEAD])} - {0, 1}
    alternatives = "|".join(re.escape(literal) for literal in sorted(literals, key=len, reverse=True)[:20])
    fitting = re.compile(f"{LETTER}{{0,200}}(?:{alternatives}){LETTER}{{0,200}}")
    found: dict[str, tuple[int, int]] = {}
    for number, step in enumerate(steps, 1):
        for seen in step.observations:
            text = seen.text[:HEAD]
            if seen.origin != "tool" or not any(literal in text for literal in literals):
                continue
            for token in fitting.findall(text):
                fit = _fit(token, literals, lengths)
                if fit >= 2:
                    found[token] = (fit, number)
    best = max((fit for fit, _ in found.values()), default=0)
    ranked = sorted(((number, token) for token, (fit, number) in found.items() if fit == best), reverse=True)
    return [Candidate(token, number) for number, token in ranked[:3]]


def _fit(token: str, literals: Sequence[str], lengths: set[int]) -> int:
    """In how many ways a token fits: it begins with a literal, it ends with another, it has a length that the task
    names. Where the task names several literals, one end and a length are no fit: the other end speaks against it."""
    begins = any(token.startswith(literal) and token != literal for literal in literals)
    ends = any(token.endswith(literal) and token != literal for literal in literals)
    if len(literals) > 1 and not (begins and ends):
        return 0
    return begins + ends + ((begins or ends) and len(token) in lengths)
