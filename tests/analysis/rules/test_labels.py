"""Whether an action helped, and the evidence in the reason."""

from __future__ import annotations

import pytest
from made_facts import facts

from dense.analysis.actions.observations.result import ObservedFailure, ObservedResult
from dense.analysis.actions.observations.result import TestRun as Run
from dense.analysis.actions.step_effects import effects
from dense.analysis.evidence.links.action_links import ActionLinks
from dense.analysis.rules.labels import label
from dense.knowledge.errors import EXCEPTION, NO_SUCH_COMMAND, NO_SUCH_FILE
from dense.trajectory import Observation, Source, Step, ToolCall
from dense.tree import Label, Leaf

OK = ObservedResult(is_empty=False)
PASSED = ObservedResult(tests=(Run("pytest", 5, 0, "5 passed"),), is_empty=False)
BROKEN = ObservedResult(tests=(Run("pytest", 3, 2, "2 failed, 3 passed"),), is_empty=False)
CRASHED = ObservedResult(failures=(ObservedFailure(EXCEPTION, "KeyError: 'amount'"),), is_empty=False)
MISSING = ObservedResult(
    failures=(ObservedFailure(NO_SUCH_COMMAND, "bash: pytest: command not found", "pytest"),), is_empty=False
)
ABSENT = ObservedResult(
    failures=(ObservedFailure(NO_SUCH_FILE, "cat: b: No such file or directory", "b"),), is_empty=False
)
EDIT = "sed -i s/a/b/ core.py"


def history(actions: list[tuple[str, ObservedResult]]) -> ActionLinks:
    steps = [Step(Source("trace"), calls=(ToolCall("bash", {"command": command}),)) for command, _ in actions]
    return ActionLinks(
        [facts(Leaf(f"n{n}", n + 1, step), effects(step), actions[n][1]) for n, step in enumerate(steps)]
    )


@pytest.mark.parametrize(
    ("actions", "action", "expected", "evidence"),
    [
        ([("ls", OK)], 1, 0, "`ls` looks at what is there."),
        ([("python a.py", CRASHED)], 1, -1, "KeyError: 'amount'"),
        ([("python a.py", CRASHED), ("python a.py", OK)], 1, -1, "it worked at a2"),
        ([("python a.py", CRASHED), ("ls", OK), ("ls /", OK)], 1, -1, "it was not tried again"),
        ([("cat a", OK), ("cat a", OK)], 2, -1, "the same as at a1"),
        ([("curl x.org", CRASHED), ("curl x.org", OK)], 2, 0, "."),
        ([("sed -i 's/^x/  x/' a", OK), ("sed -i 's/^x/    x/' a", OK)], 2, 0, "changes files"),
        ([("pytest", BROKEN)], 1, 0, "2 failed, 3 passed"),
        ([("pytest", MISSING)], 1, -1, "command not found"),
        ([("cat a b", ABSENT)], 1, 0, "looks at what is there"),
        ([("cat b", ABSENT)], 1, -1, "No such file"),
        ([("python a.py", CRASHED), ("sed -i s/a/b/ a.py", OK)], 2, 0, "changes files"),
        ([("echo 1 > a", OK), ("cat a", OK)], 2, 0, "checks the work"),
        ([("pytest", PASSED), (EDIT, OK), ("pytest", BROKEN), (EDIT, OK), ("pytest", PASSED)], 2, -1, "fixed later"),
    ],
)
def test_labels(actions: list[tuple[str, ObservedResult]], action: int, expected: Label, evidence: str) -> None:
    made = history(actions)
    found, reason = label(made.facts[action - 1], made)
    assert (found, evidence in reason) == (expected, True), reason


def test_the_same_command_with_another_answer_is_no_repeat() -> None:
    made = history([("cat a", OK), ("cat a", OK)])
    call = ToolCall("bash", {"command": "cat a"})
    first, other = (Step(Source("t"), calls=(call,), observations=(Observation(text),)) for text in ("10 %", "20 %"))
    assert label(made.facts[1], made, steps=(first, other))[0] == 0
    assert label(made.facts[1], made, steps=(first, first))[0] == -1


def test_a_message_that_led_to_nothing() -> None:
    step = Step(Source("trace"), message="ls and cat")
    fact = facts(Leaf("n0", 1, step), effects(step), CRASHED)
    assert label(fact, ActionLinks([fact])) == (-1, "The message led to nothing: `KeyError: 'amount'`.")
