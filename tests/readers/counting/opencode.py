"""Steps of opencode: its assistant's messages, out of the database, the export or the older files."""

import json
import sqlite3
from pathlib import Path


def count(path: Path) -> list[int]:
    if path.suffix == ".db":
        rows = sqlite3.connect(path).execute(
            "select count(*) from message where json_extract(data, '$.role') = 'assistant' group by session_id"
        )
        return [number for (number,) in rows]
    if path.parent.parent.name == "session":
        messages = (path.parents[2] / "message" / path.stem).glob("*.json")
        return [sum(json.loads(one.read_text())["role"] == "assistant" for one in messages)]
    messages = json.loads(path.read_text())["messages"]
    return [sum(message["info"]["role"] == "assistant" for message in messages)]
