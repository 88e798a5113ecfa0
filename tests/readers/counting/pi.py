"""Steps of pi sessions: what the assistant said or called, on the way from the last entry to the root."""

import json
from pathlib import Path


def count(path: Path) -> list[int]:
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    entries = [entry for entry in entries if entry["type"] != "session"]
    if "id" in entries[-1]:
        by_id = {entry["id"]: entry for entry in entries}
        way = [entries[-1]]
        while parent := way[-1]["parentId"]:
            way.append(by_id[parent])
        entries = way
    messages = [entry["message"] for entry in entries if entry["type"] == "message"]
    return [sum(m["role"] == "assistant" and bool(m["content"]) for m in messages)]
