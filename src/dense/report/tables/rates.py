"""What was passed, and with how many tokens: by method, by recipient, without parts of DENSE, without some tasks."""

from __future__ import annotations

from dense.report.build import ablation_table
from dense.report.comparisons import OURS
from dense.report.metrics import ranked
from dense.report.model import Difference, Estimate, MethodRow, RecipientReport, Report
from dense.report.numbers import counted, interval, known, number, p_value
from dense.report.table import Entry, Line, Table, Value
from dense.report.tables.parts import (
    DAGGER,
    KEY,
    MARKS,
    NONE,
    end_fields,
    ends,
    every,
    intervals,
    key,
    label,
    mark,
    reserved,
    shown,
    wide,
)


def pass_table(report: Report) -> Table:
    """Strict pass rates and changes, a column for each recipient."""

    def entry(row: MethodRow) -> Entry:
        change = row.change
        parts = [number(row.passed.value, 2), *([number(change.value, 2, sign=True)] if change else [])]
        below = [interval(row.passed.interval, 1), interval(change.interval, 1, sign=True) if change else ""]
        return Entry(" / ".join(parts), " / ".join(filter(None, below)), mark(row.ranks.passed))

    fields = (*KEY, *end_fields("pass_percent", "pass"), *end_fields("change_points", "change"))
    fields += ("source_pass_percent", "passes", "pairs", "tasks", "rank")
    records = tuple(
        (
            *key(recipient, row),
            *ends(row.passed),
            *ends(row.change),
            row.source_passed,
            row.passes,
            row.passed.known,
            row.passed.tasks,
            row.ranks.passed,
        )
        for recipient, row in every(report)
    )
    caption = (
        f"Strict pass rate (%) / change from round 0 (points), {_over(report)}. The change is over the pairs that are "
        f"scored in both, which may be fewer than the baseline's row has.{reserved(report)}"
    )
    return wide(report, "pass", "Strict pass and change", caption, entry, fields, records)


def _over(report: Report) -> str:
    """What the rates are of: tasks and repetitions of each recipient."""
    sizes = [(recipient.tasks_applicable, recipient.repetitions) for recipient in report.recipients]
    if len(set(sizes)) == 1:
        return f"{counted(sizes[0][0], 'task')} × {counted(sizes[0][1], 'repetition')}"
    if not sizes:
        return "of nothing yet"
    told = (
        f"{recipient.recipient} {recipient.tasks_applicable} × {recipient.repetitions}"
        for recipient in report.recipients
    )
    return f"tasks × repetitions: {', '.join(told)}"


def token_table(report: Report) -> Table:
    """Recipient tokens and changes, a column for each recipient."""

    def entry(row: MethodRow) -> Entry:
        change = row.tokens_change
        thousands = None if row.tokens.value is None else row.tokens.value / 1000
        parts = [number(thousands, 1), *([number(change.value, 1, sign=True, unit="%")] if change else [])]
        below = [interval(row.tokens.interval, 1, scale=0.001)]
        below += [interval(change.interval, 1, sign=True) if change else "", known(row.tokens)]
        return Entry(" / ".join(parts), " / ".join(filter(None, below)), mark(row.ranks.tokens))

    fields = (*KEY, *end_fields("tokens"), *end_fields("change_percent", "change"))
    fields += ("known", "results", "completed_calls_only", "rank")
    records = tuple(
        (
            *key(recipient, row),
            *ends(row.tokens),
            *ends(row.tokens_change),
            row.tokens.known,
            row.tokens.of,
            row.partial,
            row.ranks.tokens,
        )
        for recipient, row in every(report)
    )
    partial = sum(row.partial for _, row in every(report))
    said = f" Of completed calls only: {counted(partial, 'result')}." if partial else ""
    caption = (
        f"Recipient tokens of a run (thousands) / change from the baseline row (ratio of means). Feedback and the "
        f"source run are not in them; unknown is left out, never zero.{said}"
    )
    return wide(report, "tokens", "Recipient tokens and change", caption, entry, fields, records)


def ablations(report: Report) -> Table:
    """DENSE without its parts, and by how much the whole is better."""
    lines: list[Line] = []
    records: list[tuple[Value, ...]] = []
    for recipient in report.recipients:
        if not any(row.role == "ablation" for row in recipient.rows):
            continue
        gaps = _gaps(recipient)
        for at, row in enumerate(ranked(ablation_table(recipient.baseline, recipient.rows))):
            gap = gaps.get(row.method)
            lines.append(Line(_ablation(recipient.recipient, row, gap), at == 0 and bool(lines)))
            points = ends(gap.points if gap else None)
            tail = (gap.p, gap.holm) if gap else (None, None)
            records.append((*key(recipient, row), *ends(row.tokens), *ends(row.passed), row.passes, *points, *tail))
    header = ("Recipient", "Method", "Tokens (thousands)", "Strict pass (%)", "DENSE less this (points)", "Holm p")
    fields = (*KEY, *end_fields("tokens"), *end_fields("pass_percent", "pass"), "passes")
    fields += (*end_fields("dense_less_this", "gap"), "p", "holm")
    caption = f"DENSE without its parts: recipient tokens of a run and strict pass. {intervals(lines)} {MARKS}"
    return Table("ablations", "Ablations", caption, header, tuple(lines), fields, tuple(records), 2)


def _ablation(recipient: str, row: MethodRow, gap: Difference | None) -> tuple[Entry, ...]:
    thousands = None if row.tokens.value is None else row.tokens.value / 1000
    tokens = Entry(number(thousands, 1), interval(row.tokens.interval, 1, scale=0.001), mark(row.ranks.tokens))
    passed = Entry(number(row.passed.value, 2), interval(row.passed.interval, 1), mark(row.ranks.passed))
    less = Entry(number(gap.points.value, 2, sign=True), interval(gap.points.interval, 2, sign=True)) if gap else NONE
    return Entry(recipient), Entry(row.label), tokens, passed, less, Entry(p_value(gap.holm if gap else None))


def round_table(report: Report) -> Table:
    """Pass rates of every round, where there is more than one with feedback."""
    lines: list[Line] = []
    records: list[tuple[Value, ...]] = []
    for recipient in report.recipients:
        for row in recipient.later:
            passed = Entry(number(row.passed.value, 2), interval(row.passed.interval, 1), mark(row.ranks.passed))
            change = row.change or Estimate()
            less = Entry(number(change.value, 2, sign=True), interval(change.interval, 1, sign=True))
            start = bool(lines) and row.round != records[-1][3]
            lines.append(
                Line((Entry(recipient.recipient), Entry(label(row)), Entry(str(row.round)), passed, less), start)
            )
            records.append((*key(recipient, row), *ends(row.passed), *ends(row.change), row.passes, row.passed.known))
    header = ("Recipient", "Method", "Round", "Strict pass (%)", "Change from round 0 (points)")
    fields = (*KEY, *end_fields("pass_percent", "pass"), *end_fields("change_points", "change"), "passes", "pairs")
    caption = f"Strict pass of each later round by itself, ranked within it. {intervals(lines)} {MARKS} {DAGGER}"
    return Table("rounds", "Later rounds", caption, header, tuple(lines), fields, tuple(records), 2, is_long=True)


def sensitivity_table(report: Report) -> Table:
    """With all tasks, and without those excluded."""
    lines: list[Line] = []
    records: list[tuple[Value, ...]] = []
    reduced = {recipient.recipient: recipient for recipient in report.sensitivity}
    for recipient in report.recipients:
        other = reduced.get(recipient.recipient)
        if other is None:
            continue
        fewer = {row.method: row for row in shown(other, with_ablations=True)}
        gaps, fewer_gaps = _gaps(recipient), _gaps(other)
        for at, row in enumerate(shown(recipient, with_ablations=True)):
            pair = (row, fewer.get(row.method))
            cells = [_both(one.passed, one.change, 2) if one else NONE for one in pair]
            less = [gaps.get(row.method), fewer_gaps.get(row.method)]
            cells += [_both(gap.points, None, 2, sign=True) if gap else NONE for gap in less]
            lines.append(Line((Entry(recipient.recipient), Entry(label(row)), *cells), at == 0 and bool(lines)))
            numbers = [end for one in pair for end in (*ends(one and one.passed), *ends(one and one.change))]
            counts = [one.passed.known if one else None for one in pair]
            flat = [end for gap in less for end in ends(gap and gap.points)]
            records.append((*key(recipient, row), *numbers, *counts, *flat))
    header = ("Recipient", "Method", "All tasks", "Without", "DENSE less this, all", "DENSE less this, without")
    fields = KEY
    for name in ("pass", "change", "pass_without", "change_without"):
        fields += end_fields(name)
    fields += ("pairs", "pairs_without", *end_fields("gap"), *end_fields("gap_without"))
    caption = (
        f"Strict pass (%) / change from round 0 (points) with all tasks, and without {', '.join(report.excluded)}; and "
        f"by how much DENSE is higher. {intervals(lines)} {DAGGER}"
    )
    return Table("sensitivity", "Sensitivity", caption, header, tuple(lines), fields, tuple(records), 2, is_long=True)


def _gaps(recipient: RecipientReport) -> dict[str, Difference]:
    """DENSE less each other, in whichever family."""
    ours = [found for found in recipient.differences if found.method == OURS and found.family != "cumulative"]
    return {found.reference: found for found in ours}


def _both(first: Estimate, second: Estimate | None, digits: int, *, sign: bool = False) -> Entry:
    parts = [number(first.value, digits, sign=sign)]
    below = [interval(first.interval, 1, sign=sign)]
    if second is not None:
        parts.append(number(second.value, digits, sign=True))
        below.append(interval(second.interval, 1, sign=True))
    return Entry(" / ".join(parts), " / ".join(filter(None, below)))
