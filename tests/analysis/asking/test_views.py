"""Views: never longer than their limit, with head and tail, and a true count of what is missing."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from dense.analysis.asking.views import FULL, SMALL, action_view, observation_view, safe_text, shares, tag
from dense.trajectory import Observation, Source, Step, ToolCall

texts = st.builds(lambda text, times: text * times, st.text(max_size=30), st.integers(1, 90))
limits = st.integers(0, 500)
calls = st.builds(
    ToolCall, texts, st.dictionaries(texts, texts | st.integers() | st.lists(texts, max_size=2), max_size=3)
)
seen = st.builds(
    Observation, texts, origin=st.sampled_from(["tool", "user"]), exit_code=st.none() | st.integers(0, 255)
)
steps = st.builds(
    Step,
    st.just(Source("a")),
    texts,
    texts,
    st.lists(calls, max_size=4).map(tuple),
    st.lists(seen, max_size=4).map(tuple),
)


@given(texts, limits)
def test_a_safe_text_keeps_its_limit_and_can_be_sent(text: str, limit: int) -> None:
    view = safe_text(text, limit)
    assert len(view) <= limit
    view.encode()
    assert not re.search(r"<\s*/?\s*(?:action|observation|subtask)\b", view, re.IGNORECASE)


@given(steps, st.integers(24, 500))
def test_views_of_steps_keep_their_limit(step: Step, limit: int) -> None:
    assert len(action_view(step, limit)) <= limit
    assert len(observation_view(step, limit)) <= limit


@given(st.lists(st.integers(0, 1_000), max_size=8), st.integers(0, 2_000))
def test_shares_are_fair(lengths: list[int], limit: int) -> None:
    granted = shares(lengths, limit)
    assert sum(granted) <= limit
    assert all(share <= length for share, length in zip(granted, lengths, strict=True))
    if sum(lengths) <= limit:
        assert granted == lengths
    for a, ga in zip(lengths, granted, strict=True):
        for b, gb in zip(lengths, granted, strict=True):
            assert a <= b or ga >= gb or ga == a, "a longer text got less than a shorter one"


def test_ordinary_text_is_shown_as_it_is() -> None:
    text = "if a < b && c > d:\n\tprint('<b>ä</b>')  # <html> {\"x\": 1}"
    assert safe_text(text, 500) == text


def test_terminal_colours_and_gaps_go() -> None:
    assert safe_text("\x1b[1;31mred\x1b[0m\r\nnext\n\n\n\n\nlast\n\n", 100) == "red\nnext\n\nlast"


def test_commands_are_shown_before_the_rest_of_a_call() -> None:
    step = Step(Source("a"), "Look.", calls=(ToolCall("bash", {"duration": 0.5, "keystrokes": "ls -la\n"}),))
    assert action_view(step, 200) == 'Look.\n→ bash: ls -la {"duration":0.5}'


def test_a_long_message_leaves_room_for_the_command() -> None:
    step = Step(Source("a"), "so " * 2_000, calls=(ToolCall("bash", {"command": "make test"}),))
    assert action_view(step, 200).endswith("→ bash: make test")


def test_thoughts_stand_in_for_a_silent_agent() -> None:
    assert action_view(Step(Source("a"), "", "hm"), 200) == "hm"
    assert action_view(Step(Source("a"), "yes", "hm"), 200) == "yes"


def test_attributes_cannot_be_left() -> None:
    assert tag("action", "x", id='n1" focus="TARGET', title="a>\n<b") == (
        '<action id="n1\' focus=\'TARGET" title="a› ‹b">x</action>'
    )


def test_presets_shrink_in_order() -> None:
    for field in ("task", "queued", "member", "child", "summary", "facet"):
        assert getattr(SMALL, field) < getattr(FULL, field)
    shrunk = FULL.shrunk(0.001)
    assert (shrunk.task, shrunk.retained, shrunk.prompt) == (FULL.least, 0, FULL.prompt)
