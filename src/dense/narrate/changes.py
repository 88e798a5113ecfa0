"""Changes in a few words: what became of a text, or what the agent says that the change is for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dense.evidence.actions.tool_calls import ParsedCall, parse_call
from dense.evidence.facts.paths import same_file
from dense.knowledge.tools import NEW_TEXT_KEYS, OLD_TEXT_KEYS
from dense.narrate.action_traits import is_change, is_silent
from dense.narrate.actions import NarratedAction
from dense.narrate.commands import SUBSTITUTION
from dense.narrate.messages import intent
from dense.narrate.quoting import HEAD, paths_told
from dense.narrate.tools import change_told
from dense.text.quoting import quoted, ticked

LONGEST_CHANGE = 80
MOST_TEXT = 10 * HEAD
"""So much of an edit is looked at."""


def small_changes(deed: NarratedAction) -> Iterator[str]:
    """The short changes of an action: `old` → `new` in a file."""
    where = paths_told(deed.facts.effects.writes[-1:])
    for text in deed.facts.commands:
        if "sed -i" not in text[:HEAD] or (found := SUBSTITUTION.search(text[:HEAD])) is None:
            continue
        sign, old, new = found.groups()
        if max(len(old), len(new)) <= LONGEST_CHANGE:
            old, new = old.replace(f"\\{sign}", sign), new.replace(f"\\{sign}", sign)
            yield f"{ticked(old)} → {ticked(new)} in {where}" if new else f"without {ticked(old)}"
    if not deed.facts.commands and deed.facts.effects.writes:
        for call in deed.step.calls[:4]:
            if told := change_told(parse_call(call), 70) or patch_told(parse_call(call)):
                yield f"{told} in {where}"


def patch_told(tool: ParsedCall) -> str:
    """A patch of one line."""
    if tool.kind != "patch":
        return ""
    gone, new = changed_lines(tool)
    if len(gone) != 1 or len(new) != 1 or max(len(gone[0]), len(new[0])) > LONGEST_CHANGE:
        return ""
    return f"{ticked(gone[0])} → {ticked(new[0])}"


def change(deed: NarratedAction, told: str) -> str:
    """A change, `told` by what was done, with what it is where that is too long to tell: its one line, or the agent's
    own words for it."""
    if deed.phase == "run":
        changes = f"{paths_told(deed.facts.effects.writes)}"
        return f"{told} (changes {changes})" if is_change(deed) and changes not in told else told
    if not is_silent(deed) or told.endswith(")"):
        return told
    if len(deed.step.calls) == 1 and (line := patch_told(parse_call(deed.step.calls[0]))):
        return f"{told} ({line})"
    return f"{told} ({quoted(intent(deed.step.message, 90), 90)})" if deed.step.message.strip() else told


def standing(changes: Sequence[NarratedAction]) -> list[NarratedAction]:
    """Of several changes those that a later one did not replace: it wrote the whole file anew, or took out all that
    the earlier one had put in."""
    if len(changes) < 2:
        return list(changes)
    kept: list[NarratedAction] = []
    whole: list[str] = []
    gone: set[str] = set()
    for deed in reversed(changes):
        is_edit = not deed.facts.commands  # what a command took out and put in is not known
        removed, added = lines_of_deed(deed) if is_edit else ((), ())
        writes = deed.facts.effects.writes
        is_rewritten = bool(whole and writes) and all(any(same_file(path, other) for other in whole) for path in writes)
        if not is_rewritten and not (added and gone.issuperset(added)):
            kept.append(deed)
        gone.update(removed)
        if is_edit and is_whole(deed):
            whole += writes
    return kept[::-1]


def is_whole(deed: NarratedAction) -> bool:
    """Whether it wrote a file as a whole."""
    if len(deed.step.calls) != 1:
        return False
    tool = parse_call(deed.step.calls[0])
    is_part = any(word in tool.plain for word in ("insert", "append")) or tool.text(("command",)) == "insert"
    return tool.kind != "patch" and not is_part and not tool.text(OLD_TEXT_KEYS) and bool(tool.text(WHOLE_KEYS))


def lines_of_deed(deed: NarratedAction) -> tuple[list[str], list[str]]:
    """The lines that edits of an action took out and put in; those that it only moved are neither."""
    pairs = [changed_lines(parse_call(call)) for call in deed.step.calls[:8]]
    return [line for gone, _ in pairs for line in gone], [line for _, new in pairs for line in new]


WHOLE_KEYS = ("content", "file_text", "contents", "text")


def changed_lines(tool: ParsedCall) -> tuple[list[str], list[str]]:
    """The lines that one call took out and put in, without blanks around them."""
    if tool.kind == "patch":
        text = tool.text(("input", "patch", "diff", "patchtext", "patch_text", "content", "command", "cmd")) or ""
        lines = text[:MOST_TEXT].split("\n")
        gone = [line[1:].strip() for line in lines if line.startswith("-") and not line.startswith("---")]
        new = [line[1:].strip() for line in lines if line.startswith("+") and not line.startswith("+++")]
    else:
        old = tool.text(OLD_TEXT_KEYS)
        put = tool.text(NEW_TEXT_KEYS) if old else tool.text(WHOLE_KEYS)
        gone = [line.strip() for line in (old or "")[:MOST_TEXT].split("\n")]
        new = [line.strip() for line in (put or "")[:MOST_TEXT].split("\n")]
    both = {*gone} & {*new}
    return [line for line in gone if line and line not in both], [line for line in new if line and line not in both]
