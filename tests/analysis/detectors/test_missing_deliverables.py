"""Files that the task asks for and that no action made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from made_attempt import Action, analysed, assess, attempt, described, found, state, the, trajectory
from msgspec import structs

import dense
from dense.analysis.rules import RulesAnalyst
from dense.analysis.wording.findings import describe_next_step
from dense.service import distill_sync
from dense.trajectory import Observation, Source, Step, ToolCall
from dense.tree import leaves

WRITE = "Write the total to `/app/total.txt`."
CODES = ("deliverable_missing", "deliverable_attempt_failed")
DONE = "It is done."


def test_a_file_that_nothing_made_is_missing() -> None:
    assessment = analysed(WRITE, ("ls /app", "data.csv"), DONE)
    finding = the(assessment, "deliverable_missing")
    assert (finding.subject, finding.is_serious) == ("/app/total.txt", True)
    assert "`/app/total.txt`, and no action made it" in described(assessment, *CODES)


def test_failed_attempts_are_listed() -> None:
    convert = ("convert a.svg /app/chart.png", "bash: convert: command not found", 127)
    assessment = analysed("Draw a chart and save it as `/app/chart.png`.", ("ls", "a.svg"), convert, DONE)
    assert the(assessment, "deliverable_attempt_failed").evidence == (2,)
    assert "command not found" in described(assessment, *CODES)


@pytest.mark.parametrize(
    "made",
    [
        ("echo 30 > /app/total.txt", ""),
        ("echo 30 | tee total.txt", "30"),
        ("python3 -c \"open('/app/total.txt', 'w').write('30')\"", ""),
        ("python3 solve.py", "wrote /app/total.txt"),
        ("python3 solve.py", "wrote output/total.txt"),
        ("ls /app", "data.csv  total.txt"),
    ],
)
def test_a_file_that_was_made_or_seen_is_not_missing(made: Action) -> None:
    assert not found(analysed(WRITE, made, DONE), *CODES)


def test_a_program_that_names_the_file_makes_it_when_it_runs() -> None:
    program = ("cat > solve.py <<'E'\nopen('/app/total.txt', 'w').write('30')\nE", "")
    assert found(analysed(WRITE, program, DONE), *CODES)
    assert not found(analysed(WRITE, program, ("python3 solve.py", "done"), DONE), *CODES)
    crash = ("python3 solve.py", "Traceback (most recent call last):\nKeyError: 1", 1)
    assert found(analysed(WRITE, program, crash, DONE), "deliverable_attempt_failed")


def test_one_missing_file_of_several_is_reported() -> None:
    task = "Create `/app/a.txt`, `/app/b.txt` and `/app/c.txt` with one word each."
    made: list[Action] = [("echo alpha > /app/a.txt", ""), ("echo beta > /app/b.txt", "")]
    assert (
        the(analysed(task, *made, ("cat /app/a.txt /app/b.txt", "alpha\nbeta"), DONE), *CODES).subject == "/app/c.txt"
    )


def test_a_change_that_was_not_made_is_called_a_change() -> None:
    task = "Change the title in `/app/index.html`."
    call = ToolCall("Edit", {"file_path": "/app/index.html", "old_string": "<h1>", "new_string": "<h2>"}, "c1")
    rejected = Observation("String to replace not found in file.", "c1", is_error=True)
    steps = Step(Source("made"), "", "", (call,), (rejected,)), Step(Source("made"), "It is changed.")
    (issue,) = distill_sync(trajectory(task, *steps), RulesAnalyst()).reconciled.issues
    assert "asks for a change of `/app/index.html`, and none was made" in issue.text
    assert "not found in file" in issue.text


def test_a_value_that_fits_the_task_is_named() -> None:
    task = "The code has 9 characters, begins with `AB7` and ends with `X2`. Write it to `/app/code.txt`."
    assessment = analysed(task, ("strings disk", "AB7 AB7KLM\nAB7KLMNOX2 AB7KLMNX2 QX2"), ("ls", "disk"))
    finding = the(assessment, "deliverable_missing")
    assert (finding.text("candidate"), finding.number("candidate_action")) == ("AB7KLMNX2", 1)
    assert finding.evidence == (1,)
    assert "`AB7KLMNX2`" in described(assessment, *CODES)


def test_a_value_that_fits_in_one_way_only_is_not() -> None:
    task = "The code has 9 characters and begins with `AB7`. Write it to `/app/code.txt`."
    assert not the(analysed(task, ("strings disk", "AB7KLM"), ("ls", "disk")), *CODES).text("candidate")


def test_to_hand_over_without_the_file_is_labelled_as_no_help() -> None:
    gone = ("ls /app/total.txt", "ls: cannot access '/app/total.txt': No such file or directory", 2)
    run = attempt(WRITE, ("ls /app", "data.csv"), gone, ("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", ""))
    last = list(leaves(distill_sync(run, RulesAnalyst()).source.root))[-1]
    assert last.label == -1
    assert "/app/total.txt" in last.reason
    assert state(run) == "incomplete"


@pytest.mark.parametrize("tool", ["TodoWrite", "attempt_completion"])
def test_a_to_do_list_or_a_hand_over_text_makes_no_file(tool: str) -> None:
    said = Step(Source("made"), calls=(ToolCall(tool, {"text": "Write /app/total.txt"}, "t"),))
    look, last = attempt("x", ("ls /app", "data.csv"), "Done.").steps
    run = trajectory("Write the total to `/app/total.txt`.", look, said, last)
    assert found(assess(run), "deliverable_missing")


WRITE_AHEAD = """
import os, sqlite3
db = sqlite3.connect("main.db", isolation_level=None)
db.execute("pragma journal_mode=wal")
db.execute("create table items (id)")
db.execute("insert into items values (1)")
os._exit(0)
"""
"""Leaves a log beside a database, as a program that was killed does."""
OPEN = 'python3 -c \'import sqlite3; print(sqlite3.connect("main.db").execute("select * from items").fetchall())\''


def test_a_file_that_a_step_made_vanish_is_the_lesson(tmp_path: Path) -> None:
    """A database that is opened takes its log away; the outputs are real."""

    def ran(command: str) -> tuple[str, str, int]:
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
        text = (done.stdout + done.stderr).replace(str(tmp_path), "/srv")
        return command.replace(str(tmp_path), "/srv"), text, done.returncode

    subprocess.run([sys.executable, "-c", WRITE_AHEAD], cwd=tmp_path, check=True)
    listed, opened = ran(f"ls -la {tmp_path}"), ran(OPEN.replace("main.db", f"{tmp_path}/main.db"))
    looked = ran(f"xxd {tmp_path}/main.db-wal || cat {tmp_path}/main.db-wal")
    task = "Recover the records in the WAL of the database in /srv and write them to /srv/found.json."
    lost = analysed(task, listed, opened, looked, "I could not recover them.")
    finding = the(lost, "input_lost")
    assert (finding.subject, finding.evidence, finding.severity) == ("/srv/main.db-wal", (1, 2, 3), "doubt")
    assert "was there at a1 and is gone at a3. No action removed it: a2" in described(lost, "input_lost")
    assert "before anything opens `/srv/main.db`" in describe_next_step(finding)
    removed = ran("rm /srv/main.db-wal")[0]
    for other in (
        analysed(task, listed, (removed, "", 0), opened, looked),  # removed on purpose
        analysed(task, listed, looked),  # nothing ran in between
        analysed(task, listed, opened, looked, listed),  # it is there again
        analysed("Print the sum of numbers.txt.", listed, opened, looked),  # the task is about something else
    ):
        assert not found(other, "input_lost")


def test_the_clues_of_a_search_that_did_not_finish_are_kept() -> None:
    """The recorded search of the example, as if it had broken off before the pieces were put together."""
    path = Path(__file__).parents[3] / "examples" / "password-recovery" / "recovery.traj.json"
    (whole,) = dense.read(path)
    broken_off = assess(structs.replace(whole, steps=whole.steps[:14]))
    finding = the(broken_off, "clue_unused")
    assert (finding.texts("pieces"), finding.severity) == (("`8XDR7K2MQ9T` (a3)", "`4HBV6NC3LW54` (a3)"), "doubt")
    assert "Begin with `8XDR7K2MQ9T` (a3)" in describe_next_step(finding)
    assert not found(assess(whole), "clue_unused")  # the pieces were put together


def test_a_piece_that_the_agent_typed_or_the_task_names_is_no_clue() -> None:
    task = "Find the key. It starts with `KEY9`. An example is `KEY9sample`. Write it to `/app/key.txt`."
    typed = analysed(task, ("grep -r KEY9abcdef .", "a: KEY9abcdef"), ("cat README", "as KEY9sample"), DONE)
    assert not found(typed, "clue_unused")
    assert the(analysed(task, ("grep -r KEY9 .", "a: KEY9abcdef"), DONE), "clue_unused").opened == 1


def test_a_port_that_never_answers_is_serious() -> None:
    task, start = "Start a web server on port 8080.", ("nohup ./serve &", "")
    refused = ("curl -sS localhost:8080/", "curl: (7) Failed to connect to localhost port 8080: Connection refused", 7)
    answers = ("curl -sS localhost:8080/", "<h1>hello</h1>")
    finding = the(analysed(task, start, refused, "It runs."), "port_silent")
    assert (finding.is_serious, finding.evidence) == (True, (2,))
    for later in ((start, refused, answers), (start, answers, ("pkill serve", ""), refused), (start,)):
        assert not found(analysed(task, *later, "It runs."), "port_silent")
