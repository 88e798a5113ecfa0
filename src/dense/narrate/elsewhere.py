"""What of a stretch is told elsewhere in the report: a thing is said once, where the reader looks for it.

Failures that belong to one attempt are told by its shortcut, with what was tried and what came back; open issues stand
at the root. The words of the stretch itself leave both out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from dense.detectors.assessment import Assessment


class Elsewhere(Struct, frozen=True):
    """What others tell of a stretch, by the numbers of its actions."""

    tries: frozenset[int] = frozenset()
    """Failures that a shortcut tells."""
    issues: frozenset[int] = frozenset()
    """The evidence of open issues."""
    is_unverified: bool = False
    """Whether it is an open issue that nothing looked at what was changed last."""


type TellsElsewhere = Callable[[int, int], Elsewhere]
"""What is told elsewhere of a stretch, by its first and last action."""
NOTHING = Elsewhere()


def nowhere(_first: int, _last: int) -> Elsewhere:
    """Nothing is told elsewhere: for a stretch that stands alone."""
    return NOTHING


def elsewhere(assessment: Assessment, first: int, last: int) -> Elsewhere:
    """An attempt that covers two actions of a stretch is a shortcut in it; an issue is raised where its last evidence
    lies."""
    attempts = [one for one in assessment.attempts_in(first, last) if min(one.last, last) > max(one.first, first)]
    issues = [one for one in assessment.findings_in(first, last) if one.is_open]
    if not attempts and not issues:
        return NOTHING
    return Elsewhere(
        frozenset([action for one in attempts for action in one.failed]),
        frozenset([action for one in issues for action in one.evidence]),
        any(one.code == "unverified_change" for one in issues),
    )
