"""Messages that the harness rejected."""

from __future__ import annotations

import pytest
from made_attempt import Action, assess, attempt, described, found, state, the, trajectory

from dense.trajectory import Observation, Source, Step, Trajectory

DONE = "It is done."
EDIT = ("sed -i 's/a - b/a + b/' shop/cart.py", "")
TASK = "Fix `shop/cart.py`."


def rejected(code: str, *later: Action, before: tuple[Action, ...] = ()) -> Trajectory:
    message = f"Now I change it.\n\n```bash\n{code}\n"
    no = Observation("Please always provide EXACTLY ONE action in triple backticks, found 0 actions.", origin="system")
    first = attempt(TASK, ("cat shop/cart.py", "a - b"), *before).steps
    return trajectory(TASK, *first, Step(Source("made"), message, observations=(no,)), *attempt(TASK, *later).steps)


def test_a_change_in_a_rejected_message_was_never_made() -> None:
    run = rejected(EDIT[0], DONE, before=(("sed -i s/x/y/ shop/tax.py", ""),))
    finding = the(assess(run), "message_rejected")
    assert (finding.subject, finding.evidence, finding.is_serious) == ("shop/cart.py", (3,), True)
    assert "found 0 actions" in described(assess(run), "message_rejected")
    assert state(run) != "complete"


def test_a_new_file_in_a_rejected_message_is_a_doubt() -> None:
    run = rejected("echo 'print(1)' > shop/try_cart.py", DONE, before=(EDIT,))
    assert not the(assess(run), "message_rejected").is_serious


def test_a_run_in_a_rejected_message_never_ran() -> None:
    run = rejected("python try_cart.py", DONE, before=(EDIT,))
    assert "`python try_cart.py` in it never ran" in described(assess(run), "message_rejected")


@pytest.mark.parametrize(
    ("code", "later"),
    [
        (EDIT[0], EDIT),
        ("python try_cart.py", ("python try_cart.py", "3")),
        ("cat shop/other.py", ("ls", "shop")),
    ],
)
def test_what_was_done_later_is_not_reported(code: str, later: Action) -> None:
    assert not found(assess(rejected(code, later, DONE)), "message_rejected")
