"""`bench/density.py` on our own examples: it runs, and their reports are within its bounds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_examples_are_within_the_bounds(tmp_path: Path) -> None:
    traces = sorted(path for path in (ROOT / "examples").glob("*/*") if path.suffix in (".json", ".jsonl"))
    traces = [path for path in traces if path.name not in ("answers.json", "report.json")]
    manifest = tmp_path / "MANIFEST.jsonl"
    manifest.write_text("".join(json.dumps({"path": str(path), "format": "x"}) + "\n" for path in traces))
    command = [sys.executable, ROOT / "bench" / "density.py", manifest]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "rules, 3 traces" in done.stdout and "recorded model drafts" in done.stdout
    assert "evidence           1.000   at least 0.98" in done.stdout
    assert "products           1.000   at least 0.98" in done.stdout
