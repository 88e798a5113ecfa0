"""`dense read`: the command's options, and what other commands that read traces share with it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import Struct
from typer.core import TyperCommand, TyperOption

from dense.errors import NoTrajectory

UNRECOGNISED = (
    "If there are traces of a known format, name it with --format; docs/add-a-reader.md shows how to read others"
)
FORMATS = "FORMATS"
"""In a help text: the names of all formats."""


class ReadCommand(TyperCommand):
    """Loads the names of the formats only for its own help."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The options, with the formats by name."""
        from dense.readers import READERS

        for option in self.params:
            if isinstance(option, TyperOption) and option.help is not None:
                option.help = option.help.replace(FORMATS, ", ".join(READERS))
        super().format_options(ctx, formatter)


class ReadOptions(Struct, frozen=True):
    """How a trace is read."""

    format: Annotated[str | None, typer.Option("--format", help="Read as this format.")] = None
    task: Annotated[str | None, typer.Option("--task", help="The task's instruction; @FILE reads it from a file.")] = (
        None
    )

    @property
    def instruction(self) -> str | None:
        """The task: its text, or the content of @FILE."""
        return given_task(self.task)

    def find_own_reader(self) -> None:
        """Let a reader of the user's own be imported: it is most likely in the working folder."""
        if self.format is not None and ":" in self.format:
            sys.path.insert(0, str(Path.cwd()))


def read(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders with traces.", show_default=False)],
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help=f"Read as this format instead of detecting it: {FORMATS}, or your own module:Class.",
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option("--task", help="The task's instruction, for traces that lack it; @FILE reads it from a file."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print normalised trajectories, a JSON line each.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Stop with an error if a record would be skipped.")] = False,
) -> None:
    """Read traces of AI agents and show what they hold."""
    ReadOptions(format).find_own_reader()
    from dense.cli.read import read

    if read(paths, format, given_task(task), as_json=as_json, strict=strict):
        raise typer.Exit(1)


def given_task(option: str | None) -> str | None:
    """The task of a `--task` option: its text, or the content of @FILE."""
    if option is None or not option.startswith("@"):
        return option
    try:
        return Path(option[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NoTrajectory(f"--task {option}: the file cannot be read ({error})") from None
