"""What was changed last, and nothing ran it or looked at it since."""

from __future__ import annotations

import re

from dense.detectors.finding import Finding
from dense.evidence.deliverables.sightings import is_named
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.outputs import program_output
from dense.evidence.facts.paths import PROGRAM_ENDINGS, base_name, same_file
from dense.evidence.trace import Case
from dense.knowledge.programs import programs_that
from dense.text.quoting import one_line

PRODUCTS = 5
"""How many names an issue lists."""
STORING = frozenset({"git add", "git commit", "git push"})
LOOKING = programs_that("looks") | {"git"}
"""Programs whose output shows a file."""
LONGEST_LISTING = 20_000
NOT_TO_RUN = re.compile(
    r"\b(?:no need to|(?:do|need|should)(?: not|n't)(?: need to)?|without|never) (?:run|execut|test|start)",
    re.IGNORECASE,
)
"""Words of a task that wants something written and not run. Hints only."""


def unverified(case: Case) -> list[Finding]:
    """A file that the task asks for, or a program, that was changed last, and nothing ran it or looked at it since.
    What else nobody looked at is told in the summary of its part."""
    names = [path for path, action in case.products.items() if action == case.last_change][:PRODUCTS]
    names = [path for path in names if not _is_only_tried(case, path)]
    if not any(path.endswith(PROGRAM_ENDINGS) or any(same_file(path, one) for one in case.wanted) for path in names):
        return []
    if any(_looks_at_products(case, f) for f in case.facts[case.last_change - 1 :]):
        return []
    if case.task is not None and NOT_TO_RUN.search(case.task.instruction):
        return []
    text = f"{', '.join(f'`{one_line(name, 80)}`' for name in names)} changed at a{case.last_change}"
    text += ", and nothing ran it or looked at it since."
    return [Finding("unverified", text, (case.last_change,), is_serious=False)]


def _looks_at_products(case: Case, fact: ActionFacts) -> bool:
    if fact.effects.tests or fact.effects.scripts or fact.family in STORING:
        return True
    if fact.action == case.last_change:
        return _looks_afterwards(case, fact)
    if fact.phase == "run" or fact.family in {"git diff", "git show"}:
        return True
    if any(base_name(path) in case.product_names for path in fact.effects.reads):
        return True
    return (
        fact.phase in {"explore", "verify"}
        and any(  # a listing in which it stands
            name in answer.text[:LONGEST_LISTING]
            for answer in case.step(fact.action).observations
            for name in case.product_names
        )
    )


def _looks_afterwards(case: Case, fact: ActionFacts) -> bool:
    """Whether a command that changes a file goes on to look at it, and something came back: `… > a.txt && cat a.txt`,
    `mv a b && ls`. What a tool says of its own edit is no look."""
    if not fact.commands or fact.has_failed or LOOKING.isdisjoint(fact.effects.runs):
        return False
    own = [path for path, action in case.products.items() if action == fact.action]
    came = program_output(fact, case.step(fact.action))[:LONGEST_LISTING]
    if not came.strip():
        return False
    if any(same_file(path, one) for path in own for one in fact.effects.reads):
        return True
    typed = [line.strip() for text in fact.commands for line in text.splitlines()]
    for path in own:
        lines = [line.strip() for line in came.splitlines() if is_named(line, path)] if base_name(path) in came else []
        if any(not any(one and one in line for one in typed) for line in lines):
            return True
    return False


def _is_only_tried(case: Case, path: str) -> bool:
    """Whether a file is one that the task asks for, and what was to make it did not: that is told as such."""
    return any(one.is_missing and (one.tried or one.missed) and same_file(path, one.subject) for one in case.tracked)
