"""`bench/linear_time.py` on the first of its patterns: it runs, and the analyst passes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_time_grows_with_the_length_and_no_faster() -> None:
    command = [sys.executable, ROOT / "bench" / "linear_time.py", "--sizes", "6000,60000", "--part", "0/24"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "40 cases of 6,000 and 60,000 characters: 0 not linear" in done.stdout
