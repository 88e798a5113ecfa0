"""How Harbor graded its trials. The only module that opens result files and verifier folders.

Nothing in the way from a file to a trajectory imports it: whoever may see grades asks for them here, by path.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dense.errors import NoTrajectory
from dense.outcome import Outcome
from dense.readers.files import TraceFile
from dense.readers.folders.harbor import is_harbor_trial
from dense.readers.json_value import number, obj, string


def read_outcomes(path: str | Path) -> Iterator[Outcome]:
    """The outcomes of all Harbor trials at or below a path, in the order of their names.

    A trial whose verifier did not run has an outcome without a reward: it was not graded, which is not a zero.
    """
    root = Path(path).expanduser()
    if is_harbor_trial(root):
        yield _outcome(root)
        return
    for folder in sorted(entry for entry in root.iterdir() if entry.is_dir() and not entry.is_symlink()):
        yield from read_outcomes(folder)


def _outcome(trial: Path) -> Outcome:
    result = trial / "result.json"
    try:
        recorded = obj(TraceFile(result, str(result)).document().value)
    except (NoTrajectory, OSError):
        recorded = {}
    rewards = obj(obj(recorded.get("verifier_result")).get("rewards"))
    return Outcome(
        trial=str(trial),
        reward=number(rewards.get("reward")),
        rewards={name: value for name, given in rewards.items() if (value := number(given)) is not None},
        verifier_output=_text(trial / "verifier" / "test-stdout.txt"),
        exception=string(obj(recorded.get("exception_info")).get("exception_type")),
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
