"""What calls cost: prices known and unknown, the ledger, the spending limit, and how many calls run at once."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback import Loopback, cut, failing, ok, text_step
from msgspec import structs

from dense.errors import CallFailed, SpendingLimit, UnknownPrice
from dense.model import (
    CallLedger,
    CallLimits,
    CallTry,
    ChatReply,
    ChatRequest,
    GivenPrices,
    Message,
    OpenModel,
    RetryPolicy,
    estimate_usage,
    open_model,
    prices_of,
    resolve,
)
from dense.model.meter import BudgetedModel, SpendingBounds
from dense.model.rate_limit import RateLimitedModel
from dense.trajectory import Usage

Serve = Callable[..., Loopback]
QUICK = RetryPolicy(tries=2, timeout=10, first_wait=0.01)
CENT_A_TOKEN = GivenPrices(10_000, 10_000)
NOON = "2026-11-15T12:00:00+00:00"


def question(number: int = 0, limit: int = 10) -> ChatRequest:
    return ChatRequest("", (Message("user", f"{number:06}"),), max_output_tokens=limit, label="test")


def run[T](server: Loopback, work: Callable[[OpenModel], Any], name: str = "vllm/m", **options: Any) -> Any:
    async def main() -> Any:
        environment = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "OPENROUTER_API_KEY": "k"}
        options.setdefault("retry", QUICK)
        async with open_model(name, base_url=server.url, environment=environment, **options) as model:
            return await work(model)

    return asyncio.run(main())


def usd(name: str, usage: Usage, at: str = NOON) -> float | None:
    return prices_of(resolve(name, environment={})).usd(usage, at)


def test_prices_by_the_table() -> None:
    million = Usage(1_000_000, 0, 0, 1_000_000)
    assert usd("gemini/gemini-3-flash-preview", million) == pytest.approx(3.5)
    assert usd("anthropic/claude-sonnet-4-5", Usage(1000, 10_000, 2000, 100)) == pytest.approx(
        (1000 * 3 + 10_000 * 0.3 + 2000 * 3.75 + 100 * 15) / 1e6
    )
    assert usd("openai/gpt-5.5", Usage(1000, None, None, 10)) == pytest.approx((1000 * 5 + 10 * 30) / 1e6)
    assert usd("deepseek/deepseek-chat", Usage(1000, 0, None, 10)) is not None
    assert usd("kimi/kimi-k2.6", Usage(1000, 0, None, 10)) is not None
    assert usd("minimax/MiniMax-M2.1", Usage(1000, 0, None, 10)) is not None
    assert usd("openrouter/anthropic/claude-sonnet-4.5", Usage(1000, 0, None, 10)) is not None


def test_prices_depend_on_the_time() -> None:
    """DeepSeek was half the price at night: the same call is priced by when it was made."""
    day, night = (
        usd("deepseek/deepseek-chat", Usage(1000, 0, 0, 10), f"2025-08-01T{hour}:00:00+00:00") for hour in (12, 18)
    )
    assert day is not None and night is not None
    assert night < day


def test_the_unknown_is_unknown() -> None:
    tokens = Usage(1000, 0, 0, 10)
    assert usd("openai/some-model-of-2031", tokens) is None
    for name in ("ollama/llama3", "vllm/m", "llamacpp/m", "http://127.0.0.1:1/v1#m"):
        assert usd(name, tokens) is None
        assert prices_of(resolve(name, environment={})).source == "unknown"
    assert usd("openai/gpt-5.5", Usage(None, None, None, 10)) is None
    assert usd("openai/gpt-5.5", Usage(10, None, None, None)) is None
    assert prices_of(resolve("openai/gpt-5.5", environment={})).source.startswith("genai-prices ")


def test_what_the_provider_reports_counts_first(serve: Serve) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "cost": 0.125}
    server = serve(ok(usage=usage))

    async def work(model: OpenModel) -> CallLedger:
        await model.complete(question())
        return model.ledger

    assert run(server, work, "openrouter/some/model").totals.usd == 0.125


def test_given_prices() -> None:
    given = GivenPrices(2, 10, cache_read=0.5)
    assert given.usd(Usage(1_000_000, 1_000_000, 1_000_000, 1_000_000), NOON) == 2 + 0.5 + 2 + 10
    assert given.usd(Usage(1_000_000), NOON) is None


def test_the_ledger_has_every_call(serve: Serve, tmp_path: Any) -> None:
    server = serve(ok(), cut, ok(), failing(400))

    async def work(model: OpenModel) -> CallLedger:
        await model.complete(question(0))
        await model.complete(question(0))
        await model.complete(question(1))
        with pytest.raises(CallFailed):
            await model.complete(question(2))
        return model.ledger

    ledger = run(server, work, prices=CENT_A_TOKEN, cache=tmp_path / "cache")
    rows = [(call.usd, call.tries, call.unknown_tries, call.is_cached, call.finish) for call in ledger.calls]
    assert rows == [
        (pytest.approx(1.1), 1, 0, False, "stop"),
        (pytest.approx(1.1), 1, 0, True, "stop"),
        (pytest.approx(1.1), 2, 1, False, "stop"),
        (None, 1, 0, False, None),
    ]
    assert ledger.calls[0].request == question(0).digest
    assert ledger.calls[0].at.endswith("+00:00")
    totals = ledger.totals
    assert (totals.calls, totals.cached, totals.failed, totals.unknown_tries, totals.unpriced) == (4, 1, 1, 1, 0)
    assert (totals.usage, totals.cached_usage) == (Usage(200, output=20), Usage(100, output=10))
    assert (totals.usd, totals.cached_usd) == (pytest.approx(2.2), pytest.approx(1.1))


def test_a_total_says_what_it_does_not_know(serve: Serve) -> None:
    async def work(model: OpenModel) -> CallLedger:
        await model.complete(question())
        return model.ledger

    totals = run(serve(), work).totals
    assert (totals.usd, totals.unpriced, totals.usage.input) == (None, 1, 100)


def test_the_limit_stops_before_it_is_passed(serve: Serve, tmp_path: Any) -> None:
    """Each call costs 1.10 and is admitted at 1.14: with 5.00, four are answered and kept, and no more are begun."""
    server = serve(default=ok(delay=0.02))
    cache = tmp_path / "cache"
    ledgers: list[CallLedger] = []

    async def work(model: OpenModel) -> None:
        ledgers.append(model.ledger)
        async with asyncio.TaskGroup() as group:
            for number in range(20):
                group.create_task(model.complete(question(number, limit=110)))

    with pytest.raises(ExceptionGroup) as stopped:
        run(server, work, prices=CENT_A_TOKEN, cache=cache, limits=CallLimits(4, max_usd=5.0))
    assert stopped.group_contains(SpendingLimit, match=r"of \$5\.0000: the next call may cost \$1\.1")
    spent = ledgers[0].totals.usd
    assert spent is not None and 2.2 <= spent <= 5.0
    first = len(server.received)
    assert first == ledgers[0].totals.calls, "what was begun was waited for"
    with pytest.raises(ExceptionGroup):
        run(server, work, prices=CENT_A_TOKEN, cache=cache, limits=CallLimits(4, max_usd=1e-9))
    run(server, work, prices=CENT_A_TOKEN, cache=cache, limits=CallLimits(4, max_usd=100.0))
    assert len(server.received) == 20, "resumed without asking anything twice"


def test_no_call_is_begun_after_the_limit(serve: Serve) -> None:
    async def work(model: OpenModel) -> None:
        for _ in range(3):
            with pytest.raises(SpendingLimit):
                await model.complete(question(limit=1000))
        with pytest.raises(SpendingLimit):
            await model.complete(question(limit=1))

    server = serve()
    run(server, work, prices=CENT_A_TOKEN, limits=CallLimits(max_usd=5.0))
    assert server.received == []


def test_a_try_of_unknown_cost_counts_as_the_most_it_may_cost(serve: Serve) -> None:
    """Each call is admitted at 1.14; the first is tried twice, and what its first try cost nobody knows."""

    async def work(model: OpenModel) -> CallLedger:
        await model.complete(question(0, limit=110))
        with pytest.raises(SpendingLimit):
            await model.complete(question(1, limit=110))
        return model.ledger

    ledger = run(serve(cut), work, prices=CENT_A_TOKEN, limits=CallLimits(max_usd=3.0))
    assert ledger.totals.usd == pytest.approx(1.1), "the ledger has only what is known"
    assert ledger.totals.unknown_tries == 1


@pytest.mark.parametrize(
    "usage",
    [
        '{"prompt_tokens": -1000, "completion_tokens": 1}',
        '{"prompt_tokens": 1, "completion_tokens": -1000}',
        '{"prompt_tokens": 1, "completion_tokens": 1, "cost": -5}',
        '{"prompt_tokens": 1, "completion_tokens": 1, "cost": -1e308}',
        f'{{"prompt_tokens": 1{"0" * 400}, "completion_tokens": 1}}',
        '{"prompt_tokens": 1, "completion_tokens": 1e999}',
        '{"prompt_tokens": -1, "total_tokens": -9, "prompt_tokens_details": {"cached_tokens": -9}}',
        "-1",
    ],
)
def test_no_absurd_usage_lowers_what_was_spent(serve: Serve, usage: str) -> None:
    """Each call is admitted at 1.14 and may cost nothing less than that it reports plausibly: three fit into 4."""
    body = json.dumps({"model": "m", "choices": [{"message": {"content": "x"}}]})[:-1] + f', "usage": {usage}}}'

    async def work(model: OpenModel) -> CallLedger:
        for number in range(3):
            await model.complete(question(number, limit=110))
        with pytest.raises(SpendingLimit):
            for number in range(3, 300):
                await model.complete(question(number, limit=110))
        return model.ledger

    ledger = run(
        serve(default=text_step(body, content_type="application/json")),
        work,
        prices=CENT_A_TOKEN,
        limits=CallLimits(max_usd=4.0),
    )
    assert (ledger.totals.usd or 0) >= 0


@given(st.lists(st.one_of(st.none(), st.integers(), st.floats(allow_nan=True)), min_size=5, max_size=5))
def test_no_count_is_negative_or_endless(counts: list[Any]) -> None:
    usage = Usage(*counts)
    assert all(count is None or 0 <= count <= 10**15 for count in structs.astuple(usage))
    assert all(count is None or count >= 0 for count in structs.astuple(usage + usage))


def test_a_limit_needs_prices(serve: Serve) -> None:
    async def work(model: OpenModel) -> None:
        await model.complete(question())

    with pytest.raises(UnknownPrice, match="vllm/m: its prices are unknown"):
        run(serve(), work, limits=CallLimits(max_usd=1.0))
    run(serve(), work, "openai/gpt-5.5", limits=CallLimits(max_usd=1.0))


class Priced:
    """A model whose answers cost what they are told to, after a while."""

    def __init__(self, outputs: list[int | None]) -> None:
        self._outputs = outputs
        self.count = 0

    async def complete(self, request: ChatRequest) -> ChatReply:
        number, self.count = self.count, self.count + 1
        output = self._outputs[number % len(self._outputs)]
        await asyncio.sleep(0.0001 * (number % 3))
        if output is None:
            raise CallFailed("dead", (CallTry(0, may_be_billed=True),))
        usage = Usage(0, 0, 0, min(output, request.max_output_tokens))
        return ChatReply("x", usage, "stop", "m", 0, (CallTry(0, 200, usage=usage, may_be_billed=True),))


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.one_of(st.none(), st.integers(0, 100)), min_size=1, max_size=8),
    st.floats(0.01, 40),
    st.integers(1, 8),
)
def test_the_limit_holds_for_any_costs(outputs: list[int | None], limit: float, concurrency: int) -> None:
    async def main() -> tuple[CallLedger, int, int]:
        ledger = CallLedger(CENT_A_TOKEN)
        model = RateLimitedModel(BudgetedModel(Priced(outputs), ledger, SpendingBounds(limit)), concurrency)
        results = await asyncio.gather(
            *(model.complete(question(number, limit=100)) for number in range(40)), return_exceptions=True
        )
        stopped = sum(isinstance(result, SpendingLimit) for result in results)
        assert all(isinstance(result, ChatReply | CallFailed | SpendingLimit) for result in results)
        return ledger, stopped, len(results)

    ledger, stopped, count = asyncio.run(main())
    assert (ledger.totals.usd or 0) <= limit + 1e-9
    assert ledger.totals.calls + stopped == count


def test_at_most_so_many_at_once(serve: Serve) -> None:
    server = serve(default=ok(delay=0.03))

    async def work(model: OpenModel) -> None:
        await asyncio.gather(*(model.complete(question(number)) for number in range(24)))

    run(server, work, limits=CallLimits(5))
    assert (server.most_at_once, len(server.received)) == (5, 24)


def test_calls_are_spaced() -> None:
    async def main() -> float:
        model = RateLimitedModel(Priced([1]), 5, per_minute=1200)
        started = time.monotonic()
        await asyncio.gather(*(model.complete(question(number)) for number in range(5)))
        return time.monotonic() - started

    assert asyncio.run(main()) >= 4 * 60 / 1200


def test_256_at_once(serve: Serve) -> None:
    server = serve(default=ok(delay=1))

    async def work(model: OpenModel) -> float:
        started = time.monotonic()
        await asyncio.gather(*(model.complete(question(number)) for number in range(256)))
        return time.monotonic() - started

    assert run(server, work, limits=CallLimits(256)) < 20
    assert server.most_at_once > 100


def test_estimates() -> None:
    request = ChatRequest("x" * 100, (Message("user", "ä" * 50),), {"type": "object"}, max_output_tokens=77)
    tokens = estimate_usage(request)
    assert tokens.output == 77
    assert tokens.input is not None and 50 <= tokens.input <= 60
    assert estimate_usage(request, output_tokens=5).output == 5
