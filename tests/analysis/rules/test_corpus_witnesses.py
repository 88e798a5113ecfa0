"""Real traces, each with what the built-in analyst must see in it. The corpus is not part of the repository."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from made_attempt import assess, found

import dense
from dense.analysis.detectors.assessment import TraceAssessment


@cache
def _paths(corpus: Path) -> list[str]:
    lines = (corpus / "MANIFEST.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["path"] for line in lines]


def analysed(corpus: Path, name: str) -> TraceAssessment:
    (path,) = [path for path in _paths(corpus) if name in path]
    (trajectory,) = dense.read(str(corpus / path))
    return assess(trajectory)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("extract-moves-from-video__s5eFj32", "/app/solution.txt"),
        ("modernize-scientific-stack__gDr77c7", "/app/analyze_climate_modern.py"),
        ("nginx-request-logging__KgTBE9j", "/var/log/nginx/benchmark-access.log"),
    ],
)
def test_what_is_only_named_is_not_made(corpus: Path, name: str, path: str) -> None:
    """By a to-do list, or inside another file."""
    assessment = analysed(corpus, name)
    (file,) = [one for one in assessment.evidence.tracked_files if one.path == path]
    assert not file.made
    assert path in [one.subject for one in found(assessment, "deliverable_missing")]


@pytest.mark.parametrize(
    ("name", "code", "severity"),
    [
        ("headless-terminal__bemYu3W", "program_never_run", "serious"),
        ("nano-output/django__django-12304", "unverified_change", "doubt"),
        ("password-recovery__dHqrYVJ", "clue_unused", "doubt"),
        ("db-wal-recovery__KrUq6sC", "input_lost", "doubt"),
        ("04-divergence-heston-haiku-fail", "closing_doubt", "doubt"),
        ("django__django-11141.traj", "expectation_rewritten", "serious"),
        ("sphinx-doc__sphinx-9602.traj", "changes_not_submitted", "serious"),
        ("pytest-dev__pytest-6197.traj", "unrequested_files", "doubt"),
    ],
)
def test_what_is_wrong_is_found(corpus: Path, name: str, code: str, severity: str) -> None:
    assert severity in [one.severity for one in found(analysed(corpus, name), code) if one.is_open]


def test_a_suite_that_the_environment_breaks_is_a_doubt(corpus: Path) -> None:
    failed = found(analysed(corpus, "django__django-10914.traj"), "check_failed")
    assert failed and not any(one.is_serious for one in failed)


@pytest.mark.parametrize("name", ["prove-plus-comm__YDACMLN", "sqlite-db-truncate__kfqQYr3", "07-codex-bl-regime-hmm"])
def test_what_is_shown_to_be_done_is_complete(corpus: Path, name: str) -> None:
    assessment = analysed(corpus, name)
    assert assessment.demands and assessment.is_complete


@pytest.mark.parametrize("name", ["sphinx-doc__sphinx-10449.traj", "django__django-12143.traj"])
def test_tests_with_more_or_less_in_them_are_no_alarm(corpus: Path, name: str) -> None:
    assert not found(analysed(corpus, name), "expectation_rewritten")
