"""What became of pairs and of tasks, and how the runs went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from refit.measures import AVERAGED, MeanColumn
from refit.report.model import MethodRow, RecipientReport, Report, TaskRow, Transition
from refit.report.numbers import count_of, format_interval, format_number
from refit.report.table import ReportTable, TableCell
from refit.report.tables.layout import (
    MARKS,
    NO_VALUE,
    RowColumn,
    TableLines,
    all_rows,
    amount_cell,
    count_column,
    interval_fields,
    interval_legend,
    interval_values,
    rank_mark,
    row_label,
    row_table,
)


def transition_table(report: Report) -> ReportTable:
    """What became of passes and failures of round 0."""
    columns = (
        _pairs("Retained", "retained"),
        _pairs("Regressed", "regressed"),
        _pairs("Repaired", "repaired"),
        _pairs("", "failed"),
        RowColumn("Net", _net_cell, ("net",), lambda row: (_transition(row).net,)),
        _pairs("Successes", "successes"),
        _pairs("Regressed without a tool call", "regressed_without_tools"),
        count_column("Runs without a tool call", "without_tools", lambda row: row.without_tools),
        _pairs("Pairs", "pairs"),
    )
    caption = (
        "Pairs against round 0. Retained and regressed divide those that passed at first, repaired are passes of those "
        "that did not; net is repaired less regressed, with the interval of the change as a number of pairs."
    )
    rows = ((recipient, row) for recipient, row in all_rows(report) if row.transition is not None)
    return row_table("transitions", "Transitions", caption, rows, columns)


NO_TRANSITION = Transition(0, 0, 0, 0, None)


def _transition(row: MethodRow) -> Transition:
    return row.transition or NO_TRANSITION


def _pairs(header: str, field: str) -> RowColumn:
    """A number of pairs of a transition."""
    return count_column(header, field, lambda row: getattr(_transition(row), field))


def _net_cell(row: MethodRow) -> TableCell:
    change = row.change.interval if row.change else None
    interval = format_interval(change, 1, sign=True, scale=row.passed.known / 100)
    return TableCell(format_number(_transition(row).net, 0, sign=True), interval)


def behaviour_table(report: Report) -> ReportTable:
    """Rewards, tools, time and sizes: a column for each measure that is averaged."""
    columns = (
        *(_measured(measure.name, column) for measure, column in AVERAGED),
        count_column("Runs without a tool call", "without_tools", lambda row: row.without_tools),
        count_column("", "results", lambda row: row.passed.known),
    )
    caption = "Means for one result, unknown left out and counted."
    return row_table("behaviour", "Rewards, tools, time and sizes", caption, all_rows(report), columns)


def _measured(measure: str, column: MeanColumn) -> RowColumn:
    """The mean of a measure, and of how many results it is."""
    field = column.column or measure
    return RowColumn(
        column.header,
        lambda row: amount_cell(row.means[measure], column.digits, scale=column.scale),
        (*interval_fields(field), f"{field}_known"),
        lambda row: (*interval_values(row.means[measure]), row.means[measure].known),
    )


def cumulative_table(report: Report) -> ReportTable:
    """Pairs solved at least once, through each round."""
    last = max((recipient.rounds for recipient in report.recipients), default=0)
    shown = TableLines()
    for recipient in report.recipients:
        for line in recipient.cumulative:
            cells = [
                TableCell(
                    f"{format_number(point.passed.value, 1)} ({point.solved}/{point.passed.known})",
                    format_interval(point.passed.interval, 1),
                )
                for point in line.points
            ]
            cells += [NO_VALUE] * (last + 1 - len(cells))
            records = [
                (recipient.recipient, line.method, p.round, *interval_values(p.passed), p.solved, p.passed.known)
                for p in line.points
            ]
            dagger = " †" if line.role == "privileged" else ""
            shown.add(recipient.recipient, (recipient.recipient, line.label + dagger, *cells), records)
    dropped = sum(recipient.cumulative_dropped for recipient in report.recipients)
    said = f" Left out, because not scored throughout: {count_of(dropped, 'pair')}." if dropped else ""
    caption = (
        f"Pairs (task and repetition) that passed at least once through each round, in percent of the pairs that are "
        f"scored in every round under every method.{said} {interval_legend(shown.lines)}"
    )
    header = ("Recipient", "Method", *(f"Round {round}" for round in range(last + 1)))
    fields = ("recipient", "method", "round", *interval_fields("percent"), "solved", "pairs")
    return shown.table("cumulative", "Solved at least once", caption, header, fields, names=2)


def task_table(report: Report, recipient: RecipientReport) -> ReportTable:
    """Passes of each task over its repetitions, in the first round with feedback."""
    rows = [row for row in (recipient.baseline, *recipient.rows) if row is not None]
    columns = [(row.method, row.round) for row in rows]
    shown = TableLines()
    for task in recipient.tasks:
        records = [
            (
                recipient.recipient,
                task.task,
                outcome.method,
                outcome.round,
                outcome.passes,
                outcome.scored,
                outcome.planned,
            )
            for outcome in task.outcomes
        ]
        shown.add(None, (task.task, *_outcomes(task, columns)), records)
    caption = (
        f"{recipient.recipient}: strict pass rate (%) of each task, with passes of scored repetitions in parentheses. "
        f"A dash is a task that this recipient does not have, or nothing scored. {MARKS} The baseline, ablations and † "
        f"are not ranked; a task's few repetitions carry no interval."
    )
    header = ("Task", *(row_label(row) for row in rows))
    fields = ("recipient", "task", "method", "round", "passes", "scored", "planned")
    number = [other.recipient for other in report.recipients].index(recipient.recipient) + 1
    title = f"Outcomes of each task: {recipient.recipient}"
    return shown.table(f"tasks-{number}", title, caption, header, fields)


def _outcomes(task: TaskRow, columns: Sequence[tuple[str, int]]) -> Iterator[TableCell]:
    by_condition = {(outcome.method, outcome.round): outcome for outcome in task.outcomes}
    for condition in columns:
        outcome = by_condition.get(condition)
        if outcome is None or outcome.rate is None:
            yield NO_VALUE
        else:
            text = f"{format_number(outcome.rate, 1)} ({outcome.passes}/{outcome.scored})"
            yield TableCell(text, mark=rank_mark(outcome.rank))
