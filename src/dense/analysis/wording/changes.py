"""Changes in a few words: the text that was replaced, or what the agent says that the change is for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dense.analysis.actions.calls import ParsedCall, parse_call
from dense.analysis.evidence.facts.paths import base_name, same_file
from dense.analysis.wording.actions import NarratedAction
from dense.analysis.wording.commands import IN_PLACE, MAX_EDIT_CHARS, SUBSTITUTION
from dense.analysis.wording.messages import intent
from dense.analysis.wording.phrases import paths_text
from dense.analysis.wording.tools import TextChange, text_change
from dense.knowledge.tools import NEW_TEXT_KEYS, OLD_TEXT_KEYS, PATCH_KEYS
from dense.text.quoting import in_quotes

MAX_CHANGE_CHARS = 80
MAX_EDIT_TEXT_CHARS = 20_000
MAX_INTENT_CHARS = 90
COMMAND_END = re.compile(r"[;&|\n]")
WHOLE_FILE_KEYS = ("content", "file_text", "contents", "text")


def small_changes(action: NarratedAction) -> Iterator[TextChange]:
    """The short replacements of an action."""
    last = next(iter(action.facts.effects.writes[-1:]), "")
    for text in action.facts.commands:
        found = SUBSTITUTION.search(text[:MAX_EDIT_CHARS]) if IN_PLACE.search(text[:MAX_EDIT_CHARS]) else None
        if found is not None and max(len(found[2]), len(found[3])) <= MAX_CHANGE_CHARS:
            old, new = (piece.replace(f"\\{found[1]}", found[1]) for piece in (found[2], found[3]))
            rest = COMMAND_END.split(text[found.end() : MAX_EDIT_CHARS])[0]
            edited = [path for path in action.facts.effects.writes if base_name(path) in rest]
            yield TextChange(old, new, next(iter(edited), last))
    if not action.facts.commands and action.facts.effects.writes:
        for call in action.step.calls[:4]:
            if change := text_change(parse_call(call), 70, last) or _patched_line(parse_call(call), last):
                yield change


def _patched_line(tool: ParsedCall, path: str = "") -> TextChange | None:
    """The replacement of a patch that changes one line."""
    removed, added = _changed_lines(tool) if tool.kind == "patch" else ([], [])
    if len(removed) != 1 or len(added) != 1 or max(len(removed[0]), len(added[0])) > MAX_CHANGE_CHARS:
        return None
    return TextChange(removed[0], added[0], path)


def describe_change(action: NarratedAction, text: str) -> str:
    """A change, with what it is if its `text` does not say that: its one line, or the agent's own words for it."""
    if action.phase == "run":
        writes, commands = action.facts.effects.writes, action.facts.commands
        is_named = any(base_name(path) in command for path in writes for command in commands)
        return f"{text} (changes {paths_text(writes)})" if action.is_change and not is_named else text
    if not action.is_silent or action.has_detail:
        return text
    if len(action.step.calls) == 1 and (line := _patched_line(parse_call(action.step.calls[0]))):
        return f"{text} ({line.text})"
    words = intent(action.step.message, MAX_INTENT_CHARS)
    return f"{text} ({in_quotes(words, MAX_INTENT_CHARS)})" if words else text


def remaining_changes(changes: Sequence[NarratedAction]) -> list[NarratedAction]:
    """The changes that no later one replaced, by writing the whole file anew or by removing all that was added."""
    kept: list[NarratedAction] = []
    rewritten: list[str] = []
    gone: set[str] = set()
    for action in reversed(changes):
        pairs = (
            [_changed_lines(parse_call(call)) for call in action.step.calls[:8]] if not action.facts.commands else []
        )
        added = [line for _, lines in pairs for line in lines]
        writes = action.facts.effects.writes
        is_rewritten = bool(writes) and all(any(same_file(path, other) for other in rewritten) for path in writes)
        if not is_rewritten and not (added and gone.issuperset(added)):
            kept.append(action)
        gone.update(line for lines, _ in pairs for line in lines)
        if _writes_whole_file(action):
            rewritten += writes
    return kept[::-1]


def _writes_whole_file(action: NarratedAction) -> bool:
    if action.facts.commands or len(action.step.calls) != 1:
        return False
    tool = parse_call(action.step.calls[0])
    is_part = any(word in tool.plain for word in ("insert", "append")) or tool.text(("command",)) == "insert"
    is_patch = tool.kind == "patch"
    return not is_patch and not is_part and not tool.text(OLD_TEXT_KEYS) and bool(tool.text(WHOLE_FILE_KEYS))


def _changed_lines(tool: ParsedCall) -> tuple[list[str], list[str]]:
    """The lines that one call removed and added; those that it only moved are neither."""
    if tool.kind == "patch":
        lines = (tool.text(PATCH_KEYS) or "")[:MAX_EDIT_TEXT_CHARS].split("\n")
        removed = [line[1:].strip() for line in lines if line.startswith("-") and not line.startswith("---")]
        added = [line[1:].strip() for line in lines if line.startswith("+") and not line.startswith("+++")]
    else:
        old = tool.text(OLD_TEXT_KEYS) or ""
        new = tool.text(NEW_TEXT_KEYS if old else WHOLE_FILE_KEYS) or ""
        removed, added = ([line.strip() for line in text[:MAX_EDIT_TEXT_CHARS].split("\n")] for text in (old, new))
    both = {"", *({*removed} & {*added})}
    return [line for line in removed if line not in both], [line for line in added if line not in both]
