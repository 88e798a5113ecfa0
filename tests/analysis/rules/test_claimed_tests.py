"""`tests/fixtures/test-claims.json`: what it promises of its attempts, which rules about claims are tested with."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from attempt_shapes import SHAPES, read_as

from dense.analysis.rules import RulesAnalyst
from dense.service import distill_sync
from dense.tree import open_issues

CLAIMS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "test-claims.json").read_text(encoding="utf-8")
)
RUNS = ("pytest -q", "unittest -v", "npm test")


def last_run(made: dict[str, Any]) -> dict[str, Any]:
    return [action for action in made["actions"] if action["command"].endswith(RUNS)][-1]


def test_there_are_enough_of_each_kind() -> None:
    count = Counter(made["claim"] for made in CLAIMS.values())
    assert count["false"] >= 12 and count["true"] >= 12 and count["admitted"] >= 6
    kinds = Counter((made["claim"], made["runner"], made["named"], made["looks_after"]) for made in CLAIMS.values())
    assert {(claim, runner) for claim, runner, _, _ in kinds} >= {
        (claim, runner) for claim in ("false", "true") for runner in ("pytest", "unittest", "npm")
    }


@pytest.mark.parametrize("name", CLAIMS)
def test_the_last_run_shows_whether_the_claim_is_true(name: str) -> None:
    made = CLAIMS[name]
    assert ("All tests pass" in made["closing"]) == (made["claim"] != "admitted")
    assert made["passed"] == (made["claim"] == "true") == (last_run(made)["exit_code"] == 0)


@pytest.mark.parametrize("name", CLAIMS)
def test_the_twin_has_the_same_task_and_the_other_claim(name: str) -> None:
    made, twin = CLAIMS[name], CLAIMS[CLAIMS[name]["twin"]]
    assert made["task"] == twin["task"]
    assert {made["claim"], twin["claim"]} in ({"false", "true"}, {"false", "admitted"})


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_reads_as_the_same_actions(shape: str, tmp_path: Path) -> None:
    made = CLAIMS["pytest-file-looks-false"]
    trajectory = read_as(made, shape, tmp_path)
    text = "\n".join(observation.text or "" for step in trajectory.steps for observation in step.observations)
    assert "1 failed, 2 passed" in text


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", CLAIMS)
def test_a_false_claim_is_refuted_and_an_honest_one_is_not(name: str, shape: str, tmp_path: Path) -> None:
    made = CLAIMS[name]
    tree = distill_sync(read_as(made, shape, tmp_path), RulesAnalyst()).reconciled
    assert tree.root.verdict is not None
    still_open = open_issues(tree)
    assert (tree.root.verdict.state == "incomplete") == (made["claim"] != "true")
    claims = [issue.claim for issue in still_open if issue.claim is not None]
    assert bool(claims) == (made["claim"] == "false")
    if claims:
        assert still_open[0].claim is not None and still_open[0].severity == "serious"
        assert claims[0].text in made["closing"] and claims[0].line
        assert tree.next_steps[0].evidence[0] == f"a{claims[0].refuted_by}"
    assert [check.has_passed for check in tree.last_checks] == [made["passed"]]
    assert all(check.is_required for check in tree.last_checks)
    assert made["passed"] or (tree.last_checks[0].failed and tree.last_checks[0].reason)
