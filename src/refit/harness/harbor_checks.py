"""Checks before attempts on Harbor start: the environment, the agents, and their notices. Nothing is started."""

from __future__ import annotations

# pyright: reportMissingTypeStubs=false
import inspect
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dense.errors import DenseError
from dense.redact import redact_text
from dense.text.clip import clip_middle
from refit.harness.harness import Recipient

if TYPE_CHECKING:
    from harbor.models.trial.config import AgentConfig, EnvironmentConfig
    from harbor.trial.trial import Trial
PROBE_TOML = '[task]\nname = "dense/probe"\n'


def check_sandbox_options(options: Mapping[str, Any]) -> None:
    """Harbor's environments pass over options that they do not know; ours has few, and a mistyped one is an error."""
    from refit.harness.sandbox.environment import SandboxEnvironment

    parameters = inspect.signature(SandboxEnvironment.__init__).parameters.values()
    known = {parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
    if unknown := options.keys() - known:
        raise DenseError(
            f"environment: options: {min(unknown)!r} is none that the sandbox has: {', '.join(sorted(known))}"
        )


def has_separate_verifier(trial: Trial) -> bool:
    """Whether the verifier, or that of a step, runs in an environment that Harbor makes later."""
    from harbor.models.task.verifier_mode import (
        VerifierEnvironmentMode,
        resolve_step_verifier_mode,
        resolve_task_verifier_mode,
    )

    config = trial.task.config
    modes = [resolve_step_verifier_mode(config, step) for step in config.steps or ()]
    return VerifierEnvironmentMode.SEPARATE in (modes or [resolve_task_verifier_mode(config)])


DOCKER = "docker"
NETWORK_HINT = (
    " Harbor enforces it with images from a registry, which cannot be had here. Give the engine access to one, or take "
    "the key out of the task and add a compose file with `network_mode: none` (docs/refit.md, Docker)"
)
"""For a task whose network policy the engine cannot enforce."""


def check_compose() -> None:
    """That Docker's compose plugin is there: Harbor needs it for every trial and does not look for it."""
    try:
        done = subprocess.run([DOCKER, "compose", "version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DenseError(f"environment 'docker' cannot be used here: {error_line(error)}") from None
    if done.returncode:
        raise DenseError(
            "environment 'docker' cannot be used here: `docker compose version` fails; install Docker's compose plugin "
            "(package docker-compose-plugin, docker-compose-v2 or docker-compose)"
        )


def preflight_environment(config: EnvironmentConfig, kind: str) -> None:
    from harbor.environments.factory import EnvironmentFactory

    try:
        EnvironmentFactory.run_preflight(config.type, config.import_path)
        EnvironmentFactory.validate_resource_policies(config)
        if kind == DOCKER:
            check_compose()
    except DenseError:
        raise
    except (Exception, SystemExit) as error:
        raise DenseError(f"environment {kind!r} cannot be used here: {error_line(error)}") from None


def preflight_agent(config: AgentConfig, recipient: Recipient) -> None:
    from harbor.agents.factory import AgentFactory

    # Only the model's server knows whether a key is needed and valid: an option may carry it, or none is needed.
    skip = "skip_credential_checks"
    lenient = {skip: True} if skip in inspect.signature(AgentFactory.run_preflight).parameters else {}
    try:
        AgentFactory.run_preflight(config, **lenient)
    except (Exception, SystemExit) as error:
        raise DenseError(f"recipient {recipient.name!r}: {error_line(error)}") from None


def agent_notices(trial: Trial, recipient: Recipient) -> list[str]:
    """What its agent should not surprise anybody with."""
    if trial.agent.capabilities.atif:
        return []
    return [
        f"recipient {recipient.name!r}: Harbor knows of no trajectory that the agent {recipient.agent} writes; methods "
        "that look at the trace cannot make feedback from an attempt without one"
    ]


def error_line(error: BaseException) -> str:
    """What an error says, on one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return clip_middle(redact_text(text)[0], 600, head=0.3)  # tools say at the end what went wrong


def write_probe_task(folder: Path) -> Path:
    """The smallest task, for a look at agents and environments without one of the experiment's."""
    files = {
        "instruction.md": "Nothing is to be done.\n",
        "task.toml": PROBE_TOML,
        "environment/Dockerfile": "FROM debian:12-slim\n",
        "tests/test.sh": "#!/bin/sh\necho 0 >/logs/verifier/reward.txt\n",
        "solution/solve.sh": "#!/bin/sh\n",
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
