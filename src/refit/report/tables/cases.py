"""The cases: one task under each method, all repetitions side by side; and how the methods' feedback was made."""

from __future__ import annotations

from refit.measures import IN_CASES
from refit.report.model import MethodName, RecipientReport, Report, TaskOutcome
from refit.report.numbers import NOTHING, format_number
from refit.report.table import CsvValue, ReportTable, TableCell, TableRow
from refit.report.tables.layout import method_label


def case_table(report: Report) -> ReportTable:
    """What each task came to under each method: passes, the verifier's checks, tool calls and turns."""
    names = {name.method: name for name in report.methods}
    lines: list[TableRow] = []
    records: list[tuple[CsvValue, ...]] = []
    for recipient in report.recipients:
        for task in recipient.tasks:
            for at, outcome in enumerate(task.outcomes):
                is_first = at == 0 and bool(lines)
                lines.append(_line(recipient, task.task, outcome, names[outcome.method], is_first=is_first))
                records.append(_record(recipient, task.task, outcome))
    heads = [mean.header for _, mean in IN_CASES]
    header = ("Recipient", "Task", "Method", "Round", "Passed", "Checks passed", *heads)
    fields = ("recipient", "task", "method", "round", "passes", "scored", "checks")
    fields += tuple(measure.name for measure, _ in IN_CASES)
    means = f"{', '.join(heads[:-1])} and {heads[-1]}"
    caption = (
        "Passed: repetitions with a reward of exactly 1, of those scored. Checks passed: of the verifier's own checks, "
        "one entry for each repetition whose verifier left a report (CTRF or JUnit). "
        f"{means.capitalize()} are means."
    )
    return ReportTable(
        name="cases",
        title="Cases",
        caption=caption,
        header=header,
        lines=tuple(lines),
        fields=fields,
        records=tuple(records),
        names=3,
        is_long=True,
    )


def _line(recipient: RecipientReport, task: str, outcome: TaskOutcome, name: MethodName, *, is_first: bool) -> TableRow:
    passed = f"{outcome.passes}/{outcome.scored}" if outcome.scored else NOTHING
    texts = (
        recipient.recipient,
        task,
        method_label(name),
        str(outcome.round),
        passed,
        ", ".join(outcome.checks) or NOTHING,
        *(format_number(outcome.means[measure.name], mean.digits) for measure, mean in IN_CASES),
    )
    return TableRow(tuple(map(TableCell, texts)), is_first)


def _record(recipient: RecipientReport, task: str, outcome: TaskOutcome) -> tuple[CsvValue, ...]:
    means = (outcome.means[measure.name] for measure, _ in IN_CASES)
    counts = (outcome.passes, outcome.scored, " ".join(outcome.checks))
    return recipient.recipient, task, outcome.method, outcome.round, *counts, *means


def settings_table(report: Report) -> ReportTable:
    """How each method's feedback was made."""
    methods = [name for name in report.methods if name.settings.profile or name.settings.budget]
    lines = [
        TableRow(tuple(map(TableCell, (method_label(name), name.settings.profile, _budget(name.settings.budget)))))
        for name in methods
    ]
    records = [(name.method, name.settings.profile, name.settings.budget) for name in methods]
    caption = (
        "Profile: which calls the analyst makes (`paper`: exactly the paper's; `fast`: the whole attempt in one look); "
        "`rules` asks no model. Budget: how large the feedback could be, the task's own text apart."
    )
    header, fields = ("Method", "Profile", "Budget"), ("method", "profile", "budget")
    return ReportTable(
        name="settings",
        title="How feedback was made",
        caption=caption,
        header=header,
        lines=tuple(lines),
        fields=fields,
        records=tuple(records),
        names=3,
    )


def _budget(budget: str) -> str:
    words = {"paper": "180/200 KiB (paper)", "default": "a quarter of the attempt's text, 3–24 KB", "": NOTHING}
    return words.get(budget, f"{budget} bytes")
