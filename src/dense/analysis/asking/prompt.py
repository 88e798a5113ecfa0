"""From a question to what a language model is asked: templates, markers, and the guard that keeps a prompt in bounds.

Each question has a template in `prompts/`. The part above `=== user ===` is the same for every question of its kind;
the task comes next, the same for a whole trajectory; so providers can keep both. The material and the concrete question
come last.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from dense.analysis.actions.requests import with_context
from dense.analysis.asking.questions import JUDGEMENTS, Correction, Judgement
from dense.analysis.asking.views import FULL, Limits, safe_text
from dense.model.chat import ChatRequest, Message
from dense.text.clip import clip_middle

if TYPE_CHECKING:
    from jinja2 import Environment, Template

FOLDER = Path(__file__).parent / "prompts"
SEPARATOR = "\n=== user ===\n"
FAST_KINDS = ("whole", "window", "closing")
"""The questions of the fast profile; their templates are in `prompts/fast`."""
SHRINK_FACTOR = 0.7
"""How much shorter views get at each try to fit."""
MAX_SHRINKS = 16

AGAIN = """\
This answer cannot be used: {error}

Answer the same question once more, with one corrected JSON object and nothing else."""


class Templates(Struct, frozen=True):
    """The template of one kind of question, ready for use."""

    system: str
    """The part that never changes."""
    user: Template
    """Material and question."""


def render(
    question: Judgement,
    correction: Correction | None = None,
    limits: Limits = FULL,
    *,
    context_tokens: int = 128_000,
    max_output_tokens: int = 8_192,
    temperature: float | None = None,
) -> ChatRequest:
    """What a model is asked. Pure: the same question gives the same request.

    Views are shortened until the whole fits both the limits and the model's window, counted as two bytes a token to be
    on the safe side. Where even the shortest views do not fit, the middle of the material is left out."""
    room = min(limits.prompt, 2 * max(context_tokens - max_output_tokens, context_tokens // 4))
    system, messages = _fitted(question, correction, limits, room)
    return ChatRequest(
        system=system,
        messages=messages,
        schema=question.schema(limits),
        max_output_tokens=max_output_tokens,
        temperature=temperature,
        label=question.key,
    )


def prompt_size(request: ChatRequest) -> int:
    """How long the whole prompt is, in bytes."""
    return _size(request.system, request.messages)


def _size(system: str, messages: Iterable[Message]) -> int:
    return len(system.encode()) + sum(len(message.text.encode()) for message in messages)


def _fitted(
    question: Judgement, correction: Correction | None, limits: Limits, room: int
) -> tuple[str, tuple[Message, ...]]:
    system, messages = _prompt(question, correction, limits)
    for _ in range(MAX_SHRINKS):
        if _size(system, messages) <= room:
            return system, messages
        limits = limits.shrunk(SHRINK_FACTOR)
        system, messages = _prompt(question, correction, limits)
    over = _size(system, messages) - room
    return system, messages if over <= 0 else _without_middle(messages, over)


def _without_middle(messages: tuple[Message, ...], over: int) -> tuple[Message, ...]:
    """The material ends with the question, so that head and tail of its message are what must stay."""
    task, material, *rest = messages
    data = material.text.encode()
    half = max(200, len(data) - over - 60) // 2
    front, back = data[:half].decode(errors="ignore"), data[-half:].decode(errors="ignore")
    missing = len(material.text) - len(front) - len(back)
    text = f"{front}\n[… {missing:,} characters left out …]\n{back}"
    return (task, Message(material.role, text), *rest)


def _prompt(question: Judgement, correction: Correction | None, limits: Limits) -> tuple[str, tuple[Message, ...]]:
    templates = _templates(question.kind)
    slots = question.slots(limits)
    task = None if question.task is None else safe_text(with_context(question.task), limits.task)
    marker = marker_for(task or "", (value for value in slots.values() if isinstance(value, str)))
    messages = (
        Message("user", _task_template().render(task=task, marker=marker), is_stable=True),
        Message("user", templates.user.render(slots, marker=marker)),
    )
    return templates.system, messages + (_again(correction, limits) if correction else ())


def _again(correction: Correction, limits: Limits) -> tuple[Message, ...]:
    reply = clip_middle(correction.reply.strip(), limits.reply) or "(no answer)"
    return (
        Message("assistant", reply.encode(errors="replace").decode()),
        Message("user", AGAIN.format(error=safe_text(correction.error, limits.reply).rstrip(".") + ".")),
    )


def marker_for(task: str, texts: Iterable[str]) -> str:
    """A word that occurs in nothing that is shown. It follows from the task, so that all prompts of a trajectory
    begin alike."""
    shown_texts = [task, *texts]
    for number in count():
        marker = hashlib.sha256(f"{number} {task}".encode()).hexdigest()[:10]
        if not any(marker in text for text in shown_texts):
            return marker
    raise AssertionError("unreachable")


@cache
def environment() -> Environment:
    """The templates of all prompts, strict about undefined names."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # The prompts are plain text for a model, not markup for a browser: what must be defused, the views defuse.
    return Environment(loader=FileSystemLoader(FOLDER), undefined=StrictUndefined, autoescape=False)


@cache
def _templates(kind: str) -> Templates:
    system, separator, user = (FOLDER / f"{kind}.md.j2").read_text(encoding="utf-8").partition(SEPARATOR)
    if not separator:
        raise AssertionError(f"the prompt {kind} has no user part")
    templates = environment()
    return Templates(templates.from_string(system).render(), templates.from_string(user))


@cache
def _task_template() -> Template:
    return environment().get_template("parts/task.md.j2")


def kinds() -> list[str]:
    """The names of all judgements, which are those of their templates."""
    return [judgement.__name__.lower() for judgement in JUDGEMENTS]


def prompt_hashes() -> dict[str, str]:
    """The SHA-256 of each prompt, parts included, for the record of a run."""
    names = {kind: f"{kind}.md.j2" for kind in kinds()} | {kind: f"fast/{kind}.md.j2" for kind in FAST_KINDS}
    return {kind: hashlib.sha256("\0".join(_sources(name)).encode()).hexdigest() for kind, name in names.items()}


def _sources(name: str) -> list[str]:
    from jinja2 import meta

    source = (FOLDER / name).read_text(encoding="utf-8")
    included = sorted(part for part in meta.find_referenced_templates(environment().parse(source)) if part)
    texts = [text for part in included for text in _sources(part)]
    return [source, *texts] if "/" in name else [source, *texts, (FOLDER / "parts/task.md.j2").read_text("utf-8")]
