"""What a submitted diff shows against the work."""

from __future__ import annotations

import pytest
from made_attempt import analysed, assess, attempt, described, found, state, the

SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git add -A && git diff --cached"
NEW = "diff --git a/trial/x.py b/trial/x.py\nnew file mode 100644\n--- /dev/null\n@@ -0,0 +1 @@\n+x = 1\n"
OLD = "diff --git a/shop/x.py b/shop/x.py\n--- a/shop/x.py\n+++ b/shop/x.py\n@@ -1 +1 @@\n-x = 0\n+x = 1\n"
MADE = ("mkdir trial && echo 'x = 1' > trial/x.py", "")


def test_files_that_the_task_names_are_asked_for() -> None:
    assert found(analysed("Totals are wrong.", MADE, (SUBMIT, NEW)), "unrequested_files")
    assert not found(analysed("Write `trial/x.py`.", MADE, (SUBMIT, NEW)), "unrequested_files")


def test_files_that_nobody_asked_for_beside_a_change_are_a_doubt() -> None:
    top = NEW.replace("trial/x.py", "repro.py")
    run = attempt("Totals are wrong.", ("echo 1 > repro.py", ""), (SUBMIT, OLD + top))
    finding = the(assess(run), "unrequested_files")
    assert (finding.texts("files"), finding.is_serious) == (("repro.py",), False)
    assert "`repro.py`, which nobody asked for" in described(assess(run), "unrequested_files")
    assert not found(analysed("Totals are wrong.", (SUBMIT, OLD)), "unrequested_files")


TEST = "diff --git a/tests/test_x.py b/tests/test_x.py\n--- a/tests/test_x.py\n+++ b/tests/test_x.py\n@@ -1,2 +1,2 @@\n"
EDIT = ("sed -i 's/x = 0/x = 1/' shop/x.py", "")


def test_a_rewritten_expectation_is_reported() -> None:
    """As in the corpus's django-11141, django-11885, django-15695, sympy-13852, sympy-16597 and astropy-13033."""
    rewritten = f"{TEST} from shop import x\n-assert x.x == 0\n+assert x.x == 1\n"
    run = attempt("Totals are wrong.", EDIT, ("sed -i 's/0/1/' tests/test_x.py", ""), (SUBMIT, OLD + rewritten))
    finding = the(assess(run), "expectation_rewritten")
    assert (finding.evidence, finding.text("line")) == ((2, 3), "assert x.x == 0")
    assert "`assert x.x == 0`" in described(assess(run), "expectation_rewritten")
    assert state(run) == "unknown"


@pytest.mark.parametrize(
    "lines",
    [
        "+assert x.y == 1\n",  # another test beside it
        "-from shop import x\n+from shop import x, y\n+assert y == 1\n",
        "-'Return type'\n",  # as in the corpus's sphinx-10449, which passed
        "-assert x.x == 0\n",
    ],
)
def test_a_test_with_more_or_less_in_it_is_not(lines: str) -> None:
    assert not found(analysed("Totals are wrong.", EDIT, (SUBMIT, f"{OLD}{TEST}{lines}")), "expectation_rewritten")
    new = f"{TEST}-assert 1\n+assert 2\n".replace("--- a", "new file mode 100644\n--- a", 1)
    assert not found(analysed("Totals are wrong.", EDIT, (SUBMIT, OLD + new)), "expectation_rewritten")


def test_a_change_that_the_submission_does_not_hold_is_reported() -> None:
    """As in the corpus's sphinx-9602: the edit matched nothing, and the environment differed from the repository."""
    other = OLD.replace("shop/x.py", "setup.cfg")
    run = attempt("Totals are wrong.", EDIT, (SUBMIT, other))
    assert the(assess(run), "changes_not_submitted").texts("files") == ("shop/x.py",)
    assert "`shop/x.py`" in described(assess(run), "changes_not_submitted")
    assert state(run) == "incomplete"
    by_program = ("python3 - << 'EOF'\nfix('setup.cfg')\nEOF", "")
    assert not found(analysed("Totals are wrong.", EDIT, by_program, (SUBMIT, other)), "changes_not_submitted")
    assert not found(analysed("Totals are wrong.", EDIT, (SUBMIT, OLD)), "changes_not_submitted")
