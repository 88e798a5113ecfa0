"""The judgements as typed questions. A question holds nodes, not prose: a model gets a view of them, the rules read
them whole.

The paper's six are `Boundary`, `Score`, `Summary`, `TopLevel`, `Compression` and `Reconciliation`. The fast profile
draws them together: `Cuts` (all boundaries of a level, and whether it is the top), `Digest` (labels and summary of a
subtask), `Labels` (labels of what stayed alone), `Settlement` (compression and reconciliation of a parent)."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from dense.trajectory import Task
from dense.tree import Issue, Leaf, Node, Subtask


class Question(Struct, frozen=True, kw_only=True):
    """What every question has."""

    task: Task | None
    """What the agent was asked."""

    @property
    def kind(self) -> str:
        """The judgement's name: `boundary`, `score`, …"""
        return type(self).__name__.lower()

    @property
    def subject(self) -> str:
        """What it is about, so that the same question of the same run has the same name."""
        raise NotImplementedError

    @property
    def key(self) -> str:
        """The question's name within a distillation."""
        return f"{self.kind} {self.subject}"


class Boundary(Question, frozen=True, kw_only=True):
    """Where does the first coherent stretch of the queue end?"""

    level: int
    """The round: 1 reads actions, higher ones titles and summaries."""
    queue: tuple[Node, ...]
    """The nodes in view."""
    head: int
    """The ordinal of the first of them."""
    is_last: bool
    """Whether no more will come: then waiting is no answer."""

    @property
    def subject(self) -> str:
        return f"level {self.level} from {self.head} to {self.head + len(self.queue) - 1}"


class Cuts(Question, frozen=True, kw_only=True):
    """Where does each coherent stretch of the queue end? And is the queue already the top of the tree?"""

    level: int
    """The round: 1 reads actions, higher ones titles and summaries."""
    queue: tuple[Node, ...]
    """The nodes in view."""
    head: int
    """The ordinal of the first of them."""
    may_stop: bool
    """Whether it may be answered that the nodes are top-level phases as they are."""

    @property
    def subject(self) -> str:
        return f"level {self.level} from {self.head} to {self.head + len(self.queue) - 1}"


class Score(Question, frozen=True, kw_only=True):
    """Did this action help, within its subtask and for the task?"""

    subtask: str
    """The new subtask's identifier; the action's own where it stands alone."""
    members: tuple[Node, ...]
    """What the subtask consists of."""
    target: Leaf
    """The action in question."""

    @property
    def subject(self) -> str:
        return f"{self.target.id} in {self.subtask}"


class Labels(Question, frozen=True, kw_only=True):
    """The same for several actions that stayed alone."""

    targets: tuple[Leaf, ...]
    """The actions in question."""

    @property
    def subject(self) -> str:
        return " ".join(leaf.id for leaf in self.targets)


class Summary(Question, frozen=True, kw_only=True):
    """What did this subtask do that a rerun can use?"""

    subtask: str
    """The new subtask's identifier."""
    level: int
    """The round that made it."""
    members: tuple[Node, ...]
    """What it consists of, with labels or summaries."""

    @property
    def subject(self) -> str:
        return self.subtask


class Digest(Question, frozen=True, kw_only=True):
    """Labels of a subtask's unscored actions and its summary, in one."""

    subtask: str
    """The new subtask's identifier."""
    level: int
    """The round that made it."""
    members: tuple[Node, ...]
    """What it consists of."""
    targets: tuple[str, ...]
    """The leaves that have no label yet."""

    @property
    def subject(self) -> str:
        return self.subtask


class TopLevel(Question, frozen=True, kw_only=True):
    """Are these nodes the task's phases, or can they be drawn together further?"""

    level: int
    """The round that made them."""
    candidates: tuple[Node, ...]
    """The nodes."""
    before: int
    """How many nodes there were before this round."""

    @property
    def subject(self) -> str:
        return f"level {self.level} of {len(self.candidates)}"


class Compression(Question, frozen=True, kw_only=True):
    """Which stretches of these siblings tried, failed and recovered, or gave up?"""

    parent: Subtask
    """The parent, with its children reconciled."""
    issues: tuple[Issue, ...]
    """The issues below it that are open."""
    key_actions: tuple[str, ...]
    """Leaves that are kept by rule."""

    @property
    def subject(self) -> str:
        return self.parent.id


class Reconciliation(Question, frozen=True, kw_only=True):
    """Does it fit together, was it reached, what is left, and which inherited issue has been settled by what?"""

    subtree: Subtask
    """The parent with its children compressed."""
    issues: tuple[Issue, ...]
    """The issues that it inherits."""
    key_actions: tuple[str, ...]
    """Leaves that are kept by rule."""

    @property
    def subject(self) -> str:
        return self.subtree.id


class Settlement(Question, frozen=True, kw_only=True):
    """Compression and reconciliation of a parent, in one."""

    parent: Subtask
    """The parent, with its children reconciled."""
    issues: tuple[Issue, ...]
    """The issues that it inherits."""
    key_actions: tuple[str, ...]
    """Leaves that are kept by rule."""

    @property
    def subject(self) -> str:
        return self.parent.id


type AnyQuestion = (
    Boundary | Cuts | Score | Labels | Summary | Digest | TopLevel | Compression | Reconciliation | Settlement
)


class Correction(Struct, frozen=True):
    """Why the previous reply could not be used."""

    reply: str
    """The reply."""
    error: str
    """What is wrong with it."""


class Analyst(Protocol):
    """Whoever answers the judgements: a language model, the built-in rules, a file.

    `ask` gives the reply as text, which should be the JSON that the question's answer model describes (`answers.py`).
    It is parsed and checked by who asks, whoever answered. It raises `AnalystFailed` when there is no reply to be had;
    everything else that it raises ends the run."""

    name: str

    async def ask(self, question: AnyQuestion, correction: Correction | None = None) -> str: ...
