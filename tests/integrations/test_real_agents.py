"""The whole way with the real programs: session 1 fails, session 2's first request carries the feedback, session 3 in
another project carries nothing. Installs the programs from npm; run with `make test-agents`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from agents import AGENTS, Turn

pytestmark = [
    pytest.mark.agents,
    pytest.mark.timeout(900),
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed"),
]
MARK = "dense-feedback-"


def is_title_request(request: str) -> bool:
    """Whether an agent only asks for a title of its session (opencode)."""
    return "title generator" in request


@pytest.mark.parametrize("name", AGENTS)
def test_the_next_session_is_given_the_feedback(name: str, tmp_path: Path) -> None:
    agent = AGENTS[name]()
    agent.home = tmp_path / "home"
    agent.home.mkdir()
    agent.environment("http://127.0.0.1:9")  # writes the settings of the user
    before = {path: path.read_bytes() for path in agent.home.rglob("*") if path.is_file()}
    assert agent.dense("setup", name, "--yes").returncode == 0

    assert MARK not in json.dumps(agent.failing_session(tmp_path / "one"))
    assert "failed:" not in agent.settled()
    second = agent.session(tmp_path / "one", "Go on.", [Turn("Nothing to do.")])
    asked = [text for request in second if not is_title_request(text := json.dumps(request))]
    assert MARK in asked[0]
    assert "1 failed, 2 passed" in asked[0]
    assert not any(MARK in text for text in map(json.dumps, second) if is_title_request(text))
    third = agent.session(tmp_path / "two", "Hello.", [Turn("Hello.")])
    assert MARK not in json.dumps(third)
    agent.settled()
    assert agent.dense("hook", "status").stdout.count("injected: ") == 1

    assert agent.dense("setup", name, "--undo").returncode == 0
    agent.environment("http://127.0.0.1:9")
    assert {path: path.read_bytes() for path in before} == before
    assert MARK not in json.dumps(agent.session(tmp_path / "one", "Go on.", [Turn("Nothing to do.")]))


@pytest.mark.parametrize("name", AGENTS)
def test_a_killed_session_is_neither_lost_nor_injected_twice(name: str, tmp_path: Path) -> None:
    agent = AGENTS[name]()
    agent.home = tmp_path / "home"
    agent.home.mkdir()
    assert agent.dense("setup", name, "--yes").returncode == 0

    agent.killed_session(tmp_path / "one")
    carried: list[bool] = []
    for _ in range(3):  # the first one finds the killed session; its feedback may be ready only for the second one
        requests = agent.session(tmp_path / "one", "Hello.", [Turn("Hello.")])
        carried.append(any("1 failed, 2 passed" in json.dumps(request) for request in requests))
        agent.settled()
    assert carried.count(True) == 1, carried
    assert not carried[2]
    assert agent.dense("hook", "status").stdout.count("injected: ") == 1
