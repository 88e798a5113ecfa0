"""The agent's own word that it is not done, in its last message. Its word that it succeeded counts for nothing; this
counts, so it must be meant: of the work as a whole, of how things are now, and not taken back in the same breath."""

from __future__ import annotations

import re

TAIL = 4000
"""How much of the last message is looked at, from its end: what is said last counts."""
QUOTES = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]{0,200}`|\"[^\"\n]{0,300}\"|“[^”\n]{0,300}”|«[^»\n]{0,300}»|「[^」\n]{0,300}」|^>[^\n]*",
    re.DOTALL | re.MULTILINE,
)
"""What somebody else says, or a program."""
ANSWERED = re.compile(r"\banswer\b[^.\n]{0,20}?(?:\bis\b|[:：=])|答案[是为：:]|\\boxed\{", re.IGNORECASE)
"""With an answer a question is answered, whatever could not be found on the way."""

_CHANGES = r"make\s+(?:the\s+)?(?:necessary|required|requested)\s+changes"
_ENDING = (
    rf"(?:fully\s+|successfully\s+)?(?:complete|finish|solve|fix|resolve|implement|accomplish|achieve|{_CHANGES})\b"
)
_ASIDES = r"\s+(?:an?|some|more|other|another|further|additional|every|(?:\w+\s+){0,3}(?:suite|verification|run))\b"
_SEEKING = r"(?:find|determine|locate|answer|retrieve|access|obtain|identify)\b"
_COULD_NOT = r"""\b(?:i|we)\s+(?:(?:was|were|have\s+been)\s+(?:unable|not\s+able)\s+to|could\s*n[o'’]t|could\s+not
    |did(?:\s+not|n['’]t)\s+manage\s+to|(?:was|were)n['’]t\s+able\s+to)\s+"""
_FAILED = r"\bi\s+failed\s+to\s+"
_CANNOT = r"\b(?:(?:i\s+am|i['’]m)\s+(?:unable|not\s+able)\s+to|i\s+can\s*not|i\s+can['’]t)\s+"
_UNABLE = r"^[\s*#-]*(?:sorry,\s*)?unable\s+to\s+"

UNDONE = re.compile(
    rf"""
    (?:{_COULD_NOT}|{_FAILED}|{_UNABLE}){_ENDING}(?!{_ASIDES}) | {_CANNOT}(?:complete|finish|solve|{_CHANGES})\b
    | \bi\s+ran\s+out\s+of\s+(?:time|steps|turns|budget|context|tokens)\b
    | \bich\s+konnte\b[^.,;\n]{{0,80}}\bnicht\s+(?:\w+\s+)?(?:abschlie|beenden|lösen|fertig|beheben|vollenden|umsetzen)
    | \bje\s+n['’]ai\s+pas\s+(?:pu|réussi\s+à)\s+(?:terminer|finir|résoudre|achever|corriger|accomplir|compléter)
    | \bno\s+(?:pude|he\s+podido|logré)\s+(?:completar|terminar|resolver|corregir|finalizar|acabar)
    | \bnão\s+(?:consegui|foi\s+possível)\s+(?:completar|terminar|resolver|corrigir|concluir|finalizar)
    | не\s+удалось\s+(?:завершить|выполнить|решить|исправить|закончить)
    | (?:未能|无法)(?:成功)?(?:完成|解决|修复|实现)
    | (?:完了|完成|解決|修正|実装|達成)できませんでした
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
"""Words for work that is left undone, in the languages that we know. Hints only: where none is found nothing
follows."""
UNFOUND = re.compile(
    rf"""
    (?:{_COULD_NOT}|{_FAILED}|{_CANNOT}|{_UNABLE}){_SEEKING}
    | \bich\s+konnte\b[^.,;\n]{{0,80}}\bnicht\s+(?:finden|ermitteln|bestimmen|beantworten|herausfinden)
    | \bje\s+n['’]ai\s+pas\s+(?:pu|réussi\s+à)\s+(?:trouver|déterminer|répondre|identifier|localiser)
    | \bno\s+(?:pude|he\s+podido|logré)\s+(?:encontrar|determinar|hallar|localizar|identificar)
    | \bnão\s+(?:consegui|foi\s+possível)\s+(?:encontrar|determinar|localizar|identificar)
    | не\s+удалось\s+(?:найти|определить|получить|установить)
    | (?:未能|无法)(?:找到|确定|获取|获得)
    | (?:特定|取得|発見|確認|見つけることが|回答)できませんでした | 見つかりませんでした
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
"""The same for what was looked for. Where files are the work, not to find something is an aside."""
MARKS = (
    "could", "unable", "able to", "cannot", "can't", "can’t", "can not", "fail", "manage", "ran out", "konnte",
    "ai pas", "no pude", "no he", "no logr", "não ", "не удалось", "未能", "无法", "ませんでした",
)  # fmt: skip
"""Without one of these there is no such word."""

BEFORE = re.compile(
    r"\b(?:previously|formerly|earlier|before|originally|initially|at first|used to|would|when|whenever|if|where"
    r"|vorher|früher|zuerst|wenn|avant|auparavant|d'abord|si|quand|antes|primero|cuando|quando|раньше|ранее|сначала|если"
    r"|когда)\b|\b(?:bug|issue|problem|error|fault|cause) ?(?:was|is|:)"
    r"|(?:although|though|while|since|because|obwohl|weil|bien que|aunque|embora|хотя)\s*$"
    r"|之前|以前|此前|原来|原先|当初|当时|起初|如果|虽然|元は|場合|最初",
    re.IGNORECASE,
)
"""Ahead of it in the same sentence: it is told of another time, of a case, of a fault, or as the reason for
something."""
BEHIND = re.compile(
    r"\b(?:but|however|instead|so|therefore|thus|hence|now|yet|nevertheless"
    r"|as (?:documented|expected|intended|required)|locally|unrelated|pre-?existing|flaky|out of scope"
    r"|aber|jedoch|stattdessen|daher|jetzt|deshalb|mais|donc|maintenant|pero|sino|ahora|entonces|mas|porém|agora"
    r"|но|однако|теперь|поэтому|бы)\b"
    r"|但|不过|所以|因此|于是|现在|改用|でしたが|ので|代わりに|しかし",
    re.IGNORECASE,
)
"""Behind it in the same sentence: what was done instead, how it is now, or that it is nobody's business
here."""
WAYS = re.compile(r"\b(?:with|using|via)\b|\bmit\b|\bavec\b|\bcon\b|\bcom\b|使用|用", re.IGNORECASE)
"""The one way that did not do, where the message goes on to another."""
NEXT = re.compile(
    r"\s*(?:but|however|instead|so|therefore|nevertheless|still|that said|luckily|fortunately|aber|jedoch"
    r"|stattdessen|mais|pero|mas|но|однако)\b|\s*(?:但|不过|所以|因此|しかし|そこで|代わりに)",
    re.IGNORECASE,
)
"""The same at the head of the next sentence."""
CLAIMS = re.compile(
    r"(?<!not )(?<!n't )(?<!longer )\b(?:pass(?:es|ed)?|works?|working|fixed|solved|resolved|done|succeed(?:s|ed))\b",
    re.IGNORECASE,
)
"""Words of success further on: what did not go at first went then."""
LACKING = re.compile(
    r"\b(?:not|no|none|nothing|unable|unfortunately|sorry|please|you (?:may|can|could|might)|recommend|suggest|would|if"
    r"|let me|tried|attempt\w*|search\w*|check\w*|visited|looked|nicht|kein\w*|leider|pas|aucun\w*|désolé|lo siento"
    r"|ningun\w*|não|nenhum\w*|нет|не|ни|извините)\b|n['’]t\b|没|无|未|抱歉|ありません|ません|申し訳",
    re.IGNORECASE,
)
"""Sentences that say what was tried, is not there, or may be done give no answer."""
ANSWER_MARKS = re.compile(r"\d|\*\*|—")
SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+|[。！？]")
WORD = re.compile(r"\w")
ENDS = (". ", ".\n", "\n", "。", "！", "! ", "? ")


def admission(message: str, *, makes_files: bool) -> str:
    """The sentence in which the agent says that it is not done; empty for none. `makes_files`: whether files were
    changed, so that the work is not what was looked for."""
    tail = message[-TAIL:]
    low = tail.lower()
    if not any(mark in low for mark in MARKS):
        return ""
    plain = QUOTES.sub(_blank, tail)
    if ANSWERED.search(plain):
        return ""
    for words in (UNDONE,) if makes_files else (UNDONE, UNFOUND):
        for found in words.finditer(plain):
            start, end = _sentence(plain, found.start(), found.end())
            is_turned = BEHIND.search(plain, found.end(), end) or NEXT.match(plain, end) or CLAIMS.search(plain, end)
            if is_turned or BEFORE.search(plain[start : found.start()]):
                continue
            if words is UNFOUND and (ANSWER_MARKS.search(plain[start : found.start()]) or _tells(plain[:start])):
                continue
            if (words is UNFOUND or WAYS.search(plain, found.end(), end)) and _tells(plain[end:]):
                continue
            return tail[start:end].strip()
    return ""


def _tells(text: str) -> bool:
    """Whether the rest of a message says something else than what is not there: that may be the answer, or another way
    that did."""
    return any(WORD.search(one) and not LACKING.search(one) for one in SENTENCES.split(text))


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the sentence around a stretch begins and ends."""
    before = max((place + len(mark) for mark in ENDS if (place := text.rfind(mark, 0, start)) >= 0), default=0)
    behind = min((place + 1 for mark in ENDS if (place := text.find(mark, end)) >= 0), default=len(text))
    return before, behind


def _blank(found: re.Match[str]) -> str:
    """Blanks in place of a quotation, so that places stay."""
    return " " * len(found.group())
