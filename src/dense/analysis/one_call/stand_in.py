"""An answer of ordinary size without a model: what the built-in rules draft, in the form of a model's answer.

It replaces a model when only the size of an answer matters (`--estimate`), and never reaches a recipient."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dense.analysis.one_call.questions import Closing, OneCallQuestion, Whole
from dense.analysis.wording.facets import facet_text
from dense.draft import IssueDraft, LeafDraft, SubtaskDraft, TreeDraft

PADDING = "What the record shows about it, and what a fresh attempt should do with that. "
"""A model says more of some things than the rules do: requirements, next steps, reasons."""
TASK_ITEMS = 5
"""So many requirements and next steps an answer has, about."""


def answer_from_draft(question: OneCallQuestion, draft: TreeDraft) -> dict[str, Any]:
    """The part of a draft that a question is about, as its answer."""
    if isinstance(question, Closing):
        return _closing(question)
    first, last = question.actions[0].first, question.actions[-1].last
    parts = [part for part in _lowest(draft.root) if part[0] <= last and first <= part[1]]
    subtasks = [_subtask(piece, min(end, last)) for _, end, piece in parts[:-1]]
    subtasks += [_subtask(piece, last) for _, _, piece in parts[-1:]]
    answer: dict[str, Any] = {
        "subtasks": subtasks or [{"to": last, "title": "", "summary": "", "why": "", "completion": "unknown"}],
        "shortcuts": [
            {
                "from": group.first,
                "to": group.last,
                "dead_end": group.dead_end,
                "working_path": group.working_path,
                "outcome": group.outcome,
            }
            for piece in _subtasks(draft.root)
            for group in piece.groups
            if first <= group.first and group.last <= last
        ],
        "issues": [
            {"text": issue.text, "evidence": [number], "quote": issue.quote}
            for issue in _issues(draft.root)
            if first <= (number := _action(issue)) <= last
        ],
        "labels": [
            {"action": leaf.action, "why": leaf.reason[:60], "label": leaf.label}
            for leaf in _leaves(draft.root)
            if leaf.label and first <= leaf.action <= last
        ],
    }
    return answer if not isinstance(question, Whole) else {**_overview(last), **answer, "root": _verdict(draft.root)}


def _overview(last: int) -> dict[str, Any]:
    return {
        "requirements": [{"text": PADDING, "met": "unchecked", "by": []}] * TASK_ITEMS,
        "next_steps": [{"do": PADDING * 2, "because": [last]}] * TASK_ITEMS,
    }


def _closing(question: Closing) -> dict[str, Any]:
    count = sum(len(digest.pieces.root.parts) for digest in question.digests)
    phase = {"title": PADDING[:40], "summary": PADDING * 3, "why": PADDING, "completion": "unknown"}
    ends = sorted({max(1, count * number // 5) for number in range(1, 6)})
    last = question.digests[-1].last
    root = {"summary": PADDING * 3, "why": PADDING, "coherence": "coherent", "completion": "unknown"}
    return {**_overview(last), "phases": [{"to": f"s{end}", **phase} for end in ends], "root": root}


def _subtask(piece: SubtaskDraft, end: int) -> dict[str, Any]:
    facets = piece.facets
    named = {"mechanisms": "key_mechanisms", "order": "critical_order"}
    lists = {name: [text] for name, facet in named.items() if (text := facet_text(facets, facet))}
    return {"to": end, "title": piece.title, "summary": piece.summary, **lists, **_verdict(piece)}


def _verdict(piece: SubtaskDraft) -> dict[str, Any]:
    verdict = piece.verdict
    return {
        "summary": verdict.summary or piece.summary,
        "why": PADDING,
        "coherence": verdict.coherence,
        "completion": verdict.completion,
    }


def _lowest(piece: SubtaskDraft) -> Iterator[tuple[int, int, SubtaskDraft]]:
    """The subtasks that hold no others, with their first and last actions; actions between them are passed over."""
    inner = [child for child in piece.children if isinstance(child, SubtaskDraft)]
    if not inner:
        actions = [leaf.action for leaf in _leaves(piece)]
        yield actions[0], actions[-1], piece
    for child in inner:
        yield from _lowest(child)


def _subtasks(piece: SubtaskDraft) -> Iterator[SubtaskDraft]:
    yield piece
    for child in piece.children:
        if isinstance(child, SubtaskDraft):
            yield from _subtasks(child)


def _leaves(piece: SubtaskDraft) -> Iterator[LeafDraft]:
    for child in piece.children:
        if isinstance(child, LeafDraft):
            yield child
        else:
            yield from _leaves(child)


def _issues(root: SubtaskDraft) -> Iterator[IssueDraft]:
    for piece in _subtasks(root):
        yield from piece.verdict.issues


def _action(issue: IssueDraft) -> int:
    """The action of an issue's last evidence: `n6` is the seventh."""
    return int(issue.evidence[-1][1:]) + 1 if issue.evidence else 0
