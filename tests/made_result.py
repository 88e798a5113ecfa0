"""Results of cells for tests."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from refit.results import Result


def with_attempt(result: Result, **changes: Any) -> Result:
    """The result with these fields of its attempt changed."""
    return replace(result, attempt=replace(result.attempt, **changes))
