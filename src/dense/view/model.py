"""What the page shows of a run: plain values for the page's script, without markup."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dense.analysis.detectors.assessment import TraceAssessment
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.wording.actions import describe_action
from dense.analysis.wording.facets import facet_text
from dense.message.budget import raw_size
from dense.text.clip import clip_end, clip_middle
from dense.trajectory import Step, ToolCall, Trajectory
from dense.tree import Issue, Leaf, Node, ReconciledTree, Shortcut, Subtask, first_action, last_action, leaves
from dense.view.load import LoadedRun

MAX_LABEL_CHARS = 110
MAX_TEXT_CHARS = 200_000
"""Of one text of a step; more than a person reads."""
MAX_SUBAGENT_STEPS = 200
FACETS = (
    ("artifacts", "files"),
    ("final_state", "left behind"),
    ("key_values", "values"),
    ("key_mechanisms", "needs"),
    ("critical_order", "order"),
    ("dead_ends", "dead ends"),
)
"""The facets of a subtask, and what the page calls them."""

type Values = dict[str, Any]


def run_values(run: LoadedRun) -> Values:
    """Everything that the page shows of a run at once; the texts of steps are apart, in `step_values`."""
    tree, trajectory = run.tree, run.trajectory
    facts = (run.assessment or TraceAssessment(trajectory)).evidence.facts
    actions = {leaf.id: leaf.action for leaf in leaves(tree.root)} if tree is not None else {}
    return {
        "name": _name(run),
        "method": run.record.method,
        "state": _state(tree),
        "task": trajectory.task.instruction if trajectory.task else "",
        "notes": [*run.notes, *((tree.redacted,) if tree and tree.redacted else ())],
        "sizes": list(_sizes(run)),
        "requirements": [
            {"text": requirement.text, "met": requirement.met, "evidence": list(requirement.evidence)}
            for requirement in (tree.requirements if tree else ())
        ],
        "next": [
            {"text": step.text, "evidence": list(step.evidence), "untested": step.is_untested}
            for step in (tree.next_steps if tree else ())
        ],
        "issues": [_issue(issue, actions) for issue in tree.issues] if tree else [],
        "summary": tree.root.summary if tree else "",
        "tree": [_node(child) for child in tree.root.children] if tree else [],
        "root": tree.root.id if tree else "",
        "actions": actions,
        "steps": [_step_row(fact, step) for fact, step in zip(facts, trajectory.steps, strict=True)],
        "message": run.message,
        "given": run.given,
    }


def step_values(step: Step, depth: int = 0) -> Values:
    """The texts of one step, as recorded."""
    values: Values = {"at": str(step.source)}
    if step.timestamp:
        values["time"] = step.timestamp
    if step.agent:
        values["agent"] = step.agent
    if step.message.strip():
        values["says"] = _text(step.message)
    if step.reasoning.strip():
        values["thinks"] = _text(step.reasoning)
    if step.calls:
        values["calls"] = [_call(call) for call in step.calls]
    if step.observations:
        values["seen"] = [
            {
                "text": _text(observation.text),
                "from": observation.origin,
                "exit": observation.exit_code,
                "error": bool(observation.is_error),
            }
            for observation in step.observations
        ]
    if step.subagents and depth < 3:
        values["agents"] = [
            {
                "name": agent.agent or "sub-agent",
                "count": len(agent.steps),
                "steps": [step_values(inner, depth + 1) for inner in agent.steps[:MAX_SUBAGENT_STEPS]],
            }
            for agent in step.subagents
        ]
    return values


def _name(run: LoadedRun) -> str:
    """The task's name; else the agent and the trace's ID, which alone says nothing to a person."""
    task = run.trajectory.task
    named = task.name if task and task.name else ""
    return named or " ".join(filter(None, (run.trajectory.agent, run.trajectory.id)))


def _state(tree: ReconciledTree | None) -> str:
    return tree.root.verdict.state if tree is not None and tree.root.verdict is not None else ""


def _sizes(run: LoadedRun) -> Iterator[tuple[str, str]]:
    trajectory, record = run.trajectory, run.record
    yield "trace", str(trajectory.source)
    yield "format", trajectory.format
    if trajectory.agent:
        yield "agent", " ".join(filter(None, (trajectory.agent, trajectory.agent_version)))
    if trajectory.model:
        yield "model", trajectory.model
    yield "actions", f"{len(trajectory.steps):,}"
    raw, size = raw_size(trajectory), len(run.message.encode("utf-8", "replace"))
    yield "text of the trace", f"{raw:,} bytes"
    if run.message:
        yield "message", f"{size:,} bytes" + (f", {size / raw:.0%} of it" if raw else "")
    yield from _usage(trajectory)
    yield "analyst", record.analyst if record.analyst else "rules"
    yield "method", record.method
    if record.totals.calls:
        yield "model calls", f"{record.totals.calls:,}"
    if record.dropped:
        yield "left out", f"{len(record.dropped)} parts, to keep the size"


def _usage(trajectory: Trajectory) -> Iterator[tuple[str, str]]:
    usage = trajectory.usage
    if usage is None:
        return
    names = (("input", usage.input), ("cache read", usage.cache_read), ("cache write", usage.cache_write))
    parts = [f"{name} {count:,}" for name, count in (*names, ("output", usage.output)) if count is not None]
    if parts:
        yield "tokens of the attempt", ", ".join(parts)
    if usage.cost_usd is not None:
        yield "cost of the attempt", f"{usage.cost_usd:.4f} USD"


def _issue(issue: Issue, actions: dict[str, int]) -> Values:
    return {
        "id": issue.id,
        "text": issue.text,
        "code": issue.code,
        "fatal": issue.severity == "fatal",
        "open": issue.resolved_at is None,
        "raised": issue.raised_at,
        "resolved": issue.resolved_at or "",
        "evidence": [_reference(node, actions) for node in issue.evidence],
        "resolution": [_reference(node, actions) for node in issue.resolution],
        "quote": issue.quote,
    }


def _reference(node: str, actions: dict[str, int]) -> str:
    """An action by its number; any other node by its identifier."""
    return f"a{actions[node]}" if node in actions else node


def _node(node: Node) -> Values:
    span = {"id": node.id, "first": first_action(node), "last": last_action(node)}
    if isinstance(node, Leaf):
        return {**span, "kind": "action"}
    children = [_node(child) for child in node.children]
    if isinstance(node, Shortcut):
        more = [
            (name, text)
            for name, text in (("dead end", node.dead_end), ("what worked", node.working_path))
            if text.strip()
        ]
        return {
            **span,
            "kind": "shortcut",
            "title": node.title,
            "state": node.outcome,
            "more": more,
            "children": children,
        }
    return {
        **span,
        "kind": "subtask",
        "title": node.title,
        "state": node.verdict.state if node.verdict is not None else "unknown",
        "summary": node.summary,
        "more": list(_facets(node)),
        "children": children,
    }


def _facets(node: Subtask) -> Iterator[tuple[str, str]]:
    for field, name in FACETS:
        if text := facet_text(node.facets, field):
            yield name, text


def _step_row(fact: ActionFacts, step: Step) -> tuple[str, str, str]:
    """A label, what the action was for, and how it went."""
    label = describe_action(fact, step, MAX_LABEL_CHARS) or clip_end(" ".join(step.message.split()), MAX_LABEL_CHARS)
    outcome = "failed" if fact.has_failed else "passed" if fact.has_passed else "changed" if fact.products else ""
    return label, fact.phase, outcome


def _call(call: ToolCall) -> Values:
    texts = {name: value for name, value in call.arguments.items() if isinstance(value, str)}
    others = {name: value for name, value in call.arguments.items() if not isinstance(value, str)}
    values: Values = {"name": call.name, "texts": [(name, _text(value)) for name, value in texts.items()]}
    if others:
        values["rest"] = _text(json.dumps(others, ensure_ascii=False, indent=1, default=str))
    return values


def _text(text: str) -> str:
    return clip_middle(text, MAX_TEXT_CHARS)
