"""The report: nested blocks, short where the attempt was done, open where something is left.

The root says what was reached, what is still open and what was learned; its parts follow in their order. A complete
subtask folds to its summary and its selected actions; all others show their parts. An issue's words stand once, at the
root, where the recipient looks first; the part that raised it names it. Labels and their reasons have no place here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from dense.deliver import markup
from dense.deliver.layout import Layout
from dense.deliver.markup import Block
from dense.tree import (
    NONE,
    Facets,
    Issue,
    Leaf,
    Node,
    ReconciledTree,
    Shortcut,
    State,
    Subtask,
    nodes,
)

SCOPE = "trajectory_local"
"""How far a state reaches: it is what the trajectory shows, and no verifier's word."""

Detail = Literal["full", "condensed", "folded"]
"""`condensed`: of succeeded shortcuts only the actions are shown, their lessons stand at the root. `folded`: so it is
with all parts of the root."""

_ALL_FACETS = {name: name.replace("_", "-") for name in Facets.__struct_fields__}
"""Facets and their tags."""
_COMPLETE_FACETS = {name: _ALL_FACETS[name] for name in ("artifacts", "key_values", "critical_order")}


class Renderer:
    """Renders one tree, as often as it takes to find out what there is room for: what does not depend on the actions
    that are shown is made once."""

    def __init__(self, tree: ReconciledTree) -> None:
        self.tree, self.layout = tree, Layout(tree.root)
        self._raised = _raised(tree, self.layout)
        self._open_words = frozenset([_words(issue.text) for issue in tree.issues if issue.resolved_at is None])
        self._root: Block | None = None
        self._heads: dict[tuple[int, bool, bool], Block] = {}
        """Nodes with their own words, without their parts. By the node's identity, which is its own as long as the tree
        is held; then by how much of it is shown."""

    def report(self, actions: Mapping[str, Block], detail: Detail = "full") -> Block:
        """The whole report, with these actions by their leaf."""
        view = View(self.layout, actions, detail, self._raised, self._open_words, self._heads)
        if self._root is None:
            self._root = _root(self.tree, view)
        whole = markup.extended(self._root, _parts(self.tree.root.children, view))
        return markup.group("report", [whole], redacted=self.tree.redacted or None)


class View(Struct, frozen=True):
    """What the parts of one rendering share."""

    layout: Layout
    actions: Mapping[str, Block]
    """The actions to show, by their leaf."""
    detail: Detail
    raised: Mapping[str, tuple[Issue, ...]]
    """The issues that each node raised."""
    open_words: frozenset[str]
    """The words of the issues that are still open."""
    heads: dict[tuple[int, bool, bool], Block]
    """What nodes say whatever is shown below them, as far as it was made before."""

    def head(self, node: Subtask | Shortcut, is_short: bool) -> Block:
        """A node with its own words, made at the first time."""
        key = (id(node), is_short, self.detail == "folded")
        found = self.heads.get(key)
        if found is None:
            found = _task(node, is_short, self) if isinstance(node, Subtask) else _shortcut(node, is_short, self)
            self.heads[key] = found
        return found


def state_of(node: Subtask) -> State:
    """A subtask that nobody reconciled is unknown."""
    return node.verdict.state if node.verdict else "unknown"


def open_issues(tree: ReconciledTree) -> Iterator[Block]:
    """What is left to do, fatal things first. Issues of the same words are one."""
    same: dict[str, list[Issue]] = {}
    for issue in tree.issues:
        if issue.resolved_at is None:
            same.setdefault(_words(issue.text), []).append(issue)
    for group in sorted(same.values(), key=lambda group: not any(issue.is_fatal for issue in group)):
        yield markup.text(
            "open-issue",
            group[0].text.strip(),
            id=_names([issue.id for issue in group]),
            raised_at=_names([issue.raised_at for issue in group]),
            fatal="true" if any(issue.is_fatal for issue in group) else None,
            evidence=_names([name for issue in group for name in issue.evidence]),
        )


def _root(tree: ReconciledTree, view: View) -> Block:
    """The root with its own words, which are the same whatever is shown."""
    root = tree.root
    blocks: list[Block] = []
    _tell(blocks, "summary", root.summary)
    blocks += open_issues(tree)
    _tell_facets(blocks, root, _ALL_FACETS, view)
    blocks += _lessons(view)
    said = {
        "id": root.id,
        "title": root.title,
        "state": state_of(root),
        "completion-scope": SCOPE,
        "actions": _span(root, view),
    }
    return markup.holding(markup.tags("task", said), blocks)


def _parts(children: Iterable[Node], view: View) -> list[Block]:
    blocks: list[Block] = []
    for child in children:
        if isinstance(child, Leaf):
            if (shown := view.actions.get(child.id)) is not None:
                blocks.append(shown)
        else:
            blocks.append(_part(child, view))
    return blocks


def _part(node: Subtask | Shortcut, view: View) -> Block:
    """A node with what is shown below it: all its parts, or only the actions where it is shown shortly."""
    if view.detail == "folded":
        is_short = True
    elif isinstance(node, Subtask):
        is_short = state_of(node) == "complete"
    else:
        is_short = view.detail == "condensed" and node.outcome == "succeeded"
    return markup.extended(view.head(node, is_short), _shown(node, view) if is_short else _parts(node.children, view))


def _task(node: Subtask, is_short: bool, view: View) -> Block:
    blocks: list[Block] = []
    _tell(blocks, "summary", node.summary)
    if view.detail != "folded":
        _tell_facets(blocks, node, _COMPLETE_FACETS if is_short else _ALL_FACETS, view)
    raised = _raised_in(node, is_short, view)
    said = {"id": node.id, "title": node.title, "state": state_of(node), "actions": _span(node, view)}
    if raised:
        said |= {"open-issue": _open_names(raised), "closed-later": None if is_short else _closed(raised)}
    return markup.holding(markup.tags("task", said), blocks)


def _shortcut(node: Shortcut, is_short: bool, view: View) -> Block:
    blocks: list[Block] = []
    if not is_short:
        _tell(blocks, "dead-end", node.dead_end)
        _tell(blocks, "working-path", node.working_path)
    raised = _raised_in(node, is_short, view)
    return markup.group(
        "shortcut",
        blocks,
        id=node.id,
        title=node.title,
        outcome=node.outcome,
        source=_names([child.id for child in node.children]),
        actions=_span(node, view),
        open_issue=_open_names(raised) if raised else None,
        closed_later=_closed(raised) if raised and not is_short else None,
        evidence=_names(node.evidence),
    )


def _raised_in(node: Subtask | Shortcut, is_short: bool, view: View) -> list[Issue]:
    """The issues that a node raised. What a folded one hides may hold issues that are still open: it names them in
    place of its parts."""
    if not view.raised:
        return []
    if not is_short:
        return list(view.raised.get(node.id, ()))
    return [issue for below in nodes(node) for issue in view.raised.get(below.id, ())]


def _lessons(view: View) -> list[Block]:
    """What failed and what worked in all shortcuts, also in those that are not shown, each once."""
    seen: set[tuple[str, str]] = set()
    lessons: list[Block] = []
    for node in view.layout.parents:
        if not isinstance(node, Shortcut):
            continue
        words = (_words(node.dead_end), _words(node.working_path))
        if any(words) and words not in seen:
            seen.add(words)
            texts: list[Block] = []
            _tell(texts, "dead-end", node.dead_end)
            _tell(texts, "working-path", node.working_path)
            lessons.append(markup.group("lesson", texts, **{"from": node.id}, outcome=node.outcome))
    return [markup.group("lessons", lessons)] if lessons else []


def _tell_facets(blocks: list[Block], node: Subtask, names: Mapping[str, str], view: View) -> None:
    facets = node.facets
    for name, tag in names.items():
        content = getattr(facets, name)
        if content != NONE and (name != "open_issues" or _is_still_open(node, view)):
            _tell(blocks, tag, content)


def _is_still_open(node: Subtask, view: View) -> bool:
    """Whether what its summary calls open is news: it may have been closed since, or the root says the same."""
    raised = view.raised.get(node.id, ())
    is_settled = bool(raised) and all(issue.resolved_at is not None for issue in raised)
    return not is_settled and _words(node.facets.open_issues) not in view.open_words


def _open_names(raised: Iterable[Issue]) -> str:
    """Issues that are still open."""
    return _names([issue.id for issue in raised if issue.resolved_at is None])


def _closed(raised: Iterable[Issue]) -> str:
    """Issues that something later closed, with what closed them."""
    closed = [issue for issue in raised if issue.resolved_at is not None]
    return "; ".join([f"{issue.id} by {_names(issue.resolution) or issue.resolved_at}" for issue in closed])


def _raised(tree: ReconciledTree, layout: Layout) -> dict[str, tuple[Issue, ...]]:
    """The issues that each node raised: by their own word, by the verdict's and by the shortcut's."""
    issues = {issue.id: issue for issue in tree.issues}
    named: dict[str, list[str]] = {}
    for issue in tree.issues:
        named.setdefault(issue.raised_at, []).append(issue.id)
    for node in layout.parents:
        if isinstance(node, Shortcut):
            if node.issue is not None:
                named.setdefault(node.id, []).append(node.issue)
        elif node.verdict is not None and node.verdict.issues:
            named.setdefault(node.id, []).extend(node.verdict.issues)
    return {
        node: tuple([issues[name] for name in dict.fromkeys(names) if name in issues]) for node, names in named.items()
    }


def _shown(node: Node, view: View) -> list[Block]:
    """The actions below a node that are shown."""
    actions = view.actions
    return [actions[leaf.id] for leaf in view.layout.below(node) if leaf.id in actions] if actions else []


def _tell(blocks: list[Block], name: str, content: str) -> None:
    """Adds a block for what an analyst wrote, unless it is nothing."""
    content = content.strip()
    said = content.rstrip(".")
    if said and (len(said) > len(NONE) or said.casefold() != NONE):
        blocks.append(markup.leaf(markup.bare(name), content))


def _span(node: Node, view: View) -> str | None:
    """The actions below a node, as a range."""
    below = view.layout.below(node)
    if not below:
        return None
    first, last = below[0], below[-1]
    return f"a{first.action}" if first is last else f"a{first.action}-a{last.action}"


def _names(identifiers: Iterable[str]) -> str:
    """Identifiers, each once."""
    return " ".join(dict.fromkeys(identifiers))


def _words(content: str) -> str:
    """A text for comparison, whatever its spaces and capitals."""
    return " ".join(content.split()).casefold()
