"""`dense view`: one attempt, or two side by side, as a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import structs

from dense.cli.read_options import given_task
from dense.cli.session.last import AgentOption
from dense.cli.text import format_bytes
from dense.errors import DenseError

if TYPE_CHECKING:
    from dense.service import FeedbackOptions
    from dense.view import LoadedRun

NOTHING = "nothing to show: name a trace, or say --last for the newest session of this folder's project"
LastOption = Annotated[
    bool, typer.Option("--last", help="The newest session of this folder's project, before any paths.")
]
TurnOption = Annotated[
    str, typer.Option("--turn", help="With --last: the request to show: last, all, or its number from 1.")
]


def load_last(agent: str | None, turn: str, methods: Sequence[str], options: FeedbackOptions) -> list[LoadedRun]:
    """The newest session of this folder's project, under each method."""
    from dense.integrations.sessions import last_session, session_trajectory
    from dense.service.turns import parse_turn
    from dense.view import load_trajectory

    trajectory = session_trajectory(last_session(Path.cwd(), agent), parse_turn(turn))
    return load_trajectory(trajectory, methods=methods, options=structs.replace(options, environment="same"))


def view(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="A trace, a folder that `dense distill` wrote, or a cell of an experiment; two are compared.",
            show_default=False,
        ),
    ] = None,
    last: LastOption = False,
    agent: AgentOption = None,
    turn: TurnOption = "last",
    method: Annotated[
        list[str] | None, typer.Option("--method", help="For a trace: how feedback is made; two are compared.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The page's file. [default: NAME.html in this folder]")
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    no_redact: Annotated[bool, typer.Option("--no-redact", help="Leave credentials in.")] = False,
    format: Annotated[str | None, typer.Option("--format", help="Read as this format.")] = None,
    task: Annotated[
        str | None, typer.Option("--task", help="The task's instruction; @FILE reads it from a file.")
    ] = None,
) -> None:
    """Write a page that shows an attempt: what is open, the tree, every action with its original text."""
    from dense.service import FeedbackOptions
    from dense.view import load_runs, write_view

    if not paths and not last:
        raise DenseError(NOTHING)
    options = FeedbackOptions(redacted=not no_redact)
    methods = method or ["dense"]
    runs = load_last(agent, turn, methods, options) if last else []
    runs += [
        run
        for path in paths or ()
        for run in load_runs(path, methods=methods, options=options, format=format, task=given_task(task))
    ]
    if len(runs) > 2:
        raise DenseError(
            f"a page compares two runs, and these are {len(runs)}: name two paths, or one with two methods"
        )
    name = re.sub(r"[^\w.-]+", "-", runs[0].trajectory.id, flags=re.ASCII).strip("-.")[:80] or "trajectory"
    path = write_view(runs, out or Path(f"{name}.html"))
    print(f"{path} ({format_bytes(path.stat().st_size)})")
    if show:
        import webbrowser

        webbrowser.open(path.absolute().as_uri())
