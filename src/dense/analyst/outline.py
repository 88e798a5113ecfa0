"""The shape of a tree without its judgement: answers every question at once, from lengths, exit codes and errors alone.

It stands in for a model where only the shape matters: to estimate what a distillation would cost, every prompt is
rendered and measured with answers of about the size that models give. Its words are no analysis and never reach a
recipient."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from dense.analyst.questions import (
    AnyQuestion,
    Boundary,
    Compression,
    Correction,
    Cuts,
    Digest,
    Labels,
    Reconciliation,
    Score,
    Settlement,
    Summary,
    TopLevel,
)
from dense.tree import NONE, Leaf, Node

STRETCH = 7
"""How many nodes a stretch has, about: the paper's worked example has 29 actions in four lowest subtasks."""
TOP = 7
"""How many phases a task has at the most."""
SENTENCE = "What was done here, with which command, what was seen, and what is left to do about it. "
"""A sentence of ordinary length, to give answers the size that they have."""


class OutlineAnalyst:
    """Answers by shape."""

    name = "outline"

    async def ask(self, question: AnyQuestion, correction: Correction | None = None) -> str:
        del correction
        return json.dumps(_answer(question))


def _answer(question: AnyQuestion) -> dict[str, Any]:
    match question:
        case Boundary():
            return {"reasoning": SENTENCE * 2, "action_index": question.head + _first_end(question.queue)}
        case Cuts():
            return {"reasoning": SENTENCE * 4, **_cuts(question)}
        case Score():
            return {"reasoning": SENTENCE * 2, "label": _label(question.target)}
        case Labels():
            return {"labels": [_labelled(leaf) for leaf in question.targets]}
        case Summary():
            return _summary(question.members)
        case Digest():
            return {"labels": _labels(question), **_summary(question.members)}
        case TopLevel():
            return {"reasoning": SENTENCE * 3, "can_mount_all": len(question.candidates) <= TOP}
        case Compression():
            return {"groups": _groups(question.parent.children)}
        case Reconciliation():
            return _verdict(question.subtree.children)
        case Settlement():
            shortcuts = [group for group in _groups(question.parent.children) if group["mode"] == "shortcut"]
            return {"groups": shortcuts, "verdict": _verdict(question.parent.children)}


def _first_end(queue: Sequence[Node]) -> int:
    """The offset of the last node of the first stretch: it ends where an error was overcome, or when it is long
    enough."""
    for offset, (node, following) in enumerate(pairwise(queue)):
        if offset + 1 >= STRETCH or (offset and _failed(node) and not _failed(following)):
            return offset + _failed(node)
    return len(queue) - 1


def _cuts(question: Cuts) -> dict[str, Any]:
    queue, ends = list(question.queue), list[int]()
    if question.may_stop and len(queue) <= TOP:
        return {"can_mount_all": True, "ends": [question.head + len(queue) - 1]}
    while queue:
        length = _first_end(queue) + 1
        ends.append((ends[-1] if ends else question.head - 1) + length)
        queue = queue[length:]
    return {"can_mount_all": False, "ends": ends}


def _failed(node: Node) -> bool:
    return isinstance(node, Leaf) and any(seen.is_error or seen.exit_code for seen in node.step.observations)


def _label(leaf: Leaf) -> int:
    return -1 if _failed(leaf) else 0


def _labelled(leaf: Leaf) -> dict[str, Any]:
    return {"id": leaf.id, "reasoning": SENTENCE, "label": _label(leaf)}


def _labels(question: Digest) -> list[dict[str, Any]]:
    return [_labelled(node) for node in question.members if isinstance(node, Leaf) and node.id in question.targets]


def _summary(members: Sequence[Node]) -> dict[str, str]:
    """About half of the facets say something of an ordinary stretch; the others are `none`, as they are asked to be."""
    told = dict.fromkeys(("artifacts", "final_state", "dead_ends", "open_issues"), SENTENCE)
    nothing = dict.fromkeys(("key_values", "key_mechanisms", "critical_order"), NONE)
    return {"subtitle": f"{len(members)} parts", "summary": SENTENCE * 4, **told, **nothing}


def _groups(children: Sequence[Node]) -> list[dict[str, Any]]:
    """A failure and what follows it belong together; the rest stays."""
    groups: list[list[Node]] = []
    for child in children:
        if groups and _failed(groups[-1][-1]):
            groups[-1].append(child)
        else:
            groups.append([child])
    return [
        {
            "mode": "keep" if len(group) == 1 else "shortcut",
            "source_node_ids": [node.id for node in group],
            # What is kept is kept as it is: only a shortcut has something to say.
            "title": SENTENCE[:40] if len(group) > 1 else "",
            "dead_end": SENTENCE if len(group) > 1 else "",
            "working_path": SENTENCE if len(group) > 1 else "",
            "outcome": "unknown",
            "open_issue": "",
            "evidence_node_ids": [group[-1].id] if len(group) > 1 else [],
            "key_action_ids": [],
        }
        for group in groups
    ]


def _verdict(children: Sequence[Node]) -> dict[str, Any]:
    return {
        "coherence": "insufficient_evidence",
        "completion": "unknown",
        "summary": SENTENCE * 3,
        "open_issues": [{"issue": SENTENCE, "evidence_node_ids": [children[-1].id]}],
        "fatal_issues": [],
        "resolved_issue_ids": [],
        "resolution_evidence": {},
        "key_action_ids": [],
    }
