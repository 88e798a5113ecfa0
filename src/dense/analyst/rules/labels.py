"""Whether an action helped. A hint for where to look, printed nowhere but in `tree.json`.

    0   it helps: it moves on, looks, checks, repairs
    -1  it does not: it failed, or was the same again with nothing changed
    -2  it harms: something good is lost because of it, and was not made good later

Harm needs evidence on both sides: that it was good before, and that it is not good afterwards. A check that ran and
found faults has helped; one that could not run has failed."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.paths import base_name, is_scratch, same_file
from dense.evidence.facts.phases import Phase
from dense.evidence.links.action_links import ActionLinks
from dense.text.quoting import flat
from dense.trajectory import Step
from dense.tree import Label

LONGEST = 160
"""How much of a line or a command a reason quotes."""
CACHES = frozenset(["__pycache__", ".pytest_cache", "node_modules", "build", "dist", "target", ".cache", ".mypy_cache"])
"""Folders that come back by themselves. So do files that end like this:"""
CACHED = (".pyc", ".o", ".egg-info", ".tmp", ".bak", ".swp", "~")


def label(
    fact: ActionFacts,
    history: ActionLinks,
    wanted: Collection[str] = (),
    given: Collection[str] = (),
    steps: Sequence[Step] = (),
) -> tuple[Label, str]:
    """The label of an action, and why in a sentence. `wanted`: the paths of the task's deliverables; `given`: what it
    says is there already. That a file is lost which the task does not name may be what was asked for. `steps`: all of
    the attempt, where what came back is to be compared word by word."""
    may_harm = history.may_harm(fact.action)
    if may_harm and (reason := harm(fact, history, wanted, given)):
        return -2, reason
    before = history.repeats(fact.action)
    if (may_harm or fact.has_failed or before is not None) and (reason := idleness(fact, history, before, steps)):
        return -1, reason
    return 0, help_of(fact, history)


def harm(fact: ActionFacts, history: ActionLinks, wanted: Collection[str], given: Collection[str]) -> str:
    """Why an action did lasting harm; empty where that is not shown."""
    action = fact.action
    broken = history.broke(action)
    if broken is not None and history.recovered_by(broken[1]) is None:
        after = history.of(broken[1])
        line = evidence(after) if after is not None else ""
        return f"The check that passed at a{broken[0]} fails at a{broken[1]} after this change{line}."
    lost = history.loses(action)
    if lost is not None and not fact.has_failed and not is_passing(lost[0]):
        path, writer = lost
        if writer is not None and any(same_file(path, one) for one in wanted):
            return f"{ran(fact)} removes {in_ticks(path)}, which the task asks for and a{writer} had made."
        if any(same_file(path, one) for one in given):
            return f"{ran(fact)} removes {in_ticks(path)}, which the task gives, and it was not made again."
    return ""


def idleness(fact: ActionFacts, history: ActionLinks, before: int | None, steps: Sequence[Step]) -> str:
    """Why an action did not help; empty where it did. `before`: the one that it repeats."""
    if before is not None and is_same_outcome(fact, history.of(before), steps):
        return f"{ran(fact)} is the same as at a{before}, with nothing changed in between{evidence(fact)}."
    broken = history.broke(fact.action)
    if broken is not None:
        return f"The check that passed at a{broken[0]} failed at a{broken[1]} after this change, and was mended later."
    if not fact.has_failed or has_told(fact) or is_partial_look(fact):
        return ""
    if fact.phase == "talk":
        return f"The message led to nothing{evidence(fact)}."
    later = history.recovered_by(fact.action)
    if later is not None:
        return f"{ran(fact)} failed{evidence(fact)}; it worked at a{later}."
    end = "; it was not tried again" if history.gives_up(fact.action) else ""
    return f"{ran(fact)} failed{evidence(fact)}{end}."


def is_same_outcome(fact: ActionFacts, earlier: ActionFacts | None, steps: Sequence[Step]) -> bool:
    """Whether the same came of two actions: how they ended, what failed, how many tests did; and where no tests ran,
    whose timing is never the same, in the same words."""
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


COULD_NOT_RUN = frozenset(
    ["no_such_command", "no_such_module", "no_such_file", "permission", "usage", "tool", "syntax"]
)


def has_told(fact: ActionFacts) -> bool:
    """Whether a check did its work: it ran, and says what is wrong."""
    if any(run.failed for run in fact.result.tests):
        return True
    return fact.phase == "verify" and not any(failure.family in COULD_NOT_RUN for failure in fact.result.failures)


def is_partial_look(fact: ActionFacts) -> bool:
    """Whether it looked at several things, and some are not there: that is an answer too."""
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


def is_passing(path: str) -> bool:
    """Whether nothing is lost with a file: a log, a cache, something for the moment."""
    name = base_name(path.rstrip("/*"))
    return is_scratch(path) or name in CACHES or name.endswith(CACHED)


def ran(fact: ActionFacts) -> str:
    """What was done, as the beginning of a sentence."""
    if fact.commands:
        return in_ticks(fact.commands[0] if len(fact.commands) == 1 else _telling(fact))
    return in_ticks(fact.family) if fact.family else "The message"


def _telling(fact: ActionFacts) -> str:
    """The command that a reason is about: of several, the one that failed, as far as the failure names it."""
    if not fact.result.failures:
        return fact.commands[0]
    subject = fact.result.failures[-1].subject
    return next((text for text in fact.commands if subject and subject in text), fact.commands[-1])


def evidence(fact: ActionFacts) -> str:
    """The line that tells, where there is one."""
    seen = fact.result
    failed = [run.line for run in seen.tests if run.failed]
    line = failed[-1] if failed else ""
    if not line and seen.failures:
        line = seen.failures[-1].line
    if not line and seen.tests:
        line = seen.tests[-1].line
    return f": {in_ticks(line)}" if line else ""


def in_ticks(text: str) -> str:
    """A part of the trace within a sentence: one line, not too long."""
    line = flat(text[: 4 * LONGEST])
    return f"`{line}`" if len(line) <= LONGEST else f"`{line[: LONGEST - 1]}…`"
