"""The measure of what messages keep: its scorer, its arms, and the keys themselves."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
KEYS = ROOT / "bench" / "facts" / "keys"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    yield importlib.import_module("facts")
    sys.modules.pop("facts", None)


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """A folder with the key of one short dialog, as an open one."""
    folder = tmp_path / "keys"
    folder.mkdir()
    key = json.loads((KEYS / "dialog-library-fr.json").read_text())
    (folder / "one.json").write_text(json.dumps({**key, "set": "open"}))
    return folder


def test_every_key_can_be_confirmed(bench: Any, capsys: pytest.CaptureFixture[str]) -> None:
    bench.main(["--check"])
    assert "each witness is in its actions" in capsys.readouterr().out


def test_a_fact_that_the_trace_does_not_show_is_reported(
    bench: Any, keys: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = keys / "one.json"
    key = json.loads(path.read_text())
    key["facts"][2]["any"] = [["no such words"]]
    key["facts"][3]["witness"] = ["no such receipt"]
    key["facts"][4]["any"] = [["Odile Garnier"]]
    key["false"][0]["any"] = [["Port-Royal"]]
    path.write_text(json.dumps(key))
    with pytest.raises(SystemExit):
        bench.main(["--check", "--keys", str(keys)])
    printed = capsys.readouterr().out
    assert "f3: no alternative matches the raw text" in printed
    assert "f4: not in its actions: 'no such receipt'" in printed
    assert "f5: the task already says so" in printed
    assert "false: the trace itself says" in printed


def test_each_arm_is_measured_with_the_same_bytes(bench: Any, keys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--keys", str(keys), "--json", "--budget", "3000", "--budget", "default"]
    bench.main(["raw", "head-tail", "soup", "dense", *options])
    sizes = json.loads(capsys.readouterr().out)["sizes"]
    assert sizes["3000"]["raw"]["recall"] >= sizes["3000"]["head-tail"]["recall"] > 0
    assert all(2000 < sizes["3000"][arm]["median_bytes"] <= 3000 for arm in ("head-tail", "soup"))
    assert sizes["3000"]["dense"]["median_bytes"] <= 3000
    own = sizes["default"]["dense"]["median_bytes"]
    assert own - 300 < sizes["default"]["head-tail"]["median_bytes"] <= own


def test_a_budget_may_be_a_share_of_the_raw_text(bench: Any, keys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench.main(["raw", "head-tail", "--keys", str(keys), "--json", "--budget", "25%"])
    sizes = json.loads(capsys.readouterr().out)["sizes"]["25%"]
    assert 0.24 < sizes["head-tail"]["median_bytes"] / sizes["raw"]["median_bytes"] <= 0.25


def test_frozen_keys_are_left_out_unless_asked_for(bench: Any, keys: Path) -> None:
    path = keys / "one.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "set": "frozen"}))
    with pytest.raises(SystemExit, match="no keys of the set open"):
        bench.main(["head-tail", "--keys", str(keys)])


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the repository's history")
def test_an_earlier_revision_is_an_arm(bench: Any, tmp_path: Path) -> None:
    source = bench.unpack("HEAD", tmp_path)
    assert (source / "dense" / "__init__.py").is_file()
    with pytest.raises(SystemExit, match="facts: "):
        bench.unpack("no-such-revision", tmp_path)


def test_patterns_must_match_near_each_other(bench: Any) -> None:
    alternatives = [["alpha", "omega"]]
    assert bench.states("Omega, not alpha", alternatives)
    assert not bench.states("alpha" + "." * 401 + "omega", alternatives)


def test_what_only_repeats_the_task_does_not_count(bench: Any) -> None:
    task = "Find the flag of the form VAULT{...} and write it down there."
    assert bench.without_task(f"Task: {task}\nFound VAULT{{x}}.", task) == "Task: \nFound VAULT{x}."


def test_each_family_kind_and_weight_is_in_use(bench: Any) -> None:
    keys = bench.load_keys(KEYS)
    facts = [fact for key in keys for fact in key.facts]
    assert {fact.weight for fact in facts} == {1, 2, 3}
    assert all(any(fact.weight == bench.DECISIVE for fact in key.facts) for key in keys)
    assert len({key.family for key in keys}) >= 8
