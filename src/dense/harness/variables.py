"""Environment variables of a recipient: read from ours when it runs, and kept from every file that it leaves.

Harbor reads `${NAME}` itself and writes it down as it stands. It takes values out of a trial's files for variables with
a secret's name; here all that was read from ours goes."""

from __future__ import annotations

import os
import re
from pathlib import Path

from dense.errors import DenseError
from dense.harness.harness import Recipient

SHORTEST = 8
"""No shorter value is taken for a secret: it would stand everywhere."""
_VARIABLE = re.compile(r"\$\{([^}:]+)(?::-(.*))?\}")
_SECRET_NAME = re.compile(r"KEY|SECRET|TOKEN(?!S)|PASSWORD|CREDENTIAL|AUTH", re.IGNORECASE)
"""What Harbor takes for a secret's name."""


def check_variables(recipient: Recipient) -> None:
    """That all are set, and that none would take half of the record along when Harbor blanks its value."""
    for name, value in recipient.env.items():
        place = f"recipient {recipient.name!r}: env: {name}"
        found = _VARIABLE.fullmatch(value)
        if found is None and "${" in value:
            raise DenseError(f"{place}: `${{NAME}}` must be the whole value; put the rest into the variable")
        if found is not None and found[1] not in os.environ and found[2] is None:
            raise DenseError(f"{place}: {found[1]} is not set; export it")
        read = value if found is None else os.environ.get(found[1], found[2] or "")
        if _SECRET_NAME.search(name) and 0 < len(read) < SHORTEST:
            raise DenseError(
                f"{place}: Harbor blanks such a variable's value wherever it stands in a trial's files, and one of "
                f"{len(read)} characters stands everywhere; give it at least {SHORTEST}"
            )


def scrub(trial: Path, recipient: Recipient) -> None:
    """Takes what was read from our variables out of the trial's text files."""
    values = _read(recipient)
    if not values:
        return
    for path in trial.rglob("*"):
        if path.is_file() and not path.is_symlink():
            _scrub_file(path, values)


def _read(recipient: Recipient) -> list[bytes]:
    """The values, the longest first: one may be part of another."""
    names = [found[1] for value in recipient.env.values() if (found := _VARIABLE.fullmatch(value))]
    values = {os.environ.get(name, "") for name in names}
    return sorted((value.encode() for value in values if len(value) >= SHORTEST), key=len, reverse=True)


def _scrub_file(path: Path, values: list[bytes]) -> None:
    try:
        data = path.read_bytes()
        clean = data
        for value in values:
            clean = clean.replace(value, b"[REDACTED]")
        if clean != data and b"\0" not in data:
            path.write_bytes(clean)
    except OSError:
        return
