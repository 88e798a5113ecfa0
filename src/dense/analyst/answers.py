"""What a reply must look like: a model for each question, a parser for what models really write, and tight JSON
schemas.

Reasons stand before verdicts in every answer, so that the verdict follows from them. What a reply says is validated;
an answer that the program makes itself is right by its types, and is made as it is.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Annotated, Any, Literal, Self, cast, get_type_hints

import msgspec
from msgspec import NODEFAULT, Struct
from pydantic import BeforeValidator, Field, GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import CoreSchema, core_schema

from dense.analyst.questions import (
    Boundary,
    Compression,
    Cuts,
    Digest,
    Labels,
    Reconciliation,
    Score,
    Settlement,
    Summary,
    TopLevel,
)
from dense.tree import NONE, Coherence, Completion, Label, Leaf, Node, ShortcutOutcome, nodes


class BadAnswer(ValueError):
    """A reply that cannot be used. The text says why, for the one who is asked again."""


class Answer(Struct, frozen=True, kw_only=True):
    """The base of all answers: unknown fields are ignored, since models like to add some."""

    @classmethod
    def validated(cls, value: Any) -> Self:
        """The answer that a JSON value is; a `ValidationError` where it is none."""
        return _adapter(cls).validate_python(value)

    def json(self) -> str:
        """The answer as a model would write it."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Pydantic knows what models do to types, and takes a struct for an object of its fields."""
        types, names = get_type_hints(cls, include_extras=True), cls.__struct_fields__
        defaults = (NODEFAULT,) * (len(names) - len(cls.__struct_defaults__)) + cls.__struct_defaults__
        fields = {
            name: core_schema.typed_dict_field(handler.generate_schema(types[name]), required=default is NODEFAULT)
            for name, default in zip(names, defaults, strict=True)
        }
        return core_schema.no_info_after_validator_function(
            lambda value: cls(**value), core_schema.typed_dict_schema(fields)
        )


@cache
def _adapter[A: Answer](model: type[A]) -> TypeAdapter[A]:
    return TypeAdapter(model)


class BoundaryAnswer(Answer, frozen=True, kw_only=True):
    """`action_index`: an ordinal, 0 for the head alone, -1 for more."""

    reasoning: str = ""
    action_index: int


class CutsAnswer(Answer, frozen=True, kw_only=True):
    """`ends`: the ordinal of the last node of each stretch, in order."""

    reasoning: str = ""
    can_mount_all: bool = False
    ends: list[int]


class ScoreAnswer(Answer, frozen=True, kw_only=True):
    reasoning: str = ""
    label: Label


class LabelAnswer(Answer, frozen=True, kw_only=True):
    id: str
    reasoning: str = ""
    label: Label


class LabelsAnswer(Answer, frozen=True, kw_only=True):
    labels: list[LabelAnswer]


def _text(value: Any) -> Any:
    """Models put lists and objects where text was asked for."""
    if value is None:
        return NONE
    if isinstance(value, list):
        value = cast("list[Any]", value)
        return (
            "; ".join(item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in value) or NONE
        )
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value


type Text = Annotated[str, BeforeValidator(_text)]
type SomeText = Annotated[str, Field(min_length=1)]


class SummaryAnswer(Answer, frozen=True, kw_only=True):
    subtitle: SomeText
    summary: SomeText
    artifacts: Text = NONE
    final_state: Text = NONE
    key_values: Text = NONE
    key_mechanisms: Text = NONE
    critical_order: Text = NONE
    dead_ends: Text = NONE
    open_issues: Text = NONE


class DigestAnswer(SummaryAnswer, frozen=True, kw_only=True):
    labels: list[LabelAnswer] = []


class TopLevelAnswer(Answer, frozen=True, kw_only=True):
    reasoning: str = ""
    can_mount_all: bool


class Group(Answer, frozen=True, kw_only=True):
    mode: Literal["keep", "shortcut"]
    source_node_ids: list[str]
    title: str = ""
    dead_end: str = ""
    working_path: str = ""
    outcome: ShortcutOutcome = "unknown"
    open_issue: str = ""
    evidence_node_ids: list[str] = []
    key_action_ids: list[str] = []


class CompressionAnswer(Answer, frozen=True, kw_only=True):
    groups: list[Group]


class IssueAnswer(Answer, frozen=True, kw_only=True):
    issue: str
    evidence_node_ids: list[str] = []


class ReconciliationAnswer(Answer, frozen=True, kw_only=True):
    coherence: Coherence
    completion: Completion
    summary: str = ""
    open_issues: list[IssueAnswer] = []
    fatal_issues: list[IssueAnswer] = []
    resolved_issue_ids: list[str] = []
    resolution_evidence: dict[str, list[str]] = {}
    key_action_ids: list[str] = []


class SettlementAnswer(Answer, frozen=True, kw_only=True):
    groups: list[Group]
    verdict: ReconciliationAnswer


MODELS: dict[type, type[Answer]] = {
    Boundary: BoundaryAnswer,
    Cuts: CutsAnswer,
    Score: ScoreAnswer,
    Labels: LabelsAnswer,
    Summary: SummaryAnswer,
    Digest: DigestAnswer,
    TopLevel: TopLevelAnswer,
    Compression: CompressionAnswer,
    Reconciliation: ReconciliationAnswer,
    Settlement: SettlementAnswer,
}

_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)


def parse[A: Answer](reply: str, model: type[A]) -> A:
    """The answer in a reply. Fences, thinking and words around the JSON are tolerated; anything else is a
    `BadAnswer`."""
    try:
        return model.validated(_json_in(reply))
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, e['loc'])) or 'answer'}: {e['msg']}" for e in error.errors()[:8]]
        raise BadAnswer("; ".join(problems)) from None


def _json_in(reply: str) -> Any:
    text = _THINKING.sub("", reply).strip()
    starts = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    if not starts:
        raise BadAnswer("no JSON in the reply")
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text[min(starts) :])
    except (ValueError, RecursionError) as error:
        raise BadAnswer(f"not valid JSON: {error}") from None
    return value


def references(parent: Node) -> list[str]:
    """All nodes that evidence may name: the parent's children and everything below them."""
    return [node.id for node in nodes(parent) if node.id != parent.id]


def actions(parent: Node) -> list[str]:
    """All leaves below a node, by identifier."""
    return [node.id for node in nodes(parent) if isinstance(node, Leaf)]
