"""Sentences: none is lost, and abbreviations and list numbers end none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dense.text.sentences import first_sentence, split_sentences

pieces = st.sampled_from(["a.", "b!", "c?", "e.g.", "1.", "；", "。", " ", "\n", "word", "; "])


@given(st.lists(pieces, max_size=20).map("".join))
def test_nothing_is_lost(text: str) -> None:
    parts = split_sentences(text)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(part == part.strip() != "" for part in parts)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Read a.txt. Write b.txt!", ["Read a.txt.", "Write b.txt!"]),
        ("Use a name, e.g. x.txt, for it.", ["Use a name, e.g. x.txt, for it."]),
        ("読んでください。次に書く。", ["読んでください。", "次に書く。"]),
        ("", []),
    ],
)
def test_split(text: str, parts: list[str]) -> None:
    assert split_sentences(text) == parts


@pytest.mark.parametrize(
    ("message", "first"),
    [
        ("Plan: Look at the first lines of the file.\nThen more.", "Look at the first lines of the file."),
        ("## Heading\nThe parser drops the last token here. Next.", "Heading The parser drops the last token here."),
        ("Steps:\n1. Read the file that is given.", "Steps: 1. Read the file that is given."),
        ("", ""),
    ],
)
def test_first_sentence(message: str, first: str) -> None:
    assert first_sentence(message) == first
