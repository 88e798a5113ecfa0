"""Work of which nothing is left: changes that were taken back, a hand-over that changes nothing that was there."""

from __future__ import annotations

from dense.detectors.finding import Finding
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.paths import base_name, is_temporary, is_trial_file, same_file
from dense.evidence.trace import Case
from dense.narrate.quoting import paths_told


def only_new(case: Case) -> list[Finding]:
    """A hand-over with nothing but new files where nothing of the project lies, of which the task names none."""
    handed = case.submission
    if handed is None or not handed.is_whole or handed.changes or not handed.left or case.wanted:
        return []
    text = f"What is handed in at a{handed.action} changes no file that was there before: it only adds "
    text += f"{paths_told([one.path for one in handed.left])}, which the task does not name."
    return [Finding("only_new", text, (handed.action,), is_serious=False)]


def taken_away(case: Case, closed: list[Finding]) -> list[Finding]:
    """All changes, taken back to what a repository holds, and nothing was changed since. `closed`: checks that had
    failed and passed later; one that passed only with the changes makes it plain."""
    if not case.history.has_removals or case.products or (case.submission is not None and case.submission.changes):
        return []
    undoing = next((fact for fact in reversed(case.changing) if fact.effects.undoes and not fact.has_failed), None)
    if undoing is None or any(check.has_passed and check.action > undoing.action for check in case.checks):
        return []
    changed = [fact for fact in case.changing if fact.action < undoing.action and _is_undone(fact, undoing)]
    if not changed:
        return []
    last = changed[-1]
    names = [path for path in last.effects.writes if not is_temporary(path)]
    text = f"All that was changed was taken back at a{undoing.action} ({case.did(undoing.action)}): the change of "
    text += f"{paths_told(names)} at a{last.action} is gone, and nothing was changed since."
    passed = [one for one in closed if one.closed is not None and last.action < one.closed < undoing.action]
    passed = [one for one in passed if one.is_serious and one.opened < changed[0].action]
    if passed:
        text += f" Only with it did the check pass, at a{passed[-1].closed}, that had failed at a{passed[-1].opened}."
    return [Finding("taken_away", text, (last.action, undoing.action), is_serious=bool(passed))]


def _is_undone(fact: ActionFacts, undoing: ActionFacts) -> bool:
    """Whether an action changed something of the project that another one takes back."""
    if fact.has_failed or fact.effects.undoes:
        return False
    own = [path for path in fact.effects.writes if not is_temporary(path) and not is_trial_file(base_name(path))]
    return any(gone == "." or same_file(path, gone) for path in own for gone in undoing.effects.undoes)
