"""How many tokens a model takes at once: its context window."""

from __future__ import annotations

from functools import cache

from dense.model.providers import ModelSpec


def context_window(spec: ModelSpec) -> int:
    """The model's context window in tokens, as `genai-prices` lists it, else its provider's default.

    The first call loads the table, which takes up to a second."""
    provider, name = spec.listed_as
    listed = None if provider is None or not name else _listed_window(provider, name)
    return listed or spec.provider.context_window


@cache
def _listed_window(provider: str, model: str) -> int | None:
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, listed = get_snapshot().find_provider_model(model, None, provider, None)
    except LookupError:
        return None
    return listed.context_window
