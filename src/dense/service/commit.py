"""The commit that the running code is of, where that can be known."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

COMMIT = re.compile(r"[0-9a-f]{40}")


@cache
def code_commit() -> str:
    """The commit of the checkout, or of the repository's address that it was installed from; empty if unknown."""
    return _checkout_commit(Path(__file__).parents[3]) or _installed_commit()


def _checkout_commit(folder: Path) -> str:
    """The commit of a git checkout, read from its files; empty if the folder is none."""
    git = folder / ".git"
    try:
        if git.is_file():  # a worktree names its folder
            git = folder / git.read_text().strip().removeprefix("gitdir: ")
        head = (git / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return head if COMMIT.fullmatch(head) else ""
        name = head.removeprefix("ref: ")
        common = git / (git / "commondir").read_text().strip() if (git / "commondir").is_file() else git
        if (common / name).is_file():
            return (common / name).read_text().strip()
        lines = (common / "packed-refs").read_text().splitlines()
        return next((line.split()[0] for line in lines if line.endswith(f" {name}")), "")
    except (OSError, UnicodeDecodeError):
        return ""


def _installed_commit() -> str:
    """The commit that pip recorded, for an installation from a repository's address."""
    try:
        text = distribution("dense-feedback").read_text("direct_url.json") or "{}"
        return str(json.loads(text).get("vcs_info", {}).get("commit_id", ""))
    except (PackageNotFoundError, ValueError, AttributeError):
        return ""
