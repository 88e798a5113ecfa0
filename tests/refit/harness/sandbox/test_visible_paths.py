"""What shows: decided without a sandbox."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dense.errors import DenseError
from refit.harness.sandbox import visible_paths


def test_the_system_shows_and_homes_do_not() -> None:
    words = visible_paths.mount_words()
    assert "tree:/usr" in words
    assert "tree:/etc" in words
    shown = [word.partition(":")[2] for word in words if word.startswith("tree:")]
    for place in (
        Path.home(),
        Path.cwd(),
        Path(sys.prefix),
        Path("/opt"),
        Path("/srv"),
        Path("/tmp"),
        Path("/var/log"),
    ):
        assert not any(place == Path(path) or Path(path) in place.parents for path in shown)


def test_what_is_ours_is_hidden_where_it_would_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", "/usr/share/our-environment")
    monkeypatch.setenv("VIRTUAL_ENV", "/usr/local/lib/venv")
    words = visible_paths.mount_words(
        hidden=[Path("/usr/src/experiment"), Path("/usr/src/experiment/inner"), Path("/elsewhere")]
    )
    hidden = [word for word in words if word.startswith("hide:/usr/") and not word.startswith("hide:/usr/local/bin")]
    assert hidden == ["hide:/usr/local/lib/venv", "hide:/usr/share/our-environment", "hide:/usr/src/experiment"]


@pytest.mark.parametrize("prefix", ["/usr", "/usr/local", "/usr/local/lib"])
def test_a_python_of_the_system_is_not_ours(monkeypatch: pytest.MonkeyPatch, prefix: str) -> None:
    monkeypatch.setattr(sys, "prefix", prefix)
    assert f"hide:{prefix}" not in visible_paths.mount_words()


@pytest.mark.parametrize("place", ["/usr/src", "/usr/local/src", "/usr/local/src/experiment", "/usr/share/experiment"])
def test_an_experiment_among_the_system_is_hidden(place: str) -> None:
    assert f"hide:{place}" in visible_paths.mount_words(hidden=[Path(place)])


def test_what_must_not_show_does_not_though_it_is_asked_for(tmp_path: Path) -> None:
    shown, link = tmp_path / "shown", tmp_path / "link"
    (shown / "experiment").mkdir(parents=True)
    link.symlink_to(shown)
    assert f"hide:{shown}/experiment" in visible_paths.mount_words([link / "experiment"], [shown])
    assert f"hide:{shown}" in visible_paths.mount_words([link], [shown])
    assert not [
        word for word in visible_paths.mount_words([Path("/usr"), Path("/etc")]) if word in ("hide:/usr", "hide:/etc")
    ]


def test_commands_that_lead_nowhere_are_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They would be found before the system's own and fail."""
    system, hidden = tmp_path / "system", tmp_path / "hidden"
    (system / "bin").mkdir(parents=True)
    hidden.mkdir()
    (hidden / "python3").write_bytes(b"\x7fELF")
    (system / "real").write_bytes(b"\x7fELF")
    scripts = {
        "shim": f'#!/bin/sh\nset -e\nexec "{hidden}/python3" "$@"\n',
        "script": f"#!{hidden}/python3 -s\nprint(1)\n",
        "broken": "#!/no/such/interpreter\n",
        "good": f"#!/usr/bin/env python3\nexec {system}/real\n",
        "text": f"exec {hidden}/python3 is what I say\n",
        "variable": '#!/bin/sh\nexec "$HOME/x"\n',
    }
    for name, text in scripts.items():
        (system / "bin" / name).write_text(text)
    (system / "bin" / "dangling").symlink_to(hidden / "gone")
    monkeypatch.setattr(visible_paths, "COMMANDS", (str(system / "bin"),))
    words = visible_paths.mount_words(shown=[system])
    taken = {Path(word).name for word in words if word.startswith(f"hide:{system}")}
    assert taken == {"shim", "script", "broken"}


@pytest.mark.parametrize("name", ["with,comma", "with:colon", "not-there", "/"])
def test_what_cannot_be_shown(tmp_path: Path, name: str) -> None:
    if name.startswith("with"):
        (tmp_path / name).mkdir()
    with pytest.raises(DenseError, match="cannot be shown"):
        visible_paths.mount_words(shown=[tmp_path / name])


def test_a_working_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setenv("HOME", "")
    try:
        assert "tree:/usr" in visible_paths.mount_words()
    finally:
        os.chdir(tmp_path)
