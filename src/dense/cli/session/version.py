"""The version with the commit that the running code is of, where that can be known."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from dense.version import __version__

COMMIT = re.compile(r"[0-9a-f]{40}")


def full_version() -> str:
    """The version, and the commit of the checkout or of the archive that it was installed from."""
    commit = code_commit()
    return f"dense {__version__}" + (f" (commit {commit[:12]})" if commit else "")


@cache
def code_commit() -> str:
    """The commit of the checkout, or of the repository's address that it was installed from; empty if unknown."""
    return _checkout_commit(Path(__file__).parents[4]) or _installed_commit()


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
