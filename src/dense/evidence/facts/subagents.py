"""What agents that an action started did: their changes count as its own, the rest is only counted."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from dense.evidence.actions import effects
from dense.evidence.actions.effects import Effects
from dense.trajectory import Step, Trajectory

DEEPEST = 4
"""Agents of agents."""
MOST = 2000
"""So many actions of others are looked at for one action."""


def with_subagents(step: Step, done: Effects) -> Effects:
    """What an action did, with the files that its agents wrote and removed."""
    writes, deletes = dict.fromkeys(done.writes), dict.fromkeys(done.deletes)
    for number, inner in enumerate(steps_of(step.subagents)):
        if number >= MOST:
            break
        did = effects(inner)
        if not any(seen.is_error for seen in inner.observations):
            writes.update(dict.fromkeys(did.writes))
            deletes.update(dict.fromkeys(did.deletes))
    for path in deletes:
        writes.pop(path, None)
    return replace(done, writes=tuple(writes), deletes=tuple(deletes))


def steps_of(agents: tuple[Trajectory, ...], depth: int = 0) -> Iterator[Step]:
    """The actions of agents and of theirs, in order."""
    for agent in agents:
        for step in agent.steps:
            yield step
            if step.subagents and depth < DEEPEST:
                yield from steps_of(step.subagents, depth + 1)


def agents_told(step: Step) -> str:
    """How much an action's agents did: it is not looked at one by one."""
    count = sum(1 for _ in steps_of(step.subagents))
    agents = len(step.subagents)
    who = "the agent" if agents == 1 else f"{agents} agents"
    return f"{who} did {count} action{'' if count == 1 else 's'}, which are not told here"
