"""What a report says in words: how methods are called, the main result in one sentence, and what the data cannot say.

The same data give the same sentences. A sentence about a difference carries its interval; where the data do not carry
a statement, the sentence says that and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dense.report.comparisons import FEW_TASKS, OURS
from dense.report.model import Difference, Invalid, MethodName, MethodRow, RecipientReport, Role
from dense.report.numbers import between, counted, fixed, p_phrase
from dense.results import RUN0, Experiment

LABELS: Mapping[str, tuple[str, str]] = {
    RUN0: ("Baseline", "Base"),
    "none": ("None (second try)", "None"),
    "advisor": ("Advisor", "Adv."),
    "self-reflection": ("Self-reflection", "Self-refl."),
    "all-at-once": ("All-at-once", "All-at-once"),
    "step-by-step": ("Step-by-step", "Step-by-step"),
    "dense": ("DENSE", "DENSE"),
    "dense-no-shortcuts": ("DENSE without shortcuts", "no shortcuts"),
    "dense-no-hierarchy": ("DENSE without hierarchy", "no hierarchy"),
    "dense-flat": ("DENSE, flat", "flat"),
    "verifier-feedback": ("Verifier feedback", "VF"),
}
"""How methods are shown, and where space is small; others by their own name."""
ABLATIONS = ("dense-no-shortcuts", "dense-no-hierarchy", "dense-flat")
HOW = (
    "Intervals are 95 % by resampling tasks ({draws:,} draws, seed {seed}; percentile at an expanded level, the same "
    "draws for all methods of a recipient; where fewer than three tasks differ from the rest, widened to what so few "
    "cannot rule out). p is exact and two-sided, by flipping the signs of the tasks' differences in all ways; Holm "
    "adjusts it over the methods of a recipient and reference. Exact McNemar stands beside it for comparison with "
    "other reports: it takes pairs of one task for independent, which they are not."
)
"""Said of every report."""


def naming(methods: Iterable[str], privileged: Iterable[str]) -> tuple[MethodName, ...]:
    """Round 0 first, then the methods as they come."""
    methods, privileged = list(methods), set(privileged)

    def role(method: str) -> Role:
        if method in privileged:
            return "privileged"
        return "ablation" if method in ABLATIONS and OURS in methods else "method"

    def name(method: str, of: Role) -> MethodName:
        label, short = LABELS.get(method, (method, method))
        return MethodName(method, label, short, of)

    return (name(RUN0, "baseline"), *(name(method, role(method)) for method in methods))


def focus(rows: Sequence[MethodRow]) -> MethodRow | None:
    """The method that the main result is about: ours, else the best that saw no outcome."""
    open_rows = [row for row in rows if row.role == "method" and row.method != "none" and row.passed.value is not None]
    ours = [row for row in open_rows if row.method == OURS]
    return next(iter(ours), None) or max(open_rows, key=lambda row: row.passed.value or 0.0, default=None)


def headline(recipient: str, rows: Sequence[MethodRow], differences: Sequence[Difference], repetitions: int) -> str:
    """One recipient's main result in one sentence."""
    main = focus(rows)
    if main is None:
        return f"{recipient}: no run with feedback is scored yet, so nothing can be said of feedback."
    found = {difference.family: difference for difference in differences if difference.method == main.method}
    told = _rate(recipient, main, repetitions)
    if main.source_passed is not None:
        told += f" after {fixed(main.source_passed, 2)} % in round 0"
    gains = [_gain(found[RUN0])] if RUN0 in found else []
    if "none" in found:
        gains.append(f"{_gain(found['none'])} against a second try without feedback")
    return f"{': '.join(filter(None, (told, '; '.join(gains))))}{_end(found)}"


def _rate(recipient: str, main: MethodRow, repetitions: int) -> str:
    over = f"{counted(main.passed.tasks, 'task')} × {counted(repetitions, 'repetition')}"
    chosen = "" if main.method == OURS else " (the highest, chosen after the fact)"
    return f"With {main.label}{chosen}, {recipient} passes {fixed(main.passed.value or 0.0, 2)} % ({over})"


def _gain(difference: Difference) -> str:
    """The difference with its interval and adjusted p."""
    points = difference.points
    if points.value is None:
        return "no difference can be told"
    told = f"{fixed(points.value, 2, sign=True)} points"
    if points.interval is None:
        return f"{told} (no interval: {counted(points.tasks, 'task')})"
    p = "" if difference.holm is None else f", {p_phrase(difference.holm)} after Holm"
    return f"{told} (95 % interval {between(points.interval, 2)}{p})"


def _end(found: Mapping[str, Difference]) -> str:
    """What follows of it for feedback."""
    if "none" not in found:
        return ". No `none` control was run: the change cannot be told from that of a second try."
    control = found["none"]
    if control.verdict == "no claim":
        reason = control.says.removeprefix("no claim: ")
        return f". No claim that the feedback is the cause: {reason}."
    return f". The feedback makes it {control.verdict} than a second try does."


def overall(recipients: Sequence[RecipientReport]) -> str:
    """The main result of all recipients in one sentence."""
    if not recipients:
        return "No result yet."
    if len(recipients) == 1:
        return recipients[0].headline
    told = [(report.recipient, _main_difference(report)) for report in recipients]
    known = [(name, difference) for name, difference in told if difference and difference.points.value is not None]
    if not known:
        return "No run with feedback is scored yet, so nothing can be said of feedback."
    gains = "; ".join(f"{name} {_short(difference)}" for name, difference in known)
    claims = [name for name, difference in known if difference.verdict != "no claim"]
    held = f"a claim holds for {len(claims)} of {counted(len(known), 'recipient')}"
    held += f" ({', '.join(claims)})" if claims else ""
    methods = " / ".join(dict.fromkeys(difference.method_label for _, difference in known))
    families = {difference.family for _, difference in known}
    if families == {"none"}:
        return f"{methods} against a second try without feedback, in points of pass rate: {gains}; {held}."
    lack = "No `none` control was run" if "none" not in families else "Not every recipient has a `none` control"
    against = "round 0" if "none" not in families else "round 0, or a second try where there is one"
    told = f"{methods} against {against}, in points of pass rate: {gains}; {held}"
    return f"{told}. {lack}: a change from round 0 cannot be told from that of a second try."


def _main_difference(report: RecipientReport) -> Difference | None:
    """Against `none` where there is one, else against round 0."""
    main = focus(report.rows)
    if main is None:
        return None
    found = {difference.family: difference for difference in report.differences if difference.method == main.method}
    return found.get("none") or found.get(RUN0)


def _short(difference: Difference) -> str:
    points = difference.points
    value = fixed(points.value or 0.0, 2, sign=True)
    return value if points.interval is None else f"{value} [{between(points.interval, 2)}]"


def caveats(
    recipient: str,
    baseline: MethodRow | None,
    rows: Sequence[MethodRow],
    tasks: int,
    repetitions: int,
) -> Iterator[str]:
    """What one recipient's data cannot say."""
    every = [row for row in (baseline, *rows) if row is not None]
    if tasks == 1:
        yield "1 task: no interval and no p-value can be had; nothing is said about other tasks."
    elif tasks < FEW_TASKS:
        yield f"{tasks} tasks: intervals are unreliable with fewer than {FEW_TASKS}, and nothing is claimed."
    if repetitions == 1:
        yield "1 repetition: how much the same task varies from run to run is not measured apart from the feedback."
    if baseline is None:
        yield "No round 0 is scored: no change from a first attempt can be told."
    if rows and not any(row.method == "none" for row in rows):
        yield "No `none` control: a gain over round 0 cannot be told from that of a second try."
    yield from _incomplete(every)
    yield from _tokens(every)
    yield from _money(recipient, every)


def _incomplete(rows: Sequence[MethodRow]) -> Iterator[str]:
    invalid, missing = sum(row.counts.invalid for row in rows), sum(row.counts.missing for row in rows)
    unpaired = sum(row.counts.unpaired for row in rows)
    if invalid:
        yield f"{counted(invalid, 'cell')} invalid (run, never scored): excluded with their pairs, never a zero."
    if missing:
        yield f"{counted(missing, 'cell')} planned and not there: the numbers are those of an unfinished experiment."
    if unpaired:
        yield f"{counted(unpaired, 'scored cell')} left out because the first attempt of the pair has no grade."
    if len({row.passed.known for row in rows}) > 1:
        yield "Rows stand on different pairs; changes and comparisons use the pairs that both sides have."


def _tokens(rows: Sequence[MethodRow]) -> Iterator[str]:
    unknown = sum(row.tokens.of - row.tokens.known for row in rows)
    partial = sum(row.partial for row in rows)
    of = counted(sum(row.passed.known for row in rows), "result")
    if unknown:
        yield f"Recipient tokens are unknown for {unknown:,} of {of}: means are over those that are known."
    if partial:
        yield f"Tokens of {partial:,} of {of} are those of completed calls only; unfinished calls are not in them."
    made = [row for row in rows if row.is_generated is None and row.passed.known]
    if made:
        yield f"What feedback took is not recorded for: {', '.join(row.label for row in made)}."


def _money(recipient: str, rows: Sequence[MethodRow]) -> Iterator[str]:
    if not any(row.cost for row in rows):
        yield f"No prices are known for {recipient}: no USD is estimated."
        return
    uncached = sum(row.cost.uncached for row in rows if row.cost)
    if uncached:
        of = counted(sum(row.passed.known for row in rows), "result")
        yield f"{uncached:,} of {of} do not tell cached input apart: all their input is priced as uncached."
    blind = [row.label for row in rows if row.cost and row.is_generated and not row.cost.feedback.known]
    if blind:
        yield f"No price of the feedback's model is known, so no total for: {', '.join(blind)}."


def overall_caveats(experiment: Experiment, invalid: Sequence[Invalid], excluded: Sequence[str]) -> Iterator[str]:
    """What holds for the whole report."""
    missing = sum(cell.is_missing for cell in invalid)
    if missing:
        of = len(experiment.planned)
        yield f"{counted(missing, 'planned cell')} of {of:,} not there: the experiment is unfinished."
    if len(invalid) > missing:
        yield f"{counted(len(invalid) - missing, 'cell')} invalid; the table of missing and invalid cells lists them."
    if experiment.privileged:
        names = ", ".join(LABELS.get(name, (name, ""))[0] for name in sorted(experiment.privileged))
        yield f"† saw the outcome of the run that its feedback is about: shown apart, not ranked ({names})."
    if excluded:
        yield f"All numbers are shown once more without: {', '.join(excluded)}."
