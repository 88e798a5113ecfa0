"""The cases: one task under each method, all repetitions side by side; and how the methods' feedback was made."""

from __future__ import annotations

from refit.measures import IN_CASES
from refit.report.model import MethodName, Report, TaskOutcome
from refit.report.numbers import NOTHING, format_number
from refit.report.table import CsvValue, ReportTable
from refit.report.tables.layout import TableLines, method_label


def case_table(report: Report) -> ReportTable:
    """What each task came to under each method: passes, the verifier's checks, tool calls and turns."""
    names = {name.method: name for name in report.methods}
    shown = TableLines()
    for recipient in report.recipients:
        for task in recipient.tasks:
            for outcome in task.outcomes:
                cells = (recipient.recipient, task.task, *_cells(outcome, names[outcome.method]))
                record = (recipient.recipient, task.task, *_values(outcome))
                shown.add((recipient.recipient, task.task), cells, [record])
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
    return shown.table("cases", "Cases", caption, header, fields, names=3)


def _cells(outcome: TaskOutcome, name: MethodName) -> tuple[str, ...]:
    return (
        method_label(name),
        str(outcome.round),
        f"{outcome.passes}/{outcome.scored}" if outcome.scored else NOTHING,
        ", ".join(outcome.checks) or NOTHING,
        *(format_number(outcome.means[measure.name], mean.digits) for measure, mean in IN_CASES),
    )


def _values(outcome: TaskOutcome) -> tuple[CsvValue, ...]:
    means = (outcome.means[measure.name] for measure, _ in IN_CASES)
    return outcome.method, outcome.round, outcome.passes, outcome.scored, " ".join(outcome.checks), *means


def settings_table(report: Report) -> ReportTable:
    """How each method's feedback was made."""
    shown = TableLines()
    for name in report.methods:
        profile, budget = name.settings.profile, name.settings.budget
        if profile or budget:
            shown.add(None, (method_label(name), profile, _budget(budget)), [(name.method, profile, budget)])
    caption = (
        "Profile: which calls the analyst makes (`paper`: exactly the paper's; `fast`: the whole attempt in one look); "
        "`rules` asks no model. Budget: how large the feedback could be, the task's own text apart."
    )
    header, fields = ("Method", "Profile", "Budget"), ("method", "profile", "budget")
    return shown.table("settings", "How feedback was made", caption, header, fields, names=3, is_long=False)


def _budget(budget: str) -> str:
    words = {"paper": "180/200 KiB (paper)", "default": "a quarter of the attempt's text, 3–24 KB", "": NOTHING}
    return words.get(budget, f"{budget} bytes")
