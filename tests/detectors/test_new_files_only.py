"""A submission that only adds files."""

from __future__ import annotations

import pytest
from made_attempt import analysed, assess, attempt, described, found, state, the

SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git add -A && git diff --cached"
NEW = "diff --git a/trial/x.py b/trial/x.py\nnew file mode 100644\n--- /dev/null\n@@ -0,0 +1 @@\n+x = 1\n"
OLD = "diff --git a/shop/x.py b/shop/x.py\n--- a/shop/x.py\n+++ b/shop/x.py\n@@ -1 +1 @@\n-x = 0\n+x = 1\n"
MADE = ("mkdir trial && echo 'x = 1' > trial/x.py", "")


def test_a_submission_that_changes_nothing_of_the_project_is_reported() -> None:
    run = attempt("Totals are wrong.", MADE, (SUBMIT, NEW))
    assert the(assess(run), "only_new_files").is_serious
    assert "trial/x.py" in described(assess(run), "only_new_files")
    assert state(run) == "incomplete"


@pytest.mark.parametrize(("task", "diff"), [("Totals are wrong.", OLD + NEW), ("Write `trial/x.py`.", NEW)])
def test_one_with_a_change_or_a_deliverable_is_not(task: str, diff: str) -> None:
    assert not found(analysed(task, MADE, (SUBMIT, diff)), "only_new_files")


def test_files_that_nobody_asked_for_beside_a_change_are_a_doubt() -> None:
    top = NEW.replace("trial/x.py", "repro.py")
    run = attempt("Totals are wrong.", ("echo 1 > repro.py", ""), (SUBMIT, OLD + top))
    finding = the(assess(run), "unrequested_files")
    assert (finding.texts("files"), finding.is_serious) == (("repro.py",), False)
    assert "`repro.py`, which nobody asked for" in described(assess(run), "unrequested_files")
    assert not found(analysed("Totals are wrong.", (SUBMIT, OLD)), "unrequested_files")
