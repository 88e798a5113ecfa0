"""Which actions the recipient gets to see, and why (spec, section 5). No model is asked.

Required evidence comes first, whatever its size; only bodies that are too large for the room are left out. The
other retained actions follow by role as long as there is room."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cache
from typing import Literal

from msgspec import Struct

from dense.deliver import action_quote, markup
from dense.deliver.action_quote import QuotedBody
from dense.deliver.layout import TreeLayout
from dense.deliver.markup import MarkupBlock
from dense.evidence.actions.effects import Effects, EffectsOf
from dense.tree import Issue, Leaf, ReconciledTree, Shortcut, Subtask

Role = Literal[
    "selected",  # the analyst wants it kept
    "issue",  # supports an issue that is still open
    "resolution",  # shows how an issue was closed
    "product",  # the last that made something in its branch
    "verification",  # the last that tested something in its branch
    "response",  # the last that was said to the user in its branch
    "terminal",  # the last action of its branch
    "failure",  # shows what failed in its shortcut
    "working-path",  # shows what worked in its shortcut
    "delivery",  # not required: changes files
    "check",  # not required: runs tests
    "cited",  # not required: the analyst names it as evidence
    "last",  # not required: the last action under a parent that is shown
]

type Parent = Subtask | Shortcut

_BITS: dict[Role, int] = {role: 1 << number for number, role in enumerate(Role.__args__)}

OPTIONAL: tuple[Role, ...] = ("delivery", "check", "cited", "last")
"""Roles of retained actions that are shown if there is room, in this order."""

SMALL_ACTION_BYTES = 2048
"""An action of at most so many bytes is never too large a part of the room that is left."""
NUMBER_WIDTH = 5
"""Digits of block numbers in planned sizes: more than there will be."""


class EvidenceChoice(Struct, frozen=True, gc=False):
    """An action that is shown."""

    leaf: Leaf
    roles: tuple[Role, ...]
    """Why, the most important reason first."""
    block: MarkupBlock
    """The block to show."""
    size: int
    """Its bytes, at its depth in the tree."""


class EvidenceSelection(Struct, frozen=True):
    """The actions that are shown, in their order, and what there was no room for."""

    choices: tuple[EvidenceChoice, ...]
    left_out: tuple[str, ...] = ()
    """Bodies and actions: those of required actions first."""

    @property
    def blocks(self) -> dict[str, MarkupBlock]:
        """The blocks by the leaf's identifier."""
        return {choice.leaf.id: choice.block for choice in self.choices}


def select(
    tree: ReconciledTree, *, effects: EffectsOf, room: int, layout: TreeLayout | None = None
) -> EvidenceSelection:
    """Chooses the actions to show in about so many bytes. Required ones are chosen even if they take more. `layout` is
    the tree's, if it is known already."""
    layout = layout or TreeLayout(tree.root)
    known = {leaf.id: did for leaf in layout.leaves if (did := effects(leaf.step)).writes or did.tests or did.deletes}
    opened: list[Parent] = []
    _open(tree.root, opened)
    named = _Named(layout, known)
    required = _by_leaf(_required(tree, layout, opened, named, known))
    optional = _by_leaf(_optional(layout, opened, named, known, required))
    depths = layout.depths
    chosen, left_out = _fit_required(_in_order(required, layout), depths, room)
    room -= sum([choice.size for choice in chosen])
    queue = _in_order(optional, layout) if optional else []
    for leaf, roles in sorted(queue, key=lambda entry: (OPTIONAL.index(entry[1][0]), -entry[0].action)):
        gone: list[QuotedBody] = []
        choice = _choice(leaf, roles, depths[leaf.id])
        # Halving keeps one giant from taking the place of many.
        if choice.size > max(room // 2, SMALL_ACTION_BYTES):
            gone = action_quote.oversized(
                choice.block, action_quote.bodies(leaf, choice.block), max(room // 8, SMALL_ACTION_BYTES)
            )
            choice = _without(choice, gone, depths[leaf.id])
        if choice.size <= room:
            chosen.append(choice)
            room -= choice.size
            left_out += _named_bodies(leaf, gone)
        else:
            left_out.append(f"a{leaf.action} ({choice.size} bytes)")
    return EvidenceSelection(tuple(sorted(chosen, key=lambda choice: choice.leaf.action)), tuple(left_out))


def is_unfinished(node: Subtask) -> bool:
    """Whether a subtask is shown with its parts."""
    return node.verdict is None or node.verdict.state != "complete"


class _Named:
    """Finds the action that represents an identifier."""

    def __init__(self, layout: TreeLayout, known: Container[str]) -> None:
        self._layout, self._known = layout, known
        self._found: dict[str, Leaf | None] = {}
        """The representatives of nodes that are no actions, as far as they were asked for."""

    def __call__(self, identifiers: Iterable[str], role: Role) -> list[tuple[Leaf, Role]]:
        """Each with the role that it is named for; unknown identifiers are skipped."""
        by_id = self._layout.by_id
        named: list[tuple[Leaf, Role]] = []
        for identifier in identifiers:
            node = by_id.get(identifier)
            leaf = self._representative(node) if node is not None and not isinstance(node, Leaf) else node
            if leaf is not None:
                named.append((leaf, role))
        return named

    def _representative(self, node: Parent) -> Leaf | None:
        """The action that represents a node: the last one that changes files or tests, else the last."""
        if node.id not in self._found:
            below = self._layout.below(node)
            self._found[node.id] = _last(below, lambda leaf: leaf.id in self._known) or _last(below)
        return self._found[node.id]


def _required(
    tree: ReconciledTree, layout: TreeLayout, opened: Sequence[Parent], named: _Named, known: Mapping[str, Effects]
) -> list[tuple[Leaf, Role]]:
    found: list[tuple[Leaf, Role]] = []
    issues = {issue.id: issue for issue in tree.issues}
    for issue in tree.issues:
        if issue.resolved_at is None:
            found += named(issue.evidence, "issue")
        else:
            found += named(issue.resolution, "resolution")
    for node in layout.parents:
        if isinstance(node, Shortcut):
            found += named(node.key_actions, "selected")
            if _is_open(node.issue, issues):
                found += named(node.evidence, "issue")
            found += _of_shortcut(node, layout.below(node), known)
        elif node.verdict is not None:
            found += named(node.verdict.key_actions, "selected")
    for branch in _branches(tree.root, opened):
        found += _of_branch(layout.below(branch), known)
    return found


def _optional(
    layout: TreeLayout, opened: Sequence[Parent], named: _Named, known: Mapping[str, Effects], required: Container[str]
) -> list[tuple[Leaf, Role]]:
    found: list[tuple[Leaf, Role]] = []
    for leaf in layout.leaves:
        did = known.get(leaf.id)
        if did is None or leaf.id in required:
            continue
        if did.changes_files:
            found.append((leaf, "delivery"))
        if did.tests:
            found.append((leaf, "check"))
    for node in layout.parents:
        if isinstance(node, Shortcut):
            found += [one for one in named(node.evidence, "cited") if one[0].id not in required]
    for node in opened:
        last = node.children[-1] if node.children else None
        if isinstance(last, Leaf) and last.id not in required:
            found.append((last, "last"))
    return found


def _branches(root: Subtask, opened: Sequence[Parent]) -> list[Parent]:
    """The root, its parts, and each unfinished subtask that is shown as such."""
    top = {child.id for child in root.children}
    return [
        node for node in opened if node is root or node.id in top or (isinstance(node, Subtask) and is_unfinished(node))
    ]


def _open(node: Parent, opened: list[Parent], is_root: bool = True) -> None:
    """Adds a node and the parts below it that the report shows one by one: it does not look into what is complete."""
    opened.append(node)
    if is_root or isinstance(node, Shortcut) or is_unfinished(node):
        for child in node.children:
            if not isinstance(child, Leaf):
                _open(child, opened, is_root=False)


def _of_branch(below: Sequence[Leaf], known: Mapping[str, Effects]) -> list[tuple[Leaf, Role]]:
    """The last actions that made, changed and tested something, what was said at the end, and the end itself."""
    made = changed = tested = None
    for leaf in reversed(below):
        did = known.get(leaf.id)
        if did is None:
            continue
        if made is None:
            if did.writes and not leaf.label and not _has_failed(leaf):
                made = leaf
            elif changed is None and did.changes_files:
                changed = leaf
        if tested is None and did.tests:
            tested = leaf
        if made is not None and tested is not None:
            break
    found: list[tuple[Leaf, Role]] = []
    if product := made or changed:
        found.append((product, "product"))
    if tested is not None:
        found.append((tested, "verification"))
    for leaf in reversed(below[-2:]):
        if not leaf.step.calls and leaf.step.message.strip():
            found.append((leaf, "response"))
            break
    if below:
        found.append((below[-1], "terminal"))
    return found


def _of_shortcut(shortcut: Shortcut, below: Sequence[Leaf], known: Container[str]) -> list[tuple[Leaf, Role]]:
    """One action that failed and one that worked, if the shortcut has such."""
    worked = None
    if shortcut.working_path.strip() or shortcut.outcome == "succeeded":
        good = [leaf for leaf in below if not leaf.label and not _has_failed(leaf)]
        worked = _last(good, lambda leaf: leaf.id in known) or _last(good)
    failed = None
    if shortcut.dead_end.strip() or shortcut.outcome in {"failed", "partial"}:
        others = [leaf for leaf in below if leaf is not worked]
        failed = _last(others, _has_failed) or _last(others, lambda leaf: bool(leaf.label))
        cited = frozenset(shortcut.evidence)
        failed = failed or _last(others, lambda leaf: leaf.id in cited) or _last(others)
    found: list[tuple[Leaf | None, Role]] = [(failed, "failure"), (worked, "working-path")]
    return [(leaf, role) for leaf, role in found if leaf is not None]


def _fit_required(
    required: Iterable[tuple[Leaf, tuple[Role, ...]]], depths: Mapping[str, int], room: int
) -> tuple[list[EvidenceChoice], list[str]]:
    """The required actions, without the largest of their bodies where they would take more than there is."""
    chosen = [_choice(leaf, roles, depths[leaf.id]) for leaf, roles in required]
    left_out: list[str] = []
    if (total := sum([choice.size for choice in chosen])) > room:
        for place, gone in sorted(_largest(chosen, total, room).items()):
            leaf = chosen[place].leaf
            chosen[place] = _without(chosen[place], gone, depths[leaf.id])
            left_out += _named_bodies(leaf, gone)
    # What is larger than all the room even so would only push the others out.
    left_out += [f"a{choice.leaf.action} ({choice.size} bytes)" for choice in chosen if choice.size > room]
    return [choice for choice in chosen if choice.size <= room], left_out


def _largest(chosen: Sequence[EvidenceChoice], total: int, room: int) -> dict[int, list[QuotedBody]]:
    """The bodies to leave out, by action: the largest first, of equals the latest, until a quarter is free again."""
    bodies = [action_quote.bodies(choice.leaf, choice.block) for choice in chosen]
    by_size = sorted(
        ((body.saving, place, number) for place, own in enumerate(bodies) for number, body in enumerate(own)),
        reverse=True,
    )
    gone: dict[int, list[int]] = {}
    for saving, place, number in by_size:
        if total <= room - room // 4 or saving <= SMALL_ACTION_BYTES // 2:
            break
        gone.setdefault(place, []).append(number)
        total -= saving
    return {place: [bodies[place][number] for number in sorted(numbers)] for place, numbers in gone.items()}


def _named_bodies(leaf: Leaf, bodies: Iterable[QuotedBody]) -> list[str]:
    """What bodies are called once they are left out."""
    return [f"a{leaf.action}, {body.place} ({body.size} bytes)" for body in bodies]


def _choice(leaf: Leaf, roles: tuple[Role, ...], depth: int) -> EvidenceChoice:
    block = action_quote.key_action(leaf, roles)
    return EvidenceChoice(leaf, roles, block, markup.size(block, depth, NUMBER_WIDTH))


def _without(choice: EvidenceChoice, bodies: Iterable[QuotedBody], depth: int) -> EvidenceChoice:
    block = action_quote.without(choice.block, bodies)
    return EvidenceChoice(choice.leaf, choice.roles, block, markup.size(block, depth, NUMBER_WIDTH))


def _by_leaf(found: Iterable[tuple[Leaf, Role]]) -> dict[str, int]:
    """The roles of each action, as bits."""
    roles: dict[str, int] = {}
    for leaf, role in found:
        roles[leaf.id] = roles.get(leaf.id, 0) | _BITS[role]
    return roles


def _in_order(roles: Mapping[str, int], layout: TreeLayout) -> list[tuple[Leaf, tuple[Role, ...]]]:
    """Each action with its roles in the order of their weight."""
    return [(leaf, _roles(roles[leaf.id])) for leaf in layout.leaves if leaf.id in roles]


@cache
def _roles(bits: int) -> tuple[Role, ...]:
    return tuple([role for role, bit in _BITS.items() if bits & bit])


def _is_open(identifier: str | None, issues: Mapping[str, Issue]) -> bool:
    return identifier is not None and identifier in issues and issues[identifier].resolved_at is None


def _has_failed(leaf: Leaf) -> bool:
    """Whether an observation of the action is marked as failed by its harness."""
    return any(observation.is_error or observation.exit_code for observation in leaf.step.observations)


def _last(found: Sequence[Leaf], holds: Callable[[Leaf], bool] | None = None) -> Leaf | None:
    if holds is None:
        return found[-1] if found else None
    for leaf in reversed(found):
        if holds(leaf):
            return leaf
    return None
