"""Secrets of a recipient and its environment: handed on when an attempt runs, and kept from every file that it leaves.

Harbor reads a `${NAME}` of an agent itself and writes it down unchanged; that of an environment it hands on unread,
so we read it, once the trial's configuration is made. It takes values out of a trial's files for variables
with a secret's name, and only when a trial comes to its end; options it writes down as they are. Here all that was read
from our variables goes, and everything under a secret's name, also if a trial was cut off."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from dense.errors import DenseError
from refit.harness.harness import Recipient

MIN_SECRET_CHARS = 8
"""No shorter value is taken for a secret: it would occur everywhere."""
REMOVED_MARK = "[REDACTED]"
_VARIABLE = re.compile(r"\$\{([^}:]+)(?::-(.*))?\}")
_SECRET_NAME = re.compile(r"KEY|SECRET|TOKEN(?!S)|PASSWORD|CREDENTIAL|AUTH", re.IGNORECASE)
"""What Harbor takes for a secret's name."""
_SECRET_OPTION = re.compile(
    r"secret|passw(?:or)?d|passphrase|credential|authorization|(?:^|_)(?:auth|bearer|cookies?)$"
    r"|(?:api|access|private|subscription)_?keys?(?:_|$)|(?:^|_)(?<!cache_)(?<!public_)(?<!sort_)key$"
    r"|(?<!per_)token$|(?:api|access|auth|bearer|refresh)_?tokens$"
)
"""The same for options, which are many more things than variables are: `max_tokens` or `prompt_cache_key` is none."""
_SCHEME = re.compile(r"(?:bearer|basic|token)\s+(\S+)", re.IGNORECASE)


def check_variables(recipient: Recipient) -> None:
    """That all are set, and that none would take half of the record along when Harbor blanks its value."""
    resolve_variables(recipient.env, f"recipient {recipient.name!r}: env")
    for name, value in recipient.env.items():
        option, (content, _) = f"recipient {recipient.name!r}: env: {name}", _read(value)
        if _SECRET_NAME.search(name) and 0 < len(content) < MIN_SECRET_CHARS:
            raise DenseError(
                f"{option}: Harbor blanks such a variable's value wherever it occurs in a trial's files, and one of "
                f"{len(content)} characters occurs everywhere; give it at least {MIN_SECRET_CHARS}"
            )


def resolve_variables(env: Mapping[str, str], option: str) -> dict[str, str]:
    """Those of the variables that are `${NAME}` or `${NAME:-otherwise}`, with their values."""
    values: dict[str, str] = {}
    for name, value in env.items():
        variable = _VARIABLE.fullmatch(value)
        if variable is None and "${" in value:
            raise DenseError(f"{option}: {name}: `${{NAME}}` must be the whole value; put the rest into the variable")
        if variable is not None and variable[1] not in os.environ and variable[2] is None:
            raise DenseError(f"{option}: {name}: {variable[1]} is not set; export it")
        if variable is not None:
            values[name] = _read(value)[0]
    return values


def collect_secrets(options: Mapping[str, Any], env: Mapping[str, Any] | None = None) -> set[str]:
    """What must not stay on a disk: what these variables read from ours, and everything under a secret's name,
    in an option however deep.

    A value of fewer than `MIN_SECRET_CHARS` characters stays, also in the files of a trial: many texts contain
    it (`unused`, `none`), and removing it would spoil the record."""
    secrets = {_read(given)[0] for name, given in _named(options) if is_secret_option(name)}
    secrets |= {scheme[1] for value in secrets if (scheme := _SCHEME.fullmatch(value))}
    for name, given in (env or {}).items():
        value, is_ours = _read(str(given))
        if is_ours or _SECRET_NAME.search(name):
            secrets.add(value)
    return {value for value in secrets if len(value) >= MIN_SECRET_CHARS}


def is_secret_option(name: str) -> bool:
    """Whether an option of this name has a secret for its value: `api_key`, `apiKey`, `X-Auth-Token`."""
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()
    return _SECRET_OPTION.search(plain) is not None


def scrub(folder: Path, secrets: Iterable[str], *, but: Path | None = None) -> None:
    """Takes secrets out of all files of a folder; `but` is a folder in it that is left as it is.

    In a file that is no text (a database), as many characters replace it, so that nothing in it moves."""
    values = _forms(secrets)
    for path in folder.rglob("*") if values else ():
        if path.is_file() and not path.is_symlink() and (but is None or but not in path.parents):
            _scrub_file(path, values)


def remove_secrets(text: str, secrets: Iterable[str]) -> str:
    """A text without them."""
    for value in _forms(secrets):
        text = text.replace(value, REMOVED_MARK)
    return text


def _named(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """All texts among options, each with its name; everything below a secret's name counts as secret."""
    if isinstance(value, Mapping):
        for key, inner in cast("Mapping[Any, Any]", value).items():
            yield from _named(inner, name if is_secret_option(name) else str(key))
    elif isinstance(value, list | tuple):
        for inner in cast("Iterable[Any]", value):
            yield from _named(inner, name)
    elif isinstance(value, str):
        yield name, value


def _read(given: str) -> tuple[str, bool]:
    """The value itself, and whether it was read from a variable of ours."""
    variable = _VARIABLE.fullmatch(given)
    if variable is None:
        return given, False
    return (os.environ[variable[1]], True) if variable[1] in os.environ else (variable[2] or "", False)


def _forms(secrets: Iterable[str]) -> list[str]:
    """Each as it is, as JSON and as a URL writes it; the longest first, because one may be part of another."""
    forms = {
        form
        for value in secrets
        for form in (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], quote(value, safe=""))
    }
    return sorted(forms, key=lambda form: (-len(form), form))


def _scrub_file(path: Path, values: list[str]) -> None:
    try:
        data = clean = path.read_bytes()
        for value in values:
            secret = value.encode()
            clean = clean.replace(secret, b"*" * len(secret) if b"\0" in data else REMOVED_MARK.encode())
        if clean != data:
            _replace(path, clean)
    except OSError:  # gone meanwhile, or not ours
        return


def _replace(path: Path, data: bytes) -> None:
    """At once, so that no record is cut off by a kill; and a file that is a link to somebody's stays theirs."""
    fresh = path.with_name(f".{path.name[:200]}.clean")
    fresh.write_bytes(data)
    fresh.chmod(path.stat().st_mode & 0o7777)
    fresh.replace(path)
