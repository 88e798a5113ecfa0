"""The report: nested blocks, short where the attempt was done, open where something is left.

The root says what was reached, what is still open and what was learned; its parts follow in their order. A complete
subtask folds to its summary and its selected actions; all others show their parts. An issue's words stand once, at the
root, where the recipient looks first; the part that raised it names it. Labels and their reasons have no place here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from dense.deliver import markup
from dense.deliver.markup import Block
from dense.tree import (
    NONE,
    Issue,
    Leaf,
    Node,
    ReconciledTree,
    Shortcut,
    State,
    Subtask,
    leaves,
    nodes,
)

SCOPE = "trajectory_local"
"""How far a state reaches: it is what the trajectory shows, and no verifier's word."""

Detail = Literal["full", "condensed", "folded"]
"""`condensed`: of succeeded shortcuts only the actions are shown, their lessons stand at the root. `folded`: so it is
with all parts of the root."""

_COMPLETE_FACETS = ("artifacts", "key_values", "critical_order")
_ALL_FACETS = (
    "artifacts",
    "final_state",
    "key_values",
    "key_mechanisms",
    "critical_order",
    "dead_ends",
    "open_issues",
)


class View(Struct, frozen=True):
    """What the parts of one rendering share."""

    actions: Mapping[str, Block]
    """The actions to show, by their leaf."""
    detail: Detail
    raised: Mapping[str, tuple[Issue, ...]]
    """The issues that each node raised."""
    open_words: frozenset[str]
    """The words of the issues that are still open."""


def report(tree: ReconciledTree, actions: Mapping[str, Block], detail: Detail = "full") -> Block:
    """The whole report."""
    open_words = frozenset(_words(issue.text) for issue in tree.issues if issue.resolved_at is None)
    view = View(actions, detail, _raised(tree), open_words)
    return markup.group("report", [_root(tree, view)], redacted=tree.redacted or None)


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
            id=_names(issue.id for issue in group),
            raised_at=_names(issue.raised_at for issue in group),
            fatal="true" if any(issue.is_fatal for issue in group) else None,
            evidence=_names(name for issue in group for name in issue.evidence),
        )


def _root(tree: ReconciledTree, view: View) -> Block:
    root = tree.root
    blocks = [
        *_text("summary", root.summary),
        *open_issues(tree),
        *_facets(root, _ALL_FACETS, view),
        *_lessons(root),
        *_parts(root.children, view),
    ]
    return markup.group(
        "task", blocks, id=root.id, title=root.title, state=state_of(root), completion_scope=SCOPE, actions=_span(root)
    )


def _parts(children: Iterable[Node], view: View) -> Iterator[Block]:
    for child in children:
        if isinstance(child, Leaf):
            yield from _shown([child], view)
        elif isinstance(child, Subtask):
            yield _task(child, view)
        else:
            yield _shortcut(child, view)


def _task(node: Subtask, view: View) -> Block:
    is_folded = state_of(node) == "complete" or view.detail == "folded"
    blocks = [*_text("summary", node.summary)]
    if view.detail != "folded":
        blocks += _facets(node, _COMPLETE_FACETS if is_folded else _ALL_FACETS, view)
    blocks += _shown(leaves(node), view) if is_folded else _parts(node.children, view)
    # What a folded subtask hides may hold issues that are still open: it names them in place of its parts.
    raised = [issue for below in (nodes(node) if is_folded else [node]) for issue in view.raised.get(below.id, ())]
    return markup.group(
        "task",
        blocks,
        id=node.id,
        title=node.title,
        state=state_of(node),
        actions=_span(node),
        open_issue=_names(issue.id for issue in raised if issue.resolved_at is None),
        closed_later=_closed(raised) if not is_folded else None,
    )


def _shortcut(node: Shortcut, view: View) -> Block:
    is_condensed = view.detail == "folded" or (view.detail == "condensed" and node.outcome == "succeeded")
    blocks: list[Block] = []
    if not is_condensed:
        blocks += [*_text("dead-end", node.dead_end), *_text("working-path", node.working_path)]
    blocks += _shown(leaves(node), view) if is_condensed else _parts(node.children, view)
    raised = [issue for below in (nodes(node) if is_condensed else [node]) for issue in view.raised.get(below.id, ())]
    return markup.group(
        "shortcut",
        blocks,
        id=node.id,
        title=node.title,
        outcome=node.outcome,
        source=_names(child.id for child in node.children),
        actions=_span(node),
        open_issue=_names(issue.id for issue in raised if issue.resolved_at is None),
        closed_later=_closed(raised) if not is_condensed else None,
        evidence=_names(node.evidence),
    )


def _lessons(root: Subtask) -> Iterator[Block]:
    """What failed and what worked in all shortcuts, also in those that are not shown, each once."""
    seen: set[tuple[str, str]] = set()
    lessons: list[Block] = []
    for node in nodes(root):
        if not isinstance(node, Shortcut):
            continue
        words = (_words(node.dead_end), _words(node.working_path))
        if any(words) and words not in seen:
            seen.add(words)
            texts = [*_text("dead-end", node.dead_end), *_text("working-path", node.working_path)]
            lessons.append(markup.group("lesson", texts, **{"from": node.id}, outcome=node.outcome))
    if lessons:
        yield markup.group("lessons", lessons)


def _facets(node: Subtask, names: Iterable[str], view: View) -> Iterator[Block]:
    for name in names:
        if name != "open_issues" or _is_still_open(node, view):
            yield from _text(name.replace("_", "-"), getattr(node.facets, name))


def _is_still_open(node: Subtask, view: View) -> bool:
    """Whether what its summary calls open is news: it may have been closed since, or the root says the same."""
    raised = view.raised.get(node.id, ())
    is_settled = bool(raised) and all(issue.resolved_at is not None for issue in raised)
    return not is_settled and _words(node.facets.open_issues) not in view.open_words


def _closed(raised: Iterable[Issue]) -> str:
    """Issues that something later closed, with what closed them."""
    closed = (issue for issue in raised if issue.resolved_at is not None)
    return "; ".join(f"{issue.id} by {_names(issue.resolution) or issue.resolved_at}" for issue in closed)


def _raised(tree: ReconciledTree) -> dict[str, tuple[Issue, ...]]:
    """The issues that each node raised: by their own word, by the verdict's and by the shortcut's."""
    issues = {issue.id: issue for issue in tree.issues}
    named: dict[str, list[str]] = {}
    for issue in tree.issues:
        named.setdefault(issue.raised_at, []).append(issue.id)
    for node in nodes(tree.root):
        if isinstance(node, Subtask) and node.verdict is not None:
            named.setdefault(node.id, []).extend(node.verdict.issues)
        elif isinstance(node, Shortcut) and node.issue is not None:
            named.setdefault(node.id, []).append(node.issue)
    return {
        node: tuple(issues[name] for name in dict.fromkeys(names) if name in issues) for node, names in named.items()
    }


def _shown(found: Iterable[Leaf], view: View) -> Iterator[Block]:
    return (view.actions[leaf.id] for leaf in found if leaf.id in view.actions)


def _text(name: str, content: str) -> Iterator[Block]:
    """A block for what an analyst wrote, unless it is nothing."""
    content = content.strip()
    said = content.rstrip(".")
    if said and (len(said) > len(NONE) or said.casefold() != NONE):
        yield markup.text(name, content)


def _span(node: Node) -> str | None:
    """The actions below a node, as a range."""
    first, last = _edge(node, is_last=False), _edge(node, is_last=True)
    if first is None or last is None:
        return None
    return f"a{first.action}" if first is last else f"a{first.action}-a{last.action}"


def _edge(node: Node, *, is_last: bool) -> Leaf | None:
    """The first or the last action below a node, without a look at those between."""
    waiting: list[Node] = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Leaf):
            return one
        waiting += one.children if is_last else reversed(one.children)
    return None


def _names(identifiers: Iterable[str]) -> str:
    """Identifiers, each once."""
    return " ".join(dict.fromkeys(identifiers))


def _words(content: str) -> str:
    """A text for comparison, whatever its spaces and capitals."""
    return " ".join(content.split()).casefold()
