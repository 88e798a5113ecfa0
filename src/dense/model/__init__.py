"""The chat-model client.

    MeteredModel → RecordingModel → DeduplicatedModel → CachedModel → RateLimitedModel → StoringModel → LengthRetryModel
        → BudgetedModel → HttpModel → a wire format → the provider
                        → ProgramModel → a program on this machine

In: the name of a model, `PROVIDER/NAME` or a program's, and `ChatRequest`s. Out: `ChatReply`s, and a ledger of what
they cost. `open_model` stacks the wrappers; each has the one method of `ChatModel`, `complete`. A provider is one row
in `providers`, a program one in `programs`. Keys come from the environment alone, and are neither logged nor stored.
Never imports anything of dense but nouns."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from dense.errors import ModelError, SpendingLimit, UnknownPrice
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
    SpendingBounds,
    TalliedModel,
    estimate_usage,
)
from dense.model.prices import GivenPrices, PriceSource, TablePrices, UnknownPrices
from dense.model.programs import PROGRAMS, ProgramModel
from dense.model.providers import DEFAULT_CONTEXT_WINDOW, PROVIDERS, ModelSpec, key_of
from dense.model.rate_limit import RateLimitedModel
from dense.model.recording import RecordingModel, ReplayModel
from dense.model.resolve import find_program, resolve
from dense.trajectory import Usage

__all__ = [
    "DEFAULT_CONTEXT_WINDOW",
    "PROGRAMS",
    "PROVIDERS",
    "CallLedger",
    "CallLimits",
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
    "closed_model",
    "context_window",
    "estimate_usage",
    "highest_prices_of",
    "open_model",
    "prices_of",
    "resolve",
]

MAX_PROGRAMS = 4
"""So many programs run at once, at most: each is a large process."""
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


class _FailingModel:
    """Raises the same error for each request."""

    def __init__(self, error: ModelError) -> None:
        self._error = error

    async def complete(self, request: ChatRequest) -> ChatReply:
        del request
        raise type(self._error)(*self._error.args)


def closed_model(name: str, error: ModelError) -> OpenModel:
    """In the place of a model that cannot be opened: every request raises the error."""
    return OpenModel(name, _FailingModel(error), CallLedger(UnknownPrices()))


class CallLimits(Struct, frozen=True):
    """How many calls to a model may run, and what they may cost."""

    concurrency: int = 16
    """Calls at once."""
    per_minute: float | None = None
    """Calls a minute."""
    max_usd: float | None = None
    """What is spent at most; it needs known prices."""
    spent: float = 0.0
    """What was spent before, of `max_usd`."""


@asynccontextmanager
async def open_model(
    name: str,
    *,
    base_url: str | None = None,
    cache: Path | None = None,
    limits: CallLimits = CallLimits(),  # noqa: B008 - immutable
    prices: GivenPrices | None = None,
    retry: RetryPolicy | None = None,
    record: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> AsyncGenerator[OpenModel]:
    """Opens a model: `PROVIDER/NAME`, `http://host:port/v1#NAME`, a program such as `claude-code/MODEL` or
    `exec:COMMAND`, or `replay/FILE` for a recorded run.

    `cache` keeps answers for good in a file that processes may share; `record` writes a replay. A
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
        highest = ledger.prices if limits.max_usd is None else highest_prices_of(spec, prices)
        if limits.max_usd is not None and highest.usd(Usage(1, None, None, 1), "") is None:
            raise UnknownPrice(f"{spec}: its prices are unknown, so a spending limit cannot be kept: {_advice(spec)}")
        bounds = SpendingBounds(limits.max_usd, limits.spent, highest)
        concurrency = limits.concurrency
        if spec.is_program:
            find_program(spec, surroundings)
            program, concurrency = PROGRAMS[spec.provider.name], min(concurrency, MAX_PROGRAMS)
            asked = ProgramModel(spec, program, surroundings, retry.timeout if retry is not None else None)
            # Programs take no limit of the output: asking again with twice the limit would ask the same.
            model: ChatModel = BudgetedModel(asked, ledger, replace(bounds, allowance=program.allowance))
        else:
            http = await stack.enter_async_context(HttpModel(spec, key, retry))
            model = LengthRetryModel(BudgetedModel(http, ledger, bounds))
        store, identity = None if cache is None else AnswerStore(cache), identity_of(spec)
        if store is None:
            model = RateLimitedModel(model, concurrency, limits.per_minute)
        else:
            await store.open()
            stack.push_async_callback(store.close)
            model = CachedModel(
                RateLimitedModel(StoringModel(model, store, identity), concurrency, limits.per_minute),
                store,
                identity,
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
    provider, name = spec.listed_as
    return UnknownPrices() if provider is None else TablePrices(provider, name)


def highest_prices_of(spec: ModelSpec, given: GivenPrices | None = None) -> PriceSource:
    """What limits and estimates count with: the prices of a model, else those of the dearest that its program takes."""
    prices = prices_of(spec, given)
    if not spec.is_program or prices.usd(Usage(1, None, None, 1), "") is not None:
        return prices
    provider, usual = spec.provider.prices, PROGRAMS[spec.provider.name].usual_model
    return prices if provider is None else TablePrices(provider, usual)


def _advice(spec: ModelSpec) -> str:
    return "name its model" if spec.is_program and not spec.name else "give prices"


def _is_limit(error: BaseException) -> bool:
    """Whether it is the spending limit, or a task group's collection with it inside."""
    if isinstance(error, BaseExceptionGroup):
        return any(map(_is_limit, cast(BaseExceptionGroup[BaseException], error).exceptions))
    return isinstance(error, SpendingLimit)
