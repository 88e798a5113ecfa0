"""What a reply must look like: a model for each question, a parser for what models really write, and tight JSON
schemas.

Reasons stand before verdicts in every answer, so that the verdict follows from them.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

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


class Answer(BaseModel):
    """The base of all answers: unknown fields are ignored, since models like to add some."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class BoundaryAnswer(Answer):
    """`action_index`: an ordinal, 0 for the head alone, -1 for more."""

    reasoning: str = ""
    action_index: int


class CutsAnswer(Answer):
    """`ends`: the ordinal of the last node of each stretch, in order."""

    reasoning: str = ""
    can_mount_all: bool = False
    ends: list[int]


class ScoreAnswer(Answer):
    reasoning: str = ""
    label: Label


class LabelAnswer(Answer):
    id: str
    reasoning: str = ""
    label: Label


class LabelsAnswer(Answer):
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


class SummaryAnswer(Answer):
    subtitle: str = Field(min_length=1)
    summary: str = Field(min_length=1)
    artifacts: str = NONE
    final_state: str = NONE
    key_values: str = NONE
    key_mechanisms: str = NONE
    critical_order: str = NONE
    dead_ends: str = NONE
    open_issues: str = NONE

    @field_validator(
        "artifacts",
        "final_state",
        "key_values",
        "key_mechanisms",
        "critical_order",
        "dead_ends",
        "open_issues",
        mode="before",
    )
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return _text(value)


class DigestAnswer(SummaryAnswer):
    labels: list[LabelAnswer] = Field(default_factory=list[LabelAnswer])


class TopLevelAnswer(Answer):
    reasoning: str = ""
    can_mount_all: bool


class Group(Answer):
    mode: Literal["keep", "shortcut"]
    source_node_ids: list[str]
    title: str = ""
    dead_end: str = ""
    working_path: str = ""
    outcome: ShortcutOutcome = "unknown"
    open_issue: str = ""
    evidence_node_ids: list[str] = Field(default_factory=list)
    key_action_ids: list[str] = Field(default_factory=list)


class CompressionAnswer(Answer):
    groups: list[Group]


class IssueAnswer(Answer):
    issue: str
    evidence_node_ids: list[str] = Field(default_factory=list)


class ReconciliationAnswer(Answer):
    coherence: Coherence
    completion: Completion
    summary: str = ""
    open_issues: list[IssueAnswer] = Field(default_factory=list[IssueAnswer])
    fatal_issues: list[IssueAnswer] = Field(default_factory=list[IssueAnswer])
    resolved_issue_ids: list[str] = Field(default_factory=list)
    resolution_evidence: dict[str, list[str]] = Field(default_factory=dict)
    key_action_ids: list[str] = Field(default_factory=list)


class SettlementAnswer(Answer):
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
        return model.model_validate(_json_in(reply))
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
