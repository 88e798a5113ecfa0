"""A case: one task of one recipient, in one repetition, by method. What the feedback said, what the recipient then did,
what came of it; and the tree that DENSE's feedback was made of.

Reads the files of the cells that are shown, and nothing else. Texts come from traces: the template escapes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from dense.analysis.actions.action import Actions
from dense.errors import DenseError
from dense.readers import read
from dense.service.files import RECONCILED, TREE, read_reconciled, read_tree
from dense.text.clip import clip_end, clip_middle
from dense.trajectory import Step, Trajectory
from dense.tree import Leaf, Node, Shortcut, leaves
from refit.measures import IN_CASES, passed_checks
from refit.report.grid import is_scored
from refit.report.model import MethodName, Report
from refit.report.numbers import NOTHING, format_fixed
from refit.report.page.cells import FEEDBACK, VIEWS, CellFiles
from refit.report.page.span import DecisiveSpan, decisive_span
from refit.results import RUN0, Experiment, Result

MAX_ACTIONS, MAX_ACTION_CHARS, MAX_FILES, MAX_TITLE_CHARS = 12, 160, 4, 120
CONTROL = "none"
"""The method that is a second try without feedback."""
_ARGUMENTS = ("keystrokes", "command", "cmd", "code", "path", "file_path", "query")


class TreeLine(Struct, frozen=True):
    """A node of a tree, on one line."""

    depth: int
    """How deep it lies, from 0."""
    text: str
    """Its title, its state, its actions."""
    state: str = ""
    """For its colour: `complete`, `incomplete`, …"""


class CaseRow(Struct, frozen=True):
    """One run of the case."""

    label: str
    """The method."""
    reward: str
    """The verifier's number."""
    checks: str
    """Of the verifier's checks, how many passed."""
    values: tuple[str, ...]
    """Of the measures that cases show."""
    files: tuple[str, ...]
    """Files that the recipient's actions wrote."""
    span: DecisiveSpan
    """The lines of the feedback that name what the recipient then did."""
    actions: tuple[str, ...]
    """What the recipient did, in the order of the trace."""
    more: int
    """Actions that are not shown."""
    links: tuple[tuple[str, str], ...]
    """Pages and files of this run: what it is, and its address from the page."""


class Case(Struct, frozen=True):
    """What the page shows of a case."""

    recipient: str
    """Whose."""
    task: str
    """Which."""
    repetition: int
    """Which."""
    rows: tuple[CaseRow, ...]
    """Round 0, then each method in the first round with feedback."""
    source: tuple[TreeLine, ...] = ()
    """The phases of the first attempt as DENSE found them."""
    reconciled: tuple[TreeLine, ...] = ()
    """The same with shortcuts and states."""
    rendered: str = ""
    """The feedback that was made of it."""
    heads: tuple[str, ...] = tuple(mean.header for _, mean in IN_CASES)
    """Of the measures that its rows have."""


def make_case(report: Report, experiment: Experiment, page: Path, task: str | None = None) -> Case | None:
    """The case of a task; without one, of the task whose methods differ most. None if no cell has files. Links are seen
    from the folder `page`."""
    chosen = _chosen(report, task)
    if chosen is None or not experiment.folder:
        return None
    recipient, name = chosen
    shown = [
        result
        for result in experiment.results
        if (result.cell.recipient, result.cell.task) == chosen and result.cell.round <= 1
    ]
    repetition = _most_different(shown)
    if repetition is None:
        return None
    of_methods = {
        RUN0 if result.cell.round == 0 else result.cell.method: result
        for result in shown
        if result.cell.repetition == repetition
    }
    rows = _rows(Path(experiment.folder), report.methods, of_methods, CellFiles(experiment, page))
    folder = Path(experiment.folder)
    ours = next(
        (result for result in of_methods.values() if (folder / result.feedback_folder / RECONCILED).is_file()), None
    )
    if ours is None or not ours.feedback_folder:
        return Case(recipient=recipient, task=name, repetition=repetition, rows=tuple(rows))
    feedback_folder = folder / ours.feedback_folder
    source, reconciled = _trees(feedback_folder)
    return Case(
        recipient=recipient,
        task=name,
        repetition=repetition,
        rows=tuple(rows),
        source=source,
        reconciled=reconciled,
        rendered=_text(feedback_folder / FEEDBACK),
    )


def _chosen(report: Report, task: str | None) -> tuple[str, str] | None:
    """The recipient and the task."""
    candidates: list[tuple[float, str, str]] = []
    for recipient in report.recipients:
        for row in recipient.tasks:
            rates = [outcome.rate for outcome in row.outcomes if outcome.round == 1 and outcome.rate is not None]
            if rates and task in (None, row.task):
                candidates.append((min(rates) - max(rates), recipient.recipient, row.task))
    if task is not None and not candidates:
        raise DenseError(f"--case {task}: no result has such a task; there are {', '.join(report.tasks)}")
    return min(candidates)[1:] if candidates else None


def _most_different(results: Sequence[Result]) -> int | None:
    """The repetition with a trace whose rewards after feedback differ most; of equals the first."""
    candidates: list[tuple[float, int]] = []
    for repetition in {result.cell.repetition for result in results if result.attempt.trace}:
        rewards = [
            result.attempt.reward
            for result in results
            if result.cell.repetition == repetition and result.cell.round == 1 and result.attempt.reward is not None
        ]
        candidates.append((min(rewards) - max(rewards) if rewards else 0.0, repetition))
    return min(candidates)[1] if candidates else None


def _rows(
    folder: Path, methods: Sequence[MethodName], results: dict[str, Result], files: CellFiles
) -> Iterator[CaseRow]:
    first, control = results.get(RUN0), results.get(CONTROL)
    shared, second = _trajectory(folder, first), _trajectory(folder, control)
    compared = second or shared
    without = list(_actions(compared.steps)) if compared is not None else []
    task = shared.task.instruction if shared is not None and shared.task is not None else ""
    for method in methods:
        result = results.get(method.method)
        if result is None:
            continue
        trace = shared if result is first else second if result is control else _trajectory(folder, result)
        steps = trace.steps if trace is not None else ()
        actions = list(_actions(steps))
        feedback = _text(folder / result.feedback_folder / FEEDBACK) if result.feedback_folder else ""
        yield CaseRow(
            label=method.label,
            reward=format_fixed(result.attempt.reward or 0.0, 2) if is_scored(result) else "not scored",
            checks=passed_checks(result) or NOTHING,
            values=tuple(_shown(measure.value(result)) for measure, _ in IN_CASES),
            files=tuple(
                list(dict.fromkeys(path for action in Actions(steps) for path in action.effects.writes))[:MAX_FILES]
            ),
            span=decisive_span(feedback, actions, without, task),
            actions=tuple(clip_middle(action, MAX_ACTION_CHARS) for action in actions[:MAX_ACTIONS]),
            more=max(len(actions) - MAX_ACTIONS, 0),
            links=tuple(_links(result, files)),
        )


def _shown(value: float | None) -> str:
    return NOTHING if value is None else f"{value:g}"


def _links(result: Result, files: CellFiles) -> Iterator[tuple[str, str]]:
    if files.view(result):
        yield "view", f"{VIEWS}/{result.cell.key}.html"
    folder, *names = files.of(result)
    for what, name in zip(("trace", "feedback", "message"), names, strict=True):
        if name:
            yield what, f"{files.base}{folder}{name}"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _trajectory(folder: Path, result: Result | None) -> Trajectory | None:
    try:
        return next(read(folder / result.attempt.trace), None) if result is not None and result.attempt.trace else None
    except DenseError:
        return None


def _actions(steps: Sequence[Step]) -> Iterator[str]:
    """The tool calls of steps, each on one line."""
    for step in steps:
        for call in step.calls:
            given = next(
                (call.arguments[key] for key in _ARGUMENTS if call.arguments.get(key)), call.arguments or call.name
            )
            text = given if isinstance(given, str) else msgspec.json.encode(given, enc_hook=str).decode()
            yield re.sub(r"\s+", " ", text).strip() or call.name


def _trees(folder: Path) -> tuple[tuple[TreeLine, ...], tuple[TreeLine, ...]]:
    try:
        source = read_tree(folder / TREE)
        return tuple(_lines(source.root.children)), tuple(_lines([read_reconciled(folder / RECONCILED).root]))
    except (OSError, msgspec.MsgspecError):
        return (), ()


def _lines(nodes: Sequence[Node], depth: int = 0) -> Iterator[TreeLine]:
    """Subtasks and shortcuts, each with the actions below it; a single action only where it is a phase of its own."""
    for node in nodes:
        if isinstance(node, Leaf):
            if depth <= 1 and any(not isinstance(other, Leaf) for other in nodes):
                yield TreeLine(depth, f"a{node.action}: {clip_end(next(_actions([node.step]), ''), MAX_TITLE_CHARS)}")
            continue
        numbers = [leaf.action for leaf in leaves(node)]
        span = f"a{numbers[0]}" if len(numbers) == 1 else f"a{numbers[0]}–a{numbers[-1]}" if numbers else ""
        title = clip_end(node.title, MAX_TITLE_CHARS)
        if isinstance(node, Shortcut):
            yield TreeLine(depth, f"shortcut ({node.outcome}): {title} · {span}", node.outcome)
            continue
        state = node.verdict.state if node.verdict is not None else ""
        yield TreeLine(depth, f"{title} · {span}" + (f" · {state}" if state else ""), state)
        yield from _lines(node.children, depth + 1)
