"""The word that governs a name, which decides the name's role.

The words before the name are read backwards, as far as a verb that asks for something, a word that reports something,
or the beginning of another clause."""

from __future__ import annotations

from dense.evidence.requirements.requirement import Role
from dense.knowledge.words import Cue, words
from dense.knowledge.words.cues import CUES, IMPERATIVES, NEGATIONS, ORDERS

FILE_MARK = "\x00"
"""Replaces the name of a file among the words."""
MAX_DISTANCE = 40
"""Words between a name and the verb that governs it."""

PUNCTUATION = frozenset(", ; : ( ) — ! ?".split())
ORDER_STARTS = words("order_start") | PUNCTUATION
REQUESTS = words("request")
PERMISSIONS = words("permission")
SOFTENERS = words("softener")
NO_ORDER_TO = words("no_order_to")
NEGATIONS_BEHIND = words("negation_behind")
DETERMINERS = frozenset("the a an this its your each any all of with for in from by".split())
NAMING = frozenset(["call", "name", "title"])
REWRITING = frozenset(["rewrite", "re-write", "reimplement", "re-implement"])
BEFORE_VERBS = frozenset("to you i we it they that which will not do does let help me us".split())
NO_CLAUSE_BEFORE = REQUESTS | PUNCTUATION | {"and", "then", "if", "when", "so"}
DEMANDING = frozenset("must should shall needs need has have to".split())


def governed_role(tokens: list[str], place: int) -> Role | None:
    """The role of the name at a place by its governing word; None if there is none."""
    preposition = ""
    is_taken = False  # whether a source comes between, as in: a summary of the data in X
    is_place = False  # whether a word for a place is before it: compile the sources at X
    is_apposed = tokens[place - 1 : place] == [":"]  # write a parser for our format: X
    index = place - 1
    while index > max(-1, place - MAX_DISTANCE):
        word = tokens[index]
        cue = CUES.get(word)
        if word in (";", "!", "?") or (
            word in ("(", ":", "—", "–", "-", ",") and index < place - 1 and not preposition
        ):
            break
        if cue is None or _is_noun(tokens, index, cue):
            pass
        elif cue in ("to", "in"):
            is_place = is_place or (not preposition and word in ("at", "under"))
            preposition = preposition or cue
        elif cue == "from":
            if not preposition and not is_apposed:
                return "given" if word in ("from", "using", "based", "of") else "mentioned"
            is_taken = True
        elif cue == "clause":
            if preposition != "to" or word not in ("what", "how", "why", "whether"):
                return "mentioned"
        elif cue == "existing":
            return "given"
        elif cue == "narrated":
            if not _is_adjective(tokens, index) and not _is_plural(tokens, index):
                return _narrated_role(tokens, index, preposition)
        elif preposition and _is_in_clause(tokens, index):
            index -= 2 if tokens[index - 2] in ("that", "which") else 1
        else:
            return _verb_role(tokens, index, place, "" if is_place and cue == "move" else preposition, is_taken)
        if word == "be" and preposition == "in" and index and tokens[index - 1] in ("must", "should", "shall"):
            return "deliverable"  # the result must be in X
        index -= 1
    return _fronted_role(tokens, place, preposition)


def _is_noun(tokens: list[str], index: int, cue: Cue) -> bool:
    """An English word that may be a verb is a noun right after an article or an adjective: the output, a list."""
    if cue not in ORDERS or tokens[index] in IMPERATIVES or index == 0:
        return False
    before = tokens[index - 1]
    may_precede = before in ORDER_STARTS or before in BEFORE_VERBS or before in REQUESTS or before in NEGATIONS
    return not may_precede and before not in SOFTENERS and CUES.get(before) != "clause"


def _is_adjective(tokens: list[str], index: int) -> bool:
    """Whether a participle belongs to a noun: the model with its updated weights."""
    return bool(index) and tokens[index - 1] in DETERMINERS and tokens[index + 1 : index + 2] != ["by"]


def _is_plural(tokens: list[str], index: int) -> bool:
    """Whether a word is a noun that also is a form of a verb: summarise the server logs in X."""
    return tokens[index].endswith("s") and CUES.get(tokens[0]) in ORDERS and tokens[index - 1] not in ("that", "which")


def _is_in_clause(tokens: list[str], index: int) -> bool:
    """Whether a verb belongs to a clause about something else: write each word you find to X."""
    return index > 1 and tokens[index - 1] in ("you", "i", "we", "they") and tokens[index - 2] not in NO_CLAUSE_BEFORE


def _fronted_role(tokens: list[str], place: int, preposition: str) -> Role | None:
    """In X, implement …: the order comes behind."""
    if not preposition or place + 2 >= len(tokens) or tokens[place + 1] != ",":
        return None
    return "deliverable" if CUES.get(tokens[place + 2]) in ("make", "put") else None


def _narrated_role(tokens: list[str], index: int, preposition: str) -> Role:
    """A participle is an order only with an auxiliary: must be written to X."""
    earlier = tokens[max(0, index - 5) : index - 1] if tokens[index - 1] == "be" else []
    is_demand = NEGATIONS.isdisjoint(earlier) and not DEMANDING.isdisjoint(earlier)
    return "deliverable" if is_demand and preposition else "mentioned"


def _verb_role(tokens: list[str], index: int, place: int, preposition: str, is_taken: bool) -> Role:
    verb = tokens[index]
    cue = CUES[verb]
    mood = _mood(tokens, index)
    if mood == "ban":
        return "forbidden" if not preposition or preposition == "in" or cue != "read" else "mentioned"
    if mood != "order":
        return "mentioned" if cue != "read" else "given"
    if verb in NAMING and not preposition and tokens[index + 1 : index + 2] != [FILE_MARK]:
        return "deliverable"  # call your program X
    if cue == "read":
        if preposition == "to" and "into" in tokens[index:place]:
            return "deliverable"  # summarise the logs into X
        return "mentioned" if preposition == "to" and tokens[place - 1] != "at" else "given"
    if verb in REWRITING and not preposition and tokens[place + 1 : place + 2] in (["as"], ["in"], ["into"]):
        return "given"  # rewrite X as a C program
    if cue == "move":
        return "deliverable" if preposition == "to" else "given"
    if cue == "put":
        return "deliverable" if preposition else "mentioned"
    is_new = "new" in tokens[max(0, place - 3) : place]  # add tests of your own in a new file X
    return "mentioned" if preposition == "in" and is_taken and not is_new else "deliverable"


def _mood(tokens: list[str], index: int) -> str:
    """Whether a verb is an `order`, a `ban`, or neither."""
    verb = tokens[index]
    is_negated = verb in IMPERATIVES and not NEGATIONS_BEHIND.isdisjoint(tokens[index + 1 : index + 8])
    if is_negated or (index and tokens[index - 1] in NEGATIONS):
        return "ban"
    if index == 0:
        return "order"
    before = tokens[index - 1]
    second = tokens[index - 2] if index >= 2 else ""
    recent = tokens[max(0, index - 4) : index]
    for offset in range(len(recent) - 1, -1, -1):
        if recent[offset] in (",", ";", ":", "but", "and", "—", "."):
            break
        if recent[offset] in NEGATIONS or (
            recent[offset] in PERMISSIONS and recent[offset + 1 : offset + 2] != ["you"]
        ):
            return ""
    if verb in IMPERATIVES:
        return "order"
    if before == "to":
        return "" if second in NO_ORDER_TO else "order"
    if before == "you":
        return "order" if second in REQUESTS else ""
    if before in ("must", "should", "shall"):
        return "order" if second in ("you", "agent", "") else ""
    return "order" if before in ORDER_STARTS else ""
