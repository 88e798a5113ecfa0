"""Names of stretches."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from made_facts import facts

from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.step_effects import effects
from dense.analysis.evidence.deliverables.products import products
from dense.analysis.evidence.links.action_links import ActionLinks
from dense.analysis.wording.actions import NarratedAction
from dense.analysis.wording.titles import MAX_TITLE_CHARS, attempt_title, distinct_titles, title
from dense.trajectory import Observation, Source, Step, ToolCall
from dense.tree import Leaf

FAILED = "FAILED t.py::test_a - assert 1\n1 failed, 3 passed in 0.1s\n"
PASSED = "....\n4 passed in 0.10s\n"
NO_PYTEST = "/usr/bin/python3: No module named pytest"
ERRORS = "E   fixture 'db' not found\n14 errors in 0.41s\n"
NONE_RAN = "no tests ran in 0.01s"
NOT_STARTED = (
    "E       [100%]\nE   shop.Unset: no address is set\n==== short test summary info ====\nERROR t.py::test_a\n"
)
NO_TEST = "Edit dur.py; no test ran"
KEY_ERROR = "Traceback (most recent call last):\n  File \"s.py\", line 1, in <module>\nKeyError: 'a'\n"


STOPPED = Step(
    Source("t"),
    calls=(ToolCall("bash", {"command": "npm test"}),),
    observations=(Observation("[Request interrupted by user]", is_error=True),),
)


def narrated(*actions: tuple[str, str, int] | Step) -> list[NarratedAction]:
    """Shell commands with their output and exit code, or steps."""
    found: list[tuple[Step, Leaf]] = []
    for number, action in enumerate(actions, 1):
        if isinstance(action, Step):
            step = action
        else:
            command, text, code = action
            call = ToolCall("bash", {"command": command})
            step = Step(Source("t"), calls=(call,), observations=(Observation(text, exit_code=code),))
        found.append((step, Leaf(f"n{number - 1}", number, step)))
    known = [facts(leaf, effects(step), observe(step, effects(step))) for step, leaf in found]
    history = ActionLinks(known)
    return [
        NarratedAction(fact, step, history.phase(fact.action)) for fact, (step, _) in zip(known, found, strict=True)
    ]


def named(actions: Sequence[NarratedAction]) -> str:
    return title(actions, products(actions))


def call(name: str, text: str = "{}", **arguments: str) -> Step:
    return Step(Source("t"), calls=(ToolCall(name, {**arguments}),), observations=(Observation(text),))


@pytest.mark.parametrize(
    ("actions", "name"),
    [
        (
            [("pytest -q", FAILED, 1), ("sed -i s/a/b/ dur.py", "", 0), ("pytest -q", PASSED, 0)],
            "Fix dur.py until the tests pass",
        ),
        ([("sed -i s/a/b/ dur.py", "", 0), ("pytest -q", FAILED, 1)], "Edit dur.py; the tests still fail"),
        ([("pytest -q", FAILED, 1)], "Run the tests: 1 fails"),
        (
            [("pytest a.py", FAILED, 1), ("sed -i s/a/b/ dur.py", "", 0), ("pytest b.py", PASSED, 0)],
            "Edit dur.py; the tests pass",
        ),
        (
            [("pytest a.py", FAILED, 1), ("sed -i s/a/b/ dur.py", "", 0), ("pytest -q", PASSED, 0)],
            "Fix dur.py until the tests pass",
        ),
        ([("python3 -m pytest", NO_PYTEST, 1)], "Try to run the tests: pytest is not installed"),
        (
            [("sed -i s/a/b/ dur.py", "", 0), ("python3 -m pytest", NO_PYTEST, 1)],
            "Edit dur.py; pytest is not installed",
        ),
        ([("sed -i s/a/b/ dur.py", "", 0), ("pytest -q", ERRORS, 2)], "Edit dur.py; no test ran"),
        ([("pytest -q", PASSED, 0)], "Run the tests: all pass"),
        ([("pytest -q", PASSED, 0), ("pytest -q new", NONE_RAN, 5)], "Run the tests: all pass"),
        ([("pytest -q new", NONE_RAN, 5)], "Try to run the tests: no test ran"),
        ([("sed -i s/a/b/ dur.py", "", 0), ("pytest -q new", NONE_RAN, 5)], "Edit dur.py; no test ran"),
        ([("sed -i s/a/b/ dur.py", "", 0), ("pytest -qq t.py", NOT_STARTED, 1)], "Edit dur.py; no test ran"),
        ([("sed -i s/a/b/ dur.py", "", 0), ("pytest -q > /dev/null || true", "", 0)], "Edit dur.py"),
        ([("sed -i s/a/b/ dur.py", "", 0), ("npm test", "No tests found, exiting with code 0", 0)], NO_TEST),
        ([("sed -i s/a/b/ dur.py", "", 0), STOPPED], "Edit dur.py; test stopped"),
        ([("pytest -q -k 'not test_a'", PASSED, 0)], "Run the tests without test_a: all pass"),
        (
            [("pytest -q", FAILED, 1), ("echo '[pytest]' > pytest.ini", "", 0), ("pytest -q", PASSED, 0)],
            "Change pytest.ini until the tests pass",
        ),
        ([("echo 30 > /app/total.txt", "", 0)], "Write total.txt"),
        ([("sort a > /app/b.dat\ngnuplot x", "bash: gnuplot: command not found", 127)], "Write b.dat"),
        ([("gnuplot x && sort a > /app/b.dat", "bash: gnuplot: command not found", 127)], "Try to make b.dat"),
        (
            [("sort a > b.dat; gnuplot b.dat > c.png", "bash: gnuplot: command not found", 127)],
            "Try to make c.png",
        ),
        (
            [("cat a.img", "x\n" * 9, 0), ("python3 -c 'print(4 * 12)'", "48", 0), ("strings a.img", "x\n" * 9, 0)],
            'Work out "48"',
        ),
        ([("pip install numpy", "Successfully installed numpy-2.0", 0)], "Install numpy"),
        ([("cat a.py", "x", 0), ("cat b.py", "y", 0)], "Look at a.py and b.py"),
        ([("cat a.py b.py c.py", "x", 0), ("cat a.py", "x", 0)], "Look at a.py and 2 more files"),
        ([("rm old.txt", "", 0)], "Remove old.txt"),
        ([("mkdir -p /app/output", "", 0)], "Make output"),
        ([("sed -i s/a/b/ p.py", "", 0), ("python3 check_speed.py", "ok", 0)], "Edit p.py; check_speed.py passes"),
        ([call("get_user_details", user_id="mia")], "Get user details"),
        ([call("final_answer", answer="42")], 'Hand in "42"'),
        ([call("transfer_to_human_agents", summary="A refund")], 'Transfer to a human: "A refund"'),
        ([call("WebSearch", query="moon")], 'Search the web for "moon"'),
        ([call("calculate", expression="500 - 299")], 'Calculate "500 - 299"'),
        ([call("Grep", pattern="session")], "Search for `session`"),
        ([("awk '{s += $1} END {print s}' a > /tmp/sum.txt", "", 0)], "Write sum.txt"),
        ([("git commit -qm 'Add the parser'", "", 0)], 'Commit: "Add the parser"'),
        ([("git merge feature", "CONFLICT (content): Merge conflict in a.py", 1)], "Try to run git merge"),
        ([("sed -i s/a/b/ main.rs && cargo fmt", "", 0)], "Edit main.rs"),
        ([("pip install -e .", "Successfully installed shop-1.0", 0)], "Install the project"),
    ],
)
def test_a_stretch_is_named_by_what_it_was_for(actions: list[tuple[str, str, int] | Step], name: str) -> None:
    assert named(narrated(*actions)) == name


def test_a_title_is_short_whatever_the_names_are() -> None:
    long = [(f"echo x > {'name' * 30}{n}.txt", "", 0) for n in range(5)]
    assert 0 < len(named(narrated(*long))) <= MAX_TITLE_CHARS
    assert named([]) == "Nothing"
    assert named(narrated(call("edit", path="\x1b"))) != ""


UNSEEN = ["\x1b", "\x00", "\u202e", "\u200b \x1b[31m"]
TRIES = [
    "{}",
    "rm '{}'",
    "cat '{}'",
    "echo 1 > '{}'",
    "pip install '{}'",
    "python3 '{}'",
    "./{}",
    "curl '{}'",
    "nohup {} &",
]


@pytest.mark.parametrize("name", UNSEEN)
@pytest.mark.parametrize("command", TRIES)
def test_what_cannot_be_seen_has_a_title_all_the_same(command: str, name: str) -> None:
    for code in (0, 1, 127):
        tried = narrated((command.format(name), f"bash: {name}: command not found" if code else name, code))
        for text in (named(tried), attempt_title(tried, is_recovered=False), attempt_title(tried, is_recovered=True)):
            assert text.strip()
            assert text.isprintable()


@pytest.mark.parametrize("name", UNSEEN)
def test_a_tool_without_a_name_has_a_title_all_the_same(name: str) -> None:
    for step in (call(name), call(name, **{name: name}), call("edit", path=name), call("final_answer", answer=name)):
        assert named(narrated(step)).strip()


SCRIPT = "cat > s.py <<'E'\nopen('/app/out.json', 'w').write('1')\nE\npython3 s.py"


def test_a_program_that_failed_made_nothing_but_itself() -> None:
    done = products(narrated((SCRIPT, KEY_ERROR, 1)))
    assert done.made == ("s.py",)
    assert done.failed == ("/app/out.json",)


def test_what_a_program_was_to_make_is_there_once_it_ran() -> None:
    done = products(narrated((SCRIPT, KEY_ERROR, 1), ("sed -i s/a/b/ s.py; python3 s.py", "done", 0)))
    assert set(done.made) == {"s.py", "/app/out.json"}
    assert not done.failed


def test_a_look_at_a_file_that_may_be_missing_shows_nothing() -> None:
    done = products(narrated((SCRIPT, KEY_ERROR, 1), ("file /app/out.json", "cannot open", 0)))
    assert done.failed == ("/app/out.json",)


def test_what_was_removed_is_not_made() -> None:
    assert products(narrated(("echo 1 > a.txt", "", 0), ("rm ./a.txt", "", 0))).made == ()
    assert products(narrated(("echo 1 > a; echo 2 > ab", "", 0))).made == ("a", "ab")


def test_an_edit_that_a_tool_refused_changed_nothing() -> None:
    call = ToolCall("Edit", {"file_path": "a.py", "old_string": "x", "new_string": "z"})
    refused = Step(Source("t"), calls=(call,), observations=(Observation("not found in file", is_error=True),))
    assert products(narrated(refused, ("cat a.py", "x", 0))).made == ()


def test_an_attempt_is_named_by_how_it_ended() -> None:
    tried = narrated(("gnuplot x", "bash: gnuplot: command not found", 127), ("cat a", "x", 0))
    assert attempt_title(tried, is_recovered=False) == "gnuplot is not installed"


def test_neighbours_of_one_name_are_distinct_titles() -> None:
    def edit(words: str) -> Step:
        made = ToolCall("edit_file", {"path": "heston.py", "old_string": "a", "new_string": "b"})
        return Step(Source("t"), words, calls=(made,), observations=(Observation("ok"),))

    stretches = [
        narrated(edit("Fix the integrand first.")),
        narrated(edit("Use fewer steps.")),
        narrated(("ls", "a", 0)),
    ]
    names = [named(one) for one in stretches]
    assert names[0] == names[1]
    assert distinct_titles(names, stretches) == [
        'Edit heston.py: "Fix the integrand first."',
        'Edit heston.py: "Use fewer steps."',
        names[2],
    ]


def test_a_given_up_program_is_named_with_its_error() -> None:
    assert (
        attempt_title(narrated(("python3 -c 'x[1]'", KEY_ERROR, 1)), is_recovered=False) == "Python: KeyError, given up"
    )


def test_files_that_were_taken_back() -> None:
    assert named(narrated(("git checkout a.py b.py", "Updated 2 paths from the index", 0))) == "Revert a.py and b.py"


def test_a_value_beside_many_looks_is_no_name() -> None:
    looks = [("cat a.py", "x\n" * 20, 0)] * 4
    assert named(narrated(*looks, ("python3 -c 'print(2025)'", "2025", 0))) == "Look at a.py"


def test_an_attempt_at_a_check_that_timed_out_is_named_by_it() -> None:
    tries = narrated(
        ("python3 test_all.py", "The last command python3 test_all.py timed out and has been killed.", 124),
        ("rm try.py", "", 0),
    )
    assert "test_all.py timed out" in attempt_title(tries, is_recovered=False)


def test_why_tests_could_not_start_is_described() -> None:
    (action,) = narrated(("pytest -qq t.py", NOT_STARTED, 1))
    assert action.output_text == "no test could start (1 error): `shop.Unset: no address is set`"
