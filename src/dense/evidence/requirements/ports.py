"""Services: ports and local addresses, and whether they are to be set up or there already."""

from __future__ import annotations

import re

from dense.evidence.requirements.cues import CUES, MODALS
from dense.evidence.requirements.requirement import Role
from dense.text.search import contains_any

PORT = re.compile(
    r"(?:\bports?\b|\bpuerto|\bporta|\bпорт\w{0,3}|端口|ポート|포트|連接埠)(?:\s+(?:number|no\.?|nummer))?[\s:=`*\"']{0,4}(\d{2,5})\b"
    r"|(?:\blocalhost|\b127\.0\.0\.1|\b0\.0\.0\.0|\[::1?\]):(\d{2,5})\b",
    re.IGNORECASE,
)
SIGNS = (
    "port ",
    "ports ",
    "port:",
    "port=",
    "port\n",
    "host:",
    "0.0.1:",
    "0.0.0:",
    "[::",
    "puerto",
    "porta ",
)
WIDE_SIGNS = (
    "порт",
    "端口",
    "ポート",
    "포트",
    "連接埠",
)
NAMES = frozenset("port ports puerto porta".split())
SETS_UP = frozenset(
    """
    start run serve listen host expose launch deploy bind set build create implement write develop make configure
    starte erstelle betreibe lance lancez crée créez démarre inicia crea levanta inicie crie suba запусти запустите
    создай создайте настрой
""".split()
)
SERVES = frozenset(
    """
    listen listens listening run running accessible available reachable respond responds serve served exposed started
    bind be lauschen laufen écouter escuchar écoute escutar слушать работать доступен
""".split()
)
WIDE_SETS_UP = ("启动", "监听", "运行", "部署", "创建", "起動", "待ち受け", "実行", "시작", "실행")
BEFORE_ORDER = frozenset("and then please to ,".split())


def may_name_ports(low: str) -> bool:
    """Whether a whole text, in lower case, may name a port: a quick look, once."""
    return contains_any(low, (*SIGNS, *WIDE_SIGNS))


def ports(text: str, words: list[str]) -> list[str]:
    """The ports in a sentence."""
    if NAMES.isdisjoint(words) and ":" not in text and text.isascii():
        return []
    found = (match[1] or match[2] for match in PORT.finditer(text))
    return [port for port in found if 0 < int(port) < 65536]


def port_role(words: list[str], low: str) -> Role:
    """The role of a port, by the words of its sentence."""
    known = set(words)
    if "already" in known or ("is running" in low and not known & MODALS) or "are running" in low:
        return "given"
    if known & MODALS - {"has", "have", "need"} and known & SERVES:
        return "deliverable"
    for index, word in enumerate(words):
        if word in SETS_UP and (index == 0 or words[index - 1] in BEFORE_ORDER or CUES.get(words[index - 1]) == "make"):
            return "deliverable"
    if not low.isascii() and any(verb in low for verb in WIDE_SETS_UP):
        return "deliverable"
    return "mentioned"
