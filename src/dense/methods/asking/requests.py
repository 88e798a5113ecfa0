"""From a baseline's question to what a language model is asked. Pure: the same question gives the same request.

The record is shown whole; if it is longer than the model's window, whole steps are left out (`truncation`). A step
that alone takes more than its part is shown with head and tail. The questions of step-by-step begin alike, message by
message, so that providers can keep what they share."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from dense.analyst.prompt import AGAIN, SEPARATOR, marker_for
from dense.analyst.prompt import FOLDER as SHARED
from dense.analyst.questions import Correction
from dense.analyst.views import action_view, observation_view, safe_text, tag
from dense.methods.asking.questions import Advice, Assessment, BaselineQuestion, Decision, Overview
from dense.methods.truncation import KeptEnds, describe_gap, keep_ends
from dense.model.chat import ChatRequest, Message
from dense.text.clip import clip_middle
from dense.tree import Completion, Label, Leaf

if TYPE_CHECKING:
    from jinja2 import Environment, Template

FOLDER = Path(__file__).parent / "prompts"
KINDS = ("advice", "assessment", "decision", "overview")
MAX_ENUM_VALUES = 100
"""Up to so many values are an enum; providers refuse schemas with long ones."""
MAX_STEP_SHARE = 4
"""A step may take one in so many parts of the room before it is clipped."""
ASSESSMENT_TOKENS = 100
"""Tokens that the assessment of one action takes, about."""
MAX_ASSESSMENT_TOKENS = 32_768
MAX_REPLY_CHARS = 12_000
"""How much of a reply, and of its error, a correction shows."""


class StepViews:
    """The steps of one trajectory as prompts show them: made once, shown in many prompts.

    No step is longer than its part of the room, in characters for the action and for its observation."""

    def __init__(self, room: int) -> None:
        self.room = room
        self._made: dict[int, tuple[Leaf, str, int]] = {}

    def of(self, leaf: Leaf) -> str:
        """An action with what came back."""
        return self._entry(leaf)[1]

    def size(self, leaf: Leaf) -> int:
        """Its bytes."""
        return self._entry(leaf)[2]

    def target(self, leaf: Leaf) -> str:
        """An action without its result."""
        return tag("action", action_view(leaf.step, self._limit), n=leaf.action)

    def kept(self, actions: Sequence[Leaf], room: int) -> KeptEnds:
        """Which of these actions there is room for."""
        return keep_ends([self.size(leaf) for leaf in actions], room)

    @property
    def _limit(self) -> int:
        return self.room // (2 * MAX_STEP_SHARE)

    def _entry(self, leaf: Leaf) -> tuple[Leaf, str, int]:
        # The leaf is kept with its view, so that no other object can take its place in memory.
        if id(leaf) not in self._made:
            seen = tag("observation", observation_view(leaf.step, self._limit))
            view = tag("action", f"{action_view(leaf.step, self._limit)}\n{seen}", n=leaf.action)
            self._made[id(leaf)] = (leaf, view, len(view) if view.isascii() else len(view.encode("utf-8", "replace")))
        return self._made[id(leaf)]


def request_for(
    question: BaselineQuestion,
    correction: Correction | None = None,
    *,
    views: StepViews,
    max_output_tokens: int = 8_192,
    temperature: float | None = None,
) -> ChatRequest:
    """What a model is asked."""
    system, messages = _prompt(question, views)
    if isinstance(question, Assessment) and max_output_tokens >= 2_048:
        max_output_tokens = max(
            max_output_tokens, min(MAX_ASSESSMENT_TOKENS, ASSESSMENT_TOKENS * len(question.actions))
        )
    return ChatRequest(
        system=system,
        messages=(*messages, *(_again(correction) if correction else ())),
        schema=_schema(question, views),
        max_output_tokens=max_output_tokens,
        temperature=temperature,
        label=question.key,
    )


def shown_actions(actions: Sequence[Leaf], views: StepViews) -> tuple[Leaf, ...]:
    """The actions that a question about all of them shows."""
    first, last = views.kept(actions, views.room).of(actions)
    return (*first, *last)


def prompt_hashes() -> dict[str, str]:
    """The SHA-256 of each prompt, for the record of a run."""
    return {kind: hashlib.sha256((FOLDER / f"{kind}.md.j2").read_bytes()).hexdigest() for kind in KINDS}


def _prompt(question: BaselineQuestion, views: StepViews) -> tuple[str, tuple[Message, ...]]:
    """The part that never changes, then task, record and question."""
    system, user = _templates(question.kind)
    task = (
        None if question.task is None else safe_text(question.task.instruction, max(400, views.room // MAX_STEP_SHARE))
    )
    match question:
        case Advice():
            first = _task(task, marker_for(task or "", ()))
            return system, (Message("user", first), Message("user", user.render()))
        case Assessment() | Overview():
            record = "\n".join(_shortened(question.actions, views, views.room))
            marker = marker_for(task or "", (record,))
            numbers = ", ".join(str(leaf.action) for leaf in shown_actions(question.actions, views))
            last = user.render(record=record, marker=marker, numbers=numbers)
            return system, (Message("user", _task(task, marker), is_stable=True), Message("user", last))
        case Decision():
            earlier = _shortened(question.actions[:-1], views, views.room - views.room // MAX_STEP_SHARE)
            target = views.target(question.target)
            marker = marker_for(task or "", (*earlier, target))
            opening = f"{_task(task, marker)}\n\nWhat the agent had done and seen:\nBEGIN record [{marker}]"
            stable = (Message("user", text, is_stable=True) for text in (opening, *earlier))
            last = user.render(target=target, marker=marker, number=question.target.action)
            return system, (*stable, Message("user", last))


def _task(task: str | None, marker: str) -> str:
    return _environment().get_template("parts/task.md.j2").render(task=task, marker=marker)


def _shortened(actions: Sequence[Leaf], views: StepViews, room: int) -> list[str]:
    """The views that there is room for, with a note in the place of the others."""
    rest = views.kept(actions, room)
    first, last = rest.of(actions)
    if rest.is_whole:
        return [views.of(leaf) for leaf in first]
    missing = actions[rest.head : rest.tail]
    gap = describe_gap(missing[0].action, missing[-1].action, sum(views.size(leaf) for leaf in missing))
    return [*map(views.of, first), f"[…{gap}…]", *map(views.of, last)]


def _again(correction: Correction) -> tuple[Message, ...]:
    reply = clip_middle(correction.reply.strip(), MAX_REPLY_CHARS) or "(no answer)"
    return (
        Message("assistant", reply.encode(errors="replace").decode()),
        Message("user", AGAIN.format(error=safe_text(correction.error, MAX_REPLY_CHARS).rstrip(".") + ".")),
    )


def _schema(question: BaselineQuestion, views: StepViews) -> dict[str, Any]:
    text: dict[str, Any] = {"type": "string", "maxLength": 1_600}
    texts: dict[str, Any] = {"type": "array", "items": text, "maxItems": 20}
    label: dict[str, Any] = {"type": "integer", "enum": list(get_args(Label))}
    match question:
        case Advice():
            return _object(strategy={**texts, "minItems": 1}, risks=texts, checklist=texts)
        case Assessment():
            numbers = [leaf.action for leaf in shown_actions(question.actions, views)]
            entry = _object(action_index=_one_of(numbers), reasoning=text, label=label)
            count = len(numbers)
            return _object(actions={"type": "array", "items": entry, "minItems": count, "maxItems": count})
        case Decision():
            index = _one_of([question.target.action])
            return _object(action_index=index, known_basis=text, reasoning=text, label=label)
        case Overview():
            numbers = [leaf.action for leaf in shown_actions(question.actions, views)]
            entry = _object(action_index=_one_of(numbers), shows=text)
            return _object(
                evidence={"type": "array", "items": entry, "maxItems": 20},
                status={"type": "string", "enum": list(get_args(Completion))},
                summary=text,
                lessons=texts,
                next_steps=texts,
            )


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _one_of(numbers: list[int]) -> dict[str, Any]:
    if len(numbers) <= MAX_ENUM_VALUES:
        return {"type": "integer", "enum": numbers}
    return {"type": "integer", "minimum": numbers[0], "maximum": numbers[-1]}


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # The prompts are plain text for a model, not markup for a browser: what must be defused, the views defuse.
    return Environment(loader=FileSystemLoader([FOLDER, SHARED]), undefined=StrictUndefined, autoescape=False)


@cache
def _templates(kind: str) -> tuple[str, Template]:
    system, separator, user = (FOLDER / f"{kind}.md.j2").read_text(encoding="utf-8").partition(SEPARATOR)
    if not separator:
        raise AssertionError(f"the prompt {kind} has no user part")
    environment = _environment()
    return environment.from_string(system).render(), environment.from_string(user)
