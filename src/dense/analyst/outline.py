"""Answers every question at once, by shape alone: for benches and tests, and to measure what a run would cost."""

from __future__ import annotations

import json

from dense.analyst.one_call import Closing, Whole, Window
from dense.analyst.one_call.stand_in import outlined_answer
from dense.analyst.questions import Correction, Question, as_judgement


class OutlineAnswerer:
    """Answers of ordinary size without a word of judgement."""

    name = "outline"

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        """The outlined answer."""
        del correction
        is_one_call = isinstance(question, Whole | Window | Closing)
        return json.dumps(outlined_answer(question) if is_one_call else as_judgement(question).outline())
