"""Length-limited views of what a question holds: what a model gets to read of actions, observations and nodes.

A view is text for one prompt. It keeps the head and the tail of what is too long and says how much is missing between
them; it cannot open or close a tag of ours; and the originals stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from dense.analysis.wording.facets import facet_text
from dense.facets import Facets
from dense.text.clip import clip_end, clip_middle
from dense.trajectory import Observation, Step, ToolCall
from dense.tree import Issue, Leaf, Node, Shortcut, Subtask, leaves, nodes


class Limits(Struct, frozen=True):
    """How long each kind of view may be, in characters if nothing else is said."""

    task: int
    """The task."""
    queued: int
    """An entry of a queue."""
    queue: int
    """All entries of a queue together, as far as `least` allows."""
    target: int
    """An action to be scored, and its observation: each."""
    neighbour: int
    """Another action of the subtask in which one is scored."""
    member: int
    """An action of a subtask to be summarised, and its observation: each."""
    child: int
    """An action among the children of a parent that is compressed or reconciled, and its observation: each."""
    evidence: int
    """An action further below, and its observation: each."""
    retained: int
    """How many actions are shown below each inner child: a number."""
    facets: int
    """How many facets are shown of each node: a number."""
    summary: int
    """A summary."""
    facet: int
    """Any other text about a node: a facet, an issue, a reason, a dead end."""
    reply: int
    """The previous reply, in a correction; its error likewise."""
    answer: int
    """A text in the answer: the schema allows no more. Short ones, such as titles, get less."""
    prompt: int
    """The whole prompt, in bytes."""
    least: int = 24
    """No view is shrunk below this."""

    def shrunk(self, factor: float) -> Limits:
        """The same with all views shorter; what is not a view stays."""
        kept, numbers = ("answer", "prompt", "least"), ("retained", "facets")
        return msgspec.structs.replace(
            self,
            **{
                name: max(0 if name in numbers else self.least, int(getattr(self, name) * factor))
                for name in self.__struct_fields__
                if name not in kept
            },
        )


FULL = Limits(
    task=12_000,
    queued=600,
    queue=200_000,
    target=2_400,
    neighbour=700,
    member=1_800,
    child=1_000,
    evidence=300,
    retained=4,
    facets=7,
    summary=1_200,
    facet=500,
    reply=12_000,
    answer=1_600,
    prompt=600_000,
)
"""For ordinary models."""

SMALL = Limits(
    task=300,
    queued=90,
    queue=1_600,
    target=300,
    neighbour=60,
    member=140,
    child=110,
    evidence=60,
    retained=0,
    facets=0,
    summary=140,
    facet=80,
    reply=400,
    answer=60,
    prompt=5_600,
)
"""For a local model with a window of 8,000 tokens: whole prompts of about 1,500 tokens."""

TAGS = "entry task action observation subtask shortcut summary reason issue material dead-end working-path".split()
"""The tags that views and prompts use, besides those of the facets."""

ENTRY_CHARS = 40
"""What the tags of an entry take."""
NAME_CHARS = 6
"""What an identifier takes, about."""
NAMES_FACTOR = 8
"""A list of identifiers may take so many times the room of a short text."""
MAX_NEIGHBOURS = 40
"""So many actions before and behind the one in question are shown."""

_FACETS = "open_issues dead_ends key_values critical_order artifacts key_mechanisms final_state".split()
"""All facets, the most useful first."""
_TAG_NAMES = "|".join([*TAGS, *(name.replace("_", "-") for name in _FACETS)])
_LOOKALIKE = re.compile(
    rf"<(?=\s*/?\s*(?:{_TAG_NAMES})\b|[|｜][^<>\n]{{1,40}}[|｜]>|/?(?:start|end)_of_turn>)", re.IGNORECASE
)
"""Text that would read as one of our tags, or as a chat template's own token (some servers take those literally)."""
_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
_GAP = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")


def safe_text(text: str, limit: int) -> str:
    """A text from a trajectory or an analyst as a prompt may show it: clipped, on visible characters, without anything
    that reads as a tag of ours. Never longer than `limit`."""
    return clip_middle(_safe(text), limit)


def _safe(text: str) -> str:
    text = _ANSI.sub("", text).strip().replace("\r\n", "\n").replace("\r", "\n")
    return _LOOKALIKE.sub("‹", _INVISIBLE.sub("\ufffd", _GAP.sub("\n\n", text)))


def _joined(parts: Iterable[str], limit: int) -> str:
    """The parts below each other in at most `limit` characters; each is clipped once, from the original."""
    safe = [_safe(part) for part in parts]
    granted = shares([len(part) for part in safe], max(0, limit - len(safe) + 1))
    text = "\n".join(clip_middle(part, share) for part, share in zip(safe, granted, strict=True))
    return clip_end(text, limit)  # the breaks between very many parts


def shares(lengths: Sequence[int], limit: int) -> list[int]:
    """How much of `limit` each text gets: short ones what they need, long ones an equal part of the rest."""
    granted = [0] * len(lengths)
    rest, waiting = limit, sorted(range(len(lengths)), key=lengths.__getitem__)
    while waiting:
        index = waiting.pop(0)
        granted[index] = min(lengths[index], rest // (len(waiting) + 1))
        rest -= granted[index]
    return granted


def action_view(step: Step, limit: int) -> str:
    """What the agent said and called; what it thought if it said nothing."""
    said = step.message.strip() or step.reasoning.strip()
    parts = [said] * bool(said) + [_call(call) for call in step.calls]
    if step.subagents:
        parts.append(f"(started {len(step.subagents)} sub-agents: {sum(len(t.steps) for t in step.subagents)} steps)")
    if not parts:
        return "(nothing recorded)"
    return _joined(parts, limit)


def _call(call: ToolCall) -> str:
    texts = {name: value for name, value in call.arguments.items() if isinstance(value, str)}
    rest = {name: value for name, value in call.arguments.items() if name not in texts}
    if len(texts) == 1:
        parts = [f"→ {call.name}: {next(iter(texts.values())).strip()}"]
    else:
        parts = [f"→ {call.name}", *(f"{name}: {value}" for name, value in texts.items())]
    return "\n".join(parts) + (f" {_json(rest)}" if rest else "")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def observation_view(step: Step, limit: int) -> str:
    """What came back."""
    observations = step.observations
    if not observations:
        return "(nothing came back)"
    parts = [
        _marks(observation, number if len(observations) > 1 else None) + observation.text.strip()
        for number, observation in enumerate(observations, 1)
    ]
    return _joined(parts, limit) or "(empty)"


def _marks(observation: Observation, number: int | None) -> str:
    marks = [f"result {number}"] if number else []
    if observation.origin != "tool":
        marks.append(f"from the {observation.origin}")
    if observation.is_error:
        marks.append("error")
    if observation.exit_code is not None:
        marks.append(f"exit code {observation.exit_code}")
    return f"({', '.join(marks)}) " if marks else ""


def tag(name: str, body: str, /, **attributes: str | int | None) -> str:
    """An element of our own. Attributes that are None are left out; underscores become hyphens."""
    named = "".join(
        f' {key.replace("_", "-")}="{_attribute(value)}"' for key, value in attributes.items() if value is not None
    )
    return f"<{name}{named}>\n{body}\n</{name}>" if "\n" in body else f"<{name}{named}>{body}</{name}>"


def _attribute(value: str | int) -> str:
    return " ".join(str(value).split()).replace('"', "'").replace("<", "‹").replace(">", "›")


def visible_queue(queue: Sequence[Node], limits: Limits) -> Sequence[Node]:
    """The nodes of a queue that a prompt has room for, from its head on."""
    return queue[: max(2, limits.queue // (limits.least + ENTRY_CHARS))]


def queue_view(queue: Sequence[Node], head: int, limits: Limits) -> str:
    """Numbered entries: actions as what the agent did, nodes by title and summary."""
    each = min(limits.queued, max(limits.least, limits.queue // max(1, len(queue))))
    return "\n".join(tag("entry", _entry(node, each, limits), n=number) for number, node in enumerate(queue, head))


def _entry(node: Node, each: int, limits: Limits) -> str:
    if isinstance(node, Leaf):
        return action_view(node.step, each)
    return safe_text(f"{node.title}\n{_about(node)}", min(limits.summary, 3 * each))


def _about(node: Subtask | Shortcut) -> str:
    return node.summary if isinstance(node, Subtask) else node.working_path or node.dead_end


def covers(node: Node) -> str:
    """The actions below a node, by the identifiers of the first and the last."""
    below = leaves(node)
    return below[0].id if len(below) == 1 else f"{below[0].id} to {below[-1].id}"


def subtask_view(subtask: str, members: Sequence[Node], target: Leaf, limits: Limits) -> str:
    """The small tree in which one action is scored."""
    return tag("subtask", _around(members, target, limits), id=subtask, focus="current-subtask")


def _around(members: Sequence[Node], target: Leaf, limits: Limits) -> str:
    """The members that are near the target, which is in one of them."""
    centre = next((position for position, node in enumerate(members) if _holds(node, target)), 0)
    reach = min(MAX_NEIGHBOURS, max(1, limits.queue // 100))
    first, last = max(0, centre - reach), min(len(members), centre + reach + 1)
    return "\n".join(
        [f"({first} more before)"] * (first > 0)
        + [_scored(node, target, limits) for node in members[first:last]]
        + [f"({len(members) - last} more behind)"] * (last < len(members))
    )


def _holds(node: Node, target: Leaf) -> bool:
    return any(leaf.id == target.id for leaf in leaves(node))


def _scored(node: Node, target: Leaf, limits: Limits) -> str:
    if not isinstance(node, Leaf):
        about = safe_text(f"{node.title}\n{_about(node)}", limits.neighbour)
        if _holds(node, target):  # whoever scores an action must see it, however deep it is
            about += "\n" + _around(node.children, target, limits)
        return tag("subtask", about, id=node.id, covers=covers(node))
    is_target = node.id == target.id
    view = action_view(node.step, limits.target if is_target else limits.neighbour)
    return tag("action", view, id=node.id, focus="TARGET" if is_target else None)


def members_view(members: Sequence[Node], limits: Limits) -> str:
    """What a subtask consists of, for its summary: actions with observations and labels, nodes with all that was said
    of them."""
    return "\n".join(
        _action(node, limits.member, limits, is_labelled=True) if isinstance(node, Leaf) else _described(node, limits)
        for node in members
    )


def _action(leaf: Leaf, limit: int, limits: Limits, *, is_labelled: bool, kept: str | None = None) -> str:
    parts = [action_view(leaf.step, limit), tag("observation", observation_view(leaf.step, limit))]
    if is_labelled and leaf.reason:
        parts.append(tag("reason", safe_text(leaf.reason, limits.facet)))
    return tag("action", "\n".join(parts), id=leaf.id, label=leaf.label if is_labelled else None, kept=kept)


def _described(node: Subtask | Shortcut, limits: Limits) -> str:
    parts = [tag("summary", safe_text(_about(node), limits.summary))]
    if isinstance(node, Subtask):
        parts += _facets(node.facets, limits)
    return tag("subtask", "\n".join(parts), id=node.id, title=safe_text(node.title, limits.facet), covers=covers(node))


def _facets(facets: Facets, limits: Limits) -> list[str]:
    filled = [(name, text) for name in _FACETS if (text := facet_text(facets, name))]
    return [tag(name.replace("_", "-"), safe_text(text, limits.facet)) for name, text in filled[: limits.facets]]


def facets_view(node: Subtask, limits: Limits) -> str:
    """What was said of a node besides its title and summary."""
    return "\n".join(_facets(node.facets, limits))


def candidates_view(candidates: Sequence[Node], limits: Limits) -> str:
    """The nodes that may be the task's phases."""
    return "\n".join(
        tag("action", action_view(node.step, limits.neighbour), id=node.id)
        if isinstance(node, Leaf)
        else tag(
            "subtask",
            "\n".join(
                [tag("summary", safe_text(_about(node), limits.summary))]
                + (_facets(_values(node.facets), limits) if isinstance(node, Subtask) else [])
            ),
            id=node.id,
            title=safe_text(node.title, limits.facet),
            actions=len(leaves(node)),
        )
        for node in candidates
    )


def _values(facets: Facets) -> Facets:
    """What may contradict a neighbour's."""
    return Facets(key_values=facets.key_values, open_issues=facets.open_issues)


def branch_view(children: Sequence[Node], kept: Collection[str], limits: Limits) -> str:
    """The children of a parent with labels, verdicts and evidence. `kept` are the actions that are kept by rule."""
    return "\n".join(_branch(child, frozenset(kept), limits) for child in children)


def _branch(node: Node, kept: frozenset[str], limits: Limits) -> str:
    match node:
        case Leaf():
            mark = "by rule" if node.id in kept else None
            return _action(node, limits.child, limits, is_labelled=True, kept=mark)
        case Shortcut():
            return _shortcut(node, kept, limits)
        case Subtask():
            return _subtask(node, kept, limits)


def _subtask(node: Subtask, kept: frozenset[str], limits: Limits) -> str:
    verdict = node.verdict
    return tag(
        "subtask",
        "\n".join(
            [
                tag("summary", safe_text(node.summary, limits.summary)),
                *_facets(node.facets, limits),
                *_below(node, verdict.key_actions if verdict else (), kept, limits),
            ]
        ),
        id=node.id,
        title=safe_text(node.title, limits.facet),
        covers=covers(node),
        kept=_names(retained(node, kept), limits) or None,
        coherence=verdict.coherence if verdict else None,
        completion=verdict.completion if verdict else None,
        state=verdict.state if verdict else None,
    )


def _shortcut(node: Shortcut, kept: frozenset[str], limits: Limits) -> str:
    paths = (("dead-end", node.dead_end), ("working-path", node.working_path))
    return tag(
        "shortcut",
        "\n".join(
            [tag(name, safe_text(text, limits.facet)) for name, text in paths if text]
            + _below(node, (*node.key_actions, *node.evidence), kept, limits)
        ),
        id=node.id,
        title=safe_text(node.title, limits.facet),
        sources=" ".join(child.id for child in node.children),
        covers=covers(node),
        kept=_names(retained(node, kept), limits) or None,
        outcome=node.outcome,
        evidence=_names(node.evidence, limits) or None,
        issue=node.issue,
    )


def _names(identifiers: Sequence[str], limits: Limits) -> str:
    """Identifiers, whole ones only: the last are those that matter if there is no room for all."""
    most = max(1, NAMES_FACTOR * limits.facet // NAME_CHARS)
    left_out = len(identifiers) - most
    return " ".join([f"({left_out} more)"] * (left_out > 0) + list(identifiers[-most:]))


def retained(child: Node, kept: Collection[str]) -> list[str]:
    """The actions that a child puts forward, which an analyst may name as key actions of its parent: itself if it is
    one, else those below it that are kept by rule or were named already."""
    if isinstance(child, Leaf):
        return [child.id]
    named = {name for node in nodes(child) for name in _named(node)}
    return [leaf.id for leaf in leaves(child) if leaf.id in named or leaf.id in kept]


def _named(node: Node) -> tuple[str, ...]:
    match node:
        case Leaf():
            return ()
        case Shortcut():
            return node.key_actions
        case Subtask():
            return node.verdict.key_actions if node.verdict else ()


def _below(node: Subtask | Shortcut, chosen: Iterable[str], kept: frozenset[str], limits: Limits) -> list[str]:
    """The actions that represent an inner node: those that an analyst chose, then those kept by rule, latest first."""
    wanted = frozenset(chosen)
    below = leaves(node)
    ranked = [leaf for leaf in reversed(below) if leaf.id in wanted]
    ranked += [leaf for leaf in reversed(below) if leaf.id in kept and leaf.id not in wanted]
    best = {leaf.id for leaf in (ranked or below[-1:])[: limits.retained]}
    return [_action(leaf, limits.evidence, limits, is_labelled=False) for leaf in below if leaf.id in best]


def issues_view(issues: Sequence[Issue], limits: Limits) -> str:
    """Issues that wait for a resolution."""
    return "\n".join(
        tag(
            "issue",
            safe_text(issue.text, limits.facet),
            id=issue.id,
            raised_at=issue.raised_at,
            evidence=_names(issue.evidence, limits) or None,
            fatal="yes" if issue.severity == "fatal" else None,
        )
        for issue in issues
    )
