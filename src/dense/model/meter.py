"""What calls cost: a ledger of every call, totals of the run, and a limit that is kept before money is spent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from msgspec import Struct

from dense.errors import CallFailed, SpendingLimit, UnknownPrice
from dense.model.chat import CallTry, ChatModel, ChatReply, ChatRequest
from dense.model.prices import PriceSource
from dense.trajectory import Usage


class ModelCall(Struct, frozen=True, omit_defaults=True):
    """A line of the ledger: one question, with all its tries."""

    label: str
    """What asked."""
    request: str
    """The question's hash."""
    at: str
    """When the provider was asked: ISO 8601, UTC. For an answer from the cache, when that was."""
    seconds: float
    """How long it took, then."""
    usage: Usage
    """The tokens that were reported, over all tries."""
    usd: float | None = None
    """What these cost; None is unknown."""
    finish: str | None = None
    """How the answer ended; None where there is none."""
    model: str | None = None
    """The model that answered."""
    error: str | None = None
    """Why there is no answer."""
    tries: int = 1
    """How often it was tried."""
    unknown_tries: int = 0
    """Tries that may have been billed and reported no tokens."""
    is_cached: bool = False
    """Whether nothing was paid for it in this run: tokens and USD are those of back then."""


class CallTotals(Struct, frozen=True):
    """Sums over a run."""

    calls: int = 0
    """Questions, cached ones included."""
    cached: int = 0
    """Those that were answered without the provider."""
    failed: int = 0
    """Those that stayed without an answer."""
    usage: Usage = Usage()
    """Tokens reported in this run."""
    usd: float | None = None
    """What they cost, as far as known; None where nothing is known."""
    cached_usage: Usage = Usage()
    """Tokens of the cached answers, back then."""
    cached_usd: float | None = None
    """What those cost, as far as known."""
    unpriced: int = 0
    """Paid calls whose price is unknown: `usd` is without them."""
    unknown_tries: int = 0
    """Tries that may have been billed and reported no tokens: `usage` and `usd` are without them."""


class CallLedger:
    """Every call of a run, in the order in which they ended, and what they come to."""

    def __init__(self, prices: PriceSource) -> None:
        self.prices = prices
        self.calls: list[ModelCall] = []
        self.totals = CallTotals()
        self.watch: Callable[[ModelCall], None] | None = None
        """Called with every recorded call that no cache answered, paid for or not."""

    def answered(self, request: ChatRequest, reply: ChatReply) -> ModelCall:
        """Writes down an answer."""
        usd, unknown = price_tries(self.prices, reply.tries, reply.at, reply.model)
        return self._add(
            ModelCall(
                label=request.label,
                request=request.digest,
                at=reply.at,
                seconds=reply.seconds,
                usage=reply.usage,
                usd=usd,
                finish=reply.finish,
                model=reply.model,
                tries=max(1, len(reply.tries)),
                unknown_tries=unknown,
                is_cached=reply.is_cached,
            )
        )

    def failed(self, request: ChatRequest, error: CallFailed, at: str) -> ModelCall:
        """Writes down a call without an answer."""
        tries: tuple[CallTry, ...] = error.tries
        usd, unknown = price_tries(self.prices, tries, at)
        usage = sum((call_try.usage for call_try in tries if call_try.usage is not None), Usage())
        seconds = round(sum(call_try.seconds for call_try in tries), 4)
        return self._add(
            ModelCall(
                label=request.label,
                request=request.digest,
                at=at,
                seconds=seconds,
                usage=usage,
                usd=usd,
                error=str(error),
                tries=max(1, len(tries)),
                unknown_tries=unknown,
            )
        )

    def _add(self, call: ModelCall) -> ModelCall:
        self.calls.append(call)
        so_far, is_paid = self.totals, not call.is_cached
        self.totals = CallTotals(
            calls=so_far.calls + 1,
            cached=so_far.cached + call.is_cached,
            failed=so_far.failed + (call.error is not None),
            usage=so_far.usage + call.usage if is_paid else so_far.usage,
            usd=_sum(so_far.usd, call.usd) if is_paid else so_far.usd,
            cached_usage=so_far.cached_usage if is_paid else so_far.cached_usage + call.usage,
            cached_usd=so_far.cached_usd if is_paid else _sum(so_far.cached_usd, call.usd),
            unpriced=so_far.unpriced + (is_paid and call.usd is None and call.error is None),
            unknown_tries=so_far.unknown_tries + (call.unknown_tries if is_paid else 0),
        )
        if is_paid and self.watch is not None:
            self.watch(call)
        return call


def price_tries(
    prices: PriceSource, tries: tuple[CallTry, ...], at: str, model: str | None = None
) -> tuple[float | None, int]:
    """What tries cost, as far as they reported tokens, and how many may have cost something that nobody knows."""
    usd: float | None = None
    unknown = 0
    for call_try in tries:
        if call_try.usage is not None:
            usd = _sum(usd, prices.usd(call_try.usage, at, model))
        if call_try.may_be_billed and not _says_tokens(call_try.usage):
            unknown += 1
    return usd, unknown


def _says_tokens(usage: Usage | None) -> bool:
    """Whether a provider reported what a price can be computed of."""
    return usage is not None and (usage.cost_usd is not None or None not in (usage.input, usage.output))


def estimate_usage(request: ChatRequest, *, bytes_per_token: float = 4, output_tokens: int | None = None) -> Usage:
    """The tokens of a question before it is asked: four bytes each, and an output up to its limit if not given."""
    size = len(request.system.encode()) + sum(len(message.text.encode()) for message in request.messages)
    if request.schema is not None:
        size += len(str(request.schema))
    return Usage(input=int(size / bytes_per_token) + 1, output=output_tokens or request.max_output_tokens)


class MeteredModel:
    """Writes answers from caches into the ledger. What was paid for is written where it is paid: by `BudgetedModel`."""

    def __init__(self, inner: ChatModel, ledger: CallLedger) -> None:
        self._inner = inner
        self._ledger = ledger

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answers, and writes down."""
        reply = await self._inner.complete(request)
        if reply.is_cached:
            self._ledger.answered(request, reply)
        return reply


class TalliedModel:
    """Keeps the calls of one piece of work apart, for its record, whoever else asks the same model."""

    def __init__(self, inner: ChatModel, prices: PriceSource) -> None:
        self._inner = inner
        self.ledger = CallLedger(prices)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answers, and writes down."""
        try:
            reply = await self._inner.complete(request)
        except CallFailed as error:
            self.ledger.failed(request, error, datetime.now(UTC).isoformat())
            raise
        self.ledger.answered(request, reply)
        return reply


class SpendingBounds(Struct, frozen=True):
    """What calls may cost."""

    max_usd: float | None = None
    """All calls together, at most."""
    spent: float = 0.0
    """What was spent of it before."""
    prices: PriceSource | None = None
    """What the most that a call may cost is counted with; the ledger's prices if None."""
    allowance: Usage = Usage()
    """What a call may take besides what the request says."""


class BudgetedModel:
    """Writes every paid call into the ledger, and starts none that could pass the limit.

    A call is admitted with the most that it may cost: its input at two bytes a token, its output in full, and no
    discount. Where that fits what is left only if calls under way turn out cheaper than feared, it waits for them. The
    limit thus holds unless a provider counts more than that; a try that ended without a word about its tokens counts as
    the most that it could have cost. After the first refusal nothing is started any more."""

    def __init__(self, inner: ChatModel, ledger: CallLedger, bounds: SpendingBounds = SpendingBounds()) -> None:  # noqa: B008 - immutable
        self._inner = inner
        self._ledger = ledger
        self._bounds = bounds
        self._max_usd = bounds.max_usd
        self._spent = bounds.spent
        self._reserved: list[float] = []
        self._is_over = False
        self._settled = asyncio.Condition()

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answers, or raises `SpendingLimit` before anything is asked."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        if self._max_usd is None:
            return await self._recorded(request, at)
        most = self._most(request, at)
        await self._admit(most, self._max_usd)
        try:
            return await self._recorded(request, at, most)
        except asyncio.CancelledError:
            self._spent += most
            raise
        finally:
            self._reserved.remove(most)
            async with self._settled:
                self._settled.notify_all()

    async def _recorded(self, request: ChatRequest, at: str, most: float = 0.0) -> ChatReply:
        try:
            reply = await self._inner.complete(request)
        except CallFailed as error:
            call = self._ledger.failed(request, error, at)
            self._spent += (call.usd or 0.0) + call.unknown_tries * most
            raise
        call = self._ledger.answered(request, reply)
        usd = most if call.usd is None and not call.unknown_tries else call.usd or 0.0
        self._spent += usd + call.unknown_tries * most
        return reply

    def _most(self, request: ChatRequest, at: str) -> float:
        usage = estimate_usage(request, bytes_per_token=2) + self._bounds.allowance
        usd = (self._bounds.prices or self._ledger.prices).usd(usage, at)
        if usd is None:
            raise UnknownPrice("a spending limit needs prices, and those of this model are unknown: give them")
        return usd

    async def _admit(self, most: float, limit: float) -> None:
        async with self._settled:
            while True:
                if self._is_over or self._spent + most > limit:
                    self._is_over = True
                    self._settled.notify_all()
                    raise SpendingLimit(
                        f"stopped at ${self._spent:.4f} of ${limit:.4f}: the next call may cost ${most:.4f}. "
                        "What was answered is kept where a cache is used; raise the limit and run again to go on"
                    )
                if self._spent + sum(self._reserved) + most <= limit:
                    self._reserved.append(most)
                    return
                await self._settled.wait()


def _sum(a: float | None, b: float | None) -> float | None:
    return b if a is None else a if b is None else a + b
