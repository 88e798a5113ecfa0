"""Programs that ask other machines, and databases."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.evidence.actions.ledger import Ledger
from dense.evidence.actions.shell.arguments import has_flag, operands, option, values
from dense.evidence.actions.shell.command import Command


def note_curl(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    rest = operands(
        words,
        values("""
            -o -H -d -X -u -A -e -b -c -F -T -m -w -x -K -E -r --output --header --data --data-raw --data-binary
            --request --user --user-agent --max-time --connect-timeout --retry --write-out --proxy --cacert --cert
            --key --form --upload-file --cookie --cookie-jar --url --retry-delay --data-urlencode --json
            --unix-socket --resolve --limit-rate
        """),
    )
    bundled = next((n for n, word in enumerate(words) if re.match(r"-[a-zA-Z]+o$", word)), None)
    target = option(words, "--output") or (
        words[bundled + 1] if bundled and bundled + 1 < len(words) else option(words, "-o")
    )
    addresses = [word for word in [*rest, option(words, "--url") or ""] if word and word != target]
    ask(ledger, *addresses)
    if target:
        ledger.write(target, cwd=command.cwd)
    elif has_flag(words, "O", "--remote-name"):
        ledger.write(*map(last_part, addresses), cwd=command.cwd)


def note_wget(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    rest = operands(
        words,
        values("""
            -O -o -P -T -t -U -i --output-document --header --directory-prefix --timeout --tries --user-agent
            --post-data --user --password -w --wait
        """),
    )
    bundled = next((n for n, word in enumerate(words) if re.match(r"-[a-zA-Z]*O", word)), None)
    target = option(words, "--output-document")
    if bundled is not None:
        tail = words[bundled].split("O", 1)[1]
        target = tail or (words[bundled + 1] if bundled + 1 < len(words) else "")
    addresses = [word for word in rest if word != target]
    ask(ledger, *addresses)
    if target is not None:
        ledger.write(target, cwd=command.cwd)
    elif "--spider" not in words:
        folder = option(words, "-P", "--directory-prefix")
        ledger.write(
            *(f"{folder}/{last_part(word)}" if folder else last_part(word) for word in addresses), cwd=command.cwd
        )


def last_part(address: str) -> str:
    path = re.sub(r"^[\w+.-]+://", "", address).split("?")[0].split("#")[0]
    return path.rsplit("/", 1)[-1] if "/" in path.rstrip("/") else "index.html"


def ask(ledger: Ledger, *addresses: str) -> None:
    for address in addresses:
        if "\n" not in address and len(address) <= 500 and address:
            ledger.network[address] = None


def note_host(words: Sequence[str], _command: Command, ledger: Ledger) -> None:
    """`ping`, `nc`, `dig`: the first operand, with its port where there is one."""
    rest = operands(words, values("-c -w -W -i -p -t -s -q -b"))
    if rest:
        port = rest[1] if len(rest) > 1 and rest[1].isdigit() else ""
        ask(ledger, f"{rest[0]}:{port}" if port else rest[0])


def note_database(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    if host := option(words, "-h", "--host"):
        ask(ledger, host)
    if option(words, "-f", "--file"):
        ledger.read(option(words, "-f", "--file") or "", cwd=command.cwd)


def note_sqlite(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    rest = operands(words, values("-cmd -separator -init -nullvalue -newline"))
    sql = " ".join(rest[1:]) + " " + (command.stdin or "")
    changes = re.search(
        r"\b(?:insert|update|delete|create|drop|alter|replace|vacuum|\.import|\.restore)\b", sql, re.IGNORECASE
    )
    (ledger.write if changes else ledger.read)(*rest[:1], cwd=command.cwd)
