"""What an error says to do can be done."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import pytest

import dense
from dense.errors import DISTRIBUTION, install_hint


@pytest.mark.parametrize(
    ("origin", "hint"),
    [
        (None, "pip install 'dense-feedback[mcp]'"),
        ({"url": "file:///src/my%20dense", "dir_info": {}}, "pip install '/src/my dense[mcp]'"),
        ({"url": "file:///src/dense", "dir_info": {"editable": True}}, "pip install -e '/src/dense[mcp]'"),
        (
            {"url": "https://example.org/d.whl", "archive_info": {}},
            "pip install 'dense-feedback[mcp] @ https://example.org/d.whl'",
        ),
        (
            {"url": "https://example.org/d", "vcs_info": {"vcs": "git", "commit_id": "0a1b"}},
            "pip install 'dense-feedback[mcp] @ git+https://example.org/d@0a1b'",
        ),
    ],
)
def test_a_hint_installs_from_where_the_package_came(
    origin: dict[str, object] | None, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / f"{DISTRIBUTION.replace('-', '_')}-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Name: {DISTRIBUTION}\nVersion: 1\n")
    if origin is not None:
        (folder / "direct_url.json").write_text(json.dumps(origin))
    monkeypatch.setattr(metadata, "distribution", lambda name: metadata.Distribution.at(folder))
    assert install_hint("mcp") == hint


def test_without_an_installed_package_the_hint_names_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert install_hint() == "pip install 'dense-feedback'"


def test_a_checkout_names_itself() -> None:
    """The suite runs on an installed checkout: the folder of the hint is the one with these sources."""
    checkout = Path(dense.__file__).parents[2]
    if not (checkout / "pyproject.toml").is_file():
        pytest.skip("not installed in place")
    assert install_hint("report") == f"pip install -e '{checkout}[report]'"
