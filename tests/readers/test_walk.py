"""From a folder to its traces: what is one thing is listed once, what belongs to another is not listed beside it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import dense
from dense.errors import NoTrajectory
from dense.readers import Skipped, Stream, UnreadFile, files_of, read_streams

FIXTURES = Path(__file__).parents[1] / "fixtures"
CLAUDE = FIXTURES / "claude-code" / "projects"
(CODEX_FAMILY,) = (FIXTURES / "codex" / "sub-agent").glob("sessions/*/*/*")
CONVERSATION = next((FIXTURES / "openhands" / "repair").iterdir())


def listed(path: Path) -> list[str]:
    """The names of the files found, below the path."""
    return [str(file.path.relative_to(path)) for file in files_of(path)]


def trial_of(job: str) -> Path:
    (trial,) = (path for path in (FIXTURES / "atif" / "jobs" / job).iterdir() if path.is_dir())
    return trial


def copied(source: Path, target: Path) -> Path:
    shutil.copytree(source, target, copy_function=shutil.copyfile)
    return target


def write(path: Path, *records: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def session(path: Path, **more: Any) -> Path:
    """A small session of Claude Code."""
    marks = {"uuid": "u", "parentUuid": None, "sessionId": path.stem, "isSidechain": False} | more
    asked = {"type": "user", "message": {"role": "user", "content": "Count."}}
    said = {"type": "assistant", "message": {"id": "m", "role": "assistant", "content": "One."}}
    return write(path, asked | marks, said | marks)


def test_a_harbor_job_gives_one_file_for_each_trial_that_has_a_trajectory() -> None:
    jobs = FIXTURES / "atif" / "jobs"
    found = [Path(t.source.path).relative_to(jobs) for t in dense.read(jobs)]
    assert {path.name for path in found} == {"trajectory.json"}
    assert sorted(path.parts[0] for path in found) == sorted({p.name for p in jobs.iterdir()} - {"oracle", "nop"})


def test_a_harbor_trial_gives_its_trajectory_without_its_parts() -> None:
    assert listed(trial_of("summarised-linear")) == ["agent/trajectory.json"]


def test_parts_of_a_trajectory_are_listed_where_the_trajectory_is_not(tmp_path: Path) -> None:
    agent = copied(trial_of("summarised-linear") / "agent", tmp_path / "parts")
    (agent / "trajectory.json").unlink()
    assert len(listed(agent)) == 4


def test_a_trial_without_an_agent_folder_gives_nothing() -> None:
    trial = trial_of("oracle")
    assert not (trial / "agent").exists()
    assert listed(trial) == []
    with pytest.raises(NoTrajectory, match="no trace in this folder"):
        list(dense.read(trial))


def test_the_agents_own_sessions_stand_in_for_an_empty_trajectory(tmp_path: Path) -> None:
    trial = copied(trial_of("timed-out"), tmp_path / "trial")
    (trial / "agent" / "trajectory.json").write_bytes(b"")
    copied(CLAUDE, trial / "agent" / "sessions" / "projects")
    shutil.copy(FIXTURES / "claude-code" / "stream-json" / "looks.jsonl", trial / "agent" / "claude-code.txt")
    ids = [t.id[:8] for t in dense.read(trial)]
    assert ids == ["11111111", "22222222", "33333333", "44444444"]


def test_the_agents_log_stands_in_where_there_is_no_session(tmp_path: Path) -> None:
    trial = copied(trial_of("timed-out"), tmp_path / "trial")
    (trial / "agent" / "trajectory.json").write_bytes(b"")
    shutil.copy(FIXTURES / "claude-code" / "stream-json" / "looks.jsonl", trial / "agent" / "claude-code.txt")
    items = list(read_streams(trial))
    assert [Path(i.source.path).name for i in items if isinstance(i, Stream)] == ["claude-code.txt"]
    assert [Path(i.path).name for i in items if isinstance(i, UnreadFile)] == ["trajectory.json"]


def test_the_agents_own_sessions_are_not_read_beside_a_trajectory(tmp_path: Path) -> None:
    trial = copied(trial_of("timed-out"), tmp_path / "trial")
    copied(CLAUDE, trial / "agent" / "sessions" / "projects")
    assert listed(trial) == ["agent/trajectory.json"]


def test_what_a_trial_keeps_of_the_verifier_is_never_listed(tmp_path: Path) -> None:
    trial = copied(trial_of("timed-out"), tmp_path / "trial")
    session(trial / "verifier" / "session.jsonl")
    assert listed(trial) == ["agent/trajectory.json"]


def test_sub_agents_of_claude_code_are_listed_with_their_session_only() -> None:
    names = listed(CLAUDE)
    assert len(names) == 4
    assert not [name for name in names if "agent-" in name or "tool-results" in name]


def test_sub_agents_without_their_session_are_listed(tmp_path: Path) -> None:
    projects = copied(CLAUDE, tmp_path / "projects")
    for path in projects.glob("*/*.jsonl"):
        path.unlink()
    (name,) = (name for name in listed(projects) if name.endswith(".jsonl"))
    assert "/subagents/agent-" in name


def test_older_sub_agents_beside_their_session_are_not_listed_twice(tmp_path: Path) -> None:
    session(tmp_path / "s1.jsonl")
    session(tmp_path / "agent-a.jsonl", sessionId="s1", isSidechain=True)
    session(tmp_path / "agent-b.jsonl", sessionId="lost", isSidechain=True)
    assert listed(tmp_path) == ["agent-b.jsonl", "s1.jsonl"]


def test_sub_agents_of_codex_are_listed_with_their_parent_only() -> None:
    assert len(list(CODEX_FAMILY.iterdir())) == 2
    (parent,) = dense.read(CODEX_FAMILY)
    (child,) = (agent for step in parent.steps for agent in step.subagents)
    assert child.id != parent.id


def test_a_sub_agent_of_codex_without_its_parent_is_listed(tmp_path: Path) -> None:
    folder = copied(CODEX_FAMILY, tmp_path / "15")
    (parent,) = listed(folder)
    (folder / parent).unlink()
    (child,) = dense.read(folder)
    assert len(child.steps) == 2


@pytest.mark.parametrize("name", ["rollout-2026-x.jsonl.zst", "agent-x.jsonl"])
@pytest.mark.parametrize("damage", [b"\x28\xb5\x2f\xfdbroken", b"\x1f\x8bbroken", b"\0\0", b"[1]\n[2]\n", b""])
def test_a_damaged_file_does_not_stop_the_walk(tmp_path: Path, name: str, damage: bytes) -> None:
    (tmp_path / name).write_bytes(damage)
    session(tmp_path / "s1.jsonl")
    assert listed(tmp_path) == sorted([name, "s1.jsonl"])
    assert len(list(dense.read(tmp_path))) == 1


@pytest.mark.parametrize("named", [CONVERSATION, CONVERSATION / "events", CONVERSATION.parent])
def test_an_openhands_conversation_is_one_trace_whichever_folder_is_named(named: Path) -> None:
    (file,) = files_of(named)
    assert file.path == CONVERSATION / "events"
    (read,) = dense.read(named)
    assert (read.format, len(read.steps)) == ("openhands", 9)
    assert read.source.path == str(CONVERSATION / "events")


def test_events_beside_other_traces_hide_nothing(tmp_path: Path) -> None:
    copied(CONVERSATION / "events", tmp_path / "events")
    session(tmp_path / "s1.jsonl")
    assert listed(tmp_path) == ["events", "s1.jsonl"]


def test_a_file_that_is_only_named_like_an_event_hides_nothing(tmp_path: Path) -> None:
    session(tmp_path / "s1.jsonl")
    (tmp_path / "event-log.json").write_text("{}")
    assert listed(tmp_path) == ["event-log.json", "s1.jsonl"]


def test_a_mixed_pile(tmp_path: Path) -> None:
    pile = tmp_path / "pile"
    copied(trial_of("basic"), pile / "trial")
    copied(CLAUDE, pile / "projects")
    copied(CODEX_FAMILY, pile / "sessions" / "2026" / "11" / "15")
    copied(CONVERSATION, pile / "conversation")
    copied(FIXTURES / "mini-swe-agent", pile / "mini")
    session(pile / "node_modules" / "hidden.jsonl")
    session(pile / ".git" / "hidden.jsonl")
    (pile / "README.md").write_text("# A pile\n")
    (pile / "package.json").write_text('{"name": "pile"}')
    (pile / "empty").mkdir()
    items = list(read_streams(pile))
    formats = [item.format for item in items if isinstance(item, Stream)]
    assert formats == ["openhands", *["mini-swe-agent"] * 6, *["claude-code"] * 4, "codex", "atif"]
    unread = {Path(item.path).name: item.is_trace for item in items if isinstance(item, UnreadFile)}
    assert unread == {"README.md": False, "package.json": False}


def test_links_are_followed_and_loops_are_cut(tmp_path: Path) -> None:
    elsewhere = session(tmp_path / "elsewhere" / "s1.jsonl").parent
    pile = tmp_path / "pile"
    pile.mkdir()
    (pile / "a").symlink_to(elsewhere)
    (pile / "b").symlink_to(elsewhere)
    (pile / "again.jsonl").symlink_to(elsewhere / "s1.jsonl")
    (pile / "self").symlink_to(pile / "self")
    (pile / "dangling.jsonl").symlink_to(pile / "nowhere")
    (elsewhere / "up").symlink_to(tmp_path)
    assert listed(pile) == ["a/s1.jsonl"]


def test_a_link_to_a_trial_or_its_trajectory_does_not_list_it_again(tmp_path: Path) -> None:
    trial = copied(trial_of("basic"), tmp_path / "trial")
    (tmp_path / "latest").symlink_to(trial)
    (tmp_path / "zlatest.json").symlink_to(trial / "agent" / "trajectory.json")
    assert listed(tmp_path) == ["latest/agent/trajectory.json"]


@pytest.mark.parametrize("link", ["a-link", "z-link"])
def test_a_link_to_events_does_not_list_them_again(tmp_path: Path, link: str) -> None:
    conversation = copied(CONVERSATION, tmp_path / "conversation")
    (tmp_path / link).symlink_to(conversation / "events")
    assert len(listed(tmp_path)) == 1


def test_a_file_is_listed_under_the_name_that_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session(tmp_path / "folder" / "s1.jsonl")
    monkeypatch.chdir(tmp_path)
    assert [file.name for file in files_of("folder")] == ["folder/s1.jsonl"]


def test_an_empty_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoTrajectory, match="no trace in this folder"):
        list(dense.read(tmp_path))


def moved(trial: Path, place: str) -> Path:
    """A trial whose agent keeps its trajectory in another folder."""
    (trial / place).parent.mkdir(parents=True, exist_ok=True)
    shutil.move(trial / "agent" / "trajectory.json", trial / place)
    return trial


@pytest.mark.parametrize(
    "place", ["artifacts/trajectory.json", "artifacts/agent/trajectory.json", "logs/trajectory.json"]
)
@pytest.mark.parametrize("keeps", ["agent", "verifier", "config.json", ""])
def test_a_trial_is_found_wherever_its_trajectory_is(tmp_path: Path, place: str, keeps: str) -> None:
    trial = moved(copied(trial_of("basic"), tmp_path / "job" / "trial"), place)
    (trial / "artifacts" / "app").mkdir(parents=True)
    (trial / "artifacts" / "app" / "data.json").write_text("{}")
    for other in ("agent", "verifier"):
        if other != keeps and keeps:
            shutil.rmtree(trial / other, ignore_errors=True)
    if keeps not in ("", "config.json"):
        for name in ("config.json", "result.json"):
            (trial / name).unlink(missing_ok=True)
    found = list(dense.read(tmp_path / "job"))
    assert [Path(t.source.path).relative_to(trial) for t in found] == [Path(place)]


def test_episodes_are_one_trace(tmp_path: Path) -> None:
    trial = copied(trial_of("basic"), tmp_path / "trial")
    (trial / "agent" / "trajectory.json").unlink()
    for number in range(12):
        episode = trial / "agent" / f"episode-{number}"
        episode.mkdir(parents=True)
        (episode / "prompt.txt").write_text(f"Screen {number}")
        (episode / "response.txt").write_text("{}")
        (episode / "debug.json").write_text('{"messages": [{"role": "assistant", "content": "x"}]}')
    assert listed(trial) == ["agent"]


def test_a_walk_says_what_it_passed_over(tmp_path: Path) -> None:
    pile = tmp_path / "pile"
    copied(trial_of("basic"), pile / "trial")
    copied(CLAUDE, pile / "projects")
    session(pile / "node_modules" / "hidden.jsonl")
    (pile / "dangling.jsonl").symlink_to(pile / "nowhere")
    (pile / "zagain").symlink_to(pile / "trial")
    skipped = Skipped()
    files = list(files_of(pile, skipped=skipped))
    below = sum(path.is_file() for path in pile.rglob("*"))
    assert skipped.counts["unsearched"] == 1
    assert skipped.counts["broken"] == 1
    assert skipped.counts["link"] == 1
    assert len(files) + skipped.counts["part"] + skipped.counts["trial"] + 1 == below, "each file is accounted for"
    assert all(str(count) in " ".join(skipped.lines()) for count in skipped.counts.values())
