"""The report: nested blocks, short where the attempt was done, open where something is left.

The root says what was reached, what is still open and what was learned; its parts follow in their order. A complete
subtask folds to its summary and its selected actions; all others show their parts. An issue's words are at the
root only, where the recipient looks first; the part that raised it names it. Labels and their reasons are not shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec.structs import astuple

from dense.deliver import markup
from dense.deliver.layout import TreeLayout
from dense.deliver.markup import MarkupBlock
from dense.tree import (
    NONE,
    Facets,
    Issue,
    Leaf,
    ReconciledTree,
    Shortcut,
    State,
    Subtask,
    nodes,
)

SCOPE = "trajectory_local"
"""How far a state reaches: it is what the trajectory shows, and no verifier's word."""

Detail = Literal["full", "condensed", "folded"]
"""`condensed`: of succeeded shortcuts only the actions are shown, their lessons are at the root. `folded`: the same
for all parts of the root."""

_FACETS = tuple([name.replace("_", "-") for name in Facets.__struct_fields__])
"""The tags of the facets."""
_COMPLETE_FACETS = ("artifacts", "key-values", "critical-order")
"""Those that a subtask shows which is shown shortly."""


class Renderer:
    """Renders one tree with different selections: what does not depend on the actions shown is made once."""

    def __init__(self, tree: ReconciledTree) -> None:
        self.tree, self.layout = tree, TreeLayout(tree.root)
        self._raised = _raised(tree, self.layout)
        self._open = _open_by_words(tree)
        self._top: MarkupBlock | None = None
        self._heads: dict[tuple[int, bool, bool], MarkupBlock] = {}
        """Nodes with their own words, without their parts. By the node's identity, which is its own as long as the tree
        is held; then by how much of it is shown."""

    def report(self, actions: Mapping[str, MarkupBlock], detail: Detail = "full") -> MarkupBlock:
        """The whole report, with these actions by their leaf."""
        if self._top is None:
            self._top = self._root()
        whole = markup.extended(self._top, self._parts(self.tree.root, actions, detail))
        return markup.group("report", [whole], redacted=self.tree.redacted)

    def _parts(self, node: Subtask | Shortcut, actions: Mapping[str, MarkupBlock], detail: Detail) -> list[MarkupBlock]:
        blocks: list[MarkupBlock] = []
        for child in node.children:
            if not isinstance(child, Leaf):
                blocks.append(self._part(child, actions, detail))
            elif child.id in actions:
                blocks.append(actions[child.id])
        return blocks

    def _part(self, node: Subtask | Shortcut, actions: Mapping[str, MarkupBlock], detail: Detail) -> MarkupBlock:
        """A node with what is shown below it: all its parts, or only the actions if it is shown in brief."""
        is_folded = detail == "folded"
        if isinstance(node, Subtask):
            is_short = is_folded or state_of(node) == "complete"
        else:
            is_short = is_folded or (detail == "condensed" and node.outcome == "succeeded")
        key = (id(node), is_short, is_folded)
        head = self._heads.get(key)
        if head is None:
            is_task = isinstance(node, Subtask)
            head = self._task(node, is_short, is_folded) if is_task else self._shortcut(node, is_short)
            self._heads[key] = head
        if not is_short:
            return markup.extended(head, self._parts(node, actions, detail))
        return markup.extended(head, [actions[leaf.id] for leaf in self.layout.below(node) if leaf.id in actions])

    def _root(self) -> MarkupBlock:
        """The root with its own words, which are the same whatever is shown."""
        root = self.tree.root
        blocks: list[MarkupBlock] = []
        _add_text(blocks, "summary", root.summary)
        blocks += [_open_issue(same) for same in self._open.values()]
        self._add_facets(blocks, root, is_short=False)
        blocks += _lessons(self.layout)
        return markup.group(
            "task",
            blocks,
            id=root.id,
            title=root.title,
            state=state_of(root),
            completion_scope=SCOPE,
            actions=self._span(root),
        )

    def _task(self, node: Subtask, is_short: bool, is_folded: bool) -> MarkupBlock:
        blocks: list[MarkupBlock] = []
        if not self._is_said_above(node):
            _add_text(blocks, "summary", node.summary)
        if not is_folded:
            self._add_facets(blocks, node, is_short)
        raised = self._raised_in(node, is_short)
        return markup.group(
            "task",
            blocks,
            id=node.id,
            title=node.title,
            state=state_of(node),
            actions=self._span(node),
            open_issue=_open_names(raised),
            closed_later=None if is_short else _closed(raised),
        )

    def _is_said_above(self, node: Subtask) -> bool:
        """Whether the root says all that its only part would say."""
        root = self.tree.root
        return len(root.children) == 1 and root.children[0] is node and _words(node.summary) in _words(root.summary)

    def _shortcut(self, node: Shortcut, is_short: bool) -> MarkupBlock:
        blocks: list[MarkupBlock] = []
        if not is_short:
            _add_text(blocks, "dead-end", node.dead_end)
            _add_text(blocks, "working-path", node.working_path)
        raised = self._raised_in(node, is_short)
        return markup.group(
            "shortcut",
            blocks,
            id=node.id,
            title=node.title,
            outcome=node.outcome,
            source=_names([child.id for child in node.children]),
            actions=self._span(node),
            open_issue=_open_names(raised),
            closed_later=None if is_short else _closed(raised),
            evidence=_names(node.evidence),
        )

    def _add_facets(self, blocks: list[MarkupBlock], node: Subtask, is_short: bool) -> None:
        for name, content in zip(_FACETS, astuple(node.facets), strict=True):
            if content == NONE or (is_short and name not in _COMPLETE_FACETS):
                continue
            if name != "open-issues" or self._is_still_open(node):
                _add_text(blocks, name, content)

    def _is_still_open(self, node: Subtask) -> bool:
        """Whether what its summary calls open is news: it may have been closed later, or the root says the same."""
        raised = self._raised.get(node.id, ())
        is_settled = bool(raised) and all(issue.resolved_at is not None for issue in raised)
        return not is_settled and _words(node.facets.open_issues) not in self._open

    def _raised_in(self, node: Subtask | Shortcut, is_short: bool) -> Sequence[Issue]:
        """The issues that a node raised. What a folded one hides may hold issues that are still open: it names them in
        place of its parts."""
        if not self._raised:
            return ()
        if not is_short:
            return self._raised.get(node.id, ())
        return [issue for below in nodes(node) for issue in self._raised.get(below.id, ())]

    def _span(self, node: Subtask | Shortcut) -> str | None:
        """The actions below a node, as a range."""
        span = self.layout.span(node)
        if span is None:
            return None
        first, last = span
        return f"a{first.action}" if first is last else f"a{first.action}-a{last.action}"


def state_of(node: Subtask) -> State:
    """A subtask that nobody reconciled is unknown."""
    return node.verdict.state if node.verdict else "unknown"


def open_issues(tree: ReconciledTree) -> list[MarkupBlock]:
    """What is left to do, fatal things first. Issues of the same words are one."""
    return [_open_issue(same) for same in _open_by_words(tree).values()]


def _open_by_words(tree: ReconciledTree) -> dict[str, list[Issue]]:
    """The issues that are still open, by their words, fatal ones first."""
    same: dict[str, list[Issue]] = {}
    for issue in tree.issues:
        if issue.resolved_at is None:
            same.setdefault(_words(issue.text), []).append(issue)
    fatal = {words: issues for words, issues in same.items() if _is_fatal(issues)}
    return fatal | same


def _open_issue(same: Sequence[Issue]) -> MarkupBlock:
    """Issues of the same words."""
    return markup.text(
        "open-issue",
        same[0].text.strip(),
        id=_names([issue.id for issue in same]),
        raised_at=_names([issue.raised_at for issue in same]),
        fatal="true" if _is_fatal(same) else None,
        evidence=_names([name for issue in same for name in issue.evidence]),
    )


def _is_fatal(same: Sequence[Issue]) -> bool:
    return any(issue.is_fatal for issue in same)


def _lessons(layout: TreeLayout) -> list[MarkupBlock]:
    """What failed and what worked in all shortcuts, also in those that are not shown, each once."""
    seen: set[tuple[str, str]] = {("", "")}
    lessons: list[MarkupBlock] = []
    for node in layout.parents:
        if not isinstance(node, Shortcut):
            continue
        words = (_words(node.dead_end), _words(node.working_path))
        if words not in seen:
            seen.add(words)
            texts: list[MarkupBlock] = []
            _add_text(texts, "dead-end", node.dead_end)
            _add_text(texts, "working-path", node.working_path)
            lessons.append(markup.group("lesson", texts, from_=node.id, outcome=node.outcome))
    return [markup.group("lessons", lessons)] if lessons else []


def _open_names(raised: Iterable[Issue]) -> str:
    """Issues that are still open."""
    return _names([issue.id for issue in raised if issue.resolved_at is None])


def _closed(raised: Iterable[Issue]) -> str:
    """Issues that something later closed, with what closed them."""
    closed = [issue for issue in raised if issue.resolved_at is not None]
    return "; ".join([f"{issue.id} by {_names(issue.resolution) or issue.resolved_at}" for issue in closed])


def _raised(tree: ReconciledTree, layout: TreeLayout) -> dict[str, tuple[Issue, ...]]:
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


def _add_text(blocks: list[MarkupBlock], name: str, content: str) -> None:
    """Adds a block for what an analyst wrote, unless it is nothing."""
    content = content.strip()
    said = content.rstrip(".")
    if said and (len(said) > len(NONE) or said.casefold() != NONE):
        blocks.append(markup.text(name, content))


def _names(identifiers: Iterable[str]) -> str:
    """Identifiers, each once."""
    return " ".join(dict.fromkeys(identifiers))


def _words(content: str) -> str:
    """A text for comparison, whatever its spaces and capitals."""
    return " ".join(content.split()).casefold()
