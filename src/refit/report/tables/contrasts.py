"""Every difference with its interval and its tests."""

from __future__ import annotations

from collections.abc import Sequence

from refit.report.model import Difference, Report
from refit.report.numbers import format_interval, format_number, format_p, p_in_words
from refit.report.statistics.bootstrap import FEW_TASKS
from refit.report.statistics.comparisons import LEVEL
from refit.report.table import CsvValue, ReportTable, TableCell, TableRow
from refit.report.tables.layout import (
    NO_VALUE,
    TableLines,
    caveats_before_differences,
    interval_fields,
    interval_values,
)


def comparison_table(report: Report) -> ReportTable:
    """Every difference with its interval and its tests."""
    header = (
        "Recipient",
        "Comparison",
        "Pairs",
        "Points",
        "Only first",
        "Only second",
        "p",
        "Holm",
        "McNemar",
        "Tokens",
        "Says",
    )
    shown = TableLines()
    for recipient in report.recipients:
        for difference in recipient.differences:
            record = (recipient.recipient, *_comparison_record(difference))
            shown.add((recipient.recipient, difference.family), _comparison(recipient.recipient, difference), [record])
    caption = (
        "Each is over the pairs that both its sides have, the first attempt scored too where there is one."
        f"{_withheld(shown.lines)}{caveats_before_differences(report)} {report.method_of_intervals}"
    )
    fields = ("recipient", "family", "method", "reference", "round", *interval_fields("points"), "pairs")
    fields += ("tasks", "both", "method_only", "reference_only", "neither", "p", "smallest_p", "holm", "mcnemar")
    fields += (*interval_fields("tokens_percent", "tokens"), "method_unscored", "reference_unscored")
    fields += (*interval_fields("worst_points", "worst"), "worst_p", "worst_holm", "verdict", "says")
    return shown.table("comparisons", "Comparisons", caption, header, fields, names=2)


def _comparison(recipient: str, difference: Difference) -> tuple[TableCell, ...]:
    name = f"{difference.method_label} less {difference.reference_label}"
    if difference.family == "cumulative":
        name += f", solved by round {difference.round}"
    tokens = difference.tokens
    below = format_interval(tokens.interval, 1, sign=True) if tokens else ""
    return (
        TableCell(recipient),
        TableCell(name),
        TableCell(f"{difference.points.known:,}"),
        TableCell(
            format_number(difference.points.value, 2, sign=True),
            format_interval(difference.points.interval, 2, sign=True),
        ),
        TableCell(str(difference.method_only)),
        TableCell(str(difference.reference_only)),
        TableCell(format_p(difference.p)),
        TableCell(format_p(difference.holm)),
        TableCell(format_p(difference.mcnemar)),
        TableCell(format_number(tokens.value, 1, sign=True, unit="%"), below) if tokens else NO_VALUE,
        TableCell(difference.verdict, _at_worst(difference)),
    )


def _withheld(lines: Sequence[TableRow]) -> str:
    """What `at worst` means, if the table has it."""
    if not any(line.entries[-1].below for line in lines):
        return ""
    return " At worst: with every unscored cell counted against it; what does not survive that is not claimed."


def _at_worst(difference: Difference) -> str:
    """The number to which a difference shrinks that would be claimed were it not for unscored cells."""
    points = difference.points.interval
    if difference.worst is None or difference.verdict != "no claim" or difference.holm is None or points is None:
        return ""
    is_withheld = (
        difference.holm < LEVEL and not points.low <= 0 <= points.high and difference.points.tasks >= FEW_TASKS
    )
    if not is_withheld or difference.worst.holm is None:
        return ""
    return f"at worst {format_number(difference.worst.points.value, 2, sign=True)}, {p_in_words(difference.worst.holm)}"


def _comparison_record(difference: Difference) -> tuple[CsvValue, ...]:
    worst = difference.worst
    lost = (worst.method_unscored, worst.reference_unscored) if worst else (0, 0)
    at_worst = (*interval_values(worst and worst.points), worst and worst.p, worst and worst.holm)
    tests = (difference.p, difference.smallest_p, difference.holm, difference.mcnemar)
    outcomes = (difference.both, difference.method_only, difference.reference_only, difference.neither)
    what = (difference.family, difference.method, difference.reference, difference.round)
    basis = (difference.points.known, difference.points.tasks)
    verdict = (difference.verdict, difference.says)
    return (
        *what,
        *interval_values(difference.points),
        *basis,
        *outcomes,
        *tests,
        *interval_values(difference.tokens),
        *lost,
        *at_worst,
        *verdict,
    )
