"""The analyst that asks a model, against a real server on loopback."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from csv_questions import questions
from loopback import Loopback, failing, json_step, ok, said

from dense.analysis.answers import parse
from dense.analysis.asking.questions import Correction, Judgement
from dense.analysis.asking.questions.paper import ScoreAnswer
from dense.analysis.asking.views import SMALL
from dense.analysis.model import ModelAnswerer, render
from dense.errors import AnalystFailed, KeyRefused, SpendingLimit
from dense.model import ChatReply, ChatRequest, RetryPolicy, open_model

QUESTIONS = questions()
SCORE = QUESTIONS["score"]
ANSWER = '{"reasoning": "six rows", "label": 0}'
QUICK = RetryPolicy(tries=2, first_wait=0.01)


@pytest.fixture
def serve() -> Iterator[Callable[..., Loopback]]:
    with ExitStack() as stack:
        yield lambda *steps: stack.enter_context(Loopback(*steps))


def ask(server: Loopback, question: Judgement = SCORE, correction: Correction | None = None, **options: Any) -> str:
    async def run() -> str:
        environment = {"OPENAI_API_KEY": "k"}
        async with open_model("openai/served", base_url=server.url, retry=QUICK, environment=environment) as model:
            return await ModelAnswerer(model, name="served", **options).ask(question, correction)

    return asyncio.run(run())


def test_a_question_is_put_and_answered(serve: Callable[..., Loopback]) -> None:
    server = serve(ok(ANSWER))
    assert parse(ask(server, temperature=0), ScoreAnswer).label == 0
    (received,) = server.received
    request = render(SCORE)
    assert received.body["messages"][0] == {"role": "system", "content": request.system}
    assert received.body["messages"][1]["content"] == "\n\n".join(message.text for message in request.messages)
    assert received.body["response_format"]["json_schema"]["strict"] is True
    assert received.body["temperature"] == 0


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_every_question_can_be_sent(serve: Callable[..., Loopback], name: str) -> None:
    server = serve(ok("{}"))
    ask(server, QUESTIONS[name])
    sent = server.received[0].body["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert list(sent["schema"]["properties"]) == list((render(QUESTIONS[name]).schema or {})["properties"])


def test_a_correction_is_a_conversation(serve: Callable[..., Loopback]) -> None:
    server = serve(ok(ANSWER))
    ask(server, correction=Correction('{"label": 9}', "label: wrong"))
    messages = server.received[0].body["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[2]["content"] == '{"label": 9}'
    assert "label: wrong" in messages[3]["content"]


def test_a_refusal_fails_this_question(serve: Callable[..., Loopback]) -> None:
    with pytest.raises(AnalystFailed, match="score n6 in n16: the model declined"):
        ask(serve(json_step(said("", refusal="I would rather not"))))


def test_a_dead_call_fails_this_question(serve: Callable[..., Loopback]) -> None:
    with pytest.raises(AnalystFailed, match="score n6 in n16"):
        ask(serve(*[failing(500)] * 4))


def test_a_refused_key_ends_the_run(serve: Callable[..., Loopback]) -> None:
    with pytest.raises(KeyRefused):
        ask(serve(failing(401)))


def test_a_prompt_found_too_long_is_put_again_at_half_the_length(serve: Callable[..., Loopback]) -> None:
    too_long = failing(400, "This model's maximum context length is 10 tokens", "context_length_exceeded")
    server = serve(too_long, ok("{}"))
    ask(server, QUESTIONS["reconciliation"])
    first, second = (sum(len(m["content"]) for m in received.body["messages"]) for received in server.received)
    assert second < 0.6 * first


def test_a_spending_limit_passes_through() -> None:
    class Poor:
        async def complete(self, request: ChatRequest) -> ChatReply:
            raise SpendingLimit("spent")

    with pytest.raises(SpendingLimit):
        asyncio.run(ModelAnswerer(Poor()).ask(SCORE))


def test_limits_are_kept(serve: Callable[..., Loopback]) -> None:
    server = serve(ok(ANSWER))
    ask(server, QUESTIONS["reconciliation"], limits=SMALL, context_tokens=8_000, max_output_tokens=300)
    body = server.received[0].body
    assert sum(len(message["content"].encode()) for message in body["messages"]) <= 5_610
    assert 300 in (body.get("max_tokens"), body.get("max_completion_tokens"))


def test_nothing_is_loaded_before_it_is_needed() -> None:
    """Templates are compiled when the first question is put, not at import."""
    code = "import sys, dense.analysis.model; print('jinja2' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
