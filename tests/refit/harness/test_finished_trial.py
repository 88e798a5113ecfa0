"""Finished trials, as real releases of Harbor left them, and as they must not be misread."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dense.trajectory import Usage
from refit.harness.finished_trial import read_trial

JOBS = "atif/jobs"


@pytest.fixture
def trial_of(fixtures: Path, tmp_path: Path) -> Callable[..., Path]:
    """A copy of a recorded trial, its result changed as asked."""

    def copy(job: str, **changes: Any) -> Path:
        (source,) = (path.parent for path in (fixtures / JOBS / job).glob("*/result.json"))
        target = tmp_path / job / source.name
        shutil.copytree(source, target)
        path = target / "result.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
        return target

    return copy


def test_a_graded_trial(trial_of: Callable[..., Path]) -> None:
    trial = trial_of("basic")
    found = read_trial(trial)
    assert found is not None
    assert found.trial == trial.name
    assert (found.reward, found.exception, found.problem) == (1.0, None, "")
    assert found.usage == Usage(input=8400, cache_read=2000, output=380)
    assert not found.is_partial
    assert (found.tool_calls, found.turns) == (7, 7)  # that it is done is no call
    assert found.trace == f"{trial.name}/agent/trajectory.json"
    assert found.seconds is not None and 5 < found.seconds < 6


@pytest.mark.parametrize("release", ["0.1.2", "0.1.18", "0.1.23", "0.1.31", "0.1.45", "0.22.0", "0.25.0"])
def test_every_release(trial_of: Callable[..., Path], release: str) -> None:
    found = read_trial(trial_of(f"terminus-2-harbor-{release}"))
    assert found is not None
    assert found.reward == 1 and found.usage == Usage(input=4000, cache_read=0, output=200)
    assert found.tool_calls is not None and found.tool_calls >= 4
    assert found.seconds is not None and 3 < found.seconds < 10


@pytest.mark.parametrize(("job", "reward"), [("oracle", 1.0), ("nop", 0.0)])
def test_agents_without_a_model(trial_of: Callable[..., Path], job: str, reward: float) -> None:
    found = read_trial(trial_of(job))
    assert found is not None
    assert (found.reward, found.usage, found.is_partial) == (reward, None, False)
    assert (found.tool_calls, found.trace) == (None, "")


def test_calls_of_summaries_are_in_the_tokens(trial_of: Callable[..., Path]) -> None:
    found = read_trial(trial_of("summarised"))
    assert found is not None and found.usage == Usage(input=9000, cache_read=0, output=450)


def test_a_time_out_keeps_its_grade_and_is_flagged(trial_of: Callable[..., Path]) -> None:
    found = read_trial(trial_of("timed-out"))
    assert found is not None
    assert (found.reward, found.exception, found.problem) == (0.0, "AgentTimeoutError", "")
    assert found.is_partial and found.usage == Usage(input=2000, cache_read=0, output=100)


def test_what_ended_the_verifier_leaves_the_tokens_whole(trial_of: Callable[..., Path]) -> None:
    exception = {
        "exception_type": "VerifierTimeoutError",
        "exception_message": "too slow",
        "exception_traceback": "",
        "occurred_at": "2026-11-15T23:00:00Z",
    }
    found = read_trial(trial_of("basic", verifier_result=None, exception_info=exception))
    assert found is not None
    assert (found.reward, found.problem, found.is_partial) == (None, "VerifierTimeoutError: too slow", False)


@pytest.mark.parametrize("graded", [None, {"rewards": {"reward": 0.0}}, {"rewards": {"reward": 1.0}}])
@pytest.mark.parametrize("kind", ["AuthenticationError", "ApiRateLimitError", "NetworkConnectionError"])
def test_a_model_out_of_reach_is_no_score(trial_of: Callable[..., Path], kind: str, graded: Any) -> None:
    exception = {"exception_type": kind, "exception_message": "no\n answer", "occurred_at": "2026-11-15T22:25:44Z"}
    found = read_trial(trial_of("basic", verifier_result=graded, exception_info=exception))
    assert found is not None
    assert found.reward is None and found.exception == kind and found.is_partial
    assert found.problem.startswith(f"{kind}: no answer")
    assert ("is that of a run without its model" in found.problem) == (graded is not None)


def test_an_agent_that_broke_is_graded(trial_of: Callable[..., Path]) -> None:
    exception = {"exception_type": "NonZeroAgentExitCodeError", "exception_message": "exit 1", "occurred_at": "x"}
    found = read_trial(trial_of("basic", exception_info=exception))
    assert found is not None
    assert (found.reward, found.exception, found.is_partial) == (1.0, "NonZeroAgentExitCodeError", True)


@pytest.mark.parametrize(
    ("verifier", "said"),
    [
        (None, "the verifier gave no reward"),
        ({"rewards": None}, "the verifier gave no reward"),
        ({"rewards": {}}, "the verifier gave no reward"),
        ({"rewards": {"speed": 1.0, "accuracy": 0.5}}, "no number called `reward`, only accuracy, speed"),
        ({"rewards": {"reward": "1"}}, "no number called `reward`"),
        ({"rewards": {"reward": float("nan")}}, "no number called `reward`"),
        ([1], "the verifier gave no reward"),
    ],
)
def test_no_reward_is_made_up(trial_of: Callable[..., Path], verifier: Any, said: str) -> None:
    found = read_trial(trial_of("basic", verifier_result=verifier))
    assert found is not None
    assert found.reward is None and said in found.problem


def test_partial_rewards_stand(trial_of: Callable[..., Path]) -> None:
    found = read_trial(trial_of("basic", verifier_result={"rewards": {"reward": 0.25, "style": 1}}))
    assert found is not None and found.reward == 0.25 and found.problem == ""


@pytest.mark.parametrize(
    ("recorded", "usage"),
    [
        ({"n_input_tokens": 10, "n_cache_tokens": 30, "n_output_tokens": 1}, Usage(0, 30, None, 1)),
        ({"n_input_tokens": 10, "n_cache_tokens": None, "n_output_tokens": 1}, Usage(10, None, None, 1)),
        ({"n_input_tokens": None, "n_output_tokens": 1}, Usage(output=1)),
        ({"n_input_tokens": 10, "n_output_tokens": 2, "cost_usd": 0.5}, Usage(10, None, None, 2, 0.5)),
    ],
)
def test_tokens(trial_of: Callable[..., Path], recorded: Any, usage: Usage | None) -> None:
    found = read_trial(trial_of("basic", agent_result=recorded))
    assert found is not None and found.usage == usage and not found.is_partial


@pytest.mark.parametrize("recorded", [{"n_input_tokens": "10", "n_output_tokens": True}, {}, None])
def test_tokens_of_the_trace_where_the_record_has_none(trial_of: Callable[..., Path], recorded: Any) -> None:
    trial = trial_of("basic", agent_result=recorded)
    found = read_trial(trial)
    assert found is not None and found.usage == Usage(8400, 2000, None, 380) and found.is_partial
    (trial / "agent" / "trajectory.json").unlink()
    found = read_trial(trial)
    assert found is not None and found.usage is None and not found.is_partial


@pytest.mark.parametrize(
    ("occurred", "is_partial"),
    [
        ("2026-11-15T22:25:40Z", True),
        ("2026-11-15T17:25:40", True),  # five hours west, before the verifier
        ("2026-11-16T03:55:40", True),  # five and a half hours east
        ("2026-11-15T17:25:48.5", False),  # after the verifier began
    ],
)
def test_times_of_another_zone(trial_of: Callable[..., Path], occurred: str, is_partial: bool) -> None:
    times = {
        "started_at": "2026-11-15T22:25:30Z",
        "finished_at": "2026-11-15T22:25:50Z",
        "verifier": {"started_at": "2026-11-15T22:25:48Z", "finished_at": "2026-11-15T22:25:49Z"},
    }
    exception = {"exception_type": "AgentTimeoutError", "exception_message": "", "occurred_at": occurred}
    found = read_trial(trial_of("basic", exception_info=exception, **times))
    assert found is not None and found.is_partial == is_partial


def test_the_end_of_a_long_reason_is_kept(trial_of: Callable[..., Path]) -> None:
    words = "Docker compose failed. " + "a layer " * 200 + "no space left on device"
    exception = {"exception_type": "RuntimeError", "exception_message": words}
    found = read_trial(trial_of("basic", verifier_result=None, exception_info=exception))
    assert found is not None and found.problem.startswith("RuntimeError: Docker compose failed.")
    assert found.problem.endswith("no space left on device") and len(found.problem) < 440


CTRF = {"results": {"tests": [{"name": "a", "status": "passed"}, {"name": "b", "status": "failed"}]}}
JUNIT = """<?xml version="1.0"?><testsuites><testsuite><testcase name="a"/><testcase name="b"><failure>x</failure>
</testcase><testcase name="c"><skipped/></testcase></testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("name", "text", "checks"),
    [
        ("ctrf.json", json.dumps(CTRF), (1, 2)),
        ("ctrf.json", json.dumps({"results": {"summary": {"tests": 24, "passed": 21}}}), (21, 24)),
        ("ctrf.json", json.dumps({"results": {"summary": {"tests": 2, "passed": 3}}}), (None, None)),
        ("ctrf.json", "[" * 100_000, (None, None)),
        ("junit.xml", JUNIT, (1, 3)),
        ("junit.xml", '<!DOCTYPE x [<!ENTITY a "b">]><testsuite><testcase/></testsuite>', (None, None)),
        ("page.xml", "<html/>", (None, None)),
        ("junit.xml", "<testsuite>", (None, None)),
    ],
)
def test_checks_of_a_verifier(
    trial_of: Callable[..., Path], name: str, text: str, checks: tuple[int | None, int | None]
) -> None:
    trial = trial_of("basic")
    (trial / "verifier" / name).write_text(text)
    found = read_trial(trial)
    assert found is not None and (found.checks_passed, found.checks) == checks


def test_steps_of_a_task_are_summed(trial_of: Callable[..., Path]) -> None:
    steps = [
        {"step_name": "one", "agent_result": {"n_input_tokens": 10, "n_cache_tokens": 4, "n_output_tokens": 1}},
        {"step_name": "two", "agent_result": {"n_input_tokens": 20, "n_cache_tokens": 5, "n_output_tokens": 2}},
    ]
    found = read_trial(trial_of("basic", agent_result=None, step_results=steps))
    assert found is not None
    assert found.usage == Usage(21, 9, None, 3) and not found.is_partial


def test_a_step_without_tokens_makes_the_sum_partial(trial_of: Callable[..., Path]) -> None:
    steps = [{"agent_result": {"n_input_tokens": 10, "n_output_tokens": 1}}, {"agent_result": {}}]
    found = read_trial(trial_of("basic", agent_result=None, step_results=steps))
    assert found is not None and found.usage == Usage(10, None, None, 1) and found.is_partial


def test_half_a_result_is_none(trial_of: Callable[..., Path]) -> None:
    trial = trial_of("basic")
    data = (trial / "result.json").read_bytes()
    for length in (*range(0, len(data), 97), len(data) - 1):
        (trial / "result.json").write_bytes(data[:length])
        assert read_trial(trial) is None, length
    (trial / "result.json").unlink()
    assert read_trial(trial) is None


@pytest.mark.parametrize("data", ["[]", "null", "{}", '{"trial_name": "x"}', "[" * 100_000, '{"finished_at": "x"}'])
def test_other_files_are_no_results(tmp_path: Path, data: str) -> None:
    (tmp_path / "result.json").write_text(data)
    assert read_trial(tmp_path) is None


def test_the_result_of_a_job_is_none_of_a_trial(fixtures: Path) -> None:
    assert (fixtures / JOBS / "basic" / "result.json").is_file()
    assert read_trial(fixtures / JOBS / "basic") is None


def test_a_trace_that_is_damaged_does_no_harm(trial_of: Callable[..., Path]) -> None:
    trial = trial_of("basic")
    (trial / "agent" / "trajectory.json").write_text("{" * 5000)
    found = read_trial(trial)
    assert found is not None
    assert (found.reward, found.tool_calls, found.trace) == (1.0, None, "")


def test_keys_are_kept_out_of_problems(trial_of: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "hx7Qm2Lw9Tz4Rk8Vb3"
    monkeypatch.setenv("SOME_API_KEY", secret)
    exception = {"exception_type": "AuthenticationError", "exception_message": f"key {secret} refused"}
    found = read_trial(trial_of("basic", verifier_result=None, exception_info=exception))
    assert found is not None and secret not in found.problem and "refused" in found.problem


def test_paths_are_relative_to_what_is_asked(trial_of: Callable[..., Path], tmp_path: Path) -> None:
    found = read_trial(trial_of("basic"), tmp_path)
    assert found is not None and found.trace == f"basic/{found.trial.rpartition('/')[2]}/agent/trajectory.json"
