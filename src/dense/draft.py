"""The nouns of an analysis before it is accepted: what an analyst says of a trajectory, as one nested draft.

A draft may be wrong. `dense.analysis.trees.accept` checks every piece of it, numbers what is valid and derives the
states; an analyst never writes a state or a final identifier.

References: a leaf is `n{action - 1}` (`n0` for the first action). A subtask or a group is referred to by the `key` that
the draft gives it, an issue by its own. Keys are local to the draft and must be unique within their kind; a piece that
nothing refers to needs none."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from dense.tree import (
    Coherence,
    Completion,
    Facets,
    Label,
    LastCheck,
    NextStep,
    Product,
    RefutedClaim,
    Remark,
    RequirementStatus,
    Severity,
    ShortcutOutcome,
)


class LeafDraft(Struct, frozen=True):
    """One action in its place in the tree."""

    action: int
    """The action's number: 1 for `a1`."""
    label: Label | None = None
    """0 helps, -1 does not, -2 harms; None is unscored."""
    reason: str = ""
    """Why."""

    @property
    def first(self) -> int:
        """The number of its first action: its own."""
        return self.action

    @property
    def last(self) -> int:
        """The number of its last action: its own."""
        return self.action


class IssueDraft(Struct, frozen=True):
    """Something that is not done, where it was noticed."""

    text: str
    """What is wrong or missing. An issue without text is not accepted."""
    evidence: tuple[str, ...] = ()
    """References to the nodes that show it, at or below the part that raises it."""
    severity: Severity = "serious"
    """How much it weighs: a doubt never changes a state."""
    code: str = ""
    """The kind of finding, for analysts that have codes."""
    key: str = ""
    """How a resolution refers to it."""
    quote: str = ""
    """A line of the trace that shows it; empty for none."""
    names: tuple[str, ...] = ()
    """The files, commands and values that it is about."""
    resolution: tuple[str, ...] = ()
    """References to later nodes that show the recovery, if the part that raises it also closes it."""
    claim: RefutedClaim | None = None
    """What the agent says to the contrary."""
    restates: str = ""
    """The key of the inherited issue that it says again: that one stays open here too, and no new one is raised."""


class GroupDraft(Struct, frozen=True):
    """Two or more neighbouring children of a subtask that become one shortcut."""

    first: int
    """The first action of the first of these children."""
    last: int
    """The last action of the last of them."""
    title: str = ""
    dead_end: str = ""
    """What failed, and what was seen."""
    working_path: str = ""
    """The shortest way that worked."""
    outcome: ShortcutOutcome = "unknown"
    """How the stretch ended."""
    open_issue: IssueDraft | None = None
    """What it leaves open. Its evidence is that of the group."""
    evidence: tuple[str, ...] = ()
    """References to the nodes that show it."""
    key_actions: tuple[str, ...] = ()
    """References to leaves that must be kept."""
    key: str = ""
    """How other pieces refer to it."""


class VerdictDraft(Struct, frozen=True):
    """What an analyst says of a subtask as a whole. The default is the verdict of an analyst without an answer."""

    coherence: Coherence = "insufficient_evidence"
    """Whether what it holds fits together."""
    completion: Completion = "unknown"
    """Whether its objective was reached, as far as the trajectory shows."""
    summary: str = ""
    """The final state; empty for the summary that the subtask has already."""
    issues: tuple[IssueDraft, ...] = ()
    """What it reports itself, restated issues of its parts included: ordinary issues first, then fatal ones."""
    resolved: Mapping[str, tuple[str, ...]] = {}
    """The issues of its parts that it closes, by key, each with references to the later nodes that show it."""
    key_actions: tuple[str, ...] = ()
    """References to leaves that must be kept."""


class SubtaskDraft(Struct, frozen=True):
    """Consecutive children that serve one objective."""

    level: int
    """The round that made it, from 1; 0 for the root."""
    children: tuple[PartDraft, ...]
    """In the order of the trajectory."""
    title: str = ""
    """A short name; empty for one made from its actions."""
    summary: str = ""
    """The shortest way that worked; empty for one made from its actions."""
    facets: Facets = Facets()
    """What a rerun can reuse."""
    groups: tuple[GroupDraft, ...] = ()
    """The shortcuts among its children. What no group covers is kept as it is."""
    verdict: VerdictDraft = VerdictDraft()
    """What the analyst says of it as a whole."""
    key: str = ""
    """How other pieces refer to it."""

    @property
    def first(self) -> int:
        """The number of its first action."""
        return self.children[0].first

    @property
    def last(self) -> int:
        """The number of its last action."""
        return self.children[-1].last


type PartDraft = LeafDraft | SubtaskDraft


class Asked(Struct, frozen=True, omit_defaults=True):
    """One question that an analyst asked, and what became of it."""

    key: str
    """The question's name."""
    attempts: int
    """How often it was asked."""
    seconds: float
    """How long that took, waiting included."""
    problems: tuple[str, ...] = ()
    """What was wrong with each unusable reply."""
    fell_back: bool = False
    """Whether no reply could be used."""
    is_unanswered: bool = False
    """Whether the last try got no reply at all because a call failed for good."""


class TreeDraft(Struct, frozen=True):
    """The whole analysis of one trajectory."""

    root: SubtaskDraft
    """The root, with everything below it."""
    asked: tuple[Asked, ...] = ()
    """Every question that was asked for it; empty for an analyst that asks nobody."""
    requirements: tuple[RequirementStatus, ...] = ()
    """What the task demands, each met, not met or unchecked."""
    next_steps: tuple[NextStep, ...] = ()
    """What the next attempt should do, the most important first."""
    products: tuple[Product, ...] = ()
    """What the task wants delivered."""
    last_checks: tuple[LastCheck, ...] = ()
    """The last state of each check."""
    remarks: tuple[Remark, ...] = ()
    """What the trace shows and what need not be a fault."""


def leaf_reference(action: int) -> str:
    """The reference to the leaf of an action."""
    return f"n{action - 1}"
