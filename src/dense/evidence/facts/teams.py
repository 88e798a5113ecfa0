"""Runs of several agents: who hands over to whom, and what an agent did that calls no tool.

One agent tells another what to do, by a call in that one's name; the other acts by means that the trace does not show
as calls, says so in its own words, and a page or an output comes back. The first is no deed of its own: it announces
what follows. The second is one, though it looks like talk."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.knowledge.program import words
from dense.knowledge.tools import plain_name
from dense.text.quoting import plain_text, quoted, ticked
from dense.text.sentences import first_sentence
from dense.trajectory import Step

HEAD = 600
"""How much of what came back is looked at for the address of a page."""
ADDRESS = re.compile(r"\b(?:https?|file)://[^\s<>\"'`\])}]{1,400}")
LONGEST_QUERY = 40
FENCE = "```"
PLAYERS = words("user human userproxy admin")
"""Speakers to whom nothing is handed over to be done."""


def team_of(steps: Sequence[Step]) -> frozenset[str]:
    """The plain names of the agents, where there are several."""
    agents = {step.agent for step in steps if step.agent}
    return frozenset(map(plain_name, agents)) - PLAYERS if len(agents) > 1 else frozenset()


def handed_to(step: Step, team: frozenset[str]) -> str:
    """The agent that a step tells what to do; empty where it does something itself."""
    for call in step.calls:
        if plain_name(call.name) not in team or any(seen.origin == "tool" for seen in step.observations):
            return ""
    return step.calls[0].name if step.calls else ""


def acts_unseen(step: Step, team: frozenset[str]) -> bool:
    """Whether something came back to an agent that called nothing that is shown: in a team whatever a tool says, else
    only the end of a program, since a harness answers empty talk too."""
    came = [seen for seen in step.observations if seen.origin == "tool" and seen.text.strip()]
    return bool(came) and (bool(team) or (runs_code(step) and any(seen.exit_code is not None for seen in came)))


def runs_code(step: Step) -> bool:
    """Whether what an agent says holds code that somebody ran for it."""
    return FENCE in step.message


def address_of(step: Step) -> str:
    """The page that an agent was shown, or says that it is at."""
    texts = [seen.text for seen in step.observations if seen.origin == "tool"]
    for text in (*texts, step.message):
        if found := ADDRESS.search(text[:HEAD]):
            return found[0].rstrip(".,;")
    return ""


def without_query(address: str) -> str:
    """An address as one would tell it: a long query behind it says nothing."""
    page, mark, query = address.partition("?")
    return f"{page}?…" if mark and len(query) > LONGEST_QUERY else address


def instruction(step: Step) -> str:
    """What an agent is told, as it stands in the call."""
    texts = (plain_text(value) for call in step.calls for value in call.arguments.values())
    return next((text for text in texts if text.strip()), "")


def instructed(step: Step, limit: int = 100) -> str:
    """A hand-over to another agent as a clause."""
    words = first_sentence(instruction(step), limit)
    who = ticked(step.calls[0].name, 30)
    return f"told {who} {quoted(words, limit)}" if words else f"turned to {who}"
