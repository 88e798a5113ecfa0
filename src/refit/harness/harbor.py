"""Attempts on Harbor: each order is one trial of its own, in an environment of its own.

Trials, not a job: cells of an experiment are independent and overlap, and a job would cross tasks with agents and
clear what it does not know from its folder.

    order.folder/task/<name>/            the derived task; once the trial is over, only its instruction.md
    order.folder/<name>__<id>/           the trial, as Harbor leaves it
"""

from __future__ import annotations

# pyright: reportMissingTypeStubs=false
import asyncio
import json
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from msgspec import Struct
from msgspec.structs import replace

from dense.errors import DenseError
from dense.trajectory import Usage
from refit.harness.datasets import resolve_dataset
from refit.harness.delivery_check import with_delivery
from refit.harness.derived_task import FEEDBACK_FILE, DerivedTask, derive, instruction_of
from refit.harness.finished_trial import RESULT_FILE, incomplete, read_trace, read_trial
from refit.harness.harbor_import import close_connections, import_harbor
from refit.harness.harness import AttemptOrder, AttemptResult, Recipient
from refit.harness.run_folder import ENGINES, end_containers, note_containers
from refit.harness.sandbox import IMPORT_PATH, preflight
from refit.harness.secrets import check_variables, collect_secrets, remove_secrets, resolve_variables, scrub

if TYPE_CHECKING:
    from harbor.models.trial.config import AgentConfig, EnvironmentConfig, TrialConfig
    from harbor.trial.hooks import TrialHookEvent
    from harbor.trial.trial import Trial
from refit.harness.attempt_folder import (
    TASK_FOLDER,
    check_still_unchanged,
    check_unchanged,
    clear_folder,
    has_same_instruction,
    keep_only_instruction,
)
from refit.harness.harbor_checks import (
    NETWORK_HINT,
    agent_notices,
    check_sandbox_options,
    error_line,
    has_separate_verifier,
    preflight_agent,
    preflight_environment,
    write_probe_task,
)

__all__ = ["SANDBOX", "EnvironmentSettings", "HarborHarness", "resolve_dataset"]
SANDBOX = "sandbox"
NOTICED = 0.5
"""Seconds after which the end of a server is known here: an agent that it fails may be done sooner."""
AGENT_SETTINGS = frozenset(
    "override_timeout_sec override_setup_timeout_sec max_timeout_sec extra_allowed_hosts skills mcp_servers".split()
)
"""Options of a recipient that are Harbor's, not the agent's own."""
ARGUMENT_MARK = "instruction-was-an-argument"
"""A file in an attempt's folder: the agent handed its instruction on within a command or a variable."""
ENV = "environment: settings: env"
"""Where an environment's variables are in the experiment's file."""


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
        running: Path | None = None,
    ) -> None:
        """`servers` has the addresses of recipients' own servers, by recipient; where it has a method `check`, that is
        asked whether they still run. `hidden` are folders that a sandbox must not show: the experiment's. `running` is
        the run's folder (`run_folder`): trials with containers are noted in it, so that these end with the run."""
        self.environment = environment or EnvironmentSettings()
        self.servers: Mapping[str, str] = {} if servers is None else servers
        self.hidden = tuple(path.absolute() for path in hidden)
        self.timeout_multiplier = timeout_multiplier
        self.running = running
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
        preflight_environment(environment, self.environment.type)
        variables = resolve_variables(environment.env, ENV)
        if self.environment.type == SANDBOX and any(recipient.agent.startswith("terminus") for recipient in recipients):
            await preflight(("tmux",))  # where it is missing, this agent would try for minutes to install it
        with tempfile.TemporaryDirectory(prefix="dense-check-") as scratch:
            folder = Path(scratch)
            for recipient in recipients:
                config = self._agent(recipient, 0)
                check_variables(recipient)
                preflight_agent(config, recipient)
                probe = write_probe_task(folder / "tasks" / "probe")
                trial = await self._construct(probe, recipient, folder, f"recipient {recipient.name!r}")
                notices += agent_notices(trial, recipient)
                for task in tasks:
                    instruction_of(task)
                    task_trial = await self._construct(
                        task, recipient, folder, f"{task}: with recipient {recipient.name!r}"
                    )
                    if variables and has_separate_verifier(task_trial):
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
        await asyncio.to_thread(clear_folder, order.folder)
        derived = await asyncio.to_thread(
            derive, order.task, order.folder / TASK_FOLDER / order.task.name, order.message, as_file=order.as_file
        )
        check_unchanged(order, derived.original_digest)
        try:
            attempted = await self._tried(order, derived)
        except BaseException:
            self.tidy(order)  # here and now: whoever has cancelled it need not wait for what comes later
            raise
        await asyncio.to_thread(check_still_unchanged, order)
        if not attempted.is_scored and order.recipient.name in self.servers:
            await asyncio.sleep(NOTICED)
            self._check_servers()
        return attempted

    def finished(self, order: AttemptOrder) -> AttemptResult | None:
        """The scored trial that a killed run left in the order's folder, if it was made from the same message."""
        if not has_same_instruction(order):
            return None
        for result in sorted(order.folder.glob(f"*/{RESULT_FILE}")):
            attempted = self._result_of(order, result.parent)
            if attempted.is_scored:
                return attempted
        return None

    def clear_killed(self, order: AttemptOrder) -> Usage | None:
        """Tidies up after an attempt that was killed with its run; what its trace says that it took."""
        if self.environment.type in ENGINES:
            end_containers(self.environment.type, [folder.name for folder in order.folder.glob("*__*")])
        self.tidy(order)
        traces = (read_trace(folder) for folder in sorted(order.folder.glob("*__*")) if folder.is_dir())
        return next((trace.usage for trace in traces if trace is not None), None)

    def tidy(self, order: AttemptOrder) -> None:
        """Takes secrets that the recipient and the environment were given out of the order's folder, and the derived
        task but for its instruction. For every attempt that ends here, and for those that a killed run left: what
        `${NAME}` meant then is known only if it still means that."""
        # What is left of the task is not looked at: no secret was put there, and large files of it are not ours.
        scrub(order.folder, self._secrets(order.recipient), but=order.folder / TASK_FOLDER)
        keep_only_instruction(order)

    async def _tried(self, order: AttemptOrder, derived: DerivedTask) -> AttemptResult:
        """The trial of a derived task, whatever came of it."""
        try:
            import_harbor()
            trial = await _create(self._config(order, derived.folder))
            _give(trial, resolve_variables(trial.config.environment.env, ENV))
            _watch_instruction(trial, order.folder / ARGUMENT_MARK)
            if derived.file is not None:
                _put_before_agent(trial, derived.file)
            mark = self._note_containers(trial)
            await trial.run()
            if mark is not None:
                mark.unlink(missing_ok=True)
        except (Exception, SystemExit) as error:  # whatever an agent or an environment raises is about this attempt
            # … unless it was over and graded by then.
            finished = await asyncio.to_thread(self.finished, order)
            return finished or await asyncio.to_thread(self._failed_result, order, error)
        return await asyncio.to_thread(self._result_of, order, order.folder / trial.paths.trial_dir.name)

    def _note_containers(self, trial: Trial) -> Path | None:
        """The note that the trial may have containers. Until it has ended well, they are ended with the run."""
        if self.running is None or self.environment.type not in ENGINES:
            return None
        return note_containers(self.running, self.environment.type, trial.paths.trial_dir.name)

    def _result_of(self, order: AttemptOrder, trial: Path) -> AttemptResult:
        """What the trial came to. Tidies up, so that an attempt leaves the same whether or not it was killed here."""
        self.tidy(order)
        attempted = read_trial(trial, order.folder)
        if attempted is None:
            return incomplete(trial.name)
        attempted = replace(attempted, is_argument=(order.folder / ARGUMENT_MARK).exists())
        return with_delivery(attempted, order, trial)

    def _failed_result(self, order: AttemptOrder, error: BaseException) -> AttemptResult:
        """An attempt that left no record: not scored, and why."""
        self.tidy(order)
        folders = [path for path in order.folder.iterdir() if path.is_dir() and path.name != TASK_FOLDER]
        trial = folders[0].name if folders else ""
        problem = remove_secrets(error_line(error), self._secrets(order.recipient))
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
        order = AttemptOrder(name="check", recipient=recipient, task=task, folder=scratch / "trials")
        try:
            return await _create(self._config(order, task))
        except (Exception, SystemExit) as error:  # constructors of agents and environments raise anything
            problem = remove_secrets(error_line(error), self._secrets(recipient))
            hint = NETWORK_HINT if "network_mode" in problem and self.environment.type in ENGINES else ""
            raise DenseError(f"{what}: Harbor refuses it: {problem}{hint}") from None
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
                name=recipient.agent, model_name=recipient.model, kwargs=own, env=dict(recipient.env), **settings
            )
        except ValueError as error:
            raise DenseError(f"recipient {recipient.name!r}: {error_line(error)}") from None

    def _environment(self) -> EnvironmentConfig:
        from harbor.models.environment_type import EnvironmentType
        from harbor.models.trial.config import EnvironmentConfig

        kind = self.environment.type
        options = dict(self.environment.options)
        if kind == SANDBOX:
            check_sandbox_options(options)
            options["hide"] = [*options.get("hide", ()), *map(str, self.hidden)]
        unknown = self.environment.settings.keys() - EnvironmentConfig.model_fields.keys()
        if unknown or "kwargs" in self.environment.settings:
            raise DenseError(f"environment: settings: {min(unknown or {'kwargs'})!r} is none of Harbor's settings")
        types = [member.value for member in EnvironmentType]
        which: dict[str, Any] = {"import_path": IMPORT_PATH if kind == SANDBOX else kind}
        if ":" not in which["import_path"]:
            if kind not in types:
                known = ", ".join([SANDBOX, *sorted(types)])
                raise DenseError(f"environment: unknown type {kind!r}; known are {known}, and any `module:Class`")
            which = {"type": EnvironmentType(kind)}
        try:
            return EnvironmentConfig(**which, kwargs=options, **self.environment.settings)
        except ValueError as error:
            raise DenseError(f"environment: settings: {error_line(error)}") from None


def fill_options(options: Mapping[str, object], seed: int, server: str | None) -> dict[str, Any]:
    """The options with `{seed}` and `{server}` filled in, at any depth; `{seed}` alone becomes a number."""

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


def _watch_instruction(trial: Trial, mark: Path) -> None:
    """Notes in a file whether the agent hands its instruction on within a command or a variable. Agents do it in ways
    of their own, so it is measured while they run, not known by name."""
    environment, instruction = cast("Any", trial.agent_environment), trial.task.instruction.strip()
    execute = environment.exec
    forms = (instruction, shlex.quote(instruction)[1:-1], json.dumps(instruction)[1:-1])

    async def watched(command: str, *args: Any, **kwargs: Any) -> Any:
        given = cast("Mapping[str, str]", kwargs.get("env") or {})
        if instruction and any(form in text for text in (command, *given.values()) for form in forms):
            mark.touch()
        return await execute(command, *args, **kwargs)

    environment.exec = watched


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
