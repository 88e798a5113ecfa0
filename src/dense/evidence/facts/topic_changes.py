"""Whether an action's own message turns to a new topic: a hint, in many languages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from dense.knowledge.program import words
from dense.knowledge.tools import known_tool
from dense.trajectory import Step

TopicChange = Literal[0, 1, 2]
MAX_MESSAGE_CHARS = 240
"""How much of a message is read: it begins with what is done next."""
MAX_SENTENCES = 5
NUMBERED = re.compile(
    r"\W{0,12}(?:(?:step|phase|part|stage|task|schritt|teil|étape|etape|partie|paso|fase|parte|passo|etapa|шаг|этап|часть|krok|"
    r"adım|stap|steg|bước|단계|ステップ|步骤|步驟|阶段|階段)\s{0,3}[#№]?\d|第\s?[一二三四五六七八九十\d]{1,3}\s?[步阶階]|"
    r"\d{1,2}[.)]\s)"
)
SENTENCE_END = re.compile(r"[.!?:\n。！？：]+")
MARKUP = " \t*_#>-\"'`(…—"
TURNS = words("""
    now next finally moving jetzt nun weiter schließlich maintenant ensuite passons enfin ahora luego agora adesso ora
    poi теперь далее затем наконец nu şimdi sekarang teraz następnie
""")
TURN_PHRASES = (
    "als nächstes",
    "a continuación",
    "por último",
    *"现在 接下来 下一步 然后 最后 現在 接著 次に では それでは 最後に 이제 다음으로 마지막으로".split(),
)


def topic_change_of(step: Step, names: Sequence[str]) -> TopicChange:
    """2 by structure (a numbered step, an update of the plan), 1 by a word, 0 for none."""
    if any("plans" in known_tool(name).traits for name in names):
        return 2
    text = (step.message or step.reasoning)[:MAX_MESSAGE_CHARS].lower()
    if NUMBERED.match(text):
        return 2
    found = [sentence.lstrip(MARKUP) for sentence in SENTENCE_END.split(text, MAX_SENTENCES)]
    is_turn = any(one.partition(" ")[0].rstrip(",;") in TURNS or one.startswith(TURN_PHRASES) for one in found)
    return 1 if is_turn else 0
