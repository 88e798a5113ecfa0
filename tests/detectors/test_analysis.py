"""What opens an issue, what closes it, and what neither does."""

from __future__ import annotations

import msgspec
import pytest
from made_attempt import Action, analysed, attempt, dialog

from dense.analyst.rules import RulesAnalyst
from dense.detectors.finding import Finding
from dense.detectors.findings import Analysis
from dense.evidence.actions import EffectsCache
from dense.service import distill_sync
from dense.trajectory import Observation, Source, Step, ToolCall, Trajectory
from dense.tree import leaves

EDIT = ("sed -i s/a/b/ app.py", "")
FAILS = (
    "pytest -q tests/test_app.py",
    "F.\nFAILED tests/test_app.py::test_sum - assert 1 == 2\n1 failed, 1 passed in 0.1s",
    1,
)
PASSES = ("pytest -q tests/test_app.py", "..\n2 passed in 0.1s")
DONE = "It is done and works."


def found(analysis: Analysis, kind: str) -> list[Finding]:
    return [one for one in analysis.findings if one.kind == kind]


def the(analysis: Analysis, kind: str) -> Finding:
    (only,) = found(analysis, kind)
    return only


def state(trajectory: Trajectory) -> str:
    verdict = distill_sync(trajectory, RulesAnalyst()).reconciled.root.verdict
    assert verdict is not None
    return verdict.state


# Checks


def test_a_check_that_fails_after_a_change_is_open() -> None:
    finding = the(analysed(None, EDIT, FAILS, DONE), "failed_check")
    assert finding.closed is None
    assert finding.is_serious
    assert finding.evidence == (2,)
    assert "test_sum" in finding.text
    assert "pytest -q tests/test_app.py" in finding.text


def test_only_a_later_pass_of_the_same_check_closes_it() -> None:
    assert the(analysed(None, EDIT, FAILS, EDIT, PASSES, DONE), "failed_check").closed == 4
    assert the(analysed(None, EDIT, FAILS, EDIT, ("python app.py", "fine"), DONE), "failed_check").closed is None
    other = ("pytest -q tests/test_other.py", "3 passed in 0.1s")
    assert the(analysed(None, EDIT, FAILS, EDIT, other, DONE), "failed_check").closed is None


def test_a_run_of_everything_closes_it_too() -> None:
    assert the(analysed(None, EDIT, FAILS, EDIT, ("pytest", "40 passed in 1s"), DONE), "failed_check").closed == 4


def test_one_test_of_a_file_does_not_close_the_failure_of_others() -> None:
    other = ("pytest -q tests/test_app.py::test_max", "1 passed in 0.1s")
    assert the(analysed(None, EDIT, FAILS, EDIT, other, DONE), "failed_check").closed is None
    same = ("pytest -q tests/test_app.py::test_sum", "1 passed in 0.1s")
    assert the(analysed(None, EDIT, FAILS, EDIT, same, DONE), "failed_check").closed == 4


def test_a_script_that_runs_some_test_does_not_close_it() -> None:
    script = ("./reproduce.sh", "1 passed in 0.1s")
    assert the(analysed(None, EDIT, FAILS, EDIT, script, DONE), "failed_check").closed is None


def test_the_word_of_the_agent_closes_nothing() -> None:
    assert state(attempt(None, EDIT, FAILS, EDIT, "All tests pass now, everything is fixed.")) == "incomplete"


def test_a_check_that_failed_before_anything_was_changed_is_not_serious() -> None:
    finding = the(analysed(None, FAILS, EDIT, ("git diff", "-a\n+b"), DONE), "failed_check")
    assert not finding.is_serious


def test_unless_the_task_names_it() -> None:
    task = "Make `app.py` fast. `python3 check_speed.py` must report that it stays within 2 seconds."
    slow = ("python3 check_speed.py", "5.9 s, limit 2.0 s: TOO SLOW", 1)
    finding = the(analysed(task, slow, EDIT, ("python3 app.py", "ok"), DONE), "failed_check")
    assert finding.is_serious
    assert "TOO SLOW" in finding.text
    assert the(
        analysed(task, slow, EDIT, ("python3 check_speed.py", "1.1 s, limit 2.0 s: ok"), DONE), "failed_check"
    ).closed


def test_a_failure_that_was_there_before_is_not_the_attempts_own() -> None:
    finding = the(analysed(None, FAILS, EDIT, FAILS, DONE), "failed_check")
    assert finding.evidence == (3,)
    assert not finding.is_serious


@pytest.mark.parametrize(
    "could_not_run",
    [
        ("pytest -q", "/usr/bin/python3: No module named pytest", 1),
        ("pytest -q", "bash: pytest: command not found", 127),
        ("pytest -q tests", "ERROR tests/test_app.py\n2 errors in 0.3s", 2),
        ("pytest -q tests/none", "no tests ran in 0.00s", 5),
        ("npm test -- text.test.ts", "Request was aborted.", 1),
        ("./test", "bash: /opt/build/bin/ponyc: No such file or directory", 127),
    ],
)
def test_a_check_that_could_not_run_says_nothing(could_not_run: Action) -> None:
    assert not found(analysed(None, EDIT, could_not_run, DONE), "failed_check")


def test_a_check_of_texts_is_not_serious() -> None:
    complaint = ("npx tsc --noEmit", "src/old.ts(5,4): error TS2353: Object literal may only specify known", 2)
    assert not any(one.is_serious for one in analysed(None, EDIT, complaint, DONE).findings)


def test_each_call_of_an_action_is_a_check_of_its_own() -> None:
    trajectory = attempt("`python3 check.py` must pass.", EDIT, ("true", ""), DONE)
    both = attempt(
        None, ("python3 -m unittest", "Ran 4 tests in 0.1s\n\nOK"), ("python3 check.py", "too slow", 1)
    ).steps
    first, second = both
    joined = type(first)(first.source, "", "", first.calls + second.calls, first.observations + second.observations)
    steps = (trajectory.steps[0], joined, trajectory.steps[2])
    analysis = Analysis(
        Trajectory("made", "made", trajectory.source, task=trajectory.task, steps=steps), EffectsCache()
    )
    assert [(check.runner, check.has_passed) for check in analysis.checks] == [
        ("unittest", True),
        ("python check.py", False),
    ]


@pytest.mark.parametrize("command", ["python -c", "curl http://127.0.0.1:80/x", "nc 127.0.0.1 4444", "`"])
def test_not_every_command_in_a_task_is_a_check(command: str) -> None:
    assert analysed(f"It must answer to `{command}`.", ("ls", "a"), DONE).named_checks == []


# Runs


def test_the_last_program_that_ran_and_failed_is_open() -> None:
    crash = ("python app.py", "Traceback (most recent call last):\n  File \"app.py\", line 1\nKeyError: 'x'", 1)
    assert "KeyError: 'x'" in the(analysed(None, EDIT, crash, DONE), "failed_run").text
    assert not found(analysed(None, EDIT, crash, EDIT, ("python app.py", "fine"), DONE), "failed_run")


def test_a_program_that_was_made_and_run_in_one_action_is_the_last_one() -> None:
    crash = "Traceback (most recent call last):\n  File \"lib.py\", line 1\nKeyError: 'x'"
    old = ("python app.py", crash, 1)
    new = "cat > try.py <<'E'\nimport lib\nE\npython try.py"
    assert not found(analysed(None, EDIT, old, (new, "fine"), DONE), "failed_run")
    last = the(analysed(None, EDIT, ("python app.py", "fine"), (new, crash, 1), DONE), "failed_run")
    assert (last.evidence, last.is_serious) == ((3,), False)
    assert the(analysed(None, EDIT, old, DONE), "failed_run").is_serious


def test_a_program_that_something_around_it_is_missing_for_is_not() -> None:
    missing = (
        "python app.py",
        "Traceback (most recent call last):\nModuleNotFoundError: No module named 'psycopg2'",
        1,
    )
    assert not found(analysed(None, EDIT, missing, DONE), "failed_run")


# What the task asks for

WRITE = "Write the total to `/app/total.txt`."


def test_a_file_that_nothing_made_is_missing() -> None:
    finding = the(analysed(WRITE, ("ls /app", "data.csv"), DONE), "unmet")
    assert finding.is_serious
    assert "/app/total.txt" in finding.text


def test_tries_at_it_are_told() -> None:
    convert = ("convert a.svg /app/chart.png", "bash: convert: command not found", 127)
    finding = the(analysed("Draw a chart and save it as `/app/chart.png`.", ("ls", "a.svg"), convert, DONE), "unmet")
    assert finding.evidence == (2,)
    assert "command not found" in finding.text


@pytest.mark.parametrize(
    "made",
    [
        ("echo 30 > /app/total.txt", ""),
        ("echo 30 | tee total.txt", "30"),
        ("python3 -c \"open('/app/total.txt', 'w').write('30')\"", ""),
        ("python3 solve.py", "wrote /app/total.txt"),
        ("ls /app", "data.csv  total.txt"),
    ],
)
def test_a_file_that_was_made_or_seen_is_not_missing(made: Action) -> None:
    assert not found(analysed(WRITE, made, DONE), "unmet")


def test_a_program_that_names_the_file_and_was_never_run_does_not_make_it() -> None:
    program = ("cat > solve.py <<'E'\nopen('/app/total.txt', 'w').write('30')\nE", "")
    assert found(analysed(WRITE, program, DONE), "unmet")
    assert not found(analysed(WRITE, program, ("python3 solve.py", "done"), DONE), "unmet")
    crash = ("python3 solve.py", "Traceback (most recent call last):\nKeyError: 1", 1)
    assert found(analysed(WRITE, program, crash, DONE), "unmet")


def test_a_file_that_was_looked_for_in_vain_is_missing() -> None:
    gone = ("ls -l /app/total.txt", "ls: cannot access '/app/total.txt': No such file or directory", 2)
    assert found(analysed(WRITE, ("python3 solve.py /app/total.txt", "ok"), gone, DONE), "unmet")


def test_that_another_file_is_not_there_says_nothing() -> None:
    other = ("ls /app /data", "/app:\ntotal.txt\nls: cannot access '/data': No such file or directory", 2)
    assert not found(analysed(WRITE, ("python3 solve.py /app/total.txt", "ok"), other, DONE), "unmet")


def test_a_file_that_was_removed_again_is_lost() -> None:
    finding = the(analysed(WRITE, ("echo 30 > /app/total.txt", ""), ("rm /app/total.txt", ""), DONE), "lost")
    assert finding.is_fatal
    assert state(attempt(WRITE, ("echo 30 > /app/total.txt", ""), ("rm /app/total.txt", ""), DONE)) == "broken"
    again = ("echo 31 > /app/total.txt", "")
    assert not found(analysed(WRITE, again, ("rm /app/total.txt", ""), again, DONE), "lost")


def test_a_value_that_fits_the_task_is_named() -> None:
    task = "The code has 9 characters, begins with `AB7` and ends with `X2`. Write it to `/app/code.txt`."
    shown = ("strings disk", "AB7 AB7KLM\nAB7KLMNOX2 AB7KLMNX2 QX2")
    finding = the(analysed(task, shown, ("ls", "disk")), "unmet")
    assert "`AB7KLMNX2`" in finding.text  # it has nine characters
    assert "AB7KLMNOX2" not in finding.text
    assert 1 in finding.evidence


def test_a_value_that_fits_in_one_way_only_is_not() -> None:
    task = "The code has 9 characters and begins with `AB7`. Write it to `/app/code.txt`."
    assert "AB7KLM" not in the(analysed(task, ("strings disk", "AB7KLM"), ("ls", "disk")), "unmet").text


# Handing over

SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


def test_a_hand_over_that_is_refused_is_open_until_one_is_not() -> None:
    refused = (SUBMIT, "Your submission was incorrect. Please go on.")
    assert the(analysed(None, ("ls", "a"), refused, ("ls", "a"), "I stop here."), "refused").closed is None
    assert the(analysed(None, ("ls", "a"), refused, ("ls", "b"), (SUBMIT, "")), "refused").closed == 4
    assert not found(analysed(None, ("ls", "a"), (SUBMIT, "diff --git a/x b/x")), "refused")


def test_words_in_what_is_handed_in_are_no_refusal() -> None:
    """What such a command prints is the work itself."""
    patch = "diff --git a/x.py b/x.py\n+    raise ValueError('incorrect: try again')"
    assert not found(analysed(None, EDIT, (f"{SUBMIT} && git add -A && git diff --cached", patch)), "refused")
    assert not found(analysed(None, EDIT, (f"{SUBMIT} && cat fix.patch", "@@ wrong\n+ right")), "refused")
    assert not found(analysed(None, EDIT, ("submit", patch)), "refused")


PRINT = f"{SUBMIT} && git add -A && git diff --cached"


def test_a_hand_over_that_prints_nothing_hands_in_nothing() -> None:
    commit = ("git commit -qam 'Fix it'", "")
    finding = the(analysed(None, EDIT, commit, (PRINT, "")), "empty")
    assert finding.evidence == (2, 3)
    assert "a3 is empty" in finding.text
    assert "committed at a2" in finding.text
    assert state(attempt(None, EDIT, commit, (PRINT, ""))) == "incomplete"
    assert "No change is left" in the(analysed(None, ("ls", "a"), (PRINT, "")), "empty").text


def test_a_hand_over_that_prints_something_or_is_not_to_print_hands_in() -> None:
    for last in [(PRINT, "diff --git a/app.py b/app.py"), (SUBMIT, ""), ("submit", "")]:
        assert not found(analysed(None, EDIT, last), "empty")
    framed = "<returncode>0</returncode>\n<output>\n</output>"
    assert found(analysed(None, EDIT, (PRINT, framed)), "empty")
    unseen = attempt(None, EDIT, (PRINT, ""))
    last = msgspec.structs.replace(unseen.steps[-1], observations=())
    steps = (*unseen.steps[:-1], last)
    assert not found(Analysis(msgspec.structs.replace(unseen, steps=steps), EffectsCache()), "empty")


def test_to_hand_over_with_something_left_is_no_help() -> None:
    gone = ("ls /app/total.txt", "ls: cannot access '/app/total.txt': No such file or directory", 2)
    trajectory = attempt(WRITE, ("ls /app", "data.csv"), gone, (SUBMIT, ""))
    source = distill_sync(trajectory, RulesAnalyst()).source
    last = list(leaves(source.root))[-1]
    assert last.label == -1
    assert "/app/total.txt" in last.reason


# The end


@pytest.mark.parametrize(
    ("actions", "end", "kind"),
    [
        ((("ls", "a"), "The answer is 4."), None, "handed_over"),
        ((("ls", "a"), ("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff", "")), None, "handed_over"),
        ((("ls", "a"), ("submit FLAG{x}", "")), None, "handed_over"),
        ((("ls", "a"), ("cat b", "text")), "Performed context summarization and handoff to continue.", "continued"),
        ((("ls", "a"), ("cat b", "text")), None, "broken_off"),
        ((("ls", "a"), ("cat b", "text")), "LimitsExceeded", "broken_off"),
        ((("ls", "a"), "I go on."), "Max rounds (30) reached.", "broken_off"),
        ((("ls", "a"), "openai.APIConnectionError: Connection error."), None, "broken_off"),
        ((("ls", "a"), "API Error: 529 overloaded"), None, "broken_off"),
        ((("ls", "a"), "I was unable to find the file."), None, "given_up"),
        ((("ls", "a"), "Ich konnte die Datei leider nicht finden."), None, "given_up"),
        ((("ls", "a"), "I couldn't run a live test here, but the change is small."), None, "handed_over"),
        ((("ls", "a"), "The parser could not read tabs; that is fixed."), None, "handed_over"),
    ],
)
def test_how_a_trace_ends(actions: tuple[Action, ...], end: str | None, kind: str) -> None:
    assert analysed(None, *actions, end=end).ending.kind == kind


def test_to_refuse_in_a_dialog_may_be_the_task() -> None:
    refusing = dialog(("Hello", "A refund, please."), ("I am unable to refund this ticket.", "Fine."))
    assert Analysis(refusing, EffectsCache()).ending.kind == "handed_over"


# The whole


def test_what_was_asked_for_and_seen_is_complete() -> None:
    computed = ("python3 -c 'print(sum(range(5)) * 3)'", "30")
    written: tuple[Action, ...] = (("echo 30 > /app/total.txt", ""), ("cat /app/total.txt", "30"))
    assert state(attempt(WRITE, computed, *written, DONE)) == "complete"
    assert state(attempt(WRITE, *written, DONE)) == "unknown"  # a guess, read back


def test_what_nobody_looked_at_is_unknown() -> None:
    assert state(attempt(WRITE, ("cat data.csv", "1\n2"), ("echo 30 > /app/total.txt", ""), DONE)) == "unknown"


def test_a_limit_that_nothing_checks_is_unknown() -> None:
    task = WRITE + " The total must be within 2% of the reference."
    assert state(attempt(task, ("echo 30 > /app/total.txt", ""), ("cat /app/total.txt", "30"), DONE)) == "unknown"


def test_checks_of_the_agents_own_do_not_make_it_complete() -> None:
    assert state(attempt("Sums are wrong for dates.", EDIT, PASSES, DONE)) == "unknown"


def test_without_a_task_nothing_is_complete() -> None:
    assert state(attempt(None, EDIT, PASSES, DONE)) == "unknown"


@pytest.mark.parametrize("path", ["/testbed/.git/index", "{open file}", "/tmp/x.py", "run.log", "__pycache__/a.pyc"])
def test_what_nobody_asked_for_is_no_product(path: str) -> None:
    assert analysed(None, (f"echo 1 > '{path}'", ""), DONE).products == {}


def test_a_runner_that_is_not_there_is_a_dead_end_even_before_any_change() -> None:
    missing = ("python3 -m pytest -q", "/usr/bin/python3: No module named pytest", 1)
    actions: list[Action] = [missing, ("python3 -m unittest", "Ran 3 tests in 0.1s\n\nOK"), EDIT, DONE]
    assert [one.first for one in analysed(None, *actions).attempts] == [1]


def test_an_open_issue_of_a_part_makes_the_whole_incomplete() -> None:
    actions: list[Action] = [("ls", "a"), ("cat app.py", "code"), EDIT, FAILS]
    actions += [("cat other.py", "x"), ("echo 1 > notes.md", ""), ("cat notes.md", "1"), DONE]
    done = distill_sync(attempt(None, *actions), RulesAnalyst()).reconciled
    assert done.root.verdict is not None
    assert done.root.verdict.state == "incomplete"
    assert [issue.resolved_at for issue in done.issues] == [None]


def test_a_result_that_nobody_looked_at_is_open() -> None:
    """A file that is asked for, or a program, unless the task wants it so; other texts are told, and open nothing."""
    written = ("cat > notes.md <<'E'\nhello\nE", "")
    assert the(analysed("Write `notes.md`.", written, DONE), "unverified").is_serious is False
    assert not found(analysed("Tidy up.", written, DONE), "unverified")
    program = ("cat > solve.py <<'E'\nprint(1)\nE", "")
    assert the(analysed("Write `solve.py`.", program, DONE), "unverified").text.startswith("`solve.py` changed at a1")
    assert not found(analysed("Write `solve.py`. No need to run it.", program, DONE), "unverified")
    assert not found(analysed("Write `solve.py`.", program, ("ls", "README.md\nsolve.py"), DONE), "unverified")
    assert not found(analysed("Write `solve.py`.", program, ("git add -A && git commit -m x", ""), DONE), "unverified")
    assert found(analysed("Tidy up.", program, DONE), "unverified")
    assert not found(analysed("Tidy up.", program, ("rm solve.py", ""), DONE), "unverified")


def test_an_unverified_program_does_not_make_the_whole_incomplete() -> None:
    assert state(attempt("Write `solve.py`.", ("cat > solve.py <<'E'\nprint(1)\nE", ""))) != "broken"
    assert state(attempt("Write `solve.py`.", ("cat > solve.py <<'E'\nprint(1)\nE", ""), DONE)) == "unknown"


def test_the_last_look_at_a_result_is_shown() -> None:
    task = "Write the total to `out.json`."
    made = ("cat > solve.py <<'E'\nopen('out.json', 'w').write('{}')\nE", "")
    run = analysed(task, made, ("python solve.py", ""), ("cat out.json", '{"total": 3}'), ("ls /usr", "bin"), DONE)
    assert {1, 2, 3} <= set(run.telling)
    assert 4 not in run.telling
    assert run.products == {"solve.py": 1, "out.json": 2}


def test_what_subagents_wrote_is_a_product() -> None:
    inner = attempt("Write it.", ("cat > part.py <<'E'\nx\nE", ""), ("touch gone.txt", ""), ("rm gone.txt", ""))
    call = ToolCall("Task", {"description": "Build the part"})
    step = Step(Source("made"), calls=(call,), observations=(Observation("ok"),), subagents=(inner,))
    whole = Trajectory("made", "made", Source("made"), steps=(step, Step(Source("made"), DONE)))
    run = Analysis(whole, EffectsCache())
    assert run.products == {"part.py": 1}
    assert run.did(1) == 'started an agent for "Build the part" (the agent did 3 actions, which are not shown here)'
