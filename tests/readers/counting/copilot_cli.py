"""Steps of Copilot CLI: lines that say that they are the assistant's messages."""

from pathlib import Path


def count(path: Path) -> list[int]:
    return [path.read_text().count('"type": "assistant.message"')]
