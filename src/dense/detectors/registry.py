"""All detectors of the package. A module is a detector if it has a `DETECTOR`; nothing else lists it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from functools import cache

from msgspec import Struct

import dense.detectors
from dense.detectors.finding import Finding, FindingCode
from dense.evidence.trace import TraceEvidence


class Detector(Struct, frozen=True):
    """A function that finds something in a trace, and the codes of what it finds."""

    detect: Callable[[TraceEvidence], Iterable[Finding]]
    codes: tuple[FindingCode, ...]
    needs_end: bool = True
    """Whether it must see the end of the work: it is skipped if the trace continues in another one."""
    is_fallback: bool = False
    """Whether its findings count only if no other finding has the same evidence."""


def each_of(*functions: Callable[[TraceEvidence], Iterable[Finding]]) -> Callable[[TraceEvidence], Iterable[Finding]]:
    """One function that reports what several find, in their order."""
    return lambda evidence: [finding for function in functions for finding in function(evidence)]


@cache
def detectors() -> tuple[Detector, ...]:
    """The detectors of all modules of this package, by module name."""
    names = sorted(found.name for found in pkgutil.iter_modules(dense.detectors.__path__, "dense.detectors."))
    modules = [importlib.import_module(name) for name in names if name != __name__]
    return tuple(module.DETECTOR for module in modules if hasattr(module, "DETECTOR"))


@cache
def codes() -> dict[str, FindingCode]:
    """The table of all codes."""
    return {code.name: code for detector in detectors() for code in detector.codes}


def detect(evidence: TraceEvidence) -> tuple[Finding, ...]:
    """All findings of a trace in the order in which they show; by code if one action shows several."""
    is_whole = evidence.ending.kind != "continued"
    active = [one for one in detectors() if is_whole or not one.needs_end]
    found = [finding for one in active if not one.is_fallback for finding in one.detect(evidence)]
    covered = {action for finding in found for action in finding.evidence}
    fallbacks = [finding for one in active if one.is_fallback for finding in one.detect(evidence)]
    found += [finding for finding in fallbacks if covered.isdisjoint(finding.evidence)]
    return tuple(sorted(found, key=lambda finding: (finding.opened, finding.code)))
