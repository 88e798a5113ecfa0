"""A service with several faults, of which its check shows one at a time, and a place where values are overruled."""

from __future__ import annotations

import re

from scripted.facts import Facts
from scripted.moves import IDLE, Goal, Move, Repertoire, anew, says

CHECK = "python3 /app/service/serve.py --check"
CONFIG = "/app/service/config.ini"


def _fault(facts: Facts) -> str:
    """What the check of this run said last."""
    last = facts.last(CHECK)
    return last.answer if last is not None and last.failed else ""


def _overrules(facts: Facts, key: str) -> str | None:
    """The file of conf.d that sets a key, if both were seen."""
    found = re.search(rf"==> (/app/service/conf\.d/\S+) <==\n(?:(?!==>).*\n)*?{key} = ", facts.seen)
    return found[1] if found else None


def _workers(facts: Facts) -> tuple[str, ...] | None:
    if "workers must be" not in _fault(facts):
        return None
    count = 4 if facts.thinks("enough workers", 0.85, "workers") else 1
    return f"sed -i 's/^workers = .*/workers = {count}/' {CONFIG}", CHECK


def _timeout(facts: Facts) -> tuple[str, ...] | None:
    if "timeout must be" not in _fault(facts):
        return None
    return f"sed -i 's/^timeout = .*/timeout = 10/' {_overrules(facts, 'timeout') or CONFIG}", CHECK


def _data(facts: Facts) -> tuple[str, ...] | None:
    if not re.search(r"data file \S+ does not exist", _fault(facts)):
        return None
    path = "/app/service/data/catalog.tsv" if facts.shows(r"\bcatalog\.tsv") else "/app/service/data/catalogue.tsv"
    return f"sed -i 's|^data = .*|data = {path}|' {_overrules(facts, 'data') or CONFIG}", CHECK


def _touch(facts: Facts) -> tuple[str, ...] | None:
    found = re.search(r"data file (\S+) does not exist", _fault(facts))
    return (f"mkdir -p /srv && touch {found[1]}", CHECK) if found else None


def _folder(facts: Facts) -> tuple[str, ...] | None:
    found = re.search(r"folder (\S+) of the socket", _fault(facts))
    return (f"mkdir -p {found[1]}", CHECK) if found else None


def _is_well(facts: Facts) -> bool:
    last = facts.last(CHECK)
    return last is not None and last.worked


REPERTOIRE = Repertoire(
    name="service-config",
    words=("/app/service", "serve.py"),
    goals=(Goal("configuration", _is_well),),
    moves=(
        Move("check", "Let the service say what is wrong.", anew(CHECK, "/app/service"), 4, again=True),
        Move("list", "See what belongs to the service.", says("ls -R /app/service"), 1.5),
        Move("config", "Read the configuration.", says(f"cat {CONFIG}"), 1.5),
        Move(
            "overrules",
            "Read the files of conf.d.",
            says("head -20 /app/service/conf.d/*.ini"),
            0.9,
            after="timeout must|data file",
        ),
        Move("program", "Read how the program takes its values.", says("sed -n '18,26p' /app/service/serve.py"), 0.8),
        Move("systemctl", "Ask the system about the service.", says("systemctl status service"), 1.0),
        Move("journal", "Read the journal.", says("journalctl -n 5"), 0.7),
        Move("ports", "See what listens.", says("ss -lx | head -5"), 0.6),
        Move("rights", "Maybe the rights are wrong.", says("chmod -R a+rX /app/service"), 0.8),
        Move("workers", "Give the workers a number.", _workers, 8, goal="configuration"),
        Move("timeout", "Set a timeout that is allowed.", _timeout, 6, goal="configuration"),
        Move("data", "Point to the catalog.", _data, 6, goal="configuration"),
        Move("touch", "Make the file that it misses.", _touch, 1.5, goal="configuration"),
        Move("folder", "Make the folder of the socket.", _folder, 8, goal="configuration"),
        *IDLE,
    ),
)
