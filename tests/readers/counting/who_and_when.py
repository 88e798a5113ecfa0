"""Steps of Who&When runs: entries of agents, without terminals, the human, and the harness's remarks."""

import json
import pathlib
from typing import Any


def count(path: pathlib.Path) -> list[int]:
    text = path.read_text()
    try:
        value = json.loads(text)
    except ValueError:
        value = [json.loads(line) for line in text.splitlines() if line.strip()]
    runs = value if isinstance(value, list) and "history" in value[0] else [value]
    return [sum(map(_acts, run if isinstance(run, list) else run["history"])) for run in runs]


def _acts(entry: dict[str, Any]) -> bool:
    who = entry.get("name") or entry["role"]
    if who in ("human", "ComputerTerminal", "Computer_terminal", "Orchestrator (termination condition)"):
        return False
    words = entry["content"].split()
    return not (words[:2] == ["Next", "speaker"] and len(words) == 3)
