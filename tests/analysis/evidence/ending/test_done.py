"""What the task demands, and what the trace shows of it."""

from __future__ import annotations

import pytest
from made_attempt import Action, analysed, attempt, described, evidence_of, state, the

from dense.analysis.evidence.ending.done import demands

DONE = "It is done."
PROGRAM = "Write a program `/app/solve.py` that prints the sum."
WRITE = ("cat > /app/solve.py <<'EOF'\nprint(1)\nEOF", "")
RUN = ("python3 /app/solve.py", "1")


def found(task: str, *actions: Action) -> list[tuple[str, str, str, tuple[int, ...]]]:
    return [(one.kind, one.subject, one.met, one.actions) for one in demands(evidence_of(task, *actions))]


def test_a_program_is_shown_by_a_run_after_its_last_change() -> None:
    assert found(PROGRAM, WRITE, RUN, DONE) == [
        ("file", "/app/solve.py", "yes", (2,)),
        ("behaviour", "/app/solve.py", "unchecked", ()),
    ]
    check = ("python3 -c 'from solve import f; assert f(1) == 1' && python3 /tmp/test_solve.py", "ok")
    assert found(PROGRAM, WRITE, RUN, check, DONE) == [("file", "/app/solve.py", "yes", (2,))]
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


@pytest.mark.parametrize("later", [("curl -s localhost:8080/; kill %1", "hi"), ("pkill serve", "")])
def test_a_service_that_is_ended_after_its_answer_is_not_shown(later: Action) -> None:
    task = "Start a web server that must listen on port 8080."
    asked = ("curl -s localhost:8080/", "hi")
    assert found(task, ("./serve &", ""), asked, later, DONE)[-1][2] == "unchecked"
    assert found(task, ("./serve &", ""), ("kill %1; ./serve & curl -s localhost:8080/", "hi"), DONE)[-1][2] == "yes"
    assert found(task, ("./serve &", ""), asked, ("kill -0 7", ""), DONE)[-1][2] == "yes"


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


SIZED = "Write `/app/data.comp` so that it unpacks to the text. `/app/data.comp` must be at most 2500 bytes."
PACK = ("python3 pack.py > /app/data.comp", "")


@pytest.mark.parametrize(
    ("task", "look", "met"),
    [
        (SIZED, ("wc -c /app/data.comp", "2310 /app/data.comp"), "yes"),
        (SIZED, ("ls -l /app", "-rw-r--r-- 1 root root 2310 Jan 1 10:00 data.comp"), "yes"),
        (SIZED, ("ls -l /app", "-rw-r--r-- 1 root root 9000 Jan 1 10:00 other.bin"), "unchecked"),
        (SIZED, ("wc -c /app/data.comp", "2610 /app/data.comp"), "no"),
        ("Write `/app/data.comp`. It must take less than 30 seconds.", ("time ./unpack", "real\t0m3.2s"), "yes"),
        ("Write `/app/data.comp`. It must take less than 30 seconds.", ("./unpack", "took 61.5 seconds"), "no"),
        ("Write `/app/data.comp`. Never longer than 5 seconds.", ("time ./unpack", "real\t0m0.2s"), "yes"),
        ("Write `/app/data.comp`. It should not be longer than 5 seconds.", ("./unpack", "took 6.5 seconds"), "no"),
        ("Write `/app/data.comp`. It must not exceed 2500 bytes.", ("wc -c /app/data.comp", "2310"), "yes"),
        ("Write `/app/data.comp`. It must have no less than 30 bytes.", ("wc -c /app/data.comp", "2310"), "yes"),
        ("Train `/app/data.comp`. It must reach at least 75% accuracy.", ("./eval", "accuracy: 0.81"), "yes"),
        ("Train `/app/data.comp`. It must reach at least 75% accuracy.", ("./eval", "epoch 3 of 4"), "unchecked"),
        ("Write `/app/data.comp`. `low` must be within 2% of `high`.", ("./eval", "low: 99.1\nhigh: 100"), "yes"),
        ("Write `/app/data.comp`. `low` must be within 2% of `high`.", ("./eval", "low: 90\nhigh: 100"), "no"),
    ],
)
def test_a_limit_is_shown_by_a_measurement(task: str, look: Action, met: str) -> None:
    (limit,) = [one for one in found(task, PACK, look, DONE) if one[0] == "limit"]
    assert limit[2:] == (met, (2,) if met != "unchecked" else ())


@pytest.mark.parametrize(
    "clause",
    ["Totals must be right, and they can exceed 4 GB.", "It must take N >= 1.", "It must cope with up to 50 years."],
)
def test_what_a_program_must_cope_with_is_no_limit(clause: str) -> None:
    assert not [one for one in found(f"Write `/app/data.comp`. {clause}", PACK, DONE) if one[0] == "limit"]


def test_a_list_belongs_to_the_order_before_it() -> None:
    task = "Find the flag. Write\n - /app/flag.txt: the flag\n - /app/how.txt: one line"
    assert [one[1] for one in found(task, ("cat a", "b"), DONE)] == ["/app/flag.txt", "/app/how.txt"]


def test_a_command_that_is_only_mentioned_is_no_demand_beside_a_file() -> None:
    task = "`sqlite3 a.db` says that it is no database. Write the rows to `/app/rows.txt`."
    assert [one[0] for one in found(task, ("ls", "a.db"), DONE)] == ["file"]


def test_a_missed_limit_is_reported_with_its_value() -> None:
    assessment = analysed(SIZED, PACK, ("wc -c /app/data.comp", "2610 /app/data.comp"), DONE)
    assert the(assessment, "limit_missed").is_serious
    assert "measures 2610" in described(assessment, "limit_missed")
    slow = analysed("Write `/app/a.bin`. It must take less than 30 seconds.", ("./unpack", "took 61.5 seconds"), DONE)
    assert not the(slow, "limit_missed").is_serious  # another time may be meant


ROWS = "Recover the rows of `/app/cut.db` and write them to `/app/rows.json`."
LIST = ("ls /app", "cut.db")
SOLVE = (
    "cat > /app/solve.py <<'E'\nimport json\njson.dump([1], open('/app/rows.json', 'w'))\nE\npython3 /app/solve.py",
    "17",
)
SHOW = ("cat /app/rows.json", '[{"word": "one"}]')
CHECKER = "cat > /tmp/v.py <<'E'\nimport json\nassert len(json.load(open('/app/rows.json'))) == 17\nprint('valid')\nE"


@pytest.mark.parametrize(
    "later",
    [
        (SHOW, ("chmod 644 /app/rows.json", "")),
        (SHOW, ("cp /app/rows.json /tmp/rows.bak", "")),
        (SHOW, ("cd /app && git add rows.json && git commit -m rows", "[main 1f2e] rows\n 1 file changed")),
        ((CHECKER + "\npython3 /tmp/v.py", "valid"),),
        ((CHECKER, ""), ("python3 /tmp/v.py", "valid")),
    ],
)
def test_what_only_reads_a_file_does_not_change_it(later: tuple[Action, ...]) -> None:
    assert state(attempt(ROWS, LIST, SOLVE, *later, DONE)) == "complete"


def test_a_compiler_may_make_a_file_that_no_action_names() -> None:
    task = "Complete the proof in `sum.v`. The compiled proof should be in `sum.vo`."
    assert state(attempt(task, ("sed -i s/Admitted/Qed/ sum.v", ""), ("coqc sum.v", ""), DONE)) == "unknown"
    assert state(attempt(task, ("sed -i s/Admitted/Qed/ sum.v", ""), ("cat sum.v", "Qed."), DONE)) == "incomplete"


def test_a_trainer_may_make_a_file_of_which_only_the_stem_is_named() -> None:
    task = "Train a model and save it as `/app/model.bin`."
    assert (
        state(attempt(task, ("fasttext supervised -input a.txt -output /app/model", "Progress 100%"), DONE))
        == "unknown"
    )
    assert state(attempt(task, ("fasttext supervised -input a.txt", "Usage: …"), DONE)) == "incomplete"


def test_a_service_that_is_started_and_asked_at_once() -> None:
    task = "Start a server on port 3000."
    start = "nohup node server.js > server.log 2>&1 & sleep 2; curl -s localhost:3000/fib?n=10"
    assert found(task, (start, '{"result": 55}'), DONE) == [("port", "3000", "yes", (1,))]


def test_an_answer_is_shown_by_what_is_in_its_braces() -> None:
    task = "Find the flag. All submissions have the form `flag{...}`."
    assert state(attempt(task, ("./solve", "key 4: et_tu_07d5"), ("submit flag{et_tu_07d5}", ""))) == "complete"
    assert state(attempt(task, ("./solve", "key 4: nothing"), ("submit flag{et_tu_07d5}", ""))) == "unknown"


def test_a_command_about_a_file_that_the_attempt_writes_is_a_suggestion() -> None:
    task = "Write `/app/two.py.c`. I can run\n\n`gcc /app/two.py.c -o /app/two && /app/two N`\n\nwith it."
    made = ("cat > /app/two.py.c <<'E'\nint main(){}\nE", "")
    assert state(attempt(task, made, ("cd /app && gcc two.py.c -o two && ./two 10", "55"), DONE)) == "unknown"
    compared = ("cd /app && gcc two.py.c -o two && diff <(./two 10) expected.txt && echo same", "same")
    assert state(attempt(task, made, compared, DONE)) == "complete"
