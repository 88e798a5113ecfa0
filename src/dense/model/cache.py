"""Answers that outlive the process, and questions that are asked only once at a time.

The store is one SQLite file in WAL mode: a commit survives `kill -9`, any number of processes on one machine may share
it (WAL does not work on network drives), and it holds hashes of questions and the answers, never a key."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
from msgspec.structs import replace

from dense.errors import ModelError
from dense.model.chat import ChatModel, ChatReply, ChatRequest
from dense.model.http import WIRES
from dense.model.programs import PROMPT_VERSION
from dense.model.providers import ModelSpec
from dense.salvage import Record, Value, salvage_table

SCHEMA = 1
"""The layout of the file, kept as its `user_version`."""
LOCK_SECONDS = 60.0


def identity_of(spec: ModelSpec) -> str:
    """All that determines an answer besides the question: who is asked, where, and how the question is put."""
    wire = spec.provider.wire
    version = PROMPT_VERSION if spec.is_program else WIRES[wire].VERSION
    return "\0".join((spec.provider.name, spec.base_url, spec.name, wire, str(version)))


class AnswerStore:
    """A durable table from keys to answers. All work is done on one thread of its own: a lock never stops the loop."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="dense-cache")
        self._table: sqlite3.Connection | None = None

    async def open(self) -> None:
        """Makes the file where there is none."""
        try:
            await self._execute(self._open)
        except (OSError, sqlite3.Error) as error:
            await self.close()
            raise ModelError(f"the cache {self.path} cannot be used ({error}); remove it or name another") from error

    async def get(self, key: str) -> ChatReply | None:
        """The answer that is kept under a key."""
        row = await self._run(
            lambda: self._connection.execute("SELECT reply FROM answers WHERE key = ?", (key,)).fetchone()
        )
        return _reply(row[0]) if row else None

    async def put(self, key: str, reply: ChatReply) -> ChatReply:
        """Keeps an answer for good, and returns the one that is kept: the first that any process put."""
        content = msgspec.json.encode(reply)

        def insert() -> bool:
            with self._connection as table:
                row = table.execute("SELECT reply FROM answers WHERE key = ?", (key,)).fetchone()
                verb = "REPLACE" if row and _reply(row[0]) is None else "IGNORE"  # what is damaged is no answer
                return table.execute(f"INSERT OR {verb} INTO answers VALUES (?, ?)", (key, content)).rowcount > 0

        if await self._run(insert):
            return reply
        return await self.get(key) or reply

    async def forget(self, key: str, at: str) -> None:
        """Keeps the answer of that time no longer: whoever asks next asks again. A later answer stays."""

        def delete() -> None:
            with self._connection as table:
                row = table.execute("SELECT reply FROM answers WHERE key = ?", (key,)).fetchone()
                if row and (kept := _reply(row[0])) is not None and kept.at == at:
                    table.execute("DELETE FROM answers WHERE key = ? AND reply = ?", (key, row[0]))

        await self._run(delete)

    async def close(self) -> None:
        """Ends the thread and closes the file."""
        await self._run(self._close)
        self._thread.shutdown()

    async def _run[T](self, work: Callable[[], T]) -> T:
        try:
            return await self._execute(work)
        except sqlite3.OperationalError as error:  # locked, no space left, no access: nothing is damaged
            raise ModelError(f"the cache {self.path} cannot be read or written ({error})") from error
        except sqlite3.DatabaseError as error:
            raise ModelError(f"{self._advice()} ({error})") from error

    async def _execute[T](self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _advice(self) -> str:
        """What is damaged, what can be saved, what to do."""
        saved = salvage_table(self.path, "answers", _row, _prepare)
        return (
            f"the cache {self.path} cannot be read or written: answers in it may be lost, nothing else is. {saved} Or"
            " move it away: its questions are asked again"
        )

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._table is None:
            raise RuntimeError("the cache is not open")
        return self._table

    def _open(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Answers speak of private traces: for the owner's eyes. SQLite gives its side files the same mode.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        table = sqlite3.connect(self.path, timeout=LOCK_SECONDS, check_same_thread=False)
        self._table = table
        _retried(lambda: table.execute("PRAGMA journal_mode = WAL"))
        table.execute("PRAGMA synchronous = NORMAL")
        (version,) = table.execute("PRAGMA user_version").fetchone()
        if version not in (0, SCHEMA):
            self._close()
            raise ModelError(
                f"the cache {self.path}: its layout is {version}, this version of dense reads {SCHEMA}: move it away"
            )
        with table:
            _prepare(table)

    def _close(self) -> None:
        if self._table is not None:
            self._table.close()
            self._table = None


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, reply BLOB NOT NULL) WITHOUT ROWID")
    connection.execute(f"PRAGMA user_version = {SCHEMA}")


def _row(record: Record) -> tuple[Value, ...] | None:
    """A whole row of the table of answers."""
    match record:
        case None, (str(key), bytes(content)):
            return (key, content) if _reply(content) is not None else None
        case _:
            return None


def _reply(content: bytes) -> ChatReply | None:
    """A kept answer; None if it is damaged: the question is asked again."""
    try:
        return msgspec.json.decode(content, type=ChatReply)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _retried(work: Callable[[], object]) -> None:
    """The switch to WAL does not wait for another process that does the same: so we do."""
    end = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            work()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


class CachedModel:
    """Answers from the store what was answered before. What was not, is asked; `StoringModel` puts the answer there."""

    def __init__(self, inner: ChatModel, store: AnswerStore, identity: str) -> None:
        self._inner = inner
        self._store = store
        self._identity = identity

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answers from the store, else from the provider."""
        if (kept := await self._store.get(cache_key(self._identity, request.digest))) is not None:
            return replace(kept, is_cached=True)
        return await self._inner.complete(request)


class StoringModel:
    """Puts every answer into the store, except blank ones.

    Belongs inside of the limit on concurrency: a call keeps its place until its answer is safe, so that never more
    answers than that can be lost by a crash, however slow the disk."""

    def __init__(self, inner: ChatModel, store: AnswerStore, identity: str) -> None:
        self._inner = inner
        self._store = store
        self._identity = identity

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answers once the answer is safe."""
        reply = await self._inner.complete(request)
        if not reply.text.strip() and reply.finish == "stop":
            return reply
        kept = await self._store.put(cache_key(self._identity, request.digest), reply)
        # Another process may have been first: its answer counts for both, our costs are ours.
        return replace(reply, text=kept.text, finish=kept.finish, model=kept.model)


def cache_key(identity: str, digest: str) -> str:
    """Under which key the answer to a question is kept; `digest` is the question's."""
    return hashlib.sha256(f"{identity}\0{digest}".encode()).hexdigest()


class DeduplicatedModel:
    """Lets equal questions that are under way at the same time share one answer.

    A question goes on when whoever asked it is cancelled: it may be paid for already, and its answer belongs in the
    cache. `settle` waits for such, `abandon` ends them."""

    def __init__(self, inner: ChatModel) -> None:
        self._inner = inner
        self._under_way: dict[str, asyncio.Task[ChatReply]] = {}

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answers; to all but the first who asked, as from a cache."""
        key = request.digest
        if (other := self._under_way.get(key)) is not None:
            await asyncio.wait([other])
            return replace(other.result(), is_cached=True)
        task = asyncio.create_task(self._inner.complete(request))
        self._under_way[key] = task
        task.add_done_callback(lambda done: self._forget(key, done))
        await asyncio.wait([task])
        return task.result()

    def _forget(self, key: str, task: asyncio.Task[ChatReply]) -> None:
        del self._under_way[key]
        if not task.cancelled():
            task.exception()  # Seen here, lest asyncio complains where nobody waits for it any more.

    async def settle(self) -> None:
        """Waits for everything that is under way."""
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    async def abandon(self) -> None:
        """Ends everything that is under way."""
        for task in self._under_way.values():
            task.cancel()
        await self.settle()
