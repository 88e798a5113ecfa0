"""`dense convert`: traces of any format as ATIF, as chat messages or as normalised JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.text import Text

from dense.cli.read_options import UNRECOGNISED, given_task
from dense.cli.text import SafeConsole, printable
from dense.convert import Form, losses
from dense.convert import convert as converted
from dense.errors import WrongUsage
from dense.trajectory import Trajectory

if TYPE_CHECKING:
    from dense.cli.distill_run import TraceInputs

LINES, DOCUMENT = ".jsonl", ".json"


def convert(
    paths: Annotated[
        list[Path], typer.Argument(help="Files or folders with traces; - reads one from the input.", show_default=False)
    ],
    to: Annotated[
        Literal["atif", "dense", "messages"],
        typer.Option("--to", help="atif: Harbor's format; messages: OpenAI's chat messages; dense: normalised JSON."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="A .json file for the only trajectory, a .jsonl file with a line for each, or a folder with a file for"
            " each. [default: print a line for each]",
        ),
    ] = None,
    format: Annotated[str | None, typer.Option("--format", help="Read as this format.")] = None,
    task: Annotated[
        str | None, typer.Option("--task", help="The task's instruction; @FILE reads it from a file.")
    ] = None,
) -> None:
    """Convert traces into another format. Nothing is redacted."""
    from dense.cli.distill_run import TraceInputs
    from dense.redact import clean_line

    if format is not None and ":" in format:
        sys.path.insert(0, str(Path.cwd()))  # a reader of the user's own is most likely here
    traces = TraceInputs(paths=paths, format=format, task=given_task(task))
    notes = SafeConsole(stderr=True, highlight=False, soft_wrap=True)
    is_empty = True
    for source, written in _written(traces, to, out):
        is_empty = False
        if written is not None:
            print(f"{printable(source)} → {printable(str(written))}")
    if is_empty and not traces.problems:
        traces.problems.append(f"no trace found in {', '.join(map(str, paths))}. {UNRECOGNISED}")
    for line in traces.warnings:
        notes.print(Text(f"warning: {clean_line(line)}"))
    for line in traces.problems:
        notes.print(Text(f"error: {clean_line(line)}"))
    if traces.problems:
        raise typer.Exit(1)


def _documents(traces: TraceInputs, to: Form) -> Iterator[tuple[Trajectory, bytes]]:
    for trajectory in traces:
        traces.warnings += [f"{trajectory.source}: {line}" for line in losses(trajectory, to)]
        yield trajectory, converted(trajectory, to)


def _written(traces: TraceInputs, to: Form, out: Path | None) -> Iterator[tuple[str, Path | None]]:
    """Where each trajectory came from and where it was written, None for the standard output."""
    from dense.service.private_files import write_files
    from dense.service.result_folders import folder_name

    if out is None:
        for trajectory, data in _documents(traces, to):
            sys.stdout.buffer.write(data + b"\n")
            sys.stdout.buffer.flush()
            yield str(trajectory.source), None
    elif out.suffix in (LINES, DOCUMENT) and not out.is_dir():
        documents = list(_documents(traces, to))
        if out.suffix == DOCUMENT and len(documents) > 1:
            raise WrongUsage(f"--out {out}: there are {len(documents)} trajectories; name a folder or a {LINES} file")
        if documents:
            write_files(out.parent.resolve(), {out.name: b"".join(data + b"\n" for _, data in documents)})
        yield from ((str(trajectory.source), out) for trajectory, _ in documents)
    else:
        taken: set[str] = set()
        for trajectory, data in _documents(traces, to):
            name = folder_name(trajectory, is_piped=traces.is_piped(trajectory))
            if name in taken:
                name = folder_name(trajectory, is_absolute=True)
            taken.add(name)
            write_files(out, {f"{name}{DOCUMENT}": data + b"\n"})
            yield str(trajectory.source), out / f"{name}{DOCUMENT}"
