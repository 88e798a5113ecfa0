"""Reports that lie on disk with all that they link to, and a browser to open them in."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from made_result import with_attempt
from msgspec.structs import replace

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


def _stores() -> Any:
    """The made-up experiments of the figures' tests."""
    spec = importlib.util.spec_from_file_location("made_up_stores", HERE.parent / "figures" / "stores.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def stores() -> Any:
    return _stores()


def on_disk(experiment: Any, folder: Path) -> Any:
    """The experiment with every file that its results name, the feedback of one cell as a folder without its text."""
    for number, result in enumerate(experiment.results):
        for path in (result.attempt.trace, result.message, f"{result.feedback_folder}/feedback.txt"):
            if path and not path.startswith("/"):
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(f"file {number} of {result.cell}")
    return replace(experiment, folder=str(folder))


@pytest.fixture(scope="session")
def site(stores: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """An ordinary experiment and the folder of its report, which lies in the experiment's."""
    from refit.report import make

    folder = tmp_path_factory.mktemp("experiment")
    notes = ("The recipient is scripted: its numbers say nothing about a language model.",)
    methods = ("none", "self-reflection", "dense", "verifier-feedback")
    experiment = on_disk(stores.made(("first", "second"), 5, 2, methods, 2, notes=notes, seed=3), folder)
    make(experiment, folder / "report", draws=200)
    return experiment, folder / "report"


@pytest.fixture(scope="session")
def hostile(stores: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of an experiment in which every text that comes from outside attacks the page."""
    from refit.report import build
    from refit.report.page import write_page

    folder = tmp_path_factory.mktemp("hostile")
    evil = stores.HOSTILE
    experiment = stores.made((evil[0], evil[3]), evil, 1, ("dense", evil[1], evil[5]), notes=evil[:3])
    attacked = [
        with_attempt(result, reward=None, exception=f"{evil[number % len(evil)]} {evil[0]}")
        if number % 3 == 0
        else result
        for number, result in enumerate(experiment.results)
    ]
    facts = {evil[0]: evil[1], "nested": {"x": [evil[0], evil[3]]}}
    whole = replace(experiment, name=evil[0], results=tuple(attacked), facts=facts)
    report = build(whole, draws=200)
    write_page(report, whole, folder / "report")
    return folder / "report"


@pytest.fixture(scope="session")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a real browser."""
    import chromium

    if chromium.installed() is None:
        pytest.skip(f"no browser: install one of {', '.join(chromium.NAMES)}")
    with chromium.browser(tmp_path_factory.mktemp("profile")) as found:
        yield found
