"""Every difference with its interval and its tests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from dense.report.comparisons import FEW_TASKS, LEVEL
from dense.report.model import Difference, Report
from dense.report.numbers import interval, number, p_phrase, p_value
from dense.report.table import Entry, Line, Table, Value
from dense.report.tables.parts import NONE, end_fields, ends, reserved


def comparison_table(report: Report) -> Table:
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
    lines: list[Line] = []
    records: list[tuple[Value, ...]] = []
    for recipient in report.recipients:
        for family, group in groupby(recipient.differences, key=lambda difference: difference.family):
            for at, found in enumerate(group):
                lines.append(Line(_comparison(recipient.recipient, family, found), at == 0 and bool(lines)))
                records.append((recipient.recipient, *_comparison_record(found)))
    caption = (
        "Each is over the pairs that both its sides have, the first attempt scored too where there is one."
        f"{_withheld(lines)}{reserved(report)} {report.method_of_intervals}"
    )
    fields = ("recipient", "family", "method", "reference", "round", *end_fields("points"), "pairs")
    fields += ("tasks", "both", "method_only", "reference_only", "neither", "p", "smallest_p", "holm", "mcnemar")
    fields += (*end_fields("tokens_percent", "tokens"), "method_unscored", "reference_unscored")
    fields += (*end_fields("worst_points", "worst"), "worst_p", "worst_holm", "verdict", "says")
    return Table("comparisons", "Comparisons", caption, header, tuple(lines), fields, tuple(records), 2, is_long=True)


def _comparison(recipient: str, family: str, found: Difference) -> tuple[Entry, ...]:
    name = f"{found.method_label} less {found.reference_label}"
    if family == "cumulative":
        name += f", solved by round {found.round}"
    tokens = found.tokens
    below = interval(tokens.interval, 1, sign=True) if tokens else ""
    return (
        Entry(recipient),
        Entry(name),
        Entry(f"{found.points.known:,}"),
        Entry(number(found.points.value, 2, sign=True), interval(found.points.interval, 2, sign=True)),
        Entry(str(found.method_only)),
        Entry(str(found.reference_only)),
        Entry(p_value(found.p)),
        Entry(p_value(found.holm)),
        Entry(p_value(found.mcnemar)),
        Entry(number(tokens.value, 1, sign=True, unit="%"), below) if tokens else NONE,
        Entry(found.verdict, _at_worst(found)),
    )


def _withheld(lines: Sequence[Line]) -> str:
    """What `at worst` is, where it stands."""
    if not any(line.entries[-1].below for line in lines):
        return ""
    return " At worst: with every unscored cell counted against it; what does not survive that is not claimed."


def _at_worst(found: Difference) -> str:
    """The number to which a difference shrinks that would be claimed were it not for unscored cells."""
    points = found.points.interval
    if found.worst is None or found.verdict != "no claim" or found.holm is None or points is None:
        return ""
    is_withheld = found.holm < LEVEL and not points.low <= 0 <= points.high and found.points.tasks >= FEW_TASKS
    if not is_withheld or found.worst.holm is None:
        return ""
    return f"at worst {number(found.worst.points.value, 2, sign=True)}, {p_phrase(found.worst.holm)}"


def _comparison_record(found: Difference) -> tuple[Value, ...]:
    worst = found.worst
    lost = (worst.method_unscored, worst.reference_unscored) if worst else (0, 0)
    at_worst = (*ends(worst and worst.points), worst and worst.p, worst and worst.holm)
    tests = (found.p, found.smallest_p, found.holm, found.mcnemar)
    outcomes = (found.both, found.method_only, found.reference_only, found.neither)
    what = (found.family, found.method, found.reference, found.round)
    stands = (found.points.known, found.points.tasks)
    told = (found.verdict, found.says)
    return (*what, *ends(found.points), *stands, *outcomes, *tests, *ends(found.tokens), *lost, *at_worst, *told)
