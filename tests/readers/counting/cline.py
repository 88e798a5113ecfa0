"""Steps of Cline: messages of the assistant. A session's facts and the list of tasks hold none."""

import json
from pathlib import Path


def count(path: Path) -> list[int]:
    value = json.loads(path.read_text())
    messages = value if isinstance(value, list) else value.get("messages", [])
    steps = sum(message.get("role") == "assistant" for message in messages)
    return [steps] if steps else []
