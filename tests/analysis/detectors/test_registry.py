"""The registry: which detectors there are, how their findings are ordered, how one is added."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_attempt import analysed, attempt, found, state

import dense.analysis.detectors
from dense.analysis.detectors import registry
from dense.analysis.detectors.registry import Finding
from dense.analysis.evidence.trace import TraceEvidence
from dense.analysis.rules import RulesAnalyst
from dense.analysis.wording import findings as wording
from dense.service import distill_sync

TASK = "Write the total to `/app/total.txt`."
POLICY = {
    "check_failed": ("serious", "part", True),
    "required_check_failed": ("serious", "part", True),
    "program_never_run": ("serious", "part", True),
    "program_failed": ("serious", "part", True),
    "output_doubted": ("doubt", "part", True),
    "last_action_failed": ("doubt", "part", False),
    "message_rejected": ("doubt", "part", False),
    "deliverable_missing": ("serious", "root", True),
    "deliverable_attempt_failed": ("serious", "part", True),
    "input_lost": ("doubt", "part", False),
    "clue_unused": ("doubt", "part", True),
    "changes_not_submitted": ("serious", "root", True),
    "expectation_rewritten": ("serious", "part", False),
    "plan_unfinished": ("doubt", "part", False),
    "tests_weakened": ("doubt", "part", True),
    "unverified_change": ("serious", "part", True),
    "answer_rejected": ("serious", "root", True),
    "submission_empty": ("serious", "root", True),
    "submission_partial": ("doubt", "part", True),
    "agent_gave_up": ("serious", "root", True),
    "request_unsatisfied": ("serious", "root", True),
    "ended_without_handover": ("serious", "root", True),
    "action_announced": ("serious", "root", True),
    "failure_admitted": ("serious", "root", True),
    "closing_doubt": ("doubt", "part", True),
    "conflict_left": ("serious", "part", True),
    "unrequested_files": ("doubt", "part", False),
    "limit_missed": ("serious", "part", True),
    "port_silent": ("serious", "part", True),
}
"""Severity, level, and whether findings cover failures, by code."""
NEW_DETECTOR = """
from dense.analysis.detectors.registry import FindingCode
from dense.analysis.detectors.registry import Detector

SECRET_PRINTED = FindingCode("secret_printed", "A secret was printed.", "fatal", opens_issue=True, raised_at="root")


def secrets(evidence):
    for fact in evidence.facts:
        if "printenv" in fact.effects.runs:
            yield SECRET_PRINTED.found(fact.commands[0], fact.action)


DETECTOR = Detector(secrets, (SECRET_PRINTED,))
"""


@pytest.fixture
def new_detector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A detector in a module of its own, and its wording."""
    (tmp_path / "secrets_printed.py").write_text(NEW_DETECTOR)
    monkeypatch.setattr(dense.analysis.detectors, "__path__", [*dense.analysis.detectors.__path__, str(tmp_path)])
    monkeypatch.setitem(
        wording.WORDINGS, "secret_printed", wording.Wording(lambda finding, _: f"`{finding.subject}` leaks a secret.")
    )
    registry.detectors.cache_clear()
    registry.codes.cache_clear()
    yield
    sys.modules.pop("dense.analysis.detectors.secrets_printed", None)
    registry.detectors.cache_clear()
    registry.codes.cache_clear()


EARNED = {
    "action_announced",
    "agent_gave_up",
    "answer_rejected",
    "changes_not_submitted",
    "conflict_left",
    "deliverable_attempt_failed",
    "deliverable_missing",
    "ended_without_handover",
    "failure_admitted",
    "limit_missed",
    "port_silent",
    "program_never_run",
    "request_unsatisfied",
    "required_check_failed",
    "submission_empty",
}
"""The codes whose serious findings open an issue."""


def test_only_codes_that_have_earned_it_open_issues() -> None:
    assert {name for name, code in registry.codes().items() if code.opens_issue} == EARNED


def test_the_policy_of_every_code() -> None:
    table = {name: (code.severity, code.raised_at, code.covers_failures) for name, code in registry.codes().items()}
    assert table == POLICY


def test_every_code_has_a_wording_and_a_meaning() -> None:
    assert wording.WORDINGS.keys() == registry.codes().keys()
    assert all(code.meaning for code in registry.codes().values())


@pytest.mark.usefixtures("new_detector")
def test_a_new_detector_needs_a_module_and_a_wording() -> None:
    run = attempt(None, ("ls", "a"), ("printenv", "KEY=1"), "Done.")
    report = distill_sync(run, RulesAnalyst()).feedback.report
    assert "`printenv` leaks a secret" in report
    assert state(run) == "broken"


def test_rewording_a_finding_changes_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    fails = ("pytest -q t.py", "FAILED t.py::test_a - assert 1\n1 failed, 3 passed in 0.1s", 1)
    passes = ("pytest -q t.py", "4 passed in 0.1s")
    edit = ("sed -i s/a/b/ a.py", "")
    look = ("cat a.py", "b")
    run = attempt(TASK, edit, look, fails, edit, look, passes, ("ls", "a.py"), look, edit, "Done.")

    def outcome() -> tuple[object, ...]:
        done = distill_sync(run, RulesAnalyst()).reconciled
        issues = [(one.id, one.raised_at, one.evidence, one.resolved_at, one.resolution) for one in done.issues]
        return done.root.verdict, issues, [one.text for one in done.issues]

    *before, words = outcome()
    for code in wording.WORDINGS:
        monkeypatch.setitem(
            wording.WORDINGS, code, wording.Wording(lambda finding, _: f"{finding.code} of {finding.subject}")
        )
    *after, other_words = outcome()
    assert after == before and other_words != words


def test_findings_are_ordered_by_their_last_evidence_then_by_code() -> None:
    assessment = analysed(TASK, ("ls /app", "data.csv"))
    assert [one.code for one in assessment.findings] == ["deliverable_missing", "ended_without_handover"]


def test_a_trace_that_continues_elsewhere_lacks_nothing_yet() -> None:
    assert analysed(TASK, ("ls", "a"), ("cat a", "x"), end="Handoff to continue the task.").findings == ()


def test_a_fallback_counts_only_for_actions_that_no_other_finding_covers() -> None:
    denied = ("echo 30 > /app/total.txt", "bash: /app/total.txt: Permission denied", 1)
    assert not found(analysed(TASK, denied, "Done."), "last_action_failed")
    assert found(analysed("Add it up.", denied, "Done."), "last_action_failed")


def test_identity_is_code_subject_and_evidence() -> None:
    one = Finding("check_failed", "pytest", (2,), fields={"line": "1 failed"})
    assert one.key == Finding("check_failed", "pytest", (2,), 4, "doubt").key
    keys = {one.key, Finding("check_failed", "pytest", (3,)).key, Finding("check_failed", "tox", (2,)).key}
    assert len(keys) == 3


def test_detectors_see_evidence_alone() -> None:
    evidence: TraceEvidence = analysed(TASK, ("ls", "a"), "Done.").evidence
    assert registry.detect(evidence) == registry.detect(evidence)
