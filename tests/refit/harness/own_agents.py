# pyright: reportMissingTypeStubs=false
"""Agents of a user's own, as Harbor takes them by `own_agents:Class`: they run in our process and behave badly."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import urllib.request
from pathlib import Path
from typing import Any

from harbor.agents.base import BaseAgent
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext


class _Own(BaseAgent):
    def __init__(self, *args: Any, given: dict[str, Any] | None = None, **kwargs: Any) -> None:
        self.given = given or {}
        super().__init__(*args, **kwargs)

    @staticmethod
    def name() -> str:
        return "own"

    def version(self) -> str:
        return "1"

    async def setup(self, environment: BaseEnvironment) -> None:
        pass


class Quits(_Own):
    """Takes the process for its own."""

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        sys.exit("no licence found, key zq8Lw3Tn5Vb7")


class Passes(_Own):
    """Hands its instruction on to a program in the environment, as most installed agents do."""

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        text = shlex.quote(instruction)
        if self.given.get("by") == "variable":
            done = await environment.exec('printf %s "$TASK" >/tmp/received', env={"TASK": instruction})
        else:
            done = await environment.exec(command=f"printf %s {text} >/tmp/received")
        assert done.return_code == 0


class Edits(_Own):
    """Somebody edits the task while it is tried: in place, as editors do."""

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        with Path(self.given["file"]).open("w") as file:
            file.write(self.given["text"])


class Tells(_Own):
    """Writes down what it was given, and does not come to an end."""

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        reported = [os.environ[name] for name in self.given["names"]]
        (self.logs_dir / "reported.txt").write_text("\n".join(["begun", *reported]))
        await asyncio.sleep(self.given.get("seconds", 0))


class Asks(_Own):
    """Asks its server once, and fails when that does."""

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        await asyncio.to_thread(urllib.request.urlopen, self.given["url"], timeout=10)
