"""Who serves models: names, addresses, names of keys, and how each departs from the wire format that it speaks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Literal
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from dense.errors import KeyRefused

JsonMode = Literal["schema", "object", "none"]
"""What a server can be bound to: a JSON Schema, any JSON object, nothing."""

DEFAULT_CONTEXT_WINDOW = 128_000
"""Tokens that we expect of a model if nothing else is known."""
LENGTHS = ("maxLength", "maxProperties", "minLength", "minProperties", "uniqueItems")
"""What OpenAI's strict mode rejects."""
BOUNDS = (
    *LENGTHS,
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "multipleOf",
    "pattern",
)
"""What Anthropic's rejects."""


class Provider(Struct, frozen=True):
    """Someone who serves models."""

    name: str
    """The short name."""
    base_url: str | None
    """Where; None must be given. `{NAME}_BASE_URL` in the environment overrides it."""
    key_names: tuple[str, ...]
    """The environment variables that may hold the key; the first that is set counts."""
    wire: Literal["openai", "anthropic", "program"] = "openai"
    """The wire format; `program` for a program on this machine (see `dense.model.programs`)."""
    needs_key: bool = True
    """Whether nothing works without a key."""
    json_mode: JsonMode = "schema"
    """The tightest form of answer that it can be bound to."""
    rejects: tuple[str, ...] = ()
    """Keywords of JSON Schema that it rejects; descriptions carry them instead."""
    limit_field: str = "max_tokens"
    """What it calls the limit of the output."""
    takes_temperature: bool = True
    """Whether models take a temperature at all."""
    hides_thoughts: bool = False
    """Whether thoughts are missing from the output count and only show in the total."""
    extra: dict[str, Any] = {}
    """Further fields of each request."""
    schema_extra: dict[str, Any] = {}
    """Further fields of each schema."""
    prices: str | None = None
    """Its name in `genai-prices`, which lists prices and context windows; None if it is not listed there."""
    context_window: int = DEFAULT_CONTEXT_WINDOW
    """Tokens that a model takes at once, for models whose window `genai-prices` does not list."""


PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in [
        Provider(
            name="anthropic",
            base_url="https://api.anthropic.com",
            key_names=("ANTHROPIC_API_KEY",),
            wire="anthropic",
            rejects=BOUNDS,
            prices="anthropic",
        ),
        Provider(
            name="deepseek",
            base_url="https://api.deepseek.com",
            key_names=("DEEPSEEK_API_KEY",),
            json_mode="object",
            prices="deepseek",
        ),
        Provider(
            name="gemini",
            base_url="https://generativelanguage.googleapis.com/v1beta/openai",
            key_names=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            hides_thoughts=True,
            prices="google",
            context_window=1_000_000,
        ),
        Provider(
            name="kimi",
            base_url="https://api.moonshot.ai/v1",
            key_names=("MOONSHOT_API_KEY", "KIMI_API_KEY"),
            json_mode="object",
            takes_temperature=False,
            prices="moonshotai",
        ),
        # Prompts are read again each time, so that the same question gets the same answer. Compact JSON: small models
        # else fill their output with blanks.
        Provider(
            name="llamacpp",
            base_url="http://127.0.0.1:8080/v1",
            key_names=("LLAMA_API_KEY",),
            needs_key=False,
            extra={"cache_prompt": False},
            schema_extra={"x-guidance": {"whitespace_flexible": False}},
        ),
        Provider(
            name="minimax",
            base_url="https://api.minimax.io/v1",
            key_names=("MINIMAX_API_KEY",),
            json_mode="none",
            limit_field="max_completion_tokens",
            takes_temperature=False,
            extra={"reasoning_split": True},
            prices="minimax",
        ),
        Provider(name="ollama", base_url="http://127.0.0.1:11434/v1", key_names=("OLLAMA_API_KEY",), needs_key=False),
        Provider(
            name="openai",
            base_url="https://api.openai.com/v1",
            key_names=("OPENAI_API_KEY",),
            rejects=LENGTHS,
            limit_field="max_completion_tokens",
            prices="openai",
        ),
        Provider(name="openai-compatible", base_url=None, key_names=("DENSE_API_KEY",), needs_key=False),
        Provider(
            name="openrouter",
            base_url="https://openrouter.ai/api/v1",
            key_names=("OPENROUTER_API_KEY",),
            prices="openrouter",
        ),
        Provider(name="vllm", base_url="http://127.0.0.1:8000/v1", key_names=("VLLM_API_KEY",), needs_key=False),
    ]
}
"""By short name."""

ALIASES = {"google": "gemini", "llama.cpp": "llamacpp", "moonshot": "kimi"}
"""Other names that people try."""


class ModelSpec(Struct, frozen=True):
    """A model that can be asked."""

    provider: Provider
    """Who serves it."""
    name: str
    """What the provider calls it."""
    base_url: str
    """Where, without a slash at the end."""

    def __str__(self) -> str:
        if self.is_program and not self.name:
            return self.provider.name
        if self.provider.name == "exec":  # its arguments may be secrets
            return f"exec:{PurePath(self.name.split()[0]).name}"
        return f"{self.provider.name}/{self.name}"

    @property
    def is_program(self) -> bool:
        """Whether a program on this machine is asked."""
        return self.provider.wire == "program"

    @property
    def listed_as(self) -> tuple[str | None, str]:
        """The provider and the model that tables of prices and context windows know it by."""
        if self.provider.name == "opencode":
            provider, _, model = self.name.partition("/")
            return provider or None, model
        return self.provider.prices, self.name

    @property
    def address(self) -> str:
        """The base URL for people: without a user, a password or a query, which may be secrets."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{host_of(parts)}{parts.path}"


class Key:
    """A key that shows itself only to whoever asks for it."""

    __slots__ = ("_text", "name")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._text = text

    def __repr__(self) -> str:
        return f"Key({self.name})"

    def reveal(self) -> str:
        """The key itself, for the request's header."""
        return self._text


def key_of(spec: ModelSpec, environment: Mapping[str, str]) -> Key | None:
    """The provider's key, from the environment. None where none is needed and none is set."""
    for variable in spec.provider.key_names:
        if text := environment.get(variable, "").strip():
            if not text.isascii() or not text.isprintable() or " " in text:
                raise KeyRefused(f"{variable} holds characters that no key has; set it to the key alone")
            return Key(variable, text)
    if spec.provider.needs_key:
        names = " or ".join(spec.provider.key_names)
        raise KeyRefused(f"{spec}: no key; set {names} in the environment")
    return None


def host_of(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]
