"""Steps of Qwen Code: lines of the assistant."""

from pathlib import Path


def count(path: Path) -> list[int]:
    return [path.read_text().count('"type":"assistant"')]
