"""The settings file: `dense.toml`, or `[tool.dense]` of a `pyproject.toml`, of the project and of the user.

    model = "gemini/gemini-3-flash-preview"
    base_url = "http://127.0.0.1:8000/v1"
    budget = 8000                     # bytes, or "paper"
    redact = true

    [hooks]
    max_usd_per_day = 0.5

The command line wins over the project's file, that over the user's (`~/.config/dense/dense.toml`), that over the
defaults. A repository is other people's text, and a trace is private: a project's file may name a provider's model and
a budget, but no address, and it cannot turn redaction off. Hooks, which run by themselves, follow the user's file
alone."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from msgspec import Struct

from dense.errors import DenseError

NAME = "dense.toml"
KEYS = {"model": str, "base_url": str, "budget": int | str, "redact": bool | str, "hooks": dict}
PROJECT_KEYS = ("model", "budget")
"""What a project may set."""
HOOK_KEYS = {"max_usd_per_day": int | float}
DEFAULT_USD_PER_DAY = 0.5


class Settings(Struct, frozen=True):
    """What is in force, and why."""

    model: str | None = None
    """The analyst; None for the built-in rules."""
    base_url: str | None = None
    """Another address for the model's provider."""
    budget: str | None = None
    """Bytes of the message, or `paper`; None for the default."""
    redact: str = "true"
    """Whether, or by which program, credentials are replaced."""
    hook_max_usd_per_day: float = DEFAULT_USD_PER_DAY
    """What hooks may spend in a day, if a model is named."""
    origins: tuple[tuple[str, str], ...] = ()
    """Where each setting that is no default comes from."""


def load_settings(folder: Path | None = None, *, trusts_project: bool = True) -> Settings:
    """The settings for a folder. Raises `DenseError` for a file that is wrong."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    files = [_user_file(), *(_project_files(folder or Path.cwd()) if trusts_project else ())]
    for path in files:
        for name, value in _read(path).items():
            if path != files[0] and (name not in PROJECT_KEYS or "://" in str(value)):
                raise DenseError(f"{path}: a project cannot set {name} to {value!r}: set it in {files[0]}")
            values[name], origins[name] = value, str(path)
    fields = {name: values[name] for name in ("model", "base_url") if name in values}
    if "budget" in values:
        fields["budget"] = str(values["budget"])
    if "redact" in values:
        fields["redact"] = str(values["redact"]).lower()
        if fields["redact"] not in ("true", "false", "kingfisher"):
            raise DenseError(f'{origins["redact"]}: redact is true, false or "kingfisher", not {values["redact"]!r}')
    if "hooks.max_usd_per_day" in values:
        fields["hook_max_usd_per_day"] = float(values["hooks.max_usd_per_day"])
    return Settings(**fields, origins=tuple(origins.items()))


def _user_file() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "dense" / NAME


def _project_files(folder: Path) -> list[Path]:
    """The nearest folder with settings, upwards; its `dense.toml` wins over its `pyproject.toml`."""
    start = folder.absolute()
    for parent in (start, *start.parents):
        files = [path for path in (parent / "pyproject.toml", parent / NAME) if path.is_file()]
        files = [path for path in files if path.name == NAME or _table(path)]
        if files:
            return files
    return []


def _table(path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        if path.name != NAME:
            return {}  # somebody else's file, and not ours to judge
        raise DenseError(f"{path}: the settings cannot be read ({error})") from None
    return data if path.name == NAME else data.get("tool", {}).get("dense", {})


def _read(path: Path) -> dict[str, Any]:
    """The settings of one file, those of `hooks` with a dot."""
    settings: dict[str, Any] = {}
    for name, value in _table(path).items():
        _check(path, name, value, KEYS)
        if name == "hooks":
            for inner, inner_value in value.items():
                _check(path, f"hooks.{inner}", inner_value, {f"hooks.{key}": kind for key, kind in HOOK_KEYS.items()})
                settings[f"hooks.{inner}"] = inner_value
        else:
            settings[name] = value
    return settings


def _check(path: Path, name: str, value: object, known: dict[str, Any]) -> None:
    if name not in known:
        raise DenseError(f"{path}: unknown setting {name!r}; known are {', '.join(sorted(known))}")
    if not isinstance(value, known[name]) or (isinstance(value, bool) and name != "redact"):
        raise DenseError(f"{path}: {name} has the wrong type: {value!r}")
