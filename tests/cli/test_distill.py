"""`dense distill` as a user runs it: a real process against a real server on loopback that answers what it is asked."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

import dense
from dense.message.report import tree_report
from dense.methods import FeedbackDraft
from dense.service import select_turn
from dense.service.drafting import clean, deliver_draft
from dense.service.files import read_reconciled, read_tree
from dense.service.record import RunRecord

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "clean-success"
SCRIPTED = ("--answers", ROOT / "examples" / "csv-report" / "answers.json")
FILES = ["feedback.txt", "message.txt", "reconciled.json", "run.json", "tree.json"]


def run(*arguments: object, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dense", "distill", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "TERM": "dumb", **env},
        check=False,
    )


def filled(schema: dict[str, Any]) -> Any:
    """The simplest value that a schema allows: an answer of the right form, without judgement."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {key: filled(value) for key, value in schema.get("properties", {}).items()}
    if kind == "array":
        return [filled(schema["items"]) for _ in range(schema.get("minItems", 0))]
    return {"integer": schema.get("minimum", 0), "boolean": False}.get(str(kind), "words")


class Server:
    """Counts what it is asked; answers after a while; may refuse the key."""

    def __init__(self, delay: float = 0.0, status: int = 200, says: str | None = None) -> None:
        self.delay, self.status, self.says = delay, status, says
        self.bodies: list[bytes] = []
        self.answered: list[bytes] = []
        self.url = ""


@contextmanager
def serving(server: Server) -> Generator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            return

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            server.bodies.append(body)
            time.sleep(server.delay)
            schema = json.loads(body).get("response_format", {}).get("json_schema", {}).get("schema") or {}
            message = {"role": "assistant", "content": server.says or json.dumps(filled(schema))}
            usage = {"prompt_tokens": 100, "completion_tokens": 10}
            reply: dict[str, Any] = {
                "model": "m",
                "choices": [{"message": message, "finish_reason": "stop"}],
                "usage": usage,
            }
            if server.status != 200:
                reply = {"error": {"message": "invalid key"}}
            data = json.dumps(reply).encode()
            try:
                self.send_response(server.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                server.answered.append(body)
            except OSError:
                pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    server.url = f"http://127.0.0.1:{http.server_address[1]}/v1#m"
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()


def only(out: Path) -> Path:
    (folder,) = (path for path in out.iterdir() if path.is_dir())
    return folder


def test_five_files_and_what_they_say(tmp_path: Path) -> None:
    done = run("examples/csv-report", *SCRIPTED, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    folder = only(tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == FILES
    assert done.stdout.startswith(f"{folder}: incomplete\n")
    record = msgspec.json.decode((folder / "run.json").read_bytes(), type=RunRecord)
    assert (record.fallbacks, record.profile, record.format) == (0, "fast", "atif")
    assert set(record.prompts) >= {"whole", "window", "closing", "boundary"}
    assert record.versions["dense"]
    cleaned, _ = clean(next(dense.read(ROOT / "examples" / "csv-report")))
    cleaned = select_turn(cleaned, "all")
    tree = tree_report(read_reconciled(folder / "reconciled.json", cleaned))
    feedback = deliver_draft(FeedbackDraft(tree, is_tree=True), cleaned, record.budgets, "dense").feedback
    assert feedback.report == (folder / "feedback.txt").read_text()
    assert feedback.message == (folder / "message.txt").read_text()
    assert read_tree(folder / "tree.json").root.id == "n14"


@pytest.mark.parametrize("profile", ["fast", "paper"])
def test_a_model_over_http(tmp_path: Path, profile: str) -> None:
    with serving(Server()) as server:
        done = run(EXAMPLE, "--model", server.url, "--profile", profile, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    record = msgspec.json.decode((only(tmp_path) / "run.json").read_bytes(), type=RunRecord)
    assert record.totals.calls == len(record.calls) >= len(record.asked)
    assert record.totals.usage.input == 100 * len(server.bodies)
    assert record.totals.usd is None
    assert "price unknown" in done.stdout


def test_recording_makes_a_script_that_gives_the_same(tmp_path: Path) -> None:
    with serving(Server()) as server:
        run("examples", "--model", server.url, "--out", tmp_path / "live", "--record")
    again = run("examples", "--answers", tmp_path / "live", "--out", tmp_path / "again")
    assert again.returncode == 0, again.stderr
    folders = [path.name for path in (tmp_path / "again").iterdir() if path.is_dir()]
    assert len(folders) == 4
    for folder in folders:
        for name in ("feedback.txt", "tree.json", "reconciled.json"):
            live, played = tmp_path / "live" / folder / name, tmp_path / "again" / folder / name
            assert live.read_bytes() == played.read_bytes()


def test_killed_and_run_again_repeats_no_answered_call(tmp_path: Path) -> None:
    with serving(Server(delay=0.15)) as server:
        command = [sys.executable, "-m", "dense", "distill", str(EXAMPLE), "--model", server.url, "--profile", "paper"]
        command += ["--yes", "--out", str(tmp_path / "out"), "--concurrency", "2"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
        while len(server.answered) < 6:
            time.sleep(0.02)
        time.sleep(0.08)
        process.send_signal(signal.SIGKILL)
        process.wait()
        kept = server.answered[:-2]  # the last ones may have been on their way
        server.bodies.clear()
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert not set(kept) & set(server.bodies)
    assert "from the cache" in done.stdout


def test_a_wrong_key_stops_the_run_at_once(tmp_path: Path) -> None:
    secret = "key-of-mine-123456"
    with serving(Server(status=401)) as server:
        base = server.url.partition("#")[0]
        done = run(
            "examples", "--model", "openai/m", "--base-url", base, "--yes", "--out", tmp_path, OPENAI_API_KEY=secret
        )
    assert done.returncode == 1
    assert "OPENAI_API_KEY" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(server.bodies) <= 16
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert secret.encode() not in written + (done.stdout + done.stderr).encode()


def test_estimates_ask_nobody(tmp_path: Path) -> None:
    done = run("examples", "--model", "gemini/gemini-3-flash-preview", "--estimate", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 5
    assert lines[-1].startswith("estimate for 4 trajectories: ")
    assert lines[-1].endswith(" USD")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("options", "who"), [((), "the built-in rules answer"), (SCRIPTED, f"{SCRIPTED[1]} answers")])
def test_an_estimate_without_a_model_distills_nothing(tmp_path: Path, options: tuple[object, ...], who: str) -> None:
    done = run("examples/csv-report", *options, "--estimate", "--out", tmp_path / "out")
    assert (done.returncode, done.stdout) == (0, f"estimate for 1 trajectory: 0 calls, 0 USD: {who}\n"), done.stderr
    assert not (tmp_path / "out").exists()


def test_an_estimate_keeps_to_what_answers_may_take(tmp_path: Path) -> None:
    """A small model answers in 1,500 tokens at the most, whatever is asked."""
    for method, calls in (("all-at-once", 1), ("dense", None)):
        options = ("--model", "openai/gpt-5.5", "--method", method, "--small", "--estimate", "--out", tmp_path)
        done = run("examples/password-recovery", *options)
        found = re.search(r"estimate for 1 trajectory: (\d+) calls, about .* in, ([\d,]+) out", done.stdout)
        assert found, done.stdout + done.stderr
        assert calls in (None, int(found[1])) and int(found[2].replace(",", "")) <= 1_500 * int(found[1])


def test_only_one_may_answer(tmp_path: Path) -> None:
    done = run("examples", "--model", "openai/m", *SCRIPTED, "--out", tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "error: model and answers exclude each other: choose one\n",
    )


def test_answers_go_before_a_model_of_the_settings(tmp_path: Path) -> None:
    (tmp_path / "dense").mkdir()
    (tmp_path / "dense" / "dense.toml").write_text('model = "openai/m"\n')
    done = run("examples/csv-report", *SCRIPTED, "--estimate", "--out", tmp_path / "out", XDG_CONFIG_HOME=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "") and f"{SCRIPTED[1]} answers" in done.stdout


def test_without_a_model_the_rules_answer(tmp_path: Path) -> None:
    done = run("examples", "--out", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    records = [msgspec.json.decode(path.read_bytes(), type=RunRecord) for path in tmp_path.glob("*/run.json")]
    assert [(record.analyst, record.fallbacks, record.totals.calls) for record in records] == [("rules", 0, 0)] * 4


def test_no_key_is_reported_before_anything_is_asked(tmp_path: Path) -> None:
    done = run(EXAMPLE, "--model", "deepseek/deepseek-chat", "--yes", "--out", tmp_path, DEEPSEEK_API_KEY="")
    assert done.returncode == 1
    assert "DEEPSEEK_API_KEY" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_spending_limit_stops_cleanly_and_a_higher_one_goes_on(tmp_path: Path) -> None:
    with serving(Server()) as server:
        base = server.url.partition("#")[0]
        options = ("--model", "gemini/gemini-3-flash-preview", "--base-url", base, "--yes", "--out", tmp_path)
        stopped = run("examples", *options, "--max-usd", "0.03", GEMINI_API_KEY="k")
        first = len(server.bodies)
        done = run("examples", *options, "--max-usd", "3", GEMINI_API_KEY="k")
    assert stopped.returncode == 1
    assert "raise the limit and run again" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert done.returncode == 0, done.stderr
    assert f"({first} from the cache" in done.stdout


def test_what_failed_for_its_answers_leaves_a_record_and_is_asked_anew(tmp_path: Path) -> None:
    with serving(Server(says="Well.")) as server:
        options = (EXAMPLE, "--method", "advisor", "--model", server.url, "--out", tmp_path)
        failed = run(*options)
        assert failed.returncode == 1
        assert "no usable advice came back" in failed.stderr
        assert [path.name for path in only(tmp_path).iterdir()] == ["failed.json"]
        record = msgspec.json.decode((only(tmp_path) / "failed.json").read_bytes(), type=RunRecord)
        assert (record.fallbacks, len(record.calls), record.method) == (1, 2, "advisor")
        assert record.failure in failed.stderr
        server.says = None
        done = run(*options)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in only(tmp_path).iterdir()) == ["feedback.txt", "message.txt", "run.json"]


def test_a_trace_without_a_task_is_distilled_with_a_warning(tmp_path: Path) -> None:
    trace = ROOT / "tests" / "fixtures" / "claude-code" / "stream-json" / "looks.jsonl"
    done = run(trace, *SCRIPTED, "--out", tmp_path)
    assert done.returncode == 0
    assert "no task in the trace; give it with --task" in done.stderr
    assert "fell back" in done.stdout
    assert (only(tmp_path) / "message.txt").read_text()


def test_without_a_folder_the_message_is_printed_and_a_trace_can_come_from_the_input() -> None:
    trace = ROOT / "examples" / "clean-success" / "session.jsonl"

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dense", "distill", *arguments]
        return subprocess.run(command, input=trace.read_text(), capture_output=True, text=True, check=False)

    message, report = run(str(trace)).stdout, run("-", "--report").stdout
    assert message.startswith("[dense-feedback-")
    assert "Nothing it made exists here" in message
    assert report.startswith("state: complete")
    assert "are as it left them" in run("-", "--environment", "same").stdout
    several = run(str(ROOT / "examples"))
    assert (several.returncode, several.stdout) == (1, "")
    assert "--out" in several.stderr
    assert "message of" not in several.stderr  # refused before anything is analysed
