"""The word that governs a name: what stands before it is read backwards, as far as a verb that asks for something, a
word that tells of something, or the beginning of another clause."""

from __future__ import annotations

from dense.evidence.requirements.cues import (
    ASKED,
    BAD_BEFORE_TO,
    BANNED,
    CHANGING,
    CUES,
    ENDS_UP,
    FILE_WORDS,
    FIXERS,
    NEGATIONS,
    PLAIN_IMPERATIVES,
    PROGRAMS,
    SOFTENERS,
    STARTERS,
)
from dense.evidence.requirements.requirement import Role

NAME = "\x00"
"""Stands for a file among the words."""
FARTHEST = 40
"""So many words back a verb may govern a name."""

NEGATED_BEHIND = frozenset(["nicht", "pas", "niet"])
VERBS = ("make", "put", "move", "read")
PERMITS = frozenset(
    "may might can could optionally kannst darfst können peux pouvez puedes puede pode podes можешь можете".split()
)
"""You may write X: nobody has to. Could you write X: somebody asks."""
AUXILIARIES = frozenset("will can should must would could may".split())
DETERMINERS = frozenset("the a an this its your each any all of with for in from by".split())
BEFORE_VERBS = frozenset("to you i we it they that which will not do does let help me us".split())


def governed(tokens: list[str], place: int, path: str) -> Role | None:
    """The role by the governing word; None where there is none."""
    preposition = ""
    is_taken = False  # whether something lies between, as in: a summary of the data in X
    index = place - 1
    lowest = max(-1, place - FARTHEST)
    while index > lowest:
        word = tokens[index]
        cue = CUES.get(word)
        if (preposition and word in ENDS_UP and _must_end_up(tokens, index)) or (
            word in ("need", "want") and not preposition and _is_wished_for(tokens, index, place)
        ):
            return "deliverable"
        if word == ")":
            index = _skip_bracket(tokens, index)
        elif word in (";", "!", "?") or (
            word in ("(", ":", "—", "–", "-", ",") and index < place - 1 and not preposition
        ):
            return _fronted(tokens, place, preposition)
        elif cue is None or _is_noun_here(tokens, index, cue):
            pass
        elif cue in ("to", "in"):
            preposition = preposition or cue
        elif cue == "from":
            if not preposition:
                return "given" if word in ("from", "using", "based", "of") else "mentioned"
            is_taken = True
        elif cue == "stop":
            if preposition != "to" or word not in ("what", "how", "why", "whether"):
                return "mentioned"
        elif cue == "there":
            return _by_existence(tokens, index, preposition)
        elif cue == "told":
            return _by_telling(tokens, index, preposition)
        else:
            return _by_verb(tokens, index, place, preposition, is_taken, path)
        index -= 1
    return _fronted(tokens, place, preposition)


def _must_end_up(tokens: list[str], index: int) -> bool:
    """The result must end up in X: by a modal, and not of what a program does."""
    before = tokens[index - 1] if index else ""
    earlier = tokens[max(0, index - 5) : index]
    if before == "to":
        is_demand = len(earlier) > 1 and earlier[-2] in ("has", "have", "needs", "need")
    else:
        is_demand = before in ("must", "should", "shall")
    return is_demand and NEGATIONS.isdisjoint(earlier)


def _is_wished_for(tokens: list[str], index: int, place: int) -> bool:
    """I need a file X: what is wanted is a file, and a new one."""
    between = tokens[index + 1 : place]
    is_asked = index > 0 and tokens[index - 1] in ("i", "we") and between[:1] in (["a"], ["an"], ["one"])
    return is_asked and len(between) < 6 and not FILE_WORDS.isdisjoint(between)


def _is_noun_here(tokens: list[str], index: int, cue: str) -> bool:
    """An English word that may be a verb, right after an article or an adjective, is a noun: the output, a list."""
    if cue not in VERBS or tokens[index] in PLAIN_IMPERATIVES or index == 0:
        return False
    before = tokens[index - 1]
    if before in DETERMINERS:
        return True
    may_precede = before in STARTERS or before in BEFORE_VERBS or before in ASKED or before in NEGATIONS
    return not may_precede and before not in SOFTENERS and CUES.get(before) != "stop"


def _skip_bracket(tokens: list[str], index: int) -> int:
    depth = 0
    while index >= 0:
        depth += (tokens[index] == ")") - (tokens[index] == "(")
        if depth == 0:
            return index
        index -= 1
    return 0


def _fronted(tokens: list[str], place: int, preposition: str) -> Role | None:
    """In X, implement …: the order comes behind."""
    if preposition not in ("in", "to") or place + 2 >= len(tokens) or tokens[place + 1] != ",":
        return None
    verb = tokens[place + 2]
    return "deliverable" if CUES.get(verb) in ("make", "put") else None


def _by_existence(tokens: list[str], index: int, preposition: str) -> Role:
    word = tokens[index]
    if word in ("has", "have") and index + 1 < len(tokens) and tokens[index + 1] == "to":
        return "mentioned"
    if (
        preposition == "to"
        and word in ("is", "are", "was", "were")
        and index + 1 < len(tokens)
        and tokens[index + 1] in ("to",)
    ):
        return "mentioned"
    return "given"


def _by_telling(tokens: list[str], index: int, preposition: str) -> Role:
    """A participle is an order only with an auxiliary: must be written to X."""
    if index and tokens[index] in CHANGING and tokens[index - 1] in NEGATIONS:
        return "forbidden"
    if index < 2 or tokens[index - 1] != "be":
        return "given" if tokens[index] in ("stored", "saved") and preposition == "in" else "mentioned"
    earlier = tokens[max(0, index - 5) : index - 1]
    if any(word in NEGATIONS for word in earlier):
        return "forbidden" if not preposition or preposition == "in" else "mentioned"
    is_demand = bool(set(earlier) & {"must", "should", "shall", "needs", "need", "has", "have", "to"})
    return "deliverable" if is_demand and preposition else "mentioned"


def _by_verb(tokens: list[str], index: int, place: int, preposition: str, is_taken: bool, path: str) -> Role:
    verb = tokens[index]
    cue = CUES[verb]
    mood = _mood(tokens, index)
    if mood == "ban":
        return "forbidden" if not preposition or preposition == "in" or cue != "read" else "mentioned"
    if mood != "order":
        return "mentioned" if cue != "read" else "given"
    if cue == "read":
        return "mentioned" if preposition == "to" and tokens[place - 1] != "at" else "given"
    if cue == "move":
        return "deliverable" if preposition == "to" else "given"
    if cue == "put":
        return (
            "deliverable"
            if preposition
            else ("given" if verb in ("document", "log", "keep") else _direct_put(tokens, index))
        )
    if verb in FIXERS and "test" in path.rpartition("/")[2].lower():
        return "mentioned"
    if verb == "make" and _is_made_to_work(tokens, index):
        return "mentioned"
    if preposition == "in" and is_taken:
        return "mentioned"
    if verb == "add" and not preposition and tokens[place + 1 : place + 2] == ["to"]:
        return "mentioned"  # an entry: add X to the list
    return "deliverable"


def _direct_put(tokens: list[str], index: int) -> Role:
    """Save X: it is to be there. Put X into Y: it is there."""
    return "deliverable" if tokens[index] in ("save", "emit", "dump", "guarda", "speichere", "salve") else "mentioned"


def _is_made_to_work(tokens: list[str], index: int) -> bool:
    after = tokens[index + 1 : index + 8]
    return bool(after) and (
        after[0] in ("sure", "use") or bool(set(after) & {"pass", "work", "run", "succeed", "green"})
    )


def _mood(tokens: list[str], index: int) -> str:
    """Whether a verb is an `order`, a `ban`, or neither."""
    verb = tokens[index]
    if index == 0:
        is_banned = verb in PLAIN_IMPERATIVES and not NEGATED_BEHIND.isdisjoint(tokens[1:8])
        return "ban" if is_banned else "order"
    before = tokens[index - 1]
    second = tokens[index - 2] if index >= 2 else ""
    recent = tokens[max(0, index - 4) : index]
    for offset in range(len(recent) - 1, -1, -1):
        if recent[offset] in (",", ";", ":", "but", "and", "—", "."):
            break
        if recent[offset] in PERMITS and recent[offset + 1 : offset + 2] != ["you"]:
            return ""
        if recent[offset] in NEGATIONS:
            if before in NEGATIONS:
                return "ban"
            if any(word in SOFTENERS for word in recent[offset + 1 :]):
                return "order" if "forget" in recent or "fail" in recent else ""
            if verb in PLAIN_IMPERATIVES or before in ("modify", "edit", "change", "or"):
                return "ban"
            return ""
    if verb in PLAIN_IMPERATIVES:
        return "order" if NEGATED_BEHIND.isdisjoint(tokens[index + 1 : index + 8]) else "ban"
    if before == "to":
        if second in BAD_BEFORE_TO and not (second == "want" and "you" in recent):
            return ""
        return "" if second in PROGRAMS else "order"
    if before == "you":
        return "order" if second in ASKED else ""
    if before in ("must", "should", "shall"):
        return "" if second in PROGRAMS or second in ("we", "i") else "order" if second in ("you", "agent", "") else ""
    if before in ("or", "and") and _runs_on_ban(tokens, index):
        return "ban"
    if before not in STARTERS:
        return ""
    if before in ("and", "or", "then", ",", ")") and _is_of_program(tokens, index):
        return ""
    return "order"


def _runs_on_ban(tokens: list[str], index: int) -> bool:
    """Do not modify or delete X."""
    second = tokens[index - 2] if index >= 2 else ""
    third = tokens[index - 3] if index >= 3 else ""
    return third in NEGATIONS and (CUES.get(second) is not None or second in BANNED)


def _is_of_program(tokens: list[str], index: int) -> bool:
    """Whether a verb after `and` tells what a program does: a script that reads A and write to B."""
    if index + 1 < len(tokens) and tokens[index + 1] in ("it", "them", "this"):
        return False
    for at in range(index - 2, 0, -1):
        if tokens[at - 1] != NAME and tokens[at - 1] not in PROGRAMS:
            continue
        if tokens[at] == "to":
            return True
        # "a script that reads A and write B" is no agreement: the second verb is an order to the agent.
        if tokens[at] in ("that", "which") and (tokens[at + 1] in AUXILIARIES or CUES.get(tokens[at + 1]) in VERBS):
            return True
    return False
