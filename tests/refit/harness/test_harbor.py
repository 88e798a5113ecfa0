"""Real trials of Harbor in the sandbox: what agents are given, what is recorded of it, and what goes wrong."""

# pyright: reportMissingTypeStubs=false
from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback, Step, failing, json_step, ok, said
from release import ORACLE, alone, terminus, trials

from dense.errors import DenseError
from dense.trajectory import Usage
from refit.harness import AttemptOrder, AttemptResult, Harness, Recipient
from refit.harness.derived_task import FEEDBACK_FILE, MAX_ARGUMENT_BYTES, digest, instruction_of, sha256
from refit.harness.harbor import EnvironmentSettings, HarborHarness, fill_options
from refit.harness.harbor_import import import_harbor
from refit.harness.model_servers import run_servers

NOP = Recipient("nop", "nop")
USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}}


def answer(*commands: str, done: bool = False) -> Step:
    """A turn as terminus-2 takes it."""
    keys = [{"keystrokes": f"{command}\n", "duration": 0.2} for command in commands]
    answer = {"analysis": "Well.", "plan": "Go on.", "commands": keys, "task_complete": done}
    return json_step(said(json.dumps(answer), usage=USAGE))


SOLVED = (answer("echo hello >/app/out.txt"), answer(done=True), answer(done=True))


def attempt(order: AttemptOrder, **more: Any) -> AttemptResult:
    return alone(HarborHarness(**more), order)


def check(*recipients: Recipient, tasks: tuple[Path, ...] = (), **more: Any) -> tuple[str, ...]:
    return asyncio.run(HarborHarness(**more).check(recipients, tasks))


def test_oracle_and_nop_at_once(task: Path, tmp_path: Path) -> None:
    orders = [AttemptOrder(who.name, who, task, tmp_path / "cells" / who.name) for who in (ORACLE, NOP)]

    async def both() -> tuple[Harness, list[AttemptResult]]:
        async with HarborHarness() as harness:
            return harness, list(await asyncio.gather(*(harness.attempt(order) for order in orders)))

    harness, (solved, idle) = asyncio.run(both())
    assert (solved.reward, idle.reward) == (1.0, 0.0)
    for order, found in zip(orders, (solved, idle), strict=True):
        assert (found.exception, found.problem, found.usage, found.tool_calls) == (None, "", None, None)
        assert (found.delivered, found.message_sha256, found.received) == ("", "", "")
        assert found.seconds is not None and 0 < found.seconds < 60
        assert (order.folder / found.trial / "trial.log").is_file()
        assert harness.finished(order) == found
    assert harness.name.startswith("harbor 0.2") and harness.name.endswith(", sandbox")


def test_an_agent_is_given_the_message(
    task: Path, tmp_path: Path, serve: Callable[..., Loopback], capfd: pytest.CaptureFixture[str]
) -> None:
    server = serve(*SOLVED)
    text = "Try é {this} %s \\n.\n"
    message = f"[dense-feedback-0bada] Read this.\n{text}0bada| end\n\n{instruction_of(task)}"
    order = AttemptOrder("cell", terminus(), task, tmp_path / "cell", message, seed=77)
    found = attempt(order, servers={"t": server.root})
    assert (found.reward, found.exception) == (1.0, None)
    assert found.usage == Usage(input=180, cache_read=120, output=30) and not found.is_partial
    assert (found.tool_calls, found.turns) == (1, 3)
    assert (found.delivered, found.received) == ("instruction", "same")
    assert found.message_sha256 == sha256(message)
    assert (order.folder / found.trace).is_file()
    first = server.received[0]
    assert message.strip() in first.body["messages"][0]["content"]
    assert first.body["seed"] == 77
    left = sorted(path.relative_to(order.folder).as_posix() for path in (order.folder / "task").rglob("*"))
    assert left == ["task/greet", "task/greet/instruction.md"]
    assert (order.folder / left[1]).read_text() == message
    recorded = json.loads((order.folder / found.trial / "result.json").read_text())
    assert recorded["task_name"] == "dense-tests/greet"
    assert capfd.readouterr() == ("", "")


def test_a_long_message_is_read_by_an_agent_of_any_user(task: Path, tmp_path: Path) -> None:
    (task / "task.toml").write_text('[task]\nname = "t/read"\n\n[agent]\nuser = "nobody"\n')
    solve = f"#!/bin/bash\nid -un; tail -c 20 {FEEDBACK_FILE}; echo x >>{FEEDBACK_FILE} || echo kept\n"
    (task / "solution" / "solve.sh").write_text(solve)
    (task / "tests" / "test.sh").write_text(f"wc -c <{FEEDBACK_FILE}\necho 1 >/logs/verifier/reward.txt\n")
    message = "é" * MAX_ARGUMENT_BYTES + "the end of the message"
    order = AttemptOrder("cell", ORACLE, task, tmp_path / "cell", message, as_file=True)
    found = attempt(order)
    assert (found.reward, found.problem) == (1.0, "")
    assert (found.delivered, found.received, found.message_sha256) == ("file", "not recorded", sha256(message))
    seen = (order.folder / found.trial / "agent" / "oracle.txt").read_text()
    assert "nobody" in seen and "end of the message" in seen and "kept" in seen
    size = (order.folder / found.trial / "verifier" / "test-stdout.txt").read_text()
    assert int(size) == len(message.encode())


def test_a_long_message_is_in_the_instruction_of_an_agent_that_can_take_it(
    task: Path, tmp_path: Path, serve: Callable[..., Loopback]
) -> None:
    server = serve(*SOLVED)
    message = "it's long " * (2 * MAX_ARGUMENT_BYTES // 10) + instruction_of(task)
    order = AttemptOrder("cell", terminus(), task, tmp_path / "c", message)
    found = attempt(order, servers={"t": server.root})
    assert (found.reward, found.delivered, found.received, found.is_argument) == (1.0, "instruction", "same", False)


@pytest.mark.parametrize("by", ["argument", "variable"])
def test_an_agent_that_hands_its_instruction_on_is_noticed(task: Path, tmp_path: Path, by: str) -> None:
    who = Recipient("own", "own_agents:Passes", options={"given": {"by": by}})
    assert attempt(AttemptOrder("cell", who, task, tmp_path / "c")).is_argument is True
    quoted = f"Don't stop.\n{instruction_of(task)}"
    assert attempt(AttemptOrder("cell", who, task, tmp_path / "d", quoted)).is_argument is True
    assert attempt(AttemptOrder("cell", ORACLE, task, tmp_path / "e")).is_argument is False


def test_whether_the_file_was_opened(task: Path, tmp_path: Path, serve: Callable[..., Loopback]) -> None:
    server = serve(answer(f"head -c 9 {FEEDBACK_FILE}"), *SOLVED)
    message = "x" * MAX_ARGUMENT_BYTES + instruction_of(task)
    order = AttemptOrder("cell", terminus(), task, tmp_path / "c", message, as_file=True)
    found = attempt(order, servers={"t": server.root})
    assert (found.reward, found.delivered, found.received) == (1.0, "file", "opened")
    pointer = server.received[0].body["messages"][0]["content"]
    assert FEEDBACK_FILE in pointer and instruction_of(task).strip() in pointer and "xxx" not in pointer


def test_a_key_that_is_refused_is_no_score(task: Path, tmp_path: Path, serve: Callable[..., Loopback]) -> None:
    server = serve(default=failing(401, "wrong key"))
    found = attempt(AttemptOrder("cell", terminus(), task, tmp_path / "c"), servers={"t": server.root})
    assert (found.reward, found.exception) == (None, "AuthenticationError")
    assert "wrong key" in found.problem and not found.is_scored


def without_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harbor tries as often as ever, but does not wait half a minute in between."""
    import_harbor()
    from harbor.llms.lite_llm import LiteLLM
    from tenacity import wait_none

    call: Any = LiteLLM.call
    monkeypatch.setattr(call.retry, "wait", wait_none())


def test_a_dead_model_is_no_score(task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_waits(monkeypatch)
    with Loopback() as server:
        dead = server.root
    order = AttemptOrder("cell", terminus(), task, tmp_path / "c")
    harness = HarborHarness(servers={"t": dead})
    found = alone(harness, order)
    assert (found.reward, found.tool_calls) == (None, None)
    assert found.exception in {"InternalServerError", "APIConnectionError"} and "onnection" in found.problem
    assert harness.finished(order) is None


def test_a_model_that_never_answers_is_given_up_in_the_time_of_its_recipient(
    task: Path, tmp_path: Path, serve: Callable[..., Loopback], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`options: {llm_call_kwargs: {timeout: …}}`, as docs/refit.md has it: long before the task's limit."""
    without_waits(monkeypatch)
    server = serve(default=ok("never", delay=120))
    impatient = terminus(llm_call_kwargs={"api_key": "local-test-key", "max_retries": 0, "timeout": 0.3})
    found = attempt(AttemptOrder("cell", impatient, task, tmp_path / "c"), servers={"t": server.root})
    assert (found.reward, found.exception, found.is_scored) == (None, "Timeout", False)
    assert 1 < len(server.received) <= 9, "terminus-2 asks three times, each time with three tries"


def test_a_time_out_is_graded(make_task: Callable[..., Path], tmp_path: Path, serve: Callable[..., Loopback]) -> None:
    server = serve(answer("echo hello >/app/out.txt"), default=ok("never", delay=60))
    task = make_task("slow", seconds=5)
    found = attempt(AttemptOrder("cell", terminus(), task, tmp_path / "c"), servers={"t": server.root})
    assert (found.reward, found.exception, found.problem) == (1.0, "AgentTimeoutError", "")
    assert found.usage is not None and found.usage.output == 10 and found.is_partial


@pytest.mark.parametrize(
    ("test", "reward", "exception", "said"),
    [
        ("exit 3\n", None, "RewardFileNotFoundError", "RewardFileNotFoundError"),
        ('echo \'{"reward": 0.5, "style": 1}\' >/logs/verifier/reward.json\n', 0.5, None, ""),
        ("echo '{\"style\": 1}' >/logs/verifier/reward.json\n", None, None, "no number called `reward`, only style"),
        ("echo many >/logs/verifier/reward.txt\n", None, "VerifierOutputParseError", "VerifierOutputParseError"),
    ],
)
def test_verifiers(
    make_task: Callable[..., Path], tmp_path: Path, test: str, reward: float | None, exception: str | None, said: str
) -> None:
    found = attempt(AttemptOrder("cell", NOP, make_task("odd", test=test), tmp_path / "c"))
    assert (found.reward, found.exception) == (reward, exception)
    assert found.problem.startswith(said) if exception else said in found.problem


def test_an_environment_that_does_not_start(task: Path, tmp_path: Path) -> None:
    (task / "environment" / "Dockerfile").write_text("FROM debian:12-slim\nRUN exit 7\n")
    found = attempt(AttemptOrder("cell", NOP, task, tmp_path / "c"))
    assert found.reward is None and found.exception and found.problem


def test_a_task_that_harbor_refuses(task: Path, tmp_path: Path) -> None:
    (task / "task.toml").write_text("[verifier]\ntimeout_sec = 'soon'\n")
    found = attempt(AttemptOrder("cell", NOP, task, tmp_path / "c", "message"))
    assert found.reward is None and found.exception == "ValidationError" and "timeout_sec" in found.problem
    with pytest.raises(DenseError, match=r"(?s)greet: .*Harbor refuses it.*timeout_sec"):
        check(NOP, tasks=(task,))


def test_cancelling_stops_the_environment(task: Path, tmp_path: Path, serve: Callable[..., Loopback]) -> None:
    server = serve(default=ok("never", delay=60))
    state = tmp_path / "state"
    state.mkdir()
    harness = HarborHarness(EnvironmentSettings(options={"state": str(state)}), servers={"t": server.root})
    order = AttemptOrder("cell", terminus(), task, tmp_path / "c")

    async def run() -> None:
        async with harness:
            running = asyncio.create_task(harness.attempt(order))
            while not server.received:
                await asyncio.sleep(0.05)
                assert not running.done(), running.result()
            assert any(state.iterdir())
            running.cancel()
            await running

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
    assert list(state.iterdir()) == []
    assert harness.finished(order) is None


def test_what_a_killed_run_left(task: Path, tmp_path: Path) -> None:
    order = AttemptOrder("cell", ORACLE, task, tmp_path / "c", "a message")
    harness = HarborHarness()
    assert harness.finished(order) is None
    found = alone(harness, order)
    assert HarborHarness().finished(order) == found
    assert harness.finished(AttemptOrder("cell", ORACLE, task, tmp_path / "c", "another")) is None
    assert harness.finished(AttemptOrder("cell", ORACLE, task, tmp_path / "c")) is None
    result = order.folder / found.trial / "result.json"
    whole = result.read_text()
    result.write_text(whole[: len(whole) // 2])
    assert harness.finished(order) is None
    result.write_text(json.dumps({**json.loads(whole), "verifier_result": None}))
    assert harness.finished(order) is None
    (order.folder / "stray").write_text("of the killed one")
    again = alone(harness, order)
    assert again.reward == 1 and again.trial != found.trial
    assert sorted(path.name for path in order.folder.iterdir()) == sorted([again.trial, "task"])


KILLED = """
import asyncio, sys
from pathlib import Path
from refit.harness import AttemptOrder, Recipient
from refit.harness.harbor import HarborHarness

who = Recipient("oracle", "oracle", env={"NAP": "100"})
async def main():
    async with HarborHarness() as harness:
        await harness.attempt(AttemptOrder("cell", who, Path(sys.argv[1]), Path(sys.argv[2])))

asyncio.run(main())
"""


def test_killed_in_the_middle_and_made_again(task: Path, tmp_path: Path) -> None:
    started = "echo begun >/logs/agent/begun; sleep $NAP; echo hello >/app/out.txt"
    (task / "solution" / "solve.sh").write_text(f"#!/bin/bash\n{started}\n")
    folder = tmp_path / "c"
    with subprocess.Popen([sys.executable, "-c", KILLED, str(task), str(folder)]) as process:
        while not list(folder.glob("*/agent")):
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        process.kill()
    order = AttemptOrder("cell", Recipient("oracle", "oracle", env={"NAP": "0"}), task, folder)
    (left,) = (path.parent.name for path in folder.glob("*/agent"))
    assert HarborHarness().finished(order) is None
    found = attempt(order)
    assert found.reward == 1
    assert sorted(path.name for path in folder.iterdir()) == sorted([found.trial, "task"]) and found.trial != left


CHANGED = "greet was changed while the experiment ran: undo that, or run into another folder"


def test_another_task_than_was_planned_is_not_tried(task: Path, tmp_path: Path) -> None:
    planned = digest(task)
    (task / "tests" / "test.sh").write_text("echo 1 >/logs/verifier/reward.txt\n")
    order = AttemptOrder("cell", NOP, task, tmp_path / "c", digest=planned)
    with pytest.raises(DenseError, match=CHANGED):
        attempt(order)
    assert [path.name for path in order.folder.iterdir()] == ["task"]


def test_a_task_that_is_edited_meanwhile(task: Path, tmp_path: Path) -> None:
    """The attempt under way is graded by the old verifier, and nobody gets that grade."""
    test = task / "tests" / "test.sh"
    before, planned = test.read_text(), digest(task)
    given = {"file": str(test), "text": "echo 1 >/logs/verifier/reward.txt\n"}
    who = Recipient("own", "own_agents:Edits", None, {"given": given})
    order = AttemptOrder("cell", who, task, tmp_path / "c", digest=planned)
    with pytest.raises(DenseError, match=CHANGED):
        attempt(order)
    test.write_text(before)
    assert HarborHarness().finished(order) is None
    (left,) = order.folder.glob("*/outdated-result.json")
    assert json.loads(left.read_text())["verifier_result"]["rewards"] == {"reward": 0}
    found = attempt(AttemptOrder("cell", NOP, task, tmp_path / "c", digest=planned))
    assert found.reward == 0


def test_an_agent_that_ends_the_process_ends_its_attempt(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENSE_TEST_PLAIN", "zq8Lw3Tn5Vb7")
    state = tmp_path / "state"
    state.mkdir()
    harness = HarborHarness(EnvironmentSettings(options={"state": str(state)}))
    order = AttemptOrder(
        "cell", Recipient("own", "own_agents:Quits", env={"A": "${DENSE_TEST_PLAIN}"}), task, tmp_path / "c"
    )
    found = alone(harness, order)
    assert (found.reward, found.exception, found.problem) == (None, "SystemExit", "no licence found, key [REDACTED]")
    assert (order.folder / found.trial / "trial.log").is_file()
    assert harness.finished(order) is None and list(state.iterdir()) == []


ENDS = """
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print("out of memory", flush=True)
        os._exit(3)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def test_a_server_that_ends_stops_everything(task: Path, tmp_path: Path) -> None:
    who = Recipient(
        "own", "own_agents:Asks", None, {"given": {"url": "{server}"}}, server=(sys.executable, "-c", ENDS, "{port}")
    )
    message = r"(?s)recipient 'own': its server has ended, with exit code 3: .*out of memory"

    async def run() -> None:
        async with run_servers([who], tmp_path) as servers, HarborHarness(servers=servers) as harness:
            with pytest.raises(DenseError, match=message):
                await harness.attempt(AttemptOrder("cell", who, task, tmp_path / "c"))
            with pytest.raises(DenseError, match=message):  # before anything of the next one is done
                await harness.attempt(AttemptOrder("other", who, task, tmp_path / "d"))

    asyncio.run(run())
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("place", ["shown", "system"])
def test_the_experiment_does_not_show(task: Path, tmp_path: Path, place: str) -> None:
    around = tmp_path / "data" if place == "shown" else Path("/usr/local/src") / f"dense-test-{os.getpid()}"
    if not os.access(around.parent, os.W_OK):
        pytest.skip(f"{around.parent} cannot be written to")
    experiment = around / "experiment"
    try:
        experiment.mkdir(parents=True)
        (experiment / "grades.txt").write_text("1\n")
        (around / "asset.txt").write_text("an asset\n")
        (task / "solution" / "solve.sh").write_text(f"#!/bin/bash\ncd {around}; cat asset.txt; find . -type f\n")
        settings = EnvironmentSettings(options={"show": [str(around)]} if place == "shown" else {})
        order = AttemptOrder("cell", ORACLE, task, experiment / "cell")
        found = attempt(order, environment=settings, hidden=[experiment])
        assert found.reward == 0
        seen = (order.folder / found.trial / "agent" / "oracle.txt").read_text()
    finally:
        shutil.rmtree(around)
    assert seen.split("\n")[:3] == ["an asset", "./asset.txt", ""]


def test_what_a_user_hides_stays_hidden(tmp_path: Path) -> None:
    import_harbor()
    settings = EnvironmentSettings(options={"hide": ["/etc/apt"]})
    harness = HarborHarness(settings, hidden=[tmp_path])
    assert harness._environment().kwargs == {"hide": ["/etc/apt", str(tmp_path)]}
    assert settings.options == {"hide": ["/etc/apt"]}
    other = HarborHarness(EnvironmentSettings("docker"), hidden=[tmp_path])
    assert other._environment().kwargs == {}


def test_tasks_stay_as_they_are(task: Path, tmp_path: Path) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in task.rglob("*") if path.is_file()}
    attempt(AttemptOrder("cell", ORACLE, task, tmp_path / "c", "message"))
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in task.rglob("*") if path.is_file()}
    assert after == before


def test_paths_may_be_relative(task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    order = AttemptOrder("cell", ORACLE, task.relative_to(tmp_path), Path("c"), "message")
    found = attempt(order)
    assert found.reward == 1 and (tmp_path / "c" / found.trial / "result.json").is_file()
    assert HarborHarness().finished(order) == found


def test_variables_reach_the_agent_and_no_file(task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {"DENSE_TEST_KEY": "zq8Lw3Tn5Vb7", "DENSE_TEST_PLAIN": "kd4Hm9Xc2Rf6"}
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    solve = '#!/bin/bash\nenv | grep _OF_OURS\necho "${#KEY_OF_OURS} ${#WORD_OF_OURS}"\necho hello >/app/out.txt\n'
    (task / "solution" / "solve.sh").write_text(solve)
    who = Recipient(
        "o", "oracle", env={"KEY_OF_OURS": "${DENSE_TEST_KEY}", "WORD_OF_OURS": "${DENSE_TEST_PLAIN}", "MODE": "fast"}
    )
    found = attempt(AttemptOrder("cell", who, task, tmp_path / "c"))
    assert found.reward == 1
    written = {path: path.read_bytes() for path in (tmp_path / "c").rglob("*") if path.is_file()}
    assert b"12 12" in b"".join(written.values())
    for value in secrets.values():
        assert [path for path, data in written.items() if value.encode() in data] == []
    config = json.loads((tmp_path / "c" / found.trial / "config.json").read_text())
    assert config["agent"]["env"] == {
        "KEY_OF_OURS": "${DENSE_TEST_KEY}",
        "WORD_OF_OURS": "${DENSE_TEST_PLAIN}",
        "MODE": "fast",
    }


def test_options_are_filled_in() -> None:
    options = {"a": "{seed}", "b": ["{server}/v1", {"c": "s{seed}"}], "d": 1.5, "e": None, "f": "{other}"}
    expected = {"a": 7, "b": ["http://h:1/v1", {"c": "s7"}], "d": 1.5, "e": None, "f": "{other}"}
    assert fill_options(options, 7, "http://h:1") == expected


@pytest.mark.parametrize(
    ("who", "said"),
    [
        (Recipient("r", "terminus-3"), "recipient 'r': Agent name terminus-3 is not valid"),
        (Recipient("r", "no.such.module:Agent"), "no.such.module"),
        (Recipient("r", "json:JSONDecoder"), "recipient 'r'"),
        (Recipient("r", "terminus-2"), "model_name is required"),
        (terminus("r", "http://h:1", no_such_option=1), "no_such_option"),
        (terminus("r", "http://h:1", parser_name="yaml"), "yaml"),
        (terminus("r", "http://h:1", max_timeout_sec="long"), "max_timeout_sec"),
        (terminus("r"), "speaks of a server, and the recipient has none"),
        (Recipient("r", "oracle", env={"A": "${DENSE_TEST_UNSET}"}), "DENSE_TEST_UNSET is not set"),
        (Recipient("r", "oracle", env={"A": "Bearer ${HOME}"}), "must be the whole value"),
        (Recipient("r", "oracle", env={"API_KEY": "abc"}), "occurs everywhere; give it at least 8"),
    ],
)
def test_recipients_that_cannot_run_are_reported_before(task: Path, who: Recipient, said: str) -> None:
    with pytest.raises(DenseError) as caught:
        check(who)
    assert said in str(caught.value)


def test_nothing_is_tried_once_connections_are_closed(task: Path, tmp_path: Path) -> None:
    harness, order = HarborHarness(), AttemptOrder("cell", NOP, task, tmp_path / "c")
    with pytest.raises(RuntimeError, match="use `async with`"):
        asyncio.run(harness.attempt(order))
    assert alone(harness, order).reward == 0
    with pytest.raises(RuntimeError, match="use `async with`"):
        asyncio.run(harness.attempt(order))


def test_an_attempt_checks_what_nobody_checked(task: Path, tmp_path: Path) -> None:
    with pytest.raises(DenseError, match="terminus-3"):
        attempt(AttemptOrder("cell", Recipient("r", "terminus-3"), task, tmp_path / "c"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (EnvironmentSettings("dokker"), "unknown type 'dokker'; known are sandbox, ack"),
        (EnvironmentSettings("no.such.module:Environment"), "no.such.module"),
        (EnvironmentSettings("json:JSONDecoder"), "environment 'json:JSONDecoder' cannot be used here"),
        (EnvironmentSettings(options={"no_such_option": 1}), "no_such_option"),
        (EnvironmentSettings(settings={"override_cpu": 1}), "'override_cpu' is none of Harbor's settings"),
        (EnvironmentSettings(settings={"override_cpus": "many"}), "override_cpus"),
        (EnvironmentSettings("daytona"), "environment 'daytona' cannot be used here"),
    ],
)
def test_environments_that_cannot_be_used_are_reported_before(settings: EnvironmentSettings, said: str) -> None:
    with pytest.raises(DenseError) as caught:
        check(ORACLE, environment=settings)
    assert said in str(caught.value)


def test_docker_that_is_not_there_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DenseError, match=r"environment 'docker' cannot be used here: .*[Dd]ocker"):
        check(ORACLE, environment=EnvironmentSettings("docker"))


def test_a_good_experiment_passes(task: Path) -> None:
    notices = check(terminus(), NOP, terminus(), tasks=(task,), servers={"t": "http://127.0.0.1:9"})
    (notice,) = notices  # a trace is what feedback is made of, and this agent writes none
    assert notice.startswith("recipient 'nop': Harbor knows of no trajectory that the agent nop writes")


NEWER = Path(sys.prefix) / "harbor-0.25"
RELEASE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from release import trials

print(json.dumps(trials(*sys.argv[2:])))
"""


def test_both_releases_do_the_same(task: Path, tmp_path: Path, serve: Callable[..., Loopback]) -> None:
    """The newer one in a process of its own, in which every warning is an error, while the older one runs here."""
    if not NEWER.is_dir():
        pytest.skip("Harbor 0.25.0 is not in .venv/harbor-0.25; scripts/setup puts it there where it can")
    steps = (*SOLVED, answer(f"cat {FEEDBACK_FILE}"), *SOLVED)
    asked = {name: (str(task), str(tmp_path / name), serve(*steps).root) for name in ("old", "new")}
    command = [sys.executable, "-W", "error", "-c", RELEASE, str(Path(__file__).parent), *asked["new"]]
    environment = {**os.environ, "PYTHONPATH": str(NEWER)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        name, old = trials(*asked["old"])
        out, errors = running.communicate(timeout=200)
    assert (running.returncode, errors) == (0, "")
    newer_name, new = json.loads(out)
    assert (name, newer_name) == ("harbor 0.24.0, sandbox", "harbor 0.25.0, sandbox")
    assert new == old
    assert [found["reward"] for found in old] == [1, 0, 1, 1]
    assert [found.get("received") for found in old] == [None, None, "same", "opened"]


FAKE_DOCKER = """#!/bin/sh
echo "$@" >>"$DOCKER_LOG"
case "$*" in
"compose version") exit ${COMPOSE:-0} ;;
"container ls "*|"network ls "*) echo 1; echo 2 ;;
"container inspect "*) echo "c1 task__ab-c__env"; echo "c2 task__ab-c__verifier__x"; echo "c3 task__ab-cd__env" ;;
"network inspect "*) echo "n1 task__ab-c__env"; echo "n2 another" ;;
esac
"""


def test_containers_of_a_killed_trial_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program replaces Docker's client and records its commands. `make test-docker` has the real one."""
    from refit.harness.harbor_checks import check_compose
    from refit.harness.run_folder import end_containers, main, note_containers

    (tmp_path / "docker").write_text(FAKE_DOCKER)
    (tmp_path / "docker").chmod(0o755)
    log = tmp_path / "log"
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("DOCKER_LOG", str(log))
    monkeypatch.setattr("refit.harness.run_folder._SETTLING_SECONDS", 0)
    end_containers("docker", ["Task__Ab.C"])
    commands = log.read_text().splitlines()
    assert "rm --force --volumes c1 c2" in commands and "network rm n1" in commands
    log.unlink()
    main(tmp_path)
    assert not log.exists(), "no trial is noted"
    note_containers(tmp_path, "docker", "Task__Ab.C")
    main(tmp_path)
    assert log.read_text().splitlines() == commands
    check_compose()
    monkeypatch.setenv("COMPOSE", "1")
    with pytest.raises(DenseError, match="install Docker's compose plugin"):
        check_compose()
