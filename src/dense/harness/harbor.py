"""Attempts on Harbor: each order is one trial of its own, in an environment of its own.

Trials, not a job: cells of an experiment are independent and overlap, and a job would cross tasks with agents and
clear what it does not know from its folder.

    order.folder/task/<name>/            the derived task; once the trial is over, only its instruction.md
    order.folder/<name>__<id>/           the trial, as Harbor leaves it
"""

# pyright: reportMissingTypeStubs=false
from __future__ import annotations

import asyncio
import inspect
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from msgspec import Struct

from dense.errors import DenseError
from dense.harness.datasets import resolve_dataset
from dense.harness.delivery_check import with_delivery
from dense.harness.derived_task import (
    FEEDBACK_FILE,
    INSTRUCTION,
    DerivedTask,
    derive,
    digest,
    instruction_of,
    instruction_with,
)
from dense.harness.finished_trial import RESULT_FILE, incomplete, read_trial
from dense.harness.harbor_import import close_connections, import_harbor
from dense.harness.harness import AttemptOrder, AttemptResult, Recipient
from dense.harness.sandbox import IMPORT_PATH, preflight
from dense.harness.secrets import check_variables, collect_secrets, remove_secrets, resolve_variables, scrub
from dense.redact import redact_text

if TYPE_CHECKING:
    from harbor.models.trial.config import AgentConfig, EnvironmentConfig, TrialConfig
    from harbor.trial.hooks import TrialHookEvent
    from harbor.trial.trial import Trial

__all__ = ["SANDBOX", "EnvironmentSettings", "HarborHarness", "resolve_dataset"]

SANDBOX = "sandbox"
TASK = "task"
"""The folder of derived tasks within an order's folder."""
OUTDATED = f"outdated-{RESULT_FILE}"
"""What the record of a trial is called whose task was changed meanwhile: nothing takes it for a result."""
NOTICED = 0.5
"""Seconds after which the end of a server is known here: an agent that it fails may be done sooner."""

AGENT_SETTINGS = frozenset(
    "override_timeout_sec override_setup_timeout_sec max_timeout_sec extra_allowed_hosts skills mcp_servers".split()
)
"""Options of a recipient that are Harbor's, not the agent's own."""

ENV = "environment: settings: env"
"""Where an environment's variables stand in the experiment's file."""
PROBE_TOML = '[task]\nname = "dense/probe"\n'


class EnvironmentSettings(Struct, frozen=True):
    """Where attempts run."""

    type: str = SANDBOX
    """`sandbox`, a type of Harbor's (docker, podman, daytona, modal, …), or `module:Class`."""
    options: dict[str, Any] = {}
    """Keyword arguments of the environment."""
    settings: dict[str, Any] = {}
    """Other fields of Harbor's `EnvironmentConfig`: override_cpus, force_build, env, mounts, …"""


class HarborHarness:
    """Makes attempts with Harbor's agents in Harbor's environments. An async context manager: agents that run in this
    process keep connections to their models, which are closed at its end and could not be once their loop is gone."""

    def __init__(
        self,
        environment: EnvironmentSettings | None = None,
        *,
        servers: Mapping[str, str] | None = None,
        timeout_multiplier: float = 1.0,
        hidden: Sequence[Path] = (),
    ) -> None:
        """`servers` has the addresses of recipients' own servers, by recipient; where it has a method `check`, that is
        asked whether they still run. `hidden` are folders that a sandbox must not show: the experiment's."""
        self.environment = environment or EnvironmentSettings()
        self.servers: Mapping[str, str] = {} if servers is None else servers
        self.hidden = tuple(path.absolute() for path in hidden)
        self.timeout_multiplier = timeout_multiplier
        self._checked: dict[str, Recipient] = {}
        self._checking = asyncio.Lock()
        self._is_open = False

    @property
    def name(self) -> str:
        """Harbor with its version, and the environment."""
        try:
            release = version("harbor")
        except PackageNotFoundError:
            release = "not installed"
        return f"harbor {release}, {self.environment.type}"

    async def __aenter__(self) -> Self:
        self._is_open = True
        return self

    async def __aexit__(self, *_: object) -> None:
        """Closes the connections that agents of this process left open."""
        self._is_open = False
        await close_connections()

    async def check(self, recipients: Iterable[Recipient], tasks: Sequence[Path] = ()) -> tuple[str, ...]:
        """Whether attempts can be made at all: agents, environment, their options, variables, and each task in it.

        Nothing is started. What is wrong is a `DenseError`; what should be known before is given."""
        import_harbor()
        environment = self._environment()
        recipients = list(recipients)
        notices: list[str] = []
        _preflight_environment(environment, self.environment.type)
        variables = resolve_variables(environment.env, ENV)
        if self.environment.type == SANDBOX and any(recipient.agent.startswith("terminus") for recipient in recipients):
            await preflight(("tmux",))  # where it is missing, this agent would try for minutes to install it
        with tempfile.TemporaryDirectory(prefix="dense-check-") as scratch:
            folder = Path(scratch)
            for recipient in recipients:
                config = self._agent(recipient, 0)
                check_variables(recipient)
                _preflight_agent(config, recipient)
                probe = _probe(folder / "tasks" / "probe")
                trial = await self._construct(probe, recipient, folder, f"recipient {recipient.name!r}")
                notices += _notices(trial, recipient)
                for task in tasks:
                    instruction_of(task)
                    made = await self._construct(task, recipient, folder, f"{task}: with recipient {recipient.name!r}")
                    if variables and _has_verifier_apart(made):
                        raise DenseError(
                            f"{task}: its verifier has an environment of its own, for which Harbor does not read "
                            f"`${{NAME}}`; take {', '.join(variables)} out of {ENV}"
                        )
                self._checked[recipient.name] = recipient
        return tuple(notices)

    async def attempt(self, order: AttemptOrder) -> AttemptResult:
        """One trial, from nothing."""
        if not self._is_open:
            raise RuntimeError("HarborHarness is a context manager: use `async with`")
        await self._check_once(order.recipient)
        self._check_servers()
        await asyncio.to_thread(_clear, order.folder)
        derived = await asyncio.to_thread(derive, order.task, order.folder / TASK / order.task.name, order.message)
        _check_unchanged(order, derived.original_digest)
        try:
            attempted = await self._tried(order, derived)
        except BaseException:
            self.tidy(order)  # here and now: whoever has cancelled it need not wait for what comes later
            raise
        await asyncio.to_thread(_check_still, order)
        if not attempted.is_scored and order.recipient.name in self.servers:
            await asyncio.sleep(NOTICED)
            self._check_servers()
        return attempted

    def finished(self, order: AttemptOrder) -> AttemptResult | None:
        """The scored trial that a killed run left in the order's folder, if it was made from the same message."""
        if not _has_instruction(order):
            return None
        for result in sorted(order.folder.glob(f"*/{RESULT_FILE}")):
            attempted = self._told(order, result.parent)
            if attempted.is_scored:
                return attempted
        return None

    def tidy(self, order: AttemptOrder) -> None:
        """Takes secrets that the recipient and the environment were given out of the order's folder, and the derived
        task but for its instruction. For every attempt that ends here, and for those that a killed run left: what
        `${NAME}` stood for then is known only where it still stands for that."""
        # What is left of the task is not looked at: no secret was put there, and large files of it are not ours.
        scrub(order.folder, self._secrets(order.recipient), but=order.folder / TASK)
        _keep_instruction(order)

    async def _tried(self, order: AttemptOrder, derived: DerivedTask) -> AttemptResult:
        """The trial of a derived task, whatever came of it."""
        try:
            import_harbor()
            trial = await _create(self._config(order, derived.folder))
            _give(trial, resolve_variables(trial.config.environment.env, ENV))
            if derived.file is not None:
                _put_before_agent(trial, derived.file)
            await trial.run()
        except (Exception, SystemExit) as error:  # whatever an agent or an environment raises is about this attempt
            # … unless it was over and graded by then.
            told = await asyncio.to_thread(self.finished, order)
            return told or await asyncio.to_thread(self._untold, order, error)
        return await asyncio.to_thread(self._told, order, order.folder / trial.paths.trial_dir.name)

    def _told(self, order: AttemptOrder, trial: Path) -> AttemptResult:
        """What the trial came to. Tidies up, so that an attempt leaves the same whether or not it was killed here."""
        self.tidy(order)
        attempted = read_trial(trial, order.folder)
        return incomplete(trial.name) if attempted is None else with_delivery(attempted, order, trial)

    def _untold(self, order: AttemptOrder, error: BaseException) -> AttemptResult:
        """An attempt that left no record: not scored, and why."""
        self.tidy(order)
        folders = [path for path in order.folder.iterdir() if path.is_dir() and path.name != TASK]
        trial = folders[0].name if folders else ""
        problem = remove_secrets(_words(error), self._secrets(order.recipient))
        return AttemptResult(trial=trial, exception=type(error).__name__, problem=problem)

    def _secrets(self, recipient: Recipient) -> set[str]:
        """What goes into an attempt and must not stay in its files."""
        settings = dict(self.environment.settings)
        env = settings.pop("env", None)
        own = collect_secrets(recipient.options, recipient.env)
        around = collect_secrets(settings, cast("Mapping[str, Any]", env) if isinstance(env, Mapping) else None)
        return own | around | collect_secrets(self.environment.options)

    def _check_servers(self) -> None:
        """That the servers of recipients still run, where that can be asked: without its model every attempt fails."""
        check = getattr(self.servers, "check", None)
        if callable(check):
            check()

    async def _check_once(self, recipient: Recipient) -> None:
        async with self._checking:
            if self._checked.get(recipient.name) != recipient:
                await self.check([recipient])

    async def _construct(self, task: Path, recipient: Recipient, scratch: Path, what: str) -> Trial:
        """Makes the trial without running it: this is where Harbor looks at options and at the task."""
        order = AttemptOrder("check", recipient, task, scratch / "trials")
        try:
            return await _create(self._config(order, task))
        except (Exception, SystemExit) as error:  # constructors of agents and environments raise anything
            problem = remove_secrets(_words(error), self._secrets(recipient))
            raise DenseError(f"{what}: Harbor refuses it: {problem}") from None
        finally:
            await asyncio.to_thread(shutil.rmtree, order.folder, ignore_errors=True)

    def _config(self, order: AttemptOrder, task: Path) -> TrialConfig:
        from harbor.models.trial.config import TaskConfig, TrialConfig

        return TrialConfig(
            task=TaskConfig(path=task.absolute()),
            trials_dir=order.folder.absolute(),
            agent=self._agent(order.recipient, order.seed),
            environment=self._environment(),
            timeout_multiplier=self.timeout_multiplier,
        )

    def _agent(self, recipient: Recipient, seed: int) -> AgentConfig:
        from harbor.models.trial.config import AgentConfig

        options = fill_options(recipient.options, seed, self.servers.get(recipient.name))
        own = {name: value for name, value in options.items() if name not in AGENT_SETTINGS}
        settings = {name: value for name, value in options.items() if name in AGENT_SETTINGS}
        try:
            return AgentConfig(
                name=recipient.agent,
                model_name=recipient.model,
                kwargs=own,
                env=dict(recipient.env),
                **settings,
            )
        except ValueError as error:
            raise DenseError(f"recipient {recipient.name!r}: {_words(error)}") from None

    def _environment(self) -> EnvironmentConfig:
        from harbor.models.environment_type import EnvironmentType
        from harbor.models.trial.config import EnvironmentConfig

        kind = self.environment.type
        options = dict(self.environment.options)
        if kind == SANDBOX:
            _check_sandbox(options)
            options["hide"] = [*options.get("hide", ()), *map(str, self.hidden)]
        unknown = self.environment.settings.keys() - EnvironmentConfig.model_fields.keys()
        if unknown or "kwargs" in self.environment.settings:
            raise DenseError(f"environment: settings: {min(unknown or {'kwargs'})!r} is none of Harbor's settings")
        types = [member.value for member in EnvironmentType]
        place: dict[str, Any] = {"import_path": IMPORT_PATH if kind == SANDBOX else kind}
        if ":" not in place["import_path"]:
            if kind not in types:
                known = ", ".join([SANDBOX, *sorted(types)])
                raise DenseError(f"environment: unknown type {kind!r}; known are {known}, and any `module:Class`")
            place = {"type": EnvironmentType(kind)}
        try:
            return EnvironmentConfig(**place, kwargs=options, **self.environment.settings)
        except ValueError as error:
            raise DenseError(f"environment: settings: {_words(error)}") from None


def _check_sandbox(options: Mapping[str, Any]) -> None:
    """Harbor's environments pass over options that they do not know; ours has few, and a mistyped one is an error."""
    from dense.harness.sandbox.environment import SandboxEnvironment

    parameters = inspect.signature(SandboxEnvironment.__init__).parameters.values()
    known = {parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
    if unknown := options.keys() - known:
        raise DenseError(
            f"environment: options: {min(unknown)!r} is none that the sandbox has: {', '.join(sorted(known))}"
        )


def fill_options(options: Mapping[str, object], seed: int, server: str | None) -> dict[str, Any]:
    """The options with `{seed}` and `{server}` filled in, however deep they stand; `{seed}` alone becomes a number."""

    def fill(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: fill(inner) for key, inner in cast("Mapping[Any, Any]", value).items()}
        if isinstance(value, list | tuple):
            return [fill(inner) for inner in cast("Sequence[Any]", value)]
        if not isinstance(value, str):
            return value
        if value == "{seed}":
            return seed
        if "{server}" in value:
            if server is None:
                raise DenseError(f"the option {value!r} speaks of a server, and the recipient has none: add `server`")
            value = value.replace("{server}", server)
        return value.replace("{seed}", str(seed))

    return {name: fill(value) for name, value in options.items()}


async def _create(config: TrialConfig) -> Trial:
    from harbor.trial.trial import Trial

    return await Trial.create(config)


def _give(trial: Trial, variables: Mapping[str, str]) -> None:
    """Puts variables of ours into the environment alone: the trial's configuration, which Harbor writes down, keeps
    `${NAME}`. Harbor has no other way in."""
    environment = cast("Any", trial.agent_environment)
    if variables:
        environment._persistent_env = {**environment._persistent_env, **variables}


def _has_verifier_apart(trial: Trial) -> bool:
    """Whether the verifier, or that of a step, runs in an environment that Harbor makes later."""
    from harbor.models.task.verifier_mode import (
        VerifierEnvironmentMode,
        resolve_step_verifier_mode,
        resolve_task_verifier_mode,
    )

    config = trial.task.config
    modes = [resolve_step_verifier_mode(config, step) for step in config.steps or ()]
    return VerifierEnvironmentMode.SEPARATE in (modes or [resolve_task_verifier_mode(config)])


def _put_before_agent(trial: Trial, message: Path) -> None:
    """Puts a message that is too long for an instruction into the environment, readable for whoever the agent is."""
    from harbor.trial.hooks import TrialEvent

    async def put(_: TrialHookEvent) -> None:
        environment = trial.agent_environment
        await environment.upload_file(message, FEEDBACK_FILE)
        done = await environment.exec(f"chmod 0444 {FEEDBACK_FILE}", cwd="/", user="root")
        if done.return_code:
            raise RuntimeError(f"{FEEDBACK_FILE} cannot be made readable: {done.stderr or done.stdout}")

    trial.add_hook(TrialEvent.AGENT_START, put)


def _preflight_environment(config: EnvironmentConfig, kind: str) -> None:
    from harbor.environments.factory import EnvironmentFactory

    try:
        EnvironmentFactory.run_preflight(config.type, config.import_path)
        EnvironmentFactory.validate_resource_policies(config)
    except (Exception, SystemExit) as error:
        raise DenseError(f"environment {kind!r} cannot be used here: {_words(error)}") from None


def _preflight_agent(config: AgentConfig, recipient: Recipient) -> None:
    from harbor.agents.factory import AgentFactory

    # Whether a key is there can be told only where the model is asked: an option may carry it, or a server need none.
    skip = "skip_credential_checks"
    lenient = {skip: True} if skip in inspect.signature(AgentFactory.run_preflight).parameters else {}
    try:
        AgentFactory.run_preflight(config, **lenient)
    except (Exception, SystemExit) as error:
        raise DenseError(f"recipient {recipient.name!r}: {_words(error)}") from None


def _clear(folder: Path) -> None:
    """Nothing of an earlier execution may be there."""
    try:
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
    except OSError as error:
        raise DenseError(f"{folder}: cannot be cleared ({error.strerror or error}); remove it by hand") from None


def _keep_instruction(order: AttemptOrder) -> None:
    """Of a derived task only what the agent was given stays: the rest is in the task's own folder."""
    task = order.folder / TASK / order.task.name
    for entry in task.iterdir() if task.is_dir() else ():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name != INSTRUCTION:
            entry.unlink(missing_ok=True)


def _has_instruction(order: AttemptOrder) -> bool:
    """Whether what is left of a killed run was given the same instruction."""
    try:
        left = (order.folder / TASK / order.task.name / INSTRUCTION).read_bytes()
        if order.message is None:
            return left == (order.task / INSTRUCTION).read_bytes()
    except OSError:
        return False
    return left == instruction_with(order.message, instruction_of(order.task)).text.encode()


def _check_unchanged(order: AttemptOrder, found: str) -> None:
    """That the task is the one that was planned: a grade of another one would stand under its name."""
    if order.digest and found != order.digest:
        raise DenseError(
            f"the task {order.task} was changed while the experiment ran: undo that, or run into another folder"
        )


def _check_still(order: AttemptOrder) -> None:
    """The same when the trial is over. Its record stays, under another name: no later run may take it up."""
    try:
        _check_unchanged(order, digest(order.task) if order.digest else "")
    except DenseError:
        for result in order.folder.glob(f"*/{RESULT_FILE}"):
            result.replace(result.with_name(OUTDATED))
        raise


def _notices(trial: Trial, recipient: Recipient) -> list[str]:
    """What its agent should not surprise anybody with."""
    if trial.agent.capabilities.atif:
        return []
    return [
        f"recipient {recipient.name!r}: Harbor knows of no trajectory that the agent {recipient.agent} writes; methods "
        "that look at the trace cannot make feedback from an attempt without one"
    ]


def _words(error: BaseException) -> str:
    """What an error says, on one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return redact_text(text)[0][:600]


def _probe(folder: Path) -> Path:
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
