"""Files that the task asks for and that are not there, or not where they are asked for."""

from __future__ import annotations

import re

from dense.detectors.empty_deliverables import hollow
from dense.detectors.finding import Finding
from dense.detectors.since import goes_on, is_under_way
from dense.evidence.deliverables.candidates import candidates
from dense.evidence.deliverables.tracking import Tracked, is_edit, may_be_made
from dense.evidence.facts.paths import same_file
from dense.evidence.requirements.vocabulary import CUES
from dense.evidence.trace import Case
from dense.knowledge.programs import LOOKERS
from dense.narrate.outputs import absent_told, main_failure
from dense.text.quoting import one_line

TRIES = 3
"""How many tries an issue tells."""
CHANGING = frozenset(
    """
    change modify edit update fix repair correct adjust adapt rewrite refactor improve extend patch debug optimize
    optimise ändere ändern bearbeite bearbeiten korrigiere korrigieren behebe beheben repariere reparieren aktualisiere
    aktualisieren ergänze modifie modifiez modifier corrige corrigez corriger répare réparez modifica modifique
    modificar corrija corregir actualiza actualice atualize altere исправь исправьте измени измените обнови обновите
""".split()
)
"""Words that ask for a change of what is there. A hint only: it chooses words."""
WORD = re.compile(r"[^\W\d_]+")
CARRIES = re.compile(
    r"\b(?:cp|mv|ln|install|rsync|scp|tar|unzip|docker|podman|kubectl|mount|git|shutil|rename|symlink|copy\w*|move"
    r"|Copy-Item|Move-Item)\b"
)
"""What may bring a file from one place to another."""
HARMLESS = LOOKERS | {"git", "mkdir", "rm"}
"""Programs that make no file of results."""
PASSING = frozenset({"tmp", "shm"})
"""Folders for what does not stay, near the root: no other one is the same by another name."""


def unmet(case: Case) -> list[Finding]:
    found: list[Finding] = []
    for one in case.tracked:
        if one.removed is not None:
            found.append(_lost(case, one))
        elif one.elsewhere and not one.made and not _is_seen(one):
            found += _misplaced(case, one)
        elif one.is_missing and (one.made or not (one.is_named_apart or may_be_made(one, case.facts, case.steps))):
            found.append(_missing(case, one))
    return found + hollow(case)


def _lost(case: Case, one: Tracked) -> Finding:
    """A file that was made and removed. Where the command that removed it does not name it, or it was seen since, the
    trace is not plain."""
    gone = one.removed or 0
    text = f"The task asks for `{one.subject}`; it was removed at a{gone} and not made again."
    is_plain = one.shown[-1:] < (gone,)
    if one.is_swept:
        text = f"The task asks for `{one.subject}`; a{gone} {case.did(gone)}, which takes it away"
        text += ", and nothing shows that it was made again."
        is_plain = is_plain and HARMLESS.issuperset(case.of(gone).effects.runs) and not goes_on(case, gone)
    if not is_plain:
        return Finding("unmet", text, (gone,), is_serious=False, is_tried=True)
    return Finding("lost", text, (gone,), is_fatal=True)


def _is_seen(one: Tracked) -> bool:
    """Whether it was seen in its place, or at all before a file of its name was written in another one."""
    return one.is_seen_in_place or bool(one.shown and one.shown[0] < one.elsewhere[0][0])


def _misplaced(case: Case, one: Tracked) -> list[Finding]:
    """A file that was made in another place than the task names."""
    action, path = one.elsewhere[-1]
    if path.rsplit("/", 2)[1:] == one.subject.rsplit("/", 2)[1:]:
        return []  # the same folder below another root, as a repository is mounted now here, now there
    text = f"The task asks for `{one.subject}`"
    if one.tried:
        failed = one.tried[-1]
        text += f", where it could not be written (a{failed}: {case.saw(failed)}); it was made as"
        text += f" `{one_line(path, 120)}` (a{action}) instead."
    else:
        text += f"; it was made as `{one_line(path, 120)}` (a{action}), and no action wrote it to `{one.subject}`."
    since = [command for fact in case.facts[action - 1 :] for command in fact.commands]
    is_plain = one.subject[0] == path[0] == "/" and not one.tried and _are_apart(case, one.subject, path)
    is_plain = is_plain and not any(map(CARRIES.search, since)) and not may_be_made(one, case.facts, case.steps)
    evidence = tuple(sorted({*[n for n, _ in one.elsewhere[-TRIES:]], *one.tried[-1:], *one.missed[-1:]}))
    return [Finding("unmet", text, evidence, is_serious=is_plain, is_tried=bool(one.tried) or not is_plain)]


def _are_apart(case: Case, wanted: str, path: str) -> bool:
    """Whether two folders can be no two names of one: one of them is for what does not stay, or the attempt uses the
    folder that the task names."""
    if PASSING.isdisjoint(path.split("/")[1:3]) != PASSING.isdisjoint(wanted.split("/")[1:3]):
        return True
    folder = wanted.rpartition("/")[0] + "/"
    return any(one.startswith(folder) for f in case.facts for one in (*f.effects.reads, *f.effects.writes))


def _try(case: Case, action: int, *, is_only: bool) -> str:
    """A try, and what came back. Of one among others for which a program or a package is not there, that: the lesson
    of all of them tells the rest."""
    failures = case.of(action).result.failures
    if failures and not is_only and (lacking := main_failure(failures)).missing_dependency:
        return f"{absent_told(lacking)} (a{action})"
    return f"a{action} {case.did(action, 70)}: {case.saw(action)}"


def _missing(case: Case, one: Tracked) -> Finding:
    evidence = [*one.tried[-TRIES:], *one.missed[-1:]]
    is_plain = True
    if one.made:
        # It was there, or a command said so: what was looked for in vain may have been looked for in another folder.
        made, missed = one.made[-1], one.missed[-1]
        text = f"The task asks for `{one.subject}`; a{made} {case.did(made, 80)}"
        text += f", yet it was not found at a{missed} ({case.did(missed, 80)}: {case.saw(missed)})."
        is_plain = one.is_missed_in_place and not goes_on(case, missed) and not is_under_way(case, made)
        is_plain = is_plain and (case.of(missed).has_failed or case.of(missed).phase in {"explore", "verify"})
        evidence.append(one.made[-1])
    elif _is_change(case, one):
        text = f"The task asks for a change of `{one.subject}`, and none was made."
    else:
        text = f"The task asks for `{one.subject}`, and no action made it."
    tried = [n for n in one.tried[-TRIES:] if not _only_reads(case, n, one.subject)]
    if tried and not one.made:
        tries = [_try(case, n, is_only=len(tried) == 1) for n in tried]
        text += f" Tried without success: {'; '.join(tries)}."
    if not one.made and (fitting := candidates(case.task, case.requirements, case.steps)):
        best = fitting[0]
        text += f" What fits the task was already seen at a{best.action}: `{one_line(best.text, 200)}`."
        text += " What is left is to write it there."
        evidence.append(best.action)
    shown = tuple(sorted(set(evidence))) or (len(case.facts),)
    return Finding("unmet", text, shown, is_serious=is_plain, is_tried=bool(one.tried) or not is_plain)


def _only_reads(case: Case, action: int, path: str) -> bool:
    """Whether an action that failed at something else only looked at a file."""
    done = case.of(action).effects
    return any(same_file(one, path) for one in done.reads) and not any(same_file(one, path) for one in done.writes)


def _is_change(case: Case, one: Tracked) -> bool:
    """Whether the task wants a file that is there to be changed: what failed was an edit of it, or the word that asks
    for it says so."""
    if any(is_edit(one.subject, case.of(n), case.step(n)) for n in one.tried):
        return not one.missed
    before = WORD.findall(one.requirement.clause.partition(one.subject)[0].lower())
    return next((word in CHANGING for word in reversed(before) if CUES.get(word) in ("make", "put", "move")), False)
