"""A table as a noun, and its four ways to be written: Markdown, LaTeX (booktabs), CSV, and plain text for a terminal.

Names of tasks, recipients and methods come from outside and are escaped for each way; nothing that they contain can end
a cell, start a command or become a formula. CSV has the numbers themselves, unrounded; the others have what people
read. The experiment's notes go wherever a table goes."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

Mark = Literal["", "best", "second"]
type Value = str | int | float | None


class Entry(Struct, frozen=True):
    """What stands in one place of a table."""

    text: str
    """The first line."""
    below: str = ""
    """A second, smaller one: an interval, a count."""
    mark: Mark = ""
    """Best is bold, second underlined."""


class Line(Struct, frozen=True):
    """A row."""

    entries: tuple[Entry, ...]
    """From left to right."""
    rule: bool = False
    """Whether a rule stands above it."""


class Table(Struct, frozen=True):
    """One table."""

    name: str
    """Of its files."""
    title: str
    """What it shows."""
    caption: str
    """How it is to be read."""
    header: tuple[str, ...]
    """Of the columns; the first are names, the rest numbers."""
    lines: tuple[Line, ...]
    """Its rows."""
    fields: tuple[str, ...]
    """The columns of the CSV."""
    records: tuple[tuple[Value, ...], ...]
    """The rows of the CSV."""
    names: int = 1
    """How many columns at the left are names."""
    is_long: bool = False
    """Whether it may need more than a page."""


def markdown(table: Table, notes: Sequence[str] = ()) -> str:
    """A heading, the notes, the table, the caption."""
    parts = [f"## {_md(table.title)}", *(f"> {_md(note)}" for note in notes)]
    if table.lines:
        rows = [f"| {' | '.join(map(_md, table.header))} |"]
        rows.append("|" + "|".join(" --- " if at < table.names else " ---: " for at in range(len(table.header))) + "|")
        rows += [f"| {' | '.join(map(_md_entry, line.entries))} |" for line in table.lines]
        parts.append("\n".join(rows))
    else:
        parts.append("Nothing to show.")
    return "\n\n".join([*parts, _md(table.caption)]) + "\n"


def _md_entry(entry: Entry) -> str:
    text = _md(entry.text)
    if entry.mark and text:
        text = f"**{text}**" if entry.mark == "best" else f"<u>{text}</u>"
    return f"{text}<br>{_md(entry.below)}" if entry.below else text


def _md(text: str) -> str:
    text = plain_text(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]|~$#])", r"\\\1", text)


def latex(table: Table, notes: Sequence[str] = ()) -> str:
    """For `\\input`: needs booktabs, and longtable where the table may be long."""
    align = "".join("l" if at < table.names else "r" for at in range(len(table.header)))
    head = f"{' & '.join(map(_tex, table.header))} \\\\"
    rows = [row for line in table.lines for row in _tex_line(line)] or [f"{_tex('Nothing to show.')} \\\\"]
    caption = " ".join([f"\\textbf{{{_tex(table.title)}.}}", _tex(table.caption), *map(_tex, notes)])
    label = f"\\label{{tab:{re.sub(r'[^A-Za-z0-9-]', '-', table.name)}}}"
    size = ["\\footnotesize", "\\setlength{\\tabcolsep}{4.5pt}", "\\renewcommand{\\arraystretch}{1.10}"]
    if table.is_long:
        top = ["\\toprule", head, "\\midrule"]
        top = [*top, "\\endfirsthead", *top, "\\endhead", "\\bottomrule", "\\endfoot"]
        opening = [f"\\begin{{longtable}}{{@{{}}{align}@{{}}}}", f"\\caption{{{caption}}}{label}\\\\", *top]
        parts = ["\\begingroup", *size, *opening, *rows, "\\end{longtable}", "\\endgroup"]
    else:
        inside = [f"\\begin{{tabular}}{{@{{}}{align}@{{}}}}", "\\toprule", head, "\\midrule", *rows, "\\bottomrule"]
        parts = ["\\begin{table}[htbp]", "\\centering", f"\\caption{{{caption}}}", label, *size, *inside]
        parts += ["\\end{tabular}", "\\end{table}"]
    return "\n".join(["% needs \\usepackage{booktabs,longtable}", *parts]) + "\n"


def _tex_line(line: Line) -> list[str]:
    row = f"{' & '.join(map(_tex_entry, line.entries))} \\\\"
    return ["\\midrule", row] if line.rule else [row]


def _tex_entry(entry: Entry) -> str:
    text = _tex(entry.text)
    if entry.mark and text:
        text = f"\\textbf{{{text}}}" if entry.mark == "best" else f"\\underline{{{text}}}"
    if not entry.below:
        return text
    return f"\\shortstack{{{text} \\\\ {{\\scriptsize {_tex(entry.below)}}}}}"


_TEX = {
    "\\": "\\textbackslash{}",
    "{": "\\{",
    "}": "\\}",
    "$": "\\$",
    "&": "\\&",
    "#": "\\#",
    "%": "\\%",
    "_": "\\_",
    "^": "\\textasciicircum{}",
    "~": "\\textasciitilde{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "`": "\\char96{}",
    '"': "''",
    "−": "$-$",
    "†": "\\textsuperscript{$\\dagger$}",
    "×": "$\\times$",
    "Δ": "$\\Delta$",
    "·": "$\\cdot$",
    "—": "---",
    "–": "--",
    "…": "\\ldots{}",
    "≥": "$\\geq$",
    "≤": "$\\leq$",
}
"""What LaTeX reads otherwise, and the signs that reports use. Behind the end of a row a bracket would be an option, and
an asterisk a variant; in braces they are themselves."""


def _tex(text: str) -> str:
    """Pure ASCII, so that every LaTeX sets it: accents as commands, other signs by their number."""
    text = plain_text(text)
    apart = ("{}" if pair == "--" else "" for pair in map("".join, zip(f" {text}", text, strict=False)))
    return "".join(
        gap + (_TEX[sign] if sign in _TEX else _tex_sign(sign)) for gap, sign in zip(apart, text, strict=True)
    )


_ACCENTS = {"\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0308": '"', "\u0327": "c ", "\u030c": "v "}


def _tex_sign(sign: str) -> str:
    if sign.isascii():
        return sign
    letter, *marks = unicodedata.normalize("NFD", sign)
    if letter.isascii() and letter.isalpha() and len(marks) == 1 and marks[0] in _ACCENTS:
        return f"{{\\{_ACCENTS[marks[0]]}{letter}}}"
    return f"\\texttt{{U+{ord(sign):04X}}}"


def comma_separated(table: Table, notes: Sequence[str] = ()) -> str:
    """A header and the records, numbers unrounded. Notes are a column, so that every reader of CSV can read it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    extra = ("notes",) if notes else ()
    said = (_csv(" ".join(notes)),) if notes else ()
    writer.writerow([*(_csv(name) for name in table.fields), *extra])
    for record in table.records:
        writer.writerow([*(_csv(value) for value in record), *said])
    return out.getvalue()


def _csv(value: Value) -> Value:
    """Text that a spreadsheet would take for a formula is told that it is text."""
    if not isinstance(value, str):
        return value
    text = plain_text(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def plain(table: Table, notes: Sequence[str] = ()) -> str:
    """For a terminal: aligned, best with a star, second with a plus behind it."""
    marks: dict[Mark, str] = {"": "", "best": " *", "second": " +"}
    rows = [[plain_text(title) for title in table.header]]
    for line in table.lines:
        rows.append([plain_text(" ".join(filter(None, (e.text, e.below)))) + marks[e.mark] for e in line.entries])
    widths = [max(_width(row[at]) for row in rows) for at in range(len(table.header))]
    told = [_padded(row, widths, table.names) for row in rows]
    if any(entry.mark for line in table.lines for entry in line.entries):
        told.append("* best, + second")
    return "\n".join([plain_text(table.title), *map(plain_text, notes), *told]) + "\n"


def _padded(row: Sequence[str], widths: Sequence[int], names: int) -> str:
    cells: list[str] = []
    for at, (text, width) in enumerate(zip(row, widths, strict=True)):
        gap = " " * (width - _width(text))
        cells.append(text + gap if at < names else gap + text)
    return "  ".join(cells).rstrip()


def _width(text: str) -> int:
    """Columns in a terminal."""
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(unicodedata.combining(sign) > 0 for sign in text)


def plain_text(text: str) -> str:
    """One line without anything that a terminal or a page would act on: controls, and signs that turn the direction."""
    return "".join(" " if unicodedata.category(sign) in _UNSEEN else sign for sign in text)


_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
