"""Files that the task asks for and that are there, and hold nothing, an error instead of data, or cannot be run."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from dense.detectors.finding import Finding
from dense.detectors.since import goes_on, is_under_way
from dense.evidence.deliverables.sightings import is_named
from dense.evidence.deliverables.tracking import Tracked
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.outputs import program_output
from dense.evidence.facts.paths import same_file
from dense.evidence.trace import Case
from dense.text.quoting import ticked

LONGEST = 4_000
"""Characters of an output that are looked at: one that shows a file that is wrong is short, or begins with it."""
NEVER_EMPTY = (
    ".json", ".xml", ".html", ".zip", ".gz", ".tgz", ".xz", ".bz2", ".zst", ".7z", ".png", ".jpg", ".jpeg", ".gif",
    ".webp", ".pdf", ".xlsx", ".docx", ".pptx", ".parquet", ".npy", ".npz", ".pkl", ".onnx", ".pt", ".wav", ".mp3",
    ".mp4", ".sqlite", ".pem",
)  # fmt: skip
"""Ends of the names of files that are none of their kind while they are empty."""
PAGES = (".html", ".htm", ".xhtml", ".php", ".md", ".txt", ".xml", ".svg", ".vue", ".jsp", ".log", ".mhtml")
"""Ends of the names of files that may well begin as a page of the web does."""
MODE = re.compile(r"-[rwxsStT-]{9}[.+@]?")
STATUS = re.compile(r"(?:HTTP/\S+ )?[45]\d\d(?::| [A-Z]\w+)[^\n]{0,80}")
FAULTS = frozenset(["error", "errors", "detail", "fault"])
BESIDE = frozenset(
    "message status code statuscode status_code error_description documentation_url ok success type title request_id "
    "timestamp path reason".split()
)
"""What a service answers with instead of data, and what it says beside it."""
MUST_RUN = re.compile(
    r"executable|chmod|\+x\b|ausführbar|exécutable|ejecutable|executável|исполняем|可执行|可執行|実行可能|실행 가능",
    re.IGNORECASE,
)
"""Words of a task that wants a file to be run by its name. Hints only."""
MODES = ("chmod", "install ", "os.chmod", "umask")


def hollow(case: Case) -> list[Finding]:
    found: list[Finding] = []
    for one in case.tracked:
        if one.made and one.removed is None and (finding := _not_runnable(case, one) or _empty_or_error(case, one)):
            found.append(finding)
    return found


def _empty_or_error(case: Case, one: Tracked) -> Finding | None:
    """By what the last look at it shows, or what the action that made it shows at its end."""
    action = max(one.made[-1], *one.shown[-1:], 0)
    fact = case.of(action)
    if fact.has_failed or not (fact.effects.reads or "ls" in fact.effects.runs):
        return None
    if (is_listed := _is_empty(case, fact, one)) is not None:
        text = f"`{one.subject}`, which the task asks for, is empty: a{action} {case.did(action, 100)}, and there "
        text += "were 0 bytes." if is_listed else "was nothing in it."
        is_plain = is_listed and one.subject.lower().endswith(NEVER_EMPTY) and not _may_be_filled(case, one, action)
        return Finding("unmet", text, tuple(sorted({one.made[-1], action})), is_serious=is_plain, is_tried=True)
    if not any(case.of(n).effects.network for n in one.made):
        return None
    if error := _error(program_output(fact, case.step(action))[:LONGEST], fact, one.subject):
        text = f"`{one.subject}` was fetched at a{one.made[-1]} and holds an error in place of what was asked for"
        text += f": at a{action} it reads {ticked(error, 160)}."
        return Finding("unmet", text, tuple(sorted({one.made[-1], action})), is_serious=False, is_tried=True)
    return None


def _may_be_filled(case: Case, one: Tracked, action: int) -> bool:
    """Whether somebody wants it empty, or something may fill it after the look."""
    if case.task is not None and "empty" in case.task.instruction:
        return True
    made = one.made[-1]
    return "touch" in case.of(made).effects.runs or is_under_way(case, made) or goes_on(case, action)


def _is_empty(case: Case, fact: ActionFacts, one: Tracked) -> bool | None:
    """Whether a look shows that a file has no bytes: True by its size, False by showing nothing; None for neither."""
    done = fact.effects
    is_counted = "ls" in done.runs or "wc" in done.runs
    if not is_counted and done.runs != ("cat",):
        return None
    text = program_output(fact, case.step(fact.action))
    if not is_counted:
        is_alone = len(done.reads) == 1 and not done.writes and same_file(done.reads[0], one.subject)
        return False if is_alone and not text.strip() else None
    if len(text) > LONGEST:
        return None
    is_bytes = any("wc -c" in command for command in fact.commands)
    for line in text.splitlines():
        words = line.split()
        if len(words) > 5 and MODE.fullmatch(words[0]):
            is_zero = words[4] == "0"
        else:
            is_zero = words[:-1] in (["0"], ["0", "0", "0"]) and (is_bytes or len(words) == 4)
        if is_zero and is_named(line, one.subject):
            return True
    return None


def _error(text: str, fact: ActionFacts, path: str) -> str:
    """The line of what a look shows of a file, and only of it, that says that it is an error; empty for none."""
    reads = fact.effects.reads
    if len(reads) != 1 or not same_file(reads[0], path):
        return ""
    text = text.strip()
    low = text[:200].lower()
    if low.startswith(("<!doctype html", "<html")) and not path.lower().endswith(PAGES):
        lines = [line.strip() for line in text.splitlines() if "<title>" in line.lower()]
        return (lines or [text.partition("\n")[0]])[0]
    if STATUS.fullmatch(text):
        return text
    if text[:1] == "{" and any(f'"{word}"' in low for word in FAULTS) and _is_fault(text):
        return text
    return ""


def _is_fault(text: str) -> bool:
    """Whether a document says that something went wrong, and nothing else."""
    try:
        told: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    if not isinstance(told, dict):
        return False
    names = {str(name).lower() for name in told}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return bool(names & FAULTS) and names <= FAULTS | BESIDE


def _not_runnable(case: Case, one: Tracked) -> Finding | None:
    """A program that was run by its name and may not be, and nothing gave it the right since."""
    action = one.tried[-1] if one.tried else 0
    if action < one.made[0] or case.of(action).result.exit_code != 126 or not _runs(case.of(action), one.subject):
        return None
    if any(word in text for fact in case.facts[action - 1 :] for text in fact.commands for word in MODES):
        return None
    text = f"`{one.subject}`, which the task asks for, cannot be run: a{action} {case.did(action, 100)}"
    text += f": {case.saw(action)}. Nothing made it executable since."
    is_plain = case.task is not None and MUST_RUN.search(case.task.instruction) is not None
    is_plain = is_plain and not any(f.effects.writes or _runs(f, one.subject) for f in case.facts[action:])
    return Finding("unmet", text, (action,), is_serious=is_plain, is_tried=True)


def _runs(fact: ActionFacts, path: str) -> bool:
    return any(same_file(one, path) for one in fact.effects.scripts)
