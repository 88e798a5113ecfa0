"""A submission that only adds files, none of which the task names."""

from __future__ import annotations

from collections.abc import Iterator

from dense.detectors.finding import Finding, FindingCode
from dense.detectors.registry import Detector
from dense.evidence.trace import TraceEvidence

ONLY_NEW_FILES = FindingCode(
    "only_new_files", "The submission changes no existing file.", "serious", covers_failures=False
)


def new_files_only(evidence: TraceEvidence) -> Iterator[Finding]:
    diff = evidence.submitted_diff
    if diff is not None and diff.is_whole and not diff.changes and diff.unrequested and not evidence.deliverables:
        yield ONLY_NEW_FILES.found("", diff.action, files=tuple(one.path for one in diff.unrequested))


DETECTOR = Detector(new_files_only, (ONLY_NEW_FILES,))
