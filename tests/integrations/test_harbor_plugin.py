# pyright: reportMissingTypeStubs=false
"""The plugin of Harbor on recorded jobs, with the events that Harbor sends."""

from __future__ import annotations

import asyncio
import shutil
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dense.errors import DenseError
from dense.integrations.harbor_plugin import DensePlugin
from refit.experiment.results_table.imports import import_jobs

JOBS = "atif/jobs"


class Job:
    """What the plugin uses of Harbor's job."""

    def __init__(self) -> None:
        self.callbacks: list[Any] = []

    def on_trial_ended(self, callback: Any) -> None:
        self.callbacks.append(callback)


def ended(plugin: DensePlugin, *trials: Path) -> None:
    """The events of a job whose trials end."""

    async def run() -> None:
        job = Job()
        await plugin.on_job_start(job)
        for trial in trials:
            config = SimpleNamespace(trials_dir=trial.parent, trial_name=trial.name)
            await job.callbacks[0](SimpleNamespace(config=config))
        await plugin.on_job_end(None)

    asyncio.run(run())


@pytest.fixture
def job(fixtures: Path, tmp_path: Path) -> Path:
    """A recorded job of Harbor's, copied."""
    return Path(shutil.copytree(fixtures / JOBS / "basic", tmp_path / "basic"))


def test_each_trial_has_its_feedback(job: Path) -> None:
    (trial,) = (path.parent for path in job.glob("*/result.json"))
    before = import_jobs([job])
    ended(DensePlugin(), trial)
    made = sorted(path.name for path in (trial / "dense").iterdir())
    assert made == ["feedback.txt", "message.txt", "reconciled.json", "run.json", "tree.json"]
    assert import_jobs([job]) == before, "what the plugin leaves is no trial and no trace"
    assert "reward" not in (trial / "dense" / "feedback.txt").read_text()


def test_a_trial_without_a_trace_does_not_stop_the_job(fixtures: Path, tmp_path: Path) -> None:
    job = Path(shutil.copytree(fixtures / JOBS / "oracle", tmp_path / "oracle"))
    (trial,) = (path.parent for path in job.glob("*/result.json"))
    ended(DensePlugin(out="distilled"), trial)
    assert [path.name for path in (trial / "distilled").iterdir()] == ["failed.txt"]


def test_what_cannot_be_is_refused_at_once() -> None:
    with pytest.raises(DenseError, match="wants the grade"):
        DensePlugin(method="verifier-feedback")
    with pytest.raises(DenseError, match="plain name of a folder"):
        DensePlugin(out="../elsewhere")
    with pytest.raises(DenseError, match="unknown method 'nope'"):
        DensePlugin(method="nope")


def test_harbor_takes_it_for_a_plugin() -> None:
    """By the entry point's path, as Harbor's command line loads it."""
    from refit.harness.harbor_import import import_harbor

    import_harbor()
    from harbor.models.job.plugin import JobPlugin

    root = Path(__file__).parents[2]
    points = tomllib.loads((root / "pyproject.toml").read_text())["project"]["entry-points"]["harbor.plugins"]
    assert points == {"dense": f"{DensePlugin.__module__}:{DensePlugin.__name__}"}
    assert isinstance(DensePlugin(), JobPlugin)
