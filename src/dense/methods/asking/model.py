"""Who answers the baselines' questions: a language model, or what a script says. The built-in rules are in `rules`.

Each of these also answers DENSE's own judgements, so that every method asks the same, and one `Asker` counts
everything."""

from __future__ import annotations

from collections.abc import Callable

from dense.analyst.answers import Answer
from dense.analyst.asker import Asker
from dense.analyst.model import ModelAnswerer
from dense.analyst.prompt import prompt_size
from dense.analyst.questions import Correction, Question
from dense.errors import AnalystFailed, CallFailed
from dense.methods.asking.questions import BASELINE_QUESTIONS, BaselineQuestion
from dense.methods.asking.requests import StepViews, request_for
from dense.model.chat import ChatModel, ChatReply, ChatRequest


async def ask_question[A: Answer](
    asker: Asker, question: BaselineQuestion, model: type[A], check: Callable[[A], None] | None = None
) -> A | None:
    """The answer, with one corrective call; None if none could be used."""
    return await asker.ask(question, model, check, tries=2)


class MethodModelAnswerer:
    """A language model that answers the baselines' questions, and leaves DENSE's judgements to its analyst."""

    def __init__(
        self,
        analyst: ModelAnswerer,
        model: ChatModel,
        *,
        prompt_bytes: int,
        max_output_tokens: int,
        temperature: float | None = None,
    ) -> None:
        self.name = analyst.name
        self._analyst, self._model = analyst, model
        self.views = StepViews(prompt_bytes)
        self._max_output_tokens, self._temperature = max_output_tokens, temperature

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        """The model's reply; see `dense.analyst.questions.Answerer`."""
        if not isinstance(question, BASELINE_QUESTIONS):
            return await self._analyst.ask(question, correction)
        try:
            reply = await self._complete(question, correction)
        except CallFailed as error:
            raise AnalystFailed(f"{question.key}: {error}") from error
        if reply.finish == "refusal":
            raise AnalystFailed(f"{question.key}: the model declined to answer: {reply.text[:200]}")
        return reply.text

    async def _complete(self, question: BaselineQuestion, correction: Correction | None) -> ChatReply:
        """The reply. A prompt that the model finds too long after all is put once more, half as long."""
        request = self.render(question, correction)
        try:
            return await self._model.complete(request)
        except CallFailed as error:
            if not error.is_too_long:
                raise
            half = StepViews(min(self.views.room, prompt_size(request)) // 2)
            return await self._model.complete(self.render(question, correction, views=half))

    def render(
        self, question: BaselineQuestion, correction: Correction | None = None, *, views: StepViews | None = None
    ) -> ChatRequest:
        """The request for a question."""
        return request_for(
            question,
            correction,
            views=views or self.views,
            max_output_tokens=self._max_output_tokens,
            temperature=self._temperature,
        )
