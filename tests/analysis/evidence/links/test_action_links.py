"""What repairs, repeats, reads back, recovers, breaks or loses what."""

from __future__ import annotations

import msgspec
from made_facts import facts

from dense.analysis.actions.observations.result import ObservedFailure, ObservedResult
from dense.analysis.actions.observations.result import TestRun as Run
from dense.analysis.actions.step_effects import effects
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.links.action_links import REACH, ActionLinks
from dense.knowledge.errors import EXCEPTION, NO_SUCH_COMMAND, NO_SUCH_FILE, NO_SUCH_MODULE, ErrorFamily
from dense.trajectory import Observation, Origin, Source, Step, ToolCall
from dense.tree import Leaf

OK = ObservedResult(is_empty=False)
PASSED = ObservedResult(tests=(Run("pytest", 5, 0, "5 passed"),), is_empty=False)
BROKEN = ObservedResult(tests=(Run("pytest", 3, 2, "2 failed, 3 passed"),), is_empty=False)


def failed(line: str = "KeyError: 'amount'", family: ErrorFamily = EXCEPTION, subject: str = "") -> ObservedResult:
    return ObservedResult(failures=(ObservedFailure(family, line, subject),), is_empty=False)


def history(*actions: tuple[str, ObservedResult] | str) -> ActionLinks:
    """Shell commands with what came back; a command alone went well."""
    found: list[ActionFacts] = []
    for number, action in enumerate(actions, 1):
        command, seen = (action, OK) if isinstance(action, str) else action
        step = Step(Source("trace"), calls=(ToolCall("bash", {"command": command}),))
        found.append(facts(Leaf(f"n{number - 1}", number, step), effects(step), seen))
    return ActionLinks(found)


def test_a_change_to_the_program_that_failed_repairs_it() -> None:
    made = history("cat > a.py <<E\nE", ("python a.py", failed()), "cat in.csv", "sed -i s/a/b/ a.py", "python a.py")
    assert made.repairs(4) == 2
    assert made.retries(5) == 2
    assert made.recovered_by(2) == 5
    assert not made.gives_up(2)


def test_a_change_to_the_file_that_the_failing_line_names_repairs_it() -> None:
    line = 'File "lib/parse.py", line 3: SyntaxError'
    made = history("ls", ("python main.py", failed(line)), "sed -i s/a/b/ lib/parse.py")
    assert made.repairs(3) == 2


def test_a_change_right_after_a_failed_check_repairs_it() -> None:
    assert history(("pytest -q", BROKEN), "cat src/a.py", "sed -i s/a/b/ src/a.py").repairs(3) == 1


def test_a_change_long_after_a_failed_check_does_not() -> None:
    made = history(("pytest -q", BROKEN), *["ls"] * 5, "sed -i s/a/b/ src/a.py")
    assert made.repairs(7) is None


def test_installing_what_was_missing_repairs() -> None:
    missing = failed("No module named 'pandas'", NO_SUCH_MODULE, "pandas")
    assert history(("python a.py", missing), "pip install pandas").repairs(2) == 1
    assert history(("python a.py", failed()), "pip install pandas").repairs(2) is None


def test_a_change_to_something_else_repairs_nothing() -> None:
    assert history(("python a.py", failed()), "cat > notes.md <<E\nE").repairs(2) is None


def test_a_look_that_fails_is_not_repaired_by_writing() -> None:
    missing = failed("cat: out.json: No such file or directory", NO_SUCH_FILE, "out.json")
    assert history(("cat out.json", missing), "echo 1 > out.json").repairs(2) is None


def test_what_lies_out_of_reach_is_not_tied() -> None:
    made = history(("python a.py", failed()), *["ls"] * (REACH + 1), "sed -i s/a/b/ a.py")
    assert made.repairs(REACH + 3) is None


def test_the_same_command_again_is_a_repeat() -> None:
    made = history("cat a.py", "ls", "cat a.py 2>&1 | head -50")
    assert made.repeats(3) == 1


def test_the_same_command_after_a_change_is_none() -> None:
    assert history("pytest -q", "sed -i s/a/b/ a.py", "pytest -q").repeats(3) is None


def test_waiting_is_no_repeat() -> None:
    assert history("sleep 5; cat log", "sleep 5; cat log").repeats(2) is None


def test_the_same_command_after_a_users_word_is_none() -> None:
    def step(origin: Origin) -> ActionFacts:
        one = Step(
            Source("t"), calls=(ToolCall("get_order", {"id": "W1"}),), observations=(Observation("x", origin=origin),)
        )
        return facts(Leaf("n0", 1, one), effects(one), OK)

    def made(origin: Origin) -> ActionLinks:
        one = step(origin)
        return ActionLinks([one, msgspec.structs.replace(one, action=2, is_followed_by_user=False)])

    assert made("tool").repeats(2) == 1
    assert made("user").repeats(2) is None


def test_showing_what_was_written_reads_it_back() -> None:
    made = history("echo 1 > /app/out.json", "ls", "cat out.json")
    assert made.reads_back(3) == 1
    assert made.phase(3) == "verify"
    assert made.phase(2) == "explore"


def test_running_what_was_written_is_tied_to_it_and_stays_a_run() -> None:
    made = history("cat > solve.py <<E\nE", "python3 /app/solve.py")
    assert made.reads_back(2) == 1
    assert made.phase(2) == "run"


def test_asking_a_service_that_was_started_reads_it_back() -> None:
    assert history("python app.py &", "curl localhost:8000/health").reads_back(2) == 1
    assert history("python app.py &", "curl https://example.org").reads_back(2) is None


def test_another_file_of_the_same_name_is_another_file() -> None:
    assert history("echo 1 > /app/a/out.json", "cat /app/b/out.json").reads_back(2) is None


def test_the_last_word_hands_over() -> None:
    step = Step(Source("t"), message="Done.")
    talk = facts(Leaf("n1", 2, step), effects(step), ObservedResult())
    first = history("ls").facts[0]
    assert ActionLinks([first, talk]).phase(2) == "deliver"
    assert ActionLinks([talk, first]).phase(2) == "talk"
    assert ActionLinks([first, talk]).is_last(2)


def test_giving_up() -> None:
    missing = failed("gnuplot: command not found", NO_SUCH_COMMAND, "gnuplot")
    made = history(("gnuplot a.plt", missing), ("gnuplot a.plt", missing), "ls", "cat notes.md")
    assert [n for n in range(1, 5) if made.gives_up(n)] == [2]
    assert not history("ls", ("python a.py", failed())).gives_up(2)


def test_code_that_names_nothing_takes_back_only_itself() -> None:
    made = history(("python -c 'import numpy'", failed()), "python -c 'import sys'", "python -c 'import numpy'")
    assert made.recovered_by(1) == 3


def test_a_check_of_everything_takes_back_a_check_of_a_part() -> None:
    made = history(("pytest tests/test_a.py", BROKEN), ("pytest", PASSED))
    assert made.recovered_by(1) == 2


def test_a_check_of_another_part_takes_back_nothing() -> None:
    made = history(("pytest tests/test_a.py", BROKEN), ("pytest tests/test_b.py", PASSED))
    assert made.recovered_by(1) is None


def test_the_only_change_between_a_passed_and_a_failed_check_broke_it() -> None:
    made = history(("pytest", PASSED), "sed -i s/a/b/ core.py", ("pytest", BROKEN))
    assert made.broke(2) == (1, 3)


def test_one_of_two_changes_is_not_blamed() -> None:
    made = history(("pytest", PASSED), "sed -i s/a/b/ core.py", "sed -i s/a/b/ more.py", ("pytest", BROKEN))
    assert made.broke(2) is None
    assert made.broke(3) is None


def test_a_new_test_that_fails_broke_nothing() -> None:
    made = history(("pytest", PASSED), "cat > test_more.py <<E\nE", ("pytest", BROKEN))
    assert made.broke(2) is None


def test_an_action_that_is_not_there() -> None:
    made = history("ls")
    assert made.of(9) is None
    assert made.repairs(9) is None
    assert not made.gives_up(9)


def test_a_part_of_a_trajectory_has_the_same_links() -> None:
    actions = [
        "cat > a.py <<E\nE",
        ("python a.py", failed()),
        "cat a.py",
        "cat a.py",
        "sed -i s/a/b/ a.py",
        "python a.py",
    ]
    whole, part = history("ls", "cat > a.py <<E\nE", *actions), ActionLinks(history("ls", "ls", *actions).facts[2:])
    for action in range(3, 9):
        assert part.repairs(action) == whole.repairs(action)
        assert part.retries(action) == whole.retries(action)
        assert part.reads_back(action) == whole.reads_back(action)
        assert part.repeats(action) == (whole.repeats(action) if action > 3 else None)  # a3 repeats a2
