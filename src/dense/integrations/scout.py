# pyright: reportMissingImports=false, reportUntypedFunctionDecorator=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownParameterType=false
"""A scanner for Inspect Scout: the state and the open issues of each transcript, in Scout's own results.

    scout scan "$(dense setup scout)" -T LOGS

Scout loads this file by its path; it is the only module that imports `inspect_scout`. No model is asked: the built-in
rules analyse the transcript's messages. The scores that a log may hold are not read."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from inspect_scout import Reference, Result, Scanner, Transcript, scanner

from dense.errors import DenseError
from dense.readers import read
from dense.redact import clean_line
from dense.service import distill_sync
from dense.trajectory import Trajectory
from dense.tree import leaves, open_issues


def transcript_trajectory(transcript: Transcript) -> Trajectory:
    """A transcript as a trajectory, read like a sample of an Inspect log."""
    messages = [message.model_dump(mode="json", exclude_none=True) for message in transcript.messages]
    sample = {"id": transcript.task_id or transcript.transcript_id, "epoch": 1, "input": "", "messages": messages}
    log = {
        "version": 2,
        "status": "success",
        "eval": {"task": transcript.task_set or "", "model": transcript.model or ""},
        "samples": [sample],
    }
    with tempfile.TemporaryDirectory(prefix="dense-scout-") as folder:
        path = Path(folder) / "transcript.json"
        path.write_text(json.dumps(log), encoding="utf-8")
        return next(iter(read(path, format="inspect")))


def _message_id(transcript: Transcript, index: int | None) -> str | None:
    """The ID of the message that a step was read from."""
    return transcript.messages[index].id if index is not None and index < len(transcript.messages) else None


@scanner(messages="all")
def dense_state() -> Scanner[Transcript]:
    """The state of each transcript by the built-in rules, with its open issues and the message for a retry."""

    async def scan(transcript: Transcript) -> Result:
        try:
            trajectory = transcript_trajectory(transcript)
            done = distill_sync(trajectory)
        except (DenseError, StopIteration) as error:
            return Result(value="unread", explanation=clean_line(str(error)) or "no action in the transcript")
        tree = done.reconciled
        verdict = tree.root.verdict
        opened = open_issues(tree)
        actions = {leaf.id: leaf.action for leaf in leaves(tree.root)}
        cited = sorted({actions[node] for issue in opened for node in issue.evidence if node in actions})
        references = [
            Reference(type="message", cite=f"a{number}", id=message)
            for number in cited
            if (message := _message_id(transcript, trajectory.steps[number - 1].source.index))
        ]
        return Result(
            value=verdict.state if verdict is not None else "unknown",
            answer="; ".join(issue.code for issue in opened) or None,
            explanation="\n".join(issue.text for issue in opened) or tree.root.summary,
            metadata={
                "issues": [{"code": issue.code, "text": issue.text, "quote": issue.quote} for issue in opened],
                "next_steps": [step.text for step in tree.next_steps],
                "message": done.feedback.message,
                "actions": len(actions),
            },
            references=references,
        )

    return scan
