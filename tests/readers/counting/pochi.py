"""Steps of Pochi: where a step starts in the last state of each message."""

import json
from pathlib import Path


def count(path: Path) -> list[int]:
    last = {message["id"]: message for message in map(json.loads, path.read_text().splitlines())}
    return [sum(part["type"] == "step-start" for message in last.values() for part in message["parts"])]
