"""Whether a value can be a credential at all: random, and not a placeholder."""

from __future__ import annotations

import base64
import binascii
import re

_PLACEHOLDER = re.compile(
    r"""example|placeholder|change.?me|dummy|sample|redacted|replace|insert|secretkey|mytoken|goes.?here
    |(?:^|[^a-z0-9])(?:your|my|fake|test|demo|todo|here|foo|bar|none|null)(?:$|[^a-z0-9])
    |1234567|7654321|abcdefg|deadbeef.?deadbeef|(.)\1{5}""",
    re.IGNORECASE | re.VERBOSE,
)
_SWITCH = re.compile(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")
_PIECE = re.compile(r"[A-Za-z0-9]{16,}")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"[0-9a-f]{32,}|[0-9A-F]{32,}")
_DIGITS = re.compile(r"[0-9]+")
_VARIABLE = re.compile(r"[$%{<(\[*&!].*|.*(?:\$\{|\{\{|<[a-z]).*", re.DOTALL)

_WEAK_PASSWORDS = frozenset(
    "admin anonymous git guest mongo mysql pass passwd password postgres pw pwd redis root secret test token user "
    "x x-oauth-basic xxx".split()
)
"""Passwords of examples and throw-away containers."""


_MAX_CHECKED_CHARS = 512
"""Characters of a value that are checked: hostile text has a million prefixes with a megabyte behind each."""


def is_placeholder(value: str) -> bool:
    """Whether a value is obviously an example: YOUR_API_KEY, xxxxxx, AKIA…EXAMPLE."""
    return _PLACEHOLDER.search(value, 0, _MAX_CHECKED_CHARS) is not None


def is_random(value: str) -> bool:
    """Whether a value looks random. Enough behind a prefix that identifies a credential."""
    value = value[:_MAX_CHECKED_CHARS]
    if len(set(value)) < 8 or is_placeholder(value):
        return False
    digits = any(map(str.isdigit, value))
    letters = any(map(str.isalpha, value))
    return (digits and letters) or (letters and len(_SWITCH.findall(value)) >= 4)


def has_random_piece(value: str) -> bool:
    """Whether one unbroken piece of a value is random: for prefixes that also begin ordinary names (`sk-…`)."""
    return not is_placeholder(value) and any(
        is_random(piece) and len(_DIGITS.findall(piece)) >= 2 for piece in _PIECE.findall(value, 0, _MAX_CHECKED_CHARS)
    )


def has_mixed_case(value: str) -> bool:
    """Random, with letters of both cases."""
    return is_random(value) and value.lower() != value != value.upper()


def is_secret_value(value: str) -> bool:
    """The strictest check, for values that only a name marks as secret.

    Lower case, upper case and digits alternate quickly, or it is a long hexadecimal number. In words, paths and
    identifiers they alternate less; a UUID is an identifier."""
    if not is_random(value) or is_uuid(value):
        return False
    if _HEX.fullmatch(value):
        return True
    switches, groups = len(_SWITCH.findall(value)), len(_DIGITS.findall(value))
    if value.lower() != value != value.upper():
        return switches >= (0.35 if groups >= 2 else 0.5) * len(value)
    return value.islower() and len(value) >= 24 and groups >= 4 and switches >= 0.3 * len(value)


def is_uuid(value: str) -> bool:
    return _UUID.fullmatch(value) is not None


def is_password(value: str) -> bool:
    """Whether a value in the place of a password is a real one: no variable, no example, no default."""
    return (
        len(value) >= 4
        and any(map(str.isalnum, value))
        and value.lower() not in _WEAK_PASSWORDS
        and not _VARIABLE.fullmatch(value)
        and not is_placeholder(value)
    )


def decoded(value: str) -> str | None:
    """The text encoded as base64 of either alphabet, padded or not; None if there is none."""
    try:
        raw = base64.b64decode(value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4), altchars=b"-_", validate=True)
        return raw.decode()
    except (binascii.Error, ValueError):
        pass
    try:
        return base64.b64decode(value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return None


_EXAMPLE_PASSWORD = re.compile(
    r"""example|placeholder|change.?(?:me|it)|dummy|sample|redacted|replace|goes.?here|hidden|masked|omitted|your[-_ ]
    |\A(?:your|my|the|some|a|new|old|current|user|db|admin|root|test|this)?[-_ .]?
     (?:pass(?:word|wd|phrase|code)?|pwd|secret|pw|psw)[-_ .]?(?:here|[0-9]{0,4}|string|value|hash|field|input)\Z
    |(?:\A|[^a-z])pass(?:word|wd)?(?:[^a-z0-9]|\Z)(?!.*[0-9])
    |\A[x*.•●_-]{3,}|\*{3}|•{2}|\.{3}|x{4}|(.)\1{4}""",
    re.IGNORECASE | re.VERBOSE,
)
_WEAK_VALUES = _WEAK_PASSWORDS | frozenset(
    "123456 12345 1234 abc123 bar baz bool boolean bytes char const default disabled empty enabled false foo foobar "
    "foobared hash input int integer md5 never nil no none null number object off ok on optional plaintext prompt "
    "qwerty read required sha1 sha256 str string stdin text true type undefined unset utf8 utf-8 value var "
    "varchar void yes".split()
)
_CODE = re.compile(
    r"[A-Za-z_][\w-]*(?:(?:\.|->|::)[A-Za-z_]\w*)+|[A-Za-z_][\w.]*\(.*|[A-Za-z_][\w.]*\[[\w']*\]?"
    r"|.*(?:\(\)|->|::|=>|\)\.).*|/.*|[.~]{1,2}/.*|(?:localhost|[\w-]+(?:\.[\w-]+)+):\d{1,5}"
    r"|[A-Za-z]:\\.*|[a-z]+://.*|[\w.+-]+@[\w-]+\.[a-z]{2,}"
    r"|v?[0-9]+(?:\.[0-9]+)+\w*|[A-Z][A-Za-z]*[!?]|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[:@#?%][a-z_]+|%\(?\w+\)?s?",
    re.DOTALL,
)
_IDENTIFIER = re.compile(
    r"(?:arg|args|argv|var|val|value|str|line|p|pw|user|s|x|row|col|param|field|text|input|v|t|item|name|num|int|uint|float|opt)_?[0-9]{1,2}"
)
_WORDS = re.compile(r"[A-Za-z]+(?:[-_. ][A-Za-z]+)*[.:!?…]*|[A-Za-z]+[|/][A-Za-z|/:0-9]+")
_SYMBOLS = re.compile(r"[!@#$%^&*+=?~/\\|<>]")


def is_certain_password(value: str) -> bool:
    """Whether a value at a place where only a password can be is a real one: no variable, example or default."""
    return (
        3 < len(value) <= 256
        and any(map(str.isalnum, value))
        and value.lower() not in _WEAK_VALUES
        and not _VARIABLE.fullmatch(value)
        and not _EXAMPLE_PASSWORD.search(value)
        and not value.startswith(("-", "/dev/", "file:", "env:", "pass:"))
    )


def is_password_value(value: str, *, is_quoted: bool, is_setting: bool) -> bool:
    """Whether a value behind a name for passwords is one: not a word, a type, an expression, a sentence.

    `is_setting`: name and value are alone on their line, or the name is a variable of a shell."""
    if (
        not is_certain_password(value)
        or len(value) < 5
        or _CODE.fullmatch(value)
        or _WORDS.fullmatch(value)
        or " " in value
    ):
        return False
    digits = sum(map(str.isdigit, value))
    letters = sum(map(str.isalpha, value))
    if not letters:
        return digits >= 6 and (is_quoted or is_setting) and (digits < len(value) or not 1 <= digits <= 5)
    if not digits:
        return _SYMBOLS.search(value) is not None and (is_quoted or is_setting)
    if is_quoted or is_setting:
        return not _IDENTIFIER.fullmatch(value)
    return len(value) >= 7 and (
        value.lower() != value or _SYMBOLS.search(value) is not None or not value.isidentifier()
    )


def is_short_secret(value: str, *, is_quoted: bool, is_setting: bool) -> bool:
    """The same for a value behind a name for keys and tokens, which is shorter than a random one needs to be."""
    if len(value) < 10 or not (is_quoted or is_setting) or is_uuid(value) or is_placeholder(value):
        return False
    if not is_password_value(value, is_quoted=is_quoted, is_setting=is_setting) or value.count("/") > 1:
        return False
    groups = len(_DIGITS.findall(value))
    is_mixed = value.lower() != value != value.upper()
    return groups >= 2 and (is_mixed or (len(value) >= 14 and groups >= 3) or _SYMBOLS.search(value) is not None)


def is_distinctive(value: str) -> bool:
    """Whether a value can be searched for everywhere: a password that is a common word would take others with it."""
    if len(value) >= 16:
        return len(set(value)) >= 6
    groups = (any(map(test, value)) for test in (str.islower, str.isupper, str.isdigit))
    return len(value) >= 6 and sum(groups) + (not value.isalnum()) >= 2
