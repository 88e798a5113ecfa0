"""What was passed, and with how many tokens: by method, by recipient, without parts of DENSE, without some tasks."""

from __future__ import annotations

from refit.report.build import ablation_table
from refit.report.model import Difference, MeanEstimate, MethodRow, RecipientReport, Report
from refit.report.numbers import count_of, format_interval, format_number, format_p, known_of
from refit.report.statistics.comparisons import ours_among
from refit.report.statistics.metrics import with_ranks
from refit.report.table import CsvValue, ReportTable, TableCell
from refit.report.tables.layout import (
    DAGGER,
    KEY,
    MARKS,
    NO_VALUE,
    TableLines,
    all_rows,
    caveats_before_differences,
    count_column,
    interval_fields,
    interval_legend,
    interval_values,
    mean_column,
    passed_cell,
    rank_mark,
    row_key,
    row_label,
    row_table,
    shown_rows,
    wide_table,
)


def pass_table(report: Report) -> ReportTable:
    """Strict pass rates and changes, a column for each recipient."""

    def entry(row: MethodRow) -> TableCell:
        change = row.change
        parts = [format_number(row.passed.value, 2), *([format_number(change.value, 2, sign=True)] if change else [])]
        below = [
            format_interval(row.passed.interval, 1),
            format_interval(change.interval, 1, sign=True) if change else "",
        ]
        return TableCell(" / ".join(parts), " / ".join(filter(None, below)), rank_mark(row.ranks.passed))

    fields = (*KEY, *interval_fields("pass_percent", "pass"), *interval_fields("change_points", "change"))
    fields += ("source_pass_percent", "passes", "pairs", "tasks", "rank")

    def values(row: MethodRow) -> tuple[CsvValue, ...]:
        counts = (row.source_passed, row.passes, row.passed.known, row.passed.tasks, row.ranks.passed)
        return (*interval_values(row.passed), *interval_values(row.change), *counts)

    caption = (
        f"Strict pass rate (%) / change from round 0 (points), {_over(report)}. The change is over the pairs that are "
        f"scored in both, which may be fewer than the baseline's row has.{caveats_before_differences(report)}"
    )
    return wide_table(report, "pass", "Strict pass and change", caption, entry, fields, values)


def _over(report: Report) -> str:
    """What the rates are of: tasks and repetitions of each recipient."""
    sizes = [(recipient.tasks_applicable, recipient.repetitions) for recipient in report.recipients]
    if len(set(sizes)) == 1:
        return f"{count_of(sizes[0][0], 'task')} × {count_of(sizes[0][1], 'repetition')}"
    if not sizes:
        return "of nothing yet"
    sizes_by_recipient = (
        f"{recipient.recipient} {recipient.tasks_applicable} × {recipient.repetitions}"
        for recipient in report.recipients
    )
    return f"tasks × repetitions: {', '.join(sizes_by_recipient)}"


def token_table(report: Report) -> ReportTable:
    """Recipient tokens and changes, a column for each recipient."""

    def entry(row: MethodRow) -> TableCell:
        change = row.tokens_change
        thousands = None if row.tokens.value is None else row.tokens.value / 1000
        parts = [
            format_number(thousands, 1),
            *([format_number(change.value, 1, sign=True, unit="%")] if change else []),
        ]
        below = [format_interval(row.tokens.interval, 1, scale=0.001)]
        below += [format_interval(change.interval, 1, sign=True) if change else "", known_of(row.tokens)]
        return TableCell(" / ".join(parts), " / ".join(filter(None, below)), rank_mark(row.ranks.tokens))

    fields = (*KEY, *interval_fields("tokens"), *interval_fields("change_percent", "change"))
    fields += ("known", "results", "completed_calls_only", "rank")

    def values(row: MethodRow) -> tuple[CsvValue, ...]:
        counts = (row.tokens.known, row.tokens.of, row.partial, row.ranks.tokens)
        return (*interval_values(row.tokens), *interval_values(row.tokens_change), *counts)

    partial = sum(row.partial for _, row in all_rows(report))
    said = f" Of completed calls only: {count_of(partial, 'result')}." if partial else ""
    caption = (
        f"Recipient tokens of a run (thousands) / change from the baseline row (ratio of means). Feedback and the "
        f"source run are not in them; unknown is left out, never zero.{said}"
    )
    return wide_table(report, "tokens", "Recipient tokens and change", caption, entry, fields, values)


def ablations(report: Report) -> ReportTable:
    """DENSE without its parts, and by how much the whole is better."""
    shown = TableLines()
    for recipient in report.recipients:
        if not any(row.role == "ablation" for row in recipient.rows):
            continue
        gaps = _gaps(recipient)
        for row in with_ranks(ablation_table(recipient.baseline, recipient.rows)):
            gap = gaps.get(row.method)
            rates = (*interval_values(row.tokens), *interval_values(row.passed), row.passes)
            tests = (*interval_values(gap.points), gap.p, gap.holm) if gap else (None,) * 6
            record = (*row_key(recipient, row), *rates, *tests)
            shown.add(recipient.recipient, _ablation(recipient.recipient, row, gap), [record])
    header = ("Recipient", "Method", "Tokens (thousands)", "Strict pass (%)", "DENSE less this (points)", "Holm p")
    fields = (*KEY, *interval_fields("tokens"), *interval_fields("pass_percent", "pass"), "passes")
    fields += (*interval_fields("dense_less_this", "gap"), "p", "holm")
    caption = (
        f"DENSE without its parts: recipient tokens of a run and strict pass. {interval_legend(shown.lines)} {MARKS}"
    )
    return shown.table("ablations", "Ablations", caption, header, fields, names=2, is_long=False)


def _ablation(recipient: str, row: MethodRow, gap: Difference | None) -> tuple[TableCell, ...]:
    thousands = None if row.tokens.value is None else row.tokens.value / 1000
    tokens = TableCell(
        format_number(thousands, 1), format_interval(row.tokens.interval, 1, scale=0.001), rank_mark(row.ranks.tokens)
    )
    less = (
        TableCell(format_number(gap.points.value, 2, sign=True), format_interval(gap.points.interval, 2, sign=True))
        if gap
        else NO_VALUE
    )
    return (
        TableCell(recipient),
        TableCell(row.label),
        tokens,
        passed_cell(row),
        less,
        TableCell(format_p(gap.holm if gap else None)),
    )


def round_table(report: Report) -> ReportTable:
    """Pass rates of every round, where there is more than one with feedback."""
    columns = (
        mean_column("Strict pass (%)", "pass/pass_percent", lambda row: row.passed, passed_cell),
        mean_column("Change from round 0 (points)", "change/change_points", lambda row: row.change, _change_cell),
        count_column("", "passes", lambda row: row.passes),
        count_column("", "pairs", lambda row: row.passed.known),
    )
    caption = "Strict pass of each later round by itself, ranked within it."
    rows = ((recipient, row) for recipient in report.recipients for row in recipient.later)
    return row_table(
        "rounds",
        "Later rounds",
        caption,
        rows,
        columns,
        group=lambda _, row: row.round,
        legend=f"{MARKS} {DAGGER}",
    )


def _change_cell(row: MethodRow) -> TableCell:
    change = row.change or MeanEstimate()
    return TableCell(format_number(change.value, 2, sign=True), format_interval(change.interval, 1, sign=True))


def sensitivity_table(report: Report) -> ReportTable:
    """With all tasks, and without those excluded."""
    shown = TableLines()
    reduced = {recipient.recipient: recipient for recipient in report.sensitivity}
    for recipient in report.recipients:
        other = reduced.get(recipient.recipient)
        if other is None:
            continue
        fewer = {row.method: row for row in shown_rows(other, with_ablations=True)}
        gaps, fewer_gaps = _gaps(recipient), _gaps(other)
        for row in shown_rows(recipient, with_ablations=True):
            variants = (row, fewer.get(row.method))
            less = (gaps.get(row.method), fewer_gaps.get(row.method))
            cells = [_both(variant.passed, variant.change, 2) if variant else NO_VALUE for variant in variants]
            cells += [_both(gap.points, None, 2, sign=True) if gap else NO_VALUE for gap in less]
            rates = [mean for variant in variants for mean in (variant and variant.passed, variant and variant.change)]
            counts = [variant.passed.known if variant else None for variant in variants]
            record = (
                *row_key(recipient, row),
                *(end for mean in rates for end in interval_values(mean)),
                *counts,
                *(end for gap in less for end in interval_values(gap and gap.points)),
            )
            shown.add(recipient.recipient, (recipient.recipient, row_label(row), *cells), [record])
    header = ("Recipient", "Method", "All tasks", "Without", "DENSE less this, all", "DENSE less this, without")
    fields = KEY
    for name in ("pass", "change", "pass_without", "change_without"):
        fields += interval_fields(name)
    fields += ("pairs", "pairs_without", *interval_fields("gap"), *interval_fields("gap_without"))
    caption = (
        f"Strict pass (%) / change from round 0 (points) with all tasks, and without {', '.join(report.excluded)}; and "
        f"by how much DENSE is higher. {interval_legend(shown.lines)} {DAGGER}"
    )
    return shown.table("sensitivity", "Sensitivity", caption, header, fields, names=2)


def _gaps(recipient: RecipientReport) -> dict[str, Difference]:
    """DENSE less each other, in whichever family."""
    name = ours_among(row.method for row in recipient.rows)
    ours = [
        difference
        for difference in recipient.differences
        if difference.method == name and difference.family != "cumulative"
    ]
    return {difference.reference: difference for difference in ours}


def _both(first: MeanEstimate, second: MeanEstimate | None, digits: int, *, sign: bool = False) -> TableCell:
    parts = [format_number(first.value, digits, sign=sign)]
    below = [format_interval(first.interval, 1, sign=sign)]
    if second is not None:
        parts.append(format_number(second.value, digits, sign=True))
        below.append(format_interval(second.interval, 1, sign=True))
    return TableCell(" / ".join(parts), " / ".join(filter(None, below)))
