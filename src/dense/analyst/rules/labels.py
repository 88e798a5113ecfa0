"""Whether an action helped. A hint for where to look, which no feedback of DENSE shows.

    0   it helps: it moves on, looks, checks, repairs
    -1  it does not: it failed, or was the same again with nothing changed

A check that ran and found faults has helped; one that could not run has failed."""

from __future__ import annotations

from collections.abc import Sequence

from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.phases import Phase
from dense.evidence.links.action_links import ActionLinks
from dense.text.quoting import flat
from dense.trajectory import Step
from dense.tree import Label

MAX_QUOTE_CHARS = 160
"""How much of a line or a command a reason quotes."""


def label(fact: ActionFacts, history: ActionLinks, steps: Sequence[Step] = ()) -> tuple[Label, str]:
    """The label of an action, and why in a sentence. With all `steps` of the attempt, outputs are compared word by
    word."""
    before = history.repeats(fact.action)
    reason = idleness(fact, history, before, steps)
    return (-1, reason) if reason else (0, help_of(fact, history))


def idleness(fact: ActionFacts, history: ActionLinks, before: int | None, steps: Sequence[Step]) -> str:
    """Why an action did not help; empty if it did. `before` is the action that it repeats."""
    if before is not None and is_same_outcome(fact, history.of(before), steps):
        return f"{ran(fact)} is the same as at a{before}, with nothing changed in between{evidence(fact)}."
    broken = history.broke(fact.action)
    if broken is not None:
        end = "" if history.recovered_by(broken[1]) is None else "; it was fixed later"
        return f"The check that passed at a{broken[0]} failed at a{broken[1]} after this change{end}."
    if not fact.has_failed or is_informative_failure(fact) or is_partial_look(fact):
        return ""
    if fact.phase == "talk":
        return f"The message led to nothing{evidence(fact)}."
    later = history.recovered_by(fact.action)
    if later is not None:
        return f"{ran(fact)} failed{evidence(fact)}; it worked at a{later}."
    end = "; it was not tried again" if history.gives_up(fact.action) else ""
    return f"{ran(fact)} failed{evidence(fact)}{end}."


def is_same_outcome(fact: ActionFacts, earlier: ActionFacts | None, steps: Sequence[Step]) -> bool:
    """Whether two actions had the same result: exit code, failures, test counts, and the same text unless tests ran,
    because their timing always differs."""
    if earlier is None or outcome(fact) != outcome(earlier):
        return False
    if fact.result.tests or not steps:
        return True
    return texts(steps[fact.action - 1]) == texts(steps[earlier.action - 1])


def outcome(fact: ActionFacts) -> tuple[object, ...]:
    seen = fact.result
    failures = {(failure.family, failure.subject) for failure in seen.failures}
    tests = [(run.passed, run.failed, run.names) for run in seen.tests]
    return seen.exit_code, seen.is_empty, failures, tests


def texts(step: Step) -> list[str]:
    return [seen.text for seen in step.observations if seen.origin == "tool"]


def is_informative_failure(fact: ActionFacts) -> bool:
    """Whether a check did its work: it ran and reported what is wrong."""
    if any(run.failed for run in fact.result.tests):
        return True
    return fact.phase == "verify" and not any(failure.family.prevents_start for failure in fact.result.failures)


def is_partial_look(fact: ActionFacts) -> bool:
    """Whether it looked at several things and only some do not exist: that is an answer, too."""
    return fact.phase == "explore" and len(fact.effects.reads) > len(fact.result.failures)


def help_of(fact: ActionFacts, history: ActionLinks) -> str:
    """What a helpful action did, in a sentence."""
    repaired = history.repairs(fact.action)
    if repaired is not None:
        return f"{ran(fact)} goes at what failed at a{repaired}."
    if fact.is_check:
        return f"{ran(fact)} checks the work{evidence(fact)}."
    written = history.reads_back(fact.action)
    if written is not None:
        return f"{ran(fact)} looks at what a{written} made."
    return f"{ran(fact)} {PURPOSES[history.phase(fact.action)]}."


PURPOSES: dict[Phase, str] = {
    "explore": "looks at what is there",
    "setup": "prepares the work",
    "produce": "changes files",
    "run": "ran",
    "verify": "checks the work",
    "deliver": "hands over",
    "talk": "only says something",
}
"""What an action does, by what it was for."""


def ran(fact: ActionFacts) -> str:
    """What was done, as the beginning of a sentence."""
    if fact.commands:
        return quoted_line(fact.commands[0] if len(fact.commands) == 1 else _decisive_command(fact))
    return quoted_line(fact.family) if fact.family else "The message"


def _decisive_command(fact: ActionFacts) -> str:
    """The command that a reason is about: of several, the one that the failure names."""
    if not fact.result.failures:
        return fact.commands[0]
    subject = fact.result.failures[-1].subject
    return next((text for text in fact.commands if subject and subject in text), fact.commands[-1])


def evidence(fact: ActionFacts) -> str:
    """The decisive line of the output, if there is one."""
    seen = fact.result
    failed = [run.line for run in seen.tests if run.failed]
    line = failed[-1] if failed else ""
    if not line and seen.failures:
        line = seen.failures[-1].line
    if not line and seen.tests:
        line = seen.tests[-1].line
    return f": {quoted_line(line)}" if line else ""


def quoted_line(text: str) -> str:
    """A part of the trace within a sentence: one line of limited length."""
    line = flat(text[: 4 * MAX_QUOTE_CHARS])
    return f"`{line}`" if len(line) <= MAX_QUOTE_CHARS else f"`{line[: MAX_QUOTE_CHARS - 1]}…`"
