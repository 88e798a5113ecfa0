"""Methods by short name, by import path, by entry point; and the one in the docs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from aiohttp import web
from loopback import Loopback, said

from dense.errors import UnknownMethod
from dense.methods import METHODS, method, method_names
from dense.methods.catalogue import describe_method

ROOT = Path(__file__).parents[2]


def example() -> str:
    (code,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "add-a-method.md").read_text(), re.DOTALL | re.M)
    return code


def command(*arguments: object, path: Path | None = None, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Runs in `folder` as the installed command does: `-P`, or else `-m` would put the folder on Python's path."""
    paths = [str(ROOT / "src"), *([str(path)] if path is not None else [])]
    env = os.environ | {"TERM": "dumb", "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(
        [sys.executable, "-P", "-m", "dense", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=env,
        check=False,
    )


def test_every_name_leads_to_a_method_of_that_name() -> None:
    names = list(method_names())
    assert names[: len(METHODS)] == list(METHODS)
    assert {"none", "advisor", "all-at-once"} <= set(names) - set(METHODS), "baselines hang in by entry point"
    assert [method(name).name for name in names] == names
    assert [describe_method(name) for name in names] == [(method(name).sees, method(name).calls) for name in names]
    assert [name for name in names if method(name).sees == "outcome"] == ["verifier-feedback"]


def test_the_example_is_short() -> None:
    assert len(example().strip().splitlines()) < 30


def test_the_example_in_the_docs_works(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(example())
    trace = ROOT / "examples" / "csv-report"
    done = command("distill", trace, "--method", "own:Failures", "--out", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (folder,) = (path for path in (tmp_path / "out").iterdir() if path.is_dir())
    assert done.stdout == f"{folder.relative_to(tmp_path)}: failures\n"
    assert re.search(r"^summary: \d+ of 14 actions failed\n", (folder / "feedback.txt").read_text())


def test_its_calls_are_counted(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(example())

    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response(said("Nothing is installed."))

    with Loopback(default=answer) as server:
        options = ("--model", f"{server.url}#m", "--yes", "--out", tmp_path / "out")
        done = command("distill", "examples/clean-success", "--method", "own:Failures", *options, path=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 calls" in done.stdout
    (folder,) = (path for path in (tmp_path / "out").iterdir() if path.is_dir())
    assert "summary: Nothing is installed\n" in (folder / "feedback.txt").read_text()
    assert '"method": "failures"' in (folder / "run.json").read_text()


def test_an_entry_point_is_listed_and_run(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(example())
    info = tmp_path / "own-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[dense.methods]\nfailures = own:Failures\n")
    listed = command("methods", path=tmp_path)
    assert re.search(r"^failures +task, trajectory +no +1$", listed.stdout, re.MULTILINE), listed.stdout + listed.stderr
    done = command(
        "distill", "examples/clean-success", "--method", "failures", "--out", tmp_path / "out", path=tmp_path
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("densest", "unknown method 'densest'; known are dense, dense+lessons"),
        ("no.such.module:Class", "cannot be loaded: No module named"),
        ("dense.methods:Nothing", "cannot be loaded"),
        ("dense.methods.baselines.replay:SelfReflection", "has moved: write 'refit.baselines.replay:SelfReflection'"),
        ("types:SimpleNamespace", "lacks the text `name`"),
        (f"{__name__}:Blind", "must say what it `sees`: task, trajectory, outcome"),
        (f"{__name__}:Mute", "has no function `feedback`"),
    ],
)
def test_what_is_no_method_is_reported(name: str, reported: str) -> None:
    sys.modules.setdefault(__name__, SimpleNamespace(Blind=Blind, Mute=Mute))  # pyright: ignore[reportArgumentType]
    with pytest.raises(UnknownMethod, match=re.escape(reported)):
        method(name)


def test_the_command_tells_it_too(tmp_path: Path) -> None:
    done = command("distill", "examples", "--method", "densest", "--out", tmp_path, path=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("error: unknown method 'densest'")


class Blind:
    name, calls = "blind", "0"


class Mute:
    name, calls, sees = "mute", "0", "task"
