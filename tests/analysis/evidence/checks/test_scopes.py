"""What commands check, and whether two spellings are one command."""

from __future__ import annotations

import pytest

from dense.analysis.evidence.checks.scopes import is_same_run, runs_alike, scope


def test_what_a_command_names() -> None:
    assert scope("python3.9 -m pytest -p no:cacheprovider").subjects == frozenset()
    assert scope("py.test tests/test_a.py::test_one -q").subjects == {"test_a", "test_one"}
    assert scope("pytest tests -k 'not slow'").excluded == ("slow",)
    assert scope("python manage.py test app.tests.A").labels == ("app.tests.A",)
    assert scope("pytest tests/unit").folders == ("tests/unit",)
    assert scope("").subjects == frozenset()


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("python bill.py all", "python3 bill.py all"),
        ("python bill.py all", "cd /app && timeout 9 python3 -u bill.py all 2>&1 | tail -3"),
        ("python bill.py all", "/app/.venv/bin/python /app/bill.py all > out.txt"),
        ("./bill.sh --fast a.txt", "bash bill.sh --fast a.txt; echo done"),
        ("bash bill.sh", "./bill.sh"),
    ],
)
def test_a_command_is_recognised_in_other_spellings(command: str, text: str) -> None:
    assert runs_alike(command, text)


@pytest.mark.parametrize("text", ["python bill.py", "python bill.py all x", "python other.py all", "cat bill.py"])
def test_another_command_is_not(text: str) -> None:
    assert not runs_alike("python bill.py all", text)


@pytest.mark.parametrize(
    ("command", "other", "is_same"),
    [
        ("pytest -q", "python3 -m pytest -q -p no:cacheprovider", True),
        ("bash /app/run_tests.sh", "bash run_tests.sh", True),
        ("pytest -q", "pytest -q tests/test_one.py", False),
        ("make check", "make speed", False),
    ],
)
def test_the_same_run_may_have_other_options(command: str, other: str, is_same: bool) -> None:
    assert is_same_run(command, other) == is_same
