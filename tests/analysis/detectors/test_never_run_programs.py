"""Programs that the task asks for and that nothing ran."""

from __future__ import annotations

import pytest
from made_attempt import Action, analysed, attempt, described, found, state, the

DONE = "It is done."
PROGRAM = ("cat > solve.py <<'E'\nprint(1)\nE", "")
LOOK = ("cat solve.py", "print(1)")
TASK = "Write a program `solve.py`."


def test_a_program_that_was_only_looked_at_is_reported() -> None:
    assessment = analysed(TASK, PROGRAM, LOOK, DONE)
    assert the(assessment, "program_never_run").is_serious
    assert "`solve.py`. It was written at a1 and never run." in described(assessment, "program_never_run")
    assert state(attempt(TASK, PROGRAM, LOOK, DONE)) == "incomplete"


@pytest.mark.parametrize(
    ("task", "actions"),
    [
        (TASK, (PROGRAM, ("python3 solve.py", "1"))),
        (TASK, (PROGRAM, ('python3 -c "import solve"', "1"))),
        (f"{TASK} Do not run it.", (PROGRAM, LOOK)),
        ("Fix the bug in `solve.py`.", (LOOK, PROGRAM, LOOK)),
    ],
)
def test_one_that_something_ran_or_that_was_there_before_is_not(task: str, actions: tuple[Action, ...]) -> None:
    assert not found(analysed(task, *actions, DONE), "program_never_run")
