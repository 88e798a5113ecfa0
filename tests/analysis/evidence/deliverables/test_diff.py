"""The diff that an attempt submits, and its words."""

from __future__ import annotations

from made_attempt import attempt, evidence_of

from dense.analysis.evidence.deliverables.products import SubmittedDiff
from dense.analysis.rules import RulesAnalyst
from dense.analysis.wording.handovers import describe_diff
from dense.service import distill_sync
from dense.trajectory import Trajectory

SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git add -A && git diff --cached"
CHANGE = """diff --git a/src/app.py b/src/app.py
index 1..2 100644
--- a/src/app.py
+++ b/src/app.py
@@ -1,3 +1,4 @@
 x
-old
+new
+more
 y
"""
NEW = """diff --git a/{0} b/{0}
new file mode 100644
index 000..1
--- /dev/null
+++ b/{0}
@@ -0,0 +1,2 @@
+a
+b
"""
EDIT = ("sed -i s/old/new/ src/app.py", "")


def submitted(text: str, task: str = "Fix the bug.") -> SubmittedDiff:
    diff = evidence_of(task, EDIT, ("mkdir -p stub && touch stub/x.py", ""), (SUBMIT, text)).submitted_diff
    assert diff is not None
    return diff


def summary(trajectory: Trajectory) -> str:
    return distill_sync(trajectory, RulesAnalyst()).reconciled.root.summary


def test_files_with_their_lines() -> None:
    diff = submitted(CHANGE)
    assert describe_diff(diff) == "Handed in a change of `src/app.py` (+2 −1)."
    assert diff.holds("/repo/src/app.py") and not diff.holds("src/other.py")


def test_files_that_nobody_asked_for() -> None:
    text = CHANGE + NEW.format("repro.py") + NEW.format("stub/x.py") + NEW.format("src/part.py")
    assert describe_diff(submitted(text)) == (
        "Handed in a change of `src/app.py` (+2 −1) and `src/part.py` (new, 2 lines). "
        "New in it, and not named by the task: `repro.py` and `stub/`."
    )
    assert submitted(CHANGE + NEW.format("repro.py"), "Write `repro.py`.").unrequested == ()


def test_no_existing_file_is_changed() -> None:
    words = describe_diff(submitted(NEW.format("stub/x.py")))
    assert words == "Handed in only what the task does not name: `stub/`. No file that was there before is changed."


def test_a_diff_that_was_cut_lacks_nothing() -> None:
    cut = submitted(NEW.format("src/new.py") + "<warning> output elided </warning>\n")
    assert not cut.is_whole
    assert "No file" not in describe_diff(cut)


def test_an_earlier_diff_is_not_the_submission() -> None:
    assert evidence_of("Fix it.", EDIT, ("git diff", CHANGE), "It is fixed.").submitted_diff is None


def test_the_summary_leads_with_the_diff_and_not_with_temporary_files() -> None:
    words = summary(
        attempt(
            "Fix the bug.",
            ("cat src/app.py", "x\nold\ny"),
            ("cat > fix.py <<'E'\np = 'src/app.py'\nopen(p, 'w').write('new')\nE", ""),
            ("python3 fix.py", ""),
            ("cat src/app.py", "x\nnew\ny"),
            ("cat > repro.py <<'E'\nimport app\nprint(app.total())\nE", ""),
            ("python3 repro.py", "12"),
            ("rm repro.py fix.py", ""),
            (SUBMIT, CHANGE),
        )
    )
    assert words.startswith("Handed in a change of `src/app.py` (+2 −1).")
    assert "wrote `repro.py`" not in words.lower()
    assert "fix.py" not in words, "the diff shows what it changed"


def test_a_pass_from_before_the_last_change_says_so() -> None:
    words = summary(
        attempt(
            "Fix the bug.",
            EDIT,
            ("pytest -q tests/test_app.py", "..\n2 passed in 0.1s"),
            ("cat src/other.py", "z"),
            ("git checkout src/app.py", "Updated 1 path from the index"),
            ("cat src/app.py", "x\nold\ny"),
            ("sed -i 's/old/newer/' src/app.py", ""),
            (SUBMIT, CHANGE),
        )
    )
    assert "both tests pass, before the last change." in words


def test_a_reverted_change_is_no_product() -> None:
    evidence = evidence_of("Fix it.", EDIT, ("git checkout src/app.py", "Updated 1 path"), "Nothing is to be done.")
    assert evidence.products == {}
    assert not evidence.survives("src/app.py")


def test_a_file_may_be_removed_with_its_folder_or_by_a_pattern() -> None:
    wrote = ("mkdir -p demo && touch demo/a.py test_1.py keep.py", "")
    evidence = evidence_of("Fix it.", wrote, ("rm -rf demo", ""), ("rm test_*.py", ""), "Done.")
    assert [evidence.survives(path) for path in ("demo/a.py", "test_1.py", "keep.py")] == [False, False, True]
