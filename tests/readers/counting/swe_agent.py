"""Steps of SWE-agent files: an entry of `trajectory` each, without those by which the program itself gave up."""

import json
import pathlib
from typing import Any


def count(path: pathlib.Path) -> list[int]:
    run = json.loads(path.read_text())
    return [_steps(attempt) for attempt in run.get("attempts") or [run]]


def _steps(run: dict[str, Any]) -> int:
    if run.get("trajectory"):
        return 1 + sum(
            1 for e in run["trajectory"][1:] if e["action"].strip() or not e["thought"].startswith("Exit due to")
        )
    history = run["history"]
    after = max((i for i, m in enumerate(history) if m.get("is_demo")), default=-1) + 1
    return sum(message["role"] == "assistant" for message in history[after:])
