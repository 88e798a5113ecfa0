"""The nouns of a distillation: the dense source tree, the shortcut tree with its verdicts, and the issues.

Identifiers (spec, section 2): leaves are `n0 … n{T-1}`, the root is `n{T}`, subtasks follow in the order of their
creation; shortcuts are `shortcut_0 …`, issues `issue_0 …`. Actions are `a1 … aT`. A queue's ordinals are 1-based and
never leave the level that they number.

A leaf holds its step, so that a tree that was read back from its file renders to the same bytes. Stages are functions
from a tree to a new tree; nothing here is changed in place."""

from __future__ import annotations

from typing import Literal, final, get_args

from msgspec import Struct

from dense.facets import Facets
from dense.trajectory import Step, Task

__all__ = [
    "RECONCILED_SCHEMA",
    "SEVERITIES",
    "SOURCE_SCHEMA",
    "Coherence",
    "Completion",
    "Issue",
    "Label",
    "LastCheck",
    "Leaf",
    "Node",
    "ReconciledTree",
    "RefutedClaim",
    "Remark",
    "Severity",
    "Shortcut",
    "ShortcutOutcome",
    "SourceTree",
    "State",
    "Subtask",
    "Verdict",
    "first_action",
    "last_action",
    "leaves",
    "nodes",
    "open_issues",
]

SOURCE_SCHEMA = "dense.tree/2"
RECONCILED_SCHEMA = "dense.reconciled/2"

Label = Literal[0, -1, -2]
ShortcutOutcome = Literal["succeeded", "failed", "partial", "unknown"]
Coherence = Literal["coherent", "inconsistent", "insufficient_evidence"]
Completion = Literal["complete", "incomplete", "failed", "unknown"]
State = Literal["complete", "incomplete", "broken", "unknown"]
Met = Literal["yes", "no", "unchecked"]
Severity = Literal[
    "fatal",  # a result that was there is wrong or gone
    "serious",  # the task is not done while this is open
    "doubt",  # the trace does not show whether the task is done
]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The most severe first."""


@final
class Leaf(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="action"):
    """One action and its observation."""

    id: str
    """`n0 … n{T-1}`."""
    action: int
    """The action's number: 1 for `a1`."""
    step: Step
    """The step itself."""
    label: Label | None = None
    """A hint for the analyst, never shown: 0 helps, -1 does not, -2 harms. None is unscored."""
    reason: str = ""
    """Why."""


@final
class Subtask(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="subtask"):
    """Consecutive nodes that serve one objective. The root is the subtask at level 0."""

    id: str
    """`n{T}` for the root, then in the order of creation."""
    level: int
    """The round that made it, from 1; 0 for the root."""
    title: str
    """A short name."""
    summary: str
    """The shortest way that worked, and what verified it. After reconciliation: the final state."""
    children: tuple[Node, ...]
    """In the order of the trajectory."""
    facets: Facets = Facets()
    """What a rerun can reuse."""
    verdict: Verdict | None = None
    """None until it is reconciled."""


@final
class Shortcut(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="shortcut"):
    """A stretch of siblings that tried, failed, and recovered or gave up, drawn together."""

    id: str
    """`shortcut_0 …`."""
    title: str
    """A short name."""
    children: tuple[Node, ...]
    """The siblings that it replaces, at least two, in order."""
    outcome: ShortcutOutcome
    """How the stretch ended."""
    dead_end: str = ""
    """What failed, and what was seen."""
    working_path: str = ""
    """The shortest way that worked."""
    issue: str | None = None
    """The issue that it leaves open, by identifier."""
    evidence: tuple[str, ...] = ()
    """Nodes that show it."""
    key_actions: tuple[str, ...] = ()
    """Leaves that the analyst wants kept."""


type Node = Leaf | Subtask | Shortcut


class RefutedClaim(Struct, frozen=True, omit_defaults=True):
    """What the agent says and the trace contradicts."""

    text: str
    """The claim, in the agent's words."""
    action: int
    """The number of the action that makes it."""
    refuted_by: int
    """The action that shows the contrary."""
    line: str = ""
    """The line of its output that does."""


class Issue(Struct, frozen=True, omit_defaults=True):
    """Something that is not done, and what became of it."""

    id: str
    """`issue_0 …`."""
    text: str
    """What is wrong or missing."""
    raised_at: str
    """The subtask or shortcut that reported it."""
    evidence: tuple[str, ...] = ()
    """Nodes that show it."""
    severity: Severity = "serious"
    """How much it weighs: a doubt never changes a state."""
    resolved_at: str | None = None
    """The subtask whose reconciliation closed it; None while it is open."""
    resolution: tuple[str, ...] = ()
    """Nodes that show the recovery: later than the issue's own evidence."""
    code: str = ""
    """The kind of finding, for analysts that have codes."""
    quote: str = ""
    """The line of the trace that shows it best; empty if there is none, as for something that was never done."""
    names: tuple[str, ...] = ()
    """The files, commands and values that it is about."""
    claim: RefutedClaim | None = None
    """What the agent says to the contrary; None if it claims nothing."""


class RequirementStatus(Struct, frozen=True, omit_defaults=True):
    """Something that the task demands, and whether the attempt shows it."""

    text: str
    """What is demanded."""
    met: Met
    """Whether an output shows it, shows the opposite, or nobody checked."""
    evidence: tuple[str, ...] = ()
    """The actions that show it: `a7`."""
    names: tuple[str, ...] = ()
    """The files, commands and values that it is about."""


class NextStep(Struct, frozen=True, omit_defaults=True):
    """Something that the next attempt should do."""

    text: str
    """What to do."""
    evidence: tuple[str, ...] = ()
    """The actions that it rests on: `a7`."""
    is_untested: bool = False
    """Whether the attempt did not try it."""


class Product(Struct, frozen=True, omit_defaults=True):
    """Something that the task wants delivered."""

    path: str
    """The file, or what else it is called."""
    action: int
    """The action that wrote its final version."""
    check: int | None = None
    """The action that verified it; None if none did."""


class LastCheck(Struct, frozen=True, omit_defaults=True):
    """How a test run or another check ended the last time that it ran. It states a fact and claims no fault: whether a
    failure matters is for the reader, unless the task asks for this check to pass."""

    command: str
    """As the attempt typed it."""
    action: int
    """The number of the action that ran it last."""
    has_passed: bool
    failed: int = 0
    """How many tests failed, if that was counted."""
    names: tuple[str, ...] = ()
    """Names of failing tests, a few."""
    line: str = ""
    """The line that says how it ended: `2 failed, 1 passed`."""
    reason: str = ""
    """The assertion or error of the first failing test, a line of the output; empty if none shows."""
    changed_at: int = 0
    """The last change of a product after it: the check was not run again behind that one. 0 if nothing changed."""
    is_required: bool = False
    """Whether the task asks for it to pass: it names the command or the file, or asks for failing tests to pass."""


class Remark(Struct, frozen=True, omit_defaults=True):
    """Something that the trace shows and that may be a fault or none: runs that fail have it no more often than others.
    It changes no state and asks for nothing."""

    text: str
    """The fact, in a sentence or two."""
    evidence: tuple[str, ...]
    """The actions that show it: `a7`."""
    code: str = ""
    """The kind of finding."""
    quote: str = ""
    """The line of the trace that shows it best; empty if there is none."""
    names: tuple[str, ...] = ()
    """The files, commands and values that it is about."""


class Verdict(Struct, frozen=True, omit_defaults=True):
    """What reconciliation says of a subtask."""

    coherence: Coherence
    """Whether what it holds fits together."""
    completion: Completion
    """Whether its objective was reached, as far as the trajectory shows."""
    state: State
    """Derived from the fields above and the issues, never judged."""
    issues: tuple[str, ...] = ()
    """The issues that it raised itself, by identifier."""
    resolved: tuple[str, ...] = ()
    """The inherited issues that it closed."""
    key_actions: tuple[str, ...] = ()
    """Leaves that the analyst wants kept."""
    restated: tuple[str, ...] = ()
    """The inherited issues that are open here too and count for the state."""
    restated_fatal: tuple[str, ...] = ()
    """Those of them that are fatal here."""


class SourceTree(Struct, frozen=True, omit_defaults=True, tag_field="schema", tag=SOURCE_SCHEMA):
    """The trajectory as nested subtasks, with everything that was said of them: `tree.json`."""

    trajectory: str
    """The trajectory's ID."""
    task: Task | None
    """What was asked."""
    root: Subtask
    """The whole."""


class ReconciledTree(Struct, frozen=True, omit_defaults=True, tag_field="schema", tag=RECONCILED_SCHEMA):
    """The tree after compression and reconciliation, with all issues, closed ones included: `reconciled.json`."""

    trajectory: str
    """The trajectory's ID."""
    task: Task | None
    """What was asked."""
    root: Subtask
    """The whole."""
    issues: tuple[Issue, ...] = ()
    """All issues, in the order in which they were raised."""
    redacted: str = ""
    """What credentials were replaced before anybody saw the trajectory, in words; empty for none."""
    problems: tuple[str, ...] = ()
    """The pieces of the analyst's draft that were not valid, each with the reason."""
    requirements: tuple[RequirementStatus, ...] = ()
    """What the task demands, in its order."""
    next_steps: tuple[NextStep, ...] = ()
    """What the next attempt should do, the most important first."""
    products: tuple[Product, ...] = ()
    """What the task wants delivered, with the actions that made its final versions."""
    last_checks: tuple[LastCheck, ...] = ()
    """The last state of each check, in the order of its last run; one that a later check covers is left out."""
    remarks: tuple[Remark, ...] = ()
    """What the trace shows and what need not be a fault, in order."""


def open_issues(tree: ReconciledTree) -> list[Issue]:
    """The issues that are still open, fatal ones first, then those that a claim of the agent denies."""
    still_open = [issue for issue in tree.issues if issue.resolved_at is None]
    return sorted(still_open, key=lambda issue: (issue.severity != "fatal", issue.claim is None))


def leaves(*within: Node) -> list[Leaf]:
    """The actions below a node, or below several that follow each other, in order."""
    found: list[Leaf] = []
    for node in within:
        if isinstance(node, Leaf):
            found.append(node)
        else:
            found += leaves(*node.children)
    return found


def nodes(node: Node) -> list[Node]:
    """A node and all below it, parents first."""
    found: list[Node] = [node]
    if not isinstance(node, Leaf):
        for child in node.children:
            if isinstance(child, Leaf):
                found.append(child)
            else:
                found += nodes(child)
    return found


def first_action(node: Node) -> int:
    """The number of the first action below a node."""
    while not isinstance(node, Leaf):
        node = node.children[0]
    return node.action


def last_action(node: Node) -> int:
    """The number of the last action below a node."""
    while not isinstance(node, Leaf):
        node = node.children[-1]
    return node.action
