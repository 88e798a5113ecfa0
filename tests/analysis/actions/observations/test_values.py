"""Named values that a text shows."""

from __future__ import annotations

import pytest

from dense.analysis.actions.observations.result import Value, values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("total: 30", [("total", "30")]),
        ("accuracy = 0.93", [("accuracy", "0.93")]),
        ("Accuracy: 93.5%", [("Accuracy", "93.5%")]),
        ("mean latency: 12.5 ms", [("mean latency", "12.5 ms")]),
        ("loss=0.031", [("loss", "0.031")]),
        ("name: 'Ada'", [("name", "Ada")]),
        ('{"total": 30, "unit": "EUR", "ok": true}', [("total", "30"), ("unit", "EUR"), ("ok", "true")]),
        ("{'total': 30.5, 'name': 'x'}", [("total", "30.5"), ("name", "x")]),
        ("| --- | --- |", []),
        ("**Price:** $1,200.50", [("Price", "$1,200.50")]),
        ("总数：42", [("总数", "42")]),
        ("Größe: 12 KB", [("Größe", "12 KB")]),
        ("- status: done", [("status", "done")]),
        ("p-value -> 1.2e-05", [("p-value", "1.2e-05")]),
        ("for x in rows:", []),
        ("see http://a.b/c", []),
        ("a sentence: with far too many words behind its colon to be a value at all", []),
        ("12:30 is a time", []),
        ("", []),
    ],
)
def test_values_of_a_line(text: str, expected: list[tuple[str, str]]) -> None:
    assert values(text) == tuple(Value(*pair) for pair in expected)


def test_values_are_few_and_each_is_reported_once() -> None:
    assert len(values("\n".join(f"v{n}: {n}" for n in range(999)))) == 60
    assert values("a: 1\na: 1\na: 2") == (Value("a", "1"), Value("a", "2"))


def test_a_long_text_is_read_at_both_ends() -> None:
    found = values("first: 1\n" + "filler text\n" * 50_000 + "last: 2\n")
    assert found == (Value("first", "1"), Value("last", "2"))
