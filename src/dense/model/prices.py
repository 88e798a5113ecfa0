"""What tokens cost, by a table that ships with `genai-prices` and needs no network. Unknown is None, never 0."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol

from msgspec import Struct

from dense.trajectory import Usage


class PriceSource(Protocol):
    """Whoever knows what a model costs."""

    @property
    def source(self) -> str:
        """Where the prices come from, with the version."""
        ...

    def usd(self, usage: Usage, at: str, model: str | None = None) -> float | None:
        """What these tokens cost at a time (ISO 8601), of a model that the server may name more exactly."""
        ...


class GivenPrices(Struct, frozen=True):
    """Prices that the user gives, in USD for a million tokens."""

    input: float
    """Of input that no cache served."""
    output: float
    """Of output."""
    cache_read: float | None = None
    """Of input read from a cache; as other input where not given."""
    cache_write: float | None = None
    """Of input written to a cache; as other input where not given."""
    source: str = "given"
    """Where from."""

    def usd(self, usage: Usage, at: str, model: str | None = None) -> float | None:
        """By the prices given, at any time."""
        del at, model
        if usage.cost_usd is not None:
            return usage.cost_usd
        if usage.input is None or usage.output is None:
            return None
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        cost = usage.input * self.input + usage.output * self.output
        return (cost + (usage.cache_read or 0) * read + (usage.cache_write or 0) * write) / 1e6


class UnknownPrices(Struct, frozen=True):
    """For models that no table knows: what the provider itself reports, or nothing."""

    source: str = "unknown"
    """Where from."""

    def usd(self, usage: Usage, at: str, model: str | None = None) -> float | None:
        """What was reported."""
        del at, model
        return usage.cost_usd


class TablePrices:
    """Prices of a provider's model by the table, at the time of each call.

    Loading the table takes most of a second: make one before the first call, off the event loop."""

    def __init__(self, provider: str, model: str) -> None:
        import genai_prices

        self.source = f"genai-prices {genai_prices.__version__}"
        self._provider = provider
        self._model = model
        self._price(Usage(0, 0, 0, 0), model, "")  # The first look loads the rest.

    def usd(self, usage: Usage, at: str, model: str | None = None) -> float | None:
        """What the provider reported, else by the table for the model asked for, else for the one that answered."""
        if usage.cost_usd is not None:
            return usage.cost_usd
        if usage.input is None or usage.output is None:
            return None
        for name in (self._model, model):
            if name and (price := self._price(usage, name, at)) is not None:
                return price
        return None

    def _price(self, usage: Usage, model: str, at: str) -> float | None:
        import genai_prices

        read, write = usage.cache_read or 0, usage.cache_write or 0
        tokens = genai_prices.Usage(
            # The table counts all input here, and takes the cached parts out of it.
            input_tokens=(usage.input or 0) + read + write,
            cache_read_tokens=read,
            cache_write_tokens=write,
            output_tokens=usage.output or 0,
        )
        when = datetime.fromisoformat(at) if at else datetime.now(UTC)
        try:
            price = genai_prices.calc_price(tokens, model, provider_id=self._provider, genai_request_timestamp=when)
        except (LookupError, ValueError):
            return None
        return float(price.total_price)
