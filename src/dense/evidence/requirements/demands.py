"""Demands: what a sentence asks for in words, and the roles of values, commands and limits, which hang on them."""

from __future__ import annotations

import re

from dense.evidence.requirements.cues import CUES, NEGATIONS, PLAIN_IMPERATIVES
from dense.evidence.requirements.requirement import Role
from dense.evidence.requirements.sentences import Sentence

MUST = frozenset(
    """
    must should shall ensure required mandatory needs never always muss müssen soll sollen sollte sollten darf dürfen
    unbedingt doit doivent devez faut debe deben debes hay deve devem precisa должен должна должно должны необходимо
    нужно обязательно следует
""".split()
)
WIDE_BANS = ("不得", "不要", "请勿", "禁止", "ないで", "마세요")
WEAK_MUST = frozenset("never always needs required".split())
"""Demands at the beginning of a clause; elsewhere they tell how things are."""
MUST_PHRASES = ("make sure", "has to ", "have to ", "you need to", "be sure")
PHRASE_HINTS = frozenset(["make", "has", "have", "need", "be"])
NARRATORS = frozenset("i we they he she who".split())
"""Whoever says what he must do asks for nothing."""
CLAUSE_STARTS = frozenset(["", ",", ":", "and", "but", "please", "then", "or", "must", "should"])
WIDE_MUST = tuple(
    """
    必须 必須 应该 应当 需要 务必 不得 不要 请勿 しなければ 必要が べき てください すること 해야 하세요 마세요
""".split()
)
MODAL_STARTS = frozenset("must should shall darf dürfen doit doivent".split())
BANS = frozenset("not never don't don’t nicht pas não не nunca".split())
HINTS = MUST | BANS | PHRASE_HINTS
APPEARS = frozenset(
    """
    key keys column columns header headers field fields named called exactly format formatted prefix begin begins start
    starts end ends contain contains containing print prints output answer title content text string word return returns
    property properties name schlüssel spalte spalten name genannt clé colonne colonnes nommé clave columna columnas
    llamado chave coluna ключ столбец формат
""".split()
)
FIELDS = frozenset("key keys column columns header headers field fields title named called".split())
SUCCEEDS = frozenset(
    """
    must should shall pass passes succeed succeeds work works exit exits verified graded tested checked ensure laufen
    läuft passer fonctionne pasar funciona funcione passar проходит работает
""".split()
)
PASSES = frozenset("pass passes succeed succeeds works".split())
RUNS = frozenset(
    """
    run use using execute try with via by führe nutze verwende lance utilise ejecuta usa execute запусти
""".split()
)
WORD = re.compile(r"[\w'’]+|[,:]")
BLANKED = bytes(byte if chr(byte).isalnum() or chr(byte) in "_',:" else ord(" ") for byte in range(256))
"""ASCII's characters that make words, and blanks for the others."""


def words_of(low: str) -> list[str]:
    """The words of a sentence in lower case, with the commas and colons."""
    if not low.isascii():
        return WORD.findall(low)
    return low.replace(",", " , ").replace(":", " : ").encode().translate(BLANKED).decode().split()


def may_demand(low: str) -> bool:
    """Whether a sentence holds a word that may demand something: a quick look before the words are read one by one."""
    rough = low.split()
    if not HINTS.isdisjoint(rough):
        return True
    return not low.isascii() and any(phrase in low for phrase in WIDE_MUST)


def is_demand(words: list[str], low: str) -> bool:
    """Whether a sentence demands something, in any of the languages."""
    if HINTS.isdisjoint(words):
        return not low.isascii() and any(phrase in low for phrase in WIDE_MUST)
    if not MUST.isdisjoint(words):
        for index, word in enumerate(words):
            before = words[index - 1] if index else ""
            if word in MUST and (before in CLAUSE_STARTS if word in WEAK_MUST else before not in NARRATORS):
                return True
    if not PHRASE_HINTS.isdisjoint(words) and any(phrase in low for phrase in MUST_PHRASES):
        return True
    if is_ban(words, low):
        return True
    return not low.isascii() and any(phrase in low for phrase in WIDE_MUST)


def is_ban(words: list[str], low: str) -> bool:
    """Whether a demand forbids something."""
    if BANS.isdisjoint(words):
        return not low.isascii() and any(phrase in low for phrase in WIDE_BANS)
    for index, word in enumerate(words[:-1]):
        before = words[index - 1] if index else ""
        starts = MODAL_STARTS if word in ("not", "nicht", "pas") else CLAUSE_STARTS
        if word in BANS and (before in starts or (before == "do" and (index < 2 or words[index - 2] in CLAUSE_STARTS))):
            return words[index + 1] not in ("forget", "fail", "only", "just", "hesitate", "need", "have")
    return False


def is_order(words: list[str]) -> bool:
    """Whether a sentence begins with an order."""
    for word in words[:2]:
        if word in ("please", "bitte", "then", "and", ","):
            continue
        return CUES.get(word) in ("make", "put", "move") or word in PLAIN_IMPERATIVES
    return False


def value_role(sentence: Sentence, words: list[str], demands: bool) -> Role:
    """Values must appear where the sentence asks for something and says that they are names, a format, a content."""
    if sentence.place == "aside" or not NEGATIONS.isdisjoint(words):
        return "mentioned"
    if demands or is_order(words):
        return "mentioned" if APPEARS.isdisjoint(words) else "deliverable"
    return "deliverable" if sentence.place == "output" and not FIELDS.isdisjoint(words) else "mentioned"


def command_role(sentence: Sentence, words: list[str], low: str) -> Role:
    """A command must work where the sentence says so; else it is at hand, or only named."""
    if sentence.place == "aside":
        return "mentioned"
    if not PASSES.isdisjoint(words):
        return "deliverable"
    if is_ban(words, low):
        return "forbidden" if not RUNS.isdisjoint(words) else "mentioned"
    if not SUCCEEDS.isdisjoint(words):
        return "deliverable"
    return "given" if not RUNS.isdisjoint(words) else "mentioned"
