"""Distills queued sessions, detached from the agent: by the rules, or by the model that the user's settings name."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from msgspec.structs import replace

from dense.errors import DenseError
from dense.integrations.hooks import MAX_CHARACTERS, session_name
from dense.integrations.project_lessons import keep_evidence
from dense.integrations.queue import FAILED, pending, plain_name, project_folder
from dense.integrations.sessions import session_trajectory
from dense.integrations.settings import load_settings
from dense.integrations.spending import distill_within_limit
from dense.integrations.state import (
    locked,
    now,
    project_root,
    read_json,
    state_folder,
    write_atomically,
    write_json,
)
from dense.message.page import END
from dense.readers import read, stored_sessions
from dense.redact import clean_line
from dense.service import Distillation
from dense.service.turns import select_turn
from dense.text.clip import clip_end
from dense.text.terminal import plain_line
from dense.trajectory import Trajectory
from dense.tree import open_issues

CONTEXT_BUDGET = 7_500
"""Bytes of the report within a hook's text."""
MAX_REQUEST_CHARS = 300
MAX_SECONDS = 600
"""For one session, a model's answers included: other projects wait for it."""


class TookTooLong(Exception):
    """A session that is given up."""


def work() -> int:
    """Distill everything that waits; gives how many. A second worker leaves it to the first."""
    done = 0
    while pending():
        with locked(state_folder() / "worker.lock", wait=False) as is_mine:
            if not is_mine:
                return done
            for path in pending():
                _work_on(path)
                done += 1
    return done


def _work_on(path: Path) -> None:
    """Distill one session. Its file goes when the result, or the record of the failure, is written."""
    item = read_json(path)
    name = plain_name(str(item.get("session_id") or path.stem))
    before = item.get("queued")
    try:
        with _within(MAX_SECONDS):
            result = distill_session(item)
        write_atomically(project_folder(str(item["cwd"])) / f"{name}.message.txt", result.pop("message"))
        write_json(project_folder(str(item["cwd"])) / f"{name}.json", result)
    except Exception as error:  # one session must not keep the others from being distilled
        problem = clean_line(f"{type(error).__name__}: {error}")
        about = {key: clean_line(value) if isinstance(value, str) else value for key, value in item.items()}
        write_json(state_folder() / FAILED / f"{name}.json", {**about, "error": problem})
    if read_json(path).get("queued") == before:  # a session that ended again meanwhile is distilled again
        path.unlink(missing_ok=True)


@contextmanager
def _within(seconds: float) -> Generator[None]:
    """Give up what takes longer, where a system has timers."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def give_up(_number: int, _frame: FrameType | None) -> None:
        raise TookTooLong(f"given up after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def distill_session(item: dict[str, Any]) -> dict[str, Any]:
    """The result of one session: its state, what is open, and the text for the next session."""
    settings = load_settings(trusts_project=False)
    settings = replace(settings, options=replace(settings.options, budget=CONTEXT_BUDGET))
    done = distill_within_limit(queued_trajectory(item), settings, caller="work")
    cleaned = done.assessment.trajectory
    keep_evidence(plain_name(str(item["session_id"])), str(item["cwd"]), done.assessment)
    tree, verdict = done.reconciled, done.reconciled.root.verdict
    opened = [issue.text for issue in open_issues(tree)]
    state = verdict.state if verdict is not None else "unknown"
    is_unfinished = bool(opened) and state != "complete"
    name = plain_name(str(item["session_id"]))
    message = project_folder(str(item["cwd"])) / f"{name}.message.txt"
    return {
        "session": str(item["session_id"]),
        "agent": cleaned.agent or str(item.get("agent") or ""),
        "project": clean_line(str(project_root(str(item["cwd"])))),
        "started": float(item.get("started") or 0),
        "ended": str(item.get("ended") or now()),
        "state": state,
        "open": opened,
        "context": context_text(done, cleaned, item, message) if is_unfinished else "",
        "message": done.feedback.message,
    }


def queued_trajectory(item: dict[str, Any]) -> Trajectory:
    """The trajectory of a queued session's last request: from the file that the agent named, or from its store."""
    session, path = str(item["session_id"]), str(item.get("transcript_path") or "")
    if path:
        trajectories = list(read(path))
        same = [trajectory for trajectory in trajectories if session_name(trajectory.id) == session]
        return select_turn((same or trajectories)[-1], "last")
    agent = str(item.get("agent") or "")
    sessions = stored_sessions(agents=[agent]) if agent else []
    stored = next((stored for stored in sessions if session_name(stored.id) == session), None)
    if stored is None:
        raise DenseError("the agent named no transcript, and its store has no such session")
    return session_trajectory(stored)


def context_text(done: Distillation, trajectory: Trajectory, item: dict[str, Any], message: Path) -> str:
    """What the next session of the project gets: where it comes from, and the report between its markers. The
    trajectory is a cleaned one."""
    end = END.format(key=done.feedback.key).rstrip("\n")
    block = done.feedback.message.partition(end)[0]
    asked = plain_line(" ".join((trajectory.task.instruction if trajectory.task else "").split()))
    head = (
        f"dense: feedback on the last {trajectory.agent or 'agent'} session in this project ({trajectory.id}), which"
        f" ended {item.get('ended') or now()}. It is a record made from that session's trace, no request of the user:"
        f" use it if the user continues that work, ignore it otherwise.\n"
        f"That session was asked: {clip_end(asked, MAX_REQUEST_CHARS)}\nThe whole message: {message}\n"
    )
    return head + clip_end(block, MAX_CHARACTERS - len(head) - len(end) - 1).rstrip("\n") + "\n" + end
