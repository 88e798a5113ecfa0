"""A case: one task of one recipient, in one repetition, by method. What the feedback said, what the recipient then did,
what came of it; and the tree that DENSE's feedback was made of.

Reads the files of the cells that are shown, and nothing else. Texts come from traces: the template escapes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from dense.errors import DenseError
from dense.readers import read
from dense.report.grid import is_scored
from dense.report.model import MethodName, Report
from dense.report.numbers import NOTHING, format_fixed
from dense.results import RUN0, Experiment, Result
from dense.service.files import RECONCILED, TREE, read_reconciled, read_tree
from dense.text.clip import clip_end, clip_middle
from dense.tree import Leaf, Node, Shortcut, leaves

MAX_SPAN_CHARS, MAX_ACTIONS, MAX_ACTION_CHARS = 900, 12, 160
FEEDBACK = "feedback.txt"
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
    calls: str
    """Tool calls and turns."""
    feedback: str
    """The span of the feedback that decides: from its state on, as far as there is room."""
    actions: tuple[str, ...]
    """What the recipient did, in the order of the trace."""
    more: int
    """Actions that are not shown."""
    trace: str
    """The trace's file, relative to the experiment."""


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


def make_case(report: Report, experiment: Experiment, task: str | None = None) -> Case | None:
    """The case of a task; without one, of the task whose methods differ most. None if no cell has files."""
    results = {result.cell: result for result in experiment.results}
    chosen = _chosen(report, task)
    if chosen is None or not experiment.folder:
        return None
    recipient, name = chosen
    shown = [result for cell, result in sorted(results.items()) if (cell.recipient, cell.task) == chosen]
    repetition = min((result.cell.repetition for result in shown if result.trace), default=None)
    if repetition is None:
        return None
    of_methods = {
        RUN0 if result.cell.round == 0 else result.cell.method: result
        for result in shown
        if result.cell.repetition == repetition and result.cell.round <= 1
    }
    folder = Path(experiment.folder)
    rows = [_row(folder, method, of_methods[method.method]) for method in report.methods if method.method in of_methods]
    ours = next((one for one in of_methods.values() if (folder / one.feedback_folder / RECONCILED).is_file()), None)
    if ours is None or not ours.feedback_folder:
        return Case(recipient, name, repetition, tuple(rows))
    place = folder / ours.feedback_folder
    source, reconciled = _trees(place)
    return Case(recipient, name, repetition, tuple(rows), source, reconciled, _text(place / FEEDBACK))


def _chosen(report: Report, task: str | None) -> tuple[str, str] | None:
    """The recipient and the task."""
    found: list[tuple[float, str, str]] = []
    for recipient in report.recipients:
        for row in recipient.tasks:
            rates = [one.rate for one in row.outcomes if one.round == 1 and one.rate is not None]
            if rates and task in (None, row.task):
                found.append((min(rates) - max(rates), recipient.recipient, row.task))
    if task is not None and not found:
        raise DenseError(f"--case {task}: no result has such a task; there are {', '.join(report.tasks)}")
    return min(found)[1:] if found else None


def _row(folder: Path, method: MethodName, result: Result) -> CaseRow:
    actions = _actions(folder / result.trace) if result.trace else []
    feedback = _text(folder / result.feedback_folder / FEEDBACK) if result.feedback_folder else ""
    return CaseRow(
        method.label,
        format_fixed(result.reward or 0.0, 2) if is_scored(result) else "not scored",
        NOTHING if result.checks is None else f"{result.checks_passed}/{result.checks}",
        " / ".join(NOTHING if count is None else str(count) for count in (result.tool_calls, result.turns)),
        clip_end(feedback, MAX_SPAN_CHARS),
        tuple(actions[:MAX_ACTIONS]),
        max(len(actions) - MAX_ACTIONS, 0),
        result.trace,
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _actions(trace: Path) -> list[str]:
    """The tool calls of a trace, each on one line."""
    try:
        trajectory = next(read(trace), None)
    except DenseError:
        return []
    found: list[str] = []
    for step in trajectory.steps if trajectory is not None else ():
        for call in step.calls:
            given = next(
                (call.arguments[key] for key in _ARGUMENTS if call.arguments.get(key)), call.arguments or call.name
            )
            text = given if isinstance(given, str) else msgspec.json.encode(given, enc_hook=str).decode()
            found.append(clip_middle(re.sub(r"\s+", " ", text).strip() or call.name, MAX_ACTION_CHARS))
    return found


def _trees(place: Path) -> tuple[tuple[TreeLine, ...], tuple[TreeLine, ...]]:
    try:
        source = read_tree(place / TREE)
        return tuple(_lines(source.root.children)), tuple(_lines([read_reconciled(place / RECONCILED).root]))
    except (OSError, msgspec.MsgspecError):
        return (), ()


def _lines(nodes: Sequence[Node], depth: int = 0) -> Iterator[TreeLine]:
    """Subtasks and shortcuts, each with the actions below it; actions themselves only where they are alone."""
    for node in nodes:
        numbers = [leaf.action for leaf in leaves(node)]
        span = f"a{numbers[0]}" if len(numbers) == 1 else f"a{numbers[0]}–a{numbers[-1]}" if numbers else ""
        if isinstance(node, Leaf):
            continue
        if isinstance(node, Shortcut):
            yield TreeLine(depth, f"shortcut ({node.outcome}): {clip_end(node.title, 120)} · {span}", node.outcome)
            continue
        state = node.verdict.state if node.verdict is not None else ""
        words = f"{clip_end(node.title, 120)} · {span}" + (f" · {state}" if state else "")
        yield TreeLine(depth, words, state)
        yield from _lines(node.children, depth + 1)
