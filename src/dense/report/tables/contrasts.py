"""Every difference with its interval and its tests."""

from __future__ import annotations

from itertools import groupby

from dense.report.model import Difference, Report
from dense.report.numbers import interval, number, p_value
from dense.report.table import Entry, Line, Table, Value
from dense.report.tables.parts import NONE, ends


def comparison_table(report: Report) -> Table:
    """Every difference with its interval and its tests."""
    title, caption = "Comparisons", report.method_of_intervals
    header = (
        "Recipient",
        "Comparison",
        "Points",
        "Only first",
        "Only second",
        "p",
        "Holm",
        "McNemar",
        "Tokens",
        "Says",
    )
    lines: list[Line] = []
    records: list[tuple[Value, ...]] = []
    for recipient in report.recipients:
        for family, group in groupby(recipient.differences, key=lambda difference: difference.family):
            for at, found in enumerate(group):
                lines.append(Line(_comparison(recipient.recipient, family, found), at == 0 and bool(lines)))
                records.append((recipient.recipient, *_comparison_record(found)))
    fields = ("recipient", "family", "method", "reference", "round", "points", "low", "high", "interval", "pairs")
    fields += ("tasks", "both", "method_only", "reference_only", "neither", "p", "smallest_p", "holm", "mcnemar")
    fields += ("tokens_percent", "tokens_low", "tokens_high", "verdict", "says")
    return Table("comparisons", title, caption, header, tuple(lines), fields, tuple(records), 2, is_long=True)


def _comparison(recipient: str, family: str, found: Difference) -> tuple[Entry, ...]:
    name = f"{found.method_label} less {found.reference_label}"
    if family == "cumulative":
        name += f", solved by round {found.round}"
    tokens = found.tokens
    below = interval(tokens.interval, 1, sign=True) if tokens else ""
    return (
        Entry(recipient),
        Entry(name),
        Entry(number(found.points.value, 2, sign=True), interval(found.points.interval, 2, sign=True)),
        Entry(str(found.method_only)),
        Entry(str(found.reference_only)),
        Entry(p_value(found.p)),
        Entry(p_value(found.holm)),
        Entry(p_value(found.mcnemar)),
        Entry(number(tokens.value, 1, sign=True, unit="%"), below) if tokens else NONE,
        Entry(found.verdict),
    )


def _comparison_record(found: Difference) -> tuple[Value, ...]:
    kind = found.points.interval.kind if found.points.interval else None
    tests = (found.p, found.smallest_p, found.holm, found.mcnemar)
    outcomes = (found.both, found.method_only, found.reference_only, found.neither)
    what = (found.family, found.method, found.reference, found.round)
    stands = (kind, found.points.known, found.points.tasks)
    return (*what, *ends(found.points), *stands, *outcomes, *tests, *ends(found.tokens), found.verdict, found.says)
