"""What the agent says of a result that it has just seen: that it is wrong, that it was expected, that it has nothing to
do with its changes. That all is well is no evidence; these remarks speak against something, and are reason to be
careful as long as nothing refutes them."""

from __future__ import annotations

import re

from dense.text.sentences import sentences

MAX_REMARK_CHARS = 1_500
"""How much of a message is read: it begins with what was seen last."""
MAX_COMPLAINT_CHARS = 500
"""How much of a message is about the last result, before it goes on to what is done next."""
EXCUSES = re.compile(
    r"""\bpre-?existing\b | \bunrelated\b | \bflaky\b | \b(?:not|n['’]t)\s+(?:related|caused|due)\s+(?:to|by)\b
    | \b(?:without|before|prior\s+to|independent\s+of|nothing\s+to\s+do\s+with)
        \s+(?:my|our|any|the|these|this)\s+(?:\w+\s+)?changes?\b
    | \balready\s+(?:failing|failed|fails?|broken)\b | \balso\s+fail(?:s|ed|ing)?\s+(?:on|without|before|in)\b
    | \b(?:network|environment(?:al)?|sandbox)\s+(?:issue|problem|error|failure|limitation|restriction)s?\b
    | \bunabhängig\s+von\b | \bschon\s+vorher\b | \bsin\s+relación\b | \bsans\s+rapport\b | \bне\s+связан\w*\b
    | 无关 | 無関係 | 関係ありません | 관련\s*없""",
    re.IGNORECASE | re.VERBOSE,
)
"""A failure is ascribed to something other than the changes."""
EXPECTED = re.compile(
    r"""(?<!not\s)\bas\s+(?:we\s+|i\s+|was\s+|is\s+|the\s+\w+\s+)?(?:expected|wanted|wants|intended|desired|required|planned)\b
    | \bexpected\s+(?:error|failure|exception|behaviou?r|result)\b | \b(?:is|was|are)\s+expected\b
    | \b(?:correctly|properly|rightly|now)\s+(?:raise|fail|reject|refuse|throw|error|abort)(?:s|es|ed|ing)?\b
    | \bshould\s+(?:now\s+)?(?:raise|fail|throw|be\s+rejected|error)\b | \bmeant\s+to\s+(?:fail|raise|throw)\b
    | \bwie\s+(?:erwartet|gewünscht)\b | \bcomme\s+(?:prévu|attendu)\b | \bcomo\s+(?:se\s+)?esperaba\b
    | \bкак\s+и\s+ожидалось\b | 如预期 | 符合预期 | 想定(?:通り|どおり) | 期待(?:通り|どおり) | 예상대로""",
    re.IGNORECASE | re.VERBOSE,
)
"""A failure is what was wanted."""
COMPLAINTS = re.compile(
    r"""\b(?:which|this|that|it|results?|outputs?|values?|answer|numbers?|prices?)\s+(?:\w+\s+)?(?:is|are|looks?|seems?)
        \s+(?:still\s+|clearly\s+|obviously\s+|completely\s+)?(?:wrong|incorrect|off|not\s+(?:right|correct))\b
    | \A\W{0,8}(?:THOUGHT:\s*)?(?:better,?\s+but\s+)?still
        \s+(?:wrong|negative|fail\w*|incorrect|not|no|too|the\s+same|broken|has)\b
    | \A\W{0,8}(?:THOUGHT:\s*)?(?:the\s+)?same\s+(?:wrong\s+)?(?:results?|errors?|problem|issue|outputs?|values?)\b
    | \b(?:is|are)\s+still\s+(?:at\s+)?(?:wrong|zero|negative|fail\w*|broken|too|not|incorrect|off|\d)
    | \bit\s+still\s+(?:fails?|generates?|gives?|produces?|doesn['’]t|does\s+not|crashes|hangs|returns?)\b
    | \b(?:doesn['’]t|does\s+not|do\s+not|don['’]t|didn['’]t|did\s+not)\s+(?:match|agree\s+with|meet|satisfy
        |take\s+effect|apply\s+(?:any|the|my))\b
    | \b(?:this|that|it)\s+(?:doesn['’]t|does\s+not|didn['’]t)\s+(?:work|help)\b
    | \bi(?:['’]ve|\s+have)?\s+(?:broke|broken)\b | \b(?:got|is|are|made\s+it)\s+(?:even\s+)?worse\b | \bworsened\b
    | \b(?:is|are)\s+(?:far\s+|way\s+|much\s+)?too\s+(?:slow|low|high|large|small|big|long|inaccurate)\b
    | \bgives?\s+(?:the\s+|a\s+)?wrong\b | \bwhen\s+(?:it|they)\s+should(?:n['’]t|\s+not)\b
    | \bneeds?\s+to\s+(?:get|be|come)\b[^.\n]{0,30}\b(?:under|below|above|within)\s+\S*\d
    | \bimmer\s+noch\s+(?:falsch|nicht)\b | \bnoch\s+nicht\s+richtig\b | \btoujours\s+(?:faux|incorrect|pas)\b
    | \bsigue\s+(?:mal|fallando|sin)\b | \b(?:всё|все)\s+(?:ещё|еще)\s+не | 仍然(?:不|错|失败) | 还是(?:不|错|失败)
    | まだ(?:失敗|間違|正しくな) | 여전히\s*(?:틀|실패|잘못)""",
    re.IGNORECASE | re.VERBOSE,
)
"""The result is wrong."""


def says_expected(message: str) -> bool:
    """Whether a message says of a failure that it is what was wanted."""
    return EXPECTED.search(message[:MAX_REMARK_CHARS]) is not None


def find_complaint(message: str) -> str:
    """The sentence that says of the last result that it is wrong; empty if there is none."""
    return _sentence_with(COMPLAINTS, message[:MAX_COMPLAINT_CHARS])


def find_excuse(message: str) -> str:
    """The sentence that ascribes a failure to something other than the changes; empty if there is none."""
    return _sentence_with(EXCUSES, message[:MAX_REMARK_CHARS])


def _sentence_with(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    if found is None:
        return ""
    start = max(text.rfind(mark, 0, found.start()) for mark in ("\n", ". ", "! ", "? ", "。")) + 1
    return next(iter(sentences(text[start:], 200)), "").strip()
