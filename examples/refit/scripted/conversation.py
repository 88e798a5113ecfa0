"""From the messages of a request to facts, and from a decision to a reply.

The server keeps nothing between requests: which turn it is, which commands were given and what came of them is all read
from the conversation itself."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from scripted.agent import Decision, decide
from scripted.facts import Facts, drawn
from scripted.reading import file_to_read, read
from scripted.repertoire import repertoire_for
from scripted.screen import Exchange, is_idle, typed_exchanges

BEFORE, AFTER = "Task Description:\n", "\n\nCurrent terminal state:\n"
"""What stands around the instruction in the first message."""
SURE = "Are you sure you want to mark the task as complete"
QUICK, USUAL = 0.3, 0.5
"""Seconds after which the screen is looked at: after a look, and after a program."""
LONGER, MOST_WAITING = 0.5, 40
"""Seconds of a turn in which it only waits, and how many of them there are for one command."""


class BadConversation(ValueError):
    """The messages are no conversation that can be answered."""


@dataclass
class Turn:
    """One reply of this run and the screens up to the next one that was not just waiting."""

    commands: tuple[str, ...]
    is_end: bool
    screen: str = ""
    waited: int = 0

    @property
    def is_waiting(self) -> bool:
        """Whether a command has not ended yet, and there is still hope that it will."""
        return bool(self.commands) and not is_idle(self.screen) and self.waited < MOST_WAITING

    def exchanges(self) -> list[Exchange]:
        """Each command with what it printed."""
        return typed_exchanges(self.screen, self.commands)


def reply_to(messages: list[tuple[str, str]], seed: int) -> str:
    """The reply to a conversation, as the agent's program wants it."""
    if not messages or messages[0][0] == "assistant" or messages[-1][0] == "assistant":
        raise BadConversation("a conversation begins and ends with a message to the model")
    turns = _turns(messages)
    if turns and turns[-1].is_end:
        if SURE in messages[-1][1]:
            return _written(Decision("I am asked whether I am sure.", "Confirm: the work is handed in.", is_end=True))
        return _written(Decision("The work was handed in.", "Nothing is left to do.", is_end=True))
    if turns and turns[-1].is_waiting:
        return json.dumps(
            {
                "analysis": "The last command has not ended yet.",
                "plan": "Wait, and look again.",
                "commands": [{"keystrokes": "", "duration": LONGER}],
            }
        )
    return _written(_decision(_instruction(messages), turns, seed))


def _decision(task: str, turns: list[Turn], seed: int) -> Decision:
    done = tuple(one for turn in turns for one in turn.exchanges())
    told = task
    file = file_to_read(task)
    if file is not None:
        opened = [one for one in done if one.command.startswith("head -c") and file in one.command]
        if not opened:
            return Decision(
                "What is known of earlier work lies in a file.",
                "Read its beginning and its end, before anything else.",
                (f"head -c 7000 {file}", f"tail -c 4000 {file}"),
            )
        told = "\n".join([*(one.answer for one in done if file in one.command), task])
        done = tuple(one for one in done if file not in one.command)
    facts = Facts(seed, told, read(told, lambda passage: drawn(seed, "notices", passage)), done, len(turns))
    return decide(facts, repertoire_for(task))


def _instruction(messages: list[tuple[str, str]]) -> str:
    """What the first message says of the task; all of it where it is built in another way."""
    first = messages[0][1] if messages[0][0] == "user" else "\n".join(text for role, text in messages if role == "user")
    start = first.find(BEFORE)
    end = first.rfind(AFTER)
    return first[start + len(BEFORE) if start >= 0 else 0 : end if end > start else len(first)]


def _turns(messages: list[tuple[str, str]]) -> list[Turn]:
    """The replies so far, each with all screens up to the next one; turns of waiting belong to the one before."""
    turns = list[Turn]()
    for role, text in messages:
        if role == "assistant":
            turn = _turn(text)
            if turn.commands or turn.is_end or not turns:
                turns.append(turn)
            else:
                turns[-1] = replace(turns[-1], waited=turns[-1].waited + 1)
        elif turns:
            turns[-1] = replace(turns[-1], screen=f"{turns[-1].screen}\n{text}")
    return turns


def _turn(text: str) -> Turn:
    """What an earlier reply of ours said. Anything else that stands there is a turn without commands."""
    try:
        said = json.loads(text)
        keys = [command["keystrokes"] for command in said["commands"] if command["keystrokes"]]
        is_end = bool(said.get("task_complete"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return Turn((), is_end=False)
    return Turn(tuple(key.strip("\n") for key in keys), is_end)


def _written(decision: Decision) -> str:
    """The reply, in the form in which the agent's program asks for it."""
    commands = [
        {"keystrokes": f"{command}\n", "duration": USUAL if "python" in command else QUICK}
        for command in decision.commands
    ]
    reply: dict[str, object] = {"analysis": decision.analysis, "plan": decision.plan, "commands": commands}
    if decision.is_end:
        reply["task_complete"] = True
    return json.dumps(reply, ensure_ascii=False)
