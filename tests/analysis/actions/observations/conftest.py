"""Steps for the tests of this folder, as functions: one action, what came back, and what is observed in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.observations.result import ObservedResult
from dense.analysis.actions.step_effects import effects
from dense.trajectory import Observation, Source, Step, ToolCall


def look(calls: tuple[ToolCall, ...], *observations: Observation) -> ObservedResult:
    step = Step(Source("t"), calls=calls, observations=observations)
    return observe(step, effects(step))


@pytest.fixture(scope="session")
def after() -> Callable[..., ObservedResult]:
    """What is observed after a shell command."""

    def see(command: str, text: str, *, code: int | None = None, is_error: bool | None = None) -> ObservedResult:
        return look((ToolCall("bash", {"command": command}),), Observation(text, is_error=is_error, exit_code=code))

    return see


@pytest.fixture(scope="session")
def typed() -> Callable[..., ObservedResult]:
    """What is observed on a terminal after keys were sent to it."""

    def see(keys: list[str], screen: str) -> ObservedResult:
        calls = tuple(ToolCall("bash_command", {"keystrokes": key, "duration": 0.5}) for key in keys)
        return look(calls, Observation(f"New Terminal Output:\n\n{screen}"))

    return see


@pytest.fixture(scope="session")
def tool() -> Callable[..., ObservedResult]:
    """What is observed after a call of one of the agent's own tools; without a name, after an action without a call."""

    def see(
        name: str, text: str, is_error: bool | None = None, code: int | None = None, **arguments: Any
    ) -> ObservedResult:
        calls = (ToolCall(name, arguments),) if name else ()
        return look(calls, Observation(text, is_error=is_error, exit_code=code))

    return see
