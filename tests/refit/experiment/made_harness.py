"""A harness for tests of the run loop: quick, deterministic, with real files. What an attempt comes to depends on its
seed and on the message alone, so that any run of the same experiment gives the same table."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from dense.trajectory import Usage
from refit.harness import AttemptOrder, AttemptResult

TASK_TOML = '[metadata]\ndifficulty = "{difficulty}"\n'


def write_task(folder: Path, instruction: str = "Write the number of lines of /app/in.txt to /app/out.txt.\n") -> None:
    """A task folder, as Harbor has them."""
    files = {
        "instruction.md": instruction,
        "task.toml": TASK_TOML.format(difficulty="hard" if folder.name.endswith("2") else "easy"),
        "environment/Dockerfile": "FROM debian:12-slim\n",
        "solution/solve.sh": "#!/bin/sh\n# SOLUTION-CANARY\nwc -l < /app/in.txt > /app/out.txt\n",
        "tests/test.sh": "#!/bin/sh\n# TESTS-CANARY\necho 1 > /logs/verifier/reward.txt\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


class MadeHarness:
    """Makes up attempts. `log` gets a line for each that ended with a score."""

    name = "made"

    def __init__(
        self,
        *,
        delay: float = 0.0,
        log: Path | None = None,
        fails: Callable[[AttemptOrder], str | None] | None = None,
        is_argument: bool | None = False,
    ) -> None:
        self.delay, self.log, self.fails, self.is_argument = delay, log, fails, is_argument
        self.orders: list[AttemptOrder] = []
        self.running = self.most_running = 0

    async def attempt(self, order: AttemptOrder) -> AttemptResult:
        self.orders.append(order)
        self.running += 1
        self.most_running = max(self.running, self.most_running)
        try:
            await asyncio.sleep(self.delay)
            return self._made(order)
        finally:
            self.running -= 1

    def finished(self, order: AttemptOrder) -> AttemptResult | None:
        try:
            return self._reported(order, json.loads((order.folder / "trial" / "result.json").read_text()))
        except (OSError, ValueError):
            return None

    def clear_killed(self, order: AttemptOrder) -> Usage | None:
        """Nothing of it must not stay; a killed one took something."""
        return Usage(100, None, None, 5, 0.001)

    def _made(self, order: AttemptOrder) -> AttemptResult:
        if self.fails is not None and (words := self.fails(order)) is not None:
            return AttemptResult(exception="Broken", problem=words)
        trial = order.folder / "trial"
        (trial / "agent").mkdir(parents=True, exist_ok=True)
        (trial / "verifier").mkdir(exist_ok=True)
        draw = hashlib.sha256(f"{order.seed}\0{order.message}".encode()).digest()
        number, steps = int.from_bytes(draw[:4]), 2 + draw[4] % 4
        (trial / "agent" / "trajectory.json").write_text(json.dumps(_trajectory(order, number, steps)))
        (trial / "verifier" / "test-stdout.txt").write_text("VERIFIER-CANARY\n")
        reward = float(number % 2)
        record: dict[str, object] = {
            "task_name": order.task.name,
            "trial_name": "trial",
            "verifier_result": {"rewards": {"reward": reward}},
            "agent_result": {"n_input_tokens": 1000 + number % 256, "n_output_tokens": 10 * steps, "cost_usd": 0.01},
            "steps": steps,
            "finished_at": "2026-01-01T00:00:00Z",
        }
        half = trial / "result.json.half"
        half.write_text(json.dumps(record))
        half.replace(trial / "result.json")
        if self.log is not None:
            with self.log.open("a") as file:
                file.write(f"{order.name}\n")
        return self._reported(order, record)

    def _reported(self, order: AttemptOrder, record: dict[str, object]) -> AttemptResult:
        used = record["agent_result"]
        assert isinstance(used, dict)
        graded = record["verifier_result"]
        assert isinstance(graded, dict)
        message = order.message
        return AttemptResult(
            "trial",
            reward=graded["rewards"]["reward"],
            usage=Usage(used["n_input_tokens"], None, None, used["n_output_tokens"], used["cost_usd"]),
            tool_calls=int(str(record["steps"])),
            seconds=self.delay,
            trace="trial/agent/trajectory.json",
            delivered="" if message is None else "file" if order.as_file else "instruction",
            message_sha256=hashlib.sha256(message.encode()).hexdigest() if message is not None else "",
            received="same" if message is not None else "",
            is_argument=self.is_argument,
        )


def _trajectory(order: AttemptOrder, number: int, steps: int) -> dict[str, object]:
    """A trace in Harbor's format: the agent gets the message, and tries things that depend on it."""
    reported = order.message if order.message is not None else (order.task / "instruction.md").read_text()
    acted = [
        {
            "step_id": step + 2,
            "source": "agent",
            "message": f"Try {step}.",
            "tool_calls": [
                {
                    "tool_call_id": f"c{step}",
                    "function_name": "bash_command",
                    "arguments": {"keystrokes": f"./try-{number}-{step} > out.txt\n", "duration": 0.1},
                }
            ],
            "observation": {
                "results": [{"content": f"$ ./try-{number}-{step}\nerror: no luck with {number + step}\n"}]
            },
        }
        for step in range(steps)
    ]
    return {
        "schema_version": "ATIF-v1.6",
        "session_id": order.name,
        "agent": {"name": "made", "version": "1", "model_name": "made"},
        "steps": [{"step_id": 1, "source": "user", "message": reported}, *acted],
    }
