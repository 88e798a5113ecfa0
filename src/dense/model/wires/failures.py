"""What an error of a provider means: worth another try, lost, or the end of the run. Pure functions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast

import msgspec

from dense.model.providers import JsonMode
from dense.model.wires.wire import RequestForm, WireFailure, WireReply
from dense.trajectory import Usage

TOO_LONG = re.compile(
    r"context.?(length|window|size)|prompt is too long|maximum.{0,20}context|too many (input )?tokens"
    r"|input (token count|is too long)|request too large|token limit exceeded",
    re.IGNORECASE,
)
REFUSED = re.compile(
    r"content_filter|content_policy|content management policy|content exists risk|flagged_input|prohibited_content"
    r"|new_sensitive|input.{0,20}moderation",
    re.IGNORECASE,
)
BAD_KEY = re.compile(r"api_key_invalid|api key not valid|invalid.{0,10}api.?key|incorrect api key", re.IGNORECASE)
NO_CREDIT = re.compile(
    r"insufficient_quota|insufficient.{0,10}balance|exceeded_current_quota|credit balance is too low"
    r"|billing_not_active",
    re.IGNORECASE,
)
FORMAT = re.compile(r"response_format|output_config|output_format|json_schema|schema|grammar", re.IGNORECASE)
NARROWER: dict[JsonMode | None, JsonMode] = {"schema": "object", "object": "none"}


def failure_of(status: int, payload: bytes, headers: Mapping[str, str] | None = None) -> WireReply | WireFailure:
    """What a response means that is not a success. A refusal that came as an error is an answer."""
    text = error_text(payload)
    whole = payload[:20_000].decode("utf-8", "replace")
    message = f"HTTP {status}: {text}" if text else f"HTTP {status}"
    if status in (400, 403, 422, 451) and REFUSED.search(whole):
        return WireReply(text, "refusal", Usage(), status=status)
    if status == 402 or (status in (400, 403, 429) and NO_CREDIT.search(whole)):
        return WireFailure(text=f"the account has no credit left ({message})", then="key", status=status)
    if status in (401, 403) or (status == 400 and BAD_KEY.search(whole)):
        return WireFailure(text=message, then="key", status=status)
    if status in (404, 405) or 300 <= status < 400:
        return WireFailure(text=message, then="model", status=status)
    if status in (408, 409, 425, 429) or status >= 500:
        return WireFailure(text=message, then="again", status=status, retry_after=retry_after(headers or {}, whole))
    if status in (400, 413, 422) and TOO_LONG.search(whole):
        return WireFailure(text=f"the prompt is too long for the model ({message})", then="too long", status=status)
    return WireFailure(text=message, then="dead", status=status)


def narrowed(form: RequestForm, failure: WireFailure) -> RequestForm | None:
    """How to put the question again when the server named a part of it that it does not take; None if it named none."""
    if failure.then != "dead" or failure.status not in (400, 422):
        return None
    if form.temperature is not None and "temperature" in failure.text.lower():
        return msgspec.structs.replace(form, temperature=None)
    if form.json_mode in NARROWER and FORMAT.search(failure.text):
        return msgspec.structs.replace(form, json_mode=NARROWER[form.json_mode])
    return None


def retry_after(headers: Mapping[str, str], text: str = "") -> float | None:
    """How many seconds a server wants us to wait: `Retry-After` as a number or a date, or what Google says instead."""
    try:
        if "retry-after-ms" in headers:
            wait = max(0.0, float(headers["retry-after-ms"]) / 1000)
        elif "Retry-After" in headers:
            wait = _seconds(headers["Retry-After"], headers.get("Date"))
        else:
            message = re.search(r'"retryDelay":\s*"([\d.]+)s"', text)
            wait = float(message[1]) if message else None
    except (ValueError, TypeError, OverflowError):
        return None
    return wait if wait is not None and math.isfinite(wait) else None


def _seconds(value: str, date: str | None) -> float:
    if re.fullmatch(r"\s*\d+(\.\d*)?\s*", value):
        return float(value)
    # The server's own clock counts where it shows it: ours may be wrong.
    now = parsedate_to_datetime(date) if date else datetime.now(UTC)
    then = parsedate_to_datetime(value)
    return max(0.0, (_aware(then) - _aware(now)).total_seconds())


def _aware(when: datetime) -> datetime:
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def error_text(payload: bytes) -> str:
    """The message in an error's body, on one line; the text itself where it is no JSON."""
    try:
        message = " ".join(dict.fromkeys(_messages(msgspec.json.decode(payload))))
    except (msgspec.MsgspecError, RecursionError):
        message = re.sub(r"<(style|script).*?</\1>|<[^>]*>", " ", payload[:4000].decode("utf-8", "replace"), flags=re.S)
    return " ".join(message.split())[:500]


def _messages(value: object) -> Iterator[str]:
    """Errors are a text, an object with a message, or either of them wrapped once or twice."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in cast(list[object], value)[:3]:
            yield from _messages(item)
    elif isinstance(value, dict):
        for name in ("error", "message", "detail", "msg", "code"):
            yield from _messages(cast(dict[str, Any], value).get(name))
