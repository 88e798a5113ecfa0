"""A cache gives the effects that a step has by itself, in whichever order steps are asked for."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dense.actions.step_effects import EffectsCache, effects
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


@given(steps)
@settings(max_examples=60, deadline=None)
def test_it_gives_what_effects_gives(made: list[Step]) -> None:
    cache = EffectsCache()
    for step in [*made, *reversed(made)]:
        assert cache(step) == effects(step)


def test_a_step_is_gone_through_once() -> None:
    cache = EffectsCache()
    step = Step(Source("x"), calls=(ToolCall("bash", {"command": "make test"}),))
    assert cache(step).tests == ("make test",)
    assert cache(step) is cache(step)
