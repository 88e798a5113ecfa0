"""Schemas: what fits them parses, right answers fit them, wrong identifiers and ordinals do not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from csv_questions import questions
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dense.analysis.answers import parse
from dense.analysis.asking.questions import Boundary
from dense.analysis.asking.questions.paper import BoundaryAnswer, CompressionAnswer, ReconciliationAnswer
from dense.analysis.asking.schemas import MAX_ENUM_VALUES
from dense.analysis.asking.views import FULL, SMALL
from dense.model.wires.schemas import is_strict
from dense.trajectory import Source, Step
from dense.tree import Leaf, Subtask

QUESTIONS = questions()
NAMES = sorted(QUESTIONS)

GROUP = {
    "mode": "keep",
    "source_node_ids": ["n15"],
    "title": "",
    "dead_end": "none",
    "working_path": "",
    "outcome": "unknown",
    "open_issue": "",
    "evidence_node_ids": [],
    "key_action_ids": [],
}
VERDICT = {
    "coherence": "coherent",
    "completion": "incomplete",
    "summary": "The total is written and read back; there is no chart.",
    "open_issues": [],
    "fatal_issues": [],
    "resolved_issue_ids": ["issue_0"],
    "resolution_evidence": {"issue_0": ["n7"], "issue_1": []},
    "key_action_ids": ["n6", "n10"],
}
SUMMARY: dict[str, str] = dict.fromkeys(
    "subtitle summary artifacts final_state key_values key_mechanisms critical_order dead_ends open_issues".split(),
    "none",
)


def keep(child: str) -> dict[str, Any]:
    return GROUP | {"source_node_ids": [child]}


RIGHT: dict[str, dict[str, Any]] = {
    "boundary": {"reasoning": "", "action_index": 12},
    "boundary-more": {"reasoning": "", "action_index": -1},
    "score": {"reasoning": "", "label": 0},
    "summary": SUMMARY,
    "toplevel": {"reasoning": "", "can_mount_all": False},
    "compression": {
        "groups": [
            GROUP | {"mode": "shortcut", "source_node_ids": ["n2", "n3", "n4", "n5", "n6"], "key_action_ids": ["n5"]},
            keep("n7"),
        ]
    },
    "reconciliation": VERDICT,
}

WRONG: list[tuple[str, list[str | int], Any]] = [
    ("boundary", ["action_index"], -1),
    ("boundary", ["action_index"], 8),
    ("boundary-more", ["action_index"], 6),
    ("score", ["label"], 1),
    ("score", ["label"], "0"),
    ("summary", ["summary"], ""),
    ("summary", ["extra"], "x"),
    ("compression", ["groups", 0, "source_node_ids", 0], "n8"),
    ("compression", ["groups", 0, "mode"], "merge"),
    ("compression", ["groups", 0, "evidence_node_ids"], ["a3"]),
    ("compression", ["groups"], []),
    ("reconciliation", ["coherence"], "broken"),
    ("reconciliation", ["resolved_issue_ids"], ["issue_2"]),
    ("reconciliation", ["resolution_evidence", "issue_0"], ["n14"]),
    ("reconciliation", ["resolution_evidence", "issue_9"], ["n7"]),
    ("reconciliation", ["key_action_ids"], ["n5"]),
    ("reconciliation", ["open_issues"], [{"issue": "", "evidence_node_ids": []}]),
]


def changed(answer: Any, path: list[str | int], value: Any) -> Any:
    copy = json.loads(json.dumps(answer))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return copy


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_schemas(name: str) -> None:
    Draft202012Validator.check_schema(QUESTIONS[name].schema(FULL))


@pytest.mark.parametrize("name", NAMES)
def test_a_right_answer_fits_and_parses(name: str) -> None:
    Draft202012Validator(QUESTIONS[name].schema(FULL)).validate(RIGHT[name])
    assert parse(json.dumps(RIGHT[name]), QUESTIONS[name].answer)


@pytest.mark.parametrize(("name", "path", "value"), WRONG, ids=lambda value: str(value)[:40])
def test_a_wrong_answer_does_not_fit(name: str, path: list[str | int], value: Any) -> None:
    validator = Draft202012Validator(QUESTIONS[name].schema(FULL))
    assert not validator.is_valid(changed(RIGHT[name], path, value))


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for inner in schema.values():
            yield from objects(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from objects(inner)


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_strict_and_closed(name: str) -> None:
    schema = QUESTIONS[name].schema(FULL)
    assert is_strict(schema)
    for inner in objects(schema):
        assert inner["required"] == list(inner["properties"])
        assert inner["additionalProperties"] is False


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("boundary", ["reasoning", "action_index"]),
        ("score", ["reasoning", "label"]),
        ("toplevel", ["reasoning", "can_mount_all"]),
        ("summary", list(SUMMARY)),
        ("reconciliation", list(VERDICT)),
    ],
)
def test_reasons_come_before_verdicts(name: str, order: list[str]) -> None:
    assert list(QUESTIONS[name].schema(FULL)["properties"]) == order


def answers(schema: dict[str, Any], root: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Whatever fits a schema."""
    if "$ref" in schema:
        return answers(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "object":
            return st.fixed_dictionaries({key: answers(inner, root) for key, inner in schema["properties"].items()})
        case "array":
            most = min(schema["maxItems"], max(6, schema.get("minItems", 0)))
            return st.lists(answers(schema["items"], root), min_size=schema.get("minItems", 0), max_size=most)
        case "string":
            return st.text(min_size=schema.get("minLength", 0), max_size=min(schema["maxLength"], 10))
        case "integer":
            return st.integers(schema["minimum"], schema["maximum"])
        case _:
            return st.booleans()


@settings(max_examples=80, deadline=None)
@given(st.data(), st.sampled_from(NAMES))
def test_whatever_fits_a_schema_parses(data: st.DataObject, name: str) -> None:
    schema = QUESTIONS[name].schema(SMALL)
    answer = data.draw(answers(schema, schema))
    Draft202012Validator(schema).validate(answer)
    parse(json.dumps(answer), QUESTIONS[name].answer)


def test_long_queues_are_bounded_instead_of_listed() -> None:
    queue = tuple(Leaf(f"n{number}", number + 1, Step(Source("a"), "x")) for number in range(MAX_ENUM_VALUES + 1))
    first = Boundary(task=None, level=1, queue=queue, head=7, is_last=False).schema(FULL)["properties"]["action_index"]
    assert first == {"type": "integer", "minimum": -1, "maximum": MAX_ENUM_VALUES + 7}


def test_many_nodes_are_not_listed() -> None:
    """Providers refuse schemas with very long enums."""
    children = tuple(Leaf(f"n{number}", number + 1, Step(Source("a"), "x")) for number in range(MAX_ENUM_VALUES + 1))
    question = msgspec.structs.replace(QUESTIONS["compression"], parent=Subtask("n999", 1, "t", "s", children))
    schema = question.schema(FULL)
    assert len(json.dumps(schema)) < 6_000
    Draft202012Validator(schema).validate({"groups": [keep("n5")]})


REPLIES = {
    "plain": "{}",
    "fenced": "```json\n{}\n```",
    "fenced without a name": "Here it is:\n```\n{}\n```\nDone.",
    "thought before": '<think>Is it {{1}}? {{"action_index": 0}} no.</think>\n{}',
    "words around": "Sure! The answer is {} I hope that helps.",
}


@pytest.mark.parametrize("form", REPLIES)
def test_what_models_really_write_is_parsed(form: str) -> None:
    reply = REPLIES[form].replace("{}", '{"reasoning": "tabs\tand\nlines", "action_index": 2}').replace("{{", "{")
    assert parse(reply.replace("}}", "}"), BoundaryAnswer).action_index == 2


def test_answers_are_parsed_with_additions() -> None:
    answer = parse(json.dumps(RIGHT["reconciliation"] | {"confidence": 0.9}), ReconciliationAnswer)
    assert answer.resolution_evidence["issue_0"] == ["n7"]
    assert parse(json.dumps(RIGHT["compression"]), CompressionAnswer).groups[1].source_node_ids == ["n7"]
