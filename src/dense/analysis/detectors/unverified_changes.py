"""What was made or changed and never tried: a program of the task that nothing ran, a last change that nothing ran or
read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dense.analysis.detectors.registry import Detector, Finding, FindingCode, each_of
from dense.analysis.evidence.deliverables.tracking import runs_after_writing
from dense.analysis.evidence.ending.done import runs_something
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.facts.paths import base_name, is_among, is_named, same_file
from dense.analysis.evidence.trace import TraceEvidence
from dense.knowledge.file_names import PROGRAM_ENDINGS
from dense.knowledge.programs import STORE_COMMANDS, programs_that
from dense.text.guarded import GuardedPattern

PROGRAM_NEVER_RUN = FindingCode(
    name="program_never_run",
    meaning="A program that the task asks for was written and never run.",
    severity="serious",
    opens_issue=True,
)
NOT_TO_RUN = GuardedPattern(
    re.compile(
        r"\b(?:no need to|(?:do|need|should)(?: not|n't)(?: need to)?|without|never) (?:run|execut|test|start)",
        re.IGNORECASE,
    )
)
"""Words of a task that asks for something to be written and not run."""
UNVERIFIED_CHANGE = FindingCode(
    name="unverified_change", meaning="Nothing ran or read what was changed last.", severity="serious"
)
PROSE_ENDINGS = (".md", ".rst", ".mdx", ".adoc")
"""Prose needs no run, and to read it back shows nothing."""
TEXT_ENDINGS = (".txt", *PROSE_ENDINGS)
SNIPPET = re.compile(r"^\s*\d+(?:→|\t| ?\|)", re.MULTILINE)
"""A numbered line, as tools show what they edited."""
MAX_PRODUCTS = 5
LISTING_PROGRAMS = programs_that("looks") | {"git"}
"""Programs whose output shows a file."""
MAX_LISTING_CHARS = 20_000


def never_run_programs(evidence: TraceEvidence) -> Iterator[Finding]:
    """New programs of the task, if nothing ran since they were first written: what runs may import them."""
    if not may_run(evidence):
        return
    for file in evidence.tracked_files:
        is_new = bool(file.made) and not file.is_old
        if (
            is_new
            and file.path.endswith(PROGRAM_ENDINGS)
            and not any(map(runs_something, evidence.facts[file.made[0] - 1 :]))
            and not any(runs_after_writing(evidence.step(action), file.path) for action in file.made)
        ):
            yield PROGRAM_NEVER_RUN.found(file.path, file.made[-1])


def may_run(evidence: TraceEvidence) -> bool:
    """Whether the task does not forbid to run what it asks for."""
    return evidence.task is None or not NOT_TO_RUN.search(evidence.task.instruction)


def unverified_changes(evidence: TraceEvidence) -> Iterator[Finding]:
    """A deliverable or a program that was changed last, if nothing ran it or read it afterwards. Serious only if the
    task names the file, it was not there before, and it is more than text that was typed: to read back a note shows
    nothing, and a patch to a project is decided by tests that nobody sees."""
    last = evidence.last_change
    never_run = [finding.subject for finding in never_run_programs(evidence)]
    changed = [path for path, action in evidence.products.items() if action == last]
    changed = [path for path in changed if not is_among(path, never_run)]
    paths = [path for path in changed[:MAX_PRODUCTS] if not path.endswith(PROSE_ENDINGS)]
    named = [path for path in paths if is_among(path, evidence.deliverables)]
    is_helper = any(path.endswith(PROGRAM_ENDINGS) for path in paths)
    if not named and (not is_helper or any(file.is_missing for file in evidence.tracked_files)):
        return  # what the task asks for and nobody made is reported as that
    if not may_run(evidence):
        return
    if any(_verifies(evidence, fact) for fact in evidence.facts[last - 1 :]):
        if evidence.submitted_diff is not None and not _is_run_after(evidence, paths):
            yield UNVERIFIED_CHANGE.found("", last, severity="doubt", files=tuple(paths), is_read=1)
        return
    new = [file.path for file in evidence.tracked_files if not file.is_old and not file.path.endswith(TEXT_ENDINGS)]
    is_new = any(same_file(path, other) for path in named for other in new)
    yield UNVERIFIED_CHANGE.found("", last, severity="serious" if is_new else "doubt", files=tuple(paths))


def _is_run_after(evidence: TraceEvidence, paths: Sequence[str]) -> bool:
    """Whether anything ran after the last change; to read a patch to a project back shows little."""
    last = evidence.last_change
    if any(map(runs_something, evidence.facts[last:])) or evidence.fact(last).is_check:
        return True
    return any(runs_after_writing(evidence.step(last), path) for path in paths)


def _verifies(evidence: TraceEvidence, fact: ActionFacts) -> bool:
    """Whether an action runs or shows any of the products."""
    if fact.effects.tests or fact.effects.scripts or fact.family in STORE_COMMANDS:
        return True
    if fact.action == evidence.last_change:
        own = [path for path, action in evidence.products.items() if action == fact.action]
        is_run = not fact.has_failed and any(runs_after_writing(evidence.step(fact.action), path) for path in own[:3])
        return is_run or _shows_own_change(evidence, fact)
    if fact.phase == "run" or fact.family in {"git diff", "git show"}:
        return True
    if any(base_name(path) in evidence.product_names for path in fact.effects.reads):
        return True
    texts = [seen.text[:MAX_LISTING_CHARS] for seen in evidence.step(fact.action).observations]
    is_listed = any(name in text for text in texts for name in evidence.product_names)
    return is_listed and fact.phase in {"explore", "verify"}


def _shows_own_change(evidence: TraceEvidence, fact: ActionFacts) -> bool:
    """Whether an action that changes a file also shows it: `… > a.txt && cat a.txt`, `mv a b && ls`, the snippet that
    a tool returns. Of a program it says nothing."""
    is_program = any(path.endswith(PROGRAM_ENDINGS) for path in fact.effects.writes)
    if not (fact.commands or fact.has_failed or is_program):
        return any(SNIPPET.search(seen.text[:MAX_LISTING_CHARS]) for seen in evidence.step(fact.action).observations)
    if not fact.commands or fact.has_failed or LISTING_PROGRAMS.isdisjoint(fact.effects.runs):
        return False
    shown = evidence.output(fact.action)[:MAX_LISTING_CHARS]
    own = [path for path, action in evidence.products.items() if action == fact.action]
    if shown.strip() and any(same_file(path, read) for path in own for read in fact.effects.reads):
        return True
    typed = [line for text in fact.commands for line in map(str.strip, text.splitlines()) if line]
    lines = [line for line in shown.splitlines() if not any(text in line for text in typed)]
    return any(is_named(line, path) for line in lines for path in own)


DETECTOR = Detector(each_of(never_run_programs, unverified_changes), (PROGRAM_NEVER_RUN, UNVERIFIED_CHANGE))
