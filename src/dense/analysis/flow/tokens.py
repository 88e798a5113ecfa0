"""The words, names, paths and numbers of a text: the pieces of information that flow through a trace."""

from __future__ import annotations

import re

TOKEN = re.compile(r"[^\W_](?:[\w.+/-]*\w)?")
KANA, HAN, HANGUL = "\u3041-\u30ff", "\u3400-\u9fff", "\uac00-\ud7a3"
OTHER = rf"[^\W{KANA}{HAN}{HANGUL}]"
TOKEN_WITHOUT_BLANKS = re.compile(rf"[{KANA}]+|[{HAN}]+|[{HANGUL}]+|(?!_){OTHER}(?:(?:{OTHER}|[.+/-])*{OTHER})?")
"""Scripts without blanks between words are cut where the kind of character changes."""
has_no_blanks = re.compile(f"[{KANA}{HAN}{HANGUL}]").search
OPAQUE = re.compile(r"(?:0x)?[0-9a-f]{2,}|[\w+/=-]{24,}")
"""Bytes, hashes and encoded data: worth something only if they are used."""
MAX_TOKEN_CHARS = 80
LINE_NUMBER = re.compile(r"\s{0,8}\d{1,7}(?:[\t|→]|[:-](?!\d)|\s*$)")
"""What a program that shows a file writes before each line; a date or a time is none."""
VARYING = re.compile(r"[0-9a-f]{2,}|\d+")
SHAPE_CHARS = 14
DATA = re.compile(r"[A-Za-z0-9+/=_-]{100,}")
"""Compact JSON has quotes and commas, and is none."""


def tokens(text: str) -> set[str]:
    """The tokens of a text, in lower case; of a path its last part too."""
    pattern = TOKEN if text.isascii() or not has_no_blanks(text) else TOKEN_WITHOUT_BLANKS
    found = set(pattern.findall(text.lower()))
    if "/" in text or len(text) > MAX_TOKEN_CHARS:
        for token in [token for token in found if "/" in token or len(token) > MAX_TOKEN_CHARS]:
            found.add(token.rpartition("/")[2][:MAX_TOKEN_CHARS])
            if len(token) > MAX_TOKEN_CHARS:
                found.discard(token)
    return found


def line_tokens(line: str) -> set[str]:
    """The tokens of a line without its number."""
    number = LINE_NUMBER.match(line)
    return tokens(line[number.end() :] if number else line)


def shape(line: str) -> str:
    """What lines of one kind have in common: how they begin, whatever their numbers."""
    return VARYING.sub("#", line.lower())[:SHAPE_CHARS]


def is_data(line: str) -> bool:
    """Whether a line is encoded data rather than text: one very long run of its characters is most of it."""
    longest = max(map(len, DATA.findall(line)), default=0)
    return 2 * longest > len(line) and "://" not in line


def is_opaque(token: str) -> bool:
    """Whether a token looks like bytes, a hash or encoded data."""
    return not token.isalpha() and OPAQUE.fullmatch(token) is not None
