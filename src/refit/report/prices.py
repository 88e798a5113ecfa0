"""USD of recorded tokens. Standardised: what the tokens cost at the report's prices, for every method alike.

Input that a cache served has its own price if one is given and the record separates it; otherwise it is priced as
input, as in the paper. What programs recorded as charged is never mixed in."""

from __future__ import annotations

from dense.trajectory import Usage
from refit.results import Prices


def usd(usage: Usage | None, prices: Prices | None) -> float | None:
    """None unless input, output and their prices are known."""
    if usage is None or prices is None or usage.input is None or usage.output is None:
        return None
    read = prices.input if prices.cache_read is None else prices.cache_read
    write = prices.input if prices.cache_write is None else prices.cache_write
    cost = usage.input * prices.input + usage.output * prices.output
    return (cost + (usage.cache_read or 0) * read + (usage.cache_write or 0) * write) / 1e6
