import json
from pathlib import Path


def count(path: Path) -> list[int]:
    document = json.loads(path.read_text())
    messages = document["messages"] if isinstance(document, dict) else document
    return [sum(message["role"] == "assistant" for message in messages)]
