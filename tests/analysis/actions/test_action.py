"""Actions: each step is taken apart once, and in whichever order actions are asked for, they are the same."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dense.analysis.actions.action import Actions
from dense.analysis.actions.step_effects import effects
from dense.trajectory import Observation, Source, Step, ToolCall

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


@given(steps)
@settings(max_examples=60, deadline=None)
def test_a_step_that_no_earlier_one_bears_on_has_the_effects_of_its_own(made: list[Step]) -> None:
    actions = Actions(made)
    for action in [*reversed(actions), *actions]:
        assert action.effects == effects(action.step)


@given(steps)
@settings(max_examples=60, deadline=None)
def test_the_order_of_asking_changes_nothing(made: list[Step]) -> None:
    forwards, backwards = Actions(made), Actions(made)
    sides = [(action.effects, action.result, action.blocks, action.commands) for action in forwards]
    reversed_sides = [(action.effects, action.result, action.blocks, action.commands) for action in backwards[::-1]]
    assert sides == reversed_sides[::-1]


def test_a_step_is_gone_through_once() -> None:
    call = ToolCall("bash", {"command": "make test"})
    actions = Actions([Step(Source("x"), calls=(call,), observations=(Observation("all good"),))])
    (action,) = actions
    assert action.effects.tests == ("make test",)
    assert action.effects is action.effects
    assert action.blocks is action.blocks
    assert action.result is action.result
    assert list(actions.transcript[0].blocks) == list(action.blocks)
