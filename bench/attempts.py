"""How the built-in analyst agrees with the hidden checks of recorded attempts, in every shape of harness.

    python bench/attempts.py [--by shape|style|set] [--list]

The attempts are `tests/fixtures/agent-attempts.json`: terminal tasks that coding agents wrote for others, who worked on
them without seeing the checks. Each is written as six kinds of traces, which `bench/agreement.py` reads. The same
attempt in six shapes is one run, not six: read the intervals of a single shape."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench")]

import agreement  # noqa: E402
from attempt_shapes import SHAPES, write_as  # noqa: E402


def write_all(folder: Path) -> Path:
    """Write all attempts in all shapes, and the manifest that names them."""
    attempts = json.loads((ROOT / "tests" / "fixtures" / "agent-attempts.json").read_text(encoding="utf-8"))
    rows: list[str] = []
    for number, (name, made) in enumerate(attempts.items()):
        for shape in SHAPES:
            place = folder / shape / str(number)
            place.mkdir(parents=True)
            path = write_as(made, shape, place)
            row = {"path": str(path.relative_to(folder)), "outcome": int(made["passed"]), "name": name, "shape": shape}
            rows.append(json.dumps({**row, "set": name[0], "style": name.rpartition("-")[2]}))
    manifest = folder / "MANIFEST.jsonl"
    manifest.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return manifest


def main() -> None:
    options = sys.argv[1:] or ["--by", "shape"]
    with tempfile.TemporaryDirectory() as folder:
        agreement.main([str(write_all(Path(folder))), *options])


if __name__ == "__main__":
    main()
