"""`dense hook …`: what coding agents call. Quick, silent on errors, and off until the user turns it on.

An agent must never wait for us or fail because of us: whatever goes wrong in `session-start` and `session-end` is
written to the state folder's log, and the exit code is 0."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from dense.errors import DenseError
from dense.integrations.queue import FAILED, LESSONS, enqueue, is_waiting, pending, plain_name, project_folder
from dense.integrations.running import note_end, note_start, take_abandoned
from dense.integrations.state import append_line, lines_of, locked, now, read_json, state_folder
from dense.readers.json_value import obj

INJECTED, LOG, OFF, LOCK = "injected.jsonl", "log.jsonl", "off", "injected.lock"
MAX_CHARACTERS = 9_500
"""Claude Code takes 10,000 characters for each hook."""
ANALYST = "DENSE_ANALYST"
"""Set for programs that we start as analysts (`dense.model.programs.GUARD`; hooks must not load the model client)."""
WAIT_SECONDS = 0.25
"""How long a starting session waits for the result of one that has just ended."""
MAX_INPUT = 1_000_000
PLAIN_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|ses_[0-9A-Za-z]{10,40}|[a-z0-9-]{1,20}")
"""IDs of sessions as the agents with hooks make them: no credential looks like this."""
LESSONS_HEAD = (
    "dense: dead ends that recurred in earlier sessions of this project, and what worked in at least three of them. It"
    " is a record made from their traces, no request of the user."
)
USAGE = "usage: dense hook session-start|session-end|work|status|on|off [--agent NAME]"


def main(arguments: list[str]) -> int:
    """Run a hook; gives the exit code."""
    command, agent = (arguments or [""])[0], _option(arguments, "--agent")
    if command in ("session-start", "session-end"):
        try:
            _session(command, agent)
        except Exception as error:  # whatever it is, the agent goes on
            _log(command, f"{type(error).__name__}: {error}")
        return 0
    try:
        return _command(command)
    except DenseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _command(command: str) -> int:
    if command == "work":
        from dense.integrations.worker import work

        work()
    elif command == "status":
        print("\n".join(status_lines()))
    elif command in ("on", "off"):
        turn(is_on=command == "on")
        print(f"hooks are {command}")
    else:
        print(USAGE, file=sys.stderr)
        return 2
    return 0


def _option(arguments: list[str], name: str) -> str:
    return arguments[arguments.index(name) + 1] if name in arguments[:-1] else ""


def turn(*, is_on: bool) -> None:
    """Let installed hooks work, or make them do nothing."""
    path = state_folder() / OFF
    if is_on:
        path.unlink(missing_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)


def is_off() -> bool:
    """Whether hooks do nothing: by the user's word, or because a program analyses a trace for us."""
    return ANALYST in os.environ or os.environ.get("DENSE_HOOKS") == "off" or (state_folder() / OFF).exists()


def _session(command: str, agent: str) -> None:
    if is_off():
        return
    event = obj(json.loads(sys.stdin.buffer.read(MAX_INPUT) or b"{}"))
    if not event.get("session_id"):
        return
    session, folder = session_name(str(event["session_id"])), str(event.get("cwd") or Path.cwd())
    item = {"session_id": session, "cwd": folder, "agent": agent}
    item["transcript_path"] = str(event.get("transcript_path") or "")
    if command == "session-end":
        end_session({**item, "started": note_end(session), "ended": now()})
        return
    for killed in take_abandoned(folder):
        end_session(killed)
    note_start(item)
    if text := start_session(session, folder):
        name = str(event.get("hook_event_name") or "SessionStart")
        print(json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}))


def session_name(text: str) -> str:
    """An agent's ID of a session, as everything names it that we write."""
    if PLAIN_ID.fullmatch(text):
        return text
    from dense.redact import MAX_LABEL_CHARS, clean_line  # not for the usual IDs: agents wait for us

    return clean_line(text, MAX_LABEL_CHARS)


def end_session(item: dict[str, Any]) -> None:
    """Queue a session that ended, and start a worker that outlives the agent."""
    enqueue(item)
    with Path(os.devnull).open("r+b") as nothing:
        subprocess.Popen(
            [sys.executable, "-m", "dense", "hook", "work"],
            stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True, close_fds=True, cwd="/",
        )  # fmt: skip


def start_session(session: str, folder: str) -> str:
    """The feedback for a session that starts: of the project's last session, if something is open and nobody got it;
    and the project's lessons, if there are any."""
    deadline = time.monotonic() + WAIT_SECONDS
    while is_waiting(folder) and time.monotonic() < deadline:
        time.sleep(0.02)
    with locked(state_folder() / LOCK):
        result = _undelivered(folder, session)
        if result is None:
            return lessons_text(folder)
        line = {"at": now(), "source": result["session"], "target": session, "project": result.get("project", "")}
        append_line(state_folder() / INJECTED, line)
    text, lessons = str(result["context"])[:MAX_CHARACTERS], lessons_text(folder)
    return f"{text}\n{lessons}" if lessons and len(text) + len(lessons) < MAX_CHARACTERS else text


def lessons_text(folder: str) -> str:
    """The lessons that hold in a project, a line each; empty if there are none."""
    try:
        text = (project_folder(folder) / LESSONS).read_text(encoding="utf-8").strip()
    except OSError:
        return ""
    return f"{LESSONS_HEAD}\n{text}"[:MAX_CHARACTERS] if text else ""


def _undelivered(folder: str, session: str) -> dict[str, Any] | None:
    """The result of the project's last session, if something is open and nobody got it.

    An earlier result counts if it was written only after every later session had started: none could get it then."""
    given = {line.get("source") for line in lines_of(state_folder() / INJECTED)}
    files = [(path, read_json(path)) for path in project_folder(folder).glob("*.json")]
    others = [(path.stat().st_mtime, result) for path, result in files if result.get("session") not in (None, session)]
    last_start = 0.0
    for written, result in sorted(others, key=lambda item: str(item[1].get("ended")), reverse=True):
        if written <= last_start or result["session"] in given:
            return None
        if result.get("context"):
            return result
        last_start = max(last_start, float(result.get("started") or written))
    return None


def status_lines() -> list[str]:
    """What hooks did: whether they are on, what waits, what was injected when, what failed."""
    folder = state_folder()
    injected, failures = lines_of(folder / INJECTED), sorted((folder / FAILED).glob("*.json"))
    installed = sorted((folder / "setup").glob("*.json"))
    state = "off" if is_off() else "on" if installed else "not set up for any agent; `dense setup AGENT` does it"
    lines = [f"hooks: {state} (state in {folder})", f"waiting: {len(pending())}"]
    for path in installed:
        lines.append(f"installed: {path.stem}, {read_json(path).get('at', '')}")
    for line in injected[-10:]:
        lines.append(
            f"injected: {line.get('at')} into {line.get('target')} from {line.get('source')} in {line.get('project')}"
        )
    if len(injected) > 10:
        lines.append(f"injected before: {len(injected) - 10} more in {folder / INJECTED}")
    for path in failures[-5:]:
        lines.append(f"failed: {path.stem}: {read_json(path).get('error', '')}")
    for line in lines_of(folder / LOG)[-5:]:
        lines.append(f"problem: {line.get('at')} {line.get('hook')}: {line.get('error')}")
    return ["".join(letter if letter.isprintable() else "?" for letter in line) for line in lines]


def _log(hook: str, error: str) -> None:
    from dense.redact import clean_line

    with suppress(OSError):  # there is no other place to say it
        append_line(state_folder() / LOG, {"at": now(), "hook": hook, "error": clean_line(error, 500)})


__all__ = ["MAX_CHARACTERS", "end_session", "is_off", "main", "plain_name", "start_session", "status_lines", "turn"]
