"""From a request to the one text that a program reads, and back: an escape that no program interprets.

Claude Code and Gemini CLI replace `@PATH` in a prompt by the file of that name, and take a prompt that begins with `/`
for a command. So the text begins with a line of ours, and a word that occurs nowhere in it stands for each `@`. The
first line declares that word: replacing it by `@` gives the request's own text again."""

from __future__ import annotations

import re
from itertools import count

from dense.model.chat import ChatRequest
from dense.model.wires.wire import RequestForm, system_prompt

PROMPT_VERSION = 1
"""Raised when the same request would be put differently, so that older cached answers no longer count."""
HEAD = "In this request, {word} stands for the character with the code 64. Write that character itself in your answer."
DECLARED = re.compile(r"In this request, (\S+) stands for the character with the code 64\.[^\n]*\n\n")
WHOLE_TEXT = RequestForm(json_mode="none", temperature=None)
"""Programs are bound to no schema, so the prompt describes it."""


def program_prompt(request: ChatRequest) -> str:
    """The prompt of a request."""
    text = _whole(request)
    word = _word(text)
    return f"{HEAD.format(word=word)}\n\n{text.replace('@', word)}"


def without_escape(prompt: str) -> str:
    """The text that a prompt stands for."""
    declared = DECLARED.match(prompt)
    return prompt if declared is None else prompt[declared.end() :].replace(declared[1], "@")


def answer_without_escape(prompt: str, answer: str) -> str:
    """An answer in which the prompt's word may stand for `@`, as in lines that it quotes."""
    declared = DECLARED.match(prompt)
    return answer if declared is None else answer.replace(declared[1], "@")


def _word(text: str) -> str:
    """A word that occurs nowhere in a text."""
    return next(word for number in count(1) if (word := f"‹at{number if number > 1 else ''}›") not in text)


def _whole(request: ChatRequest) -> str:
    """Instructions, schema and conversation as one text. Surrogates, which no stream can hold, are replaced."""
    system = system_prompt(request, WHOLE_TEXT if request.schema is not None else RequestForm(None, None))
    parts = [system] if system else []
    if len(request.messages) == 1:
        parts.append(request.messages[0].text)
    else:
        mark = _mark("".join(message.text for message in request.messages))
        for number, message in enumerate(request.messages, 1):
            who = "your answer" if message.role == "assistant" else "the request"
            parts.append(f"[{mark} turn {number} of {len(request.messages)}, {who}]\n{message.text}")
        parts.append(f"[{mark} end] Answer the last turn.")
    return "\n\n".join(parts).encode("utf-8", "replace").decode()


def _mark(text: str) -> str:
    return next(mark for number in count(1) if (mark := f"conversation-{number}") not in text)
