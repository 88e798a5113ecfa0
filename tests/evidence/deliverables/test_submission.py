"""What is handed in, by the diff at the end."""

from __future__ import annotations

from made_attempt import analysed, attempt

from dense.analyst.rules import RulesAnalyst
from dense.evidence.deliverables.submission import Submission
from dense.service import distill_sync
from dense.trajectory import Trajectory

HAND_IN = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git add -A && git diff --cached"
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


def handed_in(text: str, task: str = "Fix the bug.") -> Submission:
    found = analysed(task, EDIT, ("mkdir -p stub && touch stub/x.py", ""), (HAND_IN, text)).submission
    assert found is not None
    return found


def summary(trajectory: Trajectory) -> str:
    return distill_sync(trajectory, RulesAnalyst()).reconciled.root.summary


def test_the_files_with_their_lines() -> None:
    assert handed_in(CHANGE).told == "Handed in a change of `src/app.py` (+2 −1)."


def test_what_is_left_lying_about() -> None:
    text = CHANGE + NEW.format("repro.py") + NEW.format("stub/x.py") + NEW.format("src/part.py")
    assert handed_in(text).told == (
        "Handed in a change of `src/app.py` (+2 −1) and `src/part.py` (new, 2 lines). "
        "New in it, and not named by the task: `repro.py` and `stub/`."
    )


def test_what_the_task_names_is_not_left_lying_about() -> None:
    assert "repro.py` (new, 2 lines)." in handed_in(CHANGE + NEW.format("repro.py"), "Write `repro.py`.").told


def test_nothing_that_was_there_is_changed() -> None:
    told = handed_in(NEW.format("stub/x.py")).told
    assert told == "Handed in only what the task does not name: `stub/`. No file that was there before is changed."


def test_of_a_diff_that_was_cut_nothing_is_said_to_be_missing() -> None:
    cut = handed_in(NEW.format("src/new.py") + "<warning> output elided </warning>\n")
    assert not cut.is_whole
    assert "No file" not in cut.told


def test_a_diff_on_the_way_is_not_handed_in() -> None:
    assert analysed("Fix it.", EDIT, ("git diff", CHANGE), "It is fixed.").submission is None


def test_scratch_files_are_not_led_with() -> None:
    """The summary of the whole tells what is handed in, not what was written to find something out."""
    run = attempt(
        "Fix the bug.",
        ("cat src/app.py", "x\nold\ny"),
        ("cat > fix.py <<'E'\np = 'src/app.py'\nopen(p, 'w').write('new')\nE", ""),
        ("python3 fix.py", ""),
        ("cat src/app.py", "x\nnew\ny"),
        ("cat > repro.py <<'E'\nimport app\nprint(app.total())\nE", ""),
        ("python3 repro.py", "12"),
        ("rm repro.py fix.py", ""),
        (HAND_IN, CHANGE),
    )
    told = summary(run)
    assert told.startswith("Handed in a change of `src/app.py` (+2 −1).")
    assert "wrote `repro.py`" not in told.lower()
    assert "`python3 fix.py` (changes `src/app.py`)" in told


def test_a_pass_from_before_the_last_change_says_so() -> None:
    passes = ("pytest -q tests/test_app.py", "..\n2 passed in 0.1s")
    run = attempt(
        "Fix the bug.",
        EDIT,
        passes,
        ("cat src/other.py", "z"),
        ("git checkout src/app.py", "Updated 1 path from the index"),
        ("cat src/app.py", "x\nold\ny"),
        ("sed -i 's/old/newer/' src/app.py", ""),
        (HAND_IN, CHANGE),
    )
    told = summary(run)
    assert "both tests pass, before the last change." in told
    assert "2 tests pass." not in told


def test_what_was_taken_back_is_no_product() -> None:
    run = analysed("Fix it.", EDIT, ("git checkout src/app.py", "Updated 1 path"), "Nothing is to be done.")
    assert run.products == {}
    assert run.did(2) == "took back the changes of `src/app.py`"
    assert run.history.is_gone("src/app.py")


def test_removed_with_its_folder_or_by_a_pattern() -> None:
    wrote = ("mkdir -p demo && touch demo/a.py test_1.py keep.py", "")
    gone = analysed("Fix it.", wrote, ("rm -rf demo", ""), ("rm test_*.py", ""), "Done.").history
    assert [gone.is_gone(path) for path in ("demo/a.py", "test_1.py", "keep.py")] == [True, True, False]


def test_moved_is_not_gone() -> None:
    moved = analysed("Fix it.", ("mkdir -p demo && touch demo/a.py", ""), ("mv demo src", ""), "Done.").history
    assert not moved.is_gone("demo/a.py")
