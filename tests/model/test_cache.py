"""The cache: across runs, across processes, across `kill -9`; and equal questions at the same time."""

from __future__ import annotations

import asyncio
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback, failing, ok

from dense.errors import CallFailed, ModelError
from dense.model import ChatReply, ChatRequest, Message, OpenModel, RetryPolicy, open_model

Serve = Callable[..., Loopback]
QUICK = RetryPolicy(tries=2, timeout=10, first_wait=0.01)

WORKER = """
import asyncio, sys
from pathlib import Path
from dense.model import CallLimits, ChatRequest, Message, open_model

url, cache, count, log = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), open(sys.argv[4], "a", buffering=1)

async def main():
    async with open_model("vllm/m", base_url=url, cache=cache, limits=CallLimits(4), environment={}) as model:
        async def one(number):
            reply = await model.complete(ChatRequest("s", (Message("user", f"question {number}"),)))
            log.write(f"{number} {reply.text}\\n")
        async with asyncio.TaskGroup() as group:
            for number in range(count):
                group.create_task(one(number))
asyncio.run(main())
"""


def worker(server: Loopback, cache: Path, count: int, log: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WORKER, server.url, str(cache), str(count), str(log)])


def question(text: str = "?") -> ChatRequest:
    return ChatRequest("s", (Message("user", text),))


def asked(server: Loopback) -> Counter[str]:
    return Counter(received.question for received in server.received)


def logged(path: Path) -> list[str]:
    """The numbers of the questions that a worker has answers to."""
    return [line.split()[0] for line in path.read_text().splitlines()] if path.exists() else []


def run(server: Loopback, work: Callable[[OpenModel], Any], name: str = "vllm/m", **options: Any) -> Any:
    async def main() -> Any:
        async with open_model(name, base_url=server.url, retry=QUICK, environment={}, **options) as model:
            return await work(model)

    return asyncio.run(main())


def test_an_answer_is_kept_for_the_next_run(serve: Serve, tmp_path: Path) -> None:
    server = serve(ok("first"), ok("second"))
    cache = tmp_path / "deep" / "cache.sqlite"
    replies: list[ChatReply] = [run(server, lambda m: m.complete(question()), cache=cache) for _ in range(2)]
    assert [(reply.text, reply.is_cached) for reply in replies] == [("first", False), ("first", True)]
    assert replies[0].usage == replies[1].usage
    assert len(server.received) == 1
    assert cache.stat().st_mode & 0o077 == 0, "answers speak of private traces"


def test_what_determines_an_answer_is_in_the_key(serve: Serve, tmp_path: Path) -> None:
    server, cache = serve(), tmp_path / "cache.sqlite"
    for name in ("vllm/m", "vllm/n", "llamacpp/m"):
        run(server, lambda m: m.complete(question()), name, cache=cache)
    run(serve(), lambda m: m.complete(question()), cache=cache)
    assert len(server.received) == 3
    with sqlite3.connect(cache) as table:
        assert table.execute("SELECT count(*) FROM answers").fetchone() == (4,)
    table.close()


def test_failures_and_blank_answers_are_not_kept(serve: Serve, tmp_path: Path) -> None:
    server = serve(failing(500), failing(500), ok(""), ok(""), ok("words"))
    cache = tmp_path / "cache.sqlite"
    with pytest.raises(CallFailed):
        run(server, lambda m: m.complete(question()), cache=cache)
    assert run(server, lambda m: m.complete(question()), cache=cache).text == ""
    assert run(server, lambda m: m.complete(question()), cache=cache).text == "words"
    assert run(server, lambda m: m.complete(question()), cache=cache).is_cached


def test_a_refusal_and_a_cut_answer_are_kept(serve: Serve, tmp_path: Path) -> None:
    server = serve(ok("no", finish="content_filter"), ok("ha", finish="length"), ok("ha", finish="length"))
    cache = tmp_path / "cache.sqlite"
    for _ in range(2):
        assert run(server, lambda m: m.complete(question("a")), cache=cache).finish == "refusal"
        assert run(server, lambda m: m.complete(question("b")), cache=cache).finish == "length"
    assert len(server.received) == 3


def test_equal_questions_at_the_same_time_are_asked_once(serve: Serve) -> None:
    server = serve(default=ok("one", delay=0.2))

    async def work(model: OpenModel) -> list[ChatReply]:
        return await asyncio.gather(*(model.complete(question()) for _ in range(20)))

    replies = run(server, work)
    assert len(server.received) == 1
    assert [reply.is_cached for reply in replies].count(False) == 1
    assert {reply.text for reply in replies} == {"one"}


def test_a_failure_is_shared_too(serve: Serve) -> None:
    server = serve(default=failing(400))

    async def work(model: OpenModel) -> list[ChatReply | BaseException]:
        return await asyncio.gather(*(model.complete(question()) for _ in range(5)), return_exceptions=True)

    assert all(isinstance(reply, CallFailed) for reply in run(server, work))
    assert len(server.received) == 1


def test_whoever_asked_first_may_go(serve: Serve) -> None:
    server = serve(default=ok("one", delay=0.3))

    async def work(model: OpenModel) -> str:
        first = asyncio.create_task(model.complete(question()))
        second = asyncio.create_task(model.complete(question()))
        await asyncio.sleep(0.1)
        first.cancel()
        return (await second).text

    assert run(server, work) == "one"
    assert len(server.received) == 1


def test_leaving_drops_what_is_under_way(serve: Serve) -> None:
    async def work(model: OpenModel) -> float:
        task = asyncio.create_task(model.complete(question()))
        await asyncio.sleep(0.1)
        task.cancel()
        return time.monotonic()

    left = run(serve(default=ok(delay=40)), work)
    assert time.monotonic() - left < 30


def test_a_killed_run_repeats_no_answered_call(serve: Serve, tmp_path: Path) -> None:
    server = serve(default=ok("an answer", delay=0.03))
    cache, log, count = tmp_path / "cache.sqlite", tmp_path / "log", 120
    kills: list[tuple[int, set[str]]] = []
    for enough in (10, 50, 90):
        process = worker(server, cache, count, log)
        while process.poll() is None and len(logged(log)) < enough:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills.append((len(server.received), {f"question {number}" for number in logged(log)}))
        log.unlink()
    assert worker(server, cache, count, log).wait() == 0
    assert sorted(map(int, logged(log))) == list(range(count))
    for index, answered in kills:
        later = {received.question for received in server.received[index:]}
        assert answered & later == set(), "an answered call was paid for twice"
    under_way = 4 * len(kills)
    assert count <= len(server.received) <= count + under_way


def test_two_processes_share_the_cache(serve: Serve, tmp_path: Path) -> None:
    server = serve(default=ok("an answer"))
    cache, count = tmp_path / "cache.sqlite", 150
    logs = [tmp_path / f"log{number}" for number in range(4)]
    processes = [worker(server, cache, count, log) for log in logs]
    assert [process.wait() for process in processes] == [0, 0, 0, 0]
    for log in logs:
        assert sorted(map(int, logged(log))) == list(range(count))
    with sqlite3.connect(cache) as table:
        assert table.execute("SELECT count(*) FROM answers").fetchone() == (count,)
    table.close()
    server.received.clear()
    assert worker(server, cache, count, tmp_path / "later").wait() == 0
    assert server.received == []


def test_the_first_answer_counts_for_all_processes(serve: Serve, tmp_path: Path) -> None:
    """Two runs ask at the same time: both go on with the answer that was kept first."""
    cache = tmp_path / "cache.sqlite"
    server = serve(ok("slow", delay=1.5), ok("quick"))

    async def main() -> list[str]:
        options: dict[str, Any] = {"base_url": server.url, "cache": cache, "environment": {}}
        async with open_model("vllm/m", **options) as one, open_model("vllm/m", **options) as other:
            slow = asyncio.create_task(one.complete(question()))
            await asyncio.sleep(0.3)
            quick = asyncio.create_task(other.complete(question()))
            return [(await slow).text, (await quick).text]

    assert asyncio.run(main()) == ["quick", "quick"]


def test_an_answer_that_is_disowned_is_asked_for_anew_and_a_later_one_stays(serve: Serve, tmp_path: Path) -> None:
    cache, server = tmp_path / "cache.sqlite", serve(ok("useless"), ok("good"))

    async def work(model: OpenModel) -> list[str]:
        first = (await model.complete(question())).text
        calls = list(model.ledger.calls)
        await model.discard_replies(calls)
        second = (await model.complete(question())).text
        await model.discard_replies(calls)  # whoever else was given the first
        return [first, second, (await model.complete(question())).text]

    assert run(server, work, cache=cache) == ["useless", "good", "good"]
    assert run(server, lambda model: model.complete(question()), cache=cache).text == "good"
    assert len(server.received) == 2


def test_files_that_are_no_cache(serve: Serve, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("dear diary, " * 500)
    with pytest.raises(ModelError, match=r"notes\.txt cannot be used"):
        run(serve(), lambda m: m.complete(question()), cache=text)
    assert text.read_text().startswith("dear diary")
    later = tmp_path / "later.sqlite"
    with sqlite3.connect(later) as table:
        table.execute("PRAGMA user_version = 99")
    table.close()
    with pytest.raises(ModelError, match="its layout is 99"):
        run(serve(), lambda m: m.complete(question()), cache=later)
    with pytest.raises(ModelError, match="cannot be used"):
        run(serve(), lambda m: m.complete(question()), cache=tmp_path)


def test_a_damaged_answer_is_asked_for_again(serve: Serve, tmp_path: Path) -> None:
    cache = tmp_path / "a.sqlite"
    server = serve(ok("first"), ok("second"), ok("third"))
    run(server, lambda m: m.complete(question()), cache=cache)
    with sqlite3.connect(cache) as table:
        table.execute("UPDATE answers SET reply = ?", (b'{"text": "fi',))
    table.close()
    assert run(server, lambda m: m.complete(question()), cache=cache).text == "second"
    assert run(server, lambda m: m.complete(question()), cache=cache).text == "second", "the new answer is kept"


def test_a_damaged_file_says_what_can_be_saved(serve: Serve, tmp_path: Path) -> None:
    cache = tmp_path / "a.sqlite"
    server = serve()

    async def fill(model: OpenModel) -> None:
        for number in range(300):
            await model.complete(question(f"{number} {'x' * 300}"))

    run(server, fill, cache=cache)
    with sqlite3.connect(cache) as table:
        keys = [key.encode() for (key,) in table.execute("SELECT key FROM answers ORDER BY key")]
        table.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    table.close()
    whole = cache.read_bytes()
    content = bytearray(whole)
    leaf = next(  # a page without children, in the middle of the keys: what is before and after it can be read
        page
        for page in range(4096, len(content), 4096)
        if content[page] == 0x0A and any(key in content[page : page + 4096] for key in keys[140:160])
    )
    content[leaf : leaf + 4096] = b"\xa5" * 4096
    cache.write_bytes(bytes(content))
    with pytest.raises(ModelError, match=r"(?s)cannot be .* saved in .*a\.saved\.sqlite.* asked again") as error:
        run(server, fill, cache=cache)
    kept = 300 - int.from_bytes(whole[leaf + 3 : leaf + 5])
    with sqlite3.connect(tmp_path / "a.saved.sqlite") as table:
        (count,) = table.execute("SELECT count(*) FROM answers").fetchone()
    table.close()
    assert count == kept
    (advice,) = re.findall(r"`(rm .*?)`", str(error.value))
    subprocess.run(["sh", "-ec", advice], check=True)
    run(server, fill, cache=cache)
