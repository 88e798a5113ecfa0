"""The dense source tree as a report: summaries and labels, without shortcuts, verdicts and issues.

Where all of it is too long, facets and labels go first, those of the deepest tasks before others; then quoted actions;
then whole tasks, again the deepest first, and a note takes their place. In hardly any room only the summaries of
the root's parts are left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from dense.deliver import markup, selection
from dense.deliver.delivery import Fit
from dense.deliver.fit import CUT
from dense.deliver.markup import MARKER_GUIDE, MarkupBlock
from dense.deliver.selection import NUMBER_WIDTH
from dense.evidence.actions import EffectsOf
from dense.methods.truncation import keep_ends
from dense.tree import NONE, Facets, Leaf, ReconciledTree, SourceTree, Subtask, leaves

GUIDE = (
    """\
How to read it:
- The attempt as nested `task`s in order, each with its `summary` and what a rerun can use of it. Nobody has drawn them
  together: whether something that is open in one was settled in a later one is for you to see.
- `labels` tells of each action how it was judged within its part: 0 helped, -1 did not help, -2 harmed. They are hints.
- A `key-action` quotes an action and what came back, word for word, and `role` tells why it was picked. What is marked
  `omitted` was too long to quote.
- n1 and a2 are names within the report. A name without a block of its own was left out for length.
"""
    + MARKER_GUIDE
)
MAX_SUMMARY_SHARE = 4
"""A summary may take one in so many parts of the room before it is cut."""
MIN_TEXT_BYTES = 24
"""Fewer bytes of a text are not worth their tags."""
MAX_ID_BYTES = 24
"""Longer identifiers are left out of a compact report."""

_EMPTY = markup.text("summary", "")


class _Piece(Struct, frozen=True):
    """A block of a task that the report can do without."""

    name: str
    task: str
    """The task that it belongs to, by identifier."""
    key: str
    """Its place: a facet's name and the task, or the first action that it is about."""
    block: MarkupBlock
    depth: int
    leaves: tuple[Leaf, ...] = ()
    """The actions whose labels it shows."""

    @property
    def size(self) -> int:
        """Its bytes."""
        return markup.size(self.block, self.depth, NUMBER_WIDTH)


class _Layout(Struct, frozen=True):
    """What of the tree is shown."""

    blocks: Mapping[str, MarkupBlock]
    """By the keys of the pieces."""
    tasks: Collection[str] | None = None
    """The tasks that are shown, by identifier; None is all."""
    longest: int | None = None
    """Bytes of a summary before it is cut."""

    def has(self, node: Subtask) -> bool:
        return self.tasks is None or node.id in self.tasks


def source_report(tree: SourceTree, *, effects: EffectsOf, redacted: str = "") -> Fit:
    """The report on a source tree."""
    bare = ReconciledTree(tree.trajectory, tree.task, tree.root, (), redacted)

    def fit(room: int) -> tuple[MarkupBlock, tuple[str, ...]]:
        said = list(_said(tree.root, 2))
        blocks = {piece.key: piece.block for piece in said}
        structure = markup.size(_report(bare, _Layout(blocks)), 0, NUMBER_WIDTH)
        skeleton = markup.size(_report(bare, _Layout({}, longest=room // MAX_SUMMARY_SHARE)), 0, NUMBER_WIDTH)
        # Where the structure alone takes too much, facets and labels make room: plan with half, as long as it is there.
        free = min(max(room - structure, room // 2), room - skeleton)
        chosen = selection.select(bare, effects=effects, room=free) if free > 0 else selection.EvidenceSelection(())
        report = _report(bare, _Layout(blocks | {_quoted(name): block for name, block in chosen.blocks.items()}))
        if markup.size(report) <= room:
            return report, chosen.left_out
        report, dropped = _shortened(bare, said, chosen, room, is_whole=skeleton <= room)
        return report, (*chosen.left_out, *dropped)

    return fit


def _shortened(
    tree: ReconciledTree, said: Sequence[_Piece], chosen: selection.EvidenceSelection, room: int, *, is_whole: bool
) -> tuple[MarkupBlock, tuple[str, ...]]:
    """The tasks that there is room for, then what fits of the pieces in the order of their weight."""
    tasks = None if is_whole else _fitting(tree.root, room)
    layout = _Layout({}, tasks, room // MAX_SUMMARY_SHARE)
    if not is_whole and not _shows_parts(tree.root, layout):
        return _compact(tree.root, room), ("all but the summaries of the root's parts",)
    left = room - markup.size(_report(tree, layout), 0, NUMBER_WIDTH)
    weighed = [*_quotes(tree.root, chosen), *sorted(said, key=lambda piece: (piece.depth, piece.name == "labels"))]
    blocks: dict[str, MarkupBlock] = {}
    gone: list[_Piece] = []
    for piece in weighed:
        if tasks is not None and piece.task not in tasks:
            continue
        fitting = piece.block if piece.size <= left else _fewer_labels(piece, left)
        if fitting is not None:
            blocks[piece.key] = fitting
            left -= markup.size(fitting, piece.depth, NUMBER_WIDTH)
        if fitting is not piece.block:
            gone.append(piece)
    report = _report(tree, _Layout(blocks, tasks, room // MAX_SUMMARY_SHARE))
    if markup.size(report) > room:  # only if there are more blocks than sizes are planned for
        return _compact(tree.root, room), ("all but the summaries of the root's parts",)
    return report, tuple(_describe(gone, report))


def _describe(gone: Sequence[_Piece], report: MarkupBlock) -> Iterator[str]:
    """What was left out, in words."""
    others = Counter(piece.name for piece in gone if piece.name != "key-action")
    yield from (f"{name}: {count} left out or shortened" for name, count in others.items())
    yield from (f"key-action {piece.block.attributes['action']}" for piece in gone if piece.name == "key-action")
    yield from (str(block.content) for block, _ in markup.walk(report) if block.name == "left-out")


def _said(node: Subtask, depth: int) -> Iterator[_Piece]:
    """Facets and labels of a task and of all below it; `depth` is that of its blocks."""
    for name in Facets.__struct_fields__:
        hyphened = name.replace("_", "-")
        for block in _text(hyphened, getattr(node.facets, name)):
            yield _Piece(hyphened, node.id, f"{hyphened} {node.id}", block, depth)
    for own, parts in _stretches(node):
        judged = tuple([leaf for leaf in own if leaf.label is not None])
        if judged:
            yield _Piece("labels", node.id, f"labels {own[0].id}", _labels(judged), depth, judged)
        for part in parts:
            yield from _said(part, depth + 1)


def _quotes(root: Subtask, chosen: selection.EvidenceSelection) -> list[_Piece]:
    """The quoted actions: required ones first, and the latest first, because they show how it ended."""
    places = dict(_places(root, 2))
    order = sorted(chosen.choices, key=lambda choice: (choice.roles[0] in selection.OPTIONAL, -choice.leaf.action))
    return [
        _Piece("key-action", places[one.leaf.id][0], _quoted(one.leaf.id), one.block, places[one.leaf.id][1])
        for one in order
    ]


def _places(node: Subtask, depth: int) -> Iterator[tuple[str, tuple[str, int]]]:
    """Each action's task and depth."""
    for own, parts in _stretches(node):
        yield from ((leaf.id, (node.id, depth)) for leaf in own)
        for part in parts:
            yield from _places(part, depth + 1)


def _fitting(root: Subtask, room: int) -> frozenset[str]:
    """The tasks that there is room for: level by level; of one that is too long, its beginning and its end."""
    note = markup.text("left-out", _note(_span(root)[1], _span(root)[1], 99_999))
    reserved = markup.size(note, 2, NUMBER_WIDTH)
    left = room - _frame("report", 0, None) - _frame("task", 1, root, room // MAX_SUMMARY_SHARE) - reserved
    shown, level, depth = {root.id}, _parts_of(root), 2
    while level:
        # Each makes room for the note that its own parts would leave, which is free again once they are all shown.
        notes = [markup.size(note, depth + 1, NUMBER_WIDTH) if _parts_of(one) else 0 for one in level]
        sizes = [
            _frame("task", depth, one, room // MAX_SUMMARY_SHARE) + size for one, size in zip(level, notes, strict=True)
        ]
        some = keep_ends(sizes, left)
        first, last = some.of(level)
        if not some.is_whole and sum(sizes[: some.head]) + sum(sizes[some.tail :]) > left:
            last = ()
        shown |= {one.id for one in (*first, *last)}
        if not some.is_whole:
            break
        left, reserved = left + reserved - sum(sizes), sum(notes)
        level, depth = [part for one in level for part in _parts_of(one)], depth + 1
    return frozenset(shown)


def _frame(name: str, depth: int, node: Subtask | None, longest: int = 0) -> int:
    """Bytes of a block's tags, and of a task's summary."""
    if node is None:
        block = markup.group(name, [_EMPTY])
        return markup.size(block, depth, NUMBER_WIDTH) - markup.size(_EMPTY, depth + 1, NUMBER_WIDTH)
    summary = list(_text("summary", node.summary, longest))
    block = _tagged(node, summary or [_EMPTY])
    return markup.size(block, depth, NUMBER_WIDTH) - (0 if summary else markup.size(_EMPTY, depth + 1, NUMBER_WIDTH))


def _shows_parts(root: Subtask, layout: _Layout) -> bool:
    """Whether a look at the parts is left: one of many says less than a line on each of several."""
    parts = _parts_of(root)
    return sum(layout.has(part) for part in parts) >= min(2, len(parts))


def _compact(root: Subtask, room: int) -> MarkupBlock:
    """The summaries of the root and its parts as far as they fit; without any, labels."""
    summaries = [(None, root.summary), *((part.id, part.summary) for part in _parts_of(root))]
    texts = [_summary(name, text) for name, text in summaries if _is_said(text)]

    def record(blocks: Sequence[MarkupBlock], hidden: int) -> MarkupBlock:
        task = markup.group("task", blocks, id=_short(root.id), left_out=f"{hidden} parts" if hidden else None)
        return markup.group("report", [task])

    left = room - markup.size(record([_EMPTY], len(texts)), 0, NUMBER_WIDTH) + markup.size(_EMPTY, 2, NUMBER_WIDTH)
    shown: list[MarkupBlock] = []
    for block in texts:
        fitting = block if markup.size(block, 2, NUMBER_WIDTH) <= left else _cut(block, left)
        if fitting is None:
            break
        shown.append(fitting)
        left -= markup.size(fitting, 2, NUMBER_WIDTH)
        if fitting is not block:
            break
    if not texts:
        labels = (piece for piece in _said(root, 2) if piece.name == "labels")
        shown += [block for piece in labels if (block := _fewer_labels(piece, left)) is not None][:1]
    return record(shown, len(texts) - len(shown) if texts else 0)


def _summary(name: str | None, text: str) -> MarkupBlock:
    return markup.text("summary", " ".join(text.split()), of=_short(name or ""))


def _short(name: str) -> str | None:
    return name if len(name) <= MAX_ID_BYTES else None


def _cut(block: MarkupBlock, room: int) -> MarkupBlock | None:
    """As much of the block's text as fits, with a mark."""
    empty = markup.with_text(block, CUT)
    left = room - markup.size(empty, 2, NUMBER_WIDTH)
    if left < MIN_TEXT_BYTES or not isinstance(block.content, str):
        return None
    return markup.with_text(block, _clipped(block.content, left))


def _clipped(text: str, room: int) -> str:
    data = text.encode("utf-8", "replace")
    return text if len(data) <= room else data[:room].decode("utf-8", "ignore") + CUT


def _report(tree: ReconciledTree, layout: _Layout) -> MarkupBlock:
    return markup.group("report", [_task(tree.root, layout)], redacted=tree.redacted or None)


def _task(node: Subtask, layout: _Layout) -> MarkupBlock:
    keys = [f"{name.replace('_', '-')} {node.id}" for name in Facets.__struct_fields__]
    blocks = [*_text("summary", node.summary, layout.longest)]
    blocks += [layout.blocks[key] for key in keys if key in layout.blocks]
    return _tagged(node, [*blocks, *_inside(node, layout)])


def _tagged(node: Subtask, blocks: Sequence[MarkupBlock]) -> MarkupBlock:
    first, last = _span(node)
    return markup.group("task", blocks, id=node.id, title=node.title, actions=f"a{first}-a{last}" if first else None)


def _span(node: Subtask) -> tuple[int, int]:
    """The numbers of the first and the last action below a task; zeros if there is none."""
    numbers = [leaf.action for leaf in leaves(node)]
    return (numbers[0], numbers[-1]) if numbers else (0, 0)


def _inside(node: Subtask, layout: _Layout) -> Iterator[MarkupBlock]:
    """The children in order: labels of neighbouring actions together, then those of them that are quoted."""
    missing = [part for part in _parts_of(node) if not layout.has(part)]
    for own, parts in _stretches(node):
        keys = [f"labels {own[0].id}", *(_quoted(leaf.id) for leaf in own)] if own else []
        yield from (layout.blocks[key] for key in keys if key in layout.blocks)
        for part in parts:
            if layout.has(part):
                yield _task(part, layout)
            elif part is missing[0]:
                yield markup.text("left-out", _note(_span(part)[0], _span(missing[-1])[1], len(missing)))


def _note(first: int, last: int, count: int) -> str:
    return f"a{first} to a{last} left out here for length: {count} {'part' if count == 1 else 'parts'}"


def _stretches(node: Subtask) -> Iterator[tuple[list[Leaf], list[Subtask]]]:
    """The children in order, actions and tasks apart."""
    for _, group in groupby(node.children, key=lambda child: isinstance(child, Leaf)):
        children = list(group)
        yield (
            [child for child in children if isinstance(child, Leaf)],
            [child for child in children if isinstance(child, Subtask)],
        )


def _parts_of(node: Subtask) -> list[Subtask]:
    return [child for child in node.children if isinstance(child, Subtask)]


def _quoted(identifier: str) -> str:
    return f"key-action {identifier}"


def _labels(judged: Sequence[Leaf], hidden: int = 0) -> MarkupBlock:
    lines = [_line(leaf) for leaf in judged]
    return markup.text("labels", "\n".join(lines), left_out=str(hidden) if hidden else None)


def _line(leaf: Leaf) -> str:
    return f"a{leaf.action} {leaf.label}: {' '.join(leaf.reason.split())}"


def _fewer_labels(piece: _Piece, room: int) -> MarkupBlock | None:
    """The worst labels that fit, of equals the latest; None for what are no labels, or where none fits."""
    left = (
        room - markup.size(_labels((), len(piece.leaves)), piece.depth, NUMBER_WIDTH) - markup.INDENT * piece.depth - 2
    )
    if left < MIN_TEXT_BYTES or not piece.leaves:
        return None
    shown: list[Leaf] = []
    for leaf in sorted(piece.leaves, key=lambda leaf: (leaf.label or 0, -leaf.action)):
        left -= markup.byte_size(_line(leaf)) + 1
        if left < 0:
            break
        shown.append(leaf)
    shown.sort(key=lambda leaf: leaf.action)
    return _labels(shown, len(piece.leaves) - len(shown)) if shown else None


def _is_said(content: str) -> bool:
    return content.strip().rstrip(".").casefold() not in {"", NONE}


def _text(name: str, content: str, longest: int | None = None) -> Iterator[MarkupBlock]:
    if _is_said(content):
        content = content.strip()
        yield markup.text(name, content if longest is None else _clipped(content, longest))
