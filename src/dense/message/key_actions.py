"""Which actions a report quotes, in which order of worth, and how much of each.

Calls are quoted in their original bytes, outputs by whole lines. Superseded versions of a file, repeated checks,
messages and read-backs of what is quoted are not quoted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from dense.analysis.actions.action import Actions
from dense.analysis.actions.blocks import Block, command_of
from dense.analysis.actions.effects import Effects
from dense.analysis.actions.transcript import TranscriptAction
from dense.analysis.evidence.facts.paths import base_name, same_file
from dense.message.lines import QuotedAction
from dense.message.page import Item, byte_size, one_line
from dense.message.quotes import QuoteBlock, Quotes, quote_block, quote_whole, quotes_size
from dense.text.search import holds_quote
from dense.trajectory import ToolCall
from dense.tree import Leaf, Node, ReconciledTree, Subtask, leaves, nodes, open_issues

type KeyRole = Literal["final", "shows", "wrong", "checks", "needed"]

ROLES: tuple[KeyRole, ...] = ("final", "shows", "wrong", "checks", "needed")
"""The most useful first."""
MAX_OUTPUT_BYTES = 900
"""Of an output that only backs something: its telling lines."""
MAX_SHOWN_BYTES = 400
"""Of an output that shows an open issue, whose decisive line stands with the issue: the lines around it; and of a
check, whose result counts."""
MAX_CALL_BYTES = 1_600
"""Of a call that is no product."""
MIN_CALL_SHARE = 0.2
"""A smaller part of a call is not worth quoting."""
READ_BACK_SHARE = 0.5
"""An output of whose lines a larger part was written by the attempt itself reads back what it wrote."""
MAKE_FOLDER = re.compile(r"(?:cd \S+ && )?mkdir [^;&|\n]+")
DIFF = "diff --git "
DIFF_FILE = re.compile(r"^diff --git a/\S+ b/(\S+)", re.MULTILINE)
PATCH = re.compile(r"^(?:\*\*\* Update File|diff --git |@@ )", re.MULTILINE)
OLD_TEXT_KEYS, NEW_TEXT_KEYS = ("old_string", "old_str", "search"), ("new_string", "new_str", "replace")
WHOLE_TEXT_KEYS = frozenset({"content", "file_text", "contents", "new_content"})


HEAD_BYTES = Item("key-action", 0, "key-action ", "", (("", ""),)).size - quotes_size([("", "")])
"""What the first and the last line of a quoted action take beside its text."""


class KeyAction(Struct, frozen=True, dict=True):
    """An action that is worth quoting."""

    action: int
    role: KeyRole
    blocks: tuple[Block, ...]
    """What of it is quoted."""
    purpose: str = ""
    """What it is to `path` or `issue`, in a word or two: `final`, `for`, `shows`."""
    path: str = ""
    """The product that it made, helped to make or checked."""
    issue: str = ""
    """The open issue that it shows."""
    focus: str = ""
    """A line that must be among what is quoted of its output."""
    is_check: bool = False
    """Whether it ran a check, whose result is all that counts of its output."""

    @cached_property
    def size(self) -> int:
        """Bytes of what would be quoted at most."""
        return sum([byte_size(block.text) for block in self.blocks])

    @property
    def product(self) -> str:
        """The product that it made or helped to make."""
        return "" if self.role == "checks" else self.path

    @property
    def reason(self) -> str:
        """Why it is quoted: `final /app/x.py`, `shows issue_0`; empty if nobody says."""
        return f"{self.purpose} {self.path or self.issue}".strip()


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

    def diff_of(self, path: str, after: int) -> KeyAction | None:
        """The last action that shows a whole change of a file as a diff once it was made: better than its edits."""
        for number, holder, files in self._diffs:
            if number > after and any(same_file(path, one) for one in files):
                blocks = tuple(_joined(_shown_blocks(holder, "final", "")))
                return KeyAction(action=number, role="final", blocks=blocks)
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

    def only_makes_folder(self, number: int) -> bool:
        calls = self.leaves[number].step.calls if number in self.leaves else ()
        commands = [command for call in calls if (command := command_of(call).strip())]
        return bool(commands) and all(MAKE_FOLDER.fullmatch(command) for command in commands)

    def _writes_whole(self, number: int) -> bool:
        """Whether an action writes a whole file rather than edit it: its call holds the text, and no old text."""
        calls = self.leaves[number].step.calls
        if any(_edits(call) for call in calls):
            return False
        if any(WHOLE_TEXT_KEYS & call.arguments.keys() for call in calls):
            return True
        text = "\n".join(map(command_of, calls))
        return "<<" in text and "sed -i" not in text


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


def rank_key_actions(tree: ReconciledTree, actions: Actions) -> list[KeyAction]:
    """The actions to quote, the most useful first, each once: what made the final products, what shows the open issues,
    handed-in products that an issue calls wrong, the checks of products, what the analyst wants kept. Where the task
    names products, what else was made comes last."""
    attempt = _Attempt(tree.root, actions)
    found = [*_products(tree, attempt), *_shows(tree, attempt)]
    for product in tree.products:
        if product.check:
            is_check = bool(attempt.effects(product.check).tests)
            key = _key(product.check, "checks", attempt)
            if key is not None:
                purpose, path = "checks" if is_check else "shows", one_line(product.path)
                key = replace(_without_read_backs(key, found), purpose=purpose, path=path, is_check=is_check)
            found.append(key)
    wanted = [name for node in nodes(tree.root) for name in _wanted(node)]
    numbers = [number for number in attempt.numbers(dict.fromkeys(wanted)) if not attempt.only_makes_folder(number)]
    needed = [_key(number, "needed", attempt) for number in numbers]
    found += [key for key in needed if key and any(block.origin != "system" for block in key.blocks)]
    by_action: dict[int, KeyAction] = {}
    for key in sorted((key for key in found if key is not None), key=lambda key: ROLES.index(key.role)):
        holder = attempt.holder(key.action)
        if holder is not None and key.blocks:
            by_action.setdefault(holder.last, key)
    return list(by_action.values())


def _products(tree: ReconciledTree, attempt: _Attempt) -> list[KeyAction | None]:
    fatal = [issue for issue in open_issues(tree) if issue.severity == "fatal"]
    wrong = {number for issue in fatal for number in attempt.numbers(issue.evidence)}
    found: list[KeyAction | None] = []
    task = tree.task.instruction if tree.task else ""
    asked = [product for product in tree.products if base_name(product.path) in task]
    for product in sorted(tree.products, key=lambda one: one not in asked):
        path = one_line(product.path)
        role: KeyRole = "final" if product in asked or not asked else "needed"
        role = "wrong" if product.action in wrong else role
        word = "handed in, wrong:" if role == "wrong" else "final"
        if handed := attempt.diff_of(product.path, after=product.action):
            found.append(replace(handed, role=role, purpose=word, path=path))
            continue
        scripts = attempt.effects(product.action).scripts
        makers = [number for script in scripts for number in attempt.versions(script, product.action)]
        makers += attempt.versions(product.path, product.action)
        for number in sorted({*makers, product.action}, reverse=True):
            if key := _key(number, role, attempt):
                found.append(replace(key, purpose=word if number == product.action else "for", path=path))
    return found


def _shows(tree: ReconciledTree, attempt: _Attempt) -> list[KeyAction | None]:
    """What shows the open issues. Of a message that the agent was sent, the line with the issue is enough."""
    found: list[KeyAction | None] = []
    for issue in open_issues(tree):
        cited = attempt.numbers(issue.evidence)
        if cited and (issue.quote or issue.severity == "fatal"):
            key = _key(_holding(issue.quote, cited, attempt), "shows", attempt, issue.quote)
            if key and any(block.kind == "call" for block in key.blocks):
                found.append(replace(key, purpose="shows", issue=issue.id))
    return found


def _key(number: int, role: KeyRole, attempt: _Attempt, focus: str = "") -> KeyAction | None:
    holder = attempt.holder(number)
    if holder is None or holder.is_message:
        return None
    blocks = tuple(_joined(_shown_blocks(holder, role, focus)))
    return KeyAction(action=number, role=role, blocks=blocks, focus=focus)


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


def _shown_blocks(action: TranscriptAction, role: KeyRole, focus: str) -> list[Block]:
    """What of an action is quoted: of a final product what was written, or the diff that was handed in; a listing of
    files only if it holds the line that counts."""
    if role in {"final", "wrong"}:
        is_written = any(block.kind != "output" for block in action.blocks)
        return [block for block in action.blocks if block.kind != "output" or DIFF in block.text or not is_written]
    blocks = [block for block in action.blocks if block.kind != "output" or block.text]
    place = next((place for place, one in enumerate(blocks) if holds_quote(one.text, focus)), None)
    if place is not None and blocks[place].kind == "output":
        before = [earlier for earlier in range(place) if blocks[earlier].kind == "output"]
        return blocks[before[-1] + 1 if before else 0 : place + 1]
    return [block for block in blocks if block.kind != "output" or not block.is_listing or role == "checks"]


def _without_read_backs(key: KeyAction, others: Sequence[KeyAction | None]) -> KeyAction:
    """The action without listings of what the attempt wrote itself, as `others` quote it."""
    if not any(block.is_listing for block in key.blocks):
        return key
    written = {line for one in others if one for block in one.blocks for line in block.text.split("\n")}

    def is_read_back(block: Block) -> bool:
        lines = [line for line in block.text.split("\n") if line.strip()]
        return block.is_listing and sum(line in written for line in lines) > READ_BACK_SHARE * len(lines)

    return replace(key, blocks=tuple([block for block in key.blocks if not is_read_back(block)]))


def _wanted(node: Node) -> tuple[str, ...]:
    if isinstance(node, Leaf):
        return ()
    if isinstance(node, Subtask):
        return node.verdict.key_actions if node.verdict is not None else ()
    return node.key_actions


def _holding(quote: str, cited: Sequence[int], attempt: _Attempt) -> int:
    """Of the cited actions the last whose text holds the quote, else the last."""
    for number in reversed(cited):
        holder = attempt.holder(number)
        if holder and any(holds_quote(block.text, quote) for block in holder.blocks):
            return number
    return cited[-1]


def quote_action(key: KeyAction, room: int, quote: QuoteBlock = quote_block, *, may_clip: bool = True) -> Item | None:
    """The action's bytes in at most `room`, or None if not even a part is worth it.

    A call comes whole if there is room, an output by its telling lines. `may_clip=False` quotes the action whole or not
    at all."""
    text = f"a{key.action}{', ' + key.reason if key.reason else ''}"
    left = room - byte_size(text) - HEAD_BYTES
    quotes: Quotes = []
    for block in key.blocks:
        part = quote(block, min(left, _most(key, block)), key.focus) if may_clip else quote_whole(block)
        size = quotes_size(part)
        if block.kind != "output" and len(part) > 1 and size < MIN_CALL_SHARE * byte_size(block.text):
            return None
        is_needed = block.kind != "output" or (block.text and key.role not in {"final", "wrong"})
        if (not part and is_needed) or size > left:
            return None
        quotes += part
        left -= size
    if not quotes:
        return None
    return QuotedAction(kind="key-action", value=0, label="key-action ", text=text, quotes=tuple(quotes), path=key.path)


def _most(key: KeyAction, block: Block) -> int:
    """Bytes of a block that are quoted at most."""
    if key.role == "final":
        return byte_size(block.text) + MAX_CALL_BYTES
    if block.kind == "output":
        return MAX_SHOWN_BYTES if key.focus or key.is_check else MAX_OUTPUT_BYTES
    return MAX_CALL_BYTES
