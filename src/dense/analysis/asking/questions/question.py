"""What every question has, and what it takes to answer one."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from msgspec import Struct

from dense.analysis.answers import Answer
from dense.analysis.asking.schemas import Schema
from dense.analysis.asking.views import Limits
from dense.trajectory import Task

if TYPE_CHECKING:
    from dense.analysis.asking.rules_answerer import RulesAnswerer
    from dense.model.chat import ChatRequest


class Question(Struct, frozen=True, kw_only=True):
    """Something that is asked about a task or an attempt. It holds nodes, not prose."""

    task: Task | None
    """What the agent was asked."""

    @property
    def kind(self) -> str:
        """The question's name: `boundary`, `score`, …"""
        return type(self).__name__.lower()

    @property
    def subject(self) -> str:
        """What it is about, so that the same question of the same run has the same key."""
        raise NotImplementedError

    @property
    def key(self) -> str:
        """The question's name within a run."""
        return f"{self.kind} {self.subject}"


class Judgement(Question, frozen=True, kw_only=True):
    """A question of DENSE. Everything about it is in its class and in one template, `prompts/{kind}.md.j2`."""

    answer: ClassVar[type[Answer]]
    """What a reply must look like."""

    @abstractmethod
    def slots(self, limits: Limits) -> dict[str, Any]:
        """What its template has places for."""
        raise NotImplementedError

    @abstractmethod
    def schema(self, limits: Limits) -> Schema:
        """The tightest JSON schema of its answer."""
        raise NotImplementedError

    @abstractmethod
    def outline(self) -> dict[str, Any]:
        """An answer of ordinary size, by shape alone: it says nothing."""
        raise NotImplementedError


class MethodQuestion(Question, frozen=True, kw_only=True):
    """A question of another method: it brings its own prompt, and the rules can answer it."""

    @abstractmethod
    def request(
        self,
        correction: Correction | None = None,
        *,
        prompt: int | None = None,
        max_output_tokens: int = 8_192,
        temperature: float | None = None,
    ) -> ChatRequest:
        """What a model is asked; `prompt` limits the whole, in bytes."""
        raise NotImplementedError

    @abstractmethod
    def outline(self) -> dict[str, Any]:
        """An answer of ordinary size, by shape alone: it says nothing."""
        raise NotImplementedError

    @classmethod
    @abstractmethod
    def prompt_hash(cls) -> str:
        """A hash of the words around the material, for the record of a run."""
        raise NotImplementedError

    @abstractmethod
    def by_rules(self, rules: RulesAnswerer) -> Answer:
        """What the built-in rules answer."""
        raise NotImplementedError


def as_judgement(question: Question) -> Judgement:
    """The question, if it is one of DENSE's; `TypeError` if it is another method's."""
    if not isinstance(question, Judgement):
        raise TypeError(f"{question.kind} is no judgement of DENSE")
    return question


class Correction(Struct, frozen=True):
    """Why the previous reply could not be used."""

    reply: str
    """The reply."""
    error: str
    """What is wrong with it."""


class Answerer(Protocol):
    """Whoever answers questions: a language model, a file.

    `ask` returns the reply as text, which should be the JSON that the question's answer describes; the asker parses and
    checks it. `ask` raises `AnalystFailed` if there is no reply; every other error ends the run."""

    @property
    def name(self) -> str: ...

    async def ask(self, question: Question, correction: Correction | None = None) -> str: ...
