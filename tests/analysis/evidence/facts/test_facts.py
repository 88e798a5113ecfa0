"""What one action was for, what kind of thing it was, what it is about."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_attempt import evidence_of
from made_facts import facts

from dense.analysis.actions.observations.result import ObservedResult
from dense.analysis.actions.step_effects import effects
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.facts.paths import same_file
from dense.analysis.evidence.facts.phases import Phase, runs_nothing
from dense.analysis.evidence.facts.traits import TopicChange
from dense.trajectory import Observation, Source, Step, ToolCall
from dense.tree import Leaf

SOURCE = Source("trace")


def of_step(step: Step) -> ActionFacts:
    return facts(Leaf("n0", 1, step), effects(step), ObservedResult())


def of_shell(command: str, message: str = "") -> ActionFacts:
    return of_step(Step(SOURCE, message=message, calls=(ToolCall("bash", {"command": command}),)))


def of_tool(name: str, **arguments: Any) -> ActionFacts:
    return of_step(Step(SOURCE, calls=(ToolCall(name, arguments),)))


@pytest.mark.parametrize(
    ("command", "phase", "family"),
    [
        ("ls -la && cat a.py | head -3", "explore", "ls"),
        ("cd /x && git -C sub --no-pager diff HEAD~1", "explore", "git diff"),
        ("python3 -c \"print(open('a.csv').read())\"", "explore", "python -"),
        ("unzip -l a.zip", "explore", "unzip"),
        ("node --version", "explore", "node"),
        ("find . -name '*.py' | xargs grep -l foo", "explore", "find"),
        ("pip install -q pandas", "setup", "pip install"),
        ("apt-get update && apt-get install -y gcc", "setup", "apt-get install"),
        ("git clone https://github.com/a/b", "setup", "git clone"),
        ("mkdir -p out", "setup", "mkdir"),
        ("python -m venv .venv && source .venv/bin/activate", "setup", "venv"),
        ("nohup python server.py > server.log 2>&1 &", "setup", "python server.py"),
        ("cat > solve.py <<'EOF'\nprint(1)\nEOF", "produce", "cat >"),
        ("sed -i s/a/b/ a.py", "produce", "sed -i"),
        ("sed -i s/a/b/ a.py && python a.py", "produce", "python a.py"),
        ("rm old.txt", "produce", "rm"),
        ("git commit -am x", "produce", "git commit"),
        ("sudo timeout 5 env A=b python3 solve.py --fast | tail -3", "run", "python solve.py"),
        ("python3 solve.py > run.log 2>&1", "run", "python solve.py"),
        ("bash -lc 'cd a && ./run.sh'", "run", "bash run.sh"),
        ("make -j4", "run", "make"),
        ("npm run build", "run", "npm build"),
        ("python3 -m pytest -q tests/test_a.py::test_b", "verify", "pytest"),
        ("cd /x && timeout 60 pytest > /tmp/out.txt", "verify", "pytest"),
        ("bash -lc 'sudo pytest -q'", "verify", "pytest"),
        ("npm test", "verify", "npm test"),
        ("go test ./...", "verify", "go test"),
        ("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff --cached", "deliver", "git diff"),
        ("echo MINI_SWE_AGENT_FINAL_OUTPUT", "deliver", "echo"),
        ("submit", "deliver", "submit"),
    ],
)
def test_shell(command: str, phase: Phase, family: str) -> None:
    found = of_shell(command)
    assert (found.phase, found.family) == (phase, family)


@pytest.mark.parametrize(
    ("name", "arguments", "phase", "family"),
    [
        ("Read", {"file_path": "/app/a.py"}, "explore", "Read"),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, "explore", "view"),
        ("str_replace_editor", {"command": "str_replace", "path": "a.py", "new_str": "x"}, "produce", "str_replace"),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: a.py\n*** End Patch"}, "produce", "apply_patch"),
        ("web_search", {"query": "rust borrow checker"}, "explore", "web_search"),
        ("get_order_details", {"order_id": "W1"}, "explore", "get_order_details"),
        ("update_order", {"order_id": "W1"}, "produce", "update_order"),
        ("mcp__shop__cancelOrder", {"id": "W1"}, "produce", "cancelOrder"),
        ("browser_click", {"ref": "e3"}, "run", "browser_click"),
        ("final_answer", {"answer": "42"}, "deliver", "final_answer"),
        ("submit", {"answer": "42"}, "deliver", "submit"),
        ("finish", {}, "deliver", "finish"),
        ("AgentFinishAction", {}, "deliver", "AgentFinishAction"),
        ("mark_task_complete", {}, "deliver", "mark_task_complete"),
        ("task_complete", {}, "deliver", "task_complete"),
        ("transfer_to_human_agents", {"summary": "x"}, "deliver", "transfer_to_human_agents"),
        ("think", {"thought": "hm"}, "talk", "think"),
        ("TodoWrite", {"todos": []}, "talk", "TodoWrite"),
        ("Task", {"prompt": "look around"}, "run", "Task"),
    ],
)
def test_tools(name: str, arguments: dict[str, Any], phase: Phase, family: str) -> None:
    found = of_tool(name, **arguments)
    assert (found.phase, found.family) == (phase, family)


def test_a_message_without_a_call_is_talk() -> None:
    found = of_step(Step(SOURCE, message="Done."))
    assert (found.phase, found.family, found.targets, found.signature) == ("talk", "", (), "")


@pytest.mark.parametrize(
    ("command", "targets"),
    [
        ("cp ./a.py /app//b.py", ("/app/b.py", "a.py")),
        ("pytest -q tests/test_a.py::test_b", ("tests/test_a.py",)),
        ("curl -s https://user@Example.org:8000/health?x=1", ("example.org:8000",)),
        ("pip install pandas", ("pandas",)),
        ("ls", ()),
    ],
)
def test_targets(command: str, targets: tuple[str, ...]) -> None:
    assert of_shell(command).targets == targets


def test_targets_of_a_tool_that_no_table_knows_are_its_arguments() -> None:
    assert of_tool("get_order_details", order_id="W1", verbose=True).targets == ("W1",)


@pytest.mark.parametrize(
    ("a", "b", "are_same"),
    [
        ("a.py", "./a.py", True),
        ("a.py", "/app/a.py", True),
        ("src/a.py", "/app/src/a.py", True),
        ("../src/a.py", "src/a.py", True),
        ("~/a.py", "/home/me/a.py", True),
        ("$PWD/a.py", "a.py", True),
        ("src\\a.py", "src/a.py", True),
        ("out/", "out", True),
        ("src/a.py", "tests/a.py", False),
        ("/app/a.py", "/tmp/a.py", False),
        ("/a.py", "/app/a.py", False),
        ("a.py", "ba.py", False),
        (".", ".", False),
        ("", "", False),
    ],
)
def test_same_file(a: str, b: str, are_same: bool) -> None:
    assert same_file(a, b) is are_same
    assert same_file(b, a) is are_same


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("pytest -q", "pytest  -q 2>&1 | tail -20", True),
        ("pytest -q", "pytest -q 2>/dev/null;", True),
        ("sed -n 1,50p a.py", "sed -n 51,99p a.py", False),
        ("pytest -q | grep a", "pytest -q | grep b", False),
        ("cat <<E\n" + "x" * 3000 + "a\nE", "cat <<E\n" + "x" * 3000 + "b\nE", False),
    ],
)
def test_gist(one: str, other: str, is_same: bool) -> None:
    assert (of_shell(one).signature == of_shell(other).signature) is is_same


@pytest.mark.parametrize(
    ("message", "opens"),
    [
        ("Analysis: the total is right. Now the chart.", 1),
        ("Next, I measure.", 1),
        ("Nowhere to be found.", 0),
        ("It knows now where to look.", 0),
        ("", 0),
    ],
)
def test_words_that_turn_to_something_new(message: str, opens: TopicChange) -> None:
    assert of_shell("ls", message).topic_change == opens


def test_a_plan_that_is_updated_turns_to_something_new() -> None:
    assert of_tool("update_plan", plan=[]).topic_change == 2


@pytest.mark.parametrize(
    ("command", "is_lasting"),
    [("rm a", True), ("git commit -m x", True), ("systemctl start nginx", True), ("cat a", False), ("make", False)],
)
def test_what_cannot_be_taken_back(command: str, is_lasting: bool) -> None:
    assert of_shell(command).is_irreversible is is_lasting


def test_a_user_who_answers() -> None:
    assert of_step(
        Step(SOURCE, message="Which one?", observations=(Observation("Red.", origin="user"),))
    ).is_followed_by_user


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["bash", "Edit", "python", "str_replace_editor", "submit", "mcp__a__b", ""]) | st.text()
CALLS = st.builds(
    ToolCall,
    name=NAMES,
    arguments=st.dictionaries(
        st.sampled_from(["command", "input", "path", "code", "url", "keystrokes"]) | st.text(), VALUES
    ),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(CALLS, max_size=3), st.text(), st.text())
def test_any_step_is_taken(calls: list[ToolCall], message: str, reasoning: str) -> None:
    step = Step(SOURCE, message=message, reasoning=reasoning, calls=tuple(calls))
    assert of_step(step) == of_step(step)


@given(st.text(), st.text())
def test_same_file_goes_both_ways(a: str, b: str) -> None:
    assert same_file(a, b) == same_file(b, a)


def test_arguments_that_cannot_be_shown() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    found = of_tool("mystery", deep=deep, long=10**5000)
    assert found.signature == "mystery\x1flist\x1fint"


@pytest.mark.parametrize(
    ("text", "is_idle"),
    [
        (":", True),
        (': "run the tests"', True),
        (": ls -la | head", True),
        (": python3 <<'EOF'\nprint(1); import os\nEOF", True),
        ("sleep 5 && echo done", True),
        (': python3 -c "2+2" 2>&1\necho "The result is $?"', True),
        ("} ,", True),
        (": ; ls", False),
        ("sleep 5; ls", False),
        (": $(ls)", False),
        ("true && ls", False),
        ("echo $HOME", False),
        ("echo 1 > f", False),
        ("echo 'ls' | sh", False),
    ],
)
def test_a_text_that_runs_nothing_is_talk(text: str, is_idle: bool) -> None:
    assert runs_nothing(text) is is_idle
    (fact,) = evidence_of(None, (text, "")).facts
    assert (fact.phase == "talk") is is_idle


@pytest.mark.parametrize(
    ("command", "output", "has_passed"),
    [
        ("python check.py", "a.txt\n", True),
        ("python check.py; ls", "a.txt\n", False),
        ("python check.py; ls", "all checks passed\na.txt\n", True),
        ("python check.py && ls", "a.txt\n", True),
    ],
)
def test_the_output_of_another_command_proves_no_check(command: str, output: str, has_passed: bool) -> None:
    evidence = evidence_of(None, (command, output))
    assert evidence.facts[0].has_passed is has_passed
    assert [check.has_passed for check in evidence.checks] == [has_passed or None]
