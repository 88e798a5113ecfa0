"""Context windows: listed by `genai-prices`, else the provider's own default."""

from __future__ import annotations

import pytest

from dense.model import DEFAULT_CONTEXT_WINDOW, PROVIDERS, context_window, resolve
from dense.model.providers import Provider


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("anthropic/claude-opus-4-1", 200_000),
        ("openai/gpt-4o", 128_000),
        ("openai/gpt-4.1", 1_000_000),
        ("kimi/kimi-k2-0905-preview", 262_144),
        ("openai/a-model-that-nobody-lists", DEFAULT_CONTEXT_WINDOW),
        ("gemini/a-model-that-nobody-lists", 1_000_000),
        ("gemini/gemini-embedding-001", 1_000_000),  # listed, without a window
        ("vllm/anything", DEFAULT_CONTEXT_WINDOW),
        ("http://127.0.0.1:9/v1#anything", DEFAULT_CONTEXT_WINDOW),
    ],
)
def test_the_window_of_a_model(model: str, window: int) -> None:
    assert context_window(resolve(model, environment={})) == window


def test_a_new_provider_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Provider("acme", "https://models.acme.test/v1", ("ACME_API_KEY",), context_window=32_000)
    monkeypatch.setitem(PROVIDERS, row.name, row)
    spec = resolve("acme/large", environment={})
    assert (spec.base_url, context_window(spec)) == ("https://models.acme.test/v1", 32_000)
