"""Merge conflicts, with what git really prints."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from made_attempt import Action, analysed, described, found, the

TASK = "Merge the branch `other` into `main`."
DONE = "The branches are merged."


@pytest.fixture(scope="module")
def merge(tmp_path_factory: pytest.TempPathFactory) -> Action:
    """A merge that really fails, with its output."""
    folder: Path = tmp_path_factory.mktemp("repository")

    def git(*words: str) -> subprocess.CompletedProcess[str]:
        name = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        return subprocess.run(["git", *name, *words], cwd=folder, capture_output=True, text=True, check=False)

    git("init", "-q", "-b", "main")
    for branch, text in (("main", "one"), ("other", "two"), ("main", "three")):
        git("checkout", "-q", "-B" if branch == "other" else "-q", branch)
        (folder / "a.txt").write_text(text)
        git("add", "a.txt")
        git("commit", "-q", "-m", text)
    done = git("merge", "other")
    return "git merge other", done.stdout, done.returncode


def test_a_conflict_that_nobody_resolves(merge: Action) -> None:
    assessment = analysed(TASK, merge, ("ls", "a.txt"), DONE)
    assert the(assessment, "conflict_left").evidence == (1,)
    assert "CONFLICT" in described(assessment, "conflict_left")


@pytest.mark.parametrize(
    "command", ["git merge --abort", "git checkout --ours a.txt", "echo three > a.txt && git add a.txt"]
)
def test_a_conflict_that_is_resolved(merge: Action, command: str) -> None:
    assert not found(analysed(TASK, merge, (command, ""), DONE), "conflict_left")


def test_edit_blocks_are_no_conflicts() -> None:
    block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE"
    assert not found(analysed(TASK, ("cat notes.md", block), DONE), "conflict_left")
