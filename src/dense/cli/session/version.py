"""The version with the commit that it was built from, where that can be known."""

from __future__ import annotations

from dense.service.commit import code_commit
from dense.version import __version__


def full_version() -> str:
    """The version, and the commit of the checkout or of the archive that it was installed from."""
    commit = code_commit()
    return f"dense {__version__}" + (f" (commit {commit[:12]})" if commit else "")
