"""The settings file: `dense.toml`, or `[tool.dense]` of a `pyproject.toml`, of the project and of the user.

    model = "gemini/gemini-3-flash-preview"
    budget = 8000                     # bytes, or "paper"
    redact = true

    [hooks]
    max_usd_per_day = 0.5

Its keys are the fields of `FeedbackOptions`, which say where each may be set. The command line wins over the project's
file, that over the user's (`~/.config/dense/dense.toml`), that over the defaults. A repository is other people's text,
and a trace is private: a project's file names no model, program, address or answers file, and cannot turn redaction
off. Hooks and MCP, which run by themselves, follow the user's file alone."""

from __future__ import annotations

import os
import tomllib
from functools import partial
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from dense.errors import DenseError, WrongUsage
from dense.integrations.state import project_root
from dense.options import FILE, OPTIONS, Entry, FeedbackOptions, option_of, parse_usd, set_options
from dense.readers.json_value import obj

NAME = "dense.toml"
HOOKS = "hooks"
HOOK_KEY = "hooks.max_usd_per_day"
DEFAULT_USD_PER_DAY = 0.5


class Settings(Struct, frozen=True):
    """What is in force, and why."""

    options: FeedbackOptions = FeedbackOptions()
    """How feedback is made."""
    hook_max_usd_per_day: float = DEFAULT_USD_PER_DAY
    """What hooks and MCP may spend in a day, if a model is named."""
    origins: tuple[tuple[str, str], ...] = ()
    """Where each setting that is no default comes from."""


def load_settings(folder: Path | None = None, *, trusts_project: bool = True) -> Settings:
    """The settings for a folder. Raises `DenseError` for a file that is wrong."""
    own = user_file()
    options, limit = FeedbackOptions(), DEFAULT_USD_PER_DAY
    origins: dict[str, str] = {}
    projects = _project_files(folder or Path.cwd()) if trusts_project else []
    for path in [own, *(path for path in projects if path.absolute() != own.absolute())]:
        values = _table(path)
        hooks = values.pop(HOOKS, {})
        entry = Entry.USER if path == own else Entry.PROJECT
        given = {name: _beside(path, name, value) for name, value in values.items()}
        options = set_options(given, entry, options, label=partial(_label, path), instead=where_to_set(own))
        if hooks != {}:
            limit = _hook_limit(path, hooks, entry, own)
        origins |= dict.fromkeys([*values, *([HOOK_KEY] if hooks != {} else [])], str(path))
    return Settings(options, limit, tuple(origins.items()))


def where_to_set(own: Path) -> str:
    """Where to set what somebody else may not."""
    return f"set it in your own settings, {own}, or give it on the command line"


def user_file() -> Path:
    """The user's own settings file."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "dense" / NAME


def _hook_limit(path: Path, hooks: object, entry: Entry, own: Path) -> float:
    """The limit in the table `hooks` of a file."""
    values = obj(hooks)
    if list(values) != [HOOK_KEY.removeprefix("hooks.")]:
        raise WrongUsage(f"{path}: hooks: known is only {HOOK_KEY}")
    if entry is not Entry.USER:
        raise WrongUsage(f"{path}: {HOOK_KEY}: a project's file cannot set it: set it in your own settings, {own}")
    (value,) = values.values()
    if value in (0, 0.0) and value is not False:
        return 0.0
    try:
        return parse_usd(value)
    except ValueError as error:
        raise WrongUsage(f"{path}: {HOOK_KEY}: {error}") from None


def _label(path: Path, name: str) -> str:
    return f"{path}: {name}"


def _beside(path: Path, name: str, value: object) -> object:
    """A file that a setting names: relative to the settings file."""
    is_file = name in OPTIONS and option_of(OPTIONS[name]).kind is FILE and isinstance(value, str) and value
    return path.parent / Path(str(value)).expanduser() if is_file else value


def _project_files(folder: Path) -> list[Path]:
    """The nearest folder with settings, upwards to the root of the repository; its `dense.toml` wins over its
    `pyproject.toml`. Files of another user are not the project's, wherever they are."""
    start, root = Path(os.path.realpath(folder)), project_root(str(folder))
    for parent in (start, *start.parents):
        files = [path for path in (parent / "pyproject.toml", parent / NAME) if path.is_file() and _is_own(path)]
        files = [path for path in files if path.name == NAME or _table(path)]
        if files or parent == root:
            return files
    return []


def _is_own(path: Path) -> bool:
    """Whether a file and its folder are of the user who runs this; true where a system does not say."""
    return not hasattr(os, "geteuid") or {path.stat().st_uid, path.parent.stat().st_uid} == {os.geteuid()}


def _table(path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:  # numbers of too many digits included
        if path.name != NAME:
            return {}  # somebody else's file, and not ours to judge
        raise DenseError(f"{path}: the settings cannot be read ({error})") from None
    table: Any = data if path.name == NAME else obj(data.get("tool")).get("dense", {})
    if not isinstance(table, dict):
        raise DenseError(f"{path}: tool.dense is no table")
    return cast("dict[str, Any]", table)
