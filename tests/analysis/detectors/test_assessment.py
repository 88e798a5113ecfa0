"""What a trace comes to: states, attempts, key actions."""

from __future__ import annotations

from made_attempt import Action, analysed, assess, attempt, state, trajectory

from dense.analysis.rules import RulesAnalyst
from dense.service import distill_sync
from dense.trajectory import Observation, Source, Step, ToolCall

EDIT = ("sed -i s/a/b/ app.py", "")
FAILS = ("pytest -q tests/test_app.py", "FAILED tests/test_app.py::test_sum\n1 failed, 1 passed in 0.1s", 1)
PASSES = ("pytest -q tests/test_app.py", "..\n2 passed in 0.1s")
WRITE = "Write the total to `/app/total.txt`."
DONE = "It is done and works."


def test_a_deliverable_that_was_computed_and_seen_is_complete() -> None:
    computed = ("python3 -c 'print(sum(range(5)) * 3)'", "30")
    written: tuple[Action, ...] = (("echo 30 > /app/total.txt", ""), ("cat /app/total.txt", "30"))
    assert state(attempt(WRITE, computed, *written, DONE)) == "complete"
    assert state(attempt(WRITE, *written, DONE)) == "unknown"  # a guess, read back
    assert state(attempt(WRITE, computed, written[0], DONE)) == "unknown"  # nobody looked
    limited = WRITE + " The total must be within 2% of the reference."
    assert state(attempt(limited, computed, *written, DONE)) == "unknown"  # nothing checks the limit


def test_a_file_of_the_same_sentence_that_nothing_names_keeps_it_unknown() -> None:
    task = "Create `/app/a.txt` with the words that `b.txt` holds, and `/app/c.txt` with the rest."
    made, read = ("grep -w it b.txt > /app/a.txt", ""), ("cat /app/a.txt", "it is")
    other = ("grep -vw it b.txt > /app/c.txt", "")
    assert state(attempt(task, made, read, DONE)) == "unknown"
    assert analysed(task, made, other, read, DONE).is_shown_done


def test_checks_of_the_agents_own_do_not_make_it_complete() -> None:
    assert state(attempt("Sums are wrong for dates.", EDIT, PASSES, DONE)) == "unknown"
    assert state(attempt(None, EDIT, PASSES, DONE)) == "unknown"


def test_an_open_issue_of_a_part_makes_the_whole_incomplete() -> None:
    actions: list[Action] = [("ls", "a"), ("cat app.py", "code"), EDIT, FAILS]
    actions += [("cat other.py", "x"), ("echo 1 > notes.md", ""), ("cat notes.md", "1"), DONE]
    done = distill_sync(attempt("Make the failing tests pass.", *actions), RulesAnalyst()).reconciled
    assert done.root.verdict is not None and done.root.verdict.state == "incomplete"
    assert [issue.resolved_at for issue in done.issues] == [None]


def test_key_actions_hold_products_and_the_last_look_at_them() -> None:
    made = ("cat > solve.py <<'E'\nopen('out.json', 'w').write('{}')\nE", "")
    run = ("python solve.py", "")
    look = ("cat out.json", '{"total": 3}')
    assessment = analysed("Write the total to `out.json`.", made, run, look, ("ls /usr", "bin"), DONE)
    assert assessment.key_actions == [1, 2, 3]
    assert assessment.evidence.products == {"solve.py": 1, "out.json": 2}


def test_what_subagents_wrote_is_a_product() -> None:
    inner = attempt("Write it.", ("cat > part.py <<'E'\nx\nE", ""), ("touch gone.txt", ""), ("rm gone.txt", ""))
    call = ToolCall("Task", {"description": "Build the part"})
    step = Step(Source("made"), calls=(call,), observations=(Observation("ok"),), subagents=(inner,))
    assert assess(trajectory(None, step, Step(Source("made"), DONE))).evidence.products == {"part.py": 1}


def test_a_missing_runner_is_an_attempt_even_before_any_change() -> None:
    missing = ("python3 -m pytest -q", "/usr/bin/python3: No module named pytest", 1)
    actions: list[Action] = [missing, ("python3 -m unittest", "Ran 3 tests in 0.1s\n\nOK"), EDIT, DONE]
    assert [one.first for one in analysed(None, *actions).attempts] == [1]


def test_a_run_that_the_agent_calls_wrong_is_no_recovery() -> None:
    crash = ("python solve.py", "Traceback (most recent call last):\nKeyError: 1", 1)
    ran = ("python solve.py", "put: -3.1\ndone")
    steps = attempt(None, ("echo x > solve.py", ""), crash, ("echo y > solve.py", ""), ran, ("ls", "x"), DONE).steps

    def recovery(message: str) -> int | None:
        said = Step(Source("made"), message, "", steps[4].calls, steps[4].observations)
        (only,) = assess(trajectory(None, *steps[:4], said, steps[5])).attempts
        return only.recovery

    assert recovery("Now let me look around.") == 4
    assert recovery("The puts are negative, which is wrong.") is None


def test_a_test_that_was_edited_to_pass_is_no_repair() -> None:
    edited = ("sed -i s/assertIn/assertNotIn/ tests/test_app.py", "")
    assert analysed(None, EDIT, FAILS, edited, PASSES, DONE).edited_tests([2], 4) == ["tests/test_app.py"]
    assert analysed(None, EDIT, FAILS, EDIT, PASSES, DONE).edited_tests([2], 4) == []
    run = attempt(None, EDIT, FAILS, edited, PASSES, ("git diff", "+b"), DONE)
    assert "made to pass by changing the test itself" in distill_sync(run, RulesAnalyst()).feedback.report


def test_looks_between_a_failure_and_its_recovery_do_not_end_an_attempt() -> None:
    looks = [(f"cat part_{n}.py", "x") for n in range(6)]
    assert [one.recovery for one in analysed(None, EDIT, FAILS, *looks, EDIT, PASSES).attempts] == [10]


def test_another_failure_after_the_recovery_is_another_attempt() -> None:
    fails = ("python solve.py", "Traceback (most recent call last):\nKeyError: 'a'", 1)
    other = ("npm install leftpad", "npm ERR! 404 Not Found", 1)
    actions: list[Action] = [("echo 1 > solve.py", ""), fails, ("python solve.py", "42"), other, DONE]
    (first, *_) = analysed(None, *actions).attempts
    assert (first.first, first.last, first.recovery) == (2, 3, 3)


def test_what_lookups_returned_for_a_change_matters() -> None:
    """The calls that gave the ids of a booking are kept; one that gave nothing of it is not."""

    def ask(name: str, arguments: dict[str, str], answer: str) -> Step:
        call = ToolCall(name, arguments, name)
        return Step(Source("made"), "", "", (call,), (Observation(answer, name),))

    steps = (
        ask("get_user_details", {"user": "mia"}, '{"payment": "card_9879"}'),
        ask("get_weather", {"city": "Rome"}, "sunny"),
        ask("search_flights", {"to": "Rome"}, '[{"flight": "HAT229", "price": 80}]'),
        ask("update_booking", {"flight": "HAT229", "payment": "card_9879"}, '{"status": "booked"}'),
        Step(Source("made"), "You are booked.", observations=(Observation("Thanks!", origin="user"),)),
    )
    whole = trajectory("Book the cheapest flight.", *steps)
    assert assess(whole).key_actions == [1, 3, 4]
    assert "The user had the last word." in distill_sync(whole, RulesAnalyst()).feedback.report


def test_a_part_whose_fetches_all_failed_found_nothing_out() -> None:
    refused, came = ("curl https://a.org/x", "curl: (6) Could not resolve host: a.org", 6), ("ls", "b.txt")
    rest = (("sed -i s/a/b/ b.txt", ""), "I stop.")
    assert not analysed(None, refused, came, *rest).is_shown_within(1, 2)
    assert analysed(None, ("curl https://a.org/x", "a page"), came, *rest).is_shown_within(1, 2)
