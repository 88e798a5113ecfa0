"""How many checks of a verifier passed, where it leaves a report of them: CTRF, or JUnit's XML.

A report is the work of somebody else's program, which an agent may have had its hands on: whatever is in it, an answer
comes back, and the grade stays the verifier's reward."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

from msgspec import Struct

from dense.readers.json_value import obj, objs, whole

MAX_REPORT_BYTES = 16 * 1024 * 1024
"""Bytes of the largest report that is read."""


class VerifierChecks(Struct, frozen=True):
    """What a verifier's report adds up to."""

    passed: int
    """Checks that passed."""
    total: int
    """All of them, skipped ones included."""


def read_checks(trial: Path) -> VerifierChecks | None:
    """The checks of a trial; None if its verifier left no report of them. CTRF goes before JUnit."""
    folder = trial / "verifier"
    reports = [*sorted(folder.glob("*ctrf*.json")), *sorted(folder.glob("*.xml"))]
    candidates = (_ctrf(data) if path.suffix == ".json" else _junit(data) for path, data in _contents(reports))
    return next((checks for checks in candidates if checks is not None and checks.total), None)


def _contents(paths: list[Path]) -> Iterator[tuple[Path, bytes]]:
    for path in paths:
        try:
            if path.is_file() and path.stat().st_size <= MAX_REPORT_BYTES:
                yield path, path.read_bytes()
        except OSError:
            continue


def _ctrf(data: bytes) -> VerifierChecks | None:
    """By the tests themselves; by the summary where they are left out."""
    try:
        results: dict[str, Any] = obj(obj(json.loads(data)).get("results"))
    except (ValueError, RecursionError):
        return None
    if tests := list(objs(results.get("tests"))):
        return VerifierChecks(sum(test.get("status") == "passed" for test in tests), len(tests))
    summary = obj(results.get("summary"))
    passed, total = whole(summary.get("passed")), whole(summary.get("tests"))
    return None if passed is None or total is None or not 0 <= passed <= total else VerifierChecks(passed, total)


def _junit(data: bytes) -> VerifierChecks | None:
    if b"<!" in data.replace(b"<!--", b"").replace(b"<![CDATA[", b""):
        return None  # a document type may define entities that grow without end; no runner writes one
    try:
        root = Xml.fromstring(data)
    except (Xml.ParseError, ValueError, RecursionError):
        return None
    if root.tag not in ("testsuites", "testsuite"):
        return None
    cases = list(root.iter("testcase"))
    lost = sum(any(case.find(kind) is not None for kind in ("failure", "error", "skipped")) for case in cases)
    return VerifierChecks(len(cases) - lost, len(cases))
