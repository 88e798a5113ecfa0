"""Lessons in an experiment: a method of its own, which needs a file, and whose evidence is part of what was run."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dense.errors import BadConfig
from dense.methods import method
from refit.experiment.config import read_config
from refit.experiment.identity import identity_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "refit" / "refit.yaml"


def written(tmp_path: Path, **settings: object) -> Path:
    data = yaml.safe_load(EXAMPLE.read_text())
    file = tmp_path / "refit.yaml"
    file.write_text(yaml.safe_dump({**data, "methods": ["dense", "dense+lessons"], **settings}))
    return file


def test_the_method_needs_a_file(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"dense\+lessons needs `lessons: FILE`"):
        read_config(written(tmp_path))
    assert method("dense+lessons").name == "dense+lessons"


def test_other_evidence_is_another_experiment(tmp_path: Path) -> None:
    config = read_config(written(tmp_path, lessons="lessons.md"))
    identities = []
    for text in ("", "\n"):
        (tmp_path / "lessons.jsonl").write_text(text)
        assert config.lesson_evidence(tmp_path) == ()
        identities.append(identity_of(config, (), tmp_path)["lessons"])
    assert identities[0] != identities[1]
