"""Whole experiments on Harbor in the sandbox: nothing passes from one cell to another but the message."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dense.cli.app import app
from dense.errors import DenseError
from refit.experiment.experiment import experiment_of
from refit.harness.sandbox import preflight_now
from refit.results import RUN0

HERE = Path(__file__).parent
CANARIES = ("SOLUTION-CANARY", "TESTS-CANARY", "VERIFIER-CANARY")
FILES = {
    "instruction.md": "Look around.\n",
    "task.toml": '[task]\nname = "dense-tests/look"\n\n[agent]\ntimeout_sec = 60.0\n\n[verifier]\ntimeout_sec = 30.0\n',
    "environment/Dockerfile": "FROM debian:12-slim\nWORKDIR /app\nCOPY seed.txt /app/\n",
    "environment/seed.txt": "seed\n",
    "solution/solve.sh": "#!/bin/bash\n# SOLUTION-CANARY\ntrue\n",
    "tests/test.sh": "#!/bin/bash\n# TESTS-CANARY\necho VERIFIER-CANARY\necho 0.5 > /logs/verifier/reward.txt\n",
}
YAML = """
name: spies
tasks: tasks
environment: sandbox
recipients: [{name: spy, agent: "spy_agent:Spy"}]
methods: [none, self-reflection, dense, verifier-feedback]
analyst: rules
repetitions: 2
rounds: 2
budget: paper
concurrency: 3
"""


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory, worker_secret: str) -> Path:
    try:
        preflight_now()
    except DenseError as error:
        pytest.skip(f"no sandbox on this machine: {error}")
    base = tmp_path_factory.mktemp("spies")
    for name, text in FILES.items():
        path = base / "tasks" / "look" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    shutil.copy(HERE / "spy_agent.py", base)
    (base / "refit.yaml").write_text(YAML)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DENSE_TEST_SECRET", worker_secret)  # what the machine's own environment holds must not be seen
        done = CliRunner().invoke(app, ["refit", "run", str(base / "refit.yaml"), "--out", str(base / "out")])
    assert done.exit_code == 0, done.output
    return base / "out"


@pytest.fixture(scope="module")
def worker_secret() -> str:
    return "secret-of-the-host-7319"


def seen(trace: Path) -> str:
    return json.loads(trace.read_text())["steps"][1]["observation"]["results"][0]["content"]


def test_no_file_process_port_or_variable_passes_from_one_cell_to_another(experiment: Path, worker_secret: str) -> None:
    results = experiment_of(experiment).results
    assert len(results) == 2 * (1 + 4 * 2)
    for result in results:
        assert result.attempt.reward == 0.5, result
        text = seen(experiment / result.attempt.trace)
        looked, _, left = text.partition("== leaving")
        assert "left spy-mark-" in left, text
        assert "spy-mark" not in looked.replace("== marks", ""), looked
        assert worker_secret not in text and "DENSE_TEST" not in text
        devices = text.partition("== network\n")[2].partition("==")[0].splitlines()
        assert [line.split(":")[0].strip() for line in devices] == ["lo"], devices


def test_verifiers_and_solutions_are_not_visible_to_the_agent(experiment: Path) -> None:
    for result in experiment_of(experiment).results:
        part = (
            seen(experiment / result.attempt.trace).partition("== verifier and solution")[2].partition("== leaving")[0]
        )
        for name in ("test.sh", "solve.sh", "reward.txt", "refit.yaml", "store.sqlite", "CANARY"):
            assert name not in part, part


def test_what_an_agent_is_given_is_the_task_and_its_own_method_s_message(experiment: Path) -> None:
    """Each agent's mark stands only in messages that were made of its attempt."""
    results = experiment_of(experiment).results
    marks = {
        result.cell: json.loads((experiment / result.attempt.trace).read_text())["session_id"] for result in results
    }
    for result in results:
        reported = json.loads((experiment / result.attempt.trace).read_text())["steps"][0]["message"]
        own = {cell for cell, mark in marks.items() if f"spy-mark-{mark}" in reported}
        allowed = {
            cell
            for cell in marks
            if cell.pair == result.cell.pair
            and cell.round < result.cell.round
            and cell.method in (RUN0, result.cell.method)
        }
        assert own <= allowed
        if result.cell.method in (RUN0, "none"):
            assert reported.strip() == FILES["instruction.md"].strip()
        else:
            assert own == allowed and result.attempt.received == "same" and result.attempt.delivered == "instruction"


def test_the_canary_is_seen_through_the_privileged_method_alone(experiment: Path) -> None:
    results = experiment_of(experiment).results
    for result in results:
        reported = json.loads((experiment / result.attempt.trace).read_text())["steps"][0]["message"]
        found = [canary for canary in CANARIES if canary in reported]
        assert found == (["VERIFIER-CANARY"] if result.cell.method == "verifier-feedback" else [])
    for file in (experiment / "cells").glob("*/feedback/*"):
        if "--verifier-feedback" not in file.parts[-3]:
            assert not any(canary.encode() in file.read_bytes() for canary in CANARIES), file
