"""Each thing once: what another line or quote says is left out, and lines in a row share one label."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain, count

from msgspec.structs import replace

from dense.message.lines import Line, QuotedAction
from dense.message.page import ALWAYS, Item

SHINGLE = 8
MAX_REPEATED = 0.2
"""A clause of which a larger part was said is not said again."""
REPEATED_SHARES = {"evidence": 0.95, "solved": 0.8, "dead-end": 0.8}
"""The same of a line that shows an open issue, which may go on behind what the issue quotes of it, and of a call that
failed before the same one worked: what came back differs."""
MIN_CLAUSE_WORDS = 4
"""A shorter clause may be said again."""
WORD = re.compile(r"[\w./-]+")
SHARED_LABELS = frozenset({"next-step", "dead-end", "shortcut", "needs", "order", "task", "key-action"})
"""Labels before numbers and ids, which show by themselves that a line goes on with the same."""
PARTS = frozenset({"task", "complete-task", "part", "complete-part"})
QUOTE_OR_END = re.compile(r"`(`*)(?!`).*?(?<!`)`\1(?!`)|\"[^\"]*\"|\. |; ")
"""Quoted code, quoted words, or the end of a clause. All begin with a literal, which is searched for fast."""
LONG_PATH = re.compile(r"/[\w.@+-]+(?:/[\w.@+-]+){2,}")
LONG_PATH_CODE = re.compile(rf"(?<=`){LONG_PATH.pattern}(?=`)")
MIN_LONG_PATH = 30
SPELLED_OUT = frozenset({"state", "next-step", "evidence", "left-out"})
"""Lines that are read by themselves."""


def without_repetition(items: Sequence[Line], clauses_up_to: int) -> list[Line]:
    """The lines without what a more valuable one, or one above of the same value, says already: whole lines, and
    clauses of lines up to a value. Subtasks say nothing twice, however short; an open issue always stays."""
    said: set[int] = set()
    words_said = " "
    clauses_said: set[str] = set()
    """Whole clauses, however short: nothing more need be searched for these."""
    short_said: set[str] = set()
    kept: dict[int, Line] = {}
    for place in sorted(range(len(items)), key=lambda place: (-_rank(items[place]), place)):
        item = items[place]
        is_part, share = item.kind in PARTS, REPEATED_SHARES.get(item.kind, MAX_REPEATED)
        head = item.head
        clauses = _clauses(item.content) if item.value <= clauses_up_to else [item.content]
        of_clauses = [_words(clause) for clause in clauses]
        words_of_item = [*_words(head), *chain.from_iterable(of_clauses)]
        shingles_of_item = _shingles(words_of_item)
        end = len(words_of_item) - sum(map(len, of_clauses))
        fresh: list[str] = []
        texts = list(map(" ".join, of_clauses))
        for clause, words, text in zip(clauses, of_clauses, texts, strict=True):
            start, end = end, end + len(words)
            shingles = set(shingles_of_item[start : max(start, end - SHINGLE + 1)])
            is_known = text in clauses_said and len(words) >= MIN_CLAUSE_WORDS
            is_repeated = is_known or _is_said(words, shingles, said, words_said, share)
            is_repeated = is_repeated or (not fresh and bool(item.more) and clause == item.more)
            if not is_repeated and not (is_part and text in short_said):
                fresh.append(clause)
                said |= shingles
            if is_part:
                short_said.add(text)
        if fresh and fresh[0] != clauses[0]:
            head = item.tries_head or head
        if fresh or item.value >= ALWAYS or item.kind == "open-issue":
            text = head + " ".join(fresh or clauses).rstrip(";. ")
            kept[place] = item if len(fresh) == len(clauses) else replace(item, text=text, head=head)
        said.update(shingles_of_item)
        clauses_said.update(texts)
        words_said += f"{' '.join(words_of_item)} "
    return _renumbered([kept[place] for place in sorted(kept)])


def _renumbered(lines: list[Line]) -> list[Line]:
    """The lines with the next steps numbered from 1 on."""
    numbers = count(1)
    return [_with_number(line, next(numbers)) if line.number else line for line in lines]


def _with_number(line: Line, number: int) -> Line:
    return replace(line, number=number, text=f"{number}{line.text.removeprefix(str(line.number))}")


def _rank(item: Item) -> float:
    """Its value; evidence comes after its issue, and says nothing that the issue quotes."""
    return item.value - 1 if item.kind == "evidence" else item.value


def _clauses(text: str) -> list[str]:
    """The text in pieces that end with a full stop or a semicolon outside of quoted code."""
    if ". " not in text and "; " not in text:
        return [text.rstrip()] if text else []
    ends = [found.end() for found in QUOTE_OR_END.finditer(text) if found[0][0] in ".;"]
    starts = [0, *ends]
    return [text[start:end].rstrip() for start, end in zip(starts, [*ends, len(text)], strict=True) if start < end]


def _is_said(words: Sequence[str], shingles: set[int], said: set[int], words_said: str, share: float) -> bool:
    """Whether most of a clause was said, or all of a short one."""
    if not shingles:
        return len(words) >= MIN_CLAUSE_WORDS and f" {' '.join(words)} " in words_said
    return len(shingles & said) > share * len(shingles)


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def _shingles(words: Sequence[str]) -> list[int]:
    """A hash of each row of so many words."""
    return list(map(hash, zip(*(words[place:] for place in range(SHINGLE)), strict=False)))


def labelled_once(items: Sequence[Item]) -> tuple[Item, ...]:
    """The items, without needs that something else shows, with long paths spelled out once, and with a label that
    several in a row share on the first of them alone."""
    items = _with_short_paths(items)
    shown = "\n".join(text for item in items if item.kind != "needs" for text in (item.text, *_bodies(item)))
    shown = shown.replace("\\", "")
    found: list[Item] = []
    last = ""
    for item in items:
        if isinstance(item, Line) and item.kind == "needs" and _is_shown(item.names, shown):
            continue
        name = item.label.strip()
        indent = item.label[: len(item.label) - len(item.label.lstrip())]
        found.append(replace(item, label=indent) if name == last and name in SHARED_LABELS else item)
        last = name
    return tuple(found)


def _with_short_paths(items: Sequence[Item]) -> list[Item]:
    """The items with each long path whole where it comes first; behind it its name is enough, if no other has it."""
    paths = {found[0] for item in items if "/" in item.text for found in LONG_PATH_CODE.finditer(item.text)}
    paths |= {item.path for item in items if isinstance(item, QuotedAction) and LONG_PATH.fullmatch(item.path)}
    if not paths:
        return list(items)
    names = Counter(path.rpartition("/")[2] for path in paths)
    seen: set[str] = set()

    def short(path: str) -> str:
        name = path.rpartition("/")[2]
        if path not in seen or names[name] > 1 or len(path) < MIN_LONG_PATH:
            seen.add(path)
            return path
        return f"…/{name}"

    def shown(item: Item) -> Item:
        if item.kind in SPELLED_OUT:
            return item
        if not isinstance(item, QuotedAction):
            return replace(item, text=LONG_PATH_CODE.sub(lambda found: short(found[0]), item.text))
        return replace(item, text=item.text.removesuffix(item.path) + short(item.path)) if item.path in paths else item

    return list(map(shown, items))


def _bodies(item: Item) -> list[str]:
    return [body for _, body in item.quotes]


def _is_shown(names: Sequence[str], shown: str) -> bool:
    """Whether every piece of code that a line names is shown."""
    return bool(names) and all(name.replace("\\", "") in shown for name in names)
