"""Steps of Kimi CLI: the events that begin one."""

from pathlib import Path


def count(path: Path) -> list[int]:
    return [path.read_text().count('"type": "StepBegin"')]
