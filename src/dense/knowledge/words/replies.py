"""What people say in a session that asks for nothing new: thanks, yes and no, "go on"."""

from __future__ import annotations

import re

THANKS = re.compile(
    r"\b(?:thank(?:s|\s?you)?|thx|cheers|danke(?:schön)?|vielen dank|merci|gracias|obrigad[oa]|grazie|dzięk\w+"
    r"|tack|bedankt|спасибо|дякую)\b|ありがと|感謝|谢谢|謝謝|감사|고마",
    re.IGNORECASE,
)
"""Words by which somebody closes a request."""
ANSWER = re.compile(
    r"\W*(?:(?:yes|yeah|yep|yup|no|nope|nah|ja|nein|doch|oui|non|sí|sim|não|sì|tak|nie|да|нет)\b(?!\s+\w+\s*:)"
    r"|はい|いいえ|うん|是的|不是|네|아니)",
    re.IGNORECASE,
)
"""How a message begins that answers a question or corrects what was just done."""
QUESTION_MARKS = ("?", "？", "؟")
