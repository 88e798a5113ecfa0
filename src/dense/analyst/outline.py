"""Answers every question at once, by shape alone (`questions/outlines.py`): to measure what a run would cost."""

from __future__ import annotations

import json

from dense.analyst.questions import Correction, Question, as_judgement


class OutlineAnswerer:
    """Answers of ordinary size without a word of judgement."""

    name = "outline"

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        del correction
        return json.dumps(as_judgement(question).outline())
