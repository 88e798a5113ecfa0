"""Facts of a single step, for tests."""

from __future__ import annotations

from msgspec import structs

from dense.evidence.actions import commands
from dense.evidence.actions.effects import Effects
from dense.evidence.facts.facts import ActionFacts, collect_facts
from dense.evidence.observations.result import ObservedResult
from dense.tree import Leaf


def facts(leaf: Leaf, effects: Effects, result: ObservedResult) -> ActionFacts:
    (found,) = collect_facts([leaf.step], [effects], [result], [commands(leaf.step)], leaf.action)
    return structs.replace(found, is_answered=found.is_answered or not result.is_empty)
