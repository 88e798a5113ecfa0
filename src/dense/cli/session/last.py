"""`dense last` and `dense sessions`: the sessions of this folder's project, wherever the agent stores them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from dense.cli.outline import STYLES
from dense.cli.text import SafeConsole, shortened
from dense.errors import DenseError

AgentOption = Annotated[
    str | None, typer.Option("--agent", help="Only this agent's: claude-code, codex, gemini-cli, opencode, …")
]


def last(
    agent: AgentOption = None,
    turn: Annotated[
        str, typer.Option("--turn", help="The request to distill: last, all, or its number from 1.")
    ] = "last",
    report: Annotated[bool, typer.Option("--report", help="Print the report alone.")] = False,
    show: Annotated[bool, typer.Option("--open", help="Write the page of the session and open it.")] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="The next attempt starts without the files of this one.")
    ] = False,
) -> None:
    """Distill the newest session of this folder's project and print the message for the next attempt."""
    from dense.integrations.sessions import last_session, session_trajectory
    from dense.redact import MAX_LABEL_CHARS, clean_line
    from dense.service import FeedbackOptions
    from dense.service.turns import parse_turn
    from dense.view import load_trajectory, write_view

    session = last_session(Path.cwd(), agent)
    trajectory = session_trajectory(session, parse_turn(turn))
    (run,) = load_trajectory(trajectory, options=FeedbackOptions(environment="fresh" if fresh else "same"))
    print(run.report if report else run.message, end="")
    state = run.tree.root.verdict.state if run.tree is not None and run.tree.root.verdict is not None else ""
    name = f"{session.agent} {clean_line(session.id, MAX_LABEL_CHARS)}"
    note = f"{name}, {_age(session.changed)} ago: {state or 'no tree'}"
    SafeConsole(stderr=True, highlight=False).print(Text(note, "dim"))
    if show:
        import webbrowser

        from dense.integrations.state import state_folder

        page = write_view([run], state_folder() / "pages" / "last.html")
        webbrowser.open(page.absolute().as_uri())


def sessions(
    agent: AgentOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many, the newest first.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON line for each.")] = False,
) -> None:
    """List the stored sessions of this folder's project, newest first, with state and first open issue."""
    from dense.integrations.sessions import project_sessions, summaries

    stored = project_sessions(Path.cwd(), agent)
    if not stored:
        raise DenseError(f"no session of a coding agent is stored for {Path.cwd()}")
    shown = summaries(stored[:limit])
    if as_json:
        for summary in shown:
            about = {"agent": summary.session.agent, "id": summary.session.id, "path": str(summary.session.path)}
            result = {
                "changed": summary.session.changed,
                "state": summary.state,
                "issue": summary.issue,
                "task": summary.task,
            }
            print(json.dumps(about | result))
        return
    console = SafeConsole(highlight=False, width=None if SafeConsole().is_terminal else 160)
    for summary in shown:
        line = Text(f"{_age(summary.session.changed):>4}  {summary.session.agent:12} ")
        line.append(f"{summary.state:11}", style=STYLES.get(summary.state, ""))
        line.append(f"{summary.session.id[:12]:13}", style="dim")
        line.append(shortened(summary.issue or summary.task, max(console.width - 46, 20)))
        console.print(line, soft_wrap=True)
    if len(stored) > limit:
        console.print(Text(f"{len(stored) - limit} older ones: --limit {len(stored)} lists them all", "dim"))


def _age(moment: float) -> str:
    """How long ago, in one unit."""
    seconds = max(time.time() - moment, 0)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:.0f}s"
