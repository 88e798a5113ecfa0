"""The last thing that was tried, if it failed and nothing was done since: a push, a merge, an edit, an installation.
Why it failed does not matter; that nothing took its place does."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.detectors.failed_runs import may_be_meant
from dense.detectors.finding import Finding
from dense.evidence.ending.done import is_shown_done
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.paths import same_file
from dense.evidence.trace import Case
from dense.knowledge.programs import LASTING_COMMANDS

DOING = frozenset({"produce", "setup", "run"})
"""Phases in which something is to be got done."""
STOPPERS = frozenset({"kill", "pkill", "killall", "git commit"})
"""What fails where there is nothing left for it to do."""
SENDING = {"git push": "push", "git merge": "merge", "git rebase": "rebase", "git cherry-pick": "cherry-pick"}
"""What a task may ask for by the name of the command itself."""
NOT_TO = re.compile(r"(?:\b(?:not|never|without|no)|n['’]t)\b[^.\n]{0,20}$", re.IGNORECASE)
"""How a text goes on to what is not to be done. A hint only: it takes seriousness away."""


def failed_deed(case: Case, known: Sequence[Finding]) -> list[Finding]:
    """The last deed, if it failed and none of what is known to be open tells of it. Looks after it do nothing in its
    place."""
    last = _last(case)
    if last is None or any(last.action in one.evidence for one in known):
        return []
    if case.history.recovered_by(last.action) is not None or may_be_meant(case, last):
        return []
    if case.submission is not None and any(map(case.submission.holds, last.effects.writes)):
        return []  # its change is there all the same
    is_asked = _is_asked(case, last)
    if not is_asked and is_shown_done(case):
        return []
    text = f"The last thing that was tried failed, at a{last.action} ({case.did(last.action)}): "
    text += f"{case.saw(last.action)}. Nothing was done since that takes its place."
    text += " The task asks for it." if is_asked else ""
    return [Finding("failed_deed", text, (last.action,), is_serious=is_asked)]


def _last(case: Case) -> ActionFacts | None:
    """The last action that was to get something done, if it failed; None where it worked, or where it is a check."""
    for fact in reversed(case.facts):
        if fact.is_check or fact.delegates_to:
            return None
        if is_look(fact) or not _counts(case, fact):
            continue
        return fact if fact.has_failed and fact.result.exit_code != 0 else None
    return None


def is_look(fact: ActionFacts) -> bool:
    """Whether an action gets nothing done: it says something, or asks a file or a database what is there."""
    effects = fact.effects
    if fact.phase not in DOING:
        return True
    changes = effects.writes or effects.deletes or effects.scripts or effects.installs or effects.services
    return fact.phase == "run" and bool(effects.reads) and not changes


def _counts(case: Case, fact: ActionFacts) -> bool:
    """Whether it would matter that an action failed: not where it only tidies up, tries how things are before anything
    was changed, or lacks something around it."""
    if not fact.has_failed:
        return True
    if fact.family in STOPPERS or (fact.effects.deletes and not fact.effects.writes):
        return False
    if fact.family in LASTING_COMMANDS or fact.phase == "produce":
        return True
    if fact.phase == "setup":
        return bool(fact.effects.runs or fact.effects.writes)
    is_missing = any(failure.family.is_missing_dependency for failure in fact.result.failures)
    return fact.action > case.first_change and not is_missing


def _is_asked(case: Case, fact: ActionFacts) -> bool:
    """Whether the task itself asks for what failed: the one change of a file that it names, where nothing was ever
    got done; or a command of git by its own name, which never worked."""
    if case.task is None:
        return False
    if verb := SENDING.get(fact.family):
        if any(one.family == fact.family and not one.has_failed for one in case.facts):
            return False
        return _asks_for(case.task.instruction, verb, fact)
    if not fact.effects.writes or any(not one.has_failed and not is_look(one) for one in case.facts):
        return False
    named = [
        one.subject for one in case.requirements if one.kind == "file" and one.role in ("deliverable", "mentioned")
    ]
    return any(same_file(path, name) for path in fact.effects.writes for name in named)


def _asks_for(task: str, verb: str, fact: ActionFacts) -> bool:
    found = re.search(rf"\b{verb}\b", task, re.IGNORECASE)
    if found is None or NOT_TO.search(task[max(found.start() - 60, 0) : found.start()]):
        return False
    if verb == "push":
        return True
    text = "\n".join(fact.commands)
    words = text[text.find(fact.family) + len(fact.family) :].split("\n", 1)[0].split()
    return any(word[0] != "-" and re.search(rf"(?<![\w/-]){re.escape(word)}(?![\w/-])", task) for word in words[:6])
