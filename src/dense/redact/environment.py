"""Secrets of this process's environment, which an agent that ran here may have printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from urllib.parse import quote

from dense.redact.rules.value_checks import is_placeholder

LABEL = "environment value"

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:[A-Z0-9]*(?:API|AUTH|ACCESS|SECRET))?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(?:_|$)"
)
_PLACE = re.compile(r"[~.]{0,2}/.*|[a-z][a-z0-9+.-]*://[^@]*|[A-Za-z]:\\.*", re.DOTALL)
_WORDS = re.compile(r"[a-z]*|[A-Z]*|[A-Z][a-z]*|[0-9]{0,11}|[a-z]+(?:[ _-][a-z]+)+|[A-Z]+(?:[ _-][A-Z]+)+")
MIN_VALUE_CHARS = 8
MIN_CERTAIN_CHARS = 24


def secrets_of(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The values of variables that are named like secrets, with their kind; also escaped as in JSON and URLs.

    Left out: short values, paths and addresses, ordinary words and small numbers, examples."""
    for name in _secret_names(tuple(environment)):  # not its items: the process's own are decoded one by one
        if _is_secret(value := environment[name]):
            for form in dict.fromkeys((value, json.dumps(value)[1:-1], quote(value, safe=""))):
                yield form, "environment-value"


@lru_cache(8)
def _secret_names(names: tuple[str, ...]) -> list[str]:
    """Cached, because a process has the same variables for each trajectory; names only, never a value."""
    return [name for name in names if _SECRET_NAME.search(name.upper())]


def _is_secret(value: str) -> bool:
    if len(value) < MIN_VALUE_CHARS or _PLACE.fullmatch(value) or is_placeholder(value) or len(set(value)) < 4:
        return False
    return len(value) >= MIN_CERTAIN_CHARS or not _WORDS.fullmatch(value)
