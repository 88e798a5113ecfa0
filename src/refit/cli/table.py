"""The result of an experiment in a terminal: one table for each recipient, and what must be said with it."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from dense.cli.text import SafeConsole, printable
from refit.report.model import MeanEstimate, MethodRow, RecipientReport, Report
from refit.report.numbers import BOUND, NOTHING, format_fixed, format_interval, format_number, known_of
from refit.results import Experiment


def show_report(experiment: Experiment, console: SafeConsole, report: Report | None = None) -> None:
    """The main table of each recipient, the headline and the notes."""
    if report is None:
        from refit.report import build

        report = build(experiment)
    for recipient in report.recipients:
        console.print(_table(recipient))
    if any(BOUND in _change(row.change) for recipient in report.recipients for row in recipient.rows):
        console.print(f"{BOUND} fewer than three tasks differ from the rest: widened to what so few cannot rule out")
    console.print(printable(report.headline), markup=False)
    for caveat in report.caveats:
        console.print(f"- {printable(caveat)}", markup=False)
    for recipient in report.recipients:
        for caveat in recipient.caveats:
            whose = f"{printable(recipient.recipient)}: " if len(report.recipients) > 1 else ""
            console.print(f"- {whose}{printable(caveat)}", markup=False)
    for note in report.notes:
        console.print(f"note: {printable(note)}", markup=False)


def _table(recipient: RecipientReport) -> Table:
    table = Table(title=Text(printable(recipient.recipient)), title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("method", no_wrap=True)
    for name in ("passed", "rate %", "points from run0 [95 %]", "tokens", "change %", "no score"):
        table.add_column(name, justify="right", no_wrap=True)
    baseline = [recipient.baseline] if recipient.baseline is not None else []
    for row in [*baseline, *recipient.rows]:
        mark = " †" if row.role == "privileged" else ""
        table.add_row(
            printable(row.label) + mark,
            _passes(row),
            format_number(row.passed.value, 2),
            _change(row.change),
            _tokens(row.tokens),
            format_number(row.tokens_change.value if row.tokens_change is not None else None, 1, sign=True),
            str(row.counts.invalid + row.counts.missing or ""),
        )
    return table


def _passes(row: MethodRow) -> str:
    return f"{row.passes}/{row.passed.of}" if row.passed.of else NOTHING


def _change(change: MeanEstimate | None) -> str:
    if change is None or change.value is None:
        return NOTHING
    return f"{format_fixed(change.value, 2, sign=True)} {format_interval(change.interval, 2, sign=True)}".rstrip()


def _tokens(tokens: MeanEstimate) -> str:
    return " ".join(
        filter(None, (format_number(tokens.value, 0), known_of(tokens) if tokens.value is not None else ""))
    )
