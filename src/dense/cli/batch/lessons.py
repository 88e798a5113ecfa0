"""`dense lessons`: what recurred across tasks, as a page, with its evidence beside it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from dense.batch.queries.lesson_evidence import lesson_evidence
from dense.batch.queries.table import BatchTable
from dense.cli.text import printable
from dense.lessons.files import encode_evidence, evidence_file
from dense.lessons.lesson import lessons_of
from dense.lessons.text import lesson_text, lessons_page
from dense.service.private_files import write_files


def lessons(uri: str, out: Path | None, prefix: str) -> None:
    """Print the lessons of a table, or write them with their evidence."""
    with closing(BatchTable(uri)) as table:
        evidence = lesson_evidence(table, prefix)
        ((traces,),) = table.ask("SELECT count(*) FROM traces WHERE error = '' AND starts_with(source, $p)", p=prefix)
    recurring = lessons_of(evidence)
    page = lessons_page(recurring, traces, uri)
    if out is None:
        print("\n".join(map(printable_line, page.splitlines())))
        return
    write_files(out.parent.resolve(), {evidence_file(out).name: encode_evidence(evidence), out.name: page.encode()})
    for lesson in recurring:
        print(printable(lesson_text(lesson)))
    count = f"{len(recurring)} lesson{'' if len(recurring) == 1 else 's'}"
    print(f"{count} of {traces:,} traces in {out}, {len(evidence):,} pieces of evidence beside it")


def printable_line(line: str) -> str:
    """A line of the page for the terminal, with its indentation."""
    return line[: len(line) - len(line.lstrip())] + printable(line)
