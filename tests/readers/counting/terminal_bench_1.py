"""Steps of a Terminal-Bench trial: answers of the model; in a recording, commands that were typed after the first."""

import json
from pathlib import Path


def count(path: Path) -> list[int]:
    if path.suffix == ".cast":
        events = [json.loads(line) for line in path.read_text().splitlines()[1:]]
        return [sum(kind == "i" and "\r" in text for _, kind, text in events) - 1]  # the harness clears the screen
    return [len(list(path.glob("episode-*/response.*")))]
