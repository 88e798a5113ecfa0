"""Whether the trace measures a limit of the task: the size of a file, a time, a rate that a program prints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isnan

from msgspec import Struct

from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.facts.paths import base_name, same_file
from dense.analysis.evidence.requirements.requirement import Requirement
from dense.analysis.evidence.trace import TraceEvidence
from dense.knowledge.units import FLOORS, METRICS, SCALES, SECONDS
from dense.text.numbers import decimal
from dense.text.search import matcher

LIMIT = re.compile(r"(?P<sign>.*?)\s*[$€£]?(?P<number>\d[\d,.]*(?:e[-+]?\d+)?)\s*(?P<unit>\S*)")
DENIAL = re.compile(r"(?:not|never|no|without|cannot|n't)\b")
REAL = re.compile(r"^real\s+(\d+)m([\d.]+)s", re.MULTILINE)
TIMED = re.compile(
    r"\b(?:took|elapsed|runtime|run time|duration|total|time|finished in|completed in)\b[^\n\d]{0,30}"
    r"(\d+(?:\.\d+)?)\s?(ms|milliseconds|secs?|seconds?|s)\b",
    re.IGNORECASE,
)
"""How a program says how long it took. What a test runner says of itself is another time."""
is_timed = matcher(TIMED)
LISTED = re.compile(r"^-[rwxsStT-]{9}\S?\s+\d+\s+\S+\s+\S+\s+(\d+(?:\.\d+)?)([KMG]?)\s", re.MULTILINE)
COUNTED = re.compile(r"^\s*(\d+)(?:\s+(\S+))?\s*$", re.MULTILINE)
WITHIN = re.compile(r"`(\w+)`\s+(?:is |must be |should be )?within\s+[\d.]+\s?%\s+of\s+`(\w+)`")
"""A limit on how far two named values are apart."""
WORD = re.compile(r"[a-z0-9]+")
VALUE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s?(%?)")


class Measurement(Struct, frozen=True):
    """What an output says of a quantity that the task limits."""

    action: int
    value: str
    """In the unit of the limit."""
    is_kept: bool


def is_exact(limit: Requirement) -> bool:
    """Whether a limit is measured without a doubt of what is meant: a size, a number of lines, a difference."""
    unit = limit.subject.rpartition(" ")[2].lower().lstrip("0123456789.,")
    return (unit in SCALES and bool(unit)) or unit in ("line", "lines") or WITHIN.search(limit.clause) is not None


def is_result_limit(limit: Requirement) -> bool:
    """Whether a limit is on the result, and not on what it must cope with: `N >= 1`, `up to 50 years`."""
    unit = limit.subject.rpartition(" ")[2].lower().rstrip(".").lstrip("0123456789.,")
    is_measured = bool(unit) or not METRICS.isdisjoint(WORD.findall(limit.clause.lower()))
    return not limit.subject.startswith("up to") and (is_measured or limit.subject[0] not in "<>≤≥≦≧⩽⩾")


def measured_limit(evidence: TraceEvidence, limit: Requirement) -> Measurement | None:
    """The last measurement of a limit after the last change; None if there is none, or if the task may name the command
    that measures it."""
    match = LIMIT.fullmatch(limit.subject)
    if (
        match is None
        or isnan(bound := decimal(match["number"]))
        or (not is_exact(limit) and any(command in limit.clause for command in evidence.named_checks))
    ):
        return None
    unit = match["unit"].lower().rstrip(".")
    is_floor = any(sign in match["sign"] for sign in FLOORS) != bool(DENIAL.match(match["sign"]))
    for fact in reversed(evidence.facts[max(evidence.last_change - 1, 0) :]):
        if fact.has_failed or fact.result.is_empty or not fact.commands:
            continue
        if values := [value for value in _measured(evidence, fact, unit, limit.clause) if not isnan(value)]:
            value = min(values) if is_floor else max(values)
            scale = SECONDS.get(unit) or SCALES.get(unit, 1)
            is_kept = value >= bound * scale if is_floor else value <= bound * scale
            return Measurement(fact.action, f"{value / scale:.4g}", is_kept)
    return None


def _measured(evidence: TraceEvidence, fact: ActionFacts, unit: str, clause: str) -> Iterator[float]:
    """What the output of an action says of a quantity with this unit."""
    text = evidence.output(fact.action)
    if unit in SECONDS:
        if "real" in text:
            yield from (60 * decimal(minutes) + decimal(seconds) for minutes, seconds in REAL.findall(text))
        if not fact.is_check and is_timed(text):
            yield from (decimal(value) * SECONDS[name.lower()] for value, name in TIMED.findall(text))
    elif unit in SCALES and unit:
        yield from _sizes(evidence, fact, text)
    elif unit in ("line", "lines"):
        if any("wc -l" in command for command in fact.commands):
            yield from _counts(evidence, fact, text)
    elif unit == "%" and (pair := WITHIN.search(clause)):
        values = [re.findall(rf"\b{name}\b\W{{1,6}}(-?\d+(?:\.\d+)?)", text) for name in pair.groups()]
        if all(values) and decimal(values[1][-1]):
            given, other = decimal(values[0][-1]), decimal(values[1][-1])
            yield 100 * abs(given - other) / abs(other)
    else:
        yield from _rates(text, unit, clause)


def _sizes(evidence: TraceEvidence, fact: ActionFacts, text: str) -> Iterator[float]:
    names = [base_name(path) for path in evidence.deliverables]
    for match in LISTED.finditer(text):
        line = text[match.start() : text.find("\n", match.end()) % (len(text) + 1)]
        if any(name in line for name in names):
            yield decimal(match[1]) * SCALES[match[2].lower()]
    if any("wc -c" in command or "stat -c" in command for command in fact.commands):
        yield from _counts(evidence, fact, text)


def _counts(evidence: TraceEvidence, fact: ActionFacts, text: str) -> Iterator[float]:
    """The counts of files that the task asks for, or in folders that it names; a count without a name is of a file that
    the command names."""
    named = [requirement.subject.rstrip("/") for requirement in evidence.requirements if requirement.kind == "file"]
    asked = evidence.deliverables
    for number, name in COUNTED.findall(text):
        if name:
            is_asked = any(same_file(path, name) for path in asked) or any(
                name.startswith(f"{path}/") for path in named
            )
        else:
            is_asked = any(base_name(path) in fact.commands[-1] for path in asked)
        if is_asked:
            yield decimal(number)


def _rates(text: str, unit: str, clause: str) -> Iterator[float]:
    """Numbers behind a word for a measure that the task uses, in the last line that has one."""
    wanted = METRICS.intersection(WORD.findall(clause.lower()))
    for line in reversed(text.splitlines() if wanted else ()):
        if not wanted.isdisjoint(WORD.findall(line.lower())) and (values := VALUE.findall(line)):
            number, percent = values[-1]
            value = decimal(number)
            yield value * 100 if unit == "%" and not percent and value <= 1 else value
            return
