"""Findings, and all detectors of the package: a module is a detector if it has a `DETECTOR`; nothing else lists it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Literal

from msgspec import Struct

import dense.analysis.detectors
from dense.analysis.evidence.trace import TraceEvidence
from dense.tree import Severity

Level = Literal["root", "part"]
type Field = str | int | tuple[str, ...]


class Finding(Struct, frozen=True):
    """One thing that is wrong or missing. It holds facts of the trace; `narrate.findings` makes the sentence."""

    code: str
    subject: str
    """What it is about: a command, a path, an answer; empty if the code says it all."""
    evidence: tuple[int, ...]
    """The actions that show it, by number, in order; at least one."""
    resolution: int | None = None
    """The action whose observation shows that it is fixed; None while it is open."""
    severity: Severity = "serious"
    fields: Mapping[str, Field] = {}
    """Further facts by name: lines of the trace, names of tests, numbers of actions."""

    @property
    def key(self) -> str:
        """The identity of a finding within its trace, whatever words describe it."""
        return f"{self.code}|{self.subject}|{','.join(map(str, self.evidence))}"

    @property
    def opened(self) -> int:
        """The last action that shows it: a resolution must come later."""
        return self.evidence[-1]

    @property
    def is_open(self) -> bool:
        return self.resolution is None

    @property
    def is_serious(self) -> bool:
        """Whether the evidence allows no other reading."""
        return self.severity != "doubt"

    @property
    def opens_issue(self) -> bool:
        """Whether it is an issue: the task is not done while it is open. Any other finding states a fact, unless later
        evidence that closes it shows that it was a fault."""
        return not self.is_open or (self.is_serious and codes()[self.code].opens_issue)

    def text(self, name: str) -> str:
        """A field with text; empty if there is none."""
        value = self.fields.get(name, "")
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int:
        """A field with a number; 0 if there is none."""
        value = self.fields.get(name, 0)
        return value if isinstance(value, int) else 0

    def texts(self, name: str) -> tuple[str, ...]:
        """A field with several texts; empty if there is none."""
        value = self.fields.get(name, ())
        return value if isinstance(value, tuple) else ()


class FindingCode(Struct, frozen=True):
    """A code that findings have, with the policy for all of them."""

    name: str
    meaning: str
    severity: Severity
    """How much it weighs. A detector may lower that to `doubt` if the evidence allows another reading."""
    opens_issue: bool = False
    """Whether its serious findings have earned an issue: on labelled runs clearly more than half of those that had one
    failed, or it is certain. All others state a fact, change no state and advise nothing."""
    raised_at: Level = "part"
    """Which node of the tree raises it: the root, or the lowest part that holds its evidence."""
    covers_failures: bool = True
    """Whether the summary leaves out what failed, because findings of this code report it."""

    def found(
        self,
        subject: str,
        *evidence: int,
        resolution: int | None = None,
        severity: Severity | None = None,
        **fields: Field,
    ) -> Finding:
        """A finding of this code. Empty fields are left out."""
        kept = {name: value for name, value in fields.items() if value}
        return Finding(
            code=self.name,
            subject=subject,
            evidence=evidence,
            resolution=resolution,
            severity=severity or self.severity,
            fields=kept,
        )


# Detectors


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
    names = sorted(
        module.name for module in pkgutil.iter_modules(dense.analysis.detectors.__path__, "dense.analysis.detectors.")
    )
    modules = [importlib.import_module(name) for name in names if name != __name__]
    return tuple(module.DETECTOR for module in modules if hasattr(module, "DETECTOR"))


@cache
def codes() -> dict[str, FindingCode]:
    """The table of all codes."""
    return {code.name: code for detector in detectors() for code in detector.codes}


def detect(evidence: TraceEvidence) -> tuple[Finding, ...]:
    """All findings of a trace in the order in which they show; by code if one action shows several."""
    is_whole = evidence.ending.kind != "continued"
    active = [detector for detector in detectors() if is_whole or not detector.needs_end]
    findings = [finding for detector in active if not detector.is_fallback for finding in detector.detect(evidence)]
    covered = {action for finding in findings for action in finding.evidence}
    fallbacks = [finding for detector in active if detector.is_fallback for finding in detector.detect(evidence)]
    findings += [finding for finding in fallbacks if covered.isdisjoint(finding.evidence)]
    return tuple(sorted(findings, key=lambda finding: (finding.opened, finding.code)))
