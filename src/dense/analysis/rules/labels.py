"""Whether an action helped. A hint for where to look, which no feedback of DENSE shows.

    0   it helps: it moves on, looks, checks, repairs
    -1  it does not: it failed, or was the same again with nothing changed

A check that ran and found faults has helped; one that could not run has failed."""

from __future__ import annotations

from collections.abc import Sequence

from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.facts.phases import Phase
from dense.analysis.evidence.links.action_links import ActionLinks
from dense.text.quoting import code_span
from dense.trajectory import Step
from dense.tree import Label

MAX_QUOTE_CHARS = 160
"""How much of a line or a command a reason quotes."""


def label(fact: ActionFacts, history: ActionLinks, steps: Sequence[Step] = ()) -> tuple[Label, str]:
    """The label of an action, and why. With all `steps` outputs are compared word by word."""
    before = history.repeats(fact.action)
    reason = idleness(fact, history, before, steps)
    found = evidence(fact) if fact.is_check else ""
    return (-1, reason) if reason else (0, f"{ran(fact)} {PURPOSES[history.phase(fact.action)]}{found}.")


def idleness(fact: ActionFacts, history: ActionLinks, before: int | None, steps: Sequence[Step]) -> str:
    """Why an action did not help; empty if it did. `before` is the action that it repeats."""
    if before is not None and is_same_result(fact, history.of(before), steps):
        return f"{ran(fact)} is the same as at a{before}, with nothing changed in between{evidence(fact)}."
    broken = history.broke(fact.action)
    if broken is not None:
        end = "" if history.recovered_by(broken[1]) is None else "; it was fixed later"
        return f"The check that passed at a{broken[0]} failed at a{broken[1]} after this change{end}."
    is_partial_look = fact.phase == "explore" and len(fact.effects.reads) > len(fact.result.failures)
    if not fact.has_failed or is_informative_failure(fact) or is_partial_look:  # that some do not exist is an answer
        return ""
    if fact.phase == "talk":
        return f"The message led to nothing{evidence(fact)}."
    later = history.recovered_by(fact.action)
    if later is not None:
        return f"{ran(fact)} failed{evidence(fact)}; it worked at a{later}."
    end = "; it was not tried again" if history.gives_up(fact.action) else ""
    return f"{ran(fact)} failed{evidence(fact)}{end}."


def is_same_result(fact: ActionFacts, earlier: ActionFacts | None, steps: Sequence[Step]) -> bool:
    """Whether two actions had the same result, and the same text unless tests ran: their timing differs."""
    if earlier is None or _result(fact) != _result(earlier):
        return False
    return bool(fact.result.tests or not steps) or _texts(steps, fact) == _texts(steps, earlier)


def _result(fact: ActionFacts) -> tuple[object, ...]:
    result = fact.result
    failures = {(failure.family, failure.subject) for failure in result.failures}
    return result.exit_code, result.is_empty, failures, [(run.passed, run.failed, run.names) for run in result.tests]


def _texts(steps: Sequence[Step], fact: ActionFacts) -> list[str]:
    return [output.text for output in steps[fact.action - 1].observations if output.origin == "tool"]


def is_informative_failure(fact: ActionFacts) -> bool:
    """Whether a check did its work: it ran and reported what is wrong."""
    if any(run.failed for run in fact.result.tests):
        return True
    return fact.phase == "verify" and not any(failure.family.prevents_start for failure in fact.result.failures)


PURPOSES: dict[Phase, str] = {
    "explore": "looks at what is there",
    "setup": "prepares the work",
    "produce": "changes files",
    "run": "ran",
    "verify": "checks the work",
    "deliver": "hands over",
    "talk": "only says something",
}
"""What an action that helps does, by what it was for."""


def ran(fact: ActionFacts) -> str:
    """What was done, as the beginning of a sentence."""
    if fact.commands:
        return code_span(fact.commands[-1 if fact.result.failures else 0], MAX_QUOTE_CHARS)
    return code_span(fact.family, MAX_QUOTE_CHARS) if fact.family else "The message"


def evidence(fact: ActionFacts) -> str:
    """The decisive line of the output, if there is one."""
    tests, failures = fact.result.tests, fact.result.failures
    lines = [run.line for run in tests if run.failed][-1:] + [one.line for one in (*failures[-1:], *tests[-1:])]
    line = next(filter(None, lines), "")
    return f": {code_span(line, MAX_QUOTE_CHARS)}" if line else ""
