"""What `dense distill` prints: progress, a line and a tree for each trajectory, the cost, warnings and errors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Task as ProgressTask
from rich.text import Text

from dense.cli.outline import outline
from dense.cli.text import SafeConsole, format_bytes, printable, shortened
from dense.feedback import Feedback
from dense.model import CallLedger, CallTotals
from dense.service.files import RECONCILED, REPORT, read_reconciled
from dense.service.record import Instead
from dense.service.result_folders import IndexRow

TABLE_WIDTHS = (48, 76, 12, 90)
"""The most that a column of the table takes; of an input its end is shown."""
RULES_ANSWERED = 3
"""The exit code if the rules answered because a model's answer could not be used."""
MAX_TREES = 5
"""Up to so many trajectories, the summary shows their trees."""


class FinishedTrace(NamedTuple):
    """A trajectory that has feedback."""

    folder: str
    """The name of its folder."""
    state: str
    """The method's verdict in a word, else the method's name."""
    fallbacks: int
    """How many questions had no usable answer."""
    source: str
    """Where the trace was read."""
    feedback: Feedback = Feedback("", "")
    """The feedback, if it is not in a folder."""
    row: IndexRow = IndexRow(input="", folder="", state="")
    """Its line of the index."""
    instead: Instead | None = None
    """In whose place the rules answered."""


@dataclass
class DistillSummary:
    """What the command prints at the end."""

    out: Path | None
    done: list[FinishedTrace] = field(default_factory=list[FinishedTrace])
    failures: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
    failed: list[IndexRow] = field(default_factory=list[IndexRow])
    ledger: CallLedger | None = None

    def show(self) -> None:
        """Print results to the output, warnings and errors to the error stream."""
        out = SafeConsole(highlight=False, soft_wrap=True)
        for trace in self.done if len(self.done) <= MAX_TREES else []:
            label = self.out / trace.folder if self.out else trace.source
            out.print(f"{label}: {self._state(trace)}", markup=False)
            self._show_tree(out, trace)
        if len(self.rows) > 1:
            self._show_table(out)
        self._show_cost(out)
        self.show_problems()

    @property
    def rows(self) -> list[IndexRow]:
        """The lines of the index that this run made."""
        return sorted([*(trace.row for trace in self.done), *self.failed], key=lambda row: (row.folder, row.input))

    def show_json(self) -> None:
        """Print the lines of the index, for scripts; warnings and errors go to the error stream."""
        for row in self.rows:
            sys.stdout.buffer.write(msgspec.json.encode(row) + b"\n")
        sys.stdout.buffer.flush()
        self.show_problems()

    def _show_table(self, out: SafeConsole) -> None:
        """Input, folder, state and first open issue of each trajectory."""
        rows = [[row.input, row.folder, row.state, row.first_issue or "-"] for row in self.rows]
        rows = [["input", "folder", "state", "first open issue"], *rows]
        cells = [[_shown(text, width) for text, width in zip(row, TABLE_WIDTHS, strict=True)] for row in rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for row in cells:
            line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            out.print(line.rstrip(), markup=False)

    def show_problems(self) -> None:
        """Print warnings and errors to the error stream."""
        from dense.redact import clean_line

        err = SafeConsole(stderr=True, highlight=False, soft_wrap=True)
        for warning in self.warnings:
            err.print(f"warning: {clean_line(warning)}", markup=False)
        for failure in self.failures:
            err.print(f"error: {clean_line(failure)}", markup=False)

    @staticmethod
    def _state(trace: FinishedTrace) -> str:
        fallbacks = f", {trace.fallbacks} judgements fell back" if trace.fallbacks else ""
        return f"{printable(trace.state)}{fallbacks}"

    def _show_cost(self, out: SafeConsole) -> None:
        if self.ledger is None:
            return
        totals = self.ledger.totals
        usd = "price unknown" if totals.usd is None else f"{totals.usd:.4f} USD"
        spent = f"{_tokens(totals, 'input')} tokens in, {_tokens(totals, 'output')} out, {usd}"
        out.print(
            f"{totals.calls} calls ({totals.cached} from the cache, {totals.failed} failed), {spent}", markup=False
        )

    def show_result_aside(self) -> None:
        """Print the state and the cost of what is printed itself to the error stream."""
        err = SafeConsole(stderr=True, highlight=False, soft_wrap=True)
        for trace in self.done:
            size = format_bytes(len(trace.feedback.message.encode()))
            err.print(f"{printable(trace.source)}: {self._state(trace)}, message of {size}", markup=False)
        self._show_cost(err)

    def _show_tree(self, out: SafeConsole, trace: FinishedTrace) -> None:
        """The tree of a trajectory, if there are only a few, and where its feedback is."""
        if self.out is None or len(self.done) > MAX_TREES or not (self.out / trace.folder / RECONCILED).exists():
            return
        path = self.out / trace.folder
        out.print(outline(read_reconciled(path / RECONCILED), trace.source), soft_wrap=False)
        feedback = path / REPORT
        out.print(
            f"feedback for the next attempt ({format_bytes(feedback.stat().st_size)}): {feedback}\n", markup=False
        )


def print_feedback(summary: DistillSummary, *, is_report: bool) -> None:
    """Print the message, or the report alone, of the only trajectory."""
    if not summary.done and not summary.failures:
        summary.failures.append("no trajectory found")
    summary.show_result_aside()
    summary.show_problems()
    if summary.done and not summary.failures:
        (trace,) = summary.done
        text = trace.feedback.report if is_report else trace.feedback.message
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()


def _tokens(totals: CallTotals, kind: Literal["input", "output"]) -> str:
    """The tokens of a run, as far as they were reported: programs need not."""
    tokens = totals.usage.input if kind == "input" else totals.usage.output
    return "unknown" if tokens is None and totals.unpriced else f"{tokens or 0:,}"


def instead_line(instead: Instead) -> str:
    """That the rules answered in a model's place, and why."""
    return f"the built-in rules answered in the place of {instead.model}: {instead.reason}"


def exit_code(insteads: Iterable[Instead | None]) -> int:
    """3 if a model's answer could not be used: the rules' answer is there, and it is not what was asked for."""
    return RULES_ANSWERED * any(instead is not None and instead.is_unusable for instead in insteads)


def _shown(text: str, width: int) -> str:
    clean = printable(text)
    if len(clean) <= width:
        return clean
    return "…" + clean[-(width - 1) :] if width == TABLE_WIDTHS[0] else shortened(clean, width)


class SpendingColumn(ProgressColumn):
    """The calls, tokens and USD of the run so far."""

    def __init__(self, summary: DistillSummary) -> None:
        super().__init__()
        self._summary = summary

    def render(self, task: ProgressTask) -> Text:
        """The column's text."""
        del task
        ledger = self._summary.ledger
        if ledger is None:
            return Text("")
        totals = ledger.totals
        tokens = (totals.usage.input or 0) + (totals.usage.output or 0)
        usd = f", {totals.usd:.2f} USD" if totals.usd is not None else ""
        return Text(f"{totals.calls} calls, {tokens:,} tokens{usd}")


@contextmanager
def progress_bar(summary: DistillSummary) -> Generator[Callable[[int, int | None], None]]:
    """A bar on the error stream if it is a terminal. Yields a function that advances it and sets its total."""
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        SpendingColumn(summary),
        TimeRemainingColumn(),
        console=SafeConsole(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with progress:
        bar = progress.add_task("distilling", total=None)

        def advance(count: int, total: int | None) -> None:
            progress.update(bar, advance=count, total=total)

        yield advance
