"""What became of pairs and of tasks, and how the runs went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from refit.measures import AVERAGED, MeanColumn
from refit.report.model import MeanEstimate, RecipientReport, Report, TaskRow
from refit.report.numbers import count_of, format_interval, format_number, known_of
from refit.report.table import CsvValue, ReportTable, TableCell, TableRow
from refit.report.tables.layout import (
    KEY,
    MARKS,
    NO_VALUE,
    all_rows,
    count_cell,
    interval_fields,
    interval_legend,
    interval_values,
    rank_mark,
    row_key,
    row_label,
)


def transition_table(report: Report) -> ReportTable:
    """What became of passes and failures of round 0."""
    lines: list[TableRow] = []
    records: list[tuple[CsvValue, ...]] = []
    for recipient, row in all_rows(report):
        if (found := row.transition) is None:
            continue
        net = format_number(found.net, 0, sign=True)
        counts = (found.retained, found.regressed, found.repaired)
        entries = [TableCell(str(count)) for count in counts]
        change = row.change.interval if row.change else None
        entries += [
            TableCell(net, format_interval(change, 1, sign=True, scale=row.passed.known / 100)),
            TableCell(str(found.successes)),
        ]
        entries += [
            count_cell(found.regressed_without_tools),
            count_cell(row.without_tools),
            TableCell(str(found.pairs)),
        ]
        start = bool(lines) and recipient.recipient != lines[-1].entries[0].text
        names = (TableCell(recipient.recipient), TableCell(row_label(row)), TableCell(str(row.round)))
        lines.append(TableRow((*names, *entries), start))
        tail = (found.failed, found.net, found.successes, found.regressed_without_tools, row.without_tools, found.pairs)
        records.append((*row_key(recipient, row), *counts, *tail))
    header = ("Recipient", "Method", "Round", "Retained", "Regressed", "Repaired", "Net", "Successes")
    header += ("Regressed without a tool call", "Runs without a tool call", "Pairs")
    fields = (*KEY, "retained", "regressed", "repaired", "failed", "net", "successes")
    fields += ("regressed_without_tools", "without_tools", "pairs")
    caption = (
        "Pairs against round 0. Retained and regressed divide those that passed at first, repaired are passes of those "
        f"that did not; net is repaired less regressed, with the interval of the change as a number of pairs. "
        f"{interval_legend(lines)}"
    )
    return ReportTable(
        name="transitions",
        title="Transitions",
        caption=caption,
        header=header,
        lines=tuple(lines),
        fields=fields,
        records=tuple(records),
        names=2,
        is_long=True,
    )


def behaviour_table(report: Report) -> ReportTable:
    """Rewards, tools, time and sizes: a column for each measure that is averaged."""
    lines: list[TableRow] = []
    records: list[tuple[CsvValue, ...]] = []
    for recipient, row in all_rows(report):
        cells = [_mean_cell(row.means[measure.name], column) for measure, column in AVERAGED]
        start = bool(lines) and recipient.recipient != lines[-1].entries[0].text
        names = (TableCell(recipient.recipient), TableCell(row_label(row)), TableCell(str(row.round)))
        lines.append(TableRow((*names, *cells, count_cell(row.without_tools)), start))
        means = [row.means[measure.name] for measure, _ in AVERAGED]
        flat = [value for mean in means for value in (*interval_values(mean), mean.known)]
        records.append((*row_key(recipient, row), *flat, row.without_tools, row.passed.known))
    header = ("Recipient", "Method", "Round", *(column.header for _, column in AVERAGED), "Runs without a tool call")
    fields = KEY
    for measure, column in AVERAGED:
        name = column.column or measure.name
        fields += (*interval_fields(name), f"{name}_known")
    fields += ("without_tools", "results")
    caption = f"Means for one result, unknown left out and counted. {interval_legend(lines)}"
    name, title = "behaviour", "Rewards, tools, time and sizes"
    return ReportTable(
        name=name,
        title=title,
        caption=caption,
        header=header,
        lines=tuple(lines),
        fields=fields,
        records=tuple(records),
        names=2,
        is_long=True,
    )


def _mean_cell(mean: MeanEstimate, column: MeanColumn) -> TableCell:
    value = None if mean.value is None else mean.value * column.scale
    interval = format_interval(mean.interval, column.digits, scale=column.scale)
    return TableCell(format_number(value, column.digits), " / ".join(filter(None, (interval, known_of(mean)))))


def cumulative_table(report: Report) -> ReportTable:
    """Pairs solved at least once, through each round."""
    last = max((recipient.rounds for recipient in report.recipients), default=0)
    lines: list[TableRow] = []
    records: list[tuple[CsvValue, ...]] = []
    for recipient in report.recipients:
        for at, line in enumerate(recipient.cumulative):
            entries = [
                TableCell(
                    f"{format_number(point.passed.value, 1)} ({point.solved}/{point.passed.known})",
                    format_interval(point.passed.interval, 1),
                )
                for point in line.points
            ]
            entries += [NO_VALUE] * (last + 1 - len(entries))
            dagger = " †" if line.role == "privileged" else ""
            lines.append(
                TableRow(
                    (TableCell(recipient.recipient), TableCell(line.label + dagger), *entries), at == 0 and bool(lines)
                )
            )
            records += [
                (recipient.recipient, line.method, p.round, *interval_values(p.passed), p.solved, p.passed.known)
                for p in line.points
            ]
    dropped = sum(recipient.cumulative_dropped for recipient in report.recipients)
    said = f" Left out, because not scored throughout: {count_of(dropped, 'pair')}." if dropped else ""
    caption = (
        f"Pairs (task and repetition) that passed at least once through each round, in percent of the pairs that are "
        f"scored in every round under every method.{said} {interval_legend(lines)}"
    )
    header = ("Recipient", "Method", *(f"Round {round}" for round in range(last + 1)))
    fields = ("recipient", "method", "round", *interval_fields("percent"), "solved", "pairs")
    name, title = "cumulative", "Solved at least once"
    return ReportTable(
        name=name,
        title=title,
        caption=caption,
        header=header,
        lines=tuple(lines),
        fields=fields,
        records=tuple(records),
        names=2,
        is_long=True,
    )


def task_table(report: Report, recipient: RecipientReport) -> ReportTable:
    """Passes of each task over its repetitions, in the first round with feedback."""
    rows = [row for row in (recipient.baseline, *recipient.rows) if row is not None]
    columns = [(row.method, row.round) for row in rows]
    lines = [TableRow((TableCell(task.task), *_outcomes(task, columns))) for task in recipient.tasks]
    records = [
        (recipient.recipient, task.task, outcome.method, outcome.round, outcome.passes, outcome.scored, outcome.planned)
        for task in recipient.tasks
        for outcome in task.outcomes
    ]
    caption = (
        f"{recipient.recipient}: strict pass rate (%) of each task, with passes of scored repetitions in parentheses. "
        f"A dash is a task that this recipient does not have, or nothing scored. {MARKS} The baseline, ablations and † "
        f"are not ranked; a task's few repetitions carry no interval."
    )
    header = ("Task", *(row_label(row) for row in rows))
    fields = ("recipient", "task", "method", "round", "passes", "scored", "planned")
    place = [other.recipient for other in report.recipients].index(recipient.recipient) + 1
    name = f"tasks-{place}"
    title = f"Outcomes of each task: {recipient.recipient}"
    return ReportTable(
        name=name,
        title=title,
        caption=caption,
        header=header,
        lines=tuple(lines),
        fields=fields,
        records=tuple(records),
        is_long=True,
    )


def _outcomes(task: TaskRow, columns: Sequence[tuple[str, int]]) -> Iterator[TableCell]:
    found = {(outcome.method, outcome.round): outcome for outcome in task.outcomes}
    for condition in columns:
        outcome = found.get(condition)
        if outcome is None or outcome.rate is None:
            yield NO_VALUE
        else:
            text = f"{format_number(outcome.rate, 1)} ({outcome.passes}/{outcome.scored})"
            yield TableCell(text, mark=rank_mark(outcome.rank))
