"""Outputs that a harness recorded as JSON: `{"stdout": …, "stderr": …, "exitCode": …}` and its relatives."""

from __future__ import annotations

import re
from typing import Any, cast

from msgspec import Struct

from dense.text.numbers import NO_JSON, parsed_json

ENVELOPE_START = re.compile(r'\{"(?:stdout|output|text|content)": ?"')
"""How a record begins that was cut off."""
OUTPUT_KEYS = frozenset("output metadata exit_code exitCode error success isTruncated _meta".split())
TEXT_KEYS = frozenset("text content type isTruncated".split())
"""What may be beside the output of a command, or the text of a file."""


class Unwrapped(Struct, frozen=True):
    """An output without its wrapper."""

    text: str
    """What the program wrote."""
    exit_code: int | None = None
    """The exit code, where the wrapper states one."""


def open_envelope(text: str) -> Unwrapped:
    """The text inside `{"stdout": …, "exitCode": …}` and its relatives, once or nested."""
    start = text.lstrip()
    if not start.startswith("{"):
        return Unwrapped(text)
    record = parsed_json(start)
    if record is NO_JSON:
        if (match := ENVELOPE_START.match(start)) is None:
            return Unwrapped(text)
        return Unwrapped(_string_prefix(start[match.end() :]))
    return _from_record(cast("dict[str, Any]", record), text) if isinstance(record, dict) else Unwrapped(text)


def _from_record(record: dict[str, Any], text: str) -> Unwrapped:
    code = next((record[key] for key in ("exitCode", "exit_code", "returncode") if type(record.get(key)) is int), None)
    if "stdout" in record or "stderr" in record:
        parts = [record.get("stdout"), record.get("stderr")]
    elif "output" in record and OUTPUT_KEYS.issuperset(record):
        parts = [record["output"], record.get("error")]
        metadata = record.get("metadata")
        if isinstance(metadata, dict):
            inner = cast("dict[str, Any]", metadata).get("exit_code")
            code = inner if code is None and type(inner) is int else code
    elif TEXT_KEYS.issuperset(record) and ("text" in record or "isTruncated" in record):
        parts = [record.get("text"), record.get("content")]
    else:
        return Unwrapped(text)
    if not all(isinstance(part, str) or part is None for part in parts):
        return Unwrapped(text)
    inner = "\n".join(part.rstrip("\n") for part in parts if part)
    nested = open_envelope(inner)
    return Unwrapped(nested.text, nested.exit_code if nested.exit_code is not None else code)


def _string_prefix(body: str) -> str:
    """The text of a JSON string from behind its opening quote, though the record may have cut it anywhere."""
    match = re.match(r'(?:[^"\\]|\\.)*', body, re.DOTALL)
    raw = match[0] if match else ""
    for cut in range(7):  # a cut \\uXXXX needs up to six characters less
        value = parsed_json(f'"{raw[: len(raw) - cut]}"', strict=False)
        if value is not NO_JSON:
            return value
    return body
