"""Passwords at a fixed place of a command, a call or a file: `curl -u user:…`, `mysql -p…`, `… | sudo -S`, `.pgpass`.

Each row has anchors, words in lower case, and a pattern that is tried behind each of them. The value is the last group
that matched. Flags are matched with their case: `sqlcmd -P` has a password, `mysql -P` a port."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import batched

from msgspec import Struct

from dense.redact.rules.encodings import unescaped
from dense.redact.rules.value_checks import is_certain_password
from dense.redact.spans import BY_CONTEXT, Span
from dense.text.search import fast_search

_ARGUMENTS = r"(?:[^\n\0|;]|\\\r?\n){0,300}?[\s\"']"
_QUOTED = r"""(?:"([^"\n\0]{1,128})"|'([^'\n\0]{1,128})'"""
_BARE = r"([^\s\"'\\|;&<>()\0]{1,128}|[^\s\"'\\<>\0]{1,128}(?=\s))"
_VALUE = rf"{_QUOTED}|{_BARE})"
_PAIR = (
    r"""(?:"[^":\n\0]{0,64}:([^"\n\0]{1,128})"|'[^':\n\0]{0,64}:([^'\n\0]{1,128})'"""
    r"""|[^\s:"'\\<]{1,64}:["']?([^\s"'\\|;<>\0]{1,128}))"""
)
_TWO_STRINGS = rf"""[\s\[(]{{0,8}}[bfru]?["'][^"'\n\0]{{0,80}}["']\s{{0,4}},\s{{0,8}}[bfru]?{_QUOTED})"""
_SPACED = r"(?:[ \t]{1,4}|=)"


class PasswordRule(Struct, frozen=True):
    """How commands of some programs give a password."""

    anchors: tuple[str, ...]
    """Words in lower case, one of which is in the text."""
    pattern: str
    """From the anchor's end to the value."""


def _flag(anchors: str, flag: str, value: str = _VALUE) -> PasswordRule:
    """A flag somewhere behind the name of a program, or behind an anchor that ends with its hyphen."""
    return PasswordRule(tuple(anchors.split("|")), rf"(?:\S{{0,24}}?{_ARGUMENTS}|(?<=-)(?=\S))?{flag}{value}")


def _behind(anchors: str, pattern: str) -> PasswordRule:
    return PasswordRule(tuple(anchors.split("|")), pattern)


PASSWORD_RULES = (
    _flag("curl", rf"(?:-u|--user|-U|--proxy-user)(?:{_SPACED})?", _PAIR),
    _flag("http -|https -", rf"(?<=-)(?:a|-auth){_SPACED}", _PAIR),
    _flag("mysql|mariadb|xtrabackup", "-p(?!assword|ort|rotocol|lugin|refix|ager|ipe)"),
    _flag("sshpass", r"-p[ \t]{0,2}"),
    _flag("useradd|usermod", rf"(?:-p|--password){_SPACED}"),
    _flag("docker login|podman login|buildah login|skopeo login|oras login|registry login|az login", rf"-p{_SPACED}"),
    _flag("auth login|twine|mongo|cqlsh|evil-winrm|rdesktop|psexec|crackmapexec|netexec|influx ", rf"-p{_SPACED}"),
    _flag("redis-cli|valkey-cli", rf"(?:-a|--pass){_SPACED}"),
    _flag("sqlcmd|bcp |osql |isql |tsql |ipmitool|mosquitto_|zip -", r"(?:-|(?<=-))P[ \t]{0,2}"),
    _flag("ldapsearch|ldapadd|ldapmodify|ldapwhoami|ldappasswd|ldapdelete", r"-w[ \t]{1,2}"),
    _flag(
        "smbclient|rpcclient|smbmap|smbget|enum4linux|net rpc|net ads", r"(?:-U|--user)[ =]{0,2}[\"']?[^\s%\"']{1,64}%"
    ),
    _flag("lftp|ncftp", r"-u[ \t]{1,2}[^\s,]{1,64},"),
    _flag("7z x |7z a |7z e |7z t |7za |unrar |rar x |rar a ", r"-p"),
    _flag(
        "htpasswd",
        r"-[a-zA-Z]{0,6}b[a-zA-Z]{0,6}(?:[ \t]+-\S{1,20}){0,4}[ \t]+(?:\S{1,200}[ \t]+)??\S{1,64}[ \t]+"
        r"(?=\S+\s*(?:$|[|;&>]))",
    ),
    _flag("ssh-keygen", r"-[NP][ \t]{1,2}"),
    _flag("openssl", r"-k[ \t]{1,2}"),
    _flag("freerdp", r"/p:"),
    _behind("sqlplus|impdp|expdp", r"[^\n\0|;]{0,60}?[ \t][\w.-]{1,40}/([^\s\"'@/\\]{3,128})(?=@)"),
    _behind("rabbitmqctl", rf"\S{{0,8}}[ \t]+(?:add_user|change_password|authenticate_user)[ \t]+\S+[ \t]+{_VALUE}"),
    _behind("net use", rf"r?[ \t]+(?:[^\n]{{0,80}}?[ \t])??(?:/user:)?\S+[ \t]+{_VALUE}(?=[ \t]+/|[ \t]*$)"),
    _behind("wpa_passphrase", rf"[ \t]+(?:\"[^\"\n]+\"|\S+)[ \t]+{_VALUE}"),
    _behind("mc alias set|mc config host add", rf"[ \t]+\S+[ \t]+\S+[ \t]+\S+[ \t]+{_VALUE}"),
    _behind("requirepass|masterauth|auth-pass", rf"[ \t]+{_VALUE}"),
    _behind(" pass:|\"pass:|'pass:", _VALUE),
    _behind("auth=(|auth=[|basicauth(|basic_auth(|networkcredential(|passwordcredentials(", _TWO_STRINGS),
    _behind("pscredential(|credentials(|plainauth(|.login(|.authenticate(|.auth(", _TWO_STRINGS),
    _behind("getconnection(", rf"[^,\n]{{1,200}},{_TWO_STRINGS}"),
    _behind(
        "assword",
        r"""[^\n]{0,16}[\s;]{1,12}(?:\w+\.)?(?:exp_)?send(?:line)?[ \t(]+(?:--[ \t]+)?"""
        r"""(?:"([^"\\\n\0]{3,128})|'([^'\\\n\0]{3,128}))""",
    ),
)
PIPED = (
    "sudo -s",
    "--password-stdin",
    "chpasswd",
    "--with-token",
    "passwd ",
    "--token-stdin",
    "--passphrase-fd",
    "cryptsetup",
    "kinit",
)
"""Commands that read a password from their input."""
_TEXT = r"""(?:"([^"\n\0]{1,200})"|'([^'\n\0]{1,200})'|([^\s"'|;\0]{1,200}))"""
_ECHO = re.compile(
    rf"""(?:echo|printf)[ \t]+(?:-[neE]+[ \t]+)?(?:["']?%s(?:\\n)?["']?[ \t]+)?{_TEXT}[ \t]*\|[^\n|;]{{0,80}}\Z"""
)
_HERE = re.compile(rf"[^\n|;]{{0,80}}?<<<[ \t]*{_TEXT}")
_PGPASS = re.compile(
    r"(?<![^\s\"'\0>+:])[\w.*-]{1,255}:(?:[0-9]{2,5}|\*):[\w.*-]{1,64}:[\w.*@-]{1,64}:"
    r"((?:[^\s:\"'\\]|\\.){4,128})(?=[\s\"'\\\0]|$)"
)
_PGPASS_SIGNS = r":5432:|:\*:|pgpass"
_USER_IN_PAIR = re.compile(r"[\w.@-]{1,64}:(?=\S)")
_MAX_BATCH = 32
_COMMON = frozenset(
    ("curl", "mysql", "openssl", "passwd ", "auth=(", ".login(", " pass:", "assword", "mongo", "zip -", "sudo -s")
)
"""Anchors that many texts have; they are looked for in small batches, because each of a batch is then looked for."""

type FoundPassword = tuple[int, int, str]
"""Where a password begins and ends, and the password."""


@cache
def _rows() -> tuple[tuple[Callable[[str], bool], tuple[tuple[str, re.Pattern[str] | None], ...]], ...]:
    """Anchors with their patterns, and for each few of them a search that says whether one is in a text."""
    rows: list[tuple[str, re.Pattern[str] | None]] = [(anchor, None) for anchor in PIPED]
    for rule in PASSWORD_RULES:
        pattern = re.compile(rule.pattern, re.MULTILINE)
        rows += [(anchor, pattern) for anchor in rule.anchors]
    common = [row for row in rows if row[0] in _COMMON]
    rare = sorted((row for row in rows if row[0] not in _COMMON), key=lambda row: len(row[0]))
    parts = (*batched(common, 2), *batched(rare, _MAX_BATCH))
    return tuple((fast_search("|".join(re.escape(anchor) for anchor, _ in part)), part) for part in parts)


def passwords_in_commands(text: str, lowered: str) -> Iterator[Span]:
    """The passwords that a command gives away. `lowered` is the text in lower case, one byte for each character."""
    for has_anchor, rows in _rows():
        for anchor, pattern in rows if has_anchor(lowered) else ():
            start = lowered.find(anchor) if fast_search(re.escape(anchor))(lowered) else -1
            while start >= 0:
                end = start + len(anchor)
                password = _matched(pattern, text, end) if pattern else _piped(text, start, end)
                yield from _checked(password, is_pair=anchor == "chpasswd")
                start = lowered.find(anchor, end)
    if fast_search(_PGPASS_SIGNS)(lowered):
        for match in _PGPASS.finditer(text):
            yield from _checked((*match.span(1), match[1]))


def _matched(pattern: re.Pattern[str], text: str, start: int) -> FoundPassword | None:
    match = pattern.match(text, start)
    if match and match.lastindex:
        return *match.span(match.lastindex), match[match.lastindex]
    if "\\" not in text[start : start + 200]:
        return None
    derived = unescaped(text, start, start + 400)
    match = pattern.match(derived.text) if derived else None
    if derived is None or match is None or not match.lastindex:
        return None
    return *derived.original(*match.span(match.lastindex)), match[match.lastindex]


def _piped(text: str, start: int, end: int) -> FoundPassword | None:
    line = text.rfind("\n", max(0, start - 300), start) + 1 or max(0, start - 300)
    match = _ECHO.search(text, line, start) if "|" in text[line:start] else _HERE.match(text, end, end + 300)
    return (*match.span(match.lastindex), match[match.lastindex]) if match and match.lastindex else None


def _checked(password: FoundPassword | None, *, is_pair: bool = False) -> Iterator[Span]:
    if password is None:
        return
    start, end, value = password
    if is_pair and (user := _USER_IN_PAIR.match(value)):
        start, value = start + user.end(), value[user.end() :]
    first = value.partition("\\n")[0]  # `passwd` wants it twice
    if is_certain_password(first):
        yield Span(start, end if first == value else start + len(first), BY_CONTEXT, "password")
