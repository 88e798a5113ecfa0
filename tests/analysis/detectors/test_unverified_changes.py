"""Changes that nothing ran or read."""

from __future__ import annotations

import pytest
from made_attempt import Action, analysed, assess, attempt, described, found, state, the, trajectory

from dense.trajectory import Observation, Source, Step, ToolCall

DONE = "It is done."
PROGRAM = ("cat > solve.py <<'E'\nprint(1)\nE", "")
TEXT = ("cat > notes.txt <<'E'\nhello\nE", "")


@pytest.mark.parametrize(
    ("task", "actions"),
    [("Write `notes.txt`.", (TEXT,)), ("Tidy up.", (PROGRAM,))],
)
def test_a_deliverable_or_a_program_that_nobody_looked_at_is_reported(task: str, actions: tuple[Action, ...]) -> None:
    assessment = analysed(task, *actions, DONE)
    assert not the(assessment, "unverified_change").is_serious
    assert "changed at a1, and nothing ran it" in described(assessment, "unverified_change")


@pytest.mark.parametrize(
    ("task", "actions"),
    [
        ("Tidy up.", (TEXT,)),
        ("Write `notes.md`.", (("cat > notes.md <<'E'\nhello\nE", ""),)),
        ("Write `solve.py`. No need to run it.", (PROGRAM,)),
        ("Write `solve.py`.", (PROGRAM, ("ls", "README.md\nsolve.py"))),
        ("Write `solve.py`.", (PROGRAM, ("git add -A && git commit -m x", ""))),
        ("Tidy up.", (PROGRAM, ("rm solve.py", ""))),
    ],
)
def test_anything_else_is_not(task: str, actions: tuple[Action, ...]) -> None:
    assert not found(analysed(task, *actions, DONE), "unverified_change")


@pytest.mark.parametrize(
    ("command", "output", "is_shown"),
    [
        ("mv /app/old.txt /app/new.txt && ls /app", "new.txt", True),
        ("echo 1 > /app/new.txt && cat /app/new.txt", "1", True),
        ("sed -i s/a/b/ /app/new.txt && git diff --stat", " new.txt | 2 +-", True),
        ("echo 1 > /app/new.txt", "", False),
        ("echo 1 > /app/new.txt && ls /data", "other.txt", False),
        ("cp -v /app/a.txt /app/new.txt", "'/app/a.txt' -> '/app/new.txt'", False),
        ("cat in.txt > /app/new.txt", "$ cat in.txt > /app/new.txt", False),
    ],
)
def test_a_command_may_show_its_own_change(command: str, output: str, is_shown: bool) -> None:
    task = "Write the number to `/app/new.txt`."
    assert bool(found(analysed(task, (command, output), DONE), "unverified_change")) != is_shown


@pytest.mark.parametrize(("path", "is_serious"), [("notes.txt", False), ("query.sparql", True)])
def test_it_is_serious_if_the_task_names_the_file_and_it_is_no_plain_text(path: str, is_serious: bool) -> None:
    run = attempt(f"Write `{path}`.", (f"cat > {path} <<'E'\nhello\nE", ""), DONE)
    assert the(assess(run), "unverified_change").is_serious == is_serious
    assert state(run) == "unknown"


@pytest.mark.parametrize(
    ("path", "answer", "is_shown"),
    [
        ("/app/new.txt", "The file was updated:\n     1\t12\n     2\t13", True),
        ("/app/new.txt", "The file was updated.", False),
        ("/app/new.py", "The file was updated:\n     1\t12\n     2\t13", False),
    ],
)
def test_the_snippet_of_an_edit_shows_it_but_does_not_run_it(path: str, answer: str, is_shown: bool) -> None:
    call = ToolCall("Edit", {"file_path": path, "old_string": "11", "new_string": "12"}, "1")
    edit = Step(Source("made"), "", "", (call,), (Observation(answer, "1"),))
    whole = trajectory(f"Write the number to `{path}`.", edit, Step(Source("made"), DONE))
    assert bool(found(assess(whole), "unverified_change")) != is_shown


def test_a_patch_that_was_only_read_back_is_a_doubt() -> None:
    """As in the corpus's nano-output/django__django-12304."""
    submit = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git add -A && git diff --cached"
    diff = "diff --git a/shop/x.py b/shop/x.py\n--- a/shop/x.py\n+++ b/shop/x.py\n@@ -1 +1 @@\n-x = 0\n+x = 1\n"
    edit, look = ("sed -i 's/x = 0/x = 1/' shop/x.py", ""), ("cat shop/x.py", "x = 1")
    assessment = analysed("Totals are wrong.", edit, look, (submit, diff))
    assert not the(assessment, "unverified_change").is_serious
    assert "changed at a1, and nothing ran later." in described(assessment, "unverified_change")
    run = ("python3 -m unittest", "Ran 4 tests in 0.1s\n\nOK")
    assert not found(analysed("Totals are wrong.", edit, look, run, (submit, diff)), "unverified_change")
    assert not found(analysed("Totals are wrong.", edit, look, "Done."), "unverified_change")
