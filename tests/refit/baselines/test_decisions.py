"""Step-by-step by rule: a decision is judged by what was known, and by nothing that came of it."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest

import dense
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory
from refit.baselines.decisions import DecisionRules

ROOT = Path(__file__).parents[3]
EXAMPLES = list(dense.read(ROOT / "examples"))
OTHER = ("Traceback (most recent call last):\nValueError: no", "5 passed in 0.1s", "", "bash: x: command not found")


def step(command: str, output: str = "", exit_code: int = 0) -> Step:
    seen = Observation(output, exit_code=exit_code)
    return Step(Source("x"), calls=(ToolCall("bash", {"command": command}),), observations=(seen,))


def decisions(*steps: Step) -> DecisionRules:
    found = Trajectory("test", "t", Source("x"), task=Task("Make /app/out.txt."), steps=steps)
    return DecisionRules(found)


def changed_from(trajectory: Trajectory, action: int, seed: int) -> Trajectory:
    """The same up to an action; what came of it, and all that follows, is something else."""
    chance = random.Random(seed)
    steps = list(trajectory.steps[:action])
    other = (Observation(chance.choice(OTHER), exit_code=chance.choice([0, 1, None])),)
    steps[-1] = msgspec.structs.replace(steps[-1], observations=other, subagents=())
    steps += [step(chance.choice(["rm -rf /app", "pytest", "cat x"]), chance.choice(OTHER)) for _ in range(3)]
    return msgspec.structs.replace(trajectory, steps=tuple(steps))


@pytest.mark.parametrize("trajectory", EXAMPLES, ids=lambda found: found.id[:20])
def test_the_result_and_the_future_change_nothing(trajectory: Trajectory) -> None:
    known = DecisionRules(trajectory)
    for action in range(1, len(trajectory.steps) + 1):
        for seed in range(3):
            other = DecisionRules(changed_from(trajectory, action, seed))
            assert other.decision(action) == known.decision(action), action


def test_doing_the_same_again_is_badly_founded() -> None:
    found = decisions(step("cat /app/in.txt", "hello"), step("cat /app/in.txt", "hello"))
    assert found.decision(1).label == 0
    assert found.decision(2).label == -1
    assert "a1" in found.decision(2).known_basis


def test_looking_again_after_a_change_is_not() -> None:
    change = step("sed -i s/a/b/ /app/in.txt")
    found = decisions(step("cat /app/in.txt", "a"), change, step("cat /app/in.txt", "b"))
    assert found.decision(3).label == 0
    assert found.decision(3).known_basis == "a2 had written it."


def test_a_repair_rests_on_the_failure() -> None:
    failed = step("python3 /app/run.py", "Traceback (most recent call last):\nKeyError: 'x'", 1)
    found = decisions(failed, step("sed -i s/x/y/ /app/run.py"))
    assert found.decision(2).label == 0
    assert found.decision(2).known_basis.startswith("a1 had failed")
    assert "KeyError" in found.decision(2).known_basis


@pytest.mark.parametrize(("between", "label"), [([], -1), (["cat /app/out.txt"], 0)])
def test_handing_over_what_nobody_looked_at(between: list[str], label: int) -> None:
    end = Step(Source("x"), "Done.", calls=(ToolCall("submit", {}),))
    found = decisions(step("echo 1 > /app/out.txt"), *(step(command, "1") for command in between), end)
    assert found.decision(2 + len(between)).label == label
