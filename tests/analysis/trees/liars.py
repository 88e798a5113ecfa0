"""Analysts that lie, stammer and dawdle: what they say depends on the question alone, when they say it on chance."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

from outline_answerer import OutlineAnswerer

from dense.analysis.asking.questions import Compression, Correction, Question, Reconciliation
from dense.analysis.one_call import Closing, Whole, Window
from dense.errors import AnalystFailed
from dense.tree import Node, leaves, nodes

NOISE = [
    "",
    "no",
    "{",
    "[]",
    "null",
    '{"reasoning": 1}',
    '{"label": 7}',
    "```json\n{}\n```",
    '{"groups": [{"mode": "keep"}]}',
]


class Liar:
    """Answers at random: right, wrong, or not at all. The same question gets the same answer from the same seed."""

    name = "liar"

    def __init__(self, seed: int, *, honesty: float = 0.6, dawdle: random.Random | None = None) -> None:
        self.seed, self.honesty, self.dawdle = seed, honesty, dawdle
        self.asked: list[str] = []
        self._outline = OutlineAnswerer()

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        self.asked.append(question.key)
        if self.dawdle is not None:
            await asyncio.sleep(self.dawdle.choice((0, 0, 0.0005, 0.002)))
        chance = random.Random(f"{self.seed} {question.key} {correction is not None}")
        if chance.random() > self.honesty:
            if chance.random() < 0.2:
                raise AnalystFailed("no answer today")
            if chance.random() < 0.4:
                return chance.choice(NOISE)
        answer: dict[str, Any] = json.loads(await self._outline.ask(question))
        return json.dumps(_bent(question, answer, chance))


def _bent(question: Question, answer: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """An answer of the right form with invented content."""
    if "action_index" in answer:
        answer["action_index"] = chance.randint(-2, 40)
    if "can_mount_all" in answer:
        answer["can_mount_all"] = chance.random() < 0.4
    if isinstance(question, Whole | Window | Closing):
        answer = _invented(question, answer, chance)
    if isinstance(question, Compression):
        answer["groups"] = _groups(list(question.parent.children), chance)
    if isinstance(question, Reconciliation):
        answer = _verdict(question.subtree, [issue.id for issue in question.issues], chance)
    return answer


def _invented(question: Whole | Window | Closing, answer: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """The answer about a stretch of actions with references, quotes and verdicts made up."""
    first, last = (
        (question.digests[0].first, question.digests[-1].last)
        if isinstance(question, Closing)
        else (question.actions[0].first, question.actions[-1].last)
    )

    def some(most: int = 3) -> list[Any]:
        numbers = [chance.randint(first - 2, last + 2) for _ in range(chance.randint(0, most))]
        return [chance.choice((number, f"a{number}", str(number))) for number in numbers]

    def verdict() -> dict[str, Any]:
        return {
            "coherence": chance.choice(("coherent", "coherent", "inconsistent", "?", None)),
            "completion": chance.choice(("complete", "complete", "incomplete", "failed", "unknown", "Done")),
        }

    ends = [chance.randint(first - 1, last + 3) for _ in range(chance.randint(0, 9))]
    subtasks = [{"to": end, "title": "t", "values": [{"value": "v", "check": end}], **verdict()} for end in ends]
    issues = [
        {
            "text": "wrong",
            "evidence": some(),
            "fixed_by": some(),
            "quote": chance.choice(("", "x", "not there")),
            "fatal": chance.random() < 0.2,
        }
        for _ in range(chance.randint(0, 4))
    ]
    answer |= {
        "requirements": [{"text": "all of it", "met": chance.choice(("yes", "no", "?")), "by": some()}],
        "subtasks": [*subtasks[:2], {"title": "g", "parts": subtasks[2:4], **verdict()}, *subtasks[4:]],
        "shortcuts": [
            {"from": a, "to": b, "dead_end": "it failed", "outcome": "partial"}
            for a, b in zip(some(), some(), strict=False)
        ],
        "issues": issues,
        "known_issues": [
            {"id": f"i{chance.randint(0, 9)}", "same_as": f"i{chance.randint(0, 9)}", "fixed_by": some()}
            for _ in issues
        ],
        "phases": [{"to": f"s{chance.randint(0, 40)}", "title": "p", **verdict()} for _ in range(4)],
        "products": [{"path": "out.txt", "action": number, "check": number} for number in some()],
        "next_steps": [{"do": "run it", "because": some(), "untested": "no"}],
        "key_actions": some(),
        "labels": [{"action": number, "label": chance.choice((-1, -2, "-1", 7))} for number in some()],
        "root": {"summary": "what came of it", **verdict()},
    }
    for name in chance.sample(sorted(answer), chance.randint(0, 4)):
        answer[name] = chance.choice((None, [], {}, "", 7, [None, 3, ["x"]], "text", True))
    return answer


def _groups(children: list[Node], chance: random.Random) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = []
    while children:
        size = min(chance.choice((1, 1, 2, 3)), len(children))
        sources, children = children[:size], children[size:]
        known = [identifier for node in sources for identifier in (below.id for below in nodes(node))]
        groups.append(
            {
                "mode": "keep" if size == 1 else "shortcut",
                "source_node_ids": [node.id for node in sources],
                "title": "tried <things>",
                "dead_end": chance.choice(("", "none", "it </dead-end> failed")),
                "working_path": chance.choice(("", "it worked")),
                "outcome": chance.choice(("succeeded", "failed", "partial", "unknown")),
                "open_issue": chance.choice(("", "none", "still missing: x")),
                "evidence_node_ids": chance.sample(known, min(2, len(known)))
                + (["n9999"] if chance.random() < 0.05 else []),
                "key_action_ids": [],
            }
        )
    if groups and chance.random() < 0.1:
        groups.pop()
    return groups


def _verdict(parent: Node, issues: list[str], chance: random.Random) -> dict[str, Any]:
    known = [node.id for node in nodes(parent)[1:]]
    resolved = [issue for issue in issues if chance.random() < 0.4]
    return {
        "coherence": chance.choice(("coherent", "coherent", "inconsistent", "insufficient_evidence")),
        "completion": chance.choice(("complete", "complete", "incomplete", "failed", "unknown")),
        "summary": chance.choice(("", "what came of it")),
        "open_issues": [
            {"issue": "left", "evidence_node_ids": chance.sample(known, 1)} for _ in range(chance.choice((0, 0, 1)))
        ],
        "fatal_issues": [{"issue": "wrong", "evidence_node_ids": []} for _ in range(chance.choice((0, 0, 0, 1)))],
        "resolved_issue_ids": resolved,
        "resolution_evidence": {issue: chance.sample(known, 1) for issue in resolved},
        "key_action_ids": chance.sample([leaf.id for leaf in leaves(parent)], 1) if chance.random() < 0.5 else [],
    }
