"""Every way in which a provider lets one down, against a real server that does it."""

from __future__ import annotations

import asyncio
import gzip
import logging
import socket
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from loopback import Loopback, Step, cut, failing, hung_up, json_step, ok, said, text_step

from dense.errors import CallFailed, KeyRefused, ModelError, UnknownModel, Unreachable
from dense.model import CallLedger, CallTry, ChatReply, ChatRequest, Message, RetryPolicy, open_model

Serve = Callable[..., Loopback]
KEY = "sk-test-0123456789abcdef"
QUICK = RetryPolicy(tries=5, timeout=5, first_wait=0.01, longest_wait=0.02, total=30, unreachable_tries=2)
QUESTION = ChatRequest("Be brief.", (Message("user", "How are you?"),), label="greeting")


async def ask(
    server: Loopback, request: ChatRequest = QUESTION, *, name: str = "openai/gpt-test", **options: Any
) -> tuple[ChatReply, CallLedger]:
    base_url = server.root if name.startswith("anthropic") else server.url
    options = {"retry": QUICK, "environment": {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}, **options}
    async with open_model(name, base_url=base_url, **options) as model:
        return await model.complete(request), model.ledger


def answer(server: Loopback, request: ChatRequest = QUESTION, **options: Any) -> ChatReply:
    return asyncio.run(ask(server, request, **options))[0]


def outline(tries: tuple[CallTry, ...]) -> list[tuple[int | None, bool]]:
    return [(call_try.status, call_try.may_be_billed) for call_try in tries]


def test_a_plain_answer(serve: Serve) -> None:
    reply = answer(serve(ok("well")))
    assert (reply.text, reply.finish, reply.model, reply.is_cached) == ("well", "stop", "served", False)
    assert (reply.usage.input, reply.usage.output) == (100, 10)
    assert outline(reply.tries) == [(200, True)]


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529, 408])
def test_what_passes_is_tried_again(serve: Serve, status: int) -> None:
    server = serve(failing(status), failing(status), ok("at last"))
    reply = answer(server)
    assert reply.text == "at last"
    assert outline(reply.tries) == [(status, False), (status, False), (200, True)]
    assert len(server.received) == 3


def test_retry_after_in_seconds(serve: Serve) -> None:
    server = serve(failing(429, Retry_After="1"), ok())
    answer(server)
    assert 1.0 <= server.received[1].at - server.received[0].at < 10


def test_retry_after_as_a_date(serve: Serve) -> None:
    # Two seconds by the clock of the server, which is a year behind ours.
    then = datetime.now(UTC) - timedelta(days=365)
    dates = {"Date": format_datetime(then, usegmt=True)}
    server = serve(failing(503, Retry_After=format_datetime(then + timedelta(seconds=2), usegmt=True), **dates), ok())
    answer(server)
    assert 1.9 <= server.received[1].at - server.received[0].at < 10


def test_googles_own_retry_delay(serve: Serve) -> None:
    body = [{"error": {"code": 429, "message": "quota", "details": [{"@type": "RetryInfo", "retryDelay": "0.7s"}]}}]
    server = serve(json_step(body, 429), ok())
    answer(server)
    assert 0.7 <= server.received[1].at - server.received[0].at < 10


def test_a_wait_beyond_all_patience_is_not_begun(serve: Serve) -> None:
    started = time.monotonic()
    with pytest.raises(CallFailed, match=r"the next could only begin in 3600 s; HTTP 429: slow down"):
        answer(serve(failing(429, "slow down", Retry_After="3600")))
    assert time.monotonic() - started < 60


@pytest.mark.parametrize("step", [cut, hung_up])
def test_cut_connections(serve: Serve, step: Step) -> None:
    reply = answer(serve(step, ok("whole")))
    assert reply.text == "whole"
    assert outline(reply.tries) == [(None, True), (200, True)]
    assert reply.tries[0].usage is None


def test_too_slow(serve: Serve) -> None:
    retry = RetryPolicy(timeout=1, first_wait=0.01)
    reply, ledger = asyncio.run(ask(serve(ok("late", delay=20), ok("in time")), retry=retry))
    assert reply.text == "in time"
    assert reply.tries[0].error == "no answer within 1 s"
    assert outline(reply.tries) == [(None, True), (200, True)]
    assert ledger.totals.unknown_tries == 1, "what a timed-out try cost is unknown, not zero"


def endless(delay: float = 0, piece: bytes = b" " * 100_000, first: bytes = b"{") -> Step:
    """A response that goes on until somebody hangs up."""

    async def step(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(first)
        while True:
            await asyncio.sleep(delay)
            await response.write(piece)

    return step


def test_a_response_without_end_is_given_up_at_its_limit(serve: Serve) -> None:
    retry = RetryPolicy(first_wait=0.01, max_bytes=1_000_000)
    server = serve(endless())
    with pytest.raises(CallFailed, match="larger than 1,000,000 bytes") as raised:
        answer(server, retry=retry)
    assert outline(raised.value.tries) == [(200, True)], "not tried again"
    assert RetryPolicy().max_bytes == 16_000_000


def test_a_compressed_response_is_measured_by_what_it_becomes(serve: Serve) -> None:
    async def bomb(_: web.Request) -> web.StreamResponse:
        return web.Response(body=gzip.compress(b" " * 8_000_000), headers={"Content-Encoding": "gzip"})

    with pytest.raises(CallFailed, match="larger than 1,000,000 bytes"):
        answer(serve(bomb), retry=RetryPolicy(first_wait=0.01, max_bytes=1_000_000))


def test_a_stalled_body_is_not_waited_for(serve: Serve) -> None:
    retry = RetryPolicy(first_wait=0.01, stall=0.5)
    started = time.monotonic()
    reply = answer(serve(endless(delay=30), ok("in time")), retry=retry)
    assert reply.text == "in time"
    assert "nothing came for" in str(reply.tries[0].error)
    assert time.monotonic() - started < 20
    assert RetryPolicy().stall <= 60


def test_a_first_byte_that_does_not_come(serve: Serve) -> None:
    reply = answer(serve(ok("late", delay=30), ok("in time")), retry=RetryPolicy(first_wait=0.01, first_byte=0.5))
    assert reply.text == "in time"
    assert "nothing came for 0.5" in str(reply.tries[0].error)


def test_a_run_in_which_every_call_fails_says_so_and_gives_up(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, logger="dense.model")
    retry = RetryPolicy(tries=100, first_wait=0.1, longest_wait=0.1, notice=0.3, hopeless=1.0)
    server = serve(default=failing(500, "broken"))
    started = time.monotonic()
    with pytest.raises(CallFailed, match=r"given up after \d+ tries: every call has failed for \d+ s"):
        answer(server, retry=retry)
    assert time.monotonic() - started < 20
    said_meanwhile = [record.getMessage() for record in caplog.records]
    assert any("every call has failed for" in text and "giving up in" in text for text in said_meanwhile)
    assert (RetryPolicy().notice, RetryPolicy().hopeless) == (60, 300)


def test_failures_of_an_earlier_call_do_not_count_against_the_next(serve: Serve) -> None:
    async def run() -> str:
        retry = RetryPolicy(tries=3, first_wait=0.3, longest_wait=0.3, hopeless=1.0)
        async with open_model(
            "openai/gpt-test", base_url=server.url, retry=retry, environment={"OPENAI_API_KEY": KEY}
        ) as model:
            with pytest.raises(CallFailed):
                await model.complete(QUESTION)
            await asyncio.sleep(1.2)
            return (await model.complete(ChatRequest("", (Message("user", "again?"),)))).text

    server = serve(failing(500), failing(500), failing(500), failing(500), ok("well"))
    assert asyncio.run(run()) == "well"


@pytest.mark.parametrize(
    "step",
    [
        text_step('{"choices": [{"message": {"content": "ha', content_type="application/json"),
        text_step("<html><body>Bad gateway</body></html>"),
        text_step(""),
        text_step('"fine"', content_type="application/json"),
        text_step("[" * 5000, content_type="application/json"),
        json_step({"choices": "none"}),
        json_step({"choices": []}),
        json_step({"error": {"message": "upstream is down", "code": 502}}),
        json_step(said("ha", finish="error")),
    ],
    ids=["truncated", "html", "empty", "no-object", "deep", "shape", "no-choice", "hidden-error", "broke-off"],
)
def test_bodies_that_are_no_answer_are_asked_again(serve: Serve, step: Step) -> None:
    reply = answer(serve(step, ok("whole")))
    assert reply.text == "whole"
    assert [call_try.status for call_try in reply.tries][1:] == [200]


def test_a_call_that_stays_dead(serve: Serve) -> None:
    server = serve(default=failing(500, "the sky fell"))
    with pytest.raises(
        CallFailed, match=r"openai/gpt-test: given up after 5 tries; the last: HTTP 500: .*fell"
    ) as error:
        answer(server)
    assert outline(error.value.tries) == [(500, False)] * 5
    assert len(server.received) == 5


def test_a_dead_call_is_in_the_ledger(serve: Serve) -> None:
    async def run() -> CallLedger:
        async with open_model(
            "openai/gpt-test",
            base_url=serve(cut, default=failing(500)).url,
            retry=QUICK,
            environment={"OPENAI_API_KEY": KEY},
        ) as model:
            with pytest.raises(CallFailed):
                await model.complete(QUESTION)
            return model.ledger

    ledger = asyncio.run(run())
    (call,) = ledger.calls
    assert (call.label, call.tries, call.unknown_tries, call.finish, call.usd) == ("greeting", 5, 1, None, None)
    assert (ledger.totals.calls, ledger.totals.failed) == (1, 1)


@pytest.mark.parametrize(
    ("status", "message", "is_too_long"),
    [
        (400, "messages: unknown field", False),
        (400, "This model's maximum context length is 8192 tokens", True),
        (413, "Request too large", True),
        (400, "prompt is too long: 250000 tokens > 200000 maximum", True),
        (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048575)", True),
        (400, "the request exceeds the available context size (4096 tokens)", True),
    ],
)
def test_bad_requests_are_not_repeated(serve: Serve, status: int, message: str, is_too_long: bool) -> None:
    server = serve(failing(status, message))
    with pytest.raises(CallFailed) as error:
        answer(server)
    assert error.value.is_too_long == is_too_long
    assert ("the prompt is too long" in str(error.value)) == is_too_long
    assert len(server.received) == 1


@pytest.mark.parametrize(
    "step",
    [
        json_step(said("", refusal="I will not.")),
        json_step(said("I will not.", finish="content_filter")),
        failing(400, "I will not.", code="content_policy_violation"),
        failing(400, "Content Exists Risk"),
        json_step({"error": {"code": 403, "message": "flagged", "metadata": {"flagged_input": "x"}}}, 403),
    ],
    ids=["openai", "filter", "policy", "deepseek", "openrouter"],
)
def test_refusals_are_answers(serve: Serve, step: Step) -> None:
    server = serve(step)
    assert answer(server).finish == "refusal"
    assert len(server.received) == 1


def test_anthropic_refuses(serve: Serve) -> None:
    body = {"content": [], "stop_reason": "refusal", "model": "m", "usage": {"input_tokens": 5, "output_tokens": 1}}
    assert answer(serve(json_step(body)), name="anthropic/m").finish == "refusal"


def test_a_cut_answer_is_asked_again_with_double_the_limit(serve: Serve) -> None:
    server = serve(ok("half", finish="length"), ok("whole"))
    reply, ledger = asyncio.run(ask(server))
    assert (reply.text, reply.finish) == ("whole", "stop")
    assert [received.body["max_completion_tokens"] for received in server.received] == [4096, 8192]
    assert (reply.usage.input, reply.usage.output, len(reply.tries)) == (200, 20, 2)
    assert (ledger.totals.usage.input, ledger.totals.calls) == (200, 2)


def test_an_answer_that_is_cut_twice_is_returned_as_such(serve: Serve) -> None:
    server = serve(default=ok("half", finish="length"))
    assert answer(server).finish == "length"
    assert len(server.received) == 2


def test_a_double_limit_that_is_too_much(serve: Serve) -> None:
    reply = answer(serve(ok("half", finish="length"), failing(400, "max_tokens is too large")))
    assert (reply.text, reply.finish, len(reply.tries)) == ("half", "length", 2)


def test_a_blank_answer_is_asked_again_once(serve: Serve) -> None:
    server = serve(ok("  \n"), ok("words"))
    reply = answer(server)
    assert reply.text == "words"
    assert reply.usage.output == 20, "the blank one was billed too"
    assert answer(serve(default=ok(""))).text == ""


def test_a_temperature_that_is_refused_is_left_out_from_then_on(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    async def run(server: Loopback) -> None:
        async with open_model(
            "openai/gpt-test", base_url=server.url, retry=QUICK, environment={"OPENAI_API_KEY": KEY}
        ) as model:
            for number in range(2):
                warm = ChatRequest("", (Message("user", str(number)),), temperature=0.5)
                await model.complete(warm)

    server = serve(failing(400, "`temperature` is deprecated for this model."))
    with caplog.at_level(logging.WARNING):
        asyncio.run(run(server))
    assert [received.body.get("temperature") for received in server.received] == [0.5, None, None]
    assert "takes no temperature" in caplog.text


def test_a_schema_that_is_refused_is_reported_in_words(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    request = ChatRequest("Be brief.", (Message("user", "?"),), schema)
    server = serve(failing(400, "Invalid schema for response_format"), failing(400, "response_format unknown"))
    answer(server, request)
    formats = [received.body.get("response_format", {}).get("type") for received in server.received]
    assert formats == ["json_schema", "json_object", None]
    systems = [received.body["messages"][0]["content"] for received in server.received]
    assert systems[0] == "Be brief."
    assert all('"properties":{"a":{"type":"integer"}}' in system for system in systems[1:])
    assert "describes it instead" in caplog.text


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (401, f"Incorrect API key provided: {KEY}", "invalid_api_key"),
        (401, "Incorrect API key provided: sk-test-****cdef.", None),
        (403, f"{KEY} may not", None),
        (400, "API key not valid. Please pass a valid API key.", None),
        (402, "Insufficient Balance", None),
        (429, "You exceeded your current quota", "insufficient_quota"),
    ],
)
def test_a_wrong_key_stops_the_run_at_once(
    serve: Serve, tmp_path: Path, caplog: pytest.LogCaptureFixture, status: int, message: str, code: str | None
) -> None:
    server = serve(default=failing(status, message, code))
    ledgers: list[CallLedger] = []

    async def run() -> None:
        async with open_model(
            "openai/gpt-test",
            base_url=server.url,
            cache=tmp_path / "cache.sqlite",
            record=tmp_path / "record.jsonl",
            retry=QUICK,
            environment={"OPENAI_API_KEY": KEY},
        ) as model:
            ledgers.append(model.ledger)
            with pytest.raises(KeyRefused):
                await model.complete(QUESTION)
            # Whoever swallows the error does not get further.
            with pytest.raises(KeyRefused, match="check OPENAI_API_KEY in the environment") as error:
                await model.complete(ChatRequest("", (Message("user", "again"),)))
            assert not exposes(str(error.value) + repr(error.value) + repr(model.__dict__))

    with caplog.at_level(logging.DEBUG):
        asyncio.run(run())
    assert len(server.received) == 1
    assert not exposes(caplog.text)
    assert not exposes(repr([ledger.calls for ledger in ledgers]))
    for path in tmp_path.rglob("*"):
        assert not exposes(path.read_bytes().decode("latin-1"))


def exposes(text: str) -> bool:
    return KEY in text or KEY[:12] in text or KEY[-4:] in text


def test_the_key_is_in_no_file_of_a_good_run(serve: Serve, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(failing(500, f"echo {KEY}"), ok())
    with caplog.at_level(logging.DEBUG):
        reply, ledger = asyncio.run(ask(server, cache=tmp_path / "c", record=tmp_path / "r"))
    assert server.received[0].headers["Authorization"] == f"Bearer {KEY}"
    assert reply.tries[0].error == "HTTP 500: echo [key]"
    assert not exposes(repr(reply) + repr(ledger.calls) + caplog.text)
    assert not any(exposes(path.read_bytes().decode("latin-1")) for path in tmp_path.rglob("*"))


def test_a_missing_key_is_reported_before_anything_is_asked(serve: Serve) -> None:
    server = serve()
    with pytest.raises(KeyRefused, match="gemini/x: no key; set GEMINI_API_KEY or GOOGLE_API_KEY"):
        answer(server, name="gemini/x", environment={})
    with pytest.raises(KeyRefused, match="OPENAI_API_KEY holds characters") as error:
        answer(server, environment={"OPENAI_API_KEY": f"{KEY}\nX-Evil: 1"})
    assert not exposes(str(error.value))
    assert server.received == []


@pytest.mark.parametrize(
    "step", [failing(404, "The model `gpt-test` does not exist"), failing(405), text_step("", 301)]
)
def test_a_model_that_is_not_there_stops_the_run(serve: Serve, step: Step) -> None:
    server = serve(step)
    with pytest.raises(UnknownModel, match=r"openai/gpt-test: not found at http://127.0.0.1:\d+/v1; check the name"):
        answer(server)
    assert len(server.received) == 1


def test_the_key_follows_no_redirect(serve: Serve) -> None:
    elsewhere = serve()
    for status in (302, 307, 308):
        with pytest.raises(UnknownModel):
            answer(serve(json_step({}, status, Location=f"{elsewhere.url}/chat/completions")))
    assert elsewhere.received == []


def test_a_server_that_is_not_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    async def run() -> None:
        async with open_model(f"http://user:{KEY}@127.0.0.1:{port}/v1#m", retry=QUICK, environment={}) as model:
            await model.complete(QUESTION)

    with pytest.raises(
        Unreachable, match=rf"no connection to http://127.0.0.1:{port}/v1 .*is the server running"
    ) as error:
        asyncio.run(run())
    assert not exposes(str(error.value))


def test_a_server_that_goes_away_later_costs_single_calls(serve: Serve) -> None:
    async def run() -> None:
        with Loopback() as server:
            stack = open_model("vllm/m", base_url=server.url, retry=QUICK, environment={})
            model = await stack.__aenter__()
            await model.complete(QUESTION)
        with pytest.raises(CallFailed, match="given up after 5 tries"):
            await model.complete(ChatRequest("", (Message("user", "again"),)))
        await stack.__aexit__(None, None, None)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nonsense/m", "no provider 'nonsense'; write PROVIDER/NAME with one of anthropic, deepseek, gemini"),
        ("openai", "which model"),
        ("openai/", "which model"),
        ("http://127.0.0.1:1/v1", "which model"),
        ("openai-compatible/m", "where is it"),
    ],
)
def test_names_that_lead_nowhere(name: str, says: str) -> None:
    async def run() -> None:
        async with open_model(name, environment={"OPENAI_API_KEY": KEY}):
            pass

    with pytest.raises(UnknownModel, match=says):
        asyncio.run(run())


def test_a_base_url_that_is_none() -> None:
    async def run() -> None:
        async with open_model("vllm/m", base_url=f"ftp://u:{KEY}@host/v1", environment={}):
            pass

    with pytest.raises(UnknownModel, match="ftp://host is no http") as error:
        asyncio.run(run())
    assert not exposes(str(error.value))


def test_only_one_error_is_about_a_single_call() -> None:
    stops = {error.__name__ for error in ModelError.__subclasses__() if not issubclass(error, CallFailed)}
    assert stops == {"KeyRefused", "NotRecorded", "SpendingLimit", "UnknownModel", "UnknownPrice", "Unreachable"}


def test_a_model_on_this_machine_may_take_a_whole_try() -> None:
    """A slow local model sends nothing until it is done."""
    from dense.model.http import _default_policy

    local, far = _default_policy("http://127.0.0.1:8080/v1"), _default_policy("https://models.example/v1")
    assert local.first_byte == local.timeout > far.first_byte
