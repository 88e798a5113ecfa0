"""What a report says in words: how methods are called, the main result in one sentence, and what the data cannot say.

The same data give the same sentences. A sentence about a difference carries its interval; where the data do not carry
a statement, the sentence says that and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from refit.report.model import (
    CellCounts,
    Difference,
    MethodName,
    MethodRow,
    MethodSettings,
    RecipientReport,
    Role,
    UnscoredCell,
)
from refit.report.numbers import count_of, format_fixed, format_range, p_in_words
from refit.report.statistics.bootstrap import FEW_TASKS
from refit.report.statistics.comparisons import OURS, ours_among
from refit.report.table import plain_text
from refit.results import RUN0, Experiment, Prices, base_method

LABELS: Mapping[str, tuple[str, str]] = {
    RUN0: ("Baseline", "Base"),
    "none": ("None (second try)", "None"),
    "advisor": ("Advisor", "Adv."),
    "self-reflection": ("Self-reflection", "Self-refl."),
    "all-at-once": ("All-at-once", "All-at-once"),
    "step-by-step": ("Step-by-step", "Step-by-step"),
    "dense": ("DENSE", "DENSE"),
    "dense+lessons": ("DENSE with lessons", "lessons"),
    "dense-no-shortcuts": ("DENSE without shortcuts", "no shortcuts"),
    "dense-no-hierarchy": ("DENSE without hierarchy", "no hierarchy"),
    "dense-flat": ("DENSE, flat", "flat"),
    "verifier-feedback": ("Verifier feedback", "VF"),
}
"""How methods are shown, and where space is small; others by their own name."""
PROFILED = ("dense", "dense+lessons", "dense-no-shortcuts", "dense-flat")
"""Methods whose calls the profile decides."""
ABLATIONS = ("dense-no-shortcuts", "dense-no-hierarchy", "dense-flat")
METHOD_OF_INTERVALS = (
    "Intervals are 95 % by resampling tasks ({draws:,} draws, seed {seed}; percentile at an expanded level, the same "
    "draws for all methods of a recipient; where fewer than three tasks differ from the rest, and for amounts of fewer "
    "than ten tasks, widened to what so few cannot rule out, and marked ‡). p is exact and two-sided, by flipping the "
    "signs of the tasks' differences in all "
    "ways; Holm adjusts it over the methods of a recipient and reference. A claim must also hold with every unscored "
    "cell counted against it. Exact McNemar is shown beside p for comparison with other reports: it takes pairs of one "
    "task for independent, which they are not."
)
"""Said of every report."""


def name_methods(
    methods: Iterable[str], privileged: Iterable[str], settings: Mapping[str, MethodSettings] | None = None
) -> tuple[MethodName, ...]:
    """Round 0 first, then the methods as they come. If two would be shown by one label, both show their full names."""
    methods, privileged, known = list(methods), set(privileged), settings or {}
    every = [RUN0, *methods]
    shown = {method: _label(method, known.get(method, MethodSettings())) for method in every}
    labels = Counter(_shown(label) for label, _ in shown.values())
    shorts = Counter(_shown(short) for _, short in shown.values())

    def role(method: str) -> Role:
        if method in privileged:
            return "privileged"
        return "ablation" if base_method(method) in ABLATIONS and ours_among(methods) else "method"

    def name(method: str, of: Role) -> MethodName:
        label, short = shown[method]
        if labels[_shown(label)] > 1:
            label = f"{label} ({method})"
        short = method if shorts[_shown(short)] > 1 else short
        return MethodName(method, label, short, of, known.get(method, MethodSettings()))

    return (name(RUN0, "baseline"), *(name(method, role(method)) for method in methods))


def _label(method: str, settings: MethodSettings) -> tuple[str, str]:
    """A method's label and its short one: with the profile where that decides what is asked, and with what makes it an
    arm of its own."""
    base = base_method(method)
    label, short = LABELS.get(base, (base, base))
    own = method[len(base) + 1 :]
    words = [settings.profile] if base in PROFILED and settings.profile else []
    words += [own] if own and own not in words else []
    return f"{label} ({', '.join(words)})" if words else label, f"{short}@{own}" if own else short


def _shown(label: str) -> str:
    """What a reader sees of a label: case and space make no difference."""
    return " ".join(plain_text(label).casefold().split())


def focus(rows: Sequence[MethodRow]) -> MethodRow | None:
    """The method that the main result is about: ours, else the best that saw no outcome, else the best that did."""
    scored = [row for row in rows if row.method != "none" and row.passed.value is not None]
    open_rows = [row for row in scored if row.role != "privileged"]
    name = ours_among(row.method for row in open_rows)
    ours = [row for row in open_rows if row.method == name]
    return next(iter(ours), None) or max(open_rows or scored, key=lambda row: row.passed.value or 0.0, default=None)


def headline(recipient: str, rows: Sequence[MethodRow], differences: Sequence[Difference], repetitions: int) -> str:
    """One recipient's main result in one sentence."""
    main = focus(rows)
    if main is None:
        return f"{recipient}: {_nothing(rows)}, so nothing can be said of feedback."
    by_family = {difference.family: difference for difference in differences if difference.method == main.method}
    rivals = sum(row.role == main.role and row.method != "none" and row.passed.value is not None for row in rows)
    text = _rate(recipient, main, repetitions, is_chosen=base_method(main.method) != OURS and rivals > 1)
    if main.source_passed is not None:
        text += f" after {format_fixed(main.source_passed, 2)} % in round 0"
    gains = [_gain(by_family[RUN0])] if RUN0 in by_family else []
    if "none" in by_family:
        gains.append(f"{_gain(by_family['none'])} against a second try without feedback")
    apart = " It saw outcomes, and no method that did not is scored." if main.role == "privileged" else ""
    return f"{': '.join(filter(None, (text, '; '.join(gains))))}{_end(rows, by_family)}{apart}"


def _nothing(rows: Sequence[MethodRow]) -> str:
    """Why there is no main result."""
    reruns = [row for row in rows if row.method != "none"]
    if not reruns:
        return "no run with feedback is there" + (" (a second try has none)" if rows else "")
    if any(row.counts.unpaired for row in reruns):
        return "no run with feedback is scored together with its first attempt"
    if any(row.counts.invalid for row in reruns):
        return "runs with feedback are there, and none was ever scored"
    return "no run with feedback is scored yet"


def _rate(recipient: str, main: MethodRow, repetitions: int, *, is_chosen: bool) -> str:
    chosen = " (the highest, chosen after the fact)" if is_chosen else ""
    dagger = " †" if main.role == "privileged" else ""
    rate = format_fixed(main.passed.value or 0.0, 2)
    return f"With {main.label}{dagger}{chosen}, {recipient} passes {rate} % ({_over(main, repetitions)})"


def _over(main: MethodRow, repetitions: int) -> str:
    """What a rate is computed from: the pairs that are really in it."""
    pairs, planned, tasks = main.passed.known, main.counts.planned, main.passed.tasks
    if pairs == planned == tasks * repetitions:
        return f"{count_of(tasks, 'task')} × {count_of(repetitions, 'repetition')}"
    of = f"{pairs:,} of {count_of(planned, 'pair')}" if pairs < planned else count_of(pairs, "pair")
    return f"{of}, {count_of(tasks, 'task')}"


def _gain(difference: Difference) -> str:
    """The difference with its interval and adjusted p."""
    points = difference.points
    if points.value is None:
        return "no difference can be computed"
    text = f"{format_fixed(points.value, 2, sign=True)} points"
    if points.interval is None:
        return f"{text} (no interval: {count_of(points.tasks, 'task')})"
    p = "" if difference.holm is None else f", {p_in_words(difference.holm)} after Holm"
    return f"{text} (95 % interval {format_range(points.interval, 2)}{p})"


def _end(rows: Sequence[MethodRow], by_family: Mapping[str, Difference]) -> str:
    """What follows of it for feedback."""
    if lack := missing_control(rows):
        return f". {lack}: the change cannot be distinguished from that of a second try."
    if "none" not in by_family:
        return "."
    control = by_family["none"]
    if control.verdict == "no claim":
        reason = control.says.removeprefix("no claim: ")
        return f". No claim that the feedback is the cause: {reason}."
    return f". Its pass rate is {control.verdict} than that of a second try."


def missing_control(rows: Sequence[MethodRow]) -> str:
    """That there is no `none` to compare with, and why; empty where there is one."""
    control = next((row for row in rows if row.method == "none"), None)
    if control is None:
        return "No `none` control was run"
    if control.passed.value is not None:
        return ""
    if control.counts.unpaired:
        return "The `none` control is scored only where the first attempt is not"
    return (
        f"The `none` control was {'run and never scored' if control.counts.invalid else 'planned and is not run yet'}"
    )


def overall_headline(recipients: Sequence[RecipientReport]) -> str:
    """The main result of all recipients in one sentence."""
    if not recipients:
        return "No result yet."
    if len(recipients) == 1:
        return recipients[0].headline
    differences = [(report.recipient, _main_difference(report)) for report in recipients]
    known = [
        (name, difference) for name, difference in differences if difference and difference.points.value is not None
    ]
    if not known:
        reasons = {_nothing(report.rows) for report in recipients if focus(report.rows) is None}
        why = reasons.pop() if len(reasons) == 1 else "no change with feedback can be computed"
        return f"{why[0].upper()}{why[1:]}, so nothing can be said of feedback."
    gains = "; ".join(f"{name} {_short(difference)}" for name, difference in known)
    methods = " / ".join(dict.fromkeys(difference.method_label for _, difference in known))
    families = {difference.family for _, difference in known}
    against = "a second try without feedback"
    if families != {"none"}:
        against = "round 0" if "none" not in families else "round 0, or a second try where there is one"
    sentence = f"{methods} against {against}, in points of pass rate: {gains}. {_verdicts(differences)}."
    lacking = [(report.recipient, lack) for report in recipients if (lack := missing_control(report.rows))]
    return f"{sentence}{_lacking(lacking, len(recipients))}{_privileged(recipients)}"


def _verdicts(differences: Sequence[tuple[str, Difference | None]]) -> str:
    """For whom it is higher, for whom lower, and for whom nothing is claimed."""
    parts: list[str] = []
    for verdict in ("higher", "lower", "no claim"):
        names = [name for name, difference in differences if difference and _verdict(difference) == verdict]
        if names:
            parts.append(f"{verdict} for {', '.join(names)}")
    lost = [name for name, difference in differences if difference is None or _verdict(difference) == ""]
    if lost:
        parts.append(f"nothing to compare for {', '.join(lost)}")
    text = "; ".join(parts)
    return text[0].upper() + text[1:]


def _verdict(difference: Difference) -> str:
    return "" if difference.points.value is None else difference.verdict


def _lacking(lacking: Sequence[tuple[str, str]], of: int) -> str:
    """Who has no `none` control."""
    if not lacking:
        return ""
    reasons = list(dict.fromkeys(lack for _, lack in lacking))
    if len(lacking) == of and len(reasons) == 1:
        why = reasons[0]
    else:
        text = (f"{', '.join(name for name, lack in lacking if lack == why)}: {_lower(why)}" for why in reasons)
        why = "Not everyone has a `none` control (" + "; ".join(text) + ")"
    return f" {why}: a change from round 0 cannot be distinguished from that of a second try."


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def _privileged(recipients: Sequence[RecipientReport]) -> str:
    main = [(report.recipient, focus(report.rows)) for report in recipients]
    names = [name for name, row in main if row is not None and row.role == "privileged"]
    return f" The result for {', '.join(names)} is of a method that saw outcomes (†)." if names else ""


def _main_difference(report: RecipientReport) -> Difference | None:
    """Against `none` where there is one, else against round 0."""
    main = focus(report.rows)
    if main is None:
        return None
    by_family = {difference.family: difference for difference in report.differences if difference.method == main.method}
    return by_family.get("none") or by_family.get(RUN0)


def _short(difference: Difference) -> str:
    points = difference.points
    value = format_fixed(points.value or 0.0, 2, sign=True)
    if points.interval is None:
        return f"{value} (no interval: {count_of(points.tasks, 'task')})"
    return f"{value} [{format_range(points.interval, 2)}]"


def few_tasks_caveat(tasks: int) -> str:
    """That tasks are too few for an interval; empty where they are not."""
    if tasks == 1:
        return "1 task: no interval and no p-value can be had; nothing is said about other tasks."
    if tasks < FEW_TASKS:
        return f"{tasks} tasks: intervals are unreliable with fewer than {FEW_TASKS}, and nothing is claimed."
    return ""


def control_caveat(rows: Sequence[MethodRow]) -> str:
    """That a gain is no gain by feedback, for want of a second try without it; empty where there is one."""
    lack = missing_control(rows) if rows else ""
    return f"{lack}: a gain over round 0 cannot be distinguished from that of a second try." if lack else ""


def caveats(report: RecipientReport, analyst: Prices | None) -> Iterator[str]:
    """What one recipient's data cannot say."""
    rows, baseline = [*report.rows, *report.later], report.baseline
    every = [row for row in (baseline, *rows) if row is not None]
    yield from filter(None, (few_tasks_caveat(report.tasks_applicable),))
    if report.repetitions == 1:
        yield "1 repetition: how much the same task varies from run to run is not measured apart from the feedback."
    if baseline is None:
        yield "No round 0 is scored: no change from a first attempt can be computed."
    yield from filter(None, (control_caveat(report.rows),))
    yield from _incomplete(every)
    yield from _matched(report)
    yield from _tokens(every)
    yield from _money(report.recipient, every, analyst)


def _incomplete(rows: Sequence[MethodRow]) -> Iterator[str]:
    missing, unpaired = sum(row.counts.missing for row in rows), sum(row.counts.unpaired for row in rows)
    invalid = list(_unscored(rows))
    if invalid:
        yield (
            f"Run and never scored: {', '.join(invalid)}. They are left out with their pairs, never a zero; where what "
            "ended them goes with failing, rates are too high. A claim must hold with them counted against it."
        )
    if full := list(_unscored(rows, lambda counts: counts.out_of_context)):
        yield (
            f"Of these, the agent ran out of its model's context in: {', '.join(full)}. That is no failure of the "
            "machinery, and nothing was graded: a method whose messages are long may have caused it."
        )
    if missing:
        yield f"{count_of(missing, 'cell')} planned and not there: the numbers are those of an unfinished experiment."
    if unpaired:
        yield f"{count_of(unpaired, 'scored cell')} left out because the first attempt of the pair has no grade."
    if len({row.passed.known for row in rows}) > 1:
        yield (
            "Rows are over different pairs, so differences of rows are not the reported ones: each change and "
            "comparison is over the pairs that both its sides have."
        )


def _unscored(
    rows: Sequence[MethodRow], number: Callable[[CellCounts], int] = lambda counts: counts.invalid
) -> Iterator[str]:
    """Of how many cells each method lacks the grade, all rounds together."""
    for label in dict.fromkeys(row.label for row in rows):
        counts = [row.counts for row in rows if row.label == label]
        if invalid := sum(map(number, counts)):
            yield f"{label} {invalid:,} of {count_of(sum(count.planned for count in counts), 'cell')}"


def _matched(report: RecipientReport) -> Iterator[str]:
    """That the cumulative lines are of some pairs only, and whether these were the easier ones."""
    if report.rounds < 2 or not report.cumulative_dropped or not report.cumulative or report.baseline is None:
        return
    kept, whole = report.cumulative[0].points[0].passed.value, report.baseline.passed.value
    yield (
        f"Solved at least once: {report.cumulative_dropped:,} of "
        f"{count_of(report.cumulative_pairs + report.cumulative_dropped, 'pair')} are not scored throughout and left "
        f"out. Round 0 passes {format_fixed(kept or 0.0, 1)} % of those kept, {format_fixed(whole or 0.0, 1)} % of all."
    )


def _tokens(rows: Sequence[MethodRow]) -> Iterator[str]:
    unknown = sum(row.tokens.of - row.tokens.known for row in rows)
    partial = sum(row.partial for row in rows)
    of = count_of(sum(row.passed.known for row in rows), "result")
    if unknown:
        yield f"Recipient tokens are unknown for {unknown:,} of {of}: means are over those that are known."
    if partial:
        yield f"Tokens of {partial:,} of {of} are those of completed calls only; unfinished calls are not in them."
    unrecorded = dict.fromkeys(row.label for row in rows if row.is_generated is None and row.passed.known)
    if unrecorded:
        yield f"What feedback took is not recorded for: {', '.join(unrecorded)}."


def _money(recipient: str, rows: Sequence[MethodRow], analyst: Prices | None) -> Iterator[str]:
    if not any(row.cost for row in rows):
        yield f"No prices are known for {recipient}: no USD is estimated."
        return
    of = count_of(sum(row.passed.known for row in rows), "result")
    uncached = sum(row.cost.uncached for row in rows if row.cost)
    if uncached:
        yield f"{uncached:,} of {of} do not separate cached input: all their input is priced as uncached."
    sums = sum(row.tokens.known - row.cost.execution.known for row in rows if row.cost)
    if sums > 0:
        yield f"{sums:,} of {of} report only the sum of their tokens, which cannot be priced: they are in no USD."
    blind = dict.fromkeys(row.label for row in rows if row.cost and row.is_generated and not row.cost.feedback.known)
    if blind:
        why = "No price of the feedback's model is known"
        if analyst is not None:
            why = "Only the sum of the feedback's tokens is known, which cannot be priced"
        yield f"{why}, so no total for: {', '.join(blind)}."


def overall_caveats(
    experiment: Experiment, names: Mapping[str, MethodName], invalid: Sequence[UnscoredCell], excluded: Sequence[str]
) -> Iterator[str]:
    """What holds for the whole report."""
    missing = sum(cell.is_missing for cell in invalid)
    if missing:
        of = len(experiment.planned)
        yield f"{count_of(missing, 'planned cell')} of {of:,} not there: the experiment is unfinished."
    if len(invalid) > missing:
        full = sum(cell.is_out_of_context for cell in invalid)
        why = f" ({full:,} of them out of their model's context)" if full else ""
        count = count_of(len(invalid) - missing, "cell")
        yield f"{count} invalid{why}; the table of missing and invalid cells lists them."
    if experiment.privileged:
        labels = ", ".join(names[name].label if name in names else name for name in sorted(experiment.privileged))
        yield f"† saw the outcome of the run that its feedback is about: shown apart, not ranked ({labels})."
    if excluded:
        yield f"All numbers are shown once more without: {', '.join(excluded)}."
