"""The word that governs a name, which decides the name's role.

The words before the name are read backwards, as far as a verb that asks for something, a word that reports something,
or the beginning of another clause."""

from __future__ import annotations

from collections.abc import Callable

from dense.analysis.evidence.requirements.requirement import Role
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
QUESTION_WORDS = ("what", "how", "why", "whether")
NAMING = frozenset(["call", "name", "title"])
REWRITING = frozenset(["rewrite", "re-write", "reimplement", "re-implement"])
BEFORE_VERBS = frozenset("to you i we it they that which will not do does let help me us".split())
NO_CLAUSE_BEFORE = REQUESTS | PUNCTUATION | {"and", "then", "if", "when", "so"}
DEMANDING = frozenset("must should shall needs need has have to".split())


class _Words:
    """The words before a name, read backwards, with what was met so far."""

    def __init__(self, tokens: list[str], name_index: int) -> None:
        self.tokens, self.name_index = tokens, name_index
        self.index = name_index - 1
        """The word in question."""
        self.preposition = ""
        """The preposition between the name and the words that are still to come."""
        self.follows_source = False
        """Whether a source comes between, as in: a summary of the data in X."""
        self.names_place = False
        """Whether a word for a place is before it: compile the sources at X."""
        self.is_apposed = tokens[name_index - 1 : name_index] == [":"]
        """Whether it stands for what is before it: write a parser for our format: X."""

    @property
    def word(self) -> str:
        return self.tokens[self.index]

    @property
    def ends(self) -> bool:
        """Whether another clause begins here."""
        is_pause = self.word in ("(", ":", "—", "–", "-", ",") and self.index < self.name_index - 1
        return self.word in (";", "!", "?") or (is_pause and not self.preposition)

    @property
    def wants_in(self) -> bool:
        """The result must be in X."""
        is_demand = self.index > 0 and self.tokens[self.index - 1] in ("must", "should", "shall")
        return self.word == "be" and self.preposition == "in" and is_demand

    def note_preposition(self) -> None:
        self.names_place = self.names_place or (not self.preposition and self.word in ("at", "under"))
        self.preposition = self.preposition or CUES[self.word]

    def note_source(self) -> None:
        self.follows_source = True

    def skip_clause(self) -> None:
        self.index -= 2 if self.tokens[self.index - 2] in ("that", "which") else 1

    def skip_word(self) -> None:
        """Read on."""

    def of_participle(self) -> Role:
        return _narrated_role(self.tokens, self.index, self.preposition)

    def of_verb(self) -> Role:
        is_moved_there = self.names_place and CUES[self.word] == "move"
        preposition = "" if is_moved_there else self.preposition
        return _verb_role(self.tokens, self.index, self.name_index, preposition, self.follows_source)


ROLES: tuple[tuple[tuple[Cue, ...], Callable[[_Words], bool], Callable[[_Words], Role | None]], ...] = (
    (("to", "in"), lambda _: True, _Words.note_preposition),
    (("from",), lambda words: bool(words.preposition) or words.is_apposed, _Words.note_source),
    (("from",), lambda words: words.word in ("from", "using", "based", "of"), lambda _: "given"),
    (("from",), lambda _: True, lambda _: "mentioned"),
    # Write what it prints to X.
    (("clause",), lambda words: words.preposition == "to" and words.word in QUESTION_WORDS, _Words.skip_word),
    (("clause",), lambda _: True, lambda _: "mentioned"),
    (("existing",), lambda _: True, lambda _: "given"),
    (
        ("narrated",),
        lambda words: _is_adjective(words.tokens, words.index) or _is_plural(words.tokens, words.index),
        _Words.skip_word,
    ),
    (("narrated",), lambda _: True, _Words.of_participle),
    (ORDERS, lambda words: bool(words.preposition) and _is_in_clause(words.tokens, words.index), _Words.skip_clause),
    (ORDERS, lambda _: True, _Words.of_verb),
)
"""What a word with one of these cues comes to if the condition holds, the first row that applies: the role of the name,
or None to read on."""


def governed_role(tokens: list[str], name_index: int) -> Role | None:
    """The role of the name at a place by its governing word; None if there is none."""
    words = _Words(tokens, name_index)
    while words.index > max(-1, name_index - MAX_DISTANCE) and not words.ends:
        cue = CUES.get(words.word)
        if cue is not None and not _is_noun(tokens, words.index, cue):
            decide = next(decide for cues, applies, decide in ROLES if cue in cues and applies(words))
            if role := decide(words):
                return role
        if words.wants_in:
            return "deliverable"
        words.index -= 1
    return _fronted_role(tokens, name_index, words.preposition)


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


def _fronted_role(tokens: list[str], name_index: int, preposition: str) -> Role | None:
    """In X, implement …: the order comes behind."""
    if not preposition or name_index + 2 >= len(tokens) or tokens[name_index + 1] != ",":
        return None
    return "deliverable" if CUES.get(tokens[name_index + 2]) in ("make", "put") else None


def _narrated_role(tokens: list[str], index: int, preposition: str) -> Role:
    """A participle is an order only with an auxiliary: must be written to X."""
    earlier = tokens[max(0, index - 5) : index - 1] if tokens[index - 1] == "be" else []
    is_demand = NEGATIONS.isdisjoint(earlier) and not DEMANDING.isdisjoint(earlier)
    return "deliverable" if is_demand and preposition else "mentioned"


def _verb_role(tokens: list[str], index: int, name_index: int, preposition: str, is_taken: bool) -> Role:
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
        if preposition == "to" and "into" in tokens[index:name_index]:
            return "deliverable"  # summarise the logs into X
        return "mentioned" if preposition == "to" and tokens[name_index - 1] != "at" else "given"
    if verb in REWRITING and not preposition and tokens[name_index + 1 : name_index + 2] in (["as"], ["in"], ["into"]):
        return "given"  # rewrite X as a C program
    if cue == "move":
        return "deliverable" if preposition == "to" else "given"
    if cue == "put":
        return "deliverable" if preposition else "mentioned"
    is_new = "new" in tokens[max(0, name_index - 3) : name_index]  # add tests of your own in a new file X
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
