"""Runs `dense read`: what is on the disk, as a table or as normalised JSON."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rich.cells import cell_len, set_cell_size
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from dense.cli.read_options import UNRECOGNISED
from dense.cli.text import SafeConsole, format_bytes, other_files, printable, ranges, shortened
from dense.errors import DenseError
from dense.readers import Skipped, Stream, UnreadFile, files_of, read_file
from dense.readers.files import EventFolder, TraceFile
from dense.redact import clean_line
from dense.trajectory import Notice, Source, Step

COLUMN_GAP = 2
"""Blanks between columns."""
MIN_NAME_WIDTH = 16
"""The least width of a trace's name and of its task: before they get less, other columns go."""


def read(paths: list[Path], format: str | None, task: str | None, *, as_json: bool, strict: bool) -> int:
    """Show what the traces hold; gives the exit code."""
    summary = ReadSummary()
    items = _read_all(paths, format, task, strict, summary)
    try:
        if as_json:
            _print_json(items, summary)
        else:
            for item in items:
                summary.rows.append(TraceRow.of(item))
    except KeyboardInterrupt:
        summary.failures.append("interrupted; what was read until then is shown")
        summary.show(table=not as_json)
        raise
    if not summary.rows and not summary.failures:
        summary.failures.append(f"no trace found in {', '.join(map(str, paths))}. {UNRECOGNISED}")
    summary.show(table=not as_json)
    return 1 if summary.failures or summary.unread else 0


def _read_all(
    paths: list[Path], format: str | None, task: str | None, strict: bool, summary: ReadSummary
) -> Iterator[Stream]:
    """All trajectories of all paths. A path that fails does not keep the others from being read, unless strict."""
    files: list[tuple[TraceFile | EventFolder, bool]] = []
    for path in paths:
        try:
            files += [(file, path.is_dir()) for file in files_of(path, strict=strict, skipped=summary.skipped)]
        except DenseError as error:
            summary.failures.append(str(error))
    with _progress() as progress:
        bar = progress.add_task("reading", total=len(files))
        for file, in_folder in files:
            progress.update(bar, description=shortened(file.path.name, 40))
            for item in read_file(file, format=format, task=task):
                if not isinstance(item, UnreadFile):
                    yield item
                elif item.is_trace or not in_folder:
                    (summary.unread if in_folder and not strict else summary.failures).append(item.reason)
                else:
                    summary.skip_other(file.path)
            progress.advance(bar)


def _progress() -> Progress:
    """A bar on the error stream, if it is a terminal."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=SafeConsole(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


def _print_json(items: Iterable[Stream], summary: ReadSummary) -> None:
    """Each trajectory piece by piece, so that none has to fit into memory."""
    out = sys.stdout.buffer
    for stream in items:
        row = TraceRow.head(stream)
        for piece in stream.encode(row.count):
            out.write(piece)
        out.write(b"\n")
        out.flush()
        row.notices = [*stream.final_notices, *row.nested_notices]
        summary.rows.append(row)


@dataclass
class TraceRow:
    """One trajectory in the table."""

    source: Source
    format: str
    agent: str
    model: str
    task: str
    steps: int = 0
    nested: int = 0
    calls: int = 0
    size: int = 0
    notices: list[Notice] = field(default_factory=list[Notice])
    nested_notices: list[Notice] = field(default_factory=list[Notice])

    @classmethod
    def head(cls, stream: Stream) -> TraceRow:
        task = stream.task.instruction if stream.task else ""
        return cls(
            source=stream.source,
            format=stream.format,
            agent=stream.agent or "",
            model=stream.model or "",
            task=shortened(task, 60),
        )

    @classmethod
    def of(cls, stream: Stream) -> TraceRow:
        row = cls.head(stream)
        for step in stream.counted():
            row.count(step)
        row.notices = [*stream.notices.take(), *row.nested_notices]
        return row

    def location(self, width: int) -> str:
        """The ends of the path and of the part, which differ between traces."""
        part = "" if self.source.part is None else f" [{_tail(self.source.part, 18)}]"
        line = "" if self.source.line is None else f":{self.source.line}"
        return _tail(self.source.path, max(width - len(part) - len(line), 8)) + part + line

    def count(self, step: Step, depth: int = 0) -> None:
        if depth:
            self.nested += 1
        else:
            self.steps += 1
        self.calls += len(step.calls)
        self.size += _weight(step.message) + _weight(step.reasoning)
        self.size += sum(
            _weight(value) for call in step.calls for value in call.arguments.values() if isinstance(value, str)
        )
        self.size += sum(_weight(observation.text) for observation in step.observations)
        for subagent in step.subagents:
            self.nested_notices += subagent.notices
            for inner in subagent.steps:
                self.count(inner, depth + 1)


def _weight(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


@dataclass
class ReadSummary:
    """What the command prints at the end."""

    rows: list[TraceRow] = field(default_factory=list[TraceRow])
    unread: list[str] = field(default_factory=list[str])
    failures: list[str] = field(default_factory=list[str])
    others: Counter[str] = field(default_factory=Counter[str])
    skipped: Skipped = field(default_factory=Skipped)

    def skip_other(self, path: Path) -> None:
        """Count a file of a folder that is no trace, by how its name ends."""
        self.others[path.suffix if len(path.suffix) < 12 else ""] += 1

    def show(self, table: bool) -> None:
        """Print the table to the output, everything else to the error stream."""
        out, err = _console(sys.stdout.isatty()), _console(sys.stderr.isatty(), stderr=True)
        if table and self.rows:
            header, rows = self.table(out.width)
            out.print(Text(header, style="bold"))
            for row in rows:  # plain, because there may be a hundred thousand
                print(row)
            out.print(Text(self.summary()))
        if self.skipped.counts or self.others:
            lines = [*([self.recognised()] if self.rows else []), *self.skips()]
            for line in lines:
                err.print(Text(line))
        for line in self.warnings():
            err.print(Text(line))
        for text in self.unread:
            err.print(Text(f"not read: {_lines(text)}"))
        for text in self.failures:
            err.print(Text(f"error: {_lines(text)}"))

    def table(self, width: int) -> tuple[str, list[str]]:
        """The header, and a row for each trajectory. On a narrow screen names and tasks are
        shortened, never the numbers."""
        numbers = {
            "steps": [f"{row.steps} (+{row.nested})" if row.nested else str(row.steps) for row in self.rows],
            "calls": [str(row.calls) for row in self.rows],
            "size": [format_bytes(row.size) for row in self.rows],
            "warnings": [str(len(row.notices) or "-") for row in self.rows],
        }
        names = {
            "format": [row.format for row in self.rows],
            "agent": [row.agent for row in self.rows],
            "model": [row.model for row in self.rows],
        }
        left = width - sum(max(map(len, (name, *column))) + COLUMN_GAP for name, column in numbers.items())
        widths = {name: min(max(map(len, (name, *column))), 18) for name, column in names.items()}
        while left - sum(widths.values()) - COLUMN_GAP * (len(widths) + 1) < 2 * MIN_NAME_WIDTH and widths:
            widths.popitem()
        rest = max(left - sum(widths.values()) - COLUMN_GAP * (len(widths) + 1), 2 * MIN_NAME_WIDTH)
        widths = {"trace": min(rest // 2, 44), **widths, "task": min(rest - rest // 2, 44)}
        texts = {
            **names,
            "trace": [row.location(widths["trace"]) for row in self.rows],
            "task": [row.task or "-" for row in self.rows],
        }
        columns = [_column(name, texts[name], widths[name]) for name in widths]
        columns += [_column(name, cells, justify=str.rjust) for name, cells in numbers.items()]
        header, *rows = ((" " * COLUMN_GAP).join(cells).rstrip() for cells in zip(*columns, strict=True))
        return header, rows

    def summary(self) -> str:
        nested = sum(row.nested for row in self.rows)
        parts = [
            f"{len(self.rows)} {'trajectory' if len(self.rows) == 1 else 'trajectories'}",
            f"{sum(row.steps for row in self.rows)} steps" + (f" and {nested} of sub-agents" if nested else ""),
            f"{sum(row.calls for row in self.rows)} tool calls",
        ]
        return ", ".join(parts)

    def recognised(self) -> str:
        """How many trajectories of each format there are."""
        counts = Counter(row.format for row in self.rows)
        return "recognised: " + ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))

    def skips(self) -> Iterator[str]:
        """What was not read below folders, one line for each kind."""
        for line in self.skipped.lines():
            yield f"skipped: {printable(line)}"
        if self.others:
            yield f"skipped: {other_files(self.others)}"

    def warnings(self) -> Iterator[str]:
        """Every notice, with equal ones of a file in one line: each skipped line is named."""
        for row in self.rows:
            groups: dict[tuple[str, str, str], list[Notice]] = {}
            for notice in row.notices:
                groups.setdefault((notice.source.path, notice.kind, notice.text), []).append(notice)
            for (path, kind, text), notices in groups.items():
                lines = [n.source.line for n in notices if n.source.line is not None]
                indices = [n.source.index for n in notices if n.source.line is None and n.source.index is not None]
                label = printable(path) + (f":{ranges(lines)}" if lines else f"#{ranges(indices)}" if indices else "")
                prefix = "" if kind == "note" else f"{kind}: "
                yield clean_line(f"warning: {label}: {prefix}{text}")


def _column(
    name: str, cells: list[str], width: int | None = None, justify: Callable[[str, int], str] = str.ljust
) -> list[str]:
    """A column's cells with its name on top, shortened and padded to one width on the screen."""
    shown = [name, *(printable(cell) for cell in cells)]
    if width is not None:
        shown = [cell if cell_len(cell) <= width else set_cell_size(cell, width - 1) + "…" for cell in shown]
    widest = max(map(cell_len, shown))
    return [justify(cell, widest - cell_len(cell) + len(cell)) for cell in shown]


def _lines(text: str) -> str:
    """A message over several lines; only our own line breaks, which are followed by blanks, stay."""
    first, *rest = text.split("\n  ")
    return "\n  ".join([clean_line(first), *map(clean_line, rest)])


def _tail(text: str, width: int) -> str:
    return text if len(text) <= width else "…" + text[-(width - 1) :]


def _console(is_terminal: bool, stderr: bool = False) -> SafeConsole:
    """Into a file or pipe, wide enough that nothing is cut for lack of a screen."""
    return SafeConsole(stderr=stderr, highlight=False, soft_wrap=stderr, width=None if is_terminal else 200)
