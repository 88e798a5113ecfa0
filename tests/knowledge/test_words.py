"""Word lists are well-formed, and a new word takes effect everywhere by one line."""

from __future__ import annotations

from typing import get_args

import pytest

from dense.analysis.evidence.requirements import requirements
from dense.knowledge.words import LANGUAGES, Cue, english, pattern, phrases, words
from dense.knowledge.words import japanese as stems
from dense.knowledge.words.categories import Category, PatternCategory, PhraseCategory, Words
from dense.trajectory import Task

CATEGORIES = {name for one in get_args(Category) for name in (get_args(one) or [one])}


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_list_is_well_formed(language: str) -> None:
    for category, text in LANGUAGES[language].items():
        listed = text.split()
        assert category in CATEGORIES
        assert listed, f"{language} {category} is empty"
        assert len(listed) == len(set(listed)), f"{language} {category} has duplicates"
        assert text == text.lower()
        assert "," not in text, "words are separated by spaces"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_word_has_one_cue_in_each_language(language: str) -> None:
    cues = [word for cue in get_args(Cue) for word in words(cue, language)]
    assert len(cues) == len(set(cues))


def test_english_is_complete() -> None:
    assert set(english.WORDS) | {"negation_behind"} == CATEGORIES
    assert set(english.PHRASES) == set(get_args(PhraseCategory))
    for category in get_args(PhraseCategory):
        found = phrases(category)
        assert len(found) == len(set(found)) > 1
        assert all(phrase == phrase.lower().strip() != "" for phrase in found)


@pytest.mark.parametrize(
    ("category", "remark"),
    [
        ("excuse", "These failures are pre-existing."),
        ("excuse", "The error is the known UnicodeEncodeError."),
        ("excuse", "It fails due to running the tests as root."),
        ("expected", "It fails as expected."),
        ("complaint", "The output is still wrong."),
        ("missing", "The test suite does not pass yet."),
    ],
)
def test_patterns_match_remarks_in_any_case(category: PatternCategory, remark: str) -> None:
    assert pattern(category).search(remark)
    assert pattern(category).search(remark.upper())
    assert not pattern(category).search("All tests pass.")


def test_japanese_stems_are_distinct() -> None:
    for listed in (stems.CHANGES, stems.BANS, stems.DEMANDS):
        assert len(listed) == len(set(listed)) > 1


def _verbs() -> list[tuple[str, str]]:
    return [(language, verb) for language in LANGUAGES for verb in LANGUAGES[language]["make"].split()]


@pytest.mark.parametrize(("language", "verb"), _verbs())
def test_every_verb_of_making_asks_for_a_file(language: str, verb: str) -> None:
    (found,) = requirements(Task(f"{verb.capitalize()} `notes.md`."))
    assert (found.kind, found.role, found.subject) == ("file", "deliverable", "notes.md"), language


def test_a_list_may_be_chosen_by_language() -> None:
    german: Words = LANGUAGES["german"]
    assert words("make", "german") == frozenset(german["make"].split()) < words("make")
