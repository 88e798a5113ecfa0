"""The numeric libraries of the extra `report`, imported when a report first needs them."""

from __future__ import annotations

from typing import Any

from dense.errors import DenseError, install_hint


def numpy() -> Any:
    """numpy; a `DenseError` with the install command if it is missing."""
    try:
        import numpy as package
    except ImportError as problem:
        raise DenseError(f"a report needs numpy: {install_hint('report')}") from problem
    return package


def scipy_special() -> Any:
    """`scipy.special`, which imports faster than `scipy.stats`; a `DenseError` with the install command without it."""
    try:
        import scipy.special as package  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as problem:
        raise DenseError(f"a report needs scipy: {install_hint('report')}") from problem
    return package
