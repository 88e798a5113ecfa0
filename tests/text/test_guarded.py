from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dense.analysis.actions.observations import harness, program_output
from dense.analysis.detectors import admissions, unverified_changes
from dense.analysis.evidence.checks import test_edits
from dense.analysis.evidence.ending import ending
from dense.analysis.evidence.facts import facts
from dense.analysis.evidence.requirements import demands, extract
from dense.analysis.wording import commands, messages, shortcuts, titles
from dense.text.guarded import GuardedPattern

MODULES = (
    *(admissions, unverified_changes, test_edits, ending, facts, program_output, extract, demands),
    *(harness, commands, messages, shortcuts, titles),
)
GUARDED = {
    f"{module.__name__}.{name}": value
    for module in MODULES
    for name, value in vars(module).items()
    if isinstance(value, GuardedPattern)
}


def test_the_patterns_are_found() -> None:
    assert len(GUARDED) > 15


@pytest.mark.parametrize("guarded", GUARDED.values(), ids=GUARDED.keys())
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_guard_lets_every_match_pass(guarded: GuardedPattern, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(guarded.pattern, alphabet=st.characters(max_codepoint=126)))
    assert guarded.search(text) is not None
    assert guarded.findall(text) == guarded.pattern.findall(text)
    assert [one.span() for one in guarded.finditer(text)] == [one.span() for one in guarded.pattern.finditer(text)]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (re.compile("a$"), "a\n"),
        (re.compile(r"a\Z"), "ba"),
        (re.compile("^[^ ]$", re.IGNORECASE), "S"),
        (re.compile("[^x]", re.IGNORECASE), "k"),
        (re.compile("[ a] [&~#\\[]", re.VERBOSE), " ["),
        (re.compile("(?>a|)b(?=c(?:d|[)]))"), "bc)"),
        (re.compile(r"(?<![\w.])\d+(?!\d)."), "12 "),
        (re.compile(r"\W\S\D\s"), " a \x1f"),
        (re.compile(".", re.DOTALL), "\n"),
        (re.compile("é+"), "café"),
    ],
)
def test_what_the_engines_write_differently(pattern: re.Pattern[str], text: str) -> None:
    assert pattern.search(text) is not None
    assert GuardedPattern(pattern).search(text) is not None


def test_no_match_is_no_match() -> None:
    guarded = GuardedPattern(re.compile("a(?=b)"))
    assert guarded.search("ac") is None
    assert guarded.findall("xyz") == []
    assert list(guarded.finditer("xyz")) == []
