# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
"""Real trials of Harbor in sandboxes, in a process of their own: Harbor's imports warn, and there are two Harbors.

trials.py FOLDER OPTIONS: makes what it needs in FOLDER, takes the environment's options as JSON, prints what came."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ |= {"HARBOR_TELEMETRY": "0", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "SOME_API_KEY": "sk-of-the-host"}

from harbor.agents.base import BaseAgent
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext
from harbor.models.trial.config import AgentConfig, EnvironmentConfig, TaskConfig, TrialConfig
from harbor.trial.trial import Trial

from refit.harness.sandbox import IMPORT_PATH

LOOK = """
cd /logs/agent
{ id -un; pwd; echo "${SOME_API_KEY-unset} $FROM_IMAGE $FROM_TASK"; ls -A /tests /solution; find / -name solve.sh; } \
    >seen.txt 2>/dev/null
ln -s /etc/passwd leak; mkfifo pipe; printf 'Hello, world!\\n' >/app/hello.txt; rm -rf /app/gone
"""
TOML = """
[task]
name = "tests/hello"
[environment]
cpus = 1
memory_mb = 512
network_mode = "no-network"
{environment}
[agent]
timeout_sec = 60
{agent}
[verifier]
timeout_sec = 60
"""
TEST = """#!/bin/bash
if [ "$(cat /app/hello.txt)" = "Hello, world!" ]; then echo 1; else echo 0; fi >/logs/verifier/reward.txt
"""


class Looker(BaseAgent):
    """An agent that looks around, solves the task, and leaves a mess."""

    @staticmethod
    def name() -> str:
        return "looker"

    def version(self) -> str:
        return "1"

    async def setup(self, environment: BaseEnvironment) -> None:
        pass

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        await environment.exec(LOOK)
        try:
            await environment.exec("sleep 50", timeout_sec=1)
        except RuntimeError as error:
            (self.logs_dir / "timeout.txt").write_text(str(error))


def task(folder: Path, dockerfile: str, *, environment: str = "", agent: str = "") -> Path:
    for name in ("environment", "solution", "tests"):
        (folder / name).mkdir(parents=True)
    (folder / "instruction.md").write_text("Write `Hello, world!` into /app/hello.txt.\n")
    (folder / "task.toml").write_text(TOML.format(environment=environment, agent=agent))
    (folder / "solution" / "solve.sh").write_text("#!/bin/bash\nprintf 'Hello, world!\\n' >/app/hello.txt\n")
    (folder / "tests" / "test.sh").write_text(TEST)
    if dockerfile:
        (folder / "environment" / "Dockerfile").write_text(dockerfile)
    return folder


async def trial(folder: Path, name: str, where: Path, agent: AgentConfig, options: dict[str, Any]) -> dict[str, Any]:
    environment = EnvironmentConfig(import_path=IMPORT_PATH, kwargs=options)
    config = TrialConfig(
        task=TaskConfig(path=where), trial_name=name, trials_dir=folder / "trials", agent=agent, environment=environment
    )
    try:
        result = await (await Trial.create(config)).run()
    except Exception as error:  # What Harbor lets through is reported like the rest.
        return {"raised": type(error).__name__, "message": str(error)}
    rewards = result.verifier_result.rewards if result.verifier_result else None
    failure = result.exception_info
    return {
        "reward": rewards and rewards.get("reward"),
        "exception": failure and failure.exception_type,
        "message": failure and failure.exception_message,
    }


async def main(folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    user = "" if options.get("rootless") else 'user = "tester"'
    add = "" if options.get("rootless") else "RUN useradd -m tester && chmod 777 /app\n"
    dockerfile = f"FROM debian:12\nENV FROM_IMAGE=image\nWORKDIR /app/gone\nRUN echo built >/app/built.txt\n{add}"
    hello = task(folder / "hello", dockerfile, environment='env = { FROM_TASK = "task" }', agent=user)
    plain = task(folder / "plain", "FROM debian:12\nWORKDIR /app\n")
    broken = task(folder / "broken", "FROM debian:12\nRUN exit 3\n")
    prebuilt = task(folder / "prebuilt", "", environment='docker_image = "org/image:1"')
    nop = AgentConfig(name="nop")
    wanted = {
        "oracle": (plain, AgentConfig(name="oracle")),
        "nop": (plain, nop),
        "looker": (hello, AgentConfig(import_path="trials:Looker")),
        "broken": (broken, nop),
        "prebuilt": (prebuilt, nop),
    }
    found = await asyncio.gather(*(trial(folder, name, *what, options) for name, what in wanted.items()))
    return dict(zip(wanted, found, strict=True))


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(Path(sys.argv[1]), json.loads(sys.argv[2])))))
