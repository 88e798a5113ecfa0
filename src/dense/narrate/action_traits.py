"""What is asked of single deeds when a stretch of them is told."""

from __future__ import annotations

from dense.evidence.facts.outputs import OPEN_EDITS, edits_open_file
from dense.evidence.facts.paths import base_name, is_temporary
from dense.narrate.actions import NarratedAction

CODE = (".py", ".js", ".ts", ".tsx", ".c", ".h", ".cpp", ".go", ".rs", ".java", ".rb", ".sh", ".php", ".cs", ".md")
"""Ends of the names of programs and texts."""


def is_change(deed: NarratedAction) -> bool:
    """Whether it made something that stays: a file, or a change through a tool of the task's own."""
    effects = deed.facts.effects
    if not effects.writes:
        return deed.phase == "produce" and not effects.deletes
    is_run = deed.phase == "run"  # what a program gives out is its result; what it changes of a program is a change
    for path in effects.writes:
        if is_temporary(path):
            continue
        if path.endswith(CODE) if is_run else path not in effects.undoes and base_name(path) != ".git":
            return True
    return False


def only_looks(deed: NarratedAction) -> bool:
    """Whether it gets nothing done by itself, also where it looks for what was made: that something is not there is an
    answer."""
    return deed.facts.phase in ("explore", "talk")


def is_setup(deed: NarratedAction) -> bool:
    effects = deed.facts.effects
    return bool(effects.installs or effects.services or effects.network)


def is_silent(deed: NarratedAction) -> bool:
    """Whether what comes back is only the harness's word that a file was written."""
    effects = deed.facts.effects
    is_plain = not (effects.scripts or effects.tests or deed.facts.commands)
    return (
        bool(effects.writes)
        and not deed.has_failed
        and (is_plain or (deed.facts.family in OPEN_EDITS and edits_open_file(deed.facts, deed.step)))
    )


def is_found(deed: NarratedAction) -> bool:
    return deed.phase == "explore" and is_quotable(deed)


def is_telling(deed: NarratedAction) -> bool:
    """Whether a look is more than reading or listing: its command says what was looked for."""
    return not deed.action_text.startswith(("read ", "listed ", "ran `ls"))


def is_quotable(deed: NarratedAction) -> bool:
    """Whether what came back is short enough to stand in a sentence."""
    return not deed.facts.result.is_empty and deed.output_text.startswith("`")


def is_success(deed: NarratedAction) -> bool:
    """Whether an action that did not fail got something done, as against looking."""
    if deed.phase == "verify":
        return deed.has_passed
    return deed.phase in ("run", "produce", "setup")


def shows_data(deed: NarratedAction) -> bool:
    """Whether what is shown are values, and not a program in which values stand."""
    return not deed.has_failed and not any(path.endswith(CODE) for path in deed.facts.effects.reads)


def check_name(text: str) -> str:
    """A check without its options: `python3 -m unittest -v` and `python3 -m unittest` are one."""
    return " ".join([word for word in text.split()[:6] if word[0] != "-"])
