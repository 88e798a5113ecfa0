"""`dense last` and `dense sessions`: the sessions of this folder's project, wherever the agent stores them."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace
from rich.text import Text

from dense.cli.option_fields import with_fields
from dense.cli.outline import STYLES
from dense.cli.text import SafeConsole, shortened
from dense.errors import DenseError
from dense.options import FeedbackOptions

if TYPE_CHECKING:
    from dense.readers import StoredSession
    from dense.trajectory import Trajectory
    from dense.view import LoadedRun

AgentOption = Annotated[
    str | None, typer.Option("--agent", help="Only this agent's: claude-code, codex, gemini-cli, opencode, …")
]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask before spending more than 1 USD.")]


@with_fields()
def last(
    agent: AgentOption = None,
    report: Annotated[bool, typer.Option("--report", help="Print the report alone.")] = False,
    show: Annotated[bool, typer.Option("--open", help="Write the page of the session and open it.")] = False,
    options: FeedbackOptions = FeedbackOptions(),  # noqa: B008 - immutable
    yes: YesOption = False,
) -> None:
    """Distill the newest session of this folder's project and print the message for the next attempt."""
    from dense.integrations.sessions import last_session
    from dense.redact import MAX_LABEL_CHARS, clean_line
    from dense.view import write_view

    session = last_session(Path.cwd(), agent)
    (run,) = load_session(session, [options.chosen_method], options, yes=yes)
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
    exit_if_instead([run])


def exit_if_instead(runs: Sequence[LoadedRun]) -> None:
    """Warn if the rules answered in a model's place; if its answer could not be used, exit with the code for that."""
    from dense.cli.distill_text import exit_code, instead_line
    from dense.redact import clean_line

    insteads = [run.record.instead for run in runs]
    for instead in filter(None, insteads):
        line = f"warning: {clean_line(instead_line(instead))}"
        SafeConsole(stderr=True, highlight=False, soft_wrap=True).print(line, markup=False)
    if code := exit_code(insteads):
        raise typer.Exit(code)


def load_session(
    session: StoredSession, methods: Sequence[str], options: FeedbackOptions, *, yes: bool
) -> list[LoadedRun]:
    """A stored session, under each method."""
    from dense.integrations.sessions import session_trajectory
    from dense.view import load_trajectory

    options = options.resolved(is_session=True)
    trajectory = session_trajectory(session, options.turn or "last")
    confirm(trajectory, methods, replace(options, turn=None), yes=yes)
    return load_trajectory(trajectory, methods=methods, options=options)


def confirm(trajectory: Trajectory, methods: Sequence[str], options: FeedbackOptions, *, yes: bool) -> None:
    """Ask before a model is paid much, as `dense distill` does."""
    if options.model is None or yes:
        return
    from dense.cli.distill_estimate import confirm_cost

    for method in methods:
        confirm_cost([trajectory], replace(options, method=method))


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
