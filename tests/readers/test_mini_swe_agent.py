"""Trajectories of mini-swe-agent 1 and 2: the recorded ones, and small ones made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dense
from dense.errors import NoTrajectory
from dense.readers.formats.mini_swe_agent import MiniSweAgent

FIXTURES = Path(__file__).parents[1] / "fixtures" / "mini-swe-agent"
TASK = "The check in check.py fails: total() in ledger.py gives a wrong sum. Repair ledger.py so that check.py passes."


def recorded(name: str) -> dense.Trajectory:
    (trajectory,) = dense.read(FIXTURES / f"{name}.traj.json")
    return trajectory


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def runs(command: str) -> dict[str, Any]:
    return {"role": "assistant", "content": f"THOUGHT: Now.\n\n```bash\n{command}\n```"}


def document(*messages: Any, template: str | None = None, **info: Any) -> dict[str, Any]:
    config = {"agent": {"instance_template": template}} if template else {}
    return {"trajectory_format": "mini-swe-agent-1", "info": {"config": config} | info, "messages": list(messages)}


def read(tmp_path: Path, *documents: Any) -> list[dense.Trajectory]:
    path = tmp_path / "run.traj.json"
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return list(dense.read(path))


def only(tmp_path: Path, *messages: Any, **more: Any) -> dense.Trajectory:
    (trajectory,) = read(tmp_path, document(*messages, **more))
    return trajectory


@pytest.mark.parametrize(
    ("name", "version", "steps", "calls"),
    [
        ("v1-submitted", "1.17.5", 7, 6),
        ("v1-limit", "1.17.5", 2, 2),
        ("v2-submitted", "2.4.6", 6, 7),
        ("v2-text", "2.4.6", 3, 3),
        ("v2-image", "2.4.6", 2, 2),
        ("v2-killed", "2.4.6", 2, 2),
    ],
)
def test_recorded_runs(name: str, version: str, steps: int, calls: int) -> None:
    trajectory = recorded(name)
    assert (trajectory.format, trajectory.id, trajectory.agent) == ("mini-swe-agent", name, "mini-swe-agent")
    assert (trajectory.agent_version, trajectory.model) == (version, "openai/scripted")
    assert len(trajectory.steps) == steps
    assert sum(len(step.calls) for step in trajectory.steps) == calls
    assert all(step.timestamp and step.source.index is not None for step in trajectory.steps)
    assert trajectory.usage == dense.Usage(1000 * steps, 0, None, 50 * steps)
    assert trajectory.notices == ()
    if name != "v2-image":
        assert trajectory.task == dense.Task(TASK)


def test_version_1_has_its_command_in_a_fence_and_its_output_in_a_user_message() -> None:
    first = recorded("v1-submitted").steps[0]
    assert first.message == "THOUGHT: I look at what is there."
    assert first.calls == (dense.ToolCall("bash", {"command": "ls && cp ledger.py ledger.orig"}),)
    (seen,) = first.observations
    assert (seen.origin, seen.exit_code) == ("tool", 0)
    assert seen.text.startswith("<returncode>0</returncode>\n<output>\ncheck.py")


def test_an_answer_without_a_command_is_an_action_and_what_the_harness_says_is_no_output() -> None:
    step = recorded("v1-submitted").steps[1]
    assert (step.calls, step.message) == ((), "I think that the sum is wrong, so I would change the operator.")
    assert [(o.origin, o.text) for o in step.observations] == [
        ("system", "Give exactly one command in a bash fence; there were 0.")
    ]


def test_return_codes_of_version_1() -> None:
    codes = [o.exit_code for step in recorded("v1-submitted").steps for o in step.observations]
    assert codes == [0, None, 1, 0, None, 0, None]


def test_the_submission_is_the_output_of_the_last_command() -> None:
    for name in ("v1-submitted", "v2-submitted"):
        last = recorded(name).steps[-1]
        assert "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT" in last.calls[0].arguments["command"]
        (seen,) = last.observations
        assert seen.origin == "tool"
        assert seen.text.startswith("@@ -1,5 +1,5 @@")


def test_an_empty_last_message_is_no_observation() -> None:
    assert [len(step.observations) for step in recorded("v1-limit").steps] == [1, 1]


def test_version_2_links_results_to_calls() -> None:
    first = recorded("v2-submitted").steps[0]
    assert first.reasoning == "Two things to look at; I can ask for both at once."
    assert [call.id for call in first.calls] == ["call_01_0", "call_01_1"]
    assert [(o.call_id, o.exit_code) for o in first.observations] == [("call_01_0", 0), ("call_01_1", 0)]


def test_errors_of_format_in_version_2_are_words_of_the_harness() -> None:
    second = recorded("v2-submitted").steps[1]
    assert [o.origin for o in second.observations] == ["tool", "system", "system"]
    assert [o.text.startswith(("No tool calls", "Unknown tool")) for o in second.observations] == [False, True, True]


def test_a_time_limit_in_version_2() -> None:
    (seen,) = recorded("v2-submitted").steps[3].observations
    assert (seen.exit_code, "timed out after 2 seconds" in seen.text) == (-1, True)


def test_version_2_with_fences() -> None:
    steps = recorded("v2-text").steps
    assert [call.arguments["command"][:4] for step in steps for call in step.calls] == ["cat ", "sed ", "echo"]
    assert [o.origin for o in steps[0].observations] == ["tool", "system"]


def test_an_image_becomes_a_marker() -> None:
    first = recorded("v2-image").steps[0]
    assert "[image: image/png, 74 bytes]" in first.observations[0].text


def test_an_exit_message_without_output_stays_with_the_harness(tmp_path: Path) -> None:
    ran = user("<returncode>0</returncode>")
    (step,) = only(tmp_path, user("Go."), runs("ls"), ran, {"role": "exit", "content": "LimitsExceeded"}).steps
    assert [(o.origin, o.text) for o in step.observations] == [("tool", ran["content"]), ("system", "LimitsExceeded")]


def test_how_a_run_ended_never_passes(tmp_path: Path) -> None:
    messages = [user("Go."), runs("ls"), {"role": "exit", "content": "", "extra": {"exit_status": "a"}}]
    ended = [document(*messages, exit_status=word, submission=word) for word in ("Submitted", "LimitsExceeded")]
    assert read(tmp_path, ended[0]) == read(tmp_path, ended[1])


def test_the_price_is_the_programs_own(tmp_path: Path) -> None:
    run = only(tmp_path, user("Go."), runs("ls"), model_stats={"instance_cost": 0.25, "api_calls": 1})
    assert run.usage == dense.Usage(cost_usd=0.25)
    assert only(tmp_path, user("Go."), runs("ls"), model_stats={"instance_cost": 0.0}).usage is None


@pytest.mark.parametrize(
    ("template", "prompt", "task"),
    [
        ("<task>\n{{task}}\n</task>\nGo.", "<task>\nCount </task> tags.\n</task>\nGo.", "Count </task> tags."),
        ("{{task}}", "Count.", "Count."),
        ("Do: {{ task }}\n", "Do: Count.", "Count."),
        ("Do: {{- task -}} now", "Do: Count. now", "Count."),
        (
            "On {{system}}, do: {{task}}\n\nRules:\n{% if x %}a{% endif %}",
            "On Linux, do: Count.\n\nRules:\na",
            "Count.",
        ),
        ("Please {{task}}!", "Something else.", "Something else."),
        ("{{task}}\n\n{% if x %}Long rules.{% endif %}", "Count.\n\nLong rules.", "Count.\n\nLong rules."),
        (
            "Please solve this issue: {{task}}{{rules}}",
            "Please solve this issue: Count.\n\nYou can execute bash commands and edit files.",
            "Count.",
        ),
        ("No variable.", "No variable.", "No variable."),
    ],
)
def test_the_task_is_what_the_template_was_filled_with(tmp_path: Path, template: str, prompt: str, task: str) -> None:
    assert only(tmp_path, user(prompt), runs("ls"), template=template).task == dense.Task(task)


def test_a_bare_list_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bare.traj.json"
    prompt = "Please solve this issue: Count.\n\nYou can execute bash commands and edit files."
    path.write_text(json.dumps([user(prompt), runs("ls"), user("<returncode>2</returncode>")]))
    (run,) = dense.read(path)
    assert (run.format, run.task, run.id) == ("mini-swe-agent", dense.Task("Count."), "bare")
    assert [o.exit_code for o in run.steps[0].observations] == [2]
    assert run.steps[0].source == dense.Source(str(path), index=1)


def test_several_runs_in_one_file_have_ids_of_their_own(tmp_path: Path) -> None:
    first = document(user("One."), runs("ls")) | {"instance_id": "a__b-1"}
    runs_ = read(tmp_path, first, first, document(user("Two."), runs("ls")))
    assert [(run.id, run.source.line) for run in runs_] == [("a__b-1", 1), ("a__b-1#row 1", 2), ("run", 3)]
    assert runs_[0].task == dense.Task("One.", "a__b-1")


def test_a_run_without_an_action_is_reported_also_behind_the_last(tmp_path: Path) -> None:
    (run,) = read(tmp_path, document(user("One."), runs("ls")), document(user("Two.")))
    assert [(n.kind, n.source.line) for n in run.notices] == [("skipped", 2)]
    with pytest.raises(NoTrajectory, match="no step of an agent"):
        read(tmp_path, document(user("Two.")))


def test_damage_is_reported_and_the_rest_kept(tmp_path: Path) -> None:
    messages = [7, user("Go."), runs("ls"), {"role": "alien", "content": "x"}, None, {"content": "y"}, runs("pwd")]
    run = only(tmp_path, *messages)
    assert [step.source.index for step in run.steps] == [2, 6]
    assert [n.source.index for n in run.notices if n.kind == "skipped"] == [0, 3, 4, 5]


def test_a_return_code_that_is_no_number_of_a_process_is_none(tmp_path: Path) -> None:
    run = only(tmp_path, user("Go."), runs("ls"), user(f"<returncode>{'9' * 6000}</returncode>"))
    assert [o.exit_code for o in run.steps[0].observations] == [None]


@pytest.mark.parametrize(
    ("value", "claimed"),
    [
        (document(), True),
        ({"info": {"mini_version": "2.4.6"}, "messages": []}, True),
        ([user("<returncode>0</returncode>"), runs("ls")], True),
        ([user("Hello."), {"role": "assistant", "content": "Hello."}], False),
        ({"messages": [user("<returncode>0</returncode>")]}, False),
        ({"trajectory_format": "mini-swe-agent-1"}, False),
        ({"trajectory_format": "other", "messages": []}, False),
        (None, False),
    ],
)
def test_claims(value: Any, claimed: bool) -> None:
    assert MiniSweAgent().claims([value]) is claimed


CODE_PROMPT = """Each of your answers is executable python code.
def do_something():
Tools:
1. shell_cmd(cmd: str): runs a command;
2. put_text(file_path: str, text: str = "", ) -> bool: writes a file
3. peek(file_path: str, lines: Tuple[int, int]): shows lines
4. submit(): ends the task
"""


def speaks(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def code_run(tmp_path: Path, *messages: dict[str, Any]) -> dense.Trajectory:
    return only(tmp_path, {"role": "system", "content": CODE_PROMPT}, user("Repair it."), *messages)


def test_a_message_that_is_a_program_has_the_calls_of_offered_functions(tmp_path: Path) -> None:
    program = """# Thoughts: Write a check and run it.
@checking
def write_and_run_check():
    text = "assert total([1, 2]) == 3\\n"
    put_text('check.py', text)
    return shell_cmd(cmd="python check.py")"""
    answer = user("<returncode>0</returncode>\n<output>\nTraceback (most recent call last):\nAssertionError\n</output>")
    diff = user("diff --git a/ledger.py b/ledger.py\n--- a/ledger.py\n+++ b/ledger.py\n")
    first, last = code_run(tmp_path, speaks(program), answer, speaks("submit()"), diff).steps
    assert first.message == "# Thoughts: Write a check and run it.\n@checking\ndef write_and_run_check():"
    assert first.calls == (
        dense.ToolCall("put_text", {"file_path": "check.py", "text": "assert total([1, 2]) == 3\n"}),
        dense.ToolCall("shell_cmd", {"cmd": "python check.py"}),
    )
    assert [(seen.origin, seen.exit_code) for seen in first.observations] == [("tool", 0)]
    assert (last.message, last.calls) == ("", (dense.ToolCall("submit"),))
    assert [(seen.origin, seen.text) for seen in last.observations] == [("tool", diff["content"])]


def test_a_program_with_a_will_of_its_own_stays_in_the_message(tmp_path: Path) -> None:
    program = "def look():\n    for name in ('a.py', 'b.py'):\n        peek(name, (1, 9), 'all')"
    (step,) = code_run(tmp_path, speaks(program), user("<returncode>0</returncode>")).steps
    assert step.message == program
    arguments = {"file_path": "name", "lines": "(1, 9)", "argument_3": "all"}
    assert step.calls == (dense.ToolCall("peek", arguments),)


def test_a_program_that_does_not_parse_and_was_run_is_a_call_of_an_interpreter(tmp_path: Path) -> None:
    answer = user("<returncode>1</returncode>\n<output>\nSyntaxError: invalid syntax\n</output>")
    (step,) = code_run(tmp_path, speaks("# Thoughts: Look.\ndef look():\n    return shell_cmd('ls"), answer).steps
    assert step.message == "# Thoughts: Look."
    assert step.calls == (dense.ToolCall("python", {"code": "def look():\n    return shell_cmd('ls"}),)
    assert [(seen.origin, seen.exit_code) for seen in step.observations] == [("tool", 1)]


@pytest.mark.parametrize("said", ["x = shell_cmd('rm a.py')", "I would call shell_cmd('ls') now.", "print('done')"])
def test_a_program_that_was_not_run_called_nothing(tmp_path: Path, said: str) -> None:
    (step,) = code_run(tmp_path, speaks(said), user("No function in the answer.")).steps
    assert (step.message, step.calls) == (said, ())
    assert [seen.origin for seen in step.observations] == ["system"]


def test_functions_that_nobody_offered_are_no_calls(tmp_path: Path) -> None:
    (step,) = only(tmp_path, user("Repair it."), speaks("shell_cmd('ls')"), user("<returncode>0</returncode>")).steps
    assert (step.message, step.calls) == ("shell_cmd('ls')", ())


def test_values_in_programs_are_text_that_can_be_written(tmp_path: Path) -> None:
    program = "put_text('\\ud800', 1e999)\nput_text(10 ** 30, " + "9" * 40 + ")"
    (step,) = code_run(tmp_path, speaks(program), user("<returncode>0</returncode>")).steps
    values = [value for call in step.calls for value in call.arguments.values()]
    assert values == ["\ufffd", "1e309", "10 ** 30", "9" * 40]


def test_a_fence_beside_programs_keeps_its_call_whatever_the_answer_says(tmp_path: Path) -> None:
    said, last = speaks("shell_cmd('ls')"), user("diff --git a/a b/a")
    steps = code_run(tmp_path, said, runs("ls"), last).steps
    assert [[call.name for call in step.calls] for step in steps] == [["shell_cmd"], ["bash"]]


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("1. I look:\n   ```bash\n   ls -la\n   cat a\n   ```", "ls -la\ncat a"),
        ("I look.\n```bash\nls -la\n  ```\nThen more.", "ls -la"),
        ("I write.\n  ```bash\ncat > a <<'EOF'\n  x\nEOF\n  ```", "cat > a <<'EOF'\n  x\nEOF"),
    ],
)
def test_an_indented_fence_is_a_call_if_it_was_run(tmp_path: Path, said: str, command: str) -> None:
    """Constructed: forks of version 1 take them; version 1 itself refuses them."""

    def read(answer: str) -> dense.Step:
        messages = [
            {"role": "system", "content": "You work in a shell."},
            {"role": "user", "content": "<task>\nCount.\n</task>"},
            {"role": "assistant", "content": said},
            {"role": "user", "content": answer},
        ]
        path = tmp_path / "a.traj.json"
        path.write_text(json.dumps({"messages": messages, "info": {"mini_version": "1.15.0"}}))
        (trajectory,) = dense.read(path)
        return trajectory.steps[0]

    assert [call.arguments for call in read("<returncode>0</returncode>\n<output>\na\n</output>").calls] == [
        {"command": command}
    ]
    refused = read("Please always provide EXACTLY ONE action in triple backticks, found 0 actions.")
    assert (refused.calls, refused.message) == ((), said)


def test_an_indented_submission_is_answered_by_itself(tmp_path: Path) -> None:
    said = "Done.\n  ```bash\n  echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n  ```"
    messages = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": said}]
    path = tmp_path / "a.traj.json"
    path.write_text(
        json.dumps({"messages": [*messages, {"role": "user", "content": "diff"}], "info": {"mini_version": "1"}})
    )
    (trajectory,) = dense.read(path)
    assert [call.arguments["command"] for call in trajectory.steps[0].calls] == [
        "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
    ]
