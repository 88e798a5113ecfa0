"""The words for what a rerun can reuse of a subtask, in messages, pages and prompts. Nothing reads them back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dense.analysis.wording.phrases import listed, more, paths_text
from dense.facets import FACETS, Artifact, DeadEnd, Facets, KeyValue, Mechanism, Order, StateChange
from dense.text.quoting import code_span, one_line

MISSING = {"no command": "command not found", "no module": "no such module", "no package": "no such package"}
STORED = {"committed": "changes are committed", "pushed": "changes are pushed"}


def facet_text(facets: Facets, name: str) -> str:
    """All facts of a facet as one text; empty if there are none."""
    return "; ".join(facet_clauses(facets, name))


def facet_clauses(facets: Facets, name: str) -> list[str]:
    """The facts of a facet as clauses, each once, and how many more there are. An unverified claim is none."""
    facts = getattr(facets, name)
    clauses = list(
        dict.fromkeys([WORDS[name](fact) for fact in facts if not (type(fact) is KeyValue and fact.is_claim)])
    )
    rest = and_more(facets.left_out.get(name, 0))
    return [*clauses, rest] if rest else clauses


def and_more(count: int) -> str:
    """The end of a list that is not whole; empty for a whole one."""
    return f"and {more(count)}" if count else ""


def describe_value(value: KeyValue) -> str:
    """`total` with what it is; a value in an analyst's words with the action that verified it."""
    if value.is_claim:
        return f"claimed, not verified: {value.text}"
    if value.text:
        return f"{value.text} (a{value.check})" if value.check is not None else value.text
    return f"{one_line(value.name, 40)} {code_span(value.value, 60)}"


def describe_dead_end(one: DeadEnd) -> str:
    """What was tried and what came of it."""
    if one.kind in MISSING:
        text = f"{code_span(one.tried, 60)}: {MISSING[one.kind]}"
    elif one.kind == "nothing found":
        text = f"{one.tried}: nothing found"
    elif one.kind == "tries":
        span = f"a{one.first}" if one.first == one.last else f"a{one.first}-a{one.last}"
        way = f"; what worked: {one.instead}" if one.instead else ""
        return f"{span}: {one.tried}{way} ({one.outcome})"
    else:
        text = f"{one.tried}: {one.saw}" if one.kind else one.text
    return f"{text} ({one.instead} runs)" if one.instead else text


def describe_mechanism(one: Mechanism) -> str:
    """What works, and in place of what."""
    if one.kind == "edit":
        change = f"{code_span(one.fails)} → {code_span(one.works)}" if one.works else f"without {code_span(one.fails)}"
        return f"{change} in {paths_text([one.path])}" if one.path else change
    return f"{one.works} works, {one.fails} does not" if one.kind else one.text


def mechanism_names(one: Mechanism) -> tuple[str, ...]:
    """The code that the words for a mechanism name, as they show it."""
    works, fails = one.works, one.fails
    if one.kind == "edit":
        works, fails = (code_span(text) if text else "" for text in (works, fails))
    return tuple([text.strip("` ") for text in (works, fails, one.path) if text])


def _describe_artifact(one: Artifact) -> str:
    if one.text:
        return f"{one.text} (a{one.action})" if one.action is not None else one.text
    if one.is_guess:
        return f"{code_span(one.path)} (as the agent typed it: no output had shown that)"
    return f"{code_span(one.path)} (read back: {one.shown})" if one.shown else code_span(one.path)


def _describe_state(one: StateChange) -> str:
    match one.kind:
        case "installed":
            return f"installed {listed([code_span(name, 40) for name in one.names], 4)}"
        case "running":
            return f"running: {listed([code_span(name, 90) for name in one.names])}"
        case "removed":
            return f"removed {paths_text(one.names)}"
        case "committed" | "pushed":
            return STORED[one.kind]
        case _:
            return one.text


def _describe_order(one: Order) -> str:
    match one.kind:
        case "install":
            return f"install {listed([code_span(name, 40) for name in one.names])} before {one.then}"
        case "make":
            return f"make {paths_text(one.names)} before {one.then}"
        case _:
            return one.text


WORDS: Mapping[str, Callable[[Any], str]] = dict(
    zip(
        FACETS,
        (
            _describe_artifact,
            _describe_state,
            describe_value,
            describe_mechanism,
            _describe_order,
            describe_dead_end,
            str,
        ),
        strict=True,
    )
)
"""What writes a fact of each facet."""
