"""Wraps the prose of the Markdown pages at 100 characters: paragraphs and list items with a longer line.

    python scripts/prose.py

Code, tables, headings and HTML comments stay as they are, and so does `inline code`, which is never broken.
`tests/test_docs.py` fails if a page would change.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 100

FENCE = re.compile(r"\s*(```|~~~)")
ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
OTHER = re.compile(r"\s*(?:$|[#|>]|<!--|\[!?\[)")
WORD = re.compile(r"(?:`[^`]*`|\S)+")
MARKUP = re.compile(r"[-+*#>|]|\d+[.)]$")
"""What a line may not begin with, because it would begin something else."""


def pages() -> list[Path]:
    """All pages whose prose is wrapped."""
    folders = (".", "docs", "docs/adr", "docs/internal", "examples")
    return sorted(path for folder in folders for path in (ROOT / folder).glob("*.md"))


def wrapped(page: str) -> str:
    """The page with each paragraph and list item that has too long a line wrapped anew."""
    done: list[str] = []
    paragraph: list[str] = []
    in_code = False

    def close() -> None:
        is_too_long = any(len(line) > WIDTH for line in paragraph)
        done.extend(_fill(paragraph) if is_too_long else paragraph)
        paragraph.clear()

    for line in page.split("\n"):
        if FENCE.match(line):
            in_code = not in_code
        if in_code or FENCE.match(line) or OTHER.match(line):
            close()
            done.append(line)
            continue
        if ITEM.match(line):
            close()
        paragraph.append(line)
    close()
    return "\n".join(done)


def _fill(paragraph: list[str]) -> list[str]:
    head = ITEM.match(paragraph[0])
    first = head[0] if head else re.match(r"\s*", paragraph[0])[0]  # pyright: ignore[reportOptionalSubscript]
    rest = " " * len(first)
    words: list[str] = WORD.findall(" ".join(paragraph)[len(first) :])
    lines, line = [], first + words[0]
    for word in words[1:]:
        if len(line) + 1 + len(word) > WIDTH and not MARKUP.match(word):
            lines.append(line)
            line = rest + word
        else:
            line += f" {word}"
    return [*lines, line]


def main() -> None:
    for path in pages():
        path.write_text(wrapped(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
