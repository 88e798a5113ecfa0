"""Secrets without a format of their own, recognised by their surroundings: a header, a URL, a connection string.

Each row has an anchor, a word in lower case; its pattern is tried only there. A quick search finds out whether a text
may contain any anchor at all, then which."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple
from urllib.parse import unquote

from msgspec import Struct

from dense.redact.rules.password_commands import passwords_in_commands
from dense.redact.rules.password_names import named_passwords
from dense.redact.rules.private_keys import may_contain_key, private_keys
from dense.redact.rules.secret_names import is_flag_secret, is_named_secret
from dense.redact.rules.token_formats import EDGE, Check, kind_of
from dense.redact.rules.value_checks import decoded, has_mixed_case, is_password, is_random, is_secret_value
from dense.redact.spans import BY_CONTEXT, BY_NAME, Span
from dense.text.search import fast_search, one_byte_each

LABELS = (
    "AWS secret key",
    "Azure client secret",
    "Azure key",
    "Azure signature",
    "Discord webhook",
    "Slack webhook",
    "Teams webhook",
    "URL password",
    "Zapier webhook",
    "authorization token",
    "basic credential",
    "bearer token",
    "connection password",
    "named secret",
    "password",
    "private key",
    "prefixed secret",
    "session cookie",
)

QUOTES = r"""[\\"'`]{0,4}"""
ASSIGNS = rf"{QUOTES}\]?\s{{0,4}}(?::=|=>|[:=>])\s{{0,4}}{QUOTES}"
NOT_IN_URL = r"""\s/?#@"'<>\\\0\[\]{}|^`"""


class Context(Struct, frozen=True):
    """One row. Group 1 of the pattern is the secret; the rest of the match stays."""

    label: str
    pattern: str
    check: Check
    back: int = 0
    """How far before its anchor the pattern begins."""


def has_random_value(match: re.Match[str]) -> bool:
    return is_random(match[1])


def has_secret_value(match: re.Match[str]) -> bool:
    return is_secret_value(match[1])


def has_mixed_value(match: re.Match[str]) -> bool:
    return has_mixed_case(match[1])


def is_user_and_password(match: re.Match[str]) -> bool:
    """Base64 of `user:password`, as in a header or in Docker's settings."""
    text = decoded(match[1])
    if text is None or not text.isprintable():
        return False
    user, colon, password = text.partition(":")
    return bool(colon) and user != password and is_password(password)


def is_url_password(match: re.Match[str]) -> bool:
    user = match.string[match.start() : match.start(1)].lstrip(":\\/").rstrip(":")
    return match[1] != user and is_password(match[1])


def is_shared_access(match: re.Match[str]) -> bool:
    """A signature among the other parameters of Azure's shared access."""
    around = match.string[max(0, match.start() - 400) : match.end() + 400]
    return is_random(match[1]) and re.search(r"[?&;\s\"'6]s[vepr]=", around) is not None


_STORE_WORDS = ("server", "source", "addr", "host", "dbname", "catalog", "id=", "id =")
_LINE_END = re.compile(r"[\n\r\0]|\\n")
_STORE = re.compile(
    r"(?:server|data source|addr|address|host|hostaddr|hostname|dbname|initial catalog|user id|uid)\s?=\s?"
    r"[^;,\s\0]{1,128}[;\s]",
    re.IGNORECASE,
)


def is_in_connection_string(match: re.Match[str]) -> bool:
    """The same line names a server, with semicolons or blanks between: not the arguments of a call, not a list."""
    text, start, end = match.string, match.start(), match.end()
    around = text[max(0, start - 240) : end + 160].lower()
    if not any(word in around for word in _STORE_WORDS) or not is_password(match[1]):
        return False
    before = _LINE_END.split(text[max(0, start - 240) : start])[-1]
    after = _LINE_END.split(text[end : end + 160])[0]
    return any(_STORE.search(part) for part in (before, after + " "))


_URL = re.compile(rf"(?:://|:\\/\\/)[^:{NOT_IN_URL}]{{0,128}}:([^{NOT_IN_URL}]{{1,256}})@(?=[\w\[.%-])", re.IGNORECASE)
_LONGEST_URL_START = 392
_VALUE = r"(?:base64:)?((?:[A-Za-z0-9+/_.~-]|%2[BbFf]|:(?=[a-z0-9]{40})){20,}(?:=|%3[Dd]){0,2})(?![A-Za-z0-9(\[{])"


def _named(word: str) -> tuple[Context, Context]:
    assigns = rf"""{QUOTES}[\])]?\s{{0,4}}(?::=|=>|[:=>])\s{{0,4}}(?:[bfru](?=[\\"']))?{QUOTES}"""
    return (
        Context("named secret", rf"{word}(?:_base)?{assigns}{_VALUE}", is_named_secret),
        Context("named secret", rf"{word}[ =]{{1,2}}{QUOTES}{_VALUE}", is_flag_secret),
    )


def is_in_cookie(match: re.Match[str]) -> bool:
    """The same line names a cookie before it."""
    text, start = match.string, match.start()
    line = text[max(0, start - 300) : start]
    line = _LINE_END.split(line)[-1].lower()
    return ("cookie" in line or " -b " in line) and is_random(unquote(match[1]))


def _cookie(name: str) -> Context:
    return Context("session cookie", rf"{name}=[\"']?([A-Za-z0-9%._~+/-]{{16,}}={{0,2}})", is_in_cookie)


CONTEXTS: dict[str, tuple[Context, ...]] = {
    "bearer": (
        Context(
            "bearer token", rf"bearer(?:\s|%20){{1,4}}{QUOTES}([A-Za-z0-9._~+/-]{{20,}}={{0,2}})", has_random_value
        ),
    ),
    "auth": (
        Context(
            "basic credential",
            rf"authorization{ASSIGNS}basic\s{{1,4}}([A-Za-z0-9+/_-]{{8,}}={{0,2}})",
            is_user_and_password,
        ),
        Context(
            "authorization token",
            rf"authorization{ASSIGNS}(?:(?!bearer|basic)[a-z][a-z0-9-]{{1,15}}\s{{1,4}})?(?:token=)?"
            r"([A-Za-z0-9._~+/-]{20,}={0,2})",
            has_secret_value,
        ),
        Context("basic credential", rf"auth{ASSIGNS}([A-Za-z0-9+/]{{12,}}={{0,2}})", is_user_and_password),
    ),
    "secret": (
        Context(
            "AWS secret key",
            rf"secret[_\-. ]?(?:access)?[_\-. ]?key(?:\s?\[[^\]\n\0]{{0,24}}\])?(?:{ASSIGNS}|\s{{1,4}}{QUOTES})"
            r"((?:[A-Za-z0-9/+]|%2[BbFf]){40})(?![A-Za-z0-9/+=])",
            has_mixed_value,
        ),
        *_named("secret"),
    ),
    "key": (
        Context(
            "Azure key",
            r"(?:(?<=account)|(?<=sharedaccess)|(?<=storage_))key=([A-Za-z0-9+/]{40,}={1,2})",
            has_mixed_value,
        ),
        *_named("key"),
    ),
    "token": _named("token"),
    "sig=": (Context("Azure signature", r"sig=([A-Za-z0-9%+/_-]{40,}={0,2})", is_shared_access),),
    "~": (
        Context(
            "Azure client secret",
            r"(?<![A-Za-z0-9_~.-])([A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})(?![A-Za-z0-9_~.-])",
            has_mixed_value,
            back=5,
        ),
    ),
    "hooks": (
        Context("Slack webhook", r"hooks\.slack\.com\\?/[a-z]{6,10}\\?/([A-Za-z0-9/\\_-]{30,})", has_random_value),
        Context(
            "Zapier webhook", r"hooks\.zapier\.com\\?/hooks\\?/catch\\?/([0-9]+\\?/[A-Za-z0-9/\\]+)", lambda _: True
        ),
        Context("Discord webhook", r"hooks\\?/[0-9]{15,21}\\?/([A-Za-z0-9_-]{40,})", has_mixed_value),
    ),
    "webhookb2": (
        Context("Teams webhook", r"webhookb2\\?/([0-9a-f-]{36}@[0-9a-f-]{36}[^\s\"'\\<>\0]*)", lambda _: True),
    ),
    "session": (_cookie("session(?:[_-]?(?:id|token|key))?"),),
    ".sid": (_cookie(r"\.sid"),),
    "sessid": (_cookie("sessid"),),
    "_token": (_cookie("_token"),),
    "password": (
        Context(
            "connection password",
            r"password\s?=\s?[\"']?([^\s;,'\"\\()\[\]\0]{4,128}+)(?![(\[])",
            is_in_connection_string,
        ),
    ),
    "pwd=": (
        Context("connection password", r"pwd=[\"']?([^\s;,'\"\\()\[\]\0]{4,128}+)(?![(\[])", is_in_connection_string),
    ),
}


_ASSIGNED_VALUE = r"(?:_base)?[^a-z0-9]{1,16}(?:[bfru][^a-z0-9]{1,4})?(?:base64:)?[a-z0-9+/_.~?%:-]{20}"
FOLLOWED = {
    "secret": r"(?s:.{0,60})[a-z0-9+/_.~?-]{20}",
    "key": _ASSIGNED_VALUE,
    "token": _ASSIGNED_VALUE,
    "session": r"[a-z_-]{0,6}=",
    ".sid": "=",
    "sessid": "=",
    "_token": "=",
    "~": r"[a-z0-9_~.?-]{31}",
    "auth": r"(?:[^a-np-z0-9]r[i?]zat[i?]on)?[^a-z0-9]{0,9}[:=>]",
    "hooks": r"[^a-z0-9]{1,2}[0-9sz?]",
    "password": r"[^a-z0-9]?=",
}
"""What must come behind anchors that are common in ordinary text, in lower case: what every row of theirs requires. In
`plain` text a question mark may replace a letter."""


PLAIN = ("bearer", "sig=", "webhookb2", ".sid", "sessid", "_token", "pwd=")
"""Rare anchors, for which nothing but words is searched: the engine finds them all at once, patterns one by one."""


class _Anchor(NamedTuple):
    """The rows of one anchor, compiled."""

    pattern: re.Pattern[str]
    """Where a text in lower case has the anchor and what must come behind it."""
    rows: tuple[tuple[str, re.Pattern[str], Check, int], ...]


@cache
def _anchors() -> tuple[tuple[Callable[[str], bool], tuple[_Anchor, ...]], ...]:
    """A search that says whether a text has one of a few anchors, and those anchors."""
    batches = (PLAIN, *((anchor,) for anchor in CONTEXTS if anchor not in PLAIN))
    return tuple((fast_search("|".join(map(_hint, batch))), tuple(map(_compiled, batch))) for batch in batches)


def _hint(anchor: str) -> str:
    return re.escape(anchor) + FOLLOWED.get(anchor, "")


def _compiled(anchor: str) -> _Anchor:
    rows = [
        (kind_of(row.label), re.compile(row.pattern, re.IGNORECASE), row.check, row.back) for row in CONTEXTS[anchor]
    ]
    return _Anchor(re.compile(f"{re.escape(anchor)}(?={FOLLOWED.get(anchor, '')})"), tuple(rows))


def in_context(text: str, lowered: str) -> Iterator[Span]:
    """The secrets by their context. `lowered` is the text in lower case, with one byte for each character."""
    for is_any_in, anchors in _anchors():
        for anchor_pattern, rows in anchors if is_any_in(lowered) else ():
            for anchor in anchor_pattern.finditer(lowered):
                for kind, pattern, check, back in rows:
                    match = pattern.match(text, max(0, anchor.start() - back))
                    if match and check(match):
                        yield Span(*match.span(1), BY_NAME if kind == "named-secret" else BY_CONTEXT, kind)
                        break
    yield from _in_urls(text, lowered)
    yield from _in_encoded_urls(text, lowered)
    yield from named_passwords(text, lowered)
    yield from passwords_in_commands(text, lowered)
    if may_contain_key()(lowered):
        yield from (Span(start, end, BY_CONTEXT, "private-key") for start, end in private_keys(text, lowered))
    if _may_have_prefix()(text if text.isascii() else one_byte_each(text)):
        yield from _prefixed(text)


_ENCODED_URL = re.compile(
    r"(?:%25|%)3a(?:%25|%)2f(?:%25|%)2f[\w.~+-]{0,64}(?:%25|%)3a((?:(?!%40|%2540)[\w.~%!*'()$+-]){3,200}?)(?:%25|%)40(?=[\w%.-])",
    re.IGNORECASE,
)
_PREFIXED = re.compile(
    rf"{EDGE}(?<![_-])[A-Za-z][A-Za-z0-9]{{1,14}}[_-](?:live|prod|test|sk|pat|secret|token|apikey|api|key|auth|svc|admin|access|at|rt)"
    r"[_-](?:[A-Za-z0-9]{1,6}[_-])?([A-Za-z0-9]{24,256})(?![A-Za-z0-9_-])"
)


@cache
def _may_have_prefix() -> Callable[[str], bool]:
    return fast_search(
        r"[_-](?:live|prod|test|sk|pat|secret|token|apikey|api|key|auth|svc|admin|access|at|rt)[_-](?:[A-Za-z0-9]{1,6}[_-])?[A-Za-z0-9]{24}"
    )


def _prefixed(text: str) -> Iterator[Span]:
    """Tokens of providers that we do not know, in the form that most have: `acme_live_…`, `acme-api-key-…`."""
    for match in _PREFIXED.finditer(text):
        if is_secret_value(match[1]) and not _is_hexadecimal(match[1]):
            is_escape = text[match.start() - 1 : match.start()] == "\\" and match[0][0] in "nrt"
            yield Span(match.start() + is_escape, match.end(), BY_CONTEXT, "prefixed-secret")


def _is_hexadecimal(value: str) -> bool:
    return all(character in "0123456789abcdefABCDEF" for character in value)


def _in_encoded_urls(text: str, lowered: str) -> Iterator[Span]:
    """Passwords in URLs that were encoded to be part of another one."""
    if fast_search("3a%2f%2f|3a%252f%252f")(lowered):
        for match in _ENCODED_URL.finditer(text):
            if is_password(unquote(unquote(match[1]))):
                yield Span(*match.span(1), BY_CONTEXT, "url-password")


def _in_urls(text: str, lowered: str) -> Iterator[Span]:
    """Passwords in URLs, anchored at the `@` and the last slash before it."""
    at, done = lowered.find("@"), 0
    while at >= 0:
        slash = lowered.rfind("/", max(done, at - _LONGEST_URL_START), at)
        if slash > 0 and lowered[slash - 1] in "/\\":  # no other slash may come between it and the password
            match = _URL.match(text, slash - (2 if lowered[slash - 1] == "/" else 4))
            if match and is_url_password(match):
                yield Span(*match.span(1), BY_CONTEXT, "url-password")
        done = at
        at = lowered.find("@", at + 1)
