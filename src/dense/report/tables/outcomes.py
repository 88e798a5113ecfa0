"""What became of pairs and of tasks, and how the runs went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dense.report.model import Estimate, RecipientReport, Report, TaskRow
from dense.report.numbers import counted, interval, known, number
from dense.report.table import Entry, Line, Table, Value
from dense.report.tables.parts import KEY, MARKS, NONE, count, end_fields, ends, every, intervals, key, label, mark


def transition_table(report: Report) -> Table:
    """What became of passes and failures of round 0."""
    lines: list[Line] = []
    records: list[tuple[Value, ...]] = []
    for recipient, row in every(report):
        if (found := row.transition) is None:
            continue
        net = number(found.net, 0, sign=True)
        counts = (found.retained, found.regressed, found.repaired)
        entries = [Entry(str(count)) for count in counts]
        change = row.change.interval if row.change else None
        entries += [
            Entry(net, interval(change, 1, sign=True, scale=row.passed.known / 100)),
            Entry(str(found.successes)),
        ]
        entries += [count(found.regressed_without_tools), count(row.without_tools), Entry(str(found.pairs))]
        start = bool(lines) and recipient.recipient != lines[-1].entries[0].text
        names = (Entry(recipient.recipient), Entry(label(row)), Entry(str(row.round)))
        lines.append(Line((*names, *entries), start))
        tail = (found.failed, found.net, found.successes, found.regressed_without_tools, row.without_tools, found.pairs)
        records.append((*key(recipient, row), *counts, *tail))
    header = ("Recipient", "Method", "Round", "Retained", "Regressed", "Repaired", "Net", "Successes")
    header += ("Regressed without a tool call", "Runs without a tool call", "Pairs")
    fields = (*KEY, "retained", "regressed", "repaired", "failed", "net", "successes")
    fields += ("regressed_without_tools", "without_tools", "pairs")
    caption = (
        "Pairs against round 0. Retained and regressed divide those that passed at first, repaired are passes of those "
        f"that did not; net is repaired less regressed, with the interval of the change as a number of pairs. "
        f"{intervals(lines)}"
    )
    return Table("transitions", "Transitions", caption, header, tuple(lines), fields, tuple(records), 2, is_long=True)


def behaviour_table(report: Report) -> Table:
    """Rewards, tools, time and sizes."""

    def mean(estimate: Estimate, digits: int, scale: float = 1.0) -> Entry:
        value = None if estimate.value is None else estimate.value * scale
        below = filter(None, (interval(estimate.interval, digits, scale=scale), known(estimate)))
        return Entry(number(value, digits), " / ".join(below))

    lines: list[Line] = []
    records: list[tuple[Value, ...]] = []
    for recipient, row in every(report):
        cells = (mean(row.reward, 4), mean(row.tool_calls, 1), count(row.without_tools), mean(row.seconds, 0))
        sizes = (mean(row.feedback_bytes, 1, 1 / 1024), mean(row.feedback_tokens, 1, 0.001))
        start = bool(lines) and recipient.recipient != lines[-1].entries[0].text
        names = (Entry(recipient.recipient), Entry(label(row)), Entry(str(row.round)))
        lines.append(Line((*names, *cells, *sizes, mean(row.combined_tokens, 1, 0.001)), start))
        means = (row.reward, row.tool_calls, row.seconds, row.feedback_bytes, row.feedback_tokens, row.combined_tokens)
        flat = [end for estimate in means for end in (*ends(estimate), estimate.known)]
        records.append((*key(recipient, row), *flat, row.without_tools, row.passed.known))
    header = ("Recipient", "Method", "Round", "Reward", "Tool calls", "Runs without one", "Seconds")
    header += ("Message (KiB)", "Feedback tokens (thousands)", "With the run's (thousands)")
    fields = KEY
    for name in ("reward", "tool_calls", "seconds", "message_bytes", "feedback_tokens", "combined_tokens"):
        fields += (*end_fields(name), f"{name}_known")
    fields += ("without_tools", "results")
    caption = f"Means for one result, unknown left out and counted. {intervals(lines)}"
    name, title = "behaviour", "Rewards, tools, time and sizes"
    return Table(name, title, caption, header, tuple(lines), fields, tuple(records), 2, is_long=True)


def cumulative_table(report: Report) -> Table:
    """Pairs solved at least once, through each round."""
    last = max((recipient.rounds for recipient in report.recipients), default=0)
    lines: list[Line] = []
    records: list[tuple[Value, ...]] = []
    for recipient in report.recipients:
        for at, line in enumerate(recipient.cumulative):
            entries = [
                Entry(
                    f"{number(point.passed.value, 1)} ({point.solved}/{point.passed.known})",
                    interval(point.passed.interval, 1),
                )
                for point in line.points
            ]
            entries += [NONE] * (last + 1 - len(entries))
            dagger = " †" if line.role == "privileged" else ""
            lines.append(
                Line((Entry(recipient.recipient), Entry(line.label + dagger), *entries), at == 0 and bool(lines))
            )
            records += [
                (recipient.recipient, line.method, p.round, *ends(p.passed), p.solved, p.passed.known)
                for p in line.points
            ]
    dropped = sum(recipient.cumulative_dropped for recipient in report.recipients)
    said = f" Left out, because not scored throughout: {counted(dropped, 'pair')}." if dropped else ""
    caption = (
        f"Pairs (task and repetition) that passed at least once through each round, in percent of the pairs that are "
        f"scored in every round under every method.{said} {intervals(lines)}"
    )
    header = ("Recipient", "Method", *(f"Round {round}" for round in range(last + 1)))
    fields = ("recipient", "method", "round", *end_fields("percent"), "solved", "pairs")
    name, title = "cumulative", "Solved at least once"
    return Table(name, title, caption, header, tuple(lines), fields, tuple(records), 2, is_long=True)


def task_table(report: Report, recipient: RecipientReport) -> Table:
    """Passes of each task over its repetitions, in the first round with feedback."""
    rows = [row for row in (recipient.baseline, *recipient.rows) if row is not None]
    columns = [(row.method, row.round) for row in rows]
    lines = [Line((Entry(task.task), *_outcomes(task, columns))) for task in recipient.tasks]
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
    header = ("Task", *(label(row) for row in rows))
    fields = ("recipient", "task", "method", "round", "passes", "scored", "planned")
    place = [other.recipient for other in report.recipients].index(recipient.recipient) + 1
    name = f"tasks-{place}"
    title = f"Outcomes of each task: {recipient.recipient}"
    return Table(name, title, caption, header, tuple(lines), fields, tuple(records), is_long=True)


def _outcomes(task: TaskRow, columns: Sequence[tuple[str, int]]) -> Iterator[Entry]:
    found = {(outcome.method, outcome.round): outcome for outcome in task.outcomes}
    for condition in columns:
        outcome = found.get(condition)
        if outcome is None or outcome.rate is None:
            yield NONE
        else:
            text = f"{number(outcome.rate, 1)} ({outcome.passes}/{outcome.scored})"
            yield Entry(text, mark=mark(outcome.rank))
