"""Answers every question at once, by shape alone: for tests and benches that need no judgement."""

from __future__ import annotations

import json
from typing import Any

from dense.analysis.asking.questions import Correction, Question, as_judgement
from dense.analysis.one_call import Closing, Whole, Window
from dense.analysis.one_call.questions import OneCallQuestion
from dense.analysis.one_call.stand_in import PADDING, _closing, _overview

OUTLINED_ACTIONS = 7
"""So many actions an outlined subtask has."""


class OutlineAnswerer:
    """Answers of ordinary size without a word of judgement."""

    name = "outline"

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        """The outlined answer."""
        del correction
        is_one_call = isinstance(question, Whole | Window | Closing)
        return json.dumps(outlined_answer(question) if is_one_call else as_judgement(question).outline())


def outlined_answer(question: OneCallQuestion) -> dict[str, Any]:
    """An answer by shape alone: subtasks of a few actions each, a shortcut for the first failure, one issue."""
    if isinstance(question, Closing):
        return _closing(question)
    last = question.actions[-1].last
    ends = [action.last for action in question.actions][OUTLINED_ACTIONS - 1 :: OUTLINED_ACTIONS]
    subtask = {"title": PADDING[:40], "summary": PADDING * 3, "why": PADDING, "completion": "unknown"}
    failed = [action.last for action in question.actions if action.has_failed]
    answer: dict[str, Any] = {
        "subtasks": [{"to": end, **subtask} for end in dict.fromkeys([*ends, last])],
        "shortcuts": [{"from": end, "to": end, "dead_end": PADDING, "outcome": "unknown"} for end in failed[:1]],
        "issues": [{"text": PADDING, "evidence": [last]}],
        "labels": [{"action": number, "why": PADDING[:60], "label": -1} for number in failed],
    }
    root = {"summary": PADDING * 3, "why": PADDING, "coherence": "coherent", "completion": "unknown"}
    return answer if not isinstance(question, Whole) else {**_overview(last), **answer, "root": root}
