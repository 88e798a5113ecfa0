"""The experiment as a researcher writes it: one YAML file. All its errors are reported before anything runs."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, cast

from msgspec.structs import replace
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from dense.errors import BadConfig, WrongUsage
from dense.methods import AnyMethod, method_names
from dense.methods import method as method_of
from dense.options import (
    DENSE_WITH_LESSONS,
    OPTIONS,
    BudgetChoice,
    Entry,
    FeedbackOptions,
    Profile,
    Redaction,
    option_of,
    options_at,
    set_options,
)
from refit.harness import Recipient
from refit.harness.secrets import is_secret_option
from refit.results import ANALYST, ARM_SIGN, RUN0, Prices

SANDBOX = "sandbox"
"""The environment that needs no Docker."""
OLD_PACKAGES = {
    "dense.refit": "refit.experiment",
    "dense.harness": "refit.harness",
    "dense.methods.baselines": "refit.baselines",
}
"""Import paths that experiments may name, and where each is now."""
MASK = "sha256:"
_CLASS_PATH = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*")
MAX_REPETITIONS = 1_000


def _option(name: str) -> BeforeValidator:
    """Reads a value as every other entry reads this option, with the same errors."""

    def parse(value: Any) -> Any:
        return OPTIONS[name].default if value is None else option_of(OPTIONS[name]).kind.parse(value)

    return BeforeValidator(parse)


type Budget = Annotated[BudgetChoice, _option("budget")]
type Name = Annotated[str, Field(min_length=1, max_length=120, pattern=r"^\S([^\x00-\x1f\x7f]*\S)?$")]


COMPOSE_FILES = "extra_docker_compose"
"""A field of Harbor's environment settings that names files."""


class StrictConfig(BaseModel):
    """A part of the file: an unknown key is an error, because it is probably a mistyped one."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TasksConfig(StrictConfig):
    """Which tasks: a folder of them, or a dataset that Harbor knows."""

    path: Path | None = None
    """A folder of task folders, or one task folder; relative to the file."""
    dataset: str | None = None
    """`NAME@VERSION`, as Harbor's registry has it."""
    registry: str | None = None
    """Another registry: a file, relative to this one, or an address."""
    names: tuple[str, ...] = ()
    """Only these; `*` and `?` match as in file names."""
    difficulty: tuple[str, ...] = ()
    """Only tasks whose `task.toml` says so."""
    limit: int | None = Field(default=None, ge=1)
    """At most so many, in the order of their names."""

    @field_validator("names", "difficulty", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_source(self) -> TasksConfig:
        if (self.path is None) == (self.dataset is None):
            raise ValueError("give either `path` or `dataset`")
        return self


class EnvironmentConfig(StrictConfig):
    """Where attempts run: the sandbox, or whatever Harbor has, with its options."""

    type: str = SANDBOX
    """`sandbox`, a type of Harbor's (docker, podman, daytona, modal, …), or `module:Class`."""
    options: dict[str, Any] = {}
    """Keyword arguments of the environment."""
    settings: dict[str, Any] = {}
    """Other fields of Harbor's `EnvironmentConfig`: override_cpus, force_build, env, mounts, …"""
    force: bool = False
    """Use the sandbox for a dataset whose published numbers it cannot be compared with."""

    @field_validator("type")
    @classmethod
    def _is_not_old(cls, value: str) -> str:
        return _refuse_old_path(value)

    def compose_files(self, base: Path) -> list[Path]:
        """The compose files that `settings` adds, as they lie beside the experiment."""
        given = self.settings.get(COMPOSE_FILES)
        names = cast("list[object]", given) if isinstance(given, list) else []
        return [base / Path(str(name)).expanduser() for name in names]

    def settings_at(self, base: Path) -> dict[str, Any]:
        """The settings with files found beside the experiment."""
        files = [str(path) for path in self.compose_files(base)]
        return {**self.settings, COMPOSE_FILES: files} if files else self.settings


class PricesConfig(StrictConfig):
    """What a million tokens cost, in USD."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_read: float | None = Field(default=None, ge=0)
    cache_write: float | None = Field(default=None, ge=0)

    @property
    def prices(self) -> Prices:
        """As a noun."""
        return Prices(self.input, self.output, self.cache_read, self.cache_write)


class RecipientConfig(StrictConfig):
    """An agent that makes attempts."""

    name: Name
    """What the experiment calls it."""
    agent: str
    """Harbor's name of the agent, or `module:Class`."""
    model: str | None = None
    """Its language model, as the agent takes it."""
    options: dict[str, Any] = {}
    """The agent's keyword arguments; `{seed}` and `{server}` are filled in."""
    env: dict[str, str] = {}
    """Environment variables of the agent; `${NAME}` is read from ours."""
    server: tuple[str, ...] = ()
    """A command that serves its model on this machine while the experiment runs; `{port}` is filled in."""
    exclude: tuple[str, ...] = ()
    """Tasks that this recipient does not run, by name or pattern: shown as N/A."""
    prices: PricesConfig | None = None
    """USD for a million tokens, where no table knows them."""
    note: str = ""
    """What must be said wherever a number of this recipient is shown."""

    def runs(self, task: str) -> bool:
        """Whether this recipient runs a task."""
        return not is_excluded(task, self.exclude)

    @property
    def uses_seed(self) -> bool:
        """Whether an option takes the seed."""
        return "{seed}" in str(self.options)

    def recipient(self, base: Path) -> Recipient:
        """For the harness. In the server's command, `python` is this one, and files beside the experiment are found."""
        server = tuple(str(base / word) if (base / word).is_file() else word for word in self.server)
        if server[:1] in (("python",), ("python3",)):
            server = (sys.executable, *server[1:])
        return Recipient(
            name=self.name,
            agent=self.agent,
            model=self.model,
            options=dict(self.options),
            env=dict(self.env),
            server=server,
        )


def is_excluded(task: str, patterns: Iterable[str]) -> bool:
    """Whether a task is named by one of a recipient's exclusions."""
    return any(fnmatchcase(task, pattern) for pattern in patterns)


class ArmConfig(StrictConfig):
    """A method with settings of its own: an arm of the experiment besides the method with the common ones."""

    method: str
    """`dense methods` lists them; or `module:Class`."""
    profile: Annotated[Profile, _option("profile")] | None = None
    """Which calls DENSE makes, where it is another one than the analyst's."""
    budget: Budget = None
    """Bytes of a message without the task, where it is another one than the experiment's."""
    label: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,40}$")] | None = None
    """What stands behind the method's name; left out: profile and budget."""

    @property
    def name(self) -> str:
        """The arm's name in cells and tables: `dense@paper`; the method's own if nothing is set."""
        options = dict.fromkeys(str(option) for option in (self.profile, self.budget) if option)
        words = [self.label] if self.label else options
        return f"{self.method}{ARM_SIGN}{'-'.join(words)}" if words else self.method


OWN_KEYS = ("budget", "redact", "max_usd", "lessons")
"""Options that are keys of the experiment itself; the others are keys of its `analyst`."""
ANALYST_KEYS = tuple(name for name in options_at(Entry.EXPERIMENT) if name not in OWN_KEYS)
SHOWN_KEYS = ("model", "profile", "base_url", "context", "concurrency")
"""Keys of the analyst that every record has; others are in it if they are set."""


class AnalystConfig(StrictConfig):
    """Who judges attempts for the methods: a language model, or the built-in rules. Its keys are `ANALYST_KEYS`."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    options: FeedbackOptions = FeedbackOptions()
    """How the analyst is asked."""
    prices: PricesConfig | None = None
    """USD for a million tokens, where no table knows them."""

    @model_validator(mode="before")
    @classmethod
    def _read_options(cls, value: Any) -> Any:
        if not isinstance(value, dict) or "options" in value:
            return cast("object", value)
        given = cast("dict[str, Any]", value)
        options = {name: given[name] for name in ANALYST_KEYS if given.get(name) is not None}
        others = {name: entry for name, entry in given.items() if name not in ANALYST_KEYS}
        try:
            return {**others, "options": set_options(options, Entry.EXPERIMENT)}
        except WrongUsage as error:
            raise ValueError(str(error)) from None

    @model_serializer
    def _as_keys(self) -> dict[str, Any]:
        values = {name: getattr(self.options, name) for name in ANALYST_KEYS}
        kept = {name: value for name, value in values.items() if name in SHOWN_KEYS or value != OPTIONS[name].default}
        return {**kept, "prices": self.prices.model_dump(mode="json") if self.prices is not None else None}


class ExperimentConfig(StrictConfig):
    """An experiment."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$")]
    """Also the name of its folder: letters, digits, `_`, `-`, `.`."""
    tasks: TasksConfig
    environment: EnvironmentConfig = EnvironmentConfig()
    recipients: Annotated[tuple[RecipientConfig, ...], Field(min_length=1)]
    methods: Annotated[tuple[str | ArmConfig, ...], Field(min_length=1)]
    """`dense methods` lists them; or `module:Class`; or a method with settings of its own."""
    analyst: AnalystConfig = AnalystConfig()
    repetitions: int = Field(default=3, ge=1, le=MAX_REPETITIONS)
    rounds: int = Field(default=1, ge=1, le=MAX_REPETITIONS)
    """1 for a single rerun, more for iterative refinement."""
    memory: int = Field(default=3, ge=1)
    """Of how many preceding attempts a message carries the feedback."""
    budget: Budget = None
    """Bytes of a message without the task; `paper` for 180/200 KiB; left out: a quarter of the attempt's raw text."""
    concurrency: int = Field(default=4, ge=1)
    """Attempts at once."""
    retries: int = Field(default=2, ge=0)
    """How often an execution that was not scored is tried again before its cell is invalid."""
    stop_after: int = Field(default=12, ge=1)
    """After so many executions in a row without a score the run stops: something is wrong with all of them."""
    timeout_multiplier: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    """Of the time limits that tasks set."""
    max_usd: Annotated[float | None, _option("max_usd")] = None
    """The analyst's calls stop cleanly before more is spent."""
    redact: Annotated[Redaction, _option("redact")] = True
    """Replace credentials in traces before anybody sees them; `kingfisher` adds its rules to ours."""

    lessons: Annotated[Path | None, _option("lessons")] = None
    """For the method `dense+lessons`: a file of `dense lessons`, relative to the experiment's."""

    @field_validator("tasks", mode="before")
    @classmethod
    def _folder_of_tasks(cls, value: Any) -> Any:
        return {"path": value} if isinstance(value, str) else value

    @field_validator("environment", mode="before")
    @classmethod
    def _environment_by_name(cls, value: Any) -> Any:
        return {"type": value} if isinstance(value, str) else value

    @field_validator("analyst", mode="before")
    @classmethod
    def _rules_or_model(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {} if value == "rules" else {"model": value}
        return value

    @field_validator("methods")
    @classmethod
    def _known_methods(cls, value: tuple[str | ArmConfig, ...]) -> tuple[str | ArmConfig, ...]:
        """By name only: nothing is imported here. `load_methods` does that."""
        arms = _arms_of(value)
        _unique([arm.name for arm in arms], "method")
        for arm in arms:
            if arm.method == RUN0:
                raise ValueError(f"`{RUN0}` is the shared round 0; a retry without feedback is the method `none`")
            _refuse_old_path(arm.method)
            if ":" in arm.method and not _CLASS_PATH.fullmatch(arm.method):
                raise ValueError(f"{arm.method!r} is no `module:Class`")
            if ":" not in arm.method and arm.method not in method_names():
                known = ", ".join(method_names())
                raise ValueError(f"unknown method {arm.method!r}; known are {known}, and any `module:Class`")
        return value

    @property
    def arms(self) -> dict[str, ArmConfig]:
        """What is compared, by the names that cells have."""
        return {arm.name: arm for arm in _arms_of(self.methods)}

    def options_of(self, arm: ArmConfig, base: Path = Path()) -> FeedbackOptions:
        """How feedback is made for an arm of the experiment, whose file lies in `base`."""
        has_lessons = arm.method == DENSE_WITH_LESSONS
        return replace(
            self.analyst.options,
            method=arm.method,
            profile=arm.profile or self.analyst.options.profile,
            budget=self.budget if arm.budget is None else arm.budget,
            redact=self.redact,
            max_usd=self.max_usd,
            lessons=base / self.lessons if self.lessons is not None and has_lessons else None,
        )

    def load_methods(self) -> dict[str, AnyMethod]:
        """The methods of all arms, imported; a `DenseError` for one that cannot be."""
        return {name: method_of(arm.method) for name, arm in self.arms.items()}

    @field_validator("recipients")
    @classmethod
    def _named_once(cls, value: tuple[RecipientConfig, ...]) -> tuple[RecipientConfig, ...]:
        _unique([recipient.name for recipient in value], "recipient")
        if any(recipient.name == ANALYST for recipient in value):
            raise ValueError(f"`{ANALYST}` is who writes the feedback; call the recipient something else")
        return value

    @model_validator(mode="after")
    def _comparable(self) -> ExperimentConfig:
        if any(arm.method == DENSE_WITH_LESSONS for arm in self.arms.values()) and not self.lessons:
            raise ValueError(f"the method {DENSE_WITH_LESSONS} needs `lessons: FILE`, which `dense lessons` writes")
        dataset = self.tasks.dataset or ""
        if self.environment.type == SANDBOX and not self.environment.force and "terminal-bench" in dataset.lower():
            raise ValueError(
                f"{dataset} in the sandbox gives numbers that cannot be compared with published ones, and most of its "
                "tasks need their images: take docker, or say `environment: {type: sandbox, force: true}`"
            )
        return self


def _refuse_old_path(path: str) -> str:
    """The import path, if it is not where REFIT was before it was a package of its own."""
    for old, new in OLD_PACKAGES.items():
        if path.startswith(f"{old}."):
            raise ValueError(f"{path!r} has moved: write {new + path.removeprefix(old)!r}")
    return path


def _arms_of(methods: Iterable[str | ArmConfig]) -> list[ArmConfig]:
    return [arm if isinstance(arm, ArmConfig) else ArmConfig(method=arm) for arm in methods]


def _unique(names: tuple[str, ...] | list[str], what: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{what} {twice[0]!r} is there twice")


def read_config(path: Path) -> ExperimentConfig:
    """The experiment in a file. All its errors are reported at once, each with its place."""
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfig(f"{path}: cannot be read ({error})") from None
    try:
        data: Any = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadConfig(f"{path}: no YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise BadConfig(f"{path}: no experiment: its values are nested too deeply") from None
    except (ValueError, AttributeError) as error:  # of a number or a date that only looks like one
        raise BadConfig(f"{path}: no YAML: {error}") from None
    if not isinstance(data, dict):
        raise BadConfig(f"{path}: an experiment maps name, tasks, recipients and methods; see docs/refit.md")
    try:
        return ExperimentConfig.model_validate(data)
    except ValidationError as error:
        raise BadConfig(f"{path}: {_describe_problems(error)}") from None


def _describe_problems(error: ValidationError) -> str:
    """Every problem with its place, on one line each."""
    lines: list[str] = []
    for problem in error.errors(include_url=False):
        key = ".".join(str(part) for part in problem["loc"]) or "the experiment"
        match problem["type"]:
            case "extra_forbidden":
                words = "is no key that an experiment has"
            case "missing":
                words = "is missing"
            case "tuple_type":
                words = "must be a list: [one, another]"
            case _:
                words = problem["msg"].removeprefix("Value error, ")
        lines.append(f"{key}: {words}")
    return lines[0] if len(lines) == 1 else "\n  " + "\n  ".join(lines)


def as_data(config: ExperimentConfig) -> dict[str, Any]:
    """The experiment as plain values, for the record: what looks like a credential is there as a hash only."""
    return _masked(config.model_dump(mode="json"))


def is_masked(value: object) -> bool:
    """Whether a value of the record stands for a credential."""
    return isinstance(value, str) and value.startswith(MASK)


def _masked(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _masked(entry, str(key)) for key, entry in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_masked(entry, name) for entry in cast("list[Any]", value)]
    if isinstance(value, str) and value and is_secret_option(name) and "${" not in value:
        return f"{MASK}{hashlib.sha256(value.encode()).hexdigest()[:16]}"
    return value
