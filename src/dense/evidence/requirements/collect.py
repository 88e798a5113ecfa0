"""From a task to its requirements: block by block, sentence by sentence, each subject once, the strongest role."""

from __future__ import annotations

import re

from dense.evidence.requirements.blocks import blocks, window
from dense.evidence.requirements.demands import (
    command_role,
    is_ban,
    is_demand,
    is_order,
    may_demand,
    value_role,
    words_of,
)
from dense.evidence.requirements.found import Found
from dense.evidence.requirements.limits import limits
from dense.evidence.requirements.mentions import QUOTES, Mention, is_command, mentions
from dense.evidence.requirements.ports import may_name_ports, port_role, ports
from dense.evidence.requirements.reports import is_report
from dense.evidence.requirements.requirement import Requirement, Role
from dense.evidence.requirements.roles import file_roles
from dense.evidence.requirements.sentences import Sentence, sentences
from dense.knowledge.programs import programs_that
from dense.trajectory import Task

MOST_CLAUSES = 15
LONGEST_SENTENCE = 2000
"""A longer sentence is data, of which the beginning is enough."""

DIGIT = re.compile(r"\d")
KEY = re.compile(r"\"([A-Za-z_][\w .-]{0,50})\"\s*:\s*(\"?<|\[?\s*\"?\.\.\.|(?=\{\s*\"\w+\":\s*<)\{)?")
ANSWER = re.compile(r"\b[A-Z]{3,20}(?: [A-Z]{2,20}){0,3}:(?=\s)")
WORDLIKE = programs_that("word", "builtin")
SHELLS = frozenset(["", "sh", "bash", "shell", "console", "zsh", "terminal"])


def requirements(task: Task | None) -> tuple[Requirement, ...]:
    """What a task names, in the order of the text, each subject once, at most sixty."""
    if task is None or not task.instruction.strip():
        return ()
    text = window(task.instruction)
    low = text.lower()
    found = Found(may_name_ports(low))
    last: Sentence | None = None
    for sentence in sentences(blocks(text)):
        if sentence.shape == "code":
            _take_code(sentence, last, found)
        elif sentence.text:
            _take(sentence, found)
            last = sentence
    return found.result(found.delivers and is_report(low))


def _take(sentence: Sentence, found: Found) -> None:
    text = sentence.text
    if len(text) > LONGEST_SENTENCE:
        sentence = Sentence(text[:LONGEST_SENTENCE], sentence.place, sentence.shape, sentence.is_first, False)
        text = sentence.text
    low = text.lower()
    found.last_delivers = False
    names = mentions(text) if _may_name(text) else []
    has_number = DIGIT.search(text) is not None
    is_listed = sentence.shape == "item" and sentence.is_first
    answer = ANSWER.search(text) if ":" in text and sentence.place != "aside" else None
    if not (names or has_number or is_listed or answer or may_demand(low)):
        return
    words = words_of(low)
    demands = sentence.place == "demand" or is_demand(words, low)
    is_tracked = False
    if names:
        files = [name for name in names if name.sort == "file"]
        if files:
            is_tracked = _take_files(sentence, names, files, found)
        if len(files) < len(names):
            is_tracked |= _take_quoted(sentence, names, words, low, demands, found)
    if has_number:
        # A limit in the sentence that asks for a file is asked for with it: a table with at least ten rows.
        is_tracked |= _take_numbers(sentence, words, low, demands or found.last_delivers, found)
    if answer:
        role: Role = "deliverable" if "answer" in words or "format" in words else "mentioned"
        found.add("value", role, answer[0], sentence.text)
    if not is_tracked:
        _take_clause(sentence, words, low, demands, found)


def _may_name(text: str) -> bool:
    return text.find(".", 0, -1) >= 0 or "/" in text or "file" in text or QUOTES.search(text) is not None


def _take_files(sentence: Sentence, names: list[Mention], files: list[Mention], found: Found) -> bool:
    is_tracked = False
    for name, role in zip(files, file_roles(sentence, names), strict=True):
        found.add("file", role, name.text, sentence.text)
        found.last_delivers |= role == "deliverable"
        is_tracked |= role in ("deliverable", "forbidden")
    return is_tracked


def _take_quoted(
    sentence: Sentence, names: list[Mention], words: list[str], low: str, demands: bool, found: Found
) -> bool:
    of_values = value_role(sentence, words, demands)
    is_tracked = of_values == "deliverable"
    for name in names:
        if name.sort == "command":
            role = command_role(sentence, words, low)
            found.add("command", role, name.text, sentence.text)
            is_tracked |= role in ("deliverable", "forbidden")
        elif name.sort == "value" and not name.text.isdigit():
            is_plain = len(name.text) > 1 and name.text.count("(") < 2
            found.add("value", of_values if is_plain else "mentioned", name.text, sentence.text)
    return is_tracked


def _take_numbers(sentence: Sentence, words: list[str], low: str, demands: bool, found: Found) -> bool:
    is_tracked = False
    is_aside = sentence.place == "aside"
    for port in ports(sentence.text, words) if found.may_name_ports else ():
        role: Role = "mentioned" if is_aside else port_role(words, low)
        found.add("port", role, port, sentence.text)
        is_tracked |= role == "deliverable"
    for limit in limits(sentence.text, low, words):
        role = "deliverable" if demands and not is_aside else "mentioned"
        found.add("threshold", role, limit, sentence.text)
        is_tracked |= role == "deliverable"
    return is_tracked


def _take_clause(sentence: Sentence, words: list[str], low: str, demands: bool, found: Found) -> None:
    """A demand that names nothing that can be tracked, or an order in a list."""
    if found.clauses >= MOST_CLAUSES or sentence.place == "aside" or sentence.shape not in ("text", "item"):
        return
    if sentence.leads or low.endswith(("?", "？")):
        return
    is_listed = sentence.shape == "item" and sentence.is_first
    if (is_listed and (sentence.place == "demand" or is_order(words))) or (demands and sentence.place != "demand"):
        role: Role = "forbidden" if is_ban(words, low) else "deliverable"
        found.clauses += 1
        found.add("clause", role, _first_words(sentence.text), sentence.text)


def _first_words(text: str) -> str:
    return " ".join(text[:200].split()[:8])[:80]


def _take_code(sentence: Sentence, last: Sentence | None, found: Found) -> None:
    """Of code only the commands and, where it shows what a deliverable holds, the keys."""
    text = sentence.text[:LONGEST_SENTENCE]
    if sentence.place == "aside" or last is None:
        return
    if found.last_delivers or sentence.place == "output":
        for key in KEY.finditer(text):
            role: Role = "deliverable" if key[2] and found.last_delivers | (sentence.place == "output") else "mentioned"
            found.add("value", role, key[1], last.text)
    if sentence.language in SHELLS:
        low = last.text.lower()
        role = command_role(last, words_of(low), low)
        for line in text.splitlines()[:10]:
            bare = line.strip()
            command = bare.removeprefix("$ ")
            # Without a prompt or a language, "find" and "make" may begin a line of anything.
            is_sure = bool(sentence.language) or command is not bare
            if len(command) <= 200 and is_command(command) and (is_sure or command.split()[0] not in WORDLIKE):
                found.add("command", role, command, last.text)
