"""The optional libraries of a batch, each imported when it is needed, with a hint where it is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dense.errors import DenseError, install_hint


def pyarrow() -> Any:
    """Apache Arrow."""
    return _library("pyarrow", "batch")


def parquet() -> Any:
    """Arrow's Parquet module."""
    return _library("pyarrow.parquet", "batch")


def fsspec() -> Any:
    """File systems by URI."""
    return _library("fsspec", "batch")


def duckdb() -> Any:
    """Questions about Parquet."""
    return _library("duckdb", "batch")


def ray() -> Any:
    """The cluster engine."""
    _library("ray.data", "ray")
    return _library("ray", "ray")


def _library(name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise DenseError(f"{package} is needed for this ({error}): {install_hint(extra)}") from None
