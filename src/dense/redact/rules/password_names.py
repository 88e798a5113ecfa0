"""Passwords behind a name: `DB_PASSWORD=…`, `"password": "…"`, `--password …`, `IDENTIFIED BY '…'`, `.netrc`.

A name alone is a weak sign: `password: str`, `password = get()` and `"password": "Kennwort"` are everywhere in code.
So a value counts only if it cannot be a word, a type, an expression or an example (`is_password_value`). Behind a flag,
in a client's own variable or in a statement for a database nearly everything counts (`is_certain_password`)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from dense.redact.rules.encodings import DerivedText, unescaped
from dense.redact.rules.value_checks import is_certain_password, is_password_value, is_short_secret
from dense.redact.spans import BY_CONTEXT, BY_NAME, Span
from dense.text.search import fast_search

_SEPARATOR = r"(?:%[0-9a-f]{2}|[^a-z0-9\n]|\\[nrt]|u0022|&quot;)"
_ASSIGNS = r"(?:[:=>({]|,[ \\]{0,3}['\"]|%3[ad]|%253[ad])"
_HINTS = (
    rf"pass(?:(?:word|wd|phrase|code|wort)s?[a-z0-9_-]{{0,10}}|[0-9_]{{0,3}}){_SEPARATOR}{{0,8}}{_ASSIGNS}",
    rf"(?:pwd|psk|kennwort|credentials?)[a-z0-9_-]{{0,10}}{_SEPARATOR}{{0,8}}{_ASSIGNS}",
    rf"(?:secret|api.?key|access.?key|_key|-key|_token|-token|auth.?token|access.?token)[a-z0-9_-]{{0,10}}"
    rf"{_SEPARATOR}{{0,6}}{_ASSIGNS}",
    r"--[a-z_.-]*(?:pass|pwd|secret|token|key)[a-z_-]{0,12} +[^ -]",
    r"-(?:[a-z]{0,8}pass(?:word|phrase|wd)?|pwd) +[^ -]|/password ",
    r"(?:env|setx?) [a-z0-9_.-]*(?:pass|pwd|secret|token|key)",
    r"password +(?:['\"`]|[^ a-z\n]|is |was |for |to )|passphrase +(?:['\"`]|is )",
    r"(?:login|with|encrypted) +[^ \n]* ?password ",
    r"connect +[^ \n]+ +password |identified by|securestring",
    r"(?:pass(?:word|wd)?|pwd|secret|_key|_token)[\"'][\s,-]{1,16}[\"']?value"
    r"|(?:_pass(?:word|wd)?|_pwd|_secret|_key|_token)\s{1,16}value:",
)
"""What a text in lower case contains if it may have such a name; `fast_search` is fastest with each alone."""
ANCHORS = ("pass", "pwd", "psk", "secret", "key", "token", "kennwort", "credential", "identified by", "securestring")

_WORD = r"(?:pass(?:word|wd|phrase|code|wort)?|pwd|psk|kennwort)"
_SUFFIX = (
    r"(?:[_-]?(?:[0-9]{1,3}|value|plain|plaintext|text|raw|prod|dev|staging|live|old|new|db|root|admin|user|main|primary"
    r"|backup))?"
)
_SHORT = (
    r"(?:secret(?:[_. -]?(?:access[_. -]?)?(?:key|token))?"
    r"|(?:(?<=api)|(?<=api[_. -])|(?<=access)|(?<=access[_. -])|(?<=auth)|(?<=auth[_. -])|(?<=client[_. -])"
    r"|(?<=encryption[_. -])|(?<=master[_. -])|(?<=private[_. -])|(?<=signing[_. -])"
    r"|(?<=[A-Z0-9]_))(?:key|token)|credentials?)"
)
_TYPE = r"(?:\s{0,2}:\s{0,2}(?:str|string|String|&(?:'static )?str|\[?SecureString\]?)(?=\s{0,2}=))?"
_SIGN = r"(?:\s{0,8}(?::=|=>|->|={1,3}|:(?!:)|\?=)[ \t]{0,8}|\s?>(?=[^<>\s][^<>\n]{0,200}</))"
_DEFAULT = r"""(?:["']\s{0,2}\{\s{0,8}(?:[a-z_]+\s{0,8}=[^\n=]{0,80}\n\s{0,8}){0,4}default\s{0,8}=\s{0,8}(?="))"""
_IS = r"(?:[ \t]+(?:for [\w.@-]+ )?(?:is|was|to)(?:[ \t]+now)?:?[ \t]+)"
_VALUE_KEY = r"""(?:["']?\s{0,8},?\s{0,12}-?\s{0,4}["']?[Vv]alue["']?\s{0,2}[:=]\s{0,4})"""
_ARGUMENT = r"""(?:["']\s{0,4},\s{0,4}(?=["']))"""
_PREFIX = r"(?:[bfruL@](?=[\"']))?(?:(?:String|SecretStr|Secret|Some|new String|SecureString|Buffer\.from)\()?"
_QUOTED = r"""(?:"((?:[^"\\\n\0]|\\.){1,200})"|'((?:[^'\\\n\0]|\\.){1,200})'|`([^`\\\n\0$]{1,200})`)"""
_BARE = (
    r"""((?:[^\s"'`<>,;{}()\[\]|\\\0&]|\\(?![nrtux"'\\])|&(?![a-z_]+=)|[;,(){}\[\]](?=[^\s"'`<>\\\0=]{3,}$)){3,200})"""
)
_ASSIGNED = re.compile(
    rf"(?:{_WORD}{_SUFFIX}|{_SHORT})(?:[\"']?\]?\)?\??{_TYPE}{_SIGN}{_PREFIX}|{_VALUE_KEY}|{_ARGUMENT}|{_DEFAULT})(?:{_QUOTED}|{_BARE})",
    re.IGNORECASE | re.MULTILINE,
)
_STATED = re.compile(rf"pass(?:word|phrase|code){_IS}(?:{_QUOTED}|{_BARE})", re.IGNORECASE | re.MULTILINE)
_SPACED = re.compile(
    rf"(?:{_WORD}|token|secret|key|credentials?)(?:[_-][a-z]{{1,12}})?(?:[ \t]{{1,4}}|\s{{0,2}}\(\s{{0,2}})"
    rf"(?:{_QUOTED}|([^\s\"'`<>|;\\\0]{{3,200}}))",
    re.IGNORECASE,
)
_SQL_CALL = re.compile(r"password\(\s{0,2}'([^'\n\0]{3,128})'\s{0,2}\)", re.IGNORECASE)
_SQL = re.compile(rf"identified[ \t]+(?:with[ \t]+\S+[ \t]+)?by[ \t]+(?:password[ \t]+)?{_QUOTED}", re.IGNORECASE)
_SECURE = re.compile(rf"securestring[ \t]+(?:-string[ \t]+)?\(?{_QUOTED}", re.IGNORECASE)

_NOT_A_NAME = re.compile(
    r"(?:by|com|tres|sur|over|under|encom|im|s|low|high|band|multi|one|two|single|first|second|max|num|n)\Z",
    re.IGNORECASE,
)
_NAME_BEFORE = re.compile(r"[A-Za-z0-9_.$:%-]{0,48}\Z")
_FLAG = re.compile(r"(?:^|[\s\"'=,\[(])(?:--?|/)[a-z][a-z_.-]{0,30}\Z|(?:^|[\s\"'=,\[(])(?:--?|/)\Z", re.IGNORECASE)
_CLIENT_VARIABLE = re.compile(
    r"(?:PG|MYSQL_|SSH|REDISCLI_|RSYNC_|BORG_|RESTIC_|SUDO_|LDAP_?|GPG_|KRB5_?|SMB_?|FTP_?)\Z"
)
_SHELL_ASSIGNMENT = re.compile(r"[A-Z]+=")
_SHELL_VARIABLE = re.compile(
    r"(?:^|[\s;&|\"'(`])(?:export[ \t]+|set[ \t]+|setx[ \t]+|ENV[ \t]+|-e[ \t]*|--env[ =]|\$env:)?[A-Z][A-Z0-9_]*\Z"
)
_FIELD = re.compile(r"(?:[?&]|(?<![a-z0-9])x-)[a-z0-9_-]{0,24}\Z", re.IGNORECASE)
"""Before a name in the query of a URL, or in a header: `?api_key=…`, `X-Api-Key: …`."""
_SETTING = re.compile(
    r"(?:^|[\s;&|])(?:ENV|setx|set|configure set|config set|secrets? set|variables? set)[ \t]+[\w.-]*\Z"
)
_STATEMENT = re.compile(
    r"(?:\b(?:machine|default|login|account)[ \t\r\n]+(?:\S+[ \t\r\n]+){0,3}"
    r"|\b(?:with|encrypted|unencrypted|set|connect[ \t]+\S+)[ \t]+)\Z",
    re.IGNORECASE,
)
_PROSE = re.compile(r"[,.]?[ \t\r\n]+[a-z']+[,.]?[ \t\r\n]+[a-z]+")
_LINE_SPACE = 200
_NAME_SPACE = 64
_LONGEST_PAIR = 300
_BEHIND = dict.fromkeys(("key", "token"), r"(?=[\"'= :\]>)\\%_&,;?`\t{s-])") | {"pass": "(?![ei])"}
"""What may follow words that are everywhere: no `keyboard`, `passed`, `passing`."""
_NAMES = {anchor: re.compile(anchor + _BEHIND.get(anchor, "")) for anchor in ANCHORS}


def named_passwords(text: str, lowered: str) -> Iterator[Span]:
    """Passwords and short secrets behind a name. `lowered` is the text in lower case, one byte for each character."""
    escaped = _Unescaped(text)
    for anchor in ANCHORS if any(fast_search(hint)(lowered) for hint in _HINTS) else ():
        for match in _NAMES[anchor].finditer(lowered) if fast_search(anchor)(lowered) else ():
            start = match.start()
            span = _at(text, start, anchor)
            if span is None and _is_escaped(text, start):
                span = escaped.at(start, anchor)
            if span is not None:
                yield span


def _is_escaped(text: str, start: int) -> bool:
    near = text[start + 4 : start + 48]
    return "\\" in near or "%" in near or "&" in near


class _Unescaped:
    """A text without its escapes, made piece by piece: hostile text has a name at every tenth character."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._derived: DerivedText | None = None
        self._start = self._end = 0

    def at(self, offset: int, anchor: str) -> Span | None:
        """The password behind the name at a place of the text, in the text without its escapes."""
        if not self._start + _NAME_SPACE <= offset <= self._end - _LONGEST_PAIR:
            self._start, self._end = max(0, offset - _NAME_SPACE), offset + 4 * _LONGEST_PAIR
            self._derived = unescaped(self._text, self._start, self._end)
        if self._derived is None:
            return None
        again = bisect_left(self._derived.offsets, offset)
        span = _at(self._derived.text, again, anchor) if self._derived.offsets[again] == offset else None
        if span is None:
            return None
        first, last = self._derived.original(span.start, span.end)
        return span._replace(start=first, end=last)


def _at(text: str, start: int, anchor: str) -> Span | None:
    if anchor == "identified by":
        return _span(_SQL.match(text, start), is_certain=True)
    if anchor == "securestring":
        return _span(_SECURE.match(text, start), is_certain=True)
    before = text[max(0, start - _NAME_SPACE) : start]
    if anchor in ("pass", "pwd", "psk") and before[-1:].isalpha() and not _is_name(before, text[start]):
        return None
    if before.rstrip().endswith("=") and (called := _SQL_CALL.match(text, start)):
        return _span(called, is_certain=True)
    return _assigned(text, start, before, anchor) or _spaced(text, start, before, anchor)


def _is_name(before: str, first: str) -> bool:
    """Whether the word goes on as a name: dbPass, userpass; not bypass, compass."""
    word = re.search(r"[A-Za-z]*\Z", before)
    return (first.isupper() and before[-1].islower()) or not (word and _NOT_A_NAME.fullmatch(word[0]))


def _assigned(text: str, start: int, before: str, anchor: str) -> Span | None:
    match = _ASSIGNED.match(text, start) or _STATED.match(text, start)
    if match is None:
        return None
    name = _NAME_BEFORE.search(before)
    prefix = name[0] if name else ""
    is_flag = _FLAG.search(before) is not None
    is_password = anchor in ("pass", "pwd", "psk", "kennwort")
    quoted, value = _value(match)
    is_client = _CLIENT_VARIABLE.search(prefix) is not None and _SHELL_ASSIGNMENT.match(match[0]) is not None
    if not prefix and not quoted and match[0].startswith(("PASS:", "PASS ")):  # the verdict of a test
        return None
    if (
        not is_flag
        and prefix.endswith((".", "->"))
        and not quoted
        and "=" not in match[0][: match.start(match.lastindex or 0) - start]
    ):
        return None
    if is_password and (is_flag or is_client):
        return _span(match, is_certain=True)
    is_variable = _SHELL_VARIABLE.search(before + match[0][:3]) is not None  # the shortest name: KEY, PWD
    if is_password:
        is_meant = is_password_value(
            value,
            is_quoted=quoted,
            is_setting=is_variable or _is_line(text, start, match) or _is_pair(text, before, match),
        )
    else:
        is_setting = is_variable or is_flag or _FIELD.search(before) is not None
        is_meant = is_short_secret(value, is_quoted=quoted, is_setting=is_setting)
    if not is_meant or (not quoted and _goes_on(text, match)):
        return None
    return _value_span(match, BY_NAME, "password" if is_password else "named-secret")


def _spaced(text: str, start: int, before: str, anchor: str) -> Span | None:
    """`--password x`, `ENV DB_PASSWORD x`, `machine h login u password x`, `WITH PASSWORD 'x'`."""
    match = _SPACED.match(text, start)
    if match is None:
        return None
    is_password = anchor in ("pass", "pwd", "psk", "kennwort")
    is_flag, is_setting = _FLAG.search(before), _SETTING.search(before)
    if not (is_flag or is_setting or (is_password and _STATEMENT.search(text, max(0, start - _LINE_SPACE), start))):
        return None
    if is_password:
        if match[match.lastindex or 0].isalpha() and _PROSE.match(text, match.end()):
            return None
        return _span(
            match,
            is_certain=bool(is_flag or is_setting)
            or _value(match)[0]
            or "machine" in text[max(0, start - _LINE_SPACE) : start],
        )
    quoted, value = _value(match)
    if not is_short_secret(value, is_quoted=quoted, is_setting=True):
        return None
    return _value_span(match, BY_NAME, "named-secret")


def _is_line(text: str, name_start: int, match: re.Match[str]) -> bool:
    """Whether name and value are all that the line has, as in a file of settings."""
    start = text.rfind("\n", max(0, name_start - _LINE_SPACE), name_start) + 1
    rest = text[match.end() : match.end() + 3].lstrip(" \"'\r")
    head = text[start:name_start].strip(" \t-\"'+>#")
    return (not rest or rest[0] in "\n#") and re.fullmatch(r"[\w.:/$-]*", head) is not None


def _is_pair(text: str, before: str, match: re.Match[str]) -> bool:
    """Whether name and value are one word, as in a query or behind a flag: not the argument of a call."""
    line = before[before.rfind("\n") + 1 :]
    return "(" not in line and text[match.end() : match.end() + 1] in ("", " ", "\n", "\r", "\t", "&", ";")


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """Whether an expression goes on behind the value: a call, an index."""
    return text[match.end() : match.end() + 1] in ("(", "[", "{")


def _value(match: re.Match[str]) -> tuple[bool, str]:
    group = match.lastindex or 0
    return is_quoted(match), match[group]


def is_quoted(match: re.Match[str]) -> bool:
    group = match.lastindex or 0
    return match.string[match.start(group) - 1 : match.start(group)] in ('"', "'", "`", ">")


def _span(match: re.Match[str] | None, *, is_certain: bool) -> Span | None:
    if match is None:
        return None
    quoted, value = _value(match)
    if not (is_certain_password(value) if is_certain else is_password_value(value, is_quoted=quoted, is_setting=True)):
        return None
    return _value_span(match, BY_CONTEXT, "password")


def _value_span(match: re.Match[str], rank: int, kind: str) -> Span:
    """The span of the value. A full stop or a comma behind it belongs to the sentence."""
    start, end = match.span(match.lastindex or 0)
    return Span(start, end - (not is_quoted(match) and match.string[end - 1] in ".,;:"), rank, kind)
