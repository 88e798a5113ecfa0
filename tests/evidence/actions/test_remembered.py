"""What is remembered is what was there, in whichever order it is asked for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dense.evidence.actions
from dense.evidence.actions import Remembered, commands, effects
from dense.trajectory import Source, Step, ToolCall

TEXTS = (
    "ls",
    "cd a && make test > log",
    "cat > x.py <<'E'\nopen('y','w')\nE\npython x.py",
    "sleep 9 &",
    "",
    "edit\nx\nend_of_edit",
)
calls = st.one_of(
    st.builds(lambda text: ToolCall("bash", {"command": text}), st.sampled_from(TEXTS)),
    st.builds(lambda text: ToolCall("bash", {"command": text, "run_in_background": True}), st.sampled_from(TEXTS)),
    st.builds(
        lambda keys: ToolCall("terminal", {"keystrokes": keys}), st.sampled_from(["ls\n", "cat <<E\n", "a\nE\n"])
    ),
    st.just(ToolCall("Write", {"file_path": "a.py", "content": "x"})),
)
steps = st.lists(st.lists(calls, max_size=3).map(lambda made: Step(Source("x"), calls=tuple(made))), max_size=9)


@given(steps, st.booleans())
@settings(max_examples=60, deadline=None)
def test_it_tells_the_same_as_looking_anew(made: list[Step], at_once: bool) -> None:
    known = Remembered()
    if at_once:
        known.look_at(made)
    for step in [*made, *reversed(made)]:
        assert known(step) == effects(step)
        assert known.commands(step) == commands(step)


def test_a_text_is_taken_apart_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted at the door of the parser: that a command is run again costs nothing."""
    seen: list[str] = []
    real = dense.evidence.actions.commands_in
    monkeypatch.setattr(dense.evidence.actions, "commands_in", lambda text: seen.append(text) or real(text))
    made = [Step(Source("x"), calls=(ToolCall("bash", {"command": "make test"}),)) for _ in range(5)]
    known = Remembered()
    known.look_at(made)
    assert [known(step).tests for step in made] == [("make test",)] * 5
    assert seen == ["make test"]


def test_more_steps_than_are_looked_at_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense.evidence.actions, "AT_ONCE", 3)
    made = [Step(Source("x"), calls=(ToolCall("bash", {"command": f"touch f{number % 5}"}),)) for number in range(10)]
    known = Remembered()
    known.look_at(made)
    assert [known(step).writes for step in made] == [(f"f{number % 5}",) for number in range(10)]
