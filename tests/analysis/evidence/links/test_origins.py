"""What shows that something is done, and what only repeats what the agent typed."""

from __future__ import annotations

import pytest
from made_attempt import Action, attempt, evidence_of

from dense.analysis.rules import RulesAnalyst
from dense.analysis.wording.facets import facet_text
from dense.service import distill_sync
from dense.trajectory import Task
from dense.tree import ReconciledTree, Subtask

DONE = "Done."
FIND = "Find the password and write it to `/app/pw.txt`."
WRITE: tuple[Action, ...] = (("echo hunter2 > /app/pw.txt", ""), ("cat /app/pw.txt", "hunter2"))


def tree(task: str | None, *actions: Action) -> ReconciledTree:
    return distill_sync(attempt(task, *actions), RulesAnalyst()).reconciled


def state(task: str | None, *actions: Action) -> str:
    verdict = tree(task, *actions).root.verdict
    assert verdict is not None
    return verdict.state


def test_a_guess_read_back_shows_nothing() -> None:
    assert state(FIND, *WRITE, DONE) == "unknown"
    assert state(FIND, ("strings a.bin", "x\nhunter2\n"), *WRITE, DONE) == "complete"
    assert state("Write hunter2 to `/app/pw.txt`.", *WRITE, DONE) == "complete"
    assert state(FIND, ("./crack > /app/pw.txt", ""), ("cat /app/pw.txt", "hunter2"), DONE) == "complete"


@pytest.mark.parametrize(
    ("seen", "text", "typed", "is_guess"),
    [
        ("nothing", "flag: ab_cd", "echo 'flag: ab_cd' > f", True),
        ("it is ab_cd", "flag: pico{ab_cd}", "echo 'flag: pico{ab_cd}' > f", False),
        ("From: Ada Lovelace", "pico{AdaLovelace}", "echo 'pico{AdaLovelace}' > f", False),
        ("nothing", "3", "python3 count.py > f", False),
        ("nothing", "3", "echo 3 > f", True),
        ("nothing", "two\nlines", "printf 'two\\nlines' > f", False),
        ("[image]", "ab_cd", "echo ab_cd > f", False),
    ],
)
def test_where_a_value_comes_from(seen: str, text: str, typed: str, is_guess: bool) -> None:
    evidence = evidence_of("Write it.", ("cat a", seen), (typed, ""), DONE)
    assert evidence.origins.is_guess(text, 2) == is_guess
    assert isinstance(evidence.task, Task)


def test_a_guess_is_described_as_one() -> None:
    text = tree(None, ("ls", "flag.png"), *WRITE, ("ls", "a"), ("file flag.png", "flag.png: PNG image data"), DONE)
    parts = [part for part in text.root.children if isinstance(part, Subtask)]
    words = " ".join(
        [
            text.root.summary,
            *[part.summary for part in parts],
            *[facet_text(part.facets, "artifacts") for part in parts],
        ]
    )
    assert "no output had shown that" in words
    assert "showed `hunter2`" not in words
    assert "read back: `hunter2`" not in words


def test_to_look_at_a_file_that_was_there_shows_nothing() -> None:
    edit = ("sed -i s/x/y/ src/app.py", "")
    look = ("cat src/app.py", "y = 1")
    assert state("Fix the bug in `src/app.py`.", edit, look, DONE) == "unknown"
    rewrite = ("cat > src/app.py <<'E'\ny = 1\nE", "")
    run = ("python3 src/app.py && pytest -q tests", "3 passed in 0.1s")
    assert state("Fix the bug in `src/app.py`.", look, rewrite, look, DONE) == "unknown"
    assert state("Write a module `src/app.py`.", rewrite, run, look, DONE) == "complete"


def test_a_test_of_the_agents_own_shows_nothing() -> None:
    task = "Make the sums right; `python3 -m pytest -q` must pass."
    edit, own = ("sed -i s/x/y/ app.py", ""), ("echo 'def test(): pass' > test_own.py", "")
    passes = "1 passed in 0.1s"
    assert state(task, edit, own, ("python3 -m pytest -q test_own.py", passes), DONE) == "unknown"
    assert state(task, edit, ("python3 -m pytest -q", passes), DONE) == "complete"


def test_a_test_that_was_changed_shows_nothing() -> None:
    task = "Mend the loader so that all tests in `tests/test_l.py` pass."
    edit, check = ("sed -i s/x/y/ app.py", ""), ("pytest tests/test_l.py", "3 passed in 0.1s")
    assert state(task, edit, check, DONE) == "complete"
    assert state(task, edit, ("sed -i '/def test_t/,/^$/d' tests/test_l.py", ""), check, DONE) == "unknown"


def test_a_limit_of_what_is_asked_for_is_not_shown_by_the_file() -> None:
    task = "Write a CSV `/app/o.csv` with at least 10 rows."
    assert state(task, ("./make_table > /app/o.csv", ""), ("cat /app/o.csv", "a\n1"), DONE) == "unknown"
