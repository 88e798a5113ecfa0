"""`dense refit` as a user runs it: plan, run, status, export, import, report; and what it says when it cannot."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dense.errors import DenseError
from refit.experiment.experiment import experiment_of
from refit.harness.sandbox import preflight_now

FILES = {
    "instruction.md": "Write the word hello, and nothing else, to /app/out.txt.\n",
    "task.toml": '[task]\nname = "dense-tests/{name}"\n\n[agent]\ntimeout_sec = 60\n\n[verifier]\ntimeout_sec = 30\n',
    "environment/Dockerfile": "FROM debian:12-slim\nWORKDIR /app\n",
    "solution/solve.sh": "#!/bin/bash\necho hello >/app/out.txt\n",
    "tests/test.sh": "#!/bin/bash\n"
    'if [ "$(cat /app/out.txt 2>/dev/null)" = hello ]; then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n',
}
YAML = """
name: greetings
tasks: tasks
environment: sandbox
recipients: [{name: able, agent: oracle}, {name: idle, agent: nop}]
methods: [none, advisor]
analyst: rules
repetitions: 1
concurrency: 4
"""


def dense(*arguments: object, cwd: Path, code: int = 0) -> tuple[str, str]:
    """The command in a process of its own: what it prints, and what it complains about."""
    command = [sys.executable, "-m", "dense", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "160"}
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=240, env=environment, check=False)
    assert done.returncode == code, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


def write_experiment(base: Path) -> Path:
    for task in ("greet", "salute"):
        for name, text in FILES.items():
            path = base / "tasks" / task / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("{name}", task))
    (base / "refit.yaml").write_text(YAML)
    return base


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment that was run: an agent that solves everything, and one that does nothing."""
    try:
        preflight_now()
    except DenseError as error:
        pytest.skip(f"no sandbox on this machine: {error}")
    base = write_experiment(tmp_path_factory.mktemp("experiment"))
    out, _ = dense("refit", "run", "refit.yaml", cwd=base)
    assert "100.00" in out and "sandbox" in out
    return base


def test_a_plan_runs_nothing(tmp_path: Path) -> None:
    base = write_experiment(tmp_path)
    out, _ = dense("refit", "plan", "refit.yaml", cwd=base)
    assert "12 cells = 2 recipients × 2 tasks × 1 repetition × (1 shared attempt + 2 methods × 1 round = 3)" in out
    assert "no call, no cost" in out
    assert not (base / "out").exists()


def test_a_plan_with_a_model_estimates_on_traces(tmp_path: Path) -> None:
    base = write_experiment(tmp_path)
    (base / "refit.yaml").write_text(YAML.replace("analyst: rules", "analyst: gemini/gemini-3-flash-preview"))
    out, _ = dense("refit", "plan", "refit.yaml", cwd=base)
    assert "calls and cost are unknown before an attempt was made" in out
    examples = Path(__file__).parents[3] / "examples" / "csv-report"
    out, _ = dense("refit", "plan", "refit.yaml", "--like", examples, cwd=base)
    assert "\n  advisor, 4 times: 4 calls, about 0." in out and "\n  together: about 0." in out
    assert "max_usd" not in out
    with (base / "refit.yaml").open("a") as file:
        file.write("max_usd: 0.001\n")
    out, _ = dense("refit", "plan", "refit.yaml", "--like", examples, cwd=base)
    assert "max_usd: 0.0010 USD, of which 0.00 USD are paid: not enough, the run would stop" in out


def test_a_table_says_which_method_saw_outcomes(tmp_path: Path) -> None:
    table = tmp_path / "results.csv"
    table.write_text(
        "recipient,task,round,method,privileged,reward\n"
        "r,t,0,run0,,0\nr,t,1,none,,0\nr,t,1,mine:Peeks,true,1\nr,t,1,mine:Fair,false,1\n"
    )
    dense("refit", "import", table, "--out", "again", cwd=tmp_path)
    out, _ = dense("refit", "report", "again", cwd=tmp_path)
    assert "mine:Peeks †" in out and "mine:Fair †" not in out
    dense("refit", "export", "again", "twice.csv", cwd=tmp_path)
    rows = list(csv.DictReader((tmp_path / "twice.csv").read_text().splitlines()))
    assert [row["method"] for row in rows if row["privileged"]] == ["mine:Peeks"]


def test_paper_prices_take_the_base_rate_for_all_input(tmp_path: Path) -> None:
    """400,000 of 1,000,000 input tokens came from a cache: 1.0 USD less, unless the paper's prices are asked for."""
    (tmp_path / "results.csv").write_text(
        "recipient,task,round,method,reward,input_tokens,cache_read_tokens,output_tokens,"
        "feedback_input_tokens,feedback_cache_read_tokens,feedback_output_tokens\n"
        "r,t,0,run0,0,600000,400000,100000,,,\n"
        "r,t,1,dense,1,600000,400000,100000,20000,80000,1000\n"
    )
    dense("refit", "import", "results.csv", "--out", "again", cwd=tmp_path)
    costs: dict[str, tuple[float, float, str]] = {}
    for name, options in (("cached", ()), ("paper", ("--prices", "paper"))):
        given = ("--price", "r=5,30,2.5", "--price", "analyst=0.5,3,0.05")
        dense("refit", "report", "again", "--to", name, "--quiet", *given, *options, cwd=tmp_path)
        report = json.loads((tmp_path / name / "report.json").read_text())
        cost = report["recipients"][0]["rows"][0]["cost"]
        page = (tmp_path / name / "index.html").read_text()
        costs[name] = (cost["execution"]["value"], cost["feedback"]["value"], page)
    assert costs["cached"][:2] == pytest.approx((3.0 + 1.0 + 3.0, 0.010 + 0.004 + 0.003))
    assert costs["paper"][:2] == pytest.approx((5.0 + 3.0, 0.050 + 0.003))
    assert "uncached base rates" in costs["paper"][2] and "read from a cache" not in costs["paper"][2]
    assert "uncached base rates" not in costs["cached"][2] and "$2.5 read from a cache" in costs["cached"][2]
    _, errors = dense("refit", "report", "again", "--prices", "list", cwd=tmp_path, code=2)
    assert "cached" in errors and "paper" in errors


def test_an_import_says_what_its_export_says(finished: Path, tmp_path: Path) -> None:
    tables = [tmp_path / "first.csv", tmp_path / "second.csv"]
    dense("refit", "export", "out/refit/greetings", tables[0], cwd=finished)
    dense("refit", "import", tables[0], "--out", "again", cwd=tmp_path)
    out, _ = dense("refit", "status", "again", cwd=tmp_path)
    assert "note: sandbox: no security boundary" in out and out.count("note: ") == 2 and "paid" not in out
    dense("refit", "export", "again", tables[1], cwd=tmp_path)
    first, second = (list(csv.DictReader(table.read_text().splitlines())) for table in tables)
    gone = dict.fromkeys(("trial", "trace", "feedback_folder", "message"), "")  # the files are not there
    assert second == [row | gone for row in first]


def test_a_second_run_only_shows_the_table(finished: Path) -> None:
    before = sorted(path.stat().st_mtime_ns for path in (finished / "out").rglob("result.json"))
    dense("refit", "run", "refit.yaml", cwd=finished)
    assert sorted(path.stat().st_mtime_ns for path in (finished / "out").rglob("result.json")) == before


def test_status_by_file_and_by_folder(finished: Path) -> None:
    for place in ("refit.yaml", "out/refit/greetings"):
        out, _ = dense("refit", "status", place, cwd=finished)
        assert "12 cells, 12 scored, 0 invalid, 0 missing" in out and "running: no" in out
    out, _ = dense("refit", "plan", "refit.yaml", cwd=finished)
    assert "12 done, 0 to run" in out and out.endswith("nothing is left to run\n")


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_what_is_exported_can_be_imported_and_reported(finished: Path, tmp_path: Path, suffix: str) -> None:
    table = tmp_path / f"results.{suffix}"
    dense("refit", "export", "out/refit/greetings", table, cwd=finished)
    out, _ = dense("refit", "import", table, "--out", tmp_path / "again", "--name", "again", cwd=tmp_path)
    assert "12 results imported" in out
    rewards = {result.cell: result.attempt.reward for result in experiment_of(tmp_path / "again").results}
    assert len(rewards) == 12 and all(value == (cell.recipient == "able") for cell, value in rewards.items())
    if suffix == "csv":
        dense("refit", "export", tmp_path / "again", tmp_path / "twice.csv", cwd=tmp_path)
        rows = list(csv.DictReader((tmp_path / "twice.csv").read_text().splitlines()))
        assert [float(row["reward"]) for row in rows] == [float(row["recipient"] == "able") for row in rows]
        assert len(rows) == 12


def test_the_report_is_written_where_it_is_said(finished: Path) -> None:
    out, _ = dense("refit", "report", "refit.yaml", cwd=finished)
    folder = finished / "out" / "refit" / "greetings" / "report"
    assert f"report: {Path('out/refit/greetings/report/index.html')}" in out
    assert {"index.html", "report.json", "tables", "figures"} <= {path.name for path in folder.iterdir()}
    reported = json.loads((folder / "report.json").read_text())
    assert [recipient["baseline"]["passed"]["value"] for recipient in reported["recipients"]] == [100.0, 0.0]


MISTAKES = [
    (("run", "absent.yaml"), "absent.yaml: cannot be read"),
    (("status", "absent"), "absent: neither an experiment's folder nor its YAML file"),
    (("status", "tasks"), "tasks: no experiment here"),
    (("report", "refit.yaml"), "no experiment here"),
    (("export", "refit.yaml", "x.csv"), "no experiment here"),
    (("import", "absent.csv", "--out", "in"), "absent.csv: no such file or folder"),
    (("report", "refit.yaml", "--price", "able"), "--price able: give NAME=INPUT,OUTPUT"),
]
ONE_BY_ONE = """
import contextlib, io, json, sys
from dense.cli.app import main

for arguments in json.loads(sys.argv[1]):
    sys.argv[1:] = ["refit", *arguments]
    code, errors = 0, io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        try:
            main()
        except SystemExit as end:
            code = end.code
    print(json.dumps([code, errors.getvalue()]))
"""


@pytest.fixture(scope="module")
def mistakes(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], tuple[int, str]]:
    """What each comes to, all in one process: most of the time would go into starting one for each."""
    base = write_experiment(tmp_path_factory.mktemp("mistakes"))
    made = [arguments for arguments, _ in MISTAKES]
    command = [sys.executable, "-c", ONE_BY_ONE, json.dumps(made)]
    done = subprocess.run(command, cwd=base, capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return dict(zip(made, (tuple(json.loads(line)) for line in done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize(("arguments", "reported"), MISTAKES)
def test_mistakes_are_reported_in_a_line(
    mistakes: dict[tuple[str, ...], tuple[int, str]], arguments: tuple[str, ...], reported: str
) -> None:
    code, errors = mistakes[arguments]
    assert code == 1 and errors.startswith("error: ") and reported in errors, errors


def test_a_mistake_ends_the_process_without_a_traceback(tmp_path: Path) -> None:
    _, errors = dense("refit", "status", "absent", cwd=tmp_path, code=1)
    assert errors.startswith("error: ")


def test_an_unknown_agent_is_reported_before_anything_runs(tmp_path: Path) -> None:
    base = write_experiment(tmp_path)
    (base / "refit.yaml").write_text(YAML.replace("agent: nop", "agent: nobody"))
    _, errors = dense("refit", "run", "refit.yaml", cwd=base, code=1)
    assert "idle" in errors and "nobody" in errors
    assert not list((base / "out").rglob("try-*"))
