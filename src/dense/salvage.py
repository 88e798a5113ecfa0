"""Read what can still be read of a damaged SQLite file.

SQLite gives up at a damaged page: what lies below it in the tree, and after it, is out of reach. So the pages are read
here one by one, without the tree and without the file's header; pages of the log beside it count too. What a record
holds is checked by whoever knows the table. The format: https://www.sqlite.org/fileformat2.html"""

from __future__ import annotations

import shlex
import sqlite3
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

type Value = int | float | str | bytes | None
type Record = tuple[int | None, tuple[Value, ...]]
"""Its row's number, where its table has such, and its values."""

PAGE_SIZES = frozenset(2**power for power in range(9, 17))
USUAL_PAGE_SIZE = 4096
LOG_HEADER, FRAME_HEADER = 32, 24
TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR = 0x0D, 0x0A, 0x02
INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def salvage_table(
    path: Path,
    table: str,
    restore: Callable[[Record], tuple[Value, ...] | None],
    prepare: Callable[[sqlite3.Connection], object],
    conclude: Callable[[sqlite3.Connection, int], object] | None = None,
) -> str:
    """Copy a table's readable rows into a new file beside a damaged one; gives sentences that say so.

    `restore` gives a row, its key first, or None for what is no whole row of the table. `prepare` makes the empty new
    file's tables; `conclude` is told how many rows are missing, as far as that is known."""
    target = path.with_name(f"{path.stem}.saved{path.suffix}")
    rows, last = _restored(path, table, restore)
    if not rows:
        return "Nothing in it can be read."
    lost = max(last - len(rows), 0)
    try:
        target.unlink(missing_ok=True)
        target.touch(mode=0o600)
        with closing(sqlite3.connect(target)) as connection:
            prepare(connection)
            with connection:
                marks = ", ".join("?" * len(next(iter(rows.values()))))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows.values())
                if conclude is not None:
                    conclude(connection, lost)
    except (OSError, sqlite3.Error) as error:
        return f"{len(rows):,} of its records can be read, but they cannot be written to {target} ({error})."
    damaged = f", {lost:,} {'is' if lost == 1 else 'are'} damaged and left out" if lost else ""
    old, log, index, new = (shlex.quote(str(file)) for file in (path, f"{path}-wal", f"{path}-shm", target))
    return (
        f"{len(rows):,} of its records could be read and are saved in {target}{damaged}. To go on with them, while"
        f" nothing uses the file: `rm -f {log} {index} && mv {new} {old}`."
    )


def _restored(
    path: Path, table: str, restore: Callable[[Record], tuple[Value, ...] | None]
) -> tuple[dict[Value, tuple[Value, ...]], int]:
    """The rows by key, and the highest number that a row ever had; 0 where rows have no numbers."""
    rows, last = dict[Value, tuple[Value, ...]](), 0
    for record in _records(path):
        if (row := restore(record)) is not None:
            rows[row[0]] = row
        elif len(record[1]) == 2 and record[1][0] == table and isinstance(number := record[1][1], int):
            last = max(last, number)  # SQLite's own note
    return rows, max([last, *(key for key in rows if isinstance(key, int))])


def _records(path: Path) -> Iterator[Record]:
    """The records of all readable pages of the file and of its log, later ones later."""
    content, log = (_content(file) for file in (path, path.with_name(f"{path.name}-wal")))
    stated = int.from_bytes(content[16:18]) if content.startswith(b"SQLite format 3\0") else 0
    size = 65536 if stated == 1 else stated if stated in PAGE_SIZES else USUAL_PAGE_SIZE
    images = [(at // size + 1, content[at : at + size]) for at in range(0, len(content), size)]
    pages, salt = dict(images), log[16:24]
    for at in range(LOG_HEADER, len(log), FRAME_HEADER + size):
        frame, page = log[at : at + FRAME_HEADER], log[at + FRAME_HEADER : at + FRAME_HEADER + size]
        images.append((int.from_bytes(frame[:4]), page))
        if frame[8:16] == salt:  # not left over from an earlier round of the log
            pages[images[-1][0]] = page
    for number, page in images:
        yield from _page_records(number, page, pages)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _page_records(number: int, page: bytes, pages: Mapping[int, bytes]) -> Iterator[Record]:
    """The records of one page; what is damaged is left out."""
    start = 100 if number == 1 else 0
    kind = page[start] if len(page) > start else 0
    if kind not in (TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR):
        return
    pointers = start + (12 if kind == INDEX_INTERIOR else 8)
    for cell in range(int.from_bytes(page[start + 3 : start + 5])):
        at = int.from_bytes(page[pointers + 2 * cell : pointers + 2 * cell + 2])
        try:
            yield _record(page, at + (4 if kind == INDEX_INTERIOR else 0), kind == TABLE_LEAF, pages)
        except (LookupError, ValueError, struct.error):  # no such place, no such page, no UTF-8
            continue


def _record(page: bytes, at: int, has_number: bool, pages: Mapping[int, bytes]) -> Record:
    size, at = _varint(page, at)
    number = None
    if has_number:
        number, at = _varint(page, at)
    room = len(page)
    most = room - 35 if has_number else (room - 12) * 64 // 255 - 23
    least = (room - 12) * 32 // 255 - 23
    inside = size
    if size > most:
        inside = least + (size - least) % (room - 4)
        inside = inside if inside <= most else least
    payload, rest = [page[at : at + inside]], size - inside
    following = int.from_bytes(page[at + inside : at + inside + 4])
    while rest > 0:
        overflow = pages[following]
        following, part = int.from_bytes(overflow[:4]), overflow[4 : 4 + rest]
        payload.append(part)
        rest -= len(part)
    return number, tuple(_values(b"".join(payload), size))


def _values(payload: bytes, size: int) -> Iterator[Value]:
    end, at = _varint(payload, 0)
    start = end
    if len(payload) != size or end > size:
        raise ValueError
    while at < end:
        kind, at = _varint(payload, at)
        length = INTEGER_BYTES.get(kind, 8 if kind == 7 else (kind - 12) // 2 if kind >= 12 else 0)
        data = payload[start : start + length]
        if len(data) != length:
            raise ValueError
        start += length
        match kind:
            case 0:
                yield None
            case 7:
                yield struct.unpack(">d", data)[0]
            case 8 | 9:
                yield kind - 8
            case _ if kind < 12:
                yield int.from_bytes(data, signed=True)
            case _:
                yield data.decode() if kind % 2 else data


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends."""
    value = 0
    for offset in range(8):
        byte = data[at + offset]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + offset + 1
    return value << 8 | data[at + 8], at + 9
