"""Words and phrases that evidence looks for, by language.

English is complete; every real trace exercises it. `japanese` has the verbs behind a name. `other_languages` has only
what decides the role of a file in a task. To add a word, add it to one line of its language. In: a category, and
languages. Out: its words, phrases or pattern. Never imports anything of dense."""

from __future__ import annotations

import re
from functools import cache

from dense.knowledge.words import english
from dense.knowledge.words import other_languages as other
from dense.knowledge.words.categories import Category, Cue, PatternCategory, PhraseCategory, Words

__all__ = ["LANGUAGES", "Category", "Cue", "PatternCategory", "PhraseCategory", "pattern", "phrases", "words"]

LANGUAGES: dict[str, Words] = {
    "english": english.WORDS,
    "german": other.GERMAN,
    "french": other.FRENCH,
    "spanish": other.SPANISH,
    "portuguese": other.PORTUGUESE,
    "russian": other.RUSSIAN,
}


@cache
def words(category: Category, *languages: str) -> frozenset[str]:
    """The words of a category, in these languages or in all."""
    chosen = [LANGUAGES[name] for name in languages or LANGUAGES]
    return frozenset(word for language in chosen for word in language.get(category, "").split())


def phrases(category: PhraseCategory) -> tuple[str, ...]:
    """The phrases of a category; English only."""
    return tuple(" ".join(phrase.split()) for phrase in english.PHRASES[category].split(","))


def pattern(category: PatternCategory) -> re.Pattern[str]:
    """A pattern for remarks in messages, in any case; English only."""
    return re.compile(english.PATTERNS[category], re.IGNORECASE | re.VERBOSE)
