"""Asks a provider over HTTP: one session for the whole run, patient with what passes, quick to stop where nothing will.

Retries are ours, because a retry that nobody sees may be billed: every try is in the reply's, or the error's,
`tries`."""

from __future__ import annotations

import asyncio
import logging
import random
import re
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import msgspec
from msgspec import Struct

from dense.errors import CallFailed, KeyRefused, ModelError, UnknownModel, Unreachable
from dense.model.chat import CallTry, ChatReply, ChatRequest
from dense.model.providers import Key, ModelSpec
from dense.model.wires import anthropic, openai
from dense.model.wires.failures import failure_of, narrowed
from dense.model.wires.wire import RequestForm, Wire, WireFailure, WireReply
from dense.trajectory import Usage

if TYPE_CHECKING:
    import aiohttp

WIRES: dict[str, Wire] = {"anthropic": anthropic, "openai": openai}

log = logging.getLogger("dense.model")


class RetryPolicy(Struct, frozen=True):
    """How long a call is worth waiting for."""

    tries: int = 8
    """How often it is tried at most."""
    timeout: float = 600
    """Seconds for one try. Models that think take minutes."""
    connect: float = 15
    """Seconds until a connection is made."""
    first_byte: float = 300
    """Seconds until a response begins: most servers send nothing while the model thinks."""
    stall: float = 60
    """Seconds between two pieces of a response that has begun."""
    max_bytes: int = 16_000_000
    """Bytes of a response. A longer one ends the call: a server may send without end."""
    notice: float = 60
    """Seconds of failures alone after which the log says so, and how long it is still tried; again after as many."""
    hopeless: float = 300
    """Seconds of failures alone, in all calls of the run, after which a call gives up."""
    first_wait: float = 1
    """Seconds before the second try; doubled each time, of which between half and all is waited."""
    longest_wait: float = 60
    """Where doubling ends. A server that asks for more gets it, within `total`."""
    total: float = 900
    """Seconds for all tries and waits of a call: none begins later."""
    unreachable_tries: int = 4
    """How often a server is tried that has not answered once: it is probably not there."""


class _TooLarge(Exception):
    """A response that is longer than any answer."""

    def __init__(self, most: int, status: int) -> None:
        super().__init__(f"the response is larger than {most:,} bytes; no answer is: is this the right server?")
        self.status = status


class HttpModel:
    """A model behind a provider's HTTP interface. An async context manager: the session lives as long as it."""

    def __init__(self, spec: ModelSpec, key: Key | None, retry: RetryPolicy | None = None) -> None:
        self.spec = spec
        self.wire = WIRES[spec.provider.wire]
        self._key = key
        self._retry = retry or _default_policy(spec.base_url)
        self._session: aiohttp.ClientSession | None = None
        self._proxy = _proxy_of(spec.base_url)
        self._takes_temperature = spec.provider.takes_temperature
        self._was_reached = False
        self._end: ModelError | None = None
        self._under_way = 0
        self._failing_since: float | None = None
        self._noticed = 0.0

    async def __aenter__(self) -> Self:
        import aiohttp

        retry = self._retry
        self._session = aiohttp.ClientSession(
            # How many calls run at once is decided outside, for the run as a whole.
            connector=aiohttp.TCPConnector(limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=retry.timeout, sock_connect=min(retry.connect, retry.timeout)),
            headers={"User-Agent": "dense", "Content-Type": "application/json", **self.wire.headers(self._key)},
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answers after as many tries as it takes, or raises what `ChatModel` says."""
        if self._end is not None:
            raise type(self._end)(*self._end.args)
        if not self._under_way:
            self._failing_since = None
        self._under_way += 1
        try:
            return await self._complete(request)
        finally:
            self._under_way -= 1

    async def _complete(self, request: ChatRequest) -> ChatReply:
        started, at = time.monotonic(), datetime.now(UTC).isoformat(timespec="milliseconds")
        form = self._form(request)
        tries: list[CallTry] = []
        waits = 0
        was_blank = False
        while True:
            outcome = await self._try(request, form, tries)
            if isinstance(outcome, WireReply):
                if not outcome.text.strip() and outcome.finish == "stop" and not was_blank:
                    # DeepSeek for one says that it may answer nothing at times.
                    was_blank = True
                    tries[-1] = msgspec.structs.replace(tries[-1], error="the answer is blank")
                    continue
                return self._reply(outcome, tries, at, started)
            if (narrower := narrowed(form, outcome)) is not None:
                form = self._give_in(form, narrower, outcome)
                continue
            waits += 1
            wait = self._wait(outcome, tries, waits, time.monotonic() - started)
            log.info("%s %s: %s; next try in %.1f s", self.spec, request.label, outcome.text, wait)
            self._say_that_nothing_succeeds(outcome, started)
            await asyncio.sleep(wait)

    def _say_that_nothing_succeeds(self, failure: WireFailure, started: float) -> None:
        """Once in a while, if no call of the run succeeds: whoever waits shall know why, and for how long."""
        now, since, retry = time.monotonic(), self._failing_since, self._retry
        if since is not None and now - max(since, self._noticed) >= retry.notice:
            self._noticed = now
            left = max(0.0, min(started + retry.total, since + retry.hopeless) - now)
            text = "%s: every call has failed for %.0f s; giving up in %.0f s at the latest (the last: %s)"
            log.warning(text, self.spec, now - since, left, failure.text)

    def _form(self, request: ChatRequest) -> RequestForm:
        json_mode = None if request.schema is None else self.spec.provider.json_mode
        return RequestForm(json_mode, request.temperature if self._takes_temperature else None)

    def _give_in(self, form: RequestForm, narrower: RequestForm, failure: WireFailure) -> RequestForm:
        """Takes back what the server does not want, and says so: a silent downgrade would be a lie."""
        if form.temperature != narrower.temperature:
            self._takes_temperature = False
            log.warning("%s takes no temperature: it is left out from now on (%s)", self.spec, failure.text)
        else:
            log.warning("%s does not take this schema: the prompt describes it instead (%s)", self.spec, failure.text)
        return narrower

    async def _try(self, request: ChatRequest, form: RequestForm, tries: list[CallTry]) -> WireReply | WireFailure:
        """One try, and its record."""
        started = time.monotonic()
        outcome = await self._ask(msgspec.json.encode(self.wire.body(request, self.spec, form)), form)
        seconds = round(time.monotonic() - started, 4)
        if isinstance(outcome, WireReply):
            self._was_reached = True
            self._failing_since = None
            tries.append(CallTry(seconds, outcome.status, None, outcome.usage, outcome.status == 200))
            return outcome
        self._was_reached = self._was_reached or not outcome.is_unreachable
        self._failing_since = started if self._failing_since is None else self._failing_since
        outcome = msgspec.structs.replace(outcome, text=self._scrubbed(outcome.text))
        tries.append(CallTry(seconds, outcome.status, outcome.text, outcome.usage, outcome.may_be_billed))
        return outcome

    async def _ask(self, content: bytes, form: RequestForm) -> WireReply | WireFailure:
        """One exchange. What can go wrong on the way comes back as a value."""
        import aiohttp

        if self._session is None:
            raise RuntimeError("Http is a context manager: use `async with`")
        url, retry, began = self.wire.endpoint(self.spec.base_url), self._retry, time.monotonic()
        try:
            # A redirect would carry the key to wherever it points.
            async with asyncio.timeout(retry.first_byte) as limit:
                async with self._session.post(url, data=content, proxy=self._proxy, allow_redirects=False) as response:
                    payload = await self._read(response, limit)
                    status, headers = response.status, response.headers
        except _TooLarge as error:
            return WireFailure(text=str(error), then="dead", status=error.status, may_be_billed=True)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            reason = str(getattr(error, "os_error", "")) or str(error)
            text = f"no connection to {self.spec.address} ({reason})"
            return WireFailure(text=text, then="again", is_unreachable=True)
        except TimeoutError:
            return WireFailure(text=self._slowness(time.monotonic() - began), then="again", may_be_billed=True)
        except (aiohttp.ClientError, OSError) as error:
            text = f"the connection broke ({type(error).__name__}: {error})"
            return WireFailure(text=text, then="again", may_be_billed=True)
        if status != 200:
            return failure_of(status, payload, headers)
        try:
            return self.wire.answer(payload, self.spec, form)
        except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
            text = f"the response is not what was promised ({error}): {payload[:80].decode('utf-8', 'replace')!r}"
            return WireFailure(text=text, then="again", status=200, may_be_billed=True)

    async def _read(self, response: aiohttp.ClientResponse, limit: asyncio.Timeout) -> bytes:
        """The body, as far as it is within its bounds of size and time."""
        loop, pieces, size = asyncio.get_running_loop(), list[bytes](), 0
        limit.reschedule(loop.time() + self._retry.stall)
        async for piece in response.content.iter_any():
            pieces.append(piece)
            size += len(piece)
            if size > self._retry.max_bytes:
                response.close()
                raise _TooLarge(self._retry.max_bytes, response.status)
            limit.reschedule(loop.time() + self._retry.stall)
        return b"".join(pieces)

    def _slowness(self, seconds: float) -> str:
        retry = self._retry
        if seconds >= retry.timeout - 0.01:
            return f"no answer within {retry.timeout:g} s"
        return f"no answer: nothing came for {min(retry.first_byte, seconds):.3g} s"

    def _wait(self, failure: WireFailure, tries: list[CallTry], waits: int, elapsed: float) -> float:
        """Seconds to wait before the next try. Raises where there shall be none."""
        retry = self._retry
        self._stop_if_hopeless(failure, waits)
        count = f"{len(tries)} tries" if len(tries) > 1 else "1 try"
        if failure.then != "again":
            is_too_long = failure.then == "too long"
            raise CallFailed(f"{self.spec}: {failure.text}", tuple(tries), is_too_long=is_too_long)
        if waits >= retry.tries:
            raise CallFailed(f"{self.spec}: given up after {count}; the last: {failure.text}", tuple(tries))
        backoff = min(retry.longest_wait, retry.first_wait * 2 ** (waits - 1))
        wait = backoff * random.uniform(0.5, 1)
        if failure.retry_after is not None:
            wait = failure.retry_after + wait / 4
        failing = time.monotonic() - (self._failing_since or time.monotonic())
        if failing > retry.hopeless:
            text = f"{self.spec}: given up after {count}: every call has failed for {failing:.0f} s; {failure.text}"
            raise CallFailed(text, tuple(tries))
        if elapsed + wait > retry.total:
            text = f"{self.spec}: given up after {count}: the next could only begin in {wait:.0f} s; {failure.text}"
            raise CallFailed(text, tuple(tries))
        return wait

    def _stop_if_hopeless(self, failure: WireFailure, waits: int) -> None:
        """Raises, now and for every later call, what no other call could escape either."""
        if failure.then == "key":
            self._end = KeyRefused(f"{self.spec}: the key was refused; {self._key_advice()} ({failure.text})")
        elif failure.then == "model":
            text = f"{self.spec}: not found at {self.spec.address}; check the name and the base URL ({failure.text})"
            self._end = UnknownModel(text)
        elif failure.is_unreachable and not self._was_reached and waits >= self._retry.unreachable_tries:
            text = f"{self.spec}: {failure.text}; is the server running, and is the base URL right?"
            self._end = Unreachable(text)
        if self._end is not None:
            raise type(self._end)(*self._end.args)

    def _key_advice(self) -> str:
        if self._key is not None:
            return f"check {self._key.name} in the environment"
        return f"set {self.spec.provider.key_names[0]} in the environment"

    def _scrubbed(self, text: str) -> str:
        """A server's text without the key, which some repeat, whole or with stars in it."""
        if self._key is not None:
            text = text.replace(self._key.reveal(), "[key]")
        return re.sub(r"\S*\*{3,}\S*", "[key]", text)

    def _reply(self, answer: WireReply, tries: list[CallTry], at: str, started: float) -> ChatReply:
        usage = sum((call_try.usage for call_try in tries if call_try.usage is not None), Usage())
        seconds = round(time.monotonic() - started, 4)
        model = answer.model or self.spec.name
        return ChatReply(
            text=answer.text,
            usage=usage,
            finish=answer.finish,
            model=model,
            seconds=seconds,
            tries=tuple(tries),
            at=at,
        )


def _default_policy(url: str) -> RetryPolicy:
    """How long calls to an address are worth waiting for. A model on this machine may be slow, and its server sends
    nothing until it is done: it may take as long as a whole try."""
    return RetryPolicy(first_byte=RetryPolicy().timeout) if _is_this_machine(urlsplit(url).hostname) else RetryPolicy()


def _is_this_machine(host: str | None) -> bool:
    return host is not None and (host in ("localhost", "::1") or host.startswith("127."))


def _proxy_of(url: str) -> str | None:
    """The proxy that the environment names for an address. (`trust_env` would also send what `.netrc` holds.)"""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if _is_this_machine(host) or proxy_bypass(host):
        return None
    return getproxies().get(parts.scheme)
