"""Kingfisher's rules on top of ours, if asked for: several hundred more formats.

Its program runs once for each trajectory and without network: validation of found keys at their services and the check
for updates are turned off."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec

from dense.errors import DenseError, install_hint
from dense.redact.rules.value_checks import is_random, is_uuid

_OPTIONS = (
    "--no-validate",
    "--no-update-check",
    "--quiet",
    "--format=jsonl",
    "--no-dedup",
    "--no-base64",
    "--no-ignore",
)
_SUCCESS_CODES = {0, 200}
"""Exit codes: nothing found, something found."""
_CHECKSUM = re.compile(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128}", re.IGNORECASE)
_TIMEOUT_SECONDS = 600


class _Rule(msgspec.Struct):
    name: str


class _Finding(msgspec.Struct):
    snippet: str
    dependent_captures: dict[str, str] = {}


class _Line(msgspec.Struct):
    rule: _Rule | None = None
    finding: _Finding | None = None


def kingfisher_secrets(texts: list[str]) -> Iterator[tuple[str, str]]:
    """The values that Kingfisher reports as secrets in these texts, with their kinds.

    Values that may be a checksum or a UUID, that are not random, or that only the name before them marks are left
    out."""
    command = [str(_program()), "scan", "-", *_OPTIONS]
    given = "\n\n".join(texts).encode("utf-8", "replace")
    try:
        done = subprocess.run(command, input=given, capture_output=True, timeout=_TIMEOUT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DenseError(f"kingfisher did not run ({type(error).__name__}); redact without it") from None
    if done.returncode not in _SUCCESS_CODES:
        raise DenseError(f"kingfisher ended with {done.returncode}; redact without it")
    for line in done.stdout.splitlines():
        report = msgspec.json.decode(line, type=_Line)
        if report.rule and report.finding:
            kind = re.sub(r"[^a-z0-9]+", "-", report.rule.name.lower()).strip("-")[:40] or "kingfisher"
            for value in (report.finding.snippet, *report.finding.dependent_captures.values()):
                if _is_credible(value, kind):
                    yield value, kind


def _is_credible(value: str, kind: str) -> bool:
    if "generic" in kind or "password" in kind or _CHECKSUM.fullmatch(value) or is_uuid(value):
        return False
    return len(value) >= 12 and is_random(value)


def _program() -> Path:
    """The program of the package `kingfisher-bin`, or one on the path."""
    package = importlib.util.find_spec("kingfisher")
    for folder in (package.submodule_search_locations or []) if package else []:
        for name in ("kingfisher", "kingfisher.exe"):
            program = Path(folder) / "bin" / name
            if program.is_file():
                return program
    on_path = shutil.which("kingfisher")
    if on_path is None:
        raise DenseError(f"kingfisher is not installed: {install_hint('redact')}")
    return Path(on_path)
