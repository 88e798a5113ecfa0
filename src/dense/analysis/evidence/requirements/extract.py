"""From a task to its requirements: block by block, sentence by sentence."""

from __future__ import annotations

import re

from dense.analysis.evidence.requirements.blocks import blocks, window
from dense.analysis.evidence.requirements.demands import (
    command_role,
    is_ban,
    is_demand,
    is_order,
    port_role,
    ports,
    thresholds,
    value_role,
    words_of,
)
from dense.analysis.evidence.requirements.file_roles import file_roles
from dense.analysis.evidence.requirements.mentions import Mention, is_command, mentions
from dense.analysis.evidence.requirements.requirement import Requirement, RequirementCollector, Role
from dense.analysis.evidence.requirements.sentences import Sentence, sentences
from dense.knowledge.programs import programs_that
from dense.knowledge.words.reports import DIRECT, STRONG, WEAK
from dense.text.guarded import GuardedPattern
from dense.trajectory import Task

MAX_CLAUSES = 15
MAX_SENTENCE_CHARS = 2000
"""A longer sentence is data; its beginning is enough."""
MAX_CODE_LINES = 10
MAX_COMMAND_CHARS = 200

ANSWER_LABEL = GuardedPattern(re.compile(r"\b[A-Z]{3,20}(?: [A-Z]{2,20}){0,3}:(?=\s)"))
ORDINARY_WORDS = programs_that("word")
"""Programs whose name may begin a line of anything."""
SHELL_LANGUAGES = frozenset(["", "sh", "bash", "shell", "console", "zsh", "terminal"])


def requirements(task: Task | None) -> tuple[Requirement, ...]:
    """What a task names, in the order of the text, each subject once, at most sixty."""
    if task is None or not task.instruction.strip():
        return ()
    text = window(task.instruction)
    collector = RequirementCollector()
    last: Sentence | None = None
    for sentence in sentences(blocks(text)):
        if sentence.shape == "code":
            _take_code(sentence, last, collector)
        elif sentence.text:
            _take_sentence(sentence, collector)
            last = sentence
    low = text.lower()
    return collector.result(collector.has_deliverable and is_bug_report(low), is_session_record(low))


def _take_sentence(sentence: Sentence, collector: RequirementCollector) -> None:
    if len(sentence.text) > MAX_SENTENCE_CHARS:
        short = sentence.text[:MAX_SENTENCE_CHARS]
        sentence = Sentence(
            text=short, purpose=sentence.purpose, shape=sentence.shape, is_first=sentence.is_first, leads=False
        )
    low = sentence.text.lower()
    words = words_of(low)
    demands = sentence.purpose == "demand" or is_demand(words, low)
    names = mentions(sentence.text)
    collector.last_has_deliverable = False
    is_tracked = _take_files(sentence, names, collector)
    is_tracked |= _take_quoted(sentence, names, words, demands, collector)
    # A limit in the sentence that asks for a file is asked for with it: a table with at least ten rows.
    is_tracked |= _take_numbers(sentence, words, low, demands or collector.last_has_deliverable, collector)
    label = ANSWER_LABEL.search(sentence.text) if sentence.purpose != "aside" else None
    if label:
        role: Role = "deliverable" if "answer" in words or "format" in words else "mentioned"
        collector.add("value", role, label[0], sentence.text)
    if not is_tracked:
        _take_clause(sentence, words, demands, collector)


def _take_files(sentence: Sentence, names: list[Mention], collector: RequirementCollector) -> bool:
    files = [name for name in names if name.sort == "file"]
    roles = file_roles(sentence, names) if files else []
    for name, role in zip(files, roles, strict=True):
        collector.add("file", role, name.text, sentence.text)
    collector.last_has_deliverable = "deliverable" in roles
    return "deliverable" in roles or "forbidden" in roles


def _take_quoted(
    sentence: Sentence, names: list[Mention], words: list[str], demands: bool, collector: RequirementCollector
) -> bool:
    is_tracked = False
    for name in names:
        if name.sort == "command":
            role = command_role(sentence, words)
            collector.add("command", role, name.text, sentence.text)
            is_tracked |= role in ("deliverable", "forbidden")
        elif name.sort == "value":
            role = value_role(sentence, words, demands)
            is_tracked |= role == "deliverable"
            is_plain = len(name.text) > 1 and name.text.count("(") < 2
            if not name.text.isdigit():
                collector.add("value", role if is_plain else "mentioned", name.text, sentence.text)
    return is_tracked


def _take_numbers(
    sentence: Sentence, words: list[str], low: str, demands: bool, collector: RequirementCollector
) -> bool:
    is_aside = sentence.purpose == "aside"
    is_tracked = False
    for port in ports(sentence.text):
        role: Role = "mentioned" if is_aside else port_role(words, low)
        collector.add("port", role, port, sentence.text)
        is_tracked |= role == "deliverable"
    for threshold in thresholds(sentence.text):
        role = "deliverable" if demands and not is_aside else "mentioned"
        collector.add("threshold", role, threshold, sentence.text)
        is_tracked |= role == "deliverable"
    return is_tracked


def _take_clause(sentence: Sentence, words: list[str], demands: bool, collector: RequirementCollector) -> None:
    """A demand that names nothing that can be tracked, or an order in a list."""
    if collector.clauses >= MAX_CLAUSES or sentence.purpose == "aside" or sentence.shape not in ("text", "item"):
        return
    if sentence.leads or sentence.text.endswith(("?", "？")):
        return
    is_listed = sentence.shape == "item" and sentence.is_first
    is_demanded = sentence.purpose == "demand"
    if (is_listed and (is_demanded or is_order(words))) or (demands and not is_demanded):
        collector.clauses += 1
        subject = " ".join(sentence.text[:200].split()[:8])[:80]
        collector.add("clause", "forbidden" if is_ban(words) else "deliverable", subject, sentence.text)


def _take_code(sentence: Sentence, last: Sentence | None, collector: RequirementCollector) -> None:
    """Of code only the commands."""
    if sentence.purpose == "aside" or last is None:
        return
    text = sentence.text[:MAX_SENTENCE_CHARS]
    if sentence.language in SHELL_LANGUAGES:
        role = command_role(last, words_of(last.text.lower()))
        for line in text.splitlines()[:MAX_CODE_LINES]:
            command = line.strip().removeprefix("$ ")
            is_sure = bool(sentence.language) or command != line.strip() or command.split(" ")[0] not in ORDINARY_WORDS
            if len(command) <= MAX_COMMAND_CHARS and is_sure and is_command(command):
                collector.add("command", role, command, last.text)


REPORT_SCORE = 3
MIN_PROMPTS = 4
"""With so many commands at a prompt a text is the record of a session."""


def is_session_record(low: str) -> bool:
    """Whether a text in lower case is what a terminal or another agent printed: the commands in it ran already."""
    return low.count("\n$ ") >= MIN_PROMPTS or low.count("\nthinking:") > 1


def is_bug_report(low: str) -> bool:
    """Whether a text in lower case reads as a report of a bug or a wish, rather than as an order."""
    strong = sum(sign in low for sign in STRONG) + is_session_record(low)
    weak = sum(sign in low for sign in WEAK)
    direct = sum(sign in low for sign in DIRECT)
    return (strong > 0 or weak >= REPORT_SCORE) and 2 * strong + weak - 2 * direct >= REPORT_SCORE
