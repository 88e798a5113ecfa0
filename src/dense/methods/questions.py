"""Questions of methods other than DENSE: rendered from a template of their own, answered by a model or by the rules.

The record is shown whole; if it is longer than the model's window, whole steps are left out (`truncation`). A step
that alone takes more than its part is shown with head and tail."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from dense.analysis.actions.requests import with_context
from dense.analysis.answers import Answer
from dense.analysis.asking.asker import Asker
from dense.analysis.asking.prompt import AGAIN, SEPARATOR
from dense.analysis.asking.prompt import FOLDER as SHARED
from dense.analysis.asking.questions import Correction, MethodQuestion
from dense.analysis.asking.views import action_view, observation_view, safe_text, tag
from dense.methods.truncation import KeptEnds, describe_gap, keep_ends
from dense.model.chat import ChatRequest, Message
from dense.text.clip import clip_middle
from dense.tree import Leaf

if TYPE_CHECKING:
    from jinja2 import Environment, Template

MAX_ENUM_VALUES = 100
"""Up to so many values are an enum; providers refuse schemas with long ones."""
MAX_STEP_SHARE = 4
"""A step may take one in so many parts of the room before it is clipped."""
MAX_REPLY_CHARS = 12_000
"""How much of a reply, and of its error, a correction shows."""
TEXT: dict[str, Any] = {"type": "string", "maxLength": 1_600}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT, "maxItems": 20}


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

    def shown(self, actions: Sequence[Leaf]) -> tuple[Leaf, ...]:
        """The actions that a question about all of them shows."""
        first, last = self._kept(actions, self.room).of(actions)
        return (*first, *last)

    def record(self, actions: Sequence[Leaf], room: int) -> list[str]:
        """The views that there is room for, with a note in the place of the others."""
        rest = self._kept(actions, room)
        first, last = rest.of(actions)
        if rest.is_whole:
            return [self.of(leaf) for leaf in first]
        missing = actions[rest.head : rest.tail]
        gap = describe_gap(missing[0].action, missing[-1].action, sum(self.size(leaf) for leaf in missing))
        return [*map(self.of, first), f"[…{gap}…]", *map(self.of, last)]

    def _kept(self, actions: Sequence[Leaf], room: int) -> KeptEnds:
        """Which of these actions there is room for."""
        return keep_ends([self.size(leaf) for leaf in actions], room)

    @property
    def _limit(self) -> int:
        return self.room // (2 * MAX_STEP_SHARE)

    def _entry(self, leaf: Leaf) -> tuple[Leaf, str, int]:
        # The leaf is kept with its view, so that no other object can take its place in memory.
        if id(leaf) not in self._made:
            observation = tag("observation", observation_view(leaf.step, self._limit))
            view = tag("action", f"{action_view(leaf.step, self._limit)}\n{observation}", n=leaf.action)
            self._made[id(leaf)] = (leaf, view, len(view) if view.isascii() else len(view.encode("utf-8", "replace")))
        return self._made[id(leaf)]


class TemplateQuestion(MethodQuestion, frozen=True, kw_only=True):
    """A question whose words are in the template `{kind}.md.j2` of a folder."""

    prompts: ClassVar[Path]
    """The folder."""
    views: StepViews
    """The steps as prompts show them; all questions about one trajectory share them."""

    @abstractmethod
    def messages(self, task: str | None, template: Template, views: StepViews) -> tuple[Message, ...]:
        """The messages after the system prompt, with the task's text as it may be shown."""
        raise NotImplementedError

    @abstractmethod
    def schema(self, views: StepViews) -> dict[str, Any]:
        """The tightest JSON schema of an answer."""
        raise NotImplementedError

    def output_tokens(self, limit: int) -> int:
        """Where an answer is cut, if the limit is this for ordinary questions."""
        return limit

    def request(
        self,
        correction: Correction | None = None,
        *,
        prompt: int | None = None,
        max_output_tokens: int = 8_192,
        temperature: float | None = None,
    ) -> ChatRequest:
        """What a model is asked. Pure: the same question gives the same request."""
        views = self.views if prompt is None else StepViews(min(self.views.room, prompt))
        system, template = _template(self.prompts, self.kind)
        room = max(400, views.room // MAX_STEP_SHARE)
        task = None if self.task is None else safe_text(with_context(self.task), room)
        return ChatRequest(
            system=system,
            messages=(*self.messages(task, template, views), *(_again(correction) if correction else ())),
            schema=self.schema(views),
            max_output_tokens=self.output_tokens(max_output_tokens),
            temperature=temperature,
            label=self.key,
        )

    @classmethod
    def prompt_hash(cls) -> str:
        """The SHA-256 of the template, for the record of a run."""
        return hashlib.sha256((cls.prompts / f"{cls.__name__.lower()}.md.j2").read_bytes()).hexdigest()


class AttemptQuestion(TemplateQuestion, frozen=True, kw_only=True):
    """What questions about a whole attempt have in common."""

    actions: tuple[Leaf, ...]
    """All actions, in order."""

    @property
    def subject(self) -> str:
        return f"of {len(self.actions)} actions"


async def ask_question[A: Answer](
    asker: Asker, question: TemplateQuestion, model: type[A], check: Callable[[A], None] | None = None
) -> A | None:
    """The answer, with one corrective call; None if none could be used."""
    return await asker.ask(question, model, check, tries=2)


def task_message(task: str | None, marker: str) -> str:
    """The task, as every prompt shows it."""
    return _environment().get_template("parts/task.md.j2").render(task=task, marker=marker)


def object_schema(**properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object with these properties, all required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def number_schema(numbers: list[int]) -> dict[str, Any]:
    """The schema of a number that is one of these."""
    if len(numbers) <= MAX_ENUM_VALUES:
        return {"type": "integer", "enum": numbers}
    return {"type": "integer", "minimum": numbers[0], "maximum": numbers[-1]}


def _again(correction: Correction) -> tuple[Message, ...]:
    reply = clip_middle(correction.reply.strip(), MAX_REPLY_CHARS) or "(no answer)"
    return (
        Message("assistant", reply.encode(errors="replace").decode()),
        Message("user", AGAIN.format(error=safe_text(correction.error, MAX_REPLY_CHARS).rstrip(".") + ".")),
    )


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # The prompts are plain text for a model, not markup for a browser: what must be defused, the views defuse.
    return Environment(loader=FileSystemLoader(SHARED), undefined=StrictUndefined, autoescape=False)


@cache
def _template(folder: Path, kind: str) -> tuple[str, Template]:
    system, separator, user = (folder / f"{kind}.md.j2").read_text(encoding="utf-8").partition(SEPARATOR)
    if not separator:
        raise AssertionError(f"the prompt {kind} has no user part")
    environment = _environment()
    return environment.from_string(system).render(), environment.from_string(user)
