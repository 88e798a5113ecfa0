"""Best effort for code in other languages than Python: the files and addresses that its calls name."""

from __future__ import annotations

import re

from dense.evidence.actions.ledger import Ledger
from dense.evidence.actions.programs.network import ask
from dense.evidence.actions.shell.command import Command

WRITTEN_BY_CODE = re.compile(
    r"""(?:writeFile(?:Sync)?|appendFile(?:Sync)?|createWriteStream|File\.write|IO\.write|file_put_contents|Bun\.write|
    Deno\.writeTextFile(?:Sync)?|ggsave|pdf|png|write\.csv|saveRDS|writeLines|write_csv)\(\s*(?:\w+\s*,\s*)?["'`]([^"'`\n]+)["'`]
    |open\(\s*\w+\s*,\s*["'][>]{1,2}\s*([^"'\n]+)["']|File\.open\(\s*["']([^"'\n]+)["']\s*,\s*["'][wa]|set\s+output\s+["']([^"'\n]+)["']""",
    re.VERBOSE,
)


READ_BY_CODE = re.compile(
    r"""(?:readFile(?:Sync)?|File\.read|File\.readlines|file_get_contents|read\.csv|readLines|readRDS|require)\(\s*["'`]([^"'`\n]+\.\w+)["'`]"""
)


ADDRESS = re.compile(r"""["'`](https?://[^\s"'`<>]+)["'`]""")


def note_code_texts(code: str, command: Command, ledger: Ledger) -> None:
    """Best effort for JavaScript, Ruby, Perl, PHP, R and gnuplot: the file named in a call that writes."""
    for found in WRITTEN_BY_CODE.finditer(code):
        ledger.write(next(filter(None, found.groups()), ""), cwd=command.cwd)
    for found in READ_BY_CODE.finditer(code):
        ledger.read(found[1], cwd=command.cwd)
    if "fetch" in code or "http" in code:
        for found in ADDRESS.finditer(code):
            ask(ledger, found[1])
