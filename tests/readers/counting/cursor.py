"""Steps of Cursor: the assistant's lines; in the database, bubbles with a call, and texts that no call follows."""

import json
import sqlite3
from pathlib import Path


def count(path: Path) -> list[int]:
    if path.suffix == ".vscdb":
        query = "select value from cursorDiskKV where key like 'bubbleId:%' order by json_extract(value, '$.createdAt')"
        bubbles = [json.loads(value) for (value,) in sqlite3.connect(path).execute(query)]
        steps = 0
        for bubble, following in zip(bubbles, [*bubbles[1:], {}], strict=True):
            is_said = bubble["type"] == 2 and bool(bubble["text"])
            steps += "toolFormerData" in bubble or (is_said and "toolFormerData" not in following)
            steps += bubble["type"] == 2 and "thinking" in bubble and following.get("type") != 2
        return [steps]
    return [path.read_text().count('"role": "assistant"')]
