"""A table as a noun, and its three ways to be written: Markdown, LaTeX (booktabs) and CSV.

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
type CsvValue = str | int | float | None


class TableCell(Struct, frozen=True):
    """The content of one place of a table."""

    text: str
    """The first line."""
    below: str = ""
    """A second, smaller one: an interval, a count."""
    mark: Mark = ""
    """Best is bold, second underlined."""


class TableRow(Struct, frozen=True):
    """A row."""

    entries: tuple[TableCell, ...]
    """From left to right."""
    rule: bool = False
    """Whether there is a rule above it."""


class ReportTable(Struct, frozen=True):
    """One table."""

    name: str
    """Of its files."""
    title: str
    """What it shows."""
    caption: str
    """How it is to be read."""
    header: tuple[str, ...]
    """Of the columns; the first are names, the rest numbers."""
    lines: tuple[TableRow, ...]
    """Its rows."""
    fields: tuple[str, ...]
    """The columns of the CSV."""
    records: tuple[tuple[CsvValue, ...], ...]
    """The rows of the CSV."""
    names: int = 1
    """How many columns at the left are names."""
    is_long: bool = False
    """Whether it may need more than a page."""


_FORMULA = re.compile(r"'*(?:[=@]|[+-](?![\d.,]+ ?%?$))")
"""How text begins that a spreadsheet would take for a formula; a mere number with a sign is none."""


def markdown(table: ReportTable, notes: Sequence[str] = ()) -> str:
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


def _md_entry(entry: TableCell) -> str:
    text = _md(entry.text)
    if entry.mark and text:
        text = f"**{text}**" if entry.mark == "best" else f"<u>{text}</u>"
    return f"{text}<br>{_md(entry.below)}" if entry.below else text


def _md(text: str) -> str:
    text = plain_text(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*_{}\[\]|~$#])", r"\\\1", text)
    return f"\\{text}" if _FORMULA.match(text) else text  # a table may be pasted into a spreadsheet


def latex(table: ReportTable, notes: Sequence[str] = ()) -> str:
    """For `\\input`: needs booktabs, and longtable where the table may be long."""
    align = _aligned(table)
    head = f"{' & '.join(_tex(_cut(title)) for title in table.header)} \\\\"
    rows = _tex_lines(table.lines, align) or [f"{_tex('Nothing to show.')} \\\\"]
    caption = " ".join([f"\\textbf{{{_tex(table.title)}.}}", _tex(table.caption), *map(_tex, notes)])
    label = f"\\label{{tab:{re.sub(r'[^A-Za-z0-9-]', '-', table.name)}}}"
    size = ["\\footnotesize", "\\setlength{\\tabcolsep}{4.5pt}", "\\renewcommand{\\arraystretch}{1.10}"]
    if table.is_long:
        top = ["\\toprule", head, "\\midrule"]
        top = [*top, "\\endfirsthead", *top, "\\endhead", "\\bottomrule", "\\endfoot"]
        opening = [f"\\begin{{longtable}}{{@{{}}{''.join(align)}@{{}}}}", f"\\caption{{{caption}}}{label}\\\\", *top]
        size.append("\\setlength{\\LTcapwidth}{\\linewidth}")
        parts = ["\\begingroup", *size, *opening, *rows, "\\end{longtable}", "\\endgroup"]
    else:
        inside = [
            f"\\begin{{tabular}}{{@{{}}{''.join(align)}@{{}}}}",
            "\\toprule",
            head,
            "\\midrule",
            *rows,
            "\\bottomrule",
        ]
        gap = "\\setlength{\\belowcaptionskip}{6pt}"
        parts = ["\\begin{table}[htbp]", "\\centering", gap, f"\\caption{{{caption}}}", label, *size, *inside]
        parts += ["\\end{tabular}", "\\end{table}"]
    return "\n".join(["% needs \\usepackage{booktabs,longtable}", *parts]) + "\n"


MAX_NAME_CHARS = 42
"""Characters of a name that fit on one line of print; longer ones take several."""
PARAGRAPH = "p{58mm}"


def _cut(title: str) -> str:
    """A column's head that fits; the other forms of the table have it whole."""
    return title if len(title) <= MAX_NAME_CHARS else f"{title[: MAX_NAME_CHARS - 9]}…{title[-8:]}"


def _aligned(table: ReportTable) -> list[str]:
    """How each column is set. Names that would not fit on a page are set as paragraphs."""
    alignments: list[str] = []
    for at, _ in enumerate(table.header):
        longest = max((len(line.entries[at].text) for line in table.lines), default=0)
        alignments.append("r" if at >= table.names else PARAGRAPH if longest > MAX_NAME_CHARS else "l")
    return alignments


def _tex_lines(lines: Sequence[TableRow], align: Sequence[str]) -> list[str]:
    """Rows; with a little space between them where they have two lines, so that one sees which belong together."""
    is_high = any(entry.below for line in lines for entry in line.entries)
    rows: list[str] = []
    for line in lines:
        if line.rule:
            rows.append("\\midrule")
        elif rows and is_high:
            rows.append("\\addlinespace")
        entries = (_tex_entry(entry, how) for entry, how in zip(line.entries, align, strict=True))
        rows.append(f"{' & '.join(entries)} \\\\")
    return rows


def _tex_entry(entry: TableCell, align: str) -> str:
    if align == PARAGRAPH:
        return f"{{\\raggedright {_breakable(entry.text)}\\par}}"
    text = _tex(entry.text)
    if entry.mark and text:
        text = f"\\textbf{{{text}}}" if entry.mark == "best" else f"\\underline{{{text}}}"
    if not entry.below:
        return text
    below = f"{{\\scriptsize {_tex(entry.below)}}}"
    return f"\\begin{{tabular}}[t]{{@{{}}{align}@{{}}}}{text} \\\\ {below}\\end{{tabular}}"


def _breakable(text: str) -> str:
    """Paths and identifiers break behind their signs, and whatever is longer still after so many characters."""
    pieces = re.findall(r"[^\W_]{1,20}\W?|_|\W", plain_text(text))
    return "\\allowbreak{}".join(_tex(piece) for piece in pieces)


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
    "‡": "\\textsuperscript{$\\ddagger$}",
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


def comma_separated(table: ReportTable, notes: Sequence[str] = ()) -> str:
    """A header and the records, numbers unrounded. Notes are a column, so that every reader of CSV can read it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    extra = ("notes",) if notes else ()
    said = (_csv(" | ".join(notes)),) if notes else ()
    writer.writerow([*(_csv(name) for name in table.fields), *extra])
    for record in table.records:
        writer.writerow([*(_csv(value) for value in record), *said])
    return out.getvalue()


def _csv(value: CsvValue) -> CsvValue:
    """Mark text that a spreadsheet would take for a formula as text."""
    if not isinstance(value, str):
        return value
    text = plain_text(value)
    return f"'{text}" if _FORMULA.match(text) else text


def plain_text(text: str) -> str:
    """One line without anything that a terminal or a page would act on: controls, and signs that turn the direction."""
    return "".join(" " if unicodedata.category(sign) in _UNSEEN else sign for sign in text)


_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
