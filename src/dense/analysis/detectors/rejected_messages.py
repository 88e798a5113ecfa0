"""Messages that the harness rejected: the commands in them never ran, whatever the agent believed afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dense.analysis.actions.check_commands import is_test_file
from dense.analysis.actions.effects import Effects
from dense.analysis.actions.step_effects import effects
from dense.analysis.detectors.registry import Detector, Finding, FindingCode
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.facts.paths import is_temporary, same_file
from dense.analysis.evidence.trace import TraceEvidence
from dense.knowledge.programs import LOOKERS, program_name
from dense.trajectory import Step, ToolCall

MESSAGE_REJECTED = FindingCode(
    name="message_rejected",
    meaning="The harness rejected a message, so its commands never ran.",
    severity="doubt",
    covers_failures=False,
)
CODE_BLOCK = re.compile(r"```[ \t]*([\w+-]*)[ \t]*\n(.*?)(?:\n```|\Z)", re.DOTALL)
"""A block of code, also one without an end."""
PYTHON = frozenset({"python", "py", "python3"})
MAX_MESSAGES = 3
"""How many messages are reported, the last ones."""
MAX_MESSAGE_CHARS = 60_000


def rejected_messages(evidence: TraceEvidence) -> Iterable[Finding]:
    """Those with a change that nobody made later, and the last one with a run if nothing ran later."""
    rejected = [fact for fact in evidence.facts if _is_rejected(evidence, fact)]
    if not any(step.calls for step in evidence.steps):
        return ()
    findings: dict[str, Finding] = {}
    for fact in rejected[-MAX_MESSAGES:]:
        intended, code = _intended(evidence.step(fact.action))
        later = [following for following in evidence.facts[fact.action :] if not following.has_failed]
        reason = fact.result.failures[0].line
        if written := tuple(path for path in intended.writes if not is_temporary(path)):
            if not any(
                same_file(path, own) for following in later for path in following.effects.writes for own in written
            ):
                # The agent hands over as if a file that it had looked at were changed.
                known = (path for following in evidence.facts[: fact.action] for path in following.effects.reads)
                is_known = any(same_file(path, written[0]) for path in known) and not is_test_file(written[0])
                is_serious = is_known and evidence.last_change < fact.action
                findings[written[0]] = MESSAGE_REJECTED.found(
                    written[0], fact.action, severity="serious" if is_serious else "doubt", reason=reason, files=written
                )
        elif _runs_something(intended) and not any(map(_is_run, later)):
            findings[""] = MESSAGE_REJECTED.found("", fact.action, reason=reason, code=code)
    return findings.values()


def _is_rejected(evidence: TraceEvidence, fact: ActionFacts) -> bool:
    step = evidence.step(fact.action)
    if not fact.has_failed or fact.phase != "talk" or step.calls:
        return False
    return "```" in step.message and any(seen.origin == "system" for seen in step.observations)


def _intended(step: Step) -> tuple[Effects, str]:
    """What the code in a message would have done, and the first block of it."""
    blocks = [
        (match[1].lower(), match[2])
        for match in CODE_BLOCK.finditer(step.message[:MAX_MESSAGE_CHARS])
        if match[2].strip()
    ]
    calls = [
        ToolCall("python", {"code": code}) if name in PYTHON else ToolCall("bash", {"command": code})
        for name, code in blocks
    ]
    return effects(Step(source=step.source, calls=tuple(calls))), blocks[0][1] if blocks else ""


def _runs_something(intended: Effects) -> bool:
    return bool(intended.tests or intended.scripts) or any(program_name(run) not in LOOKERS for run in intended.runs)


def _is_run(fact: ActionFacts) -> bool:
    return bool(fact.effects.scripts or fact.effects.tests) or fact.phase in ("run", "verify")


DETECTOR = Detector(rejected_messages, (MESSAGE_REJECTED,))
