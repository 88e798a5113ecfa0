"""What the results of an experiment depend on, and what differs when it is run again.

A store takes results of one experiment only. Settings that say how fast or how patiently it is run are not part of it;
versions of programs are recorded with every session and reported: a small release must not make a week's results
useless, but readers of the results must know."""

from __future__ import annotations

import hashlib
import platform
import socket
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from dense.errors import DenseError
from dense.lessons.files import evidence_file
from dense.service.record import prompt_hashes
from dense.text.clip import clip_end
from dense.version import __version__
from refit.baselines import prompt_hashes as baseline_prompts
from refit.experiment.config import ArmConfig, ExperimentConfig, as_data, is_masked
from refit.experiment.tasks import TaskFolder

RUNNING = {"concurrency", "retries", "stop_after", "max_usd", "name"}
"""Settings that change how an experiment is run, not what comes of it."""
LISTS = ("methods", "recipients", "tasks")
"""Parts in which a new entry is an addition: it leaves the cells that are there as they are."""
NOT_IT = ("name", "prices", "note", "exclude")
"""What is said of a recipient and does not change what it does. Which tasks it runs is a part of its own."""
NUMBERS = ("repetitions", "rounds")
"""Parts that may grow."""


def identity_of(config: ExperimentConfig, tasks: Sequence[TaskFolder], base: Path) -> dict[str, Any]:
    """What results depend on, as plain values by part."""
    data = as_data(config)
    recipients = {entry["name"]: _recipient(entry, base) for entry in data["recipients"]}
    analyst = {key: value for key, value in data["analyst"].items() if key not in ("concurrency", "prices")}
    environment = {key: value for key, value in data["environment"].items() if key != "force"}
    if code := _code(config.environment.type):
        environment["code"] = code
    if hashes := _hashes(config.environment.compose_files(base), base):
        environment["files"] = hashes
    if config.lessons:
        data["lessons"] = _hashes([evidence_file(base / config.lessons)], base)
    settings = {
        key: value
        for key, value in data.items()
        if key not in RUNNING and key not in (*LISTS, *NUMBERS, "analyst", "environment")
    }
    return {
        **settings,
        "environment": environment,
        "analyst": analyst,
        "repetitions": config.repetitions,
        "rounds": config.rounds,
        "methods": {name: _arm(arm) for name, arm in config.arms.items()},
        "recipients": recipients,
        "tasks": {task.name: task.digest for task in tasks},
        "excluded": {
            f"{entry.name}: {task.name}": True
            for entry in config.recipients
            for task in tasks
            if not entry.runs(task.name)
        },
        "prompts": _prompts() if config.analyst.model is not None else {},
    }


def _recipient(entry: dict[str, Any], base: Path) -> dict[str, Any]:
    """A recipient without prices and notes, with the hashes of the files that its server is made of."""
    kept = {key: _without_hashes(value) for key, value in entry.items() if key not in NOT_IT and value}
    if code := _code(entry["agent"]):
        kept["code"] = code
    scripts = [path for word in entry.get("server", ()) if (path := base / word).is_file()]
    files = [file for script in scripts for file in (script, *_packages_beside(script))]
    hashes = _hashes(files, base)
    return {**kept, **({"server_files": hashes} if hashes else {})}


def _hashes(files: Iterable[Path], base: Path) -> dict[str, str]:
    """The files that are there, each with the hash of what it says."""
    return {
        file.relative_to(base, walk_up=True).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if file.is_file()
    }


def _without_hashes(value: Any) -> Any:
    """Without credentials, which are there as hashes: a new key makes no other experiment."""
    if isinstance(value, dict):
        given = cast("dict[str, Any]", value)
        return {key: _without_hashes(entry) for key, entry in given.items() if not is_masked(entry)}
    return value


def _arm(arm: ArmConfig) -> str:
    """What an arm is, besides its name: the code of a user's own method, settings of its own."""
    own = {"profile": arm.profile, "budget": arm.budget}
    settings = " ".join(f"{name}={value}" for name, value in own.items() if value is not None)
    return " ".join(filter(None, (_code(arm.method), settings)))


def _code(name: str) -> str:
    """The hash of the file of a class `module:Class`; empty for short names."""
    module, colon, _ = name.partition(":")
    try:
        spec = find_spec(module) if colon else None
    except (ImportError, ValueError) as error:  # the package around it is missing, or cannot be imported
        raise DenseError(f"{name!r} cannot be loaded: {error}") from None
    return hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest() if spec and spec.origin else ""


def _packages_beside(script: Path) -> list[Path]:
    """The modules of packages that lie beside a script: what it is most likely made of."""
    return sorted(file for package in script.parent.glob("*/__init__.py") for file in package.parent.rglob("*.py"))


def identity_differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """What differs, in words, and whether it only adds cells to the experiment."""
    differences: list[tuple[str, bool]] = []
    for part in sorted({*before, *now}):
        old, new = before.get(part), now.get(part)
        if old == new or (not old and not new):
            continue
        if part in NUMBERS and isinstance(old, int) and isinstance(new, int):
            differences.append((f"{part}: {old} before, {new} now", new > old))
        elif isinstance(old, dict) and isinstance(new, dict):
            differences.extend(_entries(part, cast("dict[str, Any]", old), cast("dict[str, Any]", new)))
        else:
            differences.append(
                (f"{part}: {_short(cast('object', old))} before, {_short(cast('object', new))} now", False)
            )
    return differences


def _entries(part: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterable[tuple[str, bool]]:
    for name in sorted({*old, *new}):
        if name not in old:
            yield f"{part}: {name} is new", part in LISTS
        elif name not in new:
            yield f"{part}: {name} is gone", part == "excluded"
        elif old[name] != new[name]:
            words = f"{_short(old[name])} before, {_short(new[name])} now"
            yield f"{part}: {name} changed ({words})", False


def _short(value: object, most: int = 60) -> str:
    text = str(value)
    if len(text) == 64 and text.isalnum():  # a hash
        return text[:12]
    return clip_end(text, most)


def facts_of(
    config: ExperimentConfig, tasks: Sequence[TaskFolder], harness: str, packages: Sequence[str] = ()
) -> dict[str, Any]:
    """Everything that a session is recorded with."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {"python": platform.python_version(), "dense": __version__}
    for name in ("harbor", "litellm", "genai-prices", *packages):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    methods = config.load_methods()
    return {
        "config": as_data(config),
        "versions": versions,
        "harness": harness,
        "machine": f"{platform.system()} {platform.release()} {platform.machine()}",
        "host": socket.gethostname(),
        "prompts": _prompts(),
        "tasks": {task.name: task.digest for task in tasks},
        "privileged": [name for name, method in methods.items() if method.sees == "outcome"],
    }


def _prompts() -> dict[str, str]:
    """A hash of each prompt template, DENSE's and the baselines'."""
    return prompt_hashes() | baseline_prompts()
