"""Private keys between their BEGIN and END lines: whole, cut off at either end, or written on one line with `\\n` for
the line ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from dense.redact.rules.encodings import unescaped
from dense.redact.rules.value_checks import has_mixed_case
from dense.text.search import fast_search

_BEGIN = re.compile(r"-{4,5} ?BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_END = re.compile(r"-{4,5} ?END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_MATERIAL = re.compile(r"[A-Za-z0-9+/=]{30,}")
_BETWEEN = r"""(?:\\+[nrt]|\n[\w./-]{1,64}:(?:[0-9]{1,5}:)?(?=[A-Za-z0-9+/-])|[\s"'+>|,→])"""
"""What separates the lines of a key in files, diffs, listings with line numbers and source code."""
_BODY = re.compile(
    rf"(?:[A-Za-z0-9+/=]{{40,}}+)?(?:{_BETWEEN}++(?:[A-Za-z][A-Za-z-]{{2,20}}: [^\n\\\0]{{0,200}}+|[A-Za-z0-9+/=]++))*+"
    rf"{_BETWEEN}*+"
)
_LINES = re.compile(
    rf"(?:[A-Za-z0-9+/=]{{40,}}+)?(?:{_BETWEEN}{{1,12}}+(?:[0-9]{{1,4}}[\t →]{{1,4}}+)?[A-Za-z0-9+/=]{{20,}}+)*+"
)
_WHOLE_LINE = re.compile(r"[ \t]*[A-Za-z0-9+/=]+[ \t\r]*")
_MAX_KEY_CHARS = 32_768
"""No key is longer."""


_BARE_KEY = re.compile(
    r"(?:M(?<![A-Za-z0-9+/].)(?:II[A-Za-z0-9+/]{3}IBA(?:AK|DANBgkqhkiG9w0BAQEFAASC)|HcCAQEEI|IGHAgEAMBMGByqGSM49"
    r"|C4CAQAwBQYDK2VwBCIEI)|b(?<![A-Za-z0-9+/].)3BlbnNzaC1rZXktdjEA)[A-Za-z0-9+/]{16,}={0,2}"
)
"""The first bytes of private keys (RSA, PKCS 8, EC, Ed25519, OpenSSH) in base64: keys whose BEGIN line is missing."""
_PUTTY = re.compile(r"Private-Lines: [0-9]{1,3}(?:\r?\n|\\+n)(?=[A-Za-z0-9+/])", re.IGNORECASE)
_WEB_KEY = re.compile(r"""\\*"(?:d|p|q|dp|dq|qi|k)\\*"\s*:\s*\\*"([A-Za-z0-9_-]{16,}=*)""")
_MAX_WEB_KEY_CHARS = 6000


_BARE_HINT = "iba(?:ak|danbgkqh)|mhccaqeei|mc4caqawbqydk2|mighageambmgbyq|b3blbnnzac1rzxkt"


@cache
def may_contain_key() -> Callable[[str], bool]:
    """Whether a text in lower case may contain a private key."""
    return fast_search(rf"private(?: |%20|\+)key|{_BARE_HINT}|private-lines|\"kty\\?\"")


def private_keys(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Where the keys are. A line that only mentions a key, without one behind it, is left out."""
    if "PRIVATE KEY" in text:
        yield from _framed(text)
    if "private%20key" in lowered or "private+key" in lowered:
        derived = unescaped(text.replace("PRIVATE+KEY", "PRIVATE KEY"), 0, len(text))
        yield from (derived.original(*span) for span in _framed(derived.text)) if derived else ()
    bare = _BARE_KEY.finditer(text) if fast_search(_BARE_HINT)(lowered) else ()
    for start in (*bare, *(_PUTTY.finditer(text) if "private-lines" in lowered else ())):
        lines = _LINES.match(text, start.end(), start.end() + _MAX_KEY_CHARS)
        yield start.start(), lines.end() if lines else start.end()
    sign = lowered.find('"kty')
    while sign >= 0:
        first = max(0, text.rfind("{", max(0, sign - _MAX_WEB_KEY_CHARS), sign))
        last = text.find("}", sign, sign + _MAX_WEB_KEY_CHARS)
        yield from (match.span(1) for match in _WEB_KEY.finditer(text, first, last if last >= 0 else len(text)))
        sign = lowered.find('"kty', last if last >= 0 else sign + _MAX_WEB_KEY_CHARS)


def _framed(text: str) -> Iterator[tuple[int, int]]:
    begins = list(_BEGIN.finditer(text))
    limits = [*(later.start() for later in begins[1:]), len(text)][: len(begins)]
    done = 0
    for begin, limit in zip(begins, limits, strict=True):
        yield from _behind_ends(text, done, begin.start())
        end = _end_of(text, begin.end(), min(limit, begin.end() + _MAX_KEY_CHARS))
        if end is not None:
            yield begin.start(), end
        done = end or begin.end()
    yield from _behind_ends(text, done, len(text))


def _end_of(text: str, start: int, limit: int) -> int | None:
    """Where the key ends whose first line ended at `start`; None if there is no key."""
    body = _BODY.match(text, start, limit)
    end = _END.match(text, body.end() if body else start)
    if end:
        return end.end() if _has_material(text, start, end.start()) else None
    lines = _LINES.match(text, start, limit)
    return lines.end() if lines and _has_material(text, start, lines.end()) else None


def _has_material(text: str, start: int, end: int) -> bool:
    return any(has_mixed_case(match[0]) for match in _MATERIAL.finditer(text, start, end))


def _behind_ends(text: str, start: int, limit: int) -> Iterator[tuple[int, int]]:
    """Keys whose beginning was cut off: whole lines of base64 right before an END line."""
    for end in _END.finditer(text, start, limit):
        first = end.start()
        while first > start:
            line = text.rfind("\n", max(start, first - 201), first - 1) + 1 or start
            if first - line > 200 or not _WHOLE_LINE.fullmatch(text, line, first - 1):
                break
            first = line
        if _has_material(text, first, end.start()):
            yield first, end.end()
        start = end.end()
