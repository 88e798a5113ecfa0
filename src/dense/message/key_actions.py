"""The actions that made the final products: a report quotes them whole, in their original bytes. Superseded versions of
a file are not quoted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from dense.analysis.actions.action import Actions
from dense.analysis.actions.blocks import Block, command_of
from dense.analysis.actions.effects import Effects
from dense.analysis.actions.transcript import TranscriptAction
from dense.analysis.evidence.facts.paths import base_name, same_file
from dense.message.lines import QuotedAction
from dense.message.page import Item, byte_size, one_line
from dense.message.quotes import quote_whole
from dense.trajectory import ToolCall
from dense.tree import Product, ReconciledTree, Subtask, leaves, open_issues

DIFF = "diff --git "
DIFF_FILE = re.compile(r"^diff --git a/\S+ b/(\S+)", re.MULTILINE)
HEREDOC_FILE = re.compile(r"\b(?:cat|tee)\b[^\n|;&]*<<|<<[^\n]*>\s*\S")
"""A shell text that writes a whole file; a program behind `<<` may edit one."""
PATCH = re.compile(r"^(?:\*\*\* Update File|diff --git |@@ )", re.MULTILINE)
OLD_TEXT_KEYS, NEW_TEXT_KEYS = ("old_string", "old_str", "search"), ("new_string", "new_str", "replace")
WHOLE_TEXT_KEYS = frozenset({"content", "file_text", "contents", "new_content"})


class KeyAction(Struct, frozen=True, dict=True):
    """An action that is worth quoting."""

    action: int
    blocks: tuple[Block, ...]
    """What of it is quoted."""
    purpose: str = ""
    """What it is to the product: `final`, `for`."""
    path: str = ""
    """The product that it made or helped to make."""

    @cached_property
    def size(self) -> int:
        """Bytes of what would be quoted at most."""
        return sum([byte_size(block.text) for block in self.blocks])

    @property
    def reason(self) -> str:
        """Why it is quoted: `final /app/x.py`."""
        return f"{self.purpose} {self.path}".strip()


class _Attempt:
    """The actions by number, and what each did to files."""

    def __init__(self, root: Subtask, actions: Actions) -> None:
        self.leaves = {leaf.action: leaf for leaf in leaves(root)}
        self.number = {leaf.id: leaf.action for leaf in self.leaves.values()}
        self._holders = {
            number: action for action in actions.transcript for number in range(action.first, action.last + 1)
        }
        self._actions = actions
        self._writes = {number: paths for number in sorted(self.leaves) if (paths := self.effects(number).writes)}
        """The actions that write, in order, each with the files."""

    def holder(self, number: int) -> TranscriptAction | None:
        return self._holders.get(number)

    def numbers(self, names: Iterable[str]) -> list[int]:
        return [self.number[name] for name in names if name in self.number]

    def effects(self, number: int) -> Effects:
        return self._actions.effects(number) if number in self.leaves else Effects()

    def versions(self, path: str, until: int) -> list[int]:
        """The actions that made the version of a file that is there after `until`: the last that wrote all of it, and
        those that edited it since, except edits that later ones replaced."""
        writers = [
            number
            for number, paths in self._writes.items()
            if number <= until and any(same_file(path, written) for written in paths) and not self._was_refused(number)
        ]
        found: list[int] = []
        removed: set[str] = set()
        for number in reversed(writers):
            edits = [edit for call in self.leaves[number].step.calls for edit in _edits(call)]
            added = {line for edit in edits for line in edit.added}
            if not added or not added <= removed:
                found.append(number)
            if self._writes_whole(number):
                break
            removed |= {line for edit in edits for line in edit.removed}
        return found[::-1]

    def overwritten(self) -> set[int]:
        """The actions that wrote a whole file which a later action wrote again."""
        written: dict[str, int] = {}
        old: set[int] = set()
        for number, paths in self._writes.items():
            if len(paths) == 1 and self._writes_whole(number) and not self._was_refused(number):
                if (before := written.get(paths[0])) is not None:
                    old.add(before)
                written[paths[0]] = number
        return old

    def diff_of(self, path: str, after: int) -> KeyAction | None:
        """The last action that shows a whole change of a file as a diff once it was made: better than its edits."""
        for number, holder, files in self._diffs:
            if number > after and any(same_file(path, one) for one in files):
                return KeyAction(action=number, blocks=_written_blocks(holder))
        return None

    @cached_property
    def _diffs(self) -> list[tuple[int, TranscriptAction, set[str]]]:
        """The actions that show changes as a diff, the last one first, each with the files."""
        found: list[tuple[int, TranscriptAction, set[str]]] = []
        for number in filter(self._shows_changes, sorted(self.leaves, reverse=True)):
            holder = self._holders.get(number)
            shown = [block.text for block in holder.blocks if block.kind == "output"] if holder else []
            files = {match[1] for text in shown if DIFF in text for match in DIFF_FILE.finditer(text)}
            if holder is not None and files:
                found.append((number, holder, files))
        return found

    def _shows_changes(self, number: int) -> bool:
        """Whether an action prints what was changed in the repository, or hands it in."""
        step = self.leaves[number].step
        commands = [command_of(call) or call.name for call in step.calls]
        if not any("git diff" in text or "submit" in text.lower() for text in commands):
            return False
        return bool(step.subagents) or any("diff" in seen.text for seen in step.observations)  # as it came, not cleaned

    def _was_refused(self, number: int) -> bool:
        """Whether an edit by a tool failed, so that nothing was written; a shell may fail after it wrote."""
        step = self.leaves[number].step
        return not any(map(command_of, step.calls)) and self._actions.numbered(number).result.has_failed

    def _writes_whole(self, number: int) -> bool:
        """Whether an action writes a whole file rather than edit it: its call holds the text, and no old text."""
        calls = self.leaves[number].step.calls
        if any(_edits(call) for call in calls):
            return False
        if any(WHOLE_TEXT_KEYS & call.arguments.keys() for call in calls):
            return True
        text = "\n".join(map(command_of, calls))
        return HEREDOC_FILE.search(text) is not None and "sed -i" not in text


class _Edit(Struct, frozen=True):
    """Lines that a call takes out of a file, and lines that it puts there."""

    removed: tuple[str, ...]
    added: tuple[str, ...]


def _edits(call: ToolCall) -> list[_Edit]:
    texts = {key: value for key, value in call.arguments.items() if isinstance(value, str)}
    old = next((texts[key] for key in OLD_TEXT_KEYS if key in texts), None)
    if old is not None:
        new = next((texts[key] for key in NEW_TEXT_KEYS if key in texts), "")
        return [_Edit(_filled_lines(old.split("\n")), _filled_lines(new.split("\n")))]
    return [_patch_edit(text) for text in texts.values() if PATCH.search(text)]


def _patch_edit(text: str) -> _Edit:
    lines = [line for line in text.split("\n") if not line.startswith(("+++", "---"))]
    removed, added = ([line[1:] for line in lines if line.startswith(sign)] for sign in "-+")
    return _Edit(_filled_lines(removed), _filled_lines(added))


def _filled_lines(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple([line.strip() for line in lines if line.strip()])


def overwritten_actions(tree: ReconciledTree, actions: Actions) -> set[int]:
    """The actions that wrote a version of a file that a later one replaced whole."""
    return _Attempt(tree.root, actions).overwritten()


def final_actions(tree: ReconciledTree, actions: Actions) -> list[KeyAction]:
    """The actions that made the final products, each once: of those that the task names, if it names any, and of those
    that a fatal issue calls wrong, which come last."""
    attempt = _Attempt(tree.root, actions)
    fatal = [issue for issue in open_issues(tree) if issue.severity == "fatal"]
    wrong = {number for issue in fatal for number in attempt.numbers(issue.evidence)}
    task = tree.task.instruction if tree.task else ""
    asked = [product for product in tree.products if base_name(product.path) in task] or list(tree.products)
    right = [product for product in asked if product.action not in wrong]
    by_action: dict[int, KeyAction] = {}
    for product in (*right, *(product for product in tree.products if product.action in wrong)):
        word = "handed in, wrong:" if product.action in wrong else "final"
        for key in _versions(product, word, attempt):
            holder = attempt.holder(key.action)
            if holder is not None and key.blocks:
                by_action.setdefault(holder.last, key)
    return list(by_action.values())


def _versions(product: Product, word: str, attempt: _Attempt) -> Iterator[KeyAction]:
    """The diff that shows a product whole, or the actions that made its final version, the last one first."""
    path = one_line(product.path)
    if handed := attempt.diff_of(product.path, after=product.action):
        yield replace(handed, purpose=word, path=path)
        return
    scripts = attempt.effects(product.action).scripts
    makers = [number for script in scripts for number in attempt.versions(script, product.action)]
    makers += attempt.versions(product.path, product.action)
    for number in sorted({*makers, product.action}, reverse=True):
        holder = attempt.holder(number)
        if holder is not None and not holder.is_message:
            purpose = word if number == product.action else "for"
            yield KeyAction(action=number, blocks=_written_blocks(holder), purpose=purpose, path=path)


def _joined(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks; commands in a row as one text."""
    last: Block | None = None
    for block in blocks:
        if last is not None and last.kind == block.kind == "call" and last.head == block.head == "$":
            last = replace(last, text=f"{last.text}\n{block.text}")
            continue
        if last is not None:
            yield last
        last = block
    if last is not None:
        yield last


def _written_blocks(action: TranscriptAction) -> tuple[Block, ...]:
    """What of an action is quoted: what was written, or the diff that was handed in."""
    is_written = any(block.kind != "output" for block in action.blocks)
    shown = [block for block in action.blocks if block.kind != "output" or DIFF in block.text or not is_written]
    return tuple(_joined(shown))


def quote_action(key: KeyAction, room: int) -> Item | None:
    """The action's bytes, whole; None if they do not fit in so many bytes, or if there are none."""
    text = f"a{key.action}{', ' + key.reason if key.reason else ''}"
    quotes = [quote for block in key.blocks for quote in quote_whole(block)]
    item = QuotedAction(kind="key-action", value=0, label="key-action ", text=text, quotes=tuple(quotes), path=key.path)
    return item if quotes and item.size <= room else None
