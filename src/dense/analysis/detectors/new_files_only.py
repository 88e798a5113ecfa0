"""What a submitted diff shows against the work: files that the task does not ask for, none of what was changed, other
expectations in tests that were there before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dense.analysis.detectors.registry import Detector, Finding, FindingCode
from dense.analysis.evidence.deliverables.products import FileChange
from dense.analysis.evidence.facts.paths import base_name, is_trial_file, same_file
from dense.analysis.evidence.trace import TraceEvidence
from dense.knowledge.file_names import PROGRAM_ENDINGS

UNREQUESTED_FILES = FindingCode(
    name="unrequested_files",
    meaning="The submission adds files that nobody asked for.",
    severity="doubt",
    covers_failures=False,
)
CHANGES_NOT_SUBMITTED = FindingCode(
    name="changes_not_submitted",
    meaning="The submission holds none of the programs that were changed.",
    severity="serious",
    opens_issue=True,
    raised_at="root",
)
EXPECTATION_REWRITTEN = FindingCode(
    name="expectation_rewritten",
    meaning="The submission rewrites what an existing test expects.",
    severity="serious",
    covers_failures=False,
)


def new_files_only(evidence: TraceEvidence) -> Iterator[Finding]:
    diff = evidence.submitted_diff
    if diff is None:
        return
    changed = [path for path in evidence.products if path.endswith(PROGRAM_ENDINGS) and not is_trial_file(path)]
    if changed and diff.is_whole and not _is_any_edited(evidence, (*diff.changes, *diff.unrequested)):
        edits = sorted({evidence.products[path] for path in changed})
        yield CHANGES_NOT_SUBMITTED.found("", *edits, diff.action, files=tuple(changed))
    if rewritten := [change for change in diff.changes if change.rewritten]:
        edits = [
            edit.action for edit in evidence.test_edits if any(same_file(edit.path, test.path) for test in rewritten)
        ]
        files = tuple(file.path for file in rewritten)
        yield EXPECTATION_REWRITTEN.found("", *edits[-1:], diff.action, files=files, line=rewritten[0].rewritten)
    if not diff.unrequested:
        return
    files = tuple(file.path for file in diff.unrequested)
    yield UNREQUESTED_FILES.found("", diff.action, files=files)


def _is_any_edited(evidence: TraceEvidence, changes: Sequence[FileChange]) -> bool:
    """Whether a call of the attempt names a file of a diff. What none names was different before the attempt began."""
    names = {base_name(change.path) for change in changes}
    typed = (str(value) for step in evidence.steps for call in step.calls for value in call.arguments.values())
    return any(name in text for text in typed for name in names)


DETECTOR = Detector(new_files_only, (UNREQUESTED_FILES, CHANGES_NOT_SUBMITTED, EXPECTATION_REWRITTEN))
