"""Answers by shape alone, from lengths, exit codes and errors: of the size that models give, without a word of
judgement. They replace a model when only the size of prompts and answers matters, and never reach a recipient."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from dense.analysis.answers import NONE
from dense.tree import Leaf, Node

STRETCH_NODES = 7
"""How many nodes a stretch has, about: the paper's worked example has 29 actions in four lowest subtasks."""
MAX_TOP_NODES = 7
"""How many phases a task has at the most."""
SENTENCE = "What was done here, with which command, what was seen, and what is left to do about it. "
"""A sentence of ordinary length."""


def is_top(nodes: Sequence[Node]) -> bool:
    return len(nodes) <= MAX_TOP_NODES


def first_end(queue: Sequence[Node]) -> int:
    """The offset of the last node of the first stretch: it ends after a failure that was overcome, or when it is long
    enough."""
    for offset, (node, following) in enumerate(pairwise(queue)):
        if offset + 1 >= STRETCH_NODES or (offset and _failed(node) and not _failed(following)):
            return offset + _failed(node)
    return len(queue) - 1


def _failed(node: Node) -> bool:
    return isinstance(node, Leaf) and any(
        observation.is_error or observation.exit_code for observation in node.step.observations
    )


def label(leaf: Leaf) -> int:
    return -1 if _failed(leaf) else 0


def summary(members: Sequence[Node]) -> dict[str, str]:
    """About half of the facets say something of an ordinary stretch; the others are `none`, as they are asked to be."""
    filled = dict.fromkeys(("artifacts", "final_state", "dead_ends", "open_issues"), SENTENCE)
    empty = dict.fromkeys(("key_values", "key_mechanisms", "critical_order"), NONE)
    return {"subtitle": f"{len(members)} parts", "summary": SENTENCE * 4, **filled, **empty}


def groups(children: Sequence[Node]) -> list[dict[str, Any]]:
    """A failure and what follows it belong together; the rest stays."""
    stretches: list[list[Node]] = []
    for child in children:
        if stretches and _failed(stretches[-1][-1]):
            stretches[-1].append(child)
        else:
            stretches.append([child])
    return [_group(group) for group in stretches]


def _group(group: Sequence[Node]) -> dict[str, Any]:
    """Only a shortcut has something to say: what is kept is kept as it is."""
    is_shortcut = len(group) > 1
    return {
        "mode": "shortcut" if is_shortcut else "keep",
        "source_node_ids": [node.id for node in group],
        "title": SENTENCE[:40] if is_shortcut else "",
        "dead_end": SENTENCE if is_shortcut else "",
        "working_path": SENTENCE if is_shortcut else "",
        "outcome": "unknown",
        "open_issue": "",
        "evidence_node_ids": [group[-1].id] if is_shortcut else [],
        "key_action_ids": [],
    }


def verdict(children: Sequence[Node]) -> dict[str, Any]:
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
