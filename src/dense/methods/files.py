"""What a method leaves on disk: `feedback.txt`, `message.txt`, what it made on the way; `run.json` is written last."""

from __future__ import annotations

from pathlib import Path

import msgspec

from dense.analyst.prompt import prompt_hashes as dense_hashes
from dense.distillation.record import Run
from dense.methods.prompting import prompt_hashes as method_hashes
from dense.methods.runner import Made

OPTIONAL = ("tree.json", "reconciled.json")
"""Files that some methods write: where another one ran before, they are of that one."""


def write(folder: Path, made: Made, run: Run) -> None:
    """All files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("run.json", *OPTIONAL):
        (folder / name).unlink(missing_ok=True)
    (folder / "feedback.txt").write_text(made.feedback.report, encoding="utf-8", newline="")
    (folder / "message.txt").write_text(made.feedback.message, encoding="utf-8", newline="")
    for name, value in (*made.files.items(), ("run.json", run)):
        (folder / name).write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")


def prompt_hashes() -> dict[str, str]:
    """A hash of each prompt template, DENSE's and the baselines'."""
    return dense_hashes() | method_hashes()
