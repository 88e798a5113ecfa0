"""Text that can be written. A name from a file system or a broken table may hold half of a surrogate pair, which no
file in UTF-8 and no JSON can hold; it is written out as its number, so that names that differ still do."""

from __future__ import annotations

import re
from typing import Any, cast

import msgspec

from refit.results import Experiment

LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def writable_experiment(experiment: Experiment) -> Experiment:
    """The same experiment, or one with such characters written out."""
    try:
        msgspec.json.encode(experiment, enc_hook=str)
    except UnicodeEncodeError:
        return msgspec.convert(_escape_value(msgspec.to_builtins(experiment, enc_hook=str)), Experiment)
    return experiment


def escape_surrogates(text: str) -> str:
    """The text with each half written out as its number."""
    return LONE_SURROGATE.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def _escape_value(value: Any) -> Any:
    if isinstance(value, str):
        return escape_surrogates(value)
    if isinstance(value, dict):
        return {_escape_value(name): _escape_value(inner) for name, inner in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_escape_value(inner) for inner in cast("list[Any]", value)]
    return value
