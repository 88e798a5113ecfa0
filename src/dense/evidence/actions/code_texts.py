"""Best effort for code in other languages than Python: the files and addresses that its calls name."""

from __future__ import annotations

import re

from dense.evidence.actions.builder import EffectsBuilder

WRITES = re.compile(
    r"""(?:writeFile(?:Sync)?|appendFile(?:Sync)?|createWriteStream|File\.write|IO\.write|file_put_contents|Bun\.write|
    Deno\.writeTextFile(?:Sync)?|ggsave|pdf|png|write\.csv|saveRDS|writeLines|write_csv)\(\s*(?:\w+\s*,\s*)?["'`]([^"'`\n]+)["'`]
    |open\(\s*\w+\s*,\s*["'][>]{1,2}\s*([^"'\n]+)["']|File\.open\(\s*["']([^"'\n]+)["']\s*,\s*["'][wa]|set\s+output\s+["']([^"'\n]+)["']""",
    re.VERBOSE,
)
READS = re.compile(
    r"""(?:readFile(?:Sync)?|File\.read|File\.readlines|file_get_contents|read\.csv|readLines|readRDS|require)\(\s*["'`]([^"'`\n]+\.\w+)["'`]"""
)
ADDRESS = re.compile(r"""["'`](https?://[^\s"'`<>]+)["'`]""")


def record_code_texts(code: str, builder: EffectsBuilder, cwd: str) -> None:
    """Records the files that calls in JavaScript, Ruby, Perl, PHP, R or gnuplot name, and the addresses."""
    builder.write(*(next(filter(None, found.groups()), "") for found in WRITES.finditer(code)), cwd=cwd)
    builder.read(*(found[1] for found in READS.finditer(code)), cwd=cwd)
    if "fetch" in code or "http" in code:
        builder.ask(*(found[1] for found in ADDRESS.finditer(code)))
