"""The scripted model as a real server, and whoever asks it."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

REFIT = Path(__file__).parents[2] / "examples" / "refit"


class Model:
    """A running server, spoken to over HTTP."""

    def __init__(self, address: str) -> None:
        self.address = address

    def send(self, method: str, path: str, body: bytes | None = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(self.address.removeprefix("http://"), timeout=20)
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def complete(self, messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        body = json.dumps({"model": "scripted", "messages": messages, **more}).encode()
        status, answer = self.send("POST", "/v1/chat/completions", body)
        assert status == 200, answer
        return answer

    def reply(self, messages: list[dict[str, Any]], seed: int = 0) -> dict[str, Any]:
        """What the agent's program would make of the answer."""
        return json.loads(self.complete(messages, seed=seed)["choices"][0]["message"]["content"])


@contextmanager
def served() -> Generator[Model]:
    """A server of its own, on a free port."""
    command = [sys.executable, str(REFIT / "scripted_model.py"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd="/") as server:
        assert server.stdout is not None
        try:
            yield Model(server.stdout.readline().strip())
        finally:
            server.terminate()
