"""Sessions that go on in a new file are one session: copied lines count once, referred lines are read first."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import dense
from dense.readers import Skipped, files_of, stored_sessions
from dense.trajectory import Trajectory

FIXTURES = Path(__file__).parents[1] / "fixtures"
CLAUDE = FIXTURES / "claude-code" / "continued" / "projects" / "-app"
COMPACTED = FIXTURES / "claude-code" / "projects" / "-app" / "22222222-2222-4222-8222-222222222222.jsonl"
FIRST, SECOND = "55555555-5555-4555-8555-555555555555", "66666666-6666-4666-8666-666666666666"
ASKED = ["How many files are there?", "Does the test pass?"]


def asked(trajectory: Trajectory) -> list[str]:
    return [turn.text for turn in trajectory.turns]


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_a_fork_of_claude_code_is_one_session() -> None:
    skipped = Skipped()
    assert [file.path.stem for file in files_of(CLAUDE, skipped=skipped)] == [SECOND]
    assert skipped.counts == {"part": 1}
    (found,) = dense.read(CLAUDE)
    assert (found.id, asked(found), len(found.steps)) == (SECOND, ASKED, 4)
    (alone,) = dense.read(CLAUDE / f"{FIRST}.jsonl")
    assert len(alone.steps) == 2, "a file that is named is read"


def test_a_session_that_went_on_beside_its_fork_stays(tmp_path: Path) -> None:
    shutil.copytree(CLAUDE, tmp_path, dirs_exist_ok=True)
    own = tmp_path / f"{FIRST}.jsonl"
    later = [line for line in lines_of(CLAUDE / f"{SECOND}.jsonl") if line.get("type") in ("user", "assistant")][-1]
    write(own, [*lines_of(own), later | {"uuid": "99999999-9999-4999-8999-999999999999", "sessionId": FIRST}])
    assert sorted(trajectory.id for trajectory in dense.read(tmp_path)) == [FIRST, SECOND]


def test_two_equal_copies_are_read_once(tmp_path: Path) -> None:
    for name in (FIRST, SECOND):
        shutil.copyfile(CLAUDE / f"{FIRST}.jsonl", tmp_path / f"{name}.jsonl")
    (found,) = dense.read(tmp_path)
    assert found.source.path.endswith(f"{FIRST}.jsonl")


def test_a_compaction_that_begins_a_new_file(tmp_path: Path) -> None:
    """Constructed from a recorded session: what follows its compaction is moved to a file and a session of its own."""
    lines = lines_of(COMPACTED)
    at = next(index for index, line in enumerate(lines) if line.get("subtype") == "compact_boundary")
    moved = [line | ({"sessionId": SECOND} if "sessionId" in line else {}) for line in lines[at:]]
    write(tmp_path / f"{FIRST}.jsonl", lines[:at])
    write(tmp_path / f"{SECOND}.jsonl", moved)
    (whole,) = dense.read(COMPACTED)
    (found,) = dense.read(tmp_path)
    assert found.id == SECOND
    assert asked(found) == asked(whole)
    assert [(step.message, step.calls, step.observations) for step in found.steps] == [
        (step.message, step.calls, step.observations) for step in whole.steps
    ]
    assert found.steps[0].source.path.endswith(f"{FIRST}.jsonl")
    (tmp_path / f"{FIRST}.jsonl").unlink()
    (alone,) = dense.read(tmp_path)
    assert len(alone.steps) == len(whole.steps) - 2


def test_sessions_that_refer_to_each_other_end(tmp_path: Path) -> None:
    for name, other in ((FIRST, SECOND), (SECOND, FIRST)):
        lines = [line for line in lines_of(CLAUDE / f"{FIRST}.jsonl") if line.get("type") in ("user", "assistant")]
        lines[0] |= {"uuid": name, "parentUuid": other}
        write(tmp_path / f"{name}.jsonl", lines)
    assert list(dense.read(tmp_path / f"{FIRST}.jsonl"))


def test_a_kept_output_of_the_earlier_session_is_found(tmp_path: Path) -> None:
    """A fork copies the line, not the file that it names."""
    lines = lines_of(CLAUDE / f"{SECOND}.jsonl")
    result = next(line for line in lines if "toolUseResult" in line)
    result["toolUseResult"] = {"persistedOutputPath": f"/home/x/.claude/projects/-app/{FIRST}/tool-results/a.txt"}
    write(tmp_path / f"{SECOND}.jsonl", lines)
    (tmp_path / FIRST / "tool-results").mkdir(parents=True)
    (tmp_path / FIRST / "tool-results" / "a.txt").write_text("the whole output")
    (found,) = dense.read(tmp_path / f"{SECOND}.jsonl")
    assert found.steps[0].observations[0].text == "the whole output"


def test_a_fork_of_codex_goes_on_from_its_session(tmp_path: Path) -> None:
    (found,) = dense.read(FIXTURES / "codex" / "forked")
    (resumed,) = dense.read(FIXTURES / "codex" / "resumed")
    for one in (found, resumed):
        assert (asked(one), len(one.steps)) == (ASKED, 4)
    first, fork = sorted((FIXTURES / "codex" / "forked").rglob("rollout-*.jsonl"))
    assert found.id in fork.name
    for day, path in {"18": first, "19": fork}.items():  # forks are filed by their own day
        (tmp_path / "2026" / "11" / day).mkdir(parents=True)
        shutil.copyfile(path, tmp_path / "2026" / "11" / day / path.name)
    (other,) = dense.read(tmp_path / "2026" / "11" / "19")
    assert (asked(other), len(other.steps)) == (ASKED, 4)
    (whole,) = dense.read(tmp_path)  # its session is read with it, not beside it
    assert (asked(whole), len(whole.steps)) == (ASKED, 4)
    (before,) = dense.read(tmp_path / "2026" / "11" / "18")
    assert asked(before) == ASKED[:1]
    shutil.copyfile(fork, tmp_path / fork.name)
    (alone,) = dense.read(tmp_path / fork.name)
    assert (asked(alone), [notice.text for notice in alone.notices]) == (
        ASKED[1:],
        ["the session that this one goes on from is not there"],
    )


def test_a_session_that_goes_on_is_listed_once(tmp_path: Path) -> None:
    first, fork = sorted((FIXTURES / "codex" / "forked").rglob("rollout-*.jsonl"))
    for day, path in {"18": first, "19": fork}.items():
        target = tmp_path / ".codex" / "sessions" / "2026" / "11" / day / path.name
        target.parent.mkdir(parents=True)
        shutil.copyfile(path, target)
    [one] = stored_sessions(home=tmp_path, environment={})
    assert one.id in fork.name
    shutil.copytree(CLAUDE, tmp_path / ".claude" / "projects" / "-app")
    assert [one.id for one in stored_sessions(agents=["claude-code"], home=tmp_path, environment={})] == [SECOND]


def test_marks_around_a_prompt_are_not_the_task(tmp_path: Path) -> None:
    """What hooks, editors and programs put before the words of a person."""
    wrapped = {
        "hook_context": "<hook_context>Lessons of earlier runs.</hook_context>\n\nDo it.",
        "reminder": "<system-reminder>\nA note.\n</system-reminder>\nDo it.",
        "editor": "<ide_opened_file>The user opened a.py</ide_opened_file>\nDo it.",
        "environment": "<environment_context>\n  <cwd>/app</cwd>\n</environment_context>",
    }
    for name, prompt in wrapped.items():
        said = [] if name != "environment" else [{"role": "user", "content": "Do it."}]
        talk = [{"role": "user", "content": prompt}, *said, {"role": "assistant", "content": "Done."}]
        (tmp_path / f"{name}.json").write_text(json.dumps(talk))
        (found,) = dense.read(tmp_path / f"{name}.json")
        assert found.task is not None and found.task.instruction.strip() == "Do it.", name
