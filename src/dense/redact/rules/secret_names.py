"""Values behind a name that marks a secret: `STRIPE_API_KEY=…`, `"client_secret": "…"`, `--token …`.

Passwords are not among these names: a password that an agent recovered, found on a disk or has to set is what the task
is about, and no format distinguishes it from one to be kept secret. Neither is a bare `key`, `token` or `secret`."""

from __future__ import annotations

import re

from dense.redact.rules.value_checks import has_mixed_case, is_random, is_secret_value, is_uuid

_QUALIFIED = re.compile(
    r"""(?:api|access|auth|account|app|application|bearer|bot|client|consumer|deploy|encryption|identity|registry|id|oauth|master|private|refresh|secret
    |service|session|shared|signing|storage|subscription|webhook)(?:[_\-.\ ]|(?:access|api|auth)[_\-.\ ]?)?\Z""",
    re.IGNORECASE | re.VERBOSE,
)
_UPPER = re.compile(r"[A-Z0-9]{2,30}_\Z")
_BARE_FLAG = re.compile(r"(?<!\S)--\Z")
_FLAG = re.compile(r"(?<!\S)--[a-z-]{0,24}\Z")
_UUIDS = re.compile(r"(?:heroku[\w .-]{0,20}|_auth)\Z", re.IGNORECASE)
_UUID_VARIABLE = re.compile(r"(?:^|[\s\"'=])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:API_)?\Z")
_BARE = re.compile(r"(?:^|[\s\"'{,(<&?\\])\Z")
_CHECKSUM = re.compile(r"[0-9a-fA-F]+")
_LOOK_BACK = 32


def is_named_secret(match: re.Match[str]) -> bool:
    """Whether the name that ends in key, token or secret denotes one, and the value behind it can be one."""
    before = match.string[max(0, match.start() - _LOOK_BACK) : match.start()]
    word = re.match("[A-Za-z]+", match[0])
    is_variable = word is not None and word[0].isupper() and _UPPER.search(before) is not None
    if not (is_variable or _QUALIFIED.search(before)):
        is_bare = word is not None and word[0].lower() != "key" and _BARE.search(before)
        return bool(is_bare) and is_secret_value(match[1]) and not _CHECKSUM.fullmatch(match[1])
    if is_uuid(match[1]):  # an identifier nearly everywhere, but some use it as a key
        is_key = _UUIDS.search(before) or (is_variable and _UUID_VARIABLE.search(before))
        return is_key is not None and is_random(match[1])
    return is_secret_value(match[1]) or (is_variable and has_mixed_case(match[1]) and "/" not in match[1][:2])


def is_flag_secret(match: re.Match[str]) -> bool:
    """The same for a value behind a flag of a command: `--api-key …`."""
    before = match.string[max(0, match.start() - _LOOK_BACK) : match.start()]
    is_meant = _FLAG.search(before) and _QUALIFIED.search(before)
    if not is_meant and match[0].startswith(("token", "secret")):
        is_meant = _BARE_FLAG.search(before)
    return is_meant is not None and is_secret_value(match[1])
