"""Which actions a report quotes, in which order of worth, and how much of each.

Calls are quoted in their original bytes, outputs by whole lines; each gap is a marker line that says how much is left
out. Superseded versions of a file, repeated checks, messages and read-backs of what is quoted are not quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from dense.deliver.page import Item, byte_size
from dense.text.clip import clip_lines
from dense.transcript import Block, TranscriptAction
from dense.tree import ReconciledTree, leaves, nodes

type KeyRole = Literal["final", "shows", "wrong", "checks", "needed"]

MAX_OUTPUT_BYTES = 900
"""Of an output that only backs something: its telling lines."""
MAX_CALL_BYTES = 1_600
"""Of a call that is no product."""
GAP = re.compile(r"^\[(… [\d,]+ lines?, [\d,]+ characters left out …)\]$", re.MULTILINE)


class KeyAction(Struct, frozen=True):
    """An action that is worth quoting."""

    action: int
    role: KeyRole
    purpose: str
    """Why, in a few words: `final /app/x.py`, `shows issue_0`."""
    focus: str = ""
    """A line that must be among what is quoted of its output."""

    def size(self, actions: Sequence[TranscriptAction]) -> int:
        """Bytes of what would be quoted at most."""
        return sum(byte_size(block.text) for block in _shown_blocks(self, actions))


def rank_key_actions(tree: ReconciledTree, actions: Sequence[TranscriptAction]) -> list[KeyAction]:
    """The actions to quote, the most useful first, each once: final products that are sound, what shows the open
    issues, handed-in products that an issue calls wrong, the checks of products, what the analyst wants kept."""
    number = {leaf.id: leaf.action for leaf in leaves(tree.root)}
    still_open = sorted((issue for issue in tree.issues if issue.resolved_at is None), key=lambda one: not one.is_fatal)
    doubtful = {number[name] for issue in still_open if issue.is_fatal for name in issue.evidence if name in number}
    found: list[KeyAction] = []
    for product in tree.products:
        is_sound = product.action not in doubtful
        role: KeyRole = "final" if is_sound else "wrong"
        found.append(KeyAction(product.action, role, f"{'final' if is_sound else 'handed in, wrong:'} {product.path}"))
    for issue in still_open:
        cited = [number[name] for name in issue.evidence if name in number]
        if cited and (issue.quote or issue.is_fatal):
            shown = _holding(issue.quote, cited, actions)
            found.append(KeyAction(shown, "shows", f"shows {issue.id}", issue.quote))
    found += [KeyAction(one.check, "checks", f"checks {one.path}") for one in tree.products if one.check]
    wanted = [name for node in nodes(tree.root) for name in _wanted(node)]
    found += [KeyAction(number[name], "needed", "") for name in wanted if name in number]
    order: list[KeyRole] = ["final", "shows", "wrong", "checks", "needed"]
    by_action: dict[int, KeyAction] = {}
    for key in sorted(found, key=lambda key: order.index(key.role)):
        holder = _action(key.action, actions)
        if holder is not None and not holder.is_message:
            by_action.setdefault(holder.last, key)
    return list(by_action.values())


def _wanted(node: object) -> tuple[str, ...]:
    verdict = getattr(node, "verdict", None)
    return tuple(getattr(node, "key_actions", ())) + (verdict.key_actions if verdict is not None else ())


def _holding(quote: str, cited: Sequence[int], actions: Sequence[TranscriptAction]) -> int:
    """Of the cited actions the last whose text holds the quote, else the last."""
    wanted = " ".join(quote.split())
    for number in reversed(cited):
        holder = _action(number, actions)
        if wanted and holder and any(wanted in " ".join(block.text.split()) for block in holder.blocks):
            return number
    return cited[-1]


def _action(number: int, actions: Sequence[TranscriptAction]) -> TranscriptAction | None:
    return next((action for action in actions if action.first <= number <= action.last), None)


def quote_action(key: KeyAction, actions: Sequence[TranscriptAction], room: int, marker: str) -> Item | None:
    """The action's bytes between marker lines in at most `room`, or None if not even a part is worth it.

    A final product is quoted whole or not at all; of another action the call comes whole where it is short, and the
    output by its telling lines."""
    blocks = _shown_blocks(key, actions)
    lines: list[str] = []
    structure = 0
    label = f"key-action a{key.action}{': ' + key.purpose if key.purpose else ''}"
    left = room - byte_size(label) - 2 - len(marker) - 5
    for block in blocks:
        head = f"{marker}| {_heading(block)}"
        most = left - byte_size(head) - 1
        text = block.text
        if key.role != "final":
            most = min(most, MAX_OUTPUT_BYTES if block.kind == "output" else MAX_CALL_BYTES)
        if byte_size(text) > most:
            if key.role == "final" and block.kind != "output":
                return None
            text = clip_lines(
                text, max(most - 60, 0), is_listing=block.is_listing or block.kind != "output", focus=key.focus
            )
            text = GAP.sub(rf"{marker}| \1", text)
        if byte_size(text) > most or not text:
            continue
        lines += [head, text]
        structure += (
            byte_size(head) + 1 + sum(len(line) + 1 for line in text.split("\n") if line.startswith(f"{marker}|"))
        )
        left -= byte_size(head) + byte_size(text) + 2
    if not lines:
        return None
    lines.append(f"{marker}| end")
    structure += len(marker) + 6
    return Item("key-action", 0, f"{label}\n", "\n".join(lines), structure)


def _shown_blocks(key: KeyAction, actions: Sequence[TranscriptAction]) -> list[Block]:
    action = _action(key.action, actions)
    if action is None:
        return []
    written = [block for block in action.blocks if block.kind != "output"]
    outputs = [block for block in action.blocks if block.kind == "output" and block.text]
    return written if key.role == "final" and written else [*written, *outputs]


def _heading(block: Block) -> str:
    if block.kind == "output":
        return f"observation{block.head.removeprefix('>')}".rstrip(":")
    if block.kind == "body":
        return f"tool-call argument {block.head.rstrip(':')}"
    return "tool-call" + (f" {block.head}" if block.head not in {"", "$"} else "")


def marker_texts(actions: Sequence[TranscriptAction]) -> Iterator[str]:
    """Everything that a report may quote."""
    for action in actions:
        yield action.says
        for block in action.blocks:
            yield block.text
