"""`dense view`: one attempt, or two side by side, as a page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from dense.cli.read import given_task
from dense.cli.text import format_bytes
from dense.errors import DenseError


def view(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="A trace, a folder that `dense distill` wrote, or a cell of an experiment; two are compared.",
            show_default=False,
        ),
    ],
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
    from dense.service.feedback import FeedbackOptions
    from dense.view import load_runs, write_view

    options = FeedbackOptions(redacted=not no_redact)
    runs = [
        run
        for path in paths
        for run in load_runs(path, methods=method or ("dense",), options=options, format=format, task=given_task(task))
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
