"""The last action, if it failed and no other finding covers it."""

from __future__ import annotations

import pytest
from made_attempt import Action, analysed, assess, attempt, found, state, the, trajectory

from dense.analysis.rules import RulesAnalyst
from dense.service import distill_sync
from dense.trajectory import Observation, Source, Step, ToolCall

DONE = "It is done and works."
COMMIT = ("git commit -am totals", "[main 1f2e3d4] totals\n 1 file changed")
REJECTED = ("git push origin main", " ! [rejected] main -> main (fetch first)\nerror: failed to push some refs", 1)
PUSHED = ("git push origin main", "To example.org:a/b.git\n   aa11..bb22  main -> main")
CONFLICT = ("git merge topic", "Auto-merging a.py\nCONFLICT (content): Merge conflict in a.py", 1)
EDIT = ("sed -i s/a/b/ app.py", "")


@pytest.mark.parametrize(
    "actions",
    [
        (COMMIT, REJECTED),
        (("apt-get install -y nginx", "E: Unable to locate package nginx", 100),),
        (("mkdir -p out", ""), ("echo hello > /etc/issue", "bash: /etc/issue: Permission denied", 1)),
    ],
)
def test_what_failed_last_leaves_the_state_unknown(actions: tuple[Action, ...]) -> None:
    run = attempt("Finish the change.", *actions, DONE)
    assert not the(assess(run), "last_action_failed").is_serious
    assert state(run) == "unknown"


@pytest.mark.parametrize(
    "actions",
    [
        (COMMIT, REJECTED, ("git pull --rebase", "Successfully rebased"), PUSHED),
        (("pip install numpi", "ERROR: No matching distribution found for numpi", 1), ("python solve.py", "42")),
        (EDIT, ("python app.py", "42"), ("pkill -f server", "", 1)),
        (EDIT, ("python app.py", "42"), ("rm notes.txt", "rm: cannot remove 'notes.txt'", 1)),
        (EDIT, ("git commit -am x", "nothing to commit, working tree clean", 1)),
        (("python repro.py", "bash: cannot open", 2), ("cat app.py", "x = 1")),
        (("cat missing.txt", "cat: missing.txt: No such file or directory", 1),),
    ],
)
def test_what_worked_later_or_does_not_matter_opens_nothing(actions: tuple[Action, ...]) -> None:
    assert not found(analysed("Fix the app and push it.", *actions, DONE), "last_action_failed")


def test_what_was_expected_to_fail_opens_nothing() -> None:
    call = ToolCall("bash", {"command": "echo x > /etc/issue"}, "c1")
    denied = Observation("bash: /etc/issue: Permission denied", "c1", exit_code=1)
    steps = Step(Source("made"), "Try it.", "", (call,), (denied,)), Step(Source("made"), "It fails, as expected.")
    assert not found(assess(trajectory("See whether you may write.", *steps)), "last_action_failed")


def test_the_summary_reports_the_failure_before_the_claim() -> None:
    run = attempt("Commit the change and push it.", COMMIT, REJECTED, "All is pushed.")
    summary = distill_sync(run, RulesAnalyst()).reconciled.root.summary
    assert 0 <= summary.find("failed to push") < summary.find("All is pushed")
