"""Record the examples anew: real agent programs work on the tasks, their model answers from `turns.json`.

    python examples/make/record.py [EXAMPLE …]

Needs what `tests/fixtures/make` needs: root, `unshare`, npm, and the Debian package `tmux`. Programs are installed into
DENSE_FIXTURE_CACHE. After each run the script checks that the task ended as `examples/README.md` says it did.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[1]
FIXTURE_MAKERS = EXAMPLES.parent / "tests" / "fixtures" / "make"
sys.path.insert(0, str(FIXTURE_MAKERS))

import claude_code  # noqa: E402
import codex  # noqa: E402
import mini_swe_agent  # noqa: E402
import wire_openai_chat  # noqa: E402
from harbor_terminus2 import Scenario, Task, keys, record, step  # noqa: E402
from install import npm_packages, python_packages  # noqa: E402
from neutral import assert_neutral, hide_kernel, run_neutral  # noqa: E402
from scripted_model import MODEL, Call, Script, Turn, serve  # noqa: E402

SESSION = "5e551011-0000-4000-8000-000000000001"

# The checks after a run. They are no part of a trace: what an agent may see is the task and its own work.
CSV_TEST = """cd /app
python3 -c 'import json; t = json.load(open("summary.json"))["total"]; print("total", t); assert t == 30'; total=$?
file chart.png | grep 'PNG image'; chart=$?
[ $total = 0 ] && [ $chart = 0 ] && r=1 || r=0
echo $r >/logs/verifier/reward.txt
"""


def task(name: str) -> str:
    return (EXAMPLES / name / "task.md").read_text()


def turns(name: str) -> list[Turn]:
    """The model's answers, from the words of the example's `turns.json`."""
    answers: list[dict[str, Any]] = json.loads((EXAMPLES / name / "turns.json").read_text())
    made: list[Turn] = []
    for number, answer in enumerate(answers):
        calls = [Call(c["name"], c["arguments"]) for c in answer.get("calls", [])]
        calls += [Call("bash", {"command": command}) for command in answer.get("run", [])]
        tokens = {"input_tokens": 1500 + 350 * number, "cached_tokens": 1200 + 350 * (number - 1) if number else 0}
        if name == "looks-successful":
            # Codex compacts its context by this number, and this task is to be done in one go.
            tokens = {"input_tokens": 1500 + 150 * number, "cached_tokens": 1000}
        made.append(Turn(answer.get("say", ""), calls, answer.get("think", ""), **tokens, output_tokens=120))
    return made


@contextmanager
def rooms(name: str) -> Iterator[tuple[Path, Path]]:
    """A working folder with the example's seed files, and a home; gone afterwards."""
    with tempfile.TemporaryDirectory() as scratch:
        app, home = Path(scratch) / "app", Path(scratch) / "home"
        shutil.copytree(EXAMPLES / name / "seed", app)
        home.mkdir()
        yield app, home


def holds(claim: bool, what: str) -> None:
    if not claim:
        raise SystemExit(f"the run did not end as the example says: {what}")


def csv_report(name: str) -> Path:
    """Harbor's terminus-2; kept is the trial's folder."""
    answers: list[dict[str, Any]] = json.loads((EXAMPLES / name / "turns.json").read_text())
    script = [
        step(
            answer["analysis"],
            answer["plan"],
            keys(*answer.get("run", []), seconds=answer.get("seconds", 0.5)),
            done=answer.get("done", False),
            input_tokens=1500 + 400 * number,
            cached_tokens=1100 + 400 * (number - 1) if number else 0,
            output_tokens=120,
        )
        for number, answer in enumerate(answers)
    ]
    seeds = {p.name: p.read_bytes() for p in (EXAMPLES / name / "seed").iterdir()}
    with tempfile.TemporaryDirectory() as jobs:
        job = record(name, Scenario("0.24.0", Task(name, task(name), seeds, CSV_TEST), script), Path(jobs))
        (result,) = job.glob("*/result.json")
        rewards = json.loads(result.read_text())["verifier_result"]["rewards"]
        holds(rewards == {"reward": 0.0}, f"{rewards}")
        holds("total 30" in (result.parent / "verifier" / "test-stdout.txt").read_text(), "the total is 30")
        to = EXAMPLES / name / "trial"
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(result.parent, to)
    return to


def password_recovery(name: str) -> Path:
    """mini-swe-agent 2; it runs into its limit of steps."""
    version = mini_swe_agent.V2
    tools = python_packages(f"mini-swe-agent-{version}", f"mini-swe-agent=={version}", mini_swe_agent.LITELLM)
    script = Script(turns(name))
    with (
        rooms(name) as (app, home),
        tempfile.TemporaryDirectory() as nothing,
        serve(script, wire_openai_chat) as address,
    ):
        env = {
            "OPENAI_API_BASE": address,
            "OPENAI_API_KEY": MODEL,
            "PYTHONDONTWRITEBYTECODE": "1",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "MSWEA_SILENT_STARTUP": "1",
        }
        mounts = {
            "/opt/make": FIXTURE_MAKERS,
            "/opt/drive.py": Path(__file__).with_name("drive_mini_swe_agent.py"),
            "/usr/local": Path(nothing),
        }
        mounts["/opt/task.md"] = EXAMPLES / name / "task.md"
        argv = ["/opt/agent/bin/python", "/opt/drive.py", str(len(script.turns))]
        done = run_neutral(argv, app, home, env, tools=tools, mounts=mounts)
        holds(
            script.played == len(script.turns), f"{script.played} turns\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        )
        holds(not (app / "recovered_passwords.txt").exists(), "no password is written")
        to = EXAMPLES / name / "recovery.traj.json"
        shutil.copyfile(home / "recovery.traj.json", to)
    return to


def clean_success(name: str) -> Path:
    """Claude Code; kept is the session's file."""
    with rooms(name) as (app, home):
        options = ["--session-id", SESSION, "--tools", "Bash,Edit,Read"]
        claude_code.record(npm_packages("claude-code", claude_code.PIN), app, home, turns(name), task(name), *options)
        tested = subprocess.run(["/usr/bin/python3", "-m", "unittest"], cwd=app, capture_output=True, check=False)
        holds(tested.returncode == 0, tested.stderr.decode())
        same = [(EXAMPLES / name / "seed" / f).read_bytes() == (app / f).read_bytes() for f in ("test_durations.py",)]
        holds(all(same), "the tests are unchanged")
        projects = home / ".claude" / "projects"
        hide_kernel(projects)
        to = EXAMPLES / name / "session.jsonl"
        shutil.copyfile(projects / "-app" / f"{SESSION}.jsonl", to)
    return to


def looks_successful(name: str) -> Path:
    """Codex; kept is the session's rollout."""
    with rooms(name) as (app, home):
        codex.record(npm_packages("codex", codex.PIN), app, home, turns(name), task(name))
        tested = subprocess.run(["/usr/bin/python3", "-m", "unittest"], cwd=app, capture_output=True, check=False)
        holds(tested.returncode == 0, tested.stderr.decode())
        timed = subprocess.run(
            ["/usr/bin/python3", "check_speed.py"], cwd=app, capture_output=True, text=True, check=False
        )
        holds(timed.returncode == 1 and "TOO SLOW" in timed.stdout, timed.stdout)
        sessions = home / ".codex" / "sessions"
        hide_kernel(sessions)
        (rollout,) = sessions.rglob("rollout-*.jsonl")
        to = EXAMPLES / name / "rollout.jsonl"
        shutil.copyfile(rollout, to)
    return to


RECORDERS: dict[str, Callable[[str], Path]] = {
    "csv-report": csv_report,
    "password-recovery": password_recovery,
    "clean-success": clean_success,
    "looks-successful": looks_successful,
}


def main(names: list[str]) -> None:
    for name in names or RECORDERS:
        trace = RECORDERS[name](name)
        assert_neutral([trace])
        files = [p for p in trace.rglob("*") if p.is_file()] if trace.is_dir() else [trace]
        print(f"{trace.relative_to(EXAMPLES)}: {sum(p.stat().st_size for p in files):,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
