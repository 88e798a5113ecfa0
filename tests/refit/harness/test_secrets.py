"""Secrets reach the agent and stay in no file, however an attempt ends."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from release import alone

from dense.errors import DenseError
from refit.harness import AttemptOrder, AttemptResult, Recipient
from refit.harness.harbor import EnvironmentSettings, HarborHarness
from refit.harness.secrets import REMOVED_MARK, collect_secrets, is_secret_option, remove_secrets, scrub

PLAIN, OPTION, HEADER = "kd4Hm9Xc2Rf6", "zq8Lw3Tn5Vb7", "wy6Jp1Gs8Da4"
"""Of a variable whose name is no secret's, of an option, and of a header deep in one."""
EVER = 600


def reporting_agent(seconds: float) -> Recipient:
    headers = {"extra_headers": {"X-Auth-Token": HEADER, "X-Trace": "plainly"}}
    given = {"names": ["DENSE_TEST_PLAIN"], "seconds": seconds, "llm": [headers], "api_key": OPTION}
    return Recipient("own", "own_agents:Tells", None, {"given": given}, {"MODE_OF_OURS": "${DENSE_TEST_PLAIN}"})


def files(folder: Path) -> dict[str, str]:
    return {str(path): path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file()}


def holding(folder: Path) -> set[str]:
    """Which secrets stand in files."""
    texts = files(folder).values()
    return {value for value in (PLAIN, OPTION, HEADER) if any(value in text for text in texts)}


def begun(folder: Path) -> Iterator[Path]:
    return folder.glob("*/agent/reported.txt")


@pytest.fixture
def variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENSE_TEST_PLAIN", PLAIN)


def test_an_attempt_that_ends(variable: None, task: Path, tmp_path: Path) -> None:
    order = AttemptOrder("cell", reporting_agent(0), task, tmp_path / "c")
    found = alone(HarborHarness(), order)
    assert found.reward == 0
    assert holding(order.folder) == set()
    config = json.loads((order.folder / found.trial / "config.json").read_text())
    options = config["agent"]["kwargs"]["given"]
    assert options["api_key"] == REMOVED_MARK
    assert options["llm"] == [{"extra_headers": {"X-Auth-Token": REMOVED_MARK, "X-Trace": "plainly"}}]
    (reported,) = begun(order.folder)
    assert reported.read_text() == f"begun\n{REMOVED_MARK}"


def test_an_attempt_that_is_cancelled(variable: None, task: Path, tmp_path: Path) -> None:
    order = AttemptOrder("cell", reporting_agent(EVER), task, tmp_path / "c")
    harness = HarborHarness()

    async def run() -> None:
        async with harness:
            running = asyncio.create_task(harness.attempt(order))
            while not list(begun(order.folder)):
                await asyncio.sleep(0.05)
                assert not running.done(), running.result()
            running.cancel()
            await running

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
    assert holding(order.folder) == set()
    (reported,) = begun(order.folder)
    assert reported.read_text() == f"begun\n{REMOVED_MARK}"


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from release import alone
from test_secrets import EVER, reporting_agent
from refit.harness import AttemptOrder
from refit.harness.harbor import HarborHarness

alone(HarborHarness(), AttemptOrder("cell", reporting_agent(EVER), Path(sys.argv[2]), Path(sys.argv[3])))
"""


def test_an_attempt_that_is_killed(variable: None, task: Path, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    command = [sys.executable, "-c", KILLED, str(Path(__file__).parent), str(task), str(folder)]
    with subprocess.Popen(command) as process:
        while not list(begun(folder)):
            assert process.poll() is None
            time.sleep(0.05)
        process.kill()
    assert holding(folder) == {PLAIN, OPTION, HEADER}
    before = files(task)
    harness, order = HarborHarness(), AttemptOrder("cell", reporting_agent(EVER), task, folder)
    assert harness.finished(order) is None
    harness.tidy(order)
    assert holding(folder) == set()
    (reported,) = begun(folder)
    assert reported.read_text() == f"begun\n{REMOVED_MARK}", "what was recorded stays"
    assert files(task) == before
    harness.tidy(AttemptOrder("other", reporting_agent(EVER), task, tmp_path / "nothing-there"))


def test_what_an_environment_is_given(task: Path, tmp_path: Path) -> None:
    settings = EnvironmentSettings(settings={"env": {"MODE": "standard-mode", "SOME_TOKEN": OPTION}})
    order = AttemptOrder("cell", Recipient("o", "oracle"), task, tmp_path / "c")
    (task / "solution" / "solve.sh").write_text("#!/bin/bash\necho ${#SOME_TOKEN} $MODE $SOME_TOKEN\n")
    found = alone(HarborHarness(settings), order)
    seen = (order.folder / found.trial / "agent" / "oracle.txt").read_text()
    assert seen.split() == ["12", "standard-mode", REMOVED_MARK]
    assert holding(order.folder) == set()


def test_secrets_of_ours_reach_the_environment_and_no_file(variable: None, task: Path, tmp_path: Path) -> None:
    """Not even while the attempt runs: a kill leaves what is there."""
    env = {"MODE_OF_OURS": "${DENSE_TEST_PLAIN}", "OTHER": "${DENSE_TEST_NOWHERE:-otherwise}"}
    harness = HarborHarness(EnvironmentSettings(settings={"env": env}))
    solve = "#!/bin/bash\necho ${#MODE_OF_OURS} $OTHER; sleep 1; echo $MODE_OF_OURS\n"
    (task / "solution" / "solve.sh").write_text(solve)
    order = AttemptOrder("cell", Recipient("o", "oracle"), task, tmp_path / "c")
    seen: list[set[str]] = []

    async def run() -> AttemptResult:
        async with harness:
            running = asyncio.create_task(harness.attempt(order))
            while not running.done():
                seen.append(holding(order.folder))
                await asyncio.sleep(0.05)
            return await running

    found = asyncio.run(run())
    trial = order.folder / found.trial
    assert (trial / "agent" / "oracle.txt").read_text().split() == [str(len(PLAIN)), "otherwise", REMOVED_MARK]
    assert json.loads((trial / "config.json").read_text())["environment"]["env"] == env
    assert holding(order.folder) == set()
    # What the attempt prints is its own, and it prints that last: until then nothing holds the value.
    assert len(seen) > 10 and not any(seen[: len(seen) // 2])


@pytest.mark.parametrize(
    ("value", "reported"),
    [("${DENSE_TEST_NOWHERE}", "DENSE_TEST_NOWHERE is not set"), ("a-${DENSE_TEST_PLAIN}", "must be the whole value")],
)
def test_secrets_of_an_environment_that_cannot_be_read(
    variable: None, task: Path, tmp_path: Path, value: str, reported: str
) -> None:
    harness = HarborHarness(EnvironmentSettings(settings={"env": {"SOME_MODE": value}}))
    with pytest.raises(DenseError, match=f"environment: settings: env: SOME_MODE: .*{reported}"):
        asyncio.run(harness.check([Recipient("o", "oracle")], [task]))


def test_a_verifier_with_an_environment_of_its_own_is_refused(variable: None, task: Path) -> None:
    text = (task / "task.toml").read_text()
    (task / "task.toml").write_text(text.replace("[verifier]", '[verifier]\nenvironment_mode = "separate"'))
    (task / "tests" / "Dockerfile").write_text("FROM debian:12-slim\n")
    asyncio.run(HarborHarness().check([Recipient("o", "oracle")], [task]))
    harness = HarborHarness(EnvironmentSettings(settings={"env": {"SOME_MODE": "${DENSE_TEST_PLAIN}"}}))
    with pytest.raises(DenseError, match=r"an environment of its own.*take SOME_MODE out"):
        asyncio.run(harness.check([Recipient("o", "oracle")], [task]))


@pytest.mark.parametrize(
    "name",
    "api_key apiKey API_KEY x-api-key X-Auth-Token access_token token auth key openai_key client_secret password "
    "db_passwd Authorization credentials aws_secret_access_key auth_tokens Ocp-Apim-Subscription-Key Cookie".split(),
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_option(name)


@pytest.mark.parametrize(
    "name",
    "max_tokens tokens output_cost_per_token prompt_cache_key sort_key public_key keyboard author monkey token_limit "
    "model_info api_base seed keystrokes".split(),
)
def test_names_of_other_things(name: str) -> None:
    assert not is_secret_option(name)


def test_which_values_are_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENSE_TEST_SET", "from-our-environment")
    monkeypatch.delenv("DENSE_TEST_UNSET", raising=False)
    options: dict[str, Any] = {
        "headers": {"Authorization": "Bearer abcdefgh-1", "Accept": "text/plain"},
        "secrets": {"of": ["one-of-many", {"deep": "another-one"}]},
        "api_key": "${DENSE_TEST_SET}",
        "token": "unused",
        "password": 12345678,
        "name": "no-secret-at-all",
    }
    env = {
        "PLAIN": "${DENSE_TEST_SET}",
        "MODE": "${DENSE_TEST_UNSET:-standard-mode}",
        "A_TOKEN": "${DENSE_TEST_UNSET:-standard-token}",
        "B_KEY": "literally",
        "WORD": "literal-word",
    }
    expected = {"Bearer abcdefgh-1", "abcdefgh-1", "one-of-many", "another-one", "from-our-environment"}
    assert collect_secrets(options) == expected
    assert collect_secrets({}, env) == {"from-our-environment", "standard-token", "literally"}
    assert collect_secrets({}) == set()


def test_every_form_goes_from_every_file(tmp_path: Path) -> None:
    value = 'pä"ss/wörd\n1'
    folder = tmp_path / "trial"
    (folder / "deep").mkdir(parents=True)
    given = {"value": value}
    (folder / "deep" / "ascii.json").write_text(json.dumps(given))
    (folder / "deep" / "plain.json").write_text(json.dumps(given, ensure_ascii=False))
    (folder / "url.txt").write_text("?key=p%C3%A4%22ss%2Fw%C3%B6rd%0A1&x")
    (folder / "both.txt").write_text(f"<{value}{value}> and {value[:8]}")
    (folder / "program").write_text(value)
    (folder / "program").chmod(0o750)
    binary = b"\0head" + value.encode() + b"tail"
    (folder / "store.db").write_bytes(binary)
    (folder / "task").mkdir()
    (folder / "task" / "kept").write_text(value)
    outside = tmp_path / "outside"
    outside.write_text(value)
    (folder / "link").symlink_to(outside)
    os.link(outside, folder / "hard")
    scrub(folder, [value, value[:8]], but=folder / "task")
    for name in ("ascii", "plain"):
        assert json.loads((folder / "deep" / f"{name}.json").read_text()) == {"value": REMOVED_MARK}
    assert (folder / "url.txt").read_text() == f"?key={REMOVED_MARK}&x"
    assert (folder / "both.txt").read_text() == f"<{REMOVED_MARK}{REMOVED_MARK}> and {REMOVED_MARK}"
    assert (folder / "program").stat().st_mode & 0o777 == 0o750
    assert (folder / "store.db").read_bytes() == b"\0head" + b"*" * len(value.encode()) + b"tail"
    assert (folder / "hard").read_text() == REMOVED_MARK
    assert outside.read_text() == (folder / "task" / "kept").read_text() == value
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["deep", "url.txt", "both.txt", "program", "store.db", "task", "link", "hard"]
    )
    assert remove_secrets(f"it says {json.dumps(value)}", [value]) == f'it says "{REMOVED_MARK}"'
