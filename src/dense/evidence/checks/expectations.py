"""What the task says of a command that it names: that it must work, that it must fail, or that it goes wrong so far.

The words are hints: they only keep a failure from being held against the attempt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from dense.evidence.requirements import Requirement
from dense.text.search import contains_any

Expectation = Literal[
    "works",  # nothing else is said
    "fails",  # it is to fail
    "unclear",  # how it ends may be what is wanted, or what is wrong
    "symptom",  # it is told as what goes wrong
]
JOINT = 8
"""Between two commands of which one thing is said stand no more characters than this."""

REFUSAL = re.compile(
    r"""\bnon-?\s?zero\b
    | \b(?:exit|return|status|error)(?:s|ed|ing)?(?:[\s-]+(?:with|code|status|an?|value|of|the)\b)*\W{0,3}[1-9]\d{0,2}\b
    | \breject(?:s|ed|ing)?\b | \brefus(?:es?|ed|ing)\b | \bdenied\b
    | \b(?:rückgabe|exit)-?code\s+[1-9] | \bcódigo\s+(?:de\s+salida\s+)?[1-9]
    | \bcode\s+(?:de\s+sortie|retour)\s+[1-9] | \bкод(?:ом)?\s+(?:возврата\s+|выхода\s+)?[1-9]
    | 退出码\D{0,4}[1-9] | 終了コード\D{0,4}[1-9] | 종료\s*코드\D{0,4}[1-9] | 拒绝 | 拒否 | 거부""",
    re.IGNORECASE | re.VERBOSE,
)
"""A failure that may well be what is wanted."""
FAILURE = re.compile(
    r"""\bfail(?:s|ed)?\b | \b(?:raise|throw|abort)s?\b
    | \b(?:an|the)\s+(?:[\w-]+\s+)?errors?\b(?![ -](?:rate|free|log|below|under|of|less|at\s+most))
    | \bfehlschl\w+ | \bfallar\b | \béchouer\b | 失败 | 失敗 | 报错 | 실패""",
    re.IGNORECASE | re.VERBOSE,
)
"""A failure that, where it is demanded, is what is wanted."""
TROUBLE = re.compile(
    r"""\bfail(?:s|ed|ing|ures?)?\b | \bcrash(?:es|ed|ing)?\b | \bhangs?\b | \bpanics?\b | \bseg\w*\s?fault\w*
    | \btracebacks?\b | exceptions?\b | errors?\b | \b(?:raise|throw|abort|break)s?\b | \bbroken\b
    | \btim(?:es?|ed|ing)\s+out\b | \bstuck\b | \bwrong\b
    | \bfehl(?:er|schl)\w* | \bschlägt\b | \babst[uü]rz\w* | \bstürzt\b | \bfalla\w*\b | \berreur\w* | \béchou\w+
    | \bplant\w+\b | \bошибк\w+ | \bпада\w+ | 失败 | 失敗 | 报错 | 崩溃 | 错误 | エラー | 異常 | 실패 | 오류 | 에러""",
    re.IGNORECASE | re.VERBOSE,
)
"""That something goes wrong, in whatever way."""
DEMAND = re.compile(
    r"""(?:\b(?:must|should|shall|ought\s+to|ha[sv]e?\s+to|needs?\s+to|is\s+to|are\s+to|(?:expected|supposed|meant)\s+to
    |so\s+that|(?:en|make\s+)sure(?:\s+that)?|muss|müssen|soll\w*|debe\w*|doi(?:t|vent)|должн\w+)\b|应|必须|须|べき|必要|해야|여야)
    (?P<between>[^;]{0,80})\Z""",
    re.IGNORECASE | re.VERBOSE,
)
"""The last demand before a place."""
GOOD = re.compile(
    r"\b(?:pass|succeed|works?|working|possible|which|but|instead|currently|ohne|fix|code 0|bestehen|pasar|funcion"
    r"|réuss)|通过|成功",
    re.IGNORECASE,
)
"""What is demanded is that it works, or what follows is how it is now."""
FAILING_TEST = re.compile(
    r"""\b(?:write|add|create|provide|commit)\s+(?:(?:an?|one|some|the|new|unit|regression)\s+)*failing\s+(?:[\w-]+\s+){0,2}tests?\b
    | \btests?\s+(?:case\s+)?(?:that|which)\s+(?:currently\s+|must\s+|should\s+|will\s+|now\s+)?fails?\b
    | \btests?\s+(?:must|should)\s+(?:currently\s+|first\s+|now\s+)?fail\b""",
    re.IGNORECASE | re.VERBOSE,
)
SIGNS = (
    *("fail", "crash", "hang", "panic", "fault", "traceback", "exception", "error", "raise", "throw", "abort", "break"),
    *("broken", "tim", "stuck", "wrong", "reject", "refus", "denied", "zero", "exit", "return", "status", " code"),
    *("fehl", "absturz", "falla", "erreur", "plant"),
)
WIDE_SIGNS = (
    *(
        "schlägt",
        "abstürz",
        "código",
        "rückgabe",
        "échou",
        "код",
        "ошибк",
        "пада",
        "退出",
        "終了",
        "종료",
        "拒",
        "거부",
    ),
    *("失", "报错", "崩溃", "错误", "エラー", "異常", "실패", "오류", "에러"),
)
"""Without one of these nothing of the above is there."""
NEGATED = re.compile(
    r"(?:\b(?:no|not|never|without|zero|0|ohne|keine?n?|nicht|sin|sans|pas|не|без)|n['’]t|不|无|没有)\W+"
    r"(?:(?!and\b|but\b|or\b)[\w-]+\s+){0,3}\Z",
    re.IGNORECASE,
)


def expectations(requirements: Sequence[Requirement]) -> dict[str, Expectation]:
    """What the task says of the commands that it names, where it says more of one than that it must work."""
    named = {one.subject: one.clause for one in requirements if one.kind == "command"}
    if not named or not _may_tell("\n".join(dict.fromkeys(named.values())).lower()):
        return {}
    told: dict[str, Expectation] = {}
    for command, clause in named.items():
        if (one := _expectation(_said_of(command, clause, list(named)))) != "works":
            told[command] = one
    return told


def _may_tell(low: str) -> bool:
    return contains_any(low, (*SIGNS, *WIDE_SIGNS))


def _expectation(text: str) -> Expectation:
    if _is_demanded(text, REFUSAL) or _is_demanded(text, FAILURE):
        return "fails"
    if _is_told(text, REFUSAL) or _is_demanded(text, TROUBLE):
        return "unclear"
    return "symptom" if _is_told(text, TROUBLE) else "works"


def wants_failing_test(instruction: str) -> bool:
    """Whether a task asks for a test that fails."""
    return "fail" in instruction and FAILING_TEST.search(instruction) is not None


def _is_demanded(text: str, words: re.Pattern[str]) -> bool:
    """Whether a text demands what some words say."""
    for found in words.finditer(text):
        demand = DEMAND.search(text, 0, found.start())
        if demand is not None and not GOOD.search(demand["between"]) and not _is_negated(text, found.start()):
            return True
    return False


def _is_told(text: str, words: re.Pattern[str]) -> bool:
    return any(not _is_negated(text, found.start()) for found in words.finditer(text))


def _is_negated(text: str, place: int) -> bool:
    return NEGATED.search(text, max(place - 60, 0), place) is not None


def _said_of(command: str, clause: str, named: Sequence[str]) -> str:
    """The part of a clause that speaks of a command: what stands behind it up to the next one, and what leads to the
    first of them. Where the command stands apart, in a block of its own, all of it."""
    if command not in clause:
        return clause
    spans = sorted((at, at + len(one)) for one in named if (at := clause.find(one)) >= 0)
    groups: list[list[tuple[int, int]]] = []
    for span in spans:
        if groups and len(clause[groups[-1][-1][1] : span[0]].strip(" `")) <= JOINT:
            groups[-1].append(span)
        else:
            groups.append([span])
    place = clause.find(command)
    number = next(n for n, group in enumerate(groups) if any(start == place for start, _ in group))
    end = max(end for _, end in groups[number])
    after = clause[end : groups[number + 1][0][0]] if number + 1 < len(groups) else clause[end:]
    return after if number else f"{clause[: groups[0][0][0]]} {after}"
