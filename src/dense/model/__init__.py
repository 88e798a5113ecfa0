"""The chat-model client.

    MeteredModel → RecordingModel → DeduplicatedModel → CachedModel → RateLimitedModel → StoringModel → LengthRetryModel
        → BudgetedModel → HttpModel → a wire format → the provider

In: the name of a model, `PROVIDER/NAME`, and `ChatRequest`s. Out: `ChatReply`s, and a ledger of what they cost.
`open_model` stacks the wrappers; each has the one method of `ChatModel`, `complete`. A provider is one row in
`providers`. Keys come from the environment alone, and are neither logged nor stored. Never imports anything of dense
but nouns."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import cast

from dense.errors import SpendingLimit, UnknownPrice
from dense.model.cache import AnswerStore, CachedModel, DeduplicatedModel, StoringModel, cache_key, identity_of
from dense.model.chat import CallTry, ChatModel, ChatReply, ChatRequest, Message
from dense.model.context import context_window
from dense.model.http import HttpModel, RetryPolicy
from dense.model.length_retry import LengthRetryModel
from dense.model.meter import (
    BudgetedModel,
    CallLedger,
    CallTotals,
    MeteredModel,
    ModelCall,
    TalliedModel,
    estimate_usage,
)
from dense.model.prices import GivenPrices, PriceSource, TablePrices, UnknownPrices
from dense.model.providers import DEFAULT_CONTEXT_WINDOW, PROVIDERS, ModelSpec, key_of, resolve
from dense.model.rate_limit import RateLimitedModel
from dense.model.recording import RecordingModel, ReplayModel
from dense.trajectory import Usage

__all__ = [
    "DEFAULT_CONTEXT_WINDOW",
    "PROVIDERS",
    "CallLedger",
    "CallTotals",
    "CallTry",
    "ChatModel",
    "ChatReply",
    "ChatRequest",
    "GivenPrices",
    "Message",
    "ModelCall",
    "ModelSpec",
    "OpenModel",
    "PriceSource",
    "RecordingModel",
    "ReplayModel",
    "RetryPolicy",
    "TalliedModel",
    "context_window",
    "estimate_usage",
    "open_model",
    "prices_of",
    "resolve",
]

REPLAY = "replay/"
"""What a model's name begins with when the rest names a record."""


class OpenModel:
    """A model that is ready to be asked, and its ledger."""

    def __init__(
        self, name: str, model: ChatModel, ledger: CallLedger, store: AnswerStore | None = None, identity: str = ""
    ) -> None:
        self.name = name
        self.ledger = ledger
        self._model = model
        self._store, self._identity = store, identity

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answers; see `ChatModel`."""
        return await self._model.complete(request)

    async def discard_replies(self, calls: Iterable[ModelCall]) -> None:
        """Takes the answers of these calls out of the cache: nothing could be made of them, and whoever tries again
        must not be given the same. What was paid for them stays in the ledger."""
        for call in calls:
            if self._store is not None and call.error is None:
                await self._store.forget(cache_key(self._identity, call.request), call.at)


@asynccontextmanager
async def open_model(
    name: str,
    *,
    base_url: str | None = None,
    cache: Path | None = None,
    concurrency: int = 16,
    per_minute: float | None = None,
    max_usd: float | None = None,
    spent: float = 0.0,
    prices: GivenPrices | None = None,
    retry: RetryPolicy | None = None,
    record: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> AsyncGenerator[OpenModel]:
    """Opens a model: `PROVIDER/NAME`, `http://host:port/v1#NAME`, or `replay/FILE` for a recorded run.

    `cache` keeps answers for good in a file that processes may share; `record` writes a replay. At most `concurrency`
    calls run at once. `max_usd` bounds what is spent, what was `spent` before included, and needs known `prices`. A
    missing key, an unknown name or price is an error here, before anything is asked. When the block ends by
    `SpendingLimit`, calls that are under way are waited for, so that their answers are kept; when it ends otherwise,
    they are dropped."""
    async with AsyncExitStack() as stack:
        if name.startswith(REPLAY):
            ledger = CallLedger(prices or UnknownPrices())
            yield OpenModel(name, MeteredModel(ReplayModel(Path(name.removeprefix(REPLAY))), ledger), ledger)
            return
        surroundings = os.environ if environment is None else environment
        spec = resolve(name, base_url=base_url, environment=surroundings)
        key = key_of(spec, surroundings)
        ledger = CallLedger(await asyncio.to_thread(prices_of, spec, prices))
        if max_usd is not None and ledger.prices.usd(Usage(1, None, None, 1), "") is None:
            raise UnknownPrice(f"{spec}: its prices are unknown, so a spending limit cannot be kept: give prices")
        http = await stack.enter_async_context(HttpModel(spec, key, retry))
        model: ChatModel = LengthRetryModel(BudgetedModel(http, ledger, max_usd, spent))
        store, identity = None if cache is None else AnswerStore(cache), identity_of(spec)
        if store is None:
            model = RateLimitedModel(model, concurrency, per_minute)
        else:
            await store.open()
            stack.push_async_callback(store.close)
            model = CachedModel(
                RateLimitedModel(StoringModel(model, store, identity), concurrency, per_minute), store, identity
            )
        asked_once = DeduplicatedModel(model)
        model = asked_once if record is None else RecordingModel(asked_once, record)
        try:
            yield OpenModel(str(spec), MeteredModel(model, ledger), ledger, store, identity)
        except BaseException as error:
            if _is_limit(error):
                await asked_once.settle()
            raise
        finally:
            await asked_once.abandon()


def prices_of(spec: ModelSpec, given: GivenPrices | None = None) -> PriceSource:
    """The prices of a model: those given, else the table's. Loading the table takes most of a second."""
    if given is not None:
        return given
    provider = spec.provider.prices
    return UnknownPrices() if provider is None else TablePrices(provider, spec.name)


def _is_limit(error: BaseException) -> bool:
    """Whether it is the spending limit, or a task group's collection with it inside."""
    if isinstance(error, BaseExceptionGroup):
        return any(map(_is_limit, cast(BaseExceptionGroup[BaseException], error).exceptions))
    return isinstance(error, SpendingLimit)
