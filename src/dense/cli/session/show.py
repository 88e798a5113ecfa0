"""`dense show`: one attempt in the terminal, open issues first."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from dense.cli.option_fields import with_fields
from dense.cli.outline import STYLES, outline_tree
from dense.cli.read_options import ReadOptions
from dense.cli.session.last import YesOption
from dense.cli.session.view import NOTHING, SessionChoice
from dense.cli.text import SafeConsole, format_bytes, printable, shortened
from dense.errors import DenseError
from dense.options import FeedbackOptions
from dense.tree import open_issues

if TYPE_CHECKING:
    from dense.view import LoadedRun

MIN_WIDTH = 40
PLAIN_WIDTH = 100
"""The width without a terminal."""
MET = {"yes": ("met", "green"), "no": ("not met", "red"), "unchecked": ("unchecked", "cyan")}


@with_fields()
def show(
    path: Annotated[
        Path | None,
        typer.Argument(
            help="A trace, a folder that `dense distill` wrote, or a cell of an experiment.", show_default=False
        ),
    ] = None,
    session: SessionChoice = SessionChoice(),  # noqa: B008 - immutable
    plain: Annotated[bool, typer.Option("--plain", help="No colours, no lines that are drawn.")] = False,
    options: FeedbackOptions = FeedbackOptions(),  # noqa: B008 - immutable
    source: ReadOptions = ReadOptions(),  # noqa: B008 - immutable
    yes: YesOption = False,
) -> None:
    """Show an attempt in the terminal: open issues, next steps, requirements, the tree."""
    if (path is None) is not session.last:
        raise DenseError(NOTHING if path is None else "a path and --last exclude each other: choose one")
    (run,) = session.load([path] if path else [], [options.chosen_method], options, source, yes=yes)
    print_run(run, is_plain=plain)


def print_run(run: LoadedRun, *, is_plain: bool = False) -> None:
    """Print a run: within the terminal's width, in colours unless `NO_COLOR` is set or the output is a file."""
    is_terminal = sys.stdout.isatty()
    width = None if is_terminal else PLAIN_WIDTH
    console = SafeConsole(
        highlight=False, no_color=is_plain or bool(os.environ.get("NO_COLOR")), width=width, color_system="auto"
    )
    console.width = max(console.width, MIN_WIDTH)
    for line in _lines(run):
        console.print(line)
    if run.tree is not None:
        console.print(outline_tree(run.tree, printable(str(run.trajectory.source)), is_plain=is_plain))
    raw = len(run.message.encode("utf-8", "replace"))
    console.print(
        Text(f"{len(run.trajectory.steps)} actions; message for the next attempt: {format_bytes(raw)}", "dim")
    )


def _lines(run: LoadedRun) -> Iterator[Text]:
    tree = run.tree
    for note in run.notes:
        yield Text(f"note: {printable(note)}", "yellow")
    if tree is None:
        yield Text(f"The method {run.record.method} makes no tree; its report:")
        yield Text("\n".join(printable(line) for line in run.report.splitlines()))
        return
    state = tree.root.verdict.state if tree.root.verdict is not None else "unknown"
    yield Text.assemble((state, f"bold {STYLES.get(state, '')}"), "  ", shortened(_task(run), 160))
    opened = open_issues(tree)
    for issue in opened:
        yield Text.assemble(("open: ", "bold yellow"), printable(issue.text))
        if issue.quote:
            yield Text(f"      {printable(issue.quote)}", "dim")
    if not opened:
        yield Text("open: nothing that the trace shows", "dim")
    for number, step in enumerate(tree.next_steps, 1):
        mark = " (untested)" if step.is_untested else ""
        yield Text.assemble((f"next {number}: ", "bold"), printable(step.text) + mark, (_named(step.evidence), "dim"))
    for requirement in tree.requirements:
        word, style = MET[requirement.met]
        yield Text.assemble((f"{word}: ", style), printable(requirement.text), (_named(requirement.evidence), "dim"))


def _task(run: LoadedRun) -> str:
    return run.trajectory.task.instruction if run.trajectory.task else "(the trace has no task)"


def _named(evidence: tuple[str, ...]) -> str:
    return f"  {' '.join(evidence)}" if evidence else ""
