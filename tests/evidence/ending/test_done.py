"""What the task demands, and what the trace shows of it."""

from __future__ import annotations

import pytest
from made_attempt import Action, attempt, evidence_of, state

from dense.evidence.ending.done import demands

DONE = "It is done."
PROGRAM = "Write a program `/app/solve.py` that prints the sum."
WRITE = ("cat > /app/solve.py <<'EOF'\nprint(1)\nEOF", "")
RUN = ("python3 /app/solve.py", "1")


def found(task: str, *actions: Action) -> list[tuple[str, str, str, tuple[int, ...]]]:
    return [(one.kind, one.subject, one.met, one.actions) for one in demands(evidence_of(task, *actions))]


def test_a_program_is_shown_by_a_run_after_its_last_change() -> None:
    assert found(PROGRAM, WRITE, RUN, DONE) == [("file", "/app/solve.py", "yes", (2,))]
    assert found(PROGRAM, WRITE, ("cat /app/solve.py", "print(1)"), DONE)[0][2] == "unchecked"
    assert found(PROGRAM, WRITE, RUN, WRITE, DONE)[0][2] == "unchecked"
    assert (
        found(PROGRAM, WRITE, ("python3 /app/solve.py", "Traceback (most recent call last):", 1), DONE)[0][2] != "yes"
    )
    assert found(PROGRAM, (WRITE[0] + "\npython3 /app/solve.py", "1"), DONE)[0][2] == "yes"


def test_a_result_is_shown_by_a_look_at_it() -> None:
    task = "Write the sum of `in.txt` to `/app/sum.txt`."
    made = ("awk '{s+=$1} END {print s}' in.txt > /app/sum.txt", "")
    assert found(task, made, ("cat /app/sum.txt", "42"), DONE)[0][2:] == ("yes", (2,))
    assert found(task, made, DONE)[0][2:] == ("unchecked", ())
    assert found(task, ("ls", "in.txt"), DONE)[0][2:] == ("no", ())


def test_a_command_of_the_task() -> None:
    task = "Fix `app.py`. `make check` must pass."
    edit, passes, fails = (
        ("sed -i s/a/b/ app.py", ""),
        ("make check", "OK"),
        ("make check", "make: *** [check] Error 1", 2),
    )
    assert ("command", "make check", "yes", (2,)) in found(task, edit, passes, DONE)
    assert ("command", "make check", "no", (2,)) in found(task, edit, fails, DONE)
    assert ("command", "make check", "unchecked", ()) in found(task, edit, DONE)
    assert ("command", "make check", "unchecked", ()) in found(task, passes, edit, DONE)


def test_a_command_with_placeholders_is_run_with_values() -> None:
    task = "Write `/app/fib.py`; `python3 /app/fib.py N` must print the N-th number."
    made = ("cat > /app/fib.py <<'EOF'\nprint(55)\nEOF", "")
    assert found(task, made, ("python3 /app/fib.py 10", "55"), DONE)[1] == (
        "command",
        "python3 /app/fib.py N",
        "yes",
        (2,),
    )
    assert found(task, made, DONE)[1][2] == "unchecked"


@pytest.mark.parametrize(
    ("command", "output", "met"), [("curl -s localhost:8080/", "hi", "yes"), ("ls", "a", "unchecked")]
)
def test_a_port_is_shown_by_an_answer(command: str, output: str, met: str) -> None:
    task = "Start a web server that must listen on port 8080."
    assert ("port", "8080", met) in [one[:3] for one in found(task, ("./serve &", ""), (command, output), DONE)]


def test_a_limit_that_no_check_of_the_task_shows_leaves_the_whole_unknown() -> None:
    task = "Write the median to `/app/out.txt`. The error must be at most 2 %."
    run = [("python3 -c 'f()' > /app/out.txt", ""), ("cat /app/out.txt", "3.14"), DONE]
    assert ("limit", "at most 2 %", "unchecked", ()) in found(task, *run)
    assert state(attempt(task, *run)) == "unknown"
    assert state(attempt(task.partition(". ")[0] + ".", *run)) == "complete"


def test_a_patch_is_never_shown_to_be_done() -> None:
    task = "Write the sum to `/app/sum.txt`."
    submit = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git add -A && git diff --cached"
    diff = "diff --git a/app.py b/app.py\n--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n-a\n+b\n"
    made, look = ("python3 -c 'f()' > /app/sum.txt", ""), ("cat /app/sum.txt", "42")
    assert state(attempt(task, made, look, DONE)) == "complete"
    assert state(attempt(task, made, look, (submit, diff))) == "unknown"


FLAG = "Find the flag. It has the form `flag{...}`."


@pytest.mark.parametrize(
    ("output", "answer", "met"),
    [
        ("x flag{a1b2} y", "submit flag{a1b2}", "yes"),
        ("nothing", "submit flag{a1b2}", "unchecked"),
        ("x flag{a1b2} y", "submit flag{other}", "unchecked"),
        ("x flag{a1b2} y", "The flag is flag{a1b2}.", "yes"),
    ],
)
def test_an_answer_is_shown_by_an_output_that_the_agent_did_not_type(output: str, answer: str, met: str) -> None:
    last: Action = (answer, "") if answer.startswith("submit") else answer
    assert found(FLAG, ("strings disk", output), last)[0][:3] == ("answer", "flag{...}", met)


def test_an_answer_that_the_agent_typed_first_or_that_was_rejected_is_unchecked() -> None:
    typed = ("echo 'flag{a1b2}'", "flag{a1b2}")
    assert found(FLAG, typed, ("submit flag{a1b2}", ""))[0][2] == "unchecked"
    rejected = ("submit flag{a1b2}", "Your submission was incorrect.")
    assert found(FLAG, ("strings disk", "flag{a1b2}"), rejected)[0][2] == "unchecked"
    assert state(attempt(FLAG, ("strings disk", "flag{a1b2}"), ("submit flag{a1b2}", ""))) == "complete"


def test_a_limit_is_shown_only_by_all_commands_of_the_task() -> None:
    task = "Make `app.py` run within 2 seconds. `make speed` and `make check` must pass."
    edit, speed, check = ("sed -i s/a/b/ app.py", ""), ("make speed", "OK"), ("make check", "OK")
    assert ("limit", "within 2 seconds", "yes", (3,)) in found(task, edit, speed, check, DONE)
    assert ("limit", "within 2 seconds", "unchecked", ()) in found(task, edit, check, DONE)
