"""The role of each file in a sentence, by its words and by the purpose of its section.

In this order: a label or a list of results that the name is in, the words behind it (`X must contain`), the word that
governs it, and whether the sentence only describes it."""

from __future__ import annotations

import re

from dense.analysis.evidence.requirements.governing_verb import FILE_MARK, REQUESTS, governed_role
from dense.analysis.evidence.requirements.mentions import Mention, has_extension, is_placeholder, is_top_folder
from dense.analysis.evidence.requirements.requirement import Role
from dense.analysis.evidence.requirements.sentences import INPUTS, OUTPUTS, Sentence
from dense.knowledge.words import phrases, words
from dense.knowledge.words.cues import CUES, NEGATIONS
from dense.knowledge.words.japanese import BANS, CHANGES
from dense.text.search import contains_any

TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|[,;:()—–!?&+]|(?<=\s)-(?=\s)")
QUOTE_MARK = "\x01"
"""Replaces anything else in quotes among the words."""
EXAMPLE = re.compile(rf"(?:\b|^)(?:{'|'.join(map(re.escape, phrases('example')))})[.,:]*[\s(\"'`*]*$", re.IGNORECASE)
QUOTES = " `」「『』“”\"'"
AFTER_LISTED = frozenset(": — – - ( , with containing".split())
"""What comes behind the name in an item of a list of files."""
MAX_LABEL_WORDS = 4
TITLED = frozenset(["titled", "named", "called"])
OR = words("or")
JOINTS = words("conjunction") | OR | {",", "&", "+", "(", ")", QUOTE_MARK}
CONDITIONS = words("condition")
IF_NEEDED = (["if", "needed"], ["if", "necessary"])
FOLDER_NOUNS = words("folder_noun")
FILE_NOUNS = words("file_noun")
FILLERS = words("filler")
RESULTS = OUTPUTS | {"result", "results"}
MODALS = words("modal")
HOLDS = words("holds")
BECOMES = words("becomes")
DESCRIBES = words("describes")
JAPANESE_CLAUSE = re.compile(
    r"[\s`」』”\"']*(?:という(?:名前の)?|の)?\s*(?:ファイル|スクリプト)?\s*(?:に|へ|として|を)([^，。；、,;？！]{0,18})"
)
"""A particle that marks an object or a goal, and the clause behind it."""


def file_roles(sentence: Sentence, mentions: list[Mention]) -> list[Role]:
    """A role for each file among the names of a sentence, in order."""
    text = sentence.text
    files = [mention for mention in mentions if mention.sort == "file"]
    tokens, places = _tokens(text, mentions)
    if sentence.purpose == "aside" or not _is_order_or_statement(text, tokens):
        return ["mentioned"] * len(files)
    roles: list[Role] = []
    for index, (mention, word_index) in enumerate(zip(files, places, strict=True)):
        if index and _are_joined(tokens, places[index - 1], word_index, text[files[index - 1].end : mention.start]):
            role = roles[-1]
        else:
            role = _role(sentence, mention, tokens, word_index)
        can_be = role != "deliverable" or _can_be_deliverable(mention.text, tokens, word_index)
        roles.append(role if can_be else "mentioned")
    _release_alternatives(roles, tokens, places)
    return roles


def _tokens(text: str, mentions: list[Mention]) -> tuple[list[str], list[int]]:
    """The words of a sentence, and the places of the files among them."""
    tokens: list[str] = []
    places: list[int] = []
    at = 0
    low = text.lower() if len(text.lower()) == len(text) else text
    for mention in mentions:
        tokens += TOKEN.findall(low[at : mention.start])
        if mention.sort == "file":
            places.append(len(tokens))
        tokens.append(FILE_MARK if mention.sort == "file" else QUOTE_MARK)
        at = mention.end
    return tokens + TOKEN.findall(low[at:]), places


def _is_order_or_statement(text: str, tokens: list[str]) -> bool:
    """A question asks for an answer, not for a file, unless it is a polite order."""
    if not text.rstrip("`*_\"' )").endswith(("?", "？")):
        return True
    return bool(tokens) and (tokens[0] in REQUESTS or tokens[0] == "please")


def _are_joined(tokens: list[str], before: int, index: int, gap: str) -> bool:
    """Whether two names are side by side: `a.txt`, `b.txt` and `c.txt`."""
    between = tokens[before + 1 : index]
    if len(between) > 6 or not JOINTS.issuperset(between):
        return False
    return bool(between) or gap.strip(QUOTES) in ("", "/", "、", "と")


def _release_alternatives(roles: list[Role], tokens: list[str], places: list[int]) -> None:
    """If one of several files will do, none is a deliverable: `a.md` or `a.txt`."""
    for index in range(1, len(roles)):
        between = tokens[places[index - 1] + 1 : places[index]]
        if len(between) > 3 or OR.isdisjoint(between):
            continue
        first = index - 1
        while first and tokens[places[first - 1] + 1 : places[first]] == [","]:
            first -= 1
        roles[first : index + 1] = ["mentioned" if role == "deliverable" else role for role in roles[first : index + 1]]


def _can_be_deliverable(path: str, tokens: list[str], index: int) -> bool:
    if is_placeholder(path) or is_top_folder(path) or "*" in path or "?" in path:
        return False
    return has_extension(path) or not _is_target_folder(path, tokens, index)


def _is_target_folder(path: str, tokens: list[str], index: int) -> bool:
    """A folder that something is put into is a place. One that is to be made is a thing."""
    near = tokens[max(0, index - 5) : index]
    is_folder = path.endswith("/") or not FOLDER_NOUNS.isdisjoint([*near[-3:], *tokens[index + 1 : index + 2]])
    for word in reversed(near):
        cue = CUES.get(word)
        if cue in ("to", "in") and (is_folder or FILE_NOUNS.isdisjoint(near[-3:])):
            return True
        if cue == "make" and word != "output":
            return False
    return is_folder or path[:1] not in "/."


def _role(sentence: Sentence, mention: Mention, tokens: list[str], index: int) -> Role:
    text = sentence.text
    if EXAMPLE.search(text[max(0, mention.start - 28) : mention.start]) or _is_in_condition(tokens, index):
        return "mentioned"
    if CUES.get(tokens[index - 1] if index else "") == "in" and _goes_to_file(tokens[index + 1 : index + 5]):
        return "given"  # write the total in a.txt to b.txt
    role = _placed_role(sentence, tokens, index) or _role_behind(tokens, index) or _japanese_role(text, mention.end)
    return role or governed_role(tokens, index) or ("given" if _is_described(tokens, index) else "mentioned")


def _goes_to_file(after: list[str]) -> bool:
    return (
        CUES.get(after[0] if after else "") == "to"
        and FILE_MARK in after[1:]
        and FILLERS.issuperset(after[1 : after.index(FILE_MARK)])
    )


def _is_in_condition(tokens: list[str], index: int) -> bool:
    """Whether a name is in a clause such as `if …`, or right before `if needed`."""
    start = index
    while start and tokens[start - 1] not in (",", ";", ":", "—"):
        start -= 1
    return tokens[start] in CONDITIONS or tokens[index + 1 : index + 3] in IF_NEEDED


def _placed_role(sentence: Sentence, tokens: list[str], index: int) -> Role | None:
    """The role that a heading, a lead-in or a label gives to a name at the beginning."""
    before = tokens[:index]
    is_named = before[-2:-1] == ["be"] and before[-1] in TITLED
    is_label = 0 < len(before) <= 8 and (before[-1] == ":" or is_named or (FILLERS | FILE_NOUNS).issuperset(before))
    if is_label and (role := _labelled_role(before)):
        return role
    if not sentence.is_first or sentence.purpose not in ("output", "input"):
        return None
    is_labelled = sentence.shape == "item" and before[-1:] == [":"] and len(before) <= MAX_LABEL_WORDS
    if before and sentence.shape != "heading" and not is_labelled and not (FILLERS | {":"}).issuperset(before):
        return None
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    if after is None or after in AFTER_LISTED or sentence.shape in ("heading", "row"):
        return "deliverable" if sentence.purpose == "output" else "given"
    return None


def _labelled_role(before: list[str]) -> Role | None:
    """`Output: X`, `The output file should be X`."""
    labels = set(before) - {":", QUOTE_MARK}
    if before[-2:-1] == ["be"] and before[-1] in TITLED and labels & OUTPUTS:
        return "deliverable"  # the output table should be named X
    if not labels <= FILLERS | FILE_NOUNS | OUTPUTS | INPUTS:
        return None
    if labels & RESULTS:
        return "deliverable" if before[-1] == ":" or "be" in labels or "is" in labels else None
    return "given" if labels & INPUTS else None


def _role_behind(tokens: list[str], index: int) -> Role | None:
    """What the words behind a name say of it: it must contain something, it must not be changed."""
    after = tokens[index + 1 : index + 18]
    while after and (after[0] in FILE_NOUNS or after[0] in FOLDER_NOUNS or after[0] in ("itself", "also", "(", ")")):
        after = after[1:]
    if len(after) < 2 or after[0] not in MODALS or after[0] in ("need", "needs", "has", "have"):
        return None
    if after[1] in NEGATIONS:
        return "forbidden"
    if after[1] == "be":
        return "deliverable" if len(after) > 2 and after[2] in BECOMES else None
    return "deliverable" if after[1] in HOLDS else None


def _japanese_role(text: str, end: int) -> Role | None:
    """The role by the particle and the verb behind a name in a Japanese sentence."""
    clause = JAPANESE_CLAUSE.match(text, end)
    if clause is None or not contains_any(clause[1], CHANGES):
        return None
    return "forbidden" if contains_any(clause[1], BANS) else "deliverable"


def _is_described(tokens: list[str], index: int) -> bool:
    """`X` counts the words of a text: it is there already."""
    if not (FILLERS | FILE_NOUNS).issuperset(tokens[:index]):
        return False
    after = [word for word in tokens[index + 1 : index + 4] if word not in FILE_NOUNS]
    return bool(after) and after[0] in DESCRIBES
