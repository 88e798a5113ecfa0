"""Which later check shows that a failed one is fixed."""

from __future__ import annotations

from collections.abc import Iterable

from dense.evidence.checks.checks import Check
from dense.knowledge.programs import is_interpreter, program_name


def first_retest(failed: Check, later: Iterable[Check]) -> int | None:
    """The action of the first later pass that covers what failed; None if there is none."""
    return min((one.action for one in later if one.has_passed and retests(one, failed)), default=None)


def retests(later: Check, failed: Check) -> bool:
    """Whether a later run covers what an earlier one found failing: everything, the same files or modules, or the tests
    that failed."""
    own, before = later.scope, failed.scope
    if later.runner != failed.runner:
        return False
    if own.tests:
        return bool(before.tests) and before.tests <= own.tests
    if own.labels and before.labels:
        return all(f"{label}.".startswith(tuple(f"{one}." for one in own.labels)) for label in before.labels)
    if not own.paths and not own.labels:
        # Another text of code on the command line is another check.
        return later.command == failed.command or not is_interpreter(program_name(later.runner))
    if own.subjects & before.subjects:
        return True
    if failed.names and all(any(path in name for path in own.paths) for name in failed.names):
        return True
    folders = tuple(f"{folder}/" for folder in own.folders)
    return bool(before.paths) and all(f"{path}/".startswith(folders) for path in before.paths)
