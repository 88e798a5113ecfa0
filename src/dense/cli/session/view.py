"""`dense view`: one attempt, or two side by side, as a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

from dense.cli.option_fields import with_fields
from dense.cli.read_options import ReadOptions
from dense.cli.session.last import AgentOption, YesOption, confirm, exit_if_instead, load_session
from dense.cli.text import format_bytes
from dense.errors import DenseError
from dense.options import FeedbackOptions

if TYPE_CHECKING:
    from dense.view import LoadedRun

NOTHING = "nothing to show: name a trace, or say --last for the newest session of this folder's project"
LastOption = Annotated[
    bool, typer.Option("--last", help="The newest session of this folder's project, before any paths.")
]


class PageOptions(Struct, frozen=True):
    """Where the page goes."""

    out: Annotated[Path | None, typer.Option("--out", help="The page's file. [default: NAME.html in this folder]")] = (
        None
    )
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False


class SessionChoice(Struct, frozen=True):
    """Whether the newest session of this folder's project is shown, and whose."""

    last: LastOption = False
    agent: AgentOption = None

    def load(
        self, paths: Sequence[Path], methods: Sequence[str], options: FeedbackOptions, source: ReadOptions, *, yes: bool
    ) -> list[LoadedRun]:
        """The session if it is chosen, then what is at the paths, under each method."""
        from dense.integrations.sessions import last_session
        from dense.view import load_runs

        runs = load_session(last_session(Path.cwd(), self.agent), methods, options, yes=yes) if self.last else []
        for path in paths:
            runs += load_runs(
                path,
                methods=methods,
                options=options,
                format=source.format,
                task=source.instruction,
                confirm=lambda trajectory: confirm(trajectory, methods, options, yes=yes),
            )
        return runs


@with_fields(without=("method",))
def view(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="A trace, a folder that `dense distill` wrote, or a cell of an experiment; two are compared.",
            show_default=False,
        ),
    ] = None,
    session: SessionChoice = SessionChoice(),  # noqa: B008 - immutable
    method: Annotated[
        list[str] | None, typer.Option("--method", help="For a trace: how feedback is made; two are compared.")
    ] = None,
    page: PageOptions = PageOptions(),  # noqa: B008 - immutable
    options: FeedbackOptions = FeedbackOptions(),  # noqa: B008 - immutable
    source: ReadOptions = ReadOptions(),  # noqa: B008 - immutable
    yes: YesOption = False,
) -> None:
    """Write a page that shows an attempt: what is open, the tree, every action with its original text."""
    from dense.view import write_view

    if not paths and not session.last:
        raise DenseError(NOTHING)
    runs = session.load(paths or (), method or [options.chosen_method], options, source, yes=yes)
    if len(runs) > 2:
        raise DenseError(
            f"a page compares two runs, and these are {len(runs)}: name two paths, or one with two methods"
        )
    name = re.sub(r"[^\w.-]+", "-", runs[0].trajectory.id, flags=re.ASCII).strip("-.")[:80] or "trajectory"
    file = write_view(runs, page.out or Path(f"{name}.html"))
    print(f"{file} ({format_bytes(file.stat().st_size)})")
    if page.show:
        import webbrowser

        webbrowser.open(file.absolute().as_uri())
    exit_if_instead(runs)
