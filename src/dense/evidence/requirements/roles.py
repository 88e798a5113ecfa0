"""The role of a file, from the words of its sentence and from where the sentence stands.

The words before the name are read backwards, as far as the word that governs it: a verb that asks for something, with a
preposition or without; a word that tells of something; or the beginning of another clause. Then the words behind it
(`X must contain`), then the place: `X — a table` in a list of outputs."""

from __future__ import annotations

import re

from dense.evidence.requirements.cjk import SCRIPT, cjk_role
from dense.evidence.requirements.cues import (
    ASKED,
    BECOMES,
    CONDITIONS,
    CUES,
    DESCRIBES,
    EXISTENCE,
    FILE_WORDS,
    FILLERS,
    FOLDER_WORDS,
    HOLDING,
    HOLDS,
    INPUT_WORDS,
    MODALS,
    NEGATIONS,
    OUTPUT_WORDS,
    SAMPLE_WORDS,
    UNCHANGED,
)
from dense.evidence.requirements.governing import NAME, governed
from dense.evidence.requirements.mentions import Mention
from dense.evidence.requirements.names import has_extension, is_placeholder, is_top_folder
from dense.evidence.requirements.requirement import Role
from dense.evidence.requirements.sentences import Sentence

TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|[,;:()—–!?&+]|(?<=\s)-(?=\s)")
QUOTE = "\x01"
"""Stands for anything else in quotes."""

EXAMPLE = re.compile(
    r"(?:e\.g|i\.e|for example|for instance|such as|\blike|z\. ?B|zum Beispiel|par exemple|por ejemplo|p\. ?ej"
    r"|por exemplo|например|例如|比如|例えば|たとえば|예를 들어"
    r"|similar to|instead of|rather than|\bex)[.,:]*[\s(\"'`*]*$",
    re.IGNORECASE,
)
JOINTS = frozenset([*", & + ( ) and or und oder et ou y e и the a an file files also both".split(), QUOTE])
OR = frozenset("or oder ou o или".split())
CLAUSES = re.compile(r"[,;:(，；：（]")
_NEEDED = (
    r"\bif (?:needed|necessary|appropriate|applicable|required|relevant|desired|useful|possible|helpful"
    r"|you (?:like|want|wish|need|think|prefer|feel))\b"
    r"|\b(?:as|when|where) (?:needed|necessary|appropriate|applicable)\b"
    r"|\bfalls (?:nötig|erforderlich|gewünscht)|\bbei bedarf\b|\bsi (?:nécessaire|besoin|es necesario|lo deseas)\b"
    r"|\bse (?:necessário|quiser)\b|при необходимости|если нужно"
    r"|如有(?:需要|必要)|如果需要|必要时|必要に応じて|必要なら|필요하면|필요시"
)
IF_NEEDED = re.compile(_NEEDED, re.IGNORECASE)
OPTIONAL = re.compile(
    rf"{_NEEDED}|\boption(?:al|ally|al:|nellement)\b|\bopcional(?:mente)?\b|\bfeel free\b|\bwahlweise\b|可选|任意で",
    re.IGNORECASE,
)
"""Words that leave it to whoever is asked."""
SEPARATORS = frozenset([":", "—", "–", "-", "("])
WIDE_OR = ("或", "或者", "または", "か", "또는")
WIDE_JOINTS = ("、", "和", "与", "及", "と", "및", "와", "과", *WIDE_OR)


def file_roles(sentence: Sentence, found: list[Mention]) -> list[Role]:
    """A role for each file among the names of a sentence, in order."""
    text = sentence.text
    files = [mention for mention in found if mention.sort == "file"]
    if sentence.place == "aside":
        return ["mentioned"] * len(files)
    tokens, places = _tokens(text, found)
    if not _asks(text, tokens):
        return ["mentioned"] * len(files)
    is_wide = not text.isascii() and SCRIPT.search(text) is not None
    roles: list[Role] = []
    for index, (mention, place) in enumerate(zip(files, places, strict=True)):
        before = places[index - 1] if index else None
        if before is not None and (
            _is_joint(tokens, before, place, text, files[index - 1], mention)
            or (roles[-1] == "deliverable" and _is_likewise(tokens, before, place))
        ):
            role = roles[-1] if _may_be(roles[-1], mention, tokens, place) else "mentioned"
            if role == "mentioned" and roles[-1] == "mentioned":
                role = _behind(tokens, place) or role
        else:
            role = _role(sentence, mention, tokens, place, is_wide)
            if not _may_be(role, mention, tokens, place):
                role = "mentioned"
        roles.append(role)
    _spread_back(roles, tokens, places, files, text)
    if "deliverable" in roles:
        _free(roles, tokens, places, files, text)
    return roles


def _free(roles: list[Role], tokens: list[str], places: list[int], files: list[Mention], text: str) -> None:
    """Takes back what is asked for only by choice: `a.md` or `a.txt`, of which either will do, and what is to be made
    if it is needed."""
    start = 0
    is_choice = False
    for index in range(1, len(roles) + 1):
        if index < len(roles):
            is_either = _is_either(tokens[places[index - 1] + 1 : places[index]], text, files, index)
            is_choice |= is_either
            if is_either or _is_joint(tokens, places[index - 1], places[index], text, files[index - 1], files[index]):
                continue
        if is_choice:
            roles[start:index] = ["mentioned" if role == "deliverable" else role for role in roles[start:index]]
        start, is_choice = index, False
    for index, role in enumerate(roles):
        if role == "deliverable" and _is_optional(text, files, index):
            roles[index] = "mentioned"


def _is_either(between: list[str], text: str, files: list[Mention], index: int) -> bool:
    """Whether a name and the one before it stand on either side of an `or`."""
    if len(between) <= 3 and not OR.isdisjoint(between):
        return True
    return text[files[index - 1].end : files[index].start].strip(" `」「『』“”\"'") in WIDE_OR


def _is_optional(text: str, files: list[Mention], index: int) -> bool:
    """Whether the words around a name leave it to whoever is asked: `optionally` before it, `if needed` right behind
    or at the head of its clause."""
    before = text[files[index - 1].end if index else 0 : files[index].start]
    behind = text[files[index].end : files[index + 1].start if index + 1 < len(files) else len(text)]
    *earlier, last = CLAUSES.split(before)
    if OPTIONAL.search(last) or (earlier and OPTIONAL.fullmatch(earlier[-1].strip())):
        return True
    return IF_NEEDED.search(CLAUSES.split(behind.lstrip("`'\"*), "))[0]) is not None


def _tokens(text: str, found: list[Mention]) -> tuple[list[str], list[int]]:
    tokens: list[str] = []
    places: list[int] = []
    at = 0
    low = text.lower() if len(text.lower()) == len(text) else text
    for mention in found:
        tokens += TOKEN.findall(low[at : mention.start])
        if mention.sort == "file":
            places.append(len(tokens))
            tokens.append(NAME)
        else:
            tokens.append(QUOTE)
        at = mention.end
    tokens += TOKEN.findall(low[at:])
    return tokens, places


def _asks(text: str, tokens: list[str]) -> bool:
    """A question asks for an answer, not for a file, unless it is a polite order."""
    if not text.rstrip("`*_\"' )").endswith(("?", "？")):
        return True
    return bool(tokens) and (tokens[0] in ASKED or tokens[0] == "please")


def _is_joint(tokens: list[str], before: int, place: int, text: str, last: Mention, mention: Mention) -> bool:
    """Whether two names stand side by side: `a.txt`, `b.txt` and `c.txt`."""
    between = tokens[before + 1 : place]
    if len(between) > 6 or not all(word in JOINTS for word in between):
        return False
    gap = text[last.end : mention.start].strip(" `」「『』“”\"'")
    return bool(between) or not gap or gap in WIDE_JOINTS or gap == "/"


def _is_likewise(tokens: list[str], before: int, place: int) -> bool:
    """Whether a name is asked for in the same way as the one before it: create X with this, Y with that and Z with
    the rest. What X is to hold may name no file and begin no clause of its own."""
    between = tokens[before + 1 : place]
    if len(between) < 3 or between[0] not in HOLDING or tokens[place + 1 : place + 2] != between[:1]:
        return False
    held = between[1:]
    while held and held[-1] in LIKEWISE:
        held = held[:-1]
    return len(held) < len(between) - 1 and not any(word in ENDINGS or CUES.get(word) in OTHER for word in held)


LIKEWISE = frozenset([",", "and", "then", "und", "et", "y", "e", "и", "also", "the", "a", "file"])
ENDINGS = frozenset([";", ":", "—", "–", "!", "?"])
OTHER = frozenset(["make", "put", "move", "read", "stop", "told", "there"])


def _spread_back(roles: list[Role], tokens: list[str], places: list[int], files: list[Mention], text: str) -> None:
    """`a.txt` and `b.txt` must exist: what is said behind the last name holds for all."""
    for index in range(len(roles) - 1, 0, -1):
        if roles[index - 1] == "mentioned" and roles[index] in ("forbidden", "deliverable"):
            is_joined = _is_joint(tokens, places[index - 1], places[index], text, files[index - 1], files[index])
            if is_joined and _behind(tokens, places[index]) == roles[index]:
                roles[index - 1] = roles[index]


def _may_be(role: Role, mention: Mention, tokens: list[str], place: int) -> bool:
    """What can be no deliverable, whatever the words say."""
    if role != "deliverable":
        return True
    path = mention.text
    if is_placeholder(path) or is_top_folder(path):
        return False
    if any(char in path for char in "*?"):
        return False
    if has_extension(path):
        return True
    return not _is_target_folder(path, tokens, place)


def _is_target_folder(path: str, tokens: list[str], place: int) -> bool:
    """A folder that something is put into is a place. One that is to be made is a thing."""
    near = tokens[max(0, place - 5) : place]
    is_folder = path.endswith("/") or not FOLDER_WORDS.isdisjoint([*near[-3:], *tokens[place + 1 : place + 2]])
    for word in reversed(near):
        cue = CUES.get(word)
        if cue in ("to", "in") and (is_folder or FILE_WORDS.isdisjoint(near[-3:])):
            return True
        if cue == "make" and word != "output":
            return False
    return is_folder or path[:1] not in "/."


def _role(sentence: Sentence, mention: Mention, tokens: list[str], place: int, is_wide: bool) -> Role:
    text = sentence.text
    left = text[max(0, mention.start - 28) : mention.start]
    if EXAMPLE.search(left):
        return "mentioned"
    if _is_condition(tokens, place):
        return "mentioned"
    if placed := _placed(sentence, tokens, place):
        return placed
    if behind := _behind(tokens, place):
        return behind
    if is_wide:
        wide = cjk_role(text[max(0, mention.start - 60) : mention.start], text[mention.end : mention.end + 40])
        if wide is not None:
            return wide
    role = governed(tokens, place, mention.text)
    if role is None:
        role = "given" if _is_described(tokens, place) else "mentioned"
    return role


def _is_condition(tokens: list[str], place: int) -> bool:
    """Within `if …,` nothing is asked for."""
    start = place
    while start and tokens[start - 1] not in (",", ";", ":", "—"):
        start -= 1
    return tokens[start] in CONDITIONS


def _placed(sentence: Sentence, tokens: list[str], place: int) -> Role | None:
    """The role that a heading, a lead-in or a label gives to a name at the beginning."""
    before = tokens[:place]
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if (before and before[-1] == ":") or (before and all(word in FILLERS for word in before)):
        labels = set(before)
        if len(before) <= 8 and (place_role := _labelled(before, labels)):
            return place_role
    if not sentence.is_first or sentence.place not in ("output", "input"):
        return None
    if before and not (sentence.shape == "heading" or all(word in FILLERS or word == ":" for word in before)):
        return None
    if after is None or after in SEPARATORS or sentence.shape in ("heading", "row") or _is_listed(sentence, after):
        return "deliverable" if sentence.place == "output" else "given"
    return None


def _is_listed(sentence: Sentence, after: str) -> bool:
    """Whether an item of a list of results begins with a name, and goes on with what it holds: `X` with the rows."""
    return sentence.shape == "item" and sentence.place == "output" and (after in HOLDING or after == ",")


def _labelled(before: list[str], labels: set[str]) -> Role | None:
    """`Output: X`, `The output file should be X`."""
    if labels & SAMPLE_WORDS:
        return "given"
    words = [word for word in before if word not in (":", QUOTE)]
    if not all(word in FILLERS or word in OUTPUT_WORDS or word in INPUT_WORDS for word in words):
        return None
    has_output = bool(labels & OUTPUT_WORDS)
    if has_output and (before[-1] == ":" or "be" in labels or "is" in labels) and "," not in labels:
        return "deliverable"
    if not has_output and labels & INPUT_WORDS:
        return "given"
    return None


def _behind(tokens: list[str], place: int) -> Role | None:
    """What the words behind a name say of it: it must contain, it must not be changed, it stays as it is."""
    after = [word for word in tokens[place + 1 : place + 18] if word != ")"]
    while after and (
        after[0] in FILE_WORDS or after[0] in FOLDER_WORDS or after[0] in ("itself", "also", "(", "files")
    ):
        after = after[1:]
    if not after:
        return None
    if any(word in UNCHANGED for word in after[:6]):
        return "forbidden"
    before = tokens[max(0, place - 5) : place]
    if after[0] in EXISTENCE and ("ensure" in before or ("make" in before and "sure" in before)):
        return "deliverable"
    if after[0] not in MODALS:
        return None
    rest = after[1:]
    if rest and rest[0] == "to":
        rest = rest[1:]
    elif after[0] in ("need", "needs", "has", "have"):
        return None
    if rest and rest[0] in NEGATIONS:
        return "forbidden"
    if rest and rest[0] in ("also", "only", "then", "each", "both", "all"):
        rest = rest[1:]
    if rest and rest[0] == "be":
        return "deliverable" if len(rest) > 1 and rest[1] in BECOMES else None
    if rest and rest[0] in HOLDS:
        return "deliverable"
    # German puts the verb at the end: X soll zwei Spalten enthalten.
    if after[0] in ("muss", "müssen", "soll", "sollen", "sollte") and any(word in HOLDS for word in rest):
        return "forbidden" if any(word in NEGATIONS for word in rest) else "deliverable"
    return None


def _is_described(tokens: list[str], place: int) -> bool:
    """`X` counts the words of a text: it is there already."""
    if any(word not in FILLERS and word not in FILE_WORDS for word in tokens[:place]):
        return False
    after = [word for word in tokens[place + 1 : place + 4] if word not in FILE_WORDS]
    return bool(after) and after[0] in DESCRIBES
