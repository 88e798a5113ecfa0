"""The recorded answers: they fit the schema, and where the corpus is, they are accepted as they were written."""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import dense
from dense.analysis.asking.scripted import ScriptedAnswerer, load
from dense.analysis.one_call.schema import SCHEMAS
from dense.service import distill

RECORDED = Path(__file__).parents[2] / "examples" / "recorded"
TRACES = dict(re.findall(r"^\| `([\w-]+)` \| `([^`]+)`", (RECORDED / "README.md").read_text(), re.MULTILINE))


def test_the_table_names_every_answer() -> None:
    assert sorted(TRACES) == sorted(path.name.removesuffix(".answers.json") for path in RECORDED.glob("*.answers.json"))


@pytest.mark.parametrize("name", sorted(TRACES))
def test_answers_fit_the_schema(name: str) -> None:
    ((key, answer),) = load(RECORDED / f"{name}.answers.json").items()
    assert key.startswith("whole a1 to ")
    Draft202012Validator(SCHEMAS["whole"]).validate(json.loads(json.dumps(answer)))


@pytest.mark.parametrize("name", sorted(TRACES))
def test_answers_are_accepted_whole(name: str, corpus: Path) -> None:
    (trajectory,) = dense.read(corpus / TRACES[name])
    done = asyncio.run(distill(trajectory, ScriptedAnswerer(RECORDED / f"{name}.answers.json")))
    assert done.reconciled.problems == ()
    assert [(asked.attempts, asked.problems) for asked in done.record.asked] == [(1, ())]
    assert all(issue.quote for issue in done.reconciled.issues)
    report = (RECORDED / f"{name}.report.txt").read_text()
    assert all(step.text.rstrip(".") in report for step in done.reconciled.next_steps)


@pytest.mark.parametrize("name", sorted(TRACES))
def test_golden_report_up_to_its_key_actions(name: str, corpus: Path) -> None:
    (trajectory,) = dense.read(corpus / TRACES[name])
    done = asyncio.run(distill(trajectory, ScriptedAnswerer(RECORDED / f"{name}.answers.json")))
    lines = re.split(r"(?m)^\w{5}\| ", done.feedback.report)[0]
    path = RECORDED / f"{name}.report.txt"
    if os.environ.get("DENSE_WRITE_GOLDENS"):
        path.write_text(lines, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == lines, "run `make golden`"
