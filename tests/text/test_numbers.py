"""Numbers and JSON of a text are read at one door, which never raises."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dense import __file__ as package_file
from dense.text.numbers import NO_JSON, decimal, parsed_json, whole

PACKAGE = Path(package_file).parent
BIG = "9" * 5_000
DOOR = "text/numbers.py"
GUARDED = {
    "float": ("actions", "detectors", "evidence", "narrate", "text", "transcript", "lessons", "deliver"),
    "json.loads": ("actions", "detectors", "evidence", "narrate", "text", "transcript", "lessons", "deliver"),
}
"""What must not be called in which packages: they see nothing but what a trace says."""


@given(st.text() | st.integers().map(str) | st.floats().map(str))
def test_any_text_has_an_answer(text: str) -> None:
    assert isinstance(decimal(text), float)
    assert not math.isinf(decimal(text))
    assert whole(text) is None or str(whole(text)).strip("-0") == text.strip("-0")
    parsed_json(text)


@pytest.mark.parametrize("text", [BIG, f"-{BIG}", "1..100", "1e999", "nan", "inf", "²", "٣" * 30, "", "-", "1_0"])
def test_absurd_numbers_are_none(text: str) -> None:
    assert whole(text) is None
    assert math.isnan(decimal(text)) or text in ("1_0", "٣" * 30)


def test_numbers_are_read() -> None:
    assert (whole("12"), whole("-3"), decimal("1,234.5"), decimal("2."), decimal("1e3")) == (12, -3, 1234.5, 2.0, 1e3)


@pytest.mark.parametrize("text", ['{"a":' * 1_500, "[" * 100_000, "{" * 9, BIG, f'{{"a": {BIG}}}', "[" * 99_999 + "]"])
def test_json_that_cannot_be_read_is_none(text: str) -> None:
    assert parsed_json(text) is NO_JSON
    assert parsed_json('{"a": [1]}') == {"a": [1]}


@pytest.mark.parametrize("called", sorted(GUARDED))
def test_only_the_door_reads_numbers_and_json(called: str) -> None:
    found: list[str] = []
    for package in GUARDED[called]:
        for path in sorted((PACKAGE / package).rglob("*.py")):
            if path == PACKAGE / DOOR:
                continue
            calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
            found += [
                f"{path.relative_to(PACKAGE)}:{call.lineno}" for call in calls if ast.unparse(call.func) == called
            ]
    assert found == []
