"""Runs of several agents: agents that an action started, and agents that take turns.

In a team one agent delegates by a call in another one's name; the other acts in ways that the trace does not record as
calls, and a page or an output comes back. The first only announces what follows; the second acts, although it looks
like talk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec.structs import replace

from dense.evidence.actions import effects
from dense.evidence.actions.effects import Effects
from dense.knowledge.tools import plain_name
from dense.trajectory import Step, Trajectory

MAX_SUBAGENT_DEPTH = 4
MAX_SUBAGENT_STEPS = 2000
MAX_ADDRESS_SEARCH = 600
"""How much of an observation is searched for the address of a page."""
ADDRESS = re.compile(r"\b(?:https?|file)://[^\s<>\"'`\])}]{1,400}")
FENCE = "```"
HUMANS = frozenset({"user", "human", "userproxy", "admin"})
"""Speakers that nothing is delegated to."""


def with_subagents(step: Step, done: Effects) -> Effects:
    """The effects of an action, with the files that its agents wrote and removed."""
    writes, deletes = dict.fromkeys(done.writes), dict.fromkeys(done.deletes)
    for inner in islice(subagent_steps(step.subagents), MAX_SUBAGENT_STEPS):
        if not any(seen.is_error for seen in inner.observations):
            own = effects(inner)
            writes.update(dict.fromkeys(own.writes))
            deletes.update(dict.fromkeys(own.deletes))
    return replace(done, writes=tuple(path for path in writes if path not in deletes), deletes=tuple(deletes))


def subagent_steps(agents: tuple[Trajectory, ...], depth: int = 0) -> Iterator[Step]:
    """The actions of agents and of the agents that these started, in order."""
    for agent in agents:
        for step in agent.steps:
            yield step
            if depth < MAX_SUBAGENT_DEPTH:
                yield from subagent_steps(step.subagents, depth + 1)


def team_of(steps: Sequence[Step]) -> frozenset[str]:
    """The plain names of the agents, if there are several."""
    agents = {step.agent for step in steps if step.agent}
    return frozenset(map(plain_name, agents)) - HUMANS if len(agents) > 1 else frozenset()


def delegated_to(step: Step, team: frozenset[str]) -> str:
    """The agent that a step delegates to; empty if it does something itself."""
    if any(seen.origin == "tool" for seen in step.observations):
        return ""
    is_delegation = bool(step.calls) and all(plain_name(call.name) in team for call in step.calls)
    return step.calls[0].name if is_delegation else ""


def acts_without_call(step: Step, team: frozenset[str]) -> bool:
    """Whether something came back to an agent that called nothing: in a team any tool output, else only the exit code
    of a program, because a harness answers an empty message too."""
    outputs = [seen for seen in step.observations if seen.origin == "tool" and seen.text.strip()]
    return bool(outputs) and (bool(team) or (has_code(step) and any(one.exit_code is not None for one in outputs)))


def has_code(step: Step) -> bool:
    """Whether a message has code that somebody ran for the agent."""
    return FENCE in step.message


def address_of(step: Step) -> str:
    """The page that an agent was shown, or says that it is at."""
    texts = [seen.text for seen in step.observations if seen.origin == "tool"]
    for text in (*texts, step.message):
        if found := ADDRESS.search(text[:MAX_ADDRESS_SEARCH]):
            return found[0].rstrip(".,;")
    return ""
