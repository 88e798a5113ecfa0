"""A program as a chat model: one process for each request, and no retries of ours, because programs have their own."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from dense.errors import CallFailed, KeyRefused, ModelError, UnknownModel, Unreachable
from dense.model.chat import CallTry, ChatReply, ChatRequest
from dense.model.programs.process import TooLong, TooSlow, run_process
from dense.model.programs.program import GUARD, ModelProgram, Start, Workplace
from dense.model.programs.prompt import answer_without_escape, program_prompt
from dense.model.providers import ModelSpec
from dense.model.wires.wire import WireFailure, WireReply, strip_wrapping

SECONDS_VARIABLE = "DENSE_PROGRAM_SECONDS"
"""The environment variable that sets how long a program may take for an answer."""
DEFAULT_SECONDS = 600.0
SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD")
"""In the names of variables whose values no error may repeat."""
MAX_OUTPUT_BYTES = 16_000_000
MAX_FAILURES = 4
"""So many calls in a row without an answer end the run: each of them may take the whole time."""


class ProgramModel:
    """A model behind a program. Raises what `ChatModel` says."""

    def __init__(
        self, spec: ModelSpec, program: ModelProgram, environment: Mapping[str, str], seconds: float | None = None
    ) -> None:
        self.spec, self._program, self._environment = spec, program, environment
        self._seconds = seconds or _seconds(environment)
        self._end: ModelError | None = None
        self._failures = 0

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answers, or raises: an answer that is not there is no answer, whatever the exit code."""
        if self._end is not None:
            raise type(self._end)(*self._end.args)
        started, at = time.monotonic(), datetime.now(UTC).isoformat(timespec="milliseconds")
        prompt = program_prompt(request)
        outcome = await self._outcome(prompt)
        seconds = round(time.monotonic() - started, 4)
        if isinstance(outcome, WireFailure):
            raise self._error(outcome, seconds)
        self._failures = 0
        text = strip_wrapping(answer_without_escape(prompt, outcome.text), wants_json=request.schema is not None)
        return ChatReply(
            text=text,
            usage=outcome.usage,
            finish=outcome.finish,
            model=outcome.model or self.spec.name or self.spec.provider.name,
            seconds=seconds,
            tries=(CallTry(seconds, usage=outcome.usage, may_be_billed=True),),
            at=at,
        )

    async def _outcome(self, prompt: str) -> WireReply | WireFailure:
        """What became of one process. Its folder goes with it."""
        workplace = Workplace(Path(tempfile.mkdtemp(prefix="dense-analyst-")))
        try:
            workplace.prepare()
            start = self._program.start(self.spec.name, workplace, self._environment)
            ending = await run_process(
                start,
                workplace,
                self._variables(start, workplace),
                prompt.encode(),
                self._seconds,
                MAX_OUTPUT_BYTES,
            )
            return self._program.read(ending)
        except TooSlow:
            return WireFailure(text=f"no answer within {self._seconds:g} s", then="again", may_be_billed=True)
        except TooLong:
            text = f"it printed more than {MAX_OUTPUT_BYTES:,} bytes: no answer is as long"
            return WireFailure(text=text, then="dead", may_be_billed=True)
        except OSError as error:
            return WireFailure(text=f"it cannot be started ({error.strerror or error})", then="model")
        finally:
            await asyncio.to_thread(shutil.rmtree, workplace.folder, ignore_errors=True)

    def _variables(self, start: Start, workplace: Workplace) -> dict[str, str]:
        kept = {name: value for name, value in self._environment.items() if name not in start.without}
        return {**kept, **start.environment, "TMPDIR": str(workplace.temporary), GUARD: "1"}

    def _error(self, failure: WireFailure, seconds: float) -> ModelError:
        """What a failure means: for this call, or now and for every later one."""
        text = f"{self.spec}: {self._scrubbed(failure.text)}"
        self._failures += 1
        if failure.then == "key":
            self._end = KeyRefused(f"{text}; {self._program.login}")
        elif failure.then == "model":
            self._end = UnknownModel(text)
        elif self._failures >= MAX_FAILURES:
            self._end = Unreachable(f"{text}; {self._failures} calls in a row had no answer")
        if self._end is not None:
            return type(self._end)(*self._end.args)
        call = CallTry(seconds, failure.status, text, failure.usage, failure.may_be_billed)
        return CallFailed(text, (call,), is_too_long=failure.then == "too long")

    def _scrubbed(self, text: str) -> str:
        """A program's words without the credentials that it was given."""
        for name, value in self._environment.items():
            if len(value) >= 8 and SECRET.search(name):
                text = text.replace(value, "[key]")
        return re.sub(r"\S*\*{3,}\S*", "[key]", text)


def _seconds(environment: Mapping[str, str]) -> float:
    try:
        seconds = float(environment.get(SECONDS_VARIABLE) or DEFAULT_SECONDS)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 86_400:
        raise UnknownModel(f"{SECONDS_VARIABLE} is no number of seconds: {environment.get(SECONDS_VARIABLE)!r}")
    return seconds
