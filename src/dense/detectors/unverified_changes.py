"""What was changed last, if nothing ran it or read it afterwards."""

from __future__ import annotations

from collections.abc import Iterator

from dense.detectors.finding import Finding, FindingCode
from dense.detectors.never_run_programs import may_run, never_run_programs
from dense.detectors.registry import Detector
from dense.evidence.deliverables.sightings import is_named
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.outputs import program_output
from dense.evidence.facts.paths import PROGRAM_ENDINGS, base_name, same_file
from dense.evidence.trace import TraceEvidence
from dense.knowledge.programs import STORE_COMMANDS, programs_that

UNVERIFIED_CHANGE = FindingCode("unverified_change", "Nothing ran or read what was changed last.", "serious")
TEXT_ENDINGS = (".txt", ".md", ".rst")
MAX_PRODUCTS = 5
LISTING_PROGRAMS = programs_that("looks") | {"git"}
"""Programs whose output shows a file."""
MAX_LISTING_CHARS = 20_000


def unverified_changes(evidence: TraceEvidence) -> Iterator[Finding]:
    """A deliverable or a program that was changed last, if nothing ran it or read it afterwards. Serious only if the
    task names the file, it was not there before, and it is more than text that was typed: to read back a note shows
    nothing, and a patch to a project is decided by tests that nobody sees."""
    last = evidence.last_change
    never_run = [finding.subject for finding in never_run_programs(evidence)]
    changed = [path for path, action in evidence.products.items() if action == last]
    changed = [path for path in changed if not any(same_file(path, one) for one in never_run)]
    paths = changed[:MAX_PRODUCTS]
    named = [path for path in paths if any(same_file(path, one) for one in evidence.deliverables)]
    if not named and not any(path.endswith(PROGRAM_ENDINGS) for path in paths):
        return
    if not may_run(evidence) or any(_verifies(evidence, fact) for fact in evidence.facts[last - 1 :]):
        return
    new = [file.path for file in evidence.tracked_files if not file.is_old and not file.path.endswith(TEXT_ENDINGS)]
    is_new = any(same_file(path, one) for path in named for one in new)
    yield UNVERIFIED_CHANGE.found("", last, severity="serious" if is_new else "doubt", files=tuple(paths))


def _verifies(evidence: TraceEvidence, fact: ActionFacts) -> bool:
    """Whether an action runs or shows any of the products."""
    if fact.effects.tests or fact.effects.scripts or fact.family in STORE_COMMANDS:
        return True
    if fact.action == evidence.last_change:
        return _shows_own_change(evidence, fact)
    if fact.phase == "run" or fact.family in {"git diff", "git show"}:
        return True
    if any(base_name(path) in evidence.product_names for path in fact.effects.reads):
        return True
    texts = [seen.text[:MAX_LISTING_CHARS] for seen in evidence.step(fact.action).observations]
    is_listed = any(name in text for text in texts for name in evidence.product_names)
    return is_listed and fact.phase in {"explore", "verify"}


def _shows_own_change(evidence: TraceEvidence, fact: ActionFacts) -> bool:
    """Whether a command that changes a file also shows it: `… > a.txt && cat a.txt`, `mv a b && ls`. What a tool
    says of its own edit does not count."""
    if not fact.commands or fact.has_failed or LISTING_PROGRAMS.isdisjoint(fact.effects.runs):
        return False
    shown = program_output(fact, evidence.step(fact.action))[:MAX_LISTING_CHARS]
    own = [path for path, action in evidence.products.items() if action == fact.action]
    if shown.strip() and any(same_file(path, read) for path in own for read in fact.effects.reads):
        return True
    typed = [line for text in fact.commands for line in map(str.strip, text.splitlines()) if line]
    lines = [line for line in shown.splitlines() if not any(one in line for one in typed)]
    return any(is_named(line, path) for line in lines for path in own)


DETECTOR = Detector(unverified_changes, (UNVERIFIED_CHANGE,))
