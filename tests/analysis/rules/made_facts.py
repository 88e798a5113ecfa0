"""Facts of a single step, for tests."""

from __future__ import annotations

from msgspec import structs

from dense.analysis.actions.effects import Effects
from dense.analysis.actions.observations.result import ObservedResult
from dense.analysis.actions.step_effects import commands
from dense.analysis.evidence.facts.facts import ActionFacts, collect_facts
from dense.tree import Leaf


def facts(leaf: Leaf, effects: Effects, result: ObservedResult) -> ActionFacts:
    (found,) = collect_facts([leaf.step], [effects], [result], [commands(leaf.step)], leaf.action)
    return structs.replace(found, is_answered=found.is_answered or not result.is_empty)
