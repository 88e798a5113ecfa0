"""The fast profile: the whole tree in one call, or windows side by side and one closing call."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from dense.analysis.actions.action import Actions
from dense.analysis.actions.transcript import TranscriptAction
from dense.analysis.analyst import Analysis
from dense.analysis.asking.asker import Asker, together
from dense.analysis.asking.questions import Correction
from dense.analysis.one_call.answer import AnswerReader, IssuePiece, NodePiece, Pieces, as_list, as_object, as_text
from dense.analysis.one_call.corrections import corrected
from dense.analysis.one_call.prompt import record_room
from dense.analysis.one_call.questions import Closing, OneCallQuestion, Whole, Window, WindowDigest
from dense.analysis.one_call.reply import read_object
from dense.analysis.one_call.to_draft import tree_draft
from dense.analysis.one_call.windows import split_windows
from dense.draft import Asked
from dense.errors import AnalystFailed, CallFailed
from dense.options import DEFAULT_LOOK_TOKENS
from dense.trajectory import Task, Trajectory
from dense.tree import SEVERITIES

MAX_CLOSED_WINDOWS = 40
"""So many windows one closing call puts together; more are closed in sections first."""
ENDING_ACTIONS = 12
"""The last actions that the closing call gets as they were recorded, as far as there is room."""

type ReadPieces = Callable[[Mapping[str, Any], AnswerReader], Pieces]


class OneCallAnalyst:
    """Draws the whole tree from one look, or from windows and a closing look."""

    name = "fast"

    def __init__(self, asker: Asker, look_tokens: int = DEFAULT_LOOK_TOKENS) -> None:
        self._asker = asker
        self._look_tokens = look_tokens

    async def analyse(self, trajectory: Trajectory, *, with_verdicts: bool = True) -> Analysis:
        """See `dense.analysis.analyst.Analyst`. The verdicts come with the look, whether they are wanted or not."""
        del with_verdicts
        actions = Actions(trajectory.steps).transcript
        texts = _Texts(actions)
        windows = split_windows(actions, record_room(trajectory.task, self._look_tokens))
        if len(windows) == 1:
            question = Whole(task=trajectory.task, look_tokens=self._look_tokens, actions=tuple(actions))
            pieces = await self._ask(question, 1, actions[-1].last, texts, _whole_pieces)
        else:
            pieces = await self._in_windows(trajectory.task, windows, texts)
        return Analysis(tree_draft(pieces, self._asker.record()))

    async def _in_windows(
        self, task: Task | None, windows: Sequence[Sequence[TranscriptAction]], texts: _Texts
    ) -> Pieces:
        total = windows[-1][-1].last

        async def ask(number: int, window: Sequence[TranscriptAction]) -> WindowDigest:
            question = Window(
                task=task,
                look_tokens=self._look_tokens,
                actions=tuple(window),
                number=number,
                count=len(windows),
                total=total,
            )
            first, last = window[0].first, window[-1].last
            return WindowDigest(first, last, await self._ask(question, first, last, texts, _window_pieces))

        digests = await together(ask(number, window) for number, window in enumerate(windows, 1))
        ending = tuple(windows[-1][-ENDING_ACTIONS:])
        while len(digests) > MAX_CLOSED_WINDOWS:
            sections = _sections(digests, MAX_CLOSED_WINDOWS)
            digests = await together(
                self._close(task, section, (), texts, total, is_final=False) for section in sections
            )
        closed = await self._close(task, digests, ending, texts, total, is_final=True)
        return closed.pieces

    async def _close(
        self,
        task: Task | None,
        digests: Sequence[WindowDigest],
        ending: tuple[TranscriptAction, ...],
        texts: _Texts,
        total: int,
        *,
        is_final: bool,
    ) -> WindowDigest:
        """The windows put together. Without a usable answer they stay as they are, side by side."""
        quoted = tuple(
            (issue.evidence[-1], issue.quote) for digest in digests for issue in digest.pieces.issues if issue.quote
        )
        question = Closing(
            task=task,
            look_tokens=self._look_tokens,
            digests=tuple(digests),
            ending=ending,
            evidence=quoted,
            total=total,
            is_final=is_final,
        )
        first, last = digests[0].first, digests[-1].last

        def read(answer: Mapping[str, Any], reader: AnswerReader) -> Pieces:
            return _closed_pieces(answer, reader, digests)

        return WindowDigest(first, last, await self._ask(question, first, last, texts, read))

    async def _ask(self, question: OneCallQuestion, first: int, last: int, texts: _Texts, read: ReadPieces) -> Pieces:
        """The pieces of the answer; one corrective call names everything that is wrong with them."""
        start = time.perf_counter()
        notes: list[str] = []
        attempts, answer, problems = 0, dict[str, Any](), list[str]()
        pieces: Pieces | None = None
        correction: Correction | None = None
        is_unanswered = False
        for _ in range(2):
            attempts += 1
            try:
                reply = await self._asker.reply(question, correction)
            except AnalystFailed as error:
                notes.append(str(error))
                is_unanswered = not answer and isinstance(error.__cause__, CallFailed)
                break
            fields, wrong = read_object(reply)
            answer = fields if correction is None else corrected(answer, fields)
            reader = AnswerReader(first, last, texts.of)
            if wrong and correction is None:
                reader.problem("the answer", wrong)
            tried = read(answer, reader)
            if pieces is None or len(reader.problems) <= len(problems):
                pieces, problems = tried, reader.problems
            if not reader.problems:
                break
            notes.append("; ".join(reader.problems))
            correction = Correction(reply, "\n".join(f"- {problem}" for problem in reader.problems))
        nothing = read({}, AnswerReader(first, last, texts.of))
        is_empty = pieces is None or pieces == nothing
        seconds = time.perf_counter() - start
        self._asker.asked.append(
            Asked(
                key=question.key,
                attempts=attempts,
                seconds=seconds,
                problems=tuple(notes),
                fell_back=is_empty,
                is_unanswered=is_unanswered,
            )
        )
        return pieces if pieces is not None else nothing


class _Texts:
    """The text of each action, for looking up quotes."""

    def __init__(self, actions: Sequence[TranscriptAction]) -> None:
        self._by_number = {n: action for action in actions for n in range(action.first, action.last + 1)}

    def of(self, number: int) -> str:
        action = self._by_number.get(number)
        if action is None:
            return ""
        return "\n".join([action.says, *(f"{block.head} {block.text}" for block in action.blocks)])


def _whole_pieces(answer: Mapping[str, Any], reader: AnswerReader) -> Pieces:
    return reader.pieces(answer)


def _window_pieces(answer: Mapping[str, Any], reader: AnswerReader) -> Pieces:
    return reader.pieces(answer, is_whole=False)


def _sections(digests: Sequence[WindowDigest], most: int) -> list[list[WindowDigest]]:
    """The windows in stretches of about the same length."""
    count = -(-len(digests) // most)
    ends = [round(len(digests) * number / count) for number in range(count + 1)]
    return [list(digests[start:end]) for start, end in pairwise(ends)]


def _closed_pieces(answer: Mapping[str, Any], reader: AnswerReader, digests: Sequence[WindowDigest]) -> Pieces:
    """One set of pieces: those of the windows, grouped, merged and closed as the answer says."""
    subtasks = [node for digest in digests for node in digest.pieces.root.parts]
    issues = _known_issues(answer, reader, [issue for digest in digests for issue in digest.pieces.issues])
    whole = reader.pieces({**answer, "subtasks": [{"to": digests[-1].last, "title": "-", "completion": "unknown"}]})
    products = whole.products or tuple(product for digest in digests for product in digest.pieces.products)
    return Pieces(
        root=replace(whole.root, parts=_phases(answer, reader, subtasks)),
        requirements=whole.requirements,
        shortcuts=(*(shortcut for digest in digests for shortcut in digest.pieces.shortcuts), *whole.shortcuts),
        issues=(*issues, *whole.issues),
        products=products,
        next_steps=whole.next_steps,
        key_actions=(*(key for digest in digests for key in digest.pieces.key_actions), *whole.key_actions),
        labels=tuple(label for digest in digests for label in digest.pieces.labels),
    )


def _phases(answer: Mapping[str, Any], reader: AnswerReader, subtasks: Sequence[NodePiece]) -> tuple[NodePiece, ...]:
    """The subtasks of the windows, drawn together into phases. `to` is a subtask: `s4`, or 4."""
    phases: list[NodePiece] = []
    at = 0
    for number, item in enumerate(as_list(answer.get("phases"))):
        path = f"phases[{number}]"
        fields = as_object(item)
        match = re.fullmatch(r"\[?s?(\d{1,6})\]?", as_text(fields.get("to")))
        end = min(int(match[1]), len(subtasks)) if match else None
        if end is None or end <= at:
            reader.problem(f"{path}.to", f"must be a subtask after s{at}, up to s{len(subtasks)}")
            continue
        members = tuple(subtasks[at:end])
        phases.append(members[0] if len(members) == 1 else _phase(fields, members, reader, path))
        at = end
    if at < len(subtasks):
        if answer:
            reader.problem("phases", f"s{at + 1} to s{len(subtasks)} are in no phase")
        phases += subtasks[at:]
    return tuple(phases)


def _phase(fields: Mapping[str, Any], members: tuple[NodePiece, ...], reader: AnswerReader, path: str) -> NodePiece:
    first, last = members[0].first, members[-1].last
    return reader.node(fields, first, last, members, path)


def _known_issues(
    answer: Mapping[str, Any], reader: AnswerReader, issues: Sequence[IssuePiece]
) -> tuple[IssuePiece, ...]:
    """The issues of the windows: those that are the same merged, those that were fixed later closed."""
    known = list(issues)
    merged: set[int] = set()
    for number, item in enumerate(as_list(answer.get("known_issues"))):
        path = f"known_issues[{number}]"
        fields = as_object(item)
        index = _issue_index(fields.get("id"), len(issues))
        if index is None:
            reader.problem(f"{path}.id", f"must be one of i1 to i{len(issues)}")
            continue
        fixed = reader.later(fields.get("fixed_by"), known[index].evidence, f"{path}.fixed_by")
        if fixed:
            known[index] = replace(known[index], fixed_by=fixed)
        if fields.get("same_as") is None:
            continue
        same = _issue_index(fields.get("same_as"), len(issues))
        if same is None or same == index:
            reader.problem(f"{path}.same_as", f"must be another one of i1 to i{len(issues)}")
            continue
        kept, gone = min(same, index), max(same, index)
        evidence = tuple(sorted({*known[kept].evidence, *known[gone].evidence}))
        later = tuple(n for n in {*known[kept].fixed_by, *known[gone].fixed_by} if n > evidence[-1])
        severity = min(known[kept].severity, known[gone].severity, key=SEVERITIES.index)
        quote = known[kept].quote or known[gone].quote
        known[kept] = replace(known[kept], evidence=evidence, fixed_by=later, severity=severity, quote=quote)
        merged.add(gone)
    return tuple(issue for index, issue in enumerate(known) if index not in merged)


def _issue_index(value: object, count: int) -> int | None:
    match = re.fullmatch(r"i?(\d{1,6})", as_text(value))
    return int(match[1]) - 1 if match and 1 <= int(match[1]) <= count else None
