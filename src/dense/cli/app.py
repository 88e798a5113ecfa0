"""All commands, those that hang in by entry point included. They import from this package, so it loads none of them."""

from __future__ import annotations

import os
import sys
from importlib.metadata import entry_points
from typing import Annotated

import typer

from dense.cli.batch.options import batch, lessons
from dense.cli.convert import convert
from dense.cli.distill import distill
from dense.cli.methods import methods
from dense.cli.read_options import ReadCommand, read
from dense.cli.session.last import last, sessions
from dense.cli.session.setup import config, hook, mcp, setup
from dense.cli.session.show import show
from dense.cli.session.version import full_version
from dense.cli.session.view import view
from dense.errors import DenseError, WrongUsage
from dense.text.terminal import guard_terminal

COMMANDS = "dense.commands"
"""The entry point group of further command groups: REFIT's, and those of other distributions."""

app = typer.Typer(
    name="dense",
    help="Turn the trajectory of an AI agent into structured feedback for its next attempt.",
    no_args_is_help=True,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        print(full_version())
    elif context.invoked_subcommand is None:
        print(context.get_help())


app.command("last")(last)
app.command("sessions")(sessions)
app.command("read", cls=ReadCommand)(read)
app.command("distill")(distill)
app.command("convert")(convert)
app.command("show")(show)
app.command("view")(view)
app.command("methods")(methods)
app.command("setup")(setup)
app.command("hook")(hook)
app.command("config")(config)
app.command("mcp")(mcp)
app.command("lessons")(lessons)
app.add_typer(batch, name="batch")
for _group in entry_points(group=COMMANDS):
    app.add_typer(_group.load(), name=_group.name)


def main() -> None:
    """Run the command line: a `DenseError` becomes one line, not a traceback."""
    guard_terminal()
    try:
        try:
            app()
        except SystemExit as end:
            if isinstance(end.__context__, BrokenPipeError):  # click makes an error of it
                raise BrokenPipeError from None
            sys.stdout.flush()
            raise
    except DenseError as error:
        from dense.redact import clean_line

        lines = [clean_line(line) for line in str(error).splitlines()] or [type(error).__name__]
        print("error: " + "\n  ".join(lines), file=sys.stderr)
        sys.exit(2 if isinstance(error, WrongUsage) else 1)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # `dense … | head`: nobody is listening any more
        _silence()
        sys.exit(0)
    except OSError as error:  # the disk is full, say; errors of reading are handled where files are read
        from dense.redact import clean_line

        _silence()
        if error.filename is None:
            print(f"error: the output cannot be written ({error.strerror or error})", file=sys.stderr)
        else:
            print(clean_line(f"error: {error.filename}: {error.strerror or error}"), file=sys.stderr)
        sys.exit(1)


def _silence() -> None:
    """Discard the output, and what is still in its buffer."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
