"""ATIF trajectories: Harbor's own and the constructed ones under fixtures/atif, and small ones made here."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from cpu_time import assert_within

import dense
from dense.errors import NoTrajectory
from dense.readers import Stream, read_streams
from dense.readers.formats.atif import Atif

FIXTURES = Path(__file__).parents[1] / "fixtures" / "atif"
COUNT = "Count the lines of /app/words.txt that contain the letter e and write the number to /app/count.txt.\n"
GREET = "Write the greeting 'hello' to /app/greeting.txt."


def trial(job: str) -> Path:
    (found,) = (path for path in (FIXTURES / "jobs" / job).iterdir() if path.is_dir())
    return found


def recorded(job: str) -> dense.Trajectory:
    (trajectory,) = dense.read(trial(job))
    return trajectory


def constructed(name: str) -> dense.Trajectory:
    (trajectory,) = dense.read(FIXTURES / "constructed" / name)
    return trajectory


def user(text: Any = "Go.", **more: Any) -> dict[str, Any]:
    return {"step_id": 1, "source": "user", "message": text} | more


def agent(text: Any = "", *calls: str, results: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    """An agent's step with calls of these IDs."""
    step: dict[str, Any] = {"step_id": 2, "source": "agent", "message": text}
    if calls:
        step["tool_calls"] = [{"tool_call_id": c, "function_name": "bash", "arguments": {"command": c}} for c in calls]
    if results is not None:
        step["observation"] = {"results": results}
    return step | more


def document(*steps: Any, **more: Any) -> dict[str, Any]:
    made = {"schema_version": "ATIF-v1.7", "session_id": "s", "agent": {"name": "a", "version": "1", "model_name": "m"}}
    return made | {"steps": list(steps)} | more


def refers(*references: dict[str, Any]) -> dict[str, Any]:
    """An agent's step whose result refers to sub-agents."""
    return agent("Delegate.", "c", results=[{"source_call_id": "c", "subagent_trajectory_ref": list(references)}])


def write(path: Path, value: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def only(tmp_path: Path, *steps: Any, **more: Any) -> dense.Trajectory:
    (trajectory,) = dense.read(write(tmp_path / "trajectory.json", document(*steps, **more)))
    return trajectory


def words(trajectory: dense.Trajectory) -> list[str]:
    return [step.message for step in trajectory.steps]


def notes(trajectory: dense.Trajectory) -> list[str]:
    return [notice.text for notice in trajectory.notices]


def test_a_recorded_trial() -> None:
    read = recorded("basic")
    assert (read.format, read.agent, read.agent_version, read.model) == (
        "atif",
        "terminus-2",
        "2.0.0",
        "openai/scripted",
    )
    assert read.task == dense.Task(COUNT, "count-words")
    assert read.id == f"{trial('basic').name}__agent"
    assert [step.source.index for step in read.steps] == [1, 2, 3, 4, 5, 6, 7]
    assert [len(step.calls) for step in read.steps] == [3, 0, 1, 0, 2, 1, 2]
    assert read.steps[0].reasoning == "I know nothing about the file yet."
    assert all(step.timestamp and step.model is None for step in read.steps)
    assert read.notices == ()


def test_one_observation_for_several_commands_answers_the_whole_step() -> None:
    first = recorded("basic").steps[0]
    assert [o.call_id for o in first.observations] == [None]
    assert len(first.calls) == 3


@pytest.mark.parametrize("release", ["0.1.2", "0.1.18", "0.1.23", "0.1.31", "0.1.45", "0.22.0", "0.25.0"])
def test_every_version_of_the_schema(release: str) -> None:
    read = recorded(f"terminus-2-harbor-{release}")
    assert read.task == dense.Task(COUNT, "count-words")
    assert (len(read.steps), sum(len(step.calls) for step in read.steps)) == (4, 6)
    assert read.usage == dense.Usage(4000, 0, None, 200)


def test_raw_answers_are_read_like_converted_ones() -> None:
    raw, converted = recorded("raw-content"), recorded("terminus-2-harbor-0.25.0")
    assert words(raw) == words(converted)
    calls = [[(c.name, c.arguments) for step in read.steps for c in step.calls] for read in (raw, converted)]
    assert calls[0] == calls[1]


def test_a_trial_whose_time_was_up() -> None:
    assert len(recorded("timed-out").steps) == 1


def test_a_summarisation_nests_its_sub_agents_without_what_they_copied() -> None:
    read = recorded("summarised")
    assert len(read.steps) == 6
    assert [len(step.subagents) for step in read.steps] == [0, 0, 3, 0, 0, 0]
    names = [(a.agent or "").removeprefix("terminus-2-summarization-") for a in read.steps[2].subagents]
    assert names == ["summary", "questions", "answers"]
    assert [len(a.steps) for a in read.steps[2].subagents] == [1, 1, 1]
    assert [o.origin for o in read.steps[2].observations] == ["tool", "system", "user"]


def test_a_continuation_is_read_on_without_what_hands_it_over() -> None:
    read = recorded("summarised-linear")
    names = [Path(step.source.path).name for step in read.steps]
    assert names == ["trajectory.json"] * 3 + ["trajectory.cont-1.json"] * 3
    assert [o.origin for o in read.steps[2].observations] == ["tool", "system"]
    assert read.usage == dense.Usage(9000, 0, None, 450)  # the total of the last file, which counts from the beginning


def test_a_continuation_by_itself_has_its_task_from_what_it_copied() -> None:
    (read,) = dense.read(trial("summarised-linear") / "agent" / "trajectory.cont-1.json")
    assert len(read.steps) == 3
    assert read.task is not None
    assert COUNT.strip() in read.task.instruction


def test_outputs_in_steps_of_their_own_are_observations() -> None:
    read = constructed("separate-outputs")
    assert [[c.id for c in step.calls] for step in read.steps] == [["call_1"], ["call_2"], ["call_3"]]
    observed = [[(o.call_id, o.text) for o in step.observations] for step in read.steps]
    assert observed == [[("call_1", "(empty)")], [("call_2", "exit code 0")], []]


def test_an_output_of_an_earlier_step_is_an_observation_too(tmp_path: Path) -> None:
    late = agent("late", results=[{"content": "late"}], extra={"tool_call_id": "c1"})
    read = only(tmp_path, user(), agent("One.", "c1"), agent("Two.", "c2"), late)
    assert words(read) == ["One.", "Two."]
    assert [(o.call_id, o.text) for o in read.steps[1].observations] == [("c1", "late")]


def test_an_output_that_stands_in_the_message_only(tmp_path: Path) -> None:
    read = only(tmp_path, user(), agent("One.", "c1"), agent("out", extra={"tool_call_id": "c1"}))
    assert [(o.call_id, o.text) for o in read.steps[0].observations] == [("c1", "out")]


def test_an_id_that_no_call_has_makes_no_output(tmp_path: Path) -> None:
    assert words(only(tmp_path, user(), agent("One."), agent("Two.", extra={"tool_call_id": "x"}))) == ["One.", "Two."]


def test_arguments_as_a_string() -> None:
    calls = [call for step in constructed("string-arguments").steps for call in step.calls]
    assert [call.arguments for call in calls] == [
        {"command": "echo hello > /app/greeting.txt"},
        {"input": "cat /app/greeting.txt"},
    ]


def test_results_in_another_order_than_the_calls() -> None:
    first, last = constructed("many-calls").steps
    assert [call.id for call in first.calls] == ["call_1", "call_2", "call_3", "call_4"]
    assert [(o.call_id, o.text) for o in first.observations] == [("call_3", "hello\n"), ("call_1", "/app\n")]
    assert (last.message, last.calls) == ("Done.", ())


def test_usage_is_in_disjoint_buckets() -> None:
    read = constructed("many-calls")
    assert [step.usage for step in read.steps] == [dense.Usage(50, 50, None, 20), dense.Usage(160, None, None, 5)]
    assert read.usage == dense.Usage(210, 50, None, 25)


@pytest.mark.parametrize(
    ("metrics", "usage"),
    [
        ({"prompt_tokens": 100, "cached_tokens": 60, "completion_tokens": 5}, dense.Usage(40, 60, None, 5)),
        (
            {"prompt_tokens": 100, "cached_tokens": 60, "extra": {"cache_creation_input_tokens": 30}},
            dense.Usage(10, 60, 30),
        ),
        ({"prompt_tokens": 10, "cached_tokens": 60}, dense.Usage(0, 60)),
        ({"cost_usd": 0.5}, dense.Usage(cost_usd=0.5)),
        ({"prompt_tokens": None, "completion_tokens": "5"}, None),
        ({"prompt_tokens": True}, None),
        ([], None),
    ],
)
def test_usage_of_a_step(tmp_path: Path, metrics: Any, usage: dense.Usage | None) -> None:
    assert only(tmp_path, user(), agent("One.", metrics=metrics)).steps[0].usage == usage


def test_the_total_of_the_program_wins_over_the_sum(tmp_path: Path) -> None:
    step = agent("One.", metrics={"prompt_tokens": 10, "completion_tokens": 1})
    total = {"total_prompt_tokens": 100, "total_cached_tokens": 40, "total_completion_tokens": 7, "total_cost_usd": 0.5}
    assert only(tmp_path, user(), step, step).usage == dense.Usage(20, None, None, 2)
    assert only(tmp_path, user(), step, step, final_metrics=total).usage == dense.Usage(60, 40, None, 7, 0.5)


def test_images_become_markers() -> None:
    read = constructed("content-parts")
    assert read.task is not None
    assert read.task.instruction.endswith("[image: image/png]")
    assert [o.text for o in read.steps[0].observations] == ["PNG image data, 2 x 2\n[image: image/png]"]


def test_copied_context_is_no_action_but_may_tell_the_task() -> None:
    read = constructed("copied-context")
    assert [(step.source.index, step.message) for step in read.steps] == [(3, "I write.")]
    assert read.task == dense.Task(GREET)


@pytest.mark.parametrize("name", ["no-user-step", "no-user-step-flat"])
def test_the_task_from_a_file_beside(name: str) -> None:
    assert constructed(name).task == dense.Task(GREET + "\n", origin="file")


@pytest.mark.parametrize("where", ["trial/task", "my-task", "tasks/my-task", "elsewhere/my-task"])
def test_the_task_from_the_folder_that_the_trial_names(tmp_path: Path, where: str) -> None:
    named = tmp_path / "elsewhere" / "my-task" if where.startswith("elsewhere") else Path("/gone/my-task")
    write(tmp_path / "trial" / "config.json", {"task": {"path": str(named)}})
    write(tmp_path / "trial" / "agent" / "trajectory.json", document(agent("One.")))
    (tmp_path / where).mkdir(parents=True)
    (tmp_path / where / "instruction.md").write_text("Count.")
    (read,) = dense.read(tmp_path / "trial")
    assert read.task == dense.Task("Count.", "my-task", "file")


@pytest.mark.parametrize(
    "config", ["", "[]", '{"task": 7}', '{"task": {"path": "a\\u0000b"}}', '{"task": {"path": ".."}}']
)
def test_an_odd_configuration_of_the_trial_is_no_harm(tmp_path: Path, config: str) -> None:
    write(tmp_path / "t__x" / "agent" / "trajectory.json", document(agent("One.")))
    (tmp_path / "t__x" / "config.json").write_text(config)
    (read,) = dense.read(tmp_path / "t__x")
    assert read.task is None


def test_the_task_in_the_trace_wins_over_files(tmp_path: Path) -> None:
    (tmp_path / "instruction.md").write_text("Not this.")
    assert only(tmp_path, user("This."), agent("One.")).task == dense.Task("This.")


def test_grades_beside_a_trajectory_are_not_read(tmp_path: Path) -> None:
    copy = shutil.copytree(trial("basic"), tmp_path / "trial")
    before = list(dense.read(copy))
    (copy / "result.json").write_text('{"verifier_result": {"rewards": {"reward": 0.0}}}')
    (copy / "verifier" / "reward.txt").write_text("0")
    assert list(dense.read(copy)) == before


def test_system_and_user_steps_after_an_action_are_observations(tmp_path: Path) -> None:
    reminder = {"step_id": 3, "source": "system", "message": "Time is short."}
    read = only(tmp_path, reminder, user(), agent("One."), reminder, user("And?"), agent("Two."))
    assert read.task == dense.Task("Go.")
    assert [(o.origin, o.text) for o in read.steps[0].observations] == [("system", "Time is short."), ("user", "And?")]


def test_what_harbor_writes_where_the_agent_said_nothing_is_left_out(tmp_path: Path) -> None:
    read = only(tmp_path, user(), agent("Executed bash c1", "c1"), agent("Executed bash c1"))
    assert words(read) == ["", "Executed bash c1"]


def test_an_answer_that_writes_of_commands_is_kept(tmp_path: Path) -> None:
    answer = 'The file now says {"commands": ["build"]}, and <keystrokes> is parsed.'
    assert words(only(tmp_path, user(), agent(answer))) == [answer]


def test_calls_in_the_text_of_a_message(tmp_path: Path) -> None:
    said = "I look.\n<function=bash>\n<parameter=command>ls</parameter>\n</function>"
    (step,) = only(tmp_path, user(), agent(said)).steps
    assert (step.message, step.calls) == ("I look.", (dense.ToolCall("bash", {"command": "ls"}),))


def test_results_may_tell_errors_and_exit_codes(tmp_path: Path) -> None:
    results = [{"content": "no", "extra": {"exit_code": 2, "is_error": True}}, {"content": "ok", "extra": None}]
    (step,) = only(tmp_path, user(), agent("One.", "c", results=results)).steps
    assert [(o.is_error, o.exit_code) for o in step.observations] == [(True, 2), (None, None)]


def test_another_model_is_reported_with_its_step(tmp_path: Path) -> None:
    steps = [agent("1", model_name="x/m"), agent("2", model_name="other"), agent("3")]
    read = only(tmp_path, user(), *steps)
    assert (read.model, [step.model for step in read.steps]) == ("m", [None, "other", None])


def test_embedded_sub_agents_nest_in_the_step_that_refers_to_them() -> None:
    read = constructed("embedded-sub-agents")
    assert [len(step.subagents) for step in read.steps] == [1, 0, 0]
    (child,) = read.steps[0].subagents
    assert (child.task, words(child)) == (dense.Task("Is /app empty?"), ["I list it.", "It is empty."])
    assert child.source == dense.Source(read.source.path, index=1, part="sub-agent")
    assert notes(read) == ['the sub-agent\'s trajectory "trajectory.lost.json" is not there or cannot be read']


def test_sub_agents_that_share_a_session_are_distinguished(tmp_path: Path) -> None:
    children = [document(agent(name), trajectory_id=name) for name in ("x", "y")]
    steps = [refers({"trajectory_id": name, "session_id": "s"}) for name in ("y", "x", "lost")]
    read = only(tmp_path, user(), *steps, subagent_trajectories=children)
    assert [[words(child) for child in step.subagents] for step in read.steps] == [[["y"]], [["x"]], []]


def test_a_sub_agent_that_is_referred_to_twice_is_read_once(tmp_path: Path) -> None:
    write(tmp_path / "trajectory.sub.json", document(agent("file")))
    both = [{"trajectory_id": "x"}, {"trajectory_path": "trajectory.sub.json"}]
    child = document(agent("embedded"), trajectory_id="x")
    read = only(tmp_path, user(), refers(*both), refers(*both), subagent_trajectories=[child])
    assert [[words(child) for child in step.subagents] for step in read.steps] == [[["embedded"], ["file"]], []]


def test_sub_agents_of_sub_agents_that_refer_to_each_other_many_times_take_no_time(tmp_path: Path) -> None:
    names = [f"trajectory.{number}.json" for number in range(6)]
    for name in names:
        write(tmp_path / name, document(*[refers(*({"trajectory_path": n} for n in names))] * 5))
    inner = document(agent("bottom"), trajectory_id="x")
    for _ in range(12):
        inner = document(*[refers(*[{"trajectory_id": "x"}] * 5)] * 5, trajectory_id="x", subagent_trajectories=[inner])
    read = only(tmp_path, *[refers(*({"trajectory_path": n} for n in names))] * 5, subagent_trajectories=[inner])
    assert len(read.steps) == 5
    assert_within(5, lambda: only(tmp_path, refers({"trajectory_id": "x"}), subagent_trajectories=[inner]))


@pytest.mark.parametrize("reference", ["../outside.json", "/etc/passwd", "..", "/", ".", "a\0b", "x" * 5000])
def test_a_reference_never_leads_out_of_the_folder(tmp_path: Path, reference: str) -> None:
    write(tmp_path / "outside.json", document(agent("outside")))
    (tmp_path / "inside").mkdir()
    read = only(tmp_path / "inside", user(), refers({"trajectory_path": reference}), continued_trajectory_ref=reference)
    assert (len(read.steps), read.steps[0].subagents) == (1, ())
    assert [notice.kind for notice in read.notices] == ["note", "note"]
    assert all(len(note) < 200 for note in notes(read))


def test_a_reference_by_another_path_finds_the_file_beside(tmp_path: Path) -> None:
    write(tmp_path / "trajectory.sub.json", document(agent("here")))
    read = only(tmp_path, user(), refers({"trajectory_path": "/logs/agent/trajectory.sub.json"}))
    assert [words(child) for child in read.steps[0].subagents] == [["here"]]


@pytest.mark.parametrize("circle", [["trajectory.json"], ["a.json", "trajectory.json"], ["a.json", "b.json", "a.json"]])
def test_a_circle_of_continuations_is_read_once(tmp_path: Path, circle: list[str]) -> None:
    for name, further in pairwise(circle):
        write(tmp_path / name, document(agent(name), continued_trajectory_ref=further))
    read = only(tmp_path, user(), agent("first"), continued_trajectory_ref=circle[0])
    assert words(read) == ["first", *circle[:-1]]
    assert [note.endswith("was read already") for note in notes(read)] == [True]


def test_an_attempt_may_be_continued_many_times(tmp_path: Path) -> None:
    for number in range(1, 30):
        further = {"continued_trajectory_ref": f"trajectory.cont-{number + 1}.json"} if number < 29 else {}
        write(tmp_path / f"trajectory.cont-{number}.json", document(user("Go on."), agent(str(number)), **further))
    read = only(tmp_path, user(), agent("0"), continued_trajectory_ref="trajectory.cont-1.json")
    assert words(read) == [str(number) for number in range(30)]
    assert read.notices == ()


def test_what_is_no_trajectory_is_no_continuation(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"a": 1}')
    read = only(tmp_path, user(), agent("One."), continued_trajectory_ref="config.json")
    assert [(n.kind, n.text) for n in read.notices] == [("skipped", "the continuation is not an ATIF trajectory")]


def side(text: str, name: str, **more: Any) -> dict[str, Any]:
    return agent(text, **more) | {"extra": {"is_sidechain": True, "agent_id": name}}


def test_sidechain_steps_are_sub_agents_of_the_step_before(tmp_path: Path) -> None:
    asked = user("Look.", extra={"is_sidechain": True, "agent_id": "x"})
    steps = [agent("One."), asked, side("x1", "x"), side("y1", "y"), side("x2", "x"), agent("Two.")]
    read = only(tmp_path, user(), *steps)
    assert words(read) == ["One.", "Two."]
    first, second = read.steps[0].subagents
    assert (first.id, first.task, words(first)) == ("x", dense.Task("Look."), ["x1", "x2"])
    assert (second.id, second.task, words(second)) == ("y", None, ["y1"])
    assert first.source == dense.Source(read.source.path, index=2)


def test_many_sidechains_take_no_time(tmp_path: Path) -> None:
    read = only(tmp_path, user(), agent("One."), *(side("x", str(number)) for number in range(5000)))
    assert len(read.steps[0].subagents) == 5000
    assert read.steps[0].subagents[-1].steps[0].source.index == 5001


def test_sidechain_steps_before_any_action_are_reported(tmp_path: Path) -> None:
    read = only(tmp_path, user(), side("x1", "x"), agent("One."))
    assert words(read) == ["One."]
    assert notes(read) == ["steps of a sub-agent before any action"]


def test_several_trajectories_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    rows = [document(user("A."), agent("a")), document(user("B."), agent("b")), {"no": "trajectory"}]
    rows += [document(user("C."), agent("c"), session_id="t"), document(user("D."))]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = list(dense.read(path))
    assert [(t.id, t.task, t.source.line) for t in found] == [
        ("s", dense.Task("A."), 1),
        ("s#row 1", dense.Task("B."), 2),
        ("t", dense.Task("C."), 4),
    ]
    assert [t.steps[0].source for t in found] == [dense.Source(str(path), line=n, index=1) for n in (1, 2, 4)]
    assert sorted(n.source.line or 0 for t in found for n in t.notices) == [3, 5]


def test_damage_is_reported_and_the_rest_kept(tmp_path: Path) -> None:
    steps = [user(), 7, agent("One.", results=[7, {"content": None}]), {"step_id": 9, "source": "moon"}, None]
    read = only(tmp_path, *steps, agent("Two.", tool_calls=["x", {"function_name": None, "arguments": None}]))
    assert words(read) == ["One.", "Two."]
    assert read.steps[1].calls == (dense.ToolCall("?"),)
    assert [n.source.index for n in read.notices if n.kind == "skipped"] == [1, 3, 4]


def test_a_document_that_was_cut_off_gives_what_came_before() -> None:
    read = constructed("cut-file")
    assert words(read)[0] == "Four at once."
    assert [n.kind for n in read.notices] == ["skipped"]


@pytest.mark.parametrize(("name", "reason"), [("no-agent-step", "no step of an agent"), ("empty-file", "is empty")])
def test_files_with_nothing_to_read(name: str, reason: str) -> None:
    with pytest.raises(NoTrajectory, match=reason):
        list(dense.read(FIXTURES / "constructed" / name / "agent" / "trajectory.json"))


def test_notices_of_a_sub_agent_are_reported_with_the_attempt(tmp_path: Path) -> None:
    write(tmp_path / "trajectory.sub.json", document(agent("One."), 7))
    read = only(tmp_path, user(), refers({"trajectory_path": "trajectory.sub.json"}))
    assert [(n.text, Path(n.source.path).name) for n in read.notices] == [
        ("step is not an object", "trajectory.sub.json")
    ]


def test_the_head_is_known_before_the_steps() -> None:
    (stream,) = read_streams(trial("basic"))
    assert isinstance(stream, Stream)
    assert (stream.task, stream.model) == (dense.Task(COUNT, "count-words"), "openai/scripted")


@pytest.mark.parametrize(
    ("value", "claimed"),
    [
        (document(), True),
        ({"schema_version": "ATIF-v1.0", "steps": []}, True),
        ({"agent": {"name": "a"}, "steps": [user()]}, True),
        ({"steps": [user()]}, False),
        ({"schema_version": "ATIF-v1.0", "steps": {}}, False),
        ({"agent": {}, "steps": [{"name": "build"}]}, False),
        ({"name": "package"}, False),
        (None, False),
    ],
)
def test_claims(value: Any, claimed: bool) -> None:
    assert Atif().claims([value]) is claimed


def test_a_recorders_second_copy_is_left_out(tmp_path: Path) -> None:
    """What the agent saw stays; the file before and after an edit, and an output that is there twice, do not."""
    edited = (
        'The file a.py has been updated.\n\n[metadata] {"filePath": "a.py", "originalFile": "x\\n", "replaceAll": true}'
    )
    ran = 'data\noutput\n\n[stdout]\ndata\noutput\n\n[metadata] {"noOutputExpected": false}'
    other = 'log\n[metadata] {"seed": 3}'
    broken = 'log\n[metadata] {"file": '
    differs = "data\n\n[stdout]\nmore"
    texts = [edited, ran, other, broken, differs]
    steps = [
        agent("Go.", f"c{n}", results=[{"source_call_id": f"c{n}", "content": text}]) for n, text in enumerate(texts)
    ]
    seen = [step.observations[0].text for step in only(tmp_path, user(), *steps).steps]
    assert seen == ["The file a.py has been updated.", "data\noutput", other, broken, differs]


def test_a_continuation_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The reader of the feedback learns that the work goes on elsewhere: nothing is missing yet."""
    read = only(tmp_path, user("Write hello.txt."), agent("first"), continued_trajectory_ref="trajectory.cont-1.json")
    (seen,) = read.steps[-1].observations
    assert (seen.origin, seen.text) == ("system", 'The record continues in "trajectory.cont-1.json".')
    done = dense.distill_sync(read)
    assert "The record continues elsewhere." in done.feedback.report
    assert [one.met for one in done.reconciled.requirements] == ["unchecked"]
