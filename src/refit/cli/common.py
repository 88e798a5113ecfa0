"""What all `dense refit` commands need: the experiment's file and folder, the consoles."""

from __future__ import annotations

import sys
from pathlib import Path

from dense.cli.text import SafeConsole
from dense.errors import DenseError
from refit.experiment.config import ExperimentConfig, read_config


def experiment_folder(config: ExperimentConfig, out: Path | None) -> Path:
    """The folder of an experiment."""
    return out if out is not None else Path("out") / "refit" / config.name


def output_console() -> SafeConsole:
    """The output: as wide as the terminal; in a file, wide enough for the table."""
    return SafeConsole(highlight=False, emoji=False, soft_wrap=True, width=None if sys.stdout.isatty() else 120)


def error_console() -> SafeConsole:
    """The error stream."""
    return SafeConsole(stderr=True, highlight=False, emoji=False, soft_wrap=True)


def load_config(file: Path) -> ExperimentConfig:
    """The configuration in an experiment's file, whose folder becomes importable."""
    base = str(file.expanduser().resolve().parent)
    if base not in sys.path:
        sys.path.append(base)  # a method, an agent or an environment of the user's own is most likely there
    return read_config(file)


def existing_folder(path: Path, out: Path | None) -> Path:
    """The folder of an experiment that is named by its folder or by its file."""
    if path.is_dir():
        return path
    if path.suffix in (".yaml", ".yml"):
        return experiment_folder(load_config(path), out)
    raise DenseError(f"{path}: neither an experiment's folder nor its YAML file")
