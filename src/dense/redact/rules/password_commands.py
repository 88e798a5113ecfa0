"""Passwords at a fixed place of a command, a call or a file: `curl -u user:…`, `mysql -p…`, `echo … | sudo -S`, `.pgpass`.

Each row has an anchor, a word in lower case, and a pattern that is tried there. The value is the last group that matched.
Letters of flags are told apart by case: `sqlcmd -P` has a password, `mysql -P` a port."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from msgspec import Struct

from dense.redact.rules.encodings import unescaped
from dense.redact.rules.value_checks import is_certain_password
from dense.redact.spans import BY_CONTEXT, Span
from dense.text.search import fast_search

_ARGUMENTS = r"(?:[^\n\0|;]|\\\r?\n){0,300}?[\s\"'](?:[^\n\0|;]{0,80}?[ \t])??"
_QUOTED = r'"([^"\n\0]{1,128})"|' r"'([^'\n\0]{1,128})'"
_BARE = r"([^\s\"'\\|;&<>()\0]{1,128}|[^\s\"'\\<>\0]{1,128}(?=\s))"
VALUE = rf"(?:{_QUOTED}|{_BARE})"
_PAIR = (
    r'(?:"[^":\n\0]{0,64}:([^"\n\0]{1,128})"|'
    r"'[^':\n\0]{0,64}:([^'\n\0]{1,128})'|[^\s:\"'\\]{1,64}:[\"']?([^\s\"'\\|;\0]{1,128}))"
)
_TWO_STRINGS = (
    r"""[\s\[(]{0,8}[bfru]?["'][^"'\n\0]{0,80}["']\s{0,4},\s{0,8}[bfru]?(?:"([^"\n\0]{1,128})"|'([^'\n\0]{1,128})')"""
)


class PasswordPlace(Struct, frozen=True):
    """One row."""

    anchors: str
    """Words in lower case, one of which is in the text; `|` between them."""
    pattern: str
    """From the anchor to the value."""
    hint: str = ""
    """What must follow the anchor, in lower case; for `fast_search`."""


def _flag(anchors: str, flag: str, hint: str, value: str = VALUE) -> PasswordPlace:
    return PasswordPlace(anchors, rf"\S{{0,24}}{_ARGUMENTS}{flag}{value}", rf"[^\n]*[ \t\"']{hint}")


_SPACED = r"(?:[ \t]{1,4}|=)"
PLACES = (
    _flag("curl", rf"(?:-u|--user|-U|--proxy-user)(?:{_SPACED})?", "-(?:u|-user|-proxy-user)", _PAIR),
    _flag("http|xh", rf"(?:-a|--auth){_SPACED}", "-(?:a|-auth)[ =]", _PAIR),
    _flag("wget", rf"--auth-no-challenge{_SPACED}", "--auth-no"),
    _flag("mysql|mariadb|xtrabackup", "-p(?!assword|ort|rotocol|lugin|refix|ager|ipe)", "-p[^ \\n]"),
    _flag("sshpass", r"-p[ \t]{0,2}", "-p"),
    _flag(
        "docker|podman|buildah|skopeo|oras|crane|nerdctl",
        rf"login\b[^\n|;]{{0,120}}?[ \t]-p{_SPACED}",
        "login\\b[^\\n]*-p",
    ),
    _flag("helm|twine|mongo|cqlsh|evil-winrm|rdesktop|psexec|crackmapexec|netexec|nxc|influx", rf"-p{_SPACED}", "-p "),
    _flag("az", rf"login\b[^\n|;]{{0,160}}?[ \t]-p{_SPACED}", "login\\b[^\\n]*-p "),
    _flag("redis-cli|valkey-cli", rf"(?:-a|--pass){_SPACED}", "-(?:a|-pass) "),
    _flag("sqlcmd|bcp|osql|isql|tsql|ipmitool|mosquitto_|zip|unzip", r"-P[ \t]{0,2}", "-p"),
    _flag("ldap", r"-w[ \t]{1,2}", "-w "),
    _flag(
        "smbclient|rpcclient|smbmap|smbget|enum4linux|net rpc|net ads",
        r"(?:-U|--user)[ =]{0,2}[\"']?[^\s%\"']{1,64}%",
        "-(?:u|-user)[^%\\n]*%",
    ),
    _flag("lftp|ncftp", r"-u[ \t]{1,2}[^\s,]{1,64},", "-u [^,\\n]*,"),
    _flag("7z|rar|unrar", r"-p", "-p[^ \\n]"),
    _flag(
        "htpasswd",
        r"-[a-zA-Z]{0,6}b[a-zA-Z]{0,6}(?:[ \t]+-\S+)*[ \t]+(?:\S+[ \t]+)??\S+[ \t]+(?=\S+\s*(?:$|[|;&>]))",
        "-[a-z]*b",
    ),
    _flag("ssh-keygen", r"-[NP][ \t]{1,2}", "-[np] "),
    _flag("xfreerdp|wfreerdp", r"/p:", "/p:"),
    PasswordPlace(
        "sqlplus|impdp|expdp|rman",
        rf"[^\n\0|;]{{0,60}}?[ \t][\w.-]{{1,40}}/{VALUE.replace('&<>()', '&<>()@')}(?=@)",
        "[^\\n]*/",
    ),
    PasswordPlace(
        "rabbitmqctl",
        rf"\S*[ \t]+(?:add_user|change_password|authenticate_user)[ \t]+\S+[ \t]+{VALUE}",
        "[^\\n]*(?:user|password) ",
    ),
    PasswordPlace(
        "net user|net use", rf"[ \t]+[^\n]{{0,80}}?[ \t](?:/user:)?\S+[ \t]+{VALUE}(?=[ \t]+/|[ \t]*$)", " [^\\n]*/"
    ),
    PasswordPlace("wpa_passphrase", rf"[ \t]+(?:\"[^\"\n]+\"|\S+)[ \t]+{VALUE}", " "),
    PasswordPlace("mc alias set|mc config host add", rf"[ \t]+\S+[ \t]+\S+[ \t]+\S+[ \t]+{VALUE}", " "),
    PasswordPlace("requirepass|masterauth|auth-pass", rf"[ \t]+{VALUE}", " "),
    PasswordPlace("pass:", rf"{VALUE}"),
    PasswordPlace("auth=(|auth=[", _TWO_STRINGS),
    PasswordPlace("basicauth(|basic_auth(|networkcredential(|passwordcredentials(", _TWO_STRINGS),
    PasswordPlace("pscredential(|credentials(|plainauth(", _TWO_STRINGS),
    PasswordPlace(".login(|.authenticate(|.auth(", _TWO_STRINGS),
    PasswordPlace("getconnection(", rf"""[^,\n]{{1,200}},{_TWO_STRINGS}"""),
    PasswordPlace(
        "-credential",
        rf"[ \t]+\(?[^\n]{{0,80}}?ConvertTo-SecureString[ \t]+(?:-String[ \t]+)?{VALUE}",
        "[^\\n]*securestring",
    ),
)
_PIPED = (
    "sudo -s",
    "--password-stdin",
    "chpasswd",
    "--with-token",
    "passwd --stdin",
    "--token-stdin",
    "cryptsetup",
    "-passin stdin",
    "kinit",
)
_ECHO = re.compile(
    r"""(?:echo|printf)[ \t]+(?:-[neE]+[ \t]+)?(?:["']?%s(?:\\n)?["']?[ \t]+)?(?:"([^"\n\0]{1,200})"|'([^'\n\0]{1,200})'|([^\s"'|;\0]{1,200}))[ \t]*\|[^\n|;]{0,80}\Z"""
)
_HERE = re.compile(r"""[^\n|;]{0,80}?<<<[ \t]*(?:"([^"\n\0]{1,200})"|'([^'\n\0]{1,200})'|([^\s"'|;\0]{1,200}))""")
_PGPASS = re.compile(
    r"(?:^|(?<=[\s\"'\0>+:]))(?:[\w.*-]{1,255}):(?:[0-9]{2,5}|\*):(?:[\w.*-]{1,64}):(?:[\w.*@-]{1,64}):((?:[^\s:\"'\\]|\\.){4,128})(?=[\s\"'\\\0]|$)"
)
_PGPASS_HINT = r":(?:[0-9]{4,5}|\*):(?:[a-z0-9_.*-]+):[a-z0-9_.*@-]+:[^\s:]"
_USER_IN_PAIR = re.compile(r"[\w.@-]{1,64}:(?=\S)")


@cache
def _compiled() -> tuple[tuple[str, re.Pattern[str]], ...]:
    rows: list[tuple[str, re.Pattern[str]]] = []
    for place in PLACES:
        pattern = re.compile(place.pattern, re.MULTILINE)
        rows += [(anchor, pattern) for anchor in place.anchors.split("|")]
    return tuple(rows)


@cache
def has_place() -> Callable[[str], bool]:
    """Whether a text in lower case may have a row's match."""
    return fast_search(
        "|".join(
            [f"(?:{'|'.join(map(re.escape, row.anchors.split('|')))}){row.hint}" for row in PLACES]
            + [*map(re.escape, _PIPED), _PGPASS_HINT]
        )
    )


def placed_passwords(text: str, lowered: str) -> Iterator[Span]:
    """The passwords that their place gives away. `lowered` is the text in lower case, one byte for each character."""
    if not has_place()(lowered):
        return
    for anchor, pattern in _compiled():
        place = lowered.find(anchor)
        while place >= 0:
            if not (anchor[0].isalpha() and lowered[place - 1 : place].isalnum() and place):
                yield from _checked(_matched(pattern, text, place + len(anchor)))
            place = lowered.find(anchor, place + len(anchor))
    for anchor in _PIPED:
        place = lowered.find(anchor)
        while place >= 0:
            yield from _checked(_piped(text, place, place + len(anchor)), is_pair=anchor == "chpasswd")
            place = lowered.find(anchor, place + len(anchor))
    for match in _PGPASS.finditer(text) if ":5432:" in text or ":*:" in text or "pgpass" in lowered else ():
        yield from _checked(match.span(1) + (match[1],))


Found = tuple[int, int, str]


def _matched(pattern: re.Pattern[str], text: str, place: int) -> Found | None:
    match = pattern.match(text, place)
    if match and match.lastindex:
        return *match.span(match.lastindex), match[match.lastindex]
    if "\\" not in text[place : place + 200]:
        return None
    view = unescaped(text, place, place + 400)
    match = pattern.match(view.text) if view else None
    if view is None or match is None or not match.lastindex:
        return None
    return *view.original(*match.span(match.lastindex)), match[match.lastindex]


def _piped(text: str, start: int, end: int) -> Found | None:
    line = text.rfind("\n", max(0, start - 300), start) + 1 or max(0, start - 300)
    match = _ECHO.search(text, line, start)
    if match is None:
        match = _HERE.match(text, end, end + 300)
    return (*match.span(match.lastindex), match[match.lastindex]) if match and match.lastindex else None


def _checked(found: Found | None, *, is_pair: bool = False) -> Iterator[Span]:
    if found is None:
        return
    start, end, value = found
    if is_pair and (user := _USER_IN_PAIR.match(value)):
        start, value = start + user.end(), value[user.end() :]
    if is_certain_password(value):
        yield Span(start, end, BY_CONTEXT, "password", True)
