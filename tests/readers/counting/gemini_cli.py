"""Steps of Gemini CLI: its messages by ID, without the rewound ones; in stream-json, runs between tool results."""

import json
from pathlib import Path


def count(path: Path) -> list[int]:
    if path.suffix == ".json":
        return [sum(message["type"] == "gemini" for message in json.loads(path.read_text())["messages"])]
    records = [json.loads(line) for line in path.read_text().splitlines()]
    if records[0].get("type") == "init":
        acts = ["act" if r["type"] == "tool_use" or r.get("role") == "assistant" else r["type"] for r in records]
        return [sum(now == "act" and before != "act" for before, now in zip(["", *acts], acts, strict=False))]
    ids: dict[str, str] = {}
    for record in records:
        if "$rewindTo" in record:
            for gone in list(ids)[list(ids).index(record["$rewindTo"]) :]:
                del ids[gone]
        elif "id" in record:
            ids[record["id"]] = record["type"]
    return [list(ids.values()).count("gemini")]
