"""Steps of AgentRx: entries that are no human's, no terminal's and no remark of the harness."""

import json
import re
from pathlib import Path


def count(path: Path) -> list[int]:
    entries = json.loads(path.read_text())
    return [
        sum(
            entry.get("name", entry["role"]) not in ("human", "ComputerTerminal", "Computer_terminal")
            and "(termination condition)" not in entry["role"]
            and not (
                entry["role"].endswith("(thought)") and re.fullmatch(r"Next speaker \w+\.?", entry["content"].strip())
            )
            for entry in entries
        )
    ]
