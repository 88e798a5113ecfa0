"""Whether an action's own words turn to something new: a hint, in many languages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from dense.knowledge.program import words
from dense.knowledge.tools import tools_that
from dense.trajectory import Step

TopicChange = Literal[0, 1, 2]
PLAN_TOOLS = tools_that("plans")
VIEW = 240
"""How much of a message is looked at: what is said first is about what is done next."""
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
MOST_SENTENCES = 5


def opening(step: Step, names: Sequence[str]) -> TopicChange:
    if not PLAN_TOOLS.isdisjoint(names):
        return 2
    text = (step.message or step.reasoning)[:VIEW].lower()
    if NUMBERED.match(text):
        return 2
    for sentence in SENTENCE_END.split(text, MOST_SENTENCES):
        sentence = sentence.lstrip(MARKUP)
        if sentence.partition(" ")[0].rstrip(",;") in TURNS:
            return 1
        if sentence.startswith(TURN_PHRASES):
            return 1
    return 0
