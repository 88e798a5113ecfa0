"""Files in a submission that the task does not ask for, and submissions with nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from dense.detectors.finding import Finding, FindingCode
from dense.detectors.registry import Detector
from dense.evidence.trace import TraceEvidence

ONLY_NEW_FILES = FindingCode(
    "only_new_files", "The submission changes no existing file.", "serious", covers_failures=False
)

UNREQUESTED_FILES = FindingCode(
    "unrequested_files", "The submission adds files that nobody asked for.", "doubt", covers_failures=False
)


def new_files_only(evidence: TraceEvidence) -> Iterator[Finding]:
    diff = evidence.submitted_diff
    if diff is None or not diff.unrequested:
        return
    files = tuple(one.path for one in diff.unrequested)
    if diff.is_whole and not diff.changes and not evidence.deliverables:
        yield ONLY_NEW_FILES.found("", diff.action, files=files)
    else:
        yield UNREQUESTED_FILES.found("", diff.action, files=files)


DETECTOR = Detector(new_files_only, (ONLY_NEW_FILES, UNREQUESTED_FILES))
