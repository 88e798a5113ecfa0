"""Messages that the harness did not take: the commands in them never ran, whatever the agent thought afterwards."""

from __future__ import annotations

import re

from dense.detectors.finding import Finding
from dense.evidence.actions import Effects, effects
from dense.evidence.ending.done import is_shown_done
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.paths import is_temporary, same_file
from dense.evidence.trace import Case
from dense.knowledge.programs import LOOKERS, program_name
from dense.narrate.quoting import paths_told
from dense.text.quoting import ticked
from dense.trajectory import Step, ToolCall

FENCE = "```"
BLOCK = re.compile(r"```[ \t]*([\w+-]*)[ \t]*\n(.*?)(?:\n```|\Z)", re.DOTALL)
"""A block of code, also one that nobody closed."""
PYTHON = frozenset({"python", "py", "python3"})
MOST = 3
"""So many are told, the last ones."""
LONGEST = 60_000


def refused_messages(case: Case) -> list[Finding]:
    """Those with a change that nobody made since, or with a run and nothing was run since."""
    refused = [fact for fact in case.facts if fact.has_failed and fact.phase == "talk" and _is_refused(case, fact)]
    if not refused or not any(step.calls for step in case.steps) or is_shown_done(case):
        return []
    found: dict[str, Finding] = {}
    for fact in refused[-MOST:]:
        meant, code = _meant(case.step(fact.action))
        if written := [path for path in meant.writes if not is_temporary(path)]:
            if one := _unmade(case, fact, written):
                found[written[0]] = one
        elif one := _never_ran(case, fact, meant, code):
            found[""] = one  # the last of them is enough: each says that nothing ran since
    return list(found.values())


def _is_refused(case: Case, fact: ActionFacts) -> bool:
    step = case.step(fact.action)
    return not step.calls and FENCE in step.message and any(seen.origin == "system" for seen in step.observations)


def _unmade(case: Case, fact: ActionFacts, written: list[str]) -> Finding | None:
    """A change that was not made, unless somebody made one of the same files later."""
    later = (path for one in case.facts[fact.action :] if not one.has_failed for path in one.effects.writes)
    if any(same_file(path, own) for path in later for own in written):
        return None
    text = f"{_told(fact)} its change of {paths_told(written)} was never made, and nothing changed that since."
    return Finding("unmade", text, (fact.action,), is_serious=_is_only_change(case, written))


def _never_ran(case: Case, fact: ActionFacts, meant: Effects, code: str) -> Finding | None:
    """A run or a check that did not happen, unless something ran later."""
    if not (meant.tests or meant.scripts or any(program_name(one) not in LOOKERS for one in meant.runs)):
        return None
    later = (one for one in case.facts[fact.action :] if not one.has_failed)
    if any(one.effects.scripts or one.effects.tests or one.phase in ("run", "verify") for one in later):
        return None
    text = f"{_told(fact)} {ticked(code, 80)} in it never ran, and nothing was run since."
    return Finding("unmade", text, (fact.action,), is_serious=False)


def _told(fact: ActionFacts) -> str:
    why = ticked(fact.result.failures[0].line, 120)
    return f"The harness did not take the message at a{fact.action} ({why}):"


def _meant(step: Step) -> tuple[Effects, str]:
    """What the code in a message would have done, and the code."""
    blocks = [(found[1].lower(), found[2]) for found in BLOCK.finditer(step.message[:LONGEST]) if found[2].strip()]
    calls = [
        ToolCall("python", {"code": code}) if name in PYTHON else ToolCall("bash", {"command": code})
        for name, code in blocks
    ]
    return effects(Step(step.source, calls=tuple(calls))), blocks[0][1] if blocks else ""


def _is_only_change(case: Case, written: list[str]) -> bool:
    """Whether the task asks for the change, and nothing else was ever changed or run that might have made it."""
    if any(one.effects.writes or one.effects.scripts for one in case.facts if not one.has_failed):
        return False
    return any(same_file(path, name) for path in written for name in case.wanted)
