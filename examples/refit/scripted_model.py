"""Serves the scripted model over HTTP, as OpenAI's chat completions are: POST /v1/chat/completions on 127.0.0.1.

    python scripted_model.py --port 8123

It is a script and no language model: results that are measured with it show that an experiment works, and say nothing
about language models. It needs Python 3.11 or later and nothing else, keeps nothing between requests, and gives the
same answer to the same messages and seed. GET /health says that it runs, GET /v1/models what it is."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from scripted.conversation import BadConversation, reply_to

NAME = "scripted"
NOTE = "a script, not a language model: results with it say nothing about language models"
LONGEST = 64 * 1024 * 1024
"""Bytes of a request."""


class BadRequest(ValueError):
    """What is wrong with a request."""


def completion(body: Any) -> dict[str, Any]:
    """The answer to one request."""
    messages, seed = _messages(body), _seed(body)
    try:
        text = reply_to(messages, seed)
    except BadConversation as error:
        raise BadRequest(str(error)) from None
    return {
        "id": f"chatcmpl-{len(messages)}",
        "object": "chat.completion",
        "created": 0,
        "model": NAME,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": usage(messages, text),
    }


def usage(messages: list[tuple[str, str]], text: str) -> dict[str, Any]:
    """Four bytes are a token. What the request before this one held is counted as read from a cache."""
    last = max((number for number, (role, _) in enumerate(messages) if role == "assistant"), default=0)
    sent, before = _tokens(messages), _tokens(messages[:last])
    answered = len(text.encode()) // 4
    return {
        "prompt_tokens": sent,
        "completion_tokens": answered,
        "total_tokens": sent + answered,
        "prompt_tokens_details": {"cached_tokens": before},
    }


def _tokens(messages: list[tuple[str, str]]) -> int:
    return sum(len(text.encode()) for _, text in messages) // 4


def _messages(body: Any) -> list[tuple[str, str]]:
    if not isinstance(body, Mapping) or not isinstance(cast("Mapping[str, Any]", body).get("messages"), list):
        raise BadRequest("`messages` must be a list")
    if cast("Mapping[str, Any]", body).get("stream"):
        raise BadRequest("`stream` is not supported")
    return [_message(message) for message in cast("list[Any]", body["messages"])]


def _message(message: Any) -> tuple[str, str]:
    match message:
        case {"role": str(role), "content": str(text)}:
            return role, text
        case {"role": str(role), "content": [*parts]}:
            return role, "".join(map(_part, parts))
        case {"role": str(role), "content": None}:
            return role, ""
        case _:
            raise BadRequest("each message needs a `role` and a `content`")


def _part(part: Any) -> str:
    match part:
        case {"type": "text", "text": str(text)}:
            return text
        case _:
            raise BadRequest("only text is read")


def _seed(body: Mapping[str, Any]) -> int:
    try:
        return int(body.get("seed") or 0)
    except (TypeError, ValueError):
        raise BadRequest("`seed` must be a whole number") from None


class Door(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """What it is, and that it is there."""
        if self.path == "/health":
            self._send(200, {"status": "ok", "model": NAME, "note": NOTE})
        elif self.path.rstrip("/") == "/v1/models":
            model = {"id": NAME, "object": "model", "created": 0, "owned_by": "nobody", "description": NOTE}
            self._send(200, {"object": "list", "data": [model]})
        else:
            self._refuse(404, f"no such page: {self.path}")

    def do_POST(self) -> None:
        """A completion."""
        raw = self._body()
        if raw is None:
            return
        if self.path.rstrip("/") != "/v1/chat/completions":
            self._refuse(404, f"no such page: {self.path}")
            return
        try:
            answer = completion(json.loads(raw))
        except (BadRequest, ValueError) as error:
            self._refuse(400, str(error))
            return
        self._send(200, answer)

    def _body(self) -> bytes | None:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > LONGEST:
            self.close_connection = True
            self._refuse(400, "a request needs a Content-Length, and not a huge one")
            return None
        return self.rfile.read(int(length))

    def _refuse(self, status: int, why: str) -> None:
        self._send(status, {"error": {"message": why, "type": "invalid_request_error", "code": None}})

    def _send(self, status: int, answer: dict[str, Any]) -> None:
        raw = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what was asked and answered stands in the traces."""


class Server(ThreadingHTTPServer):
    """Threads that do not keep the program from ending."""

    daemon_threads = True
    request_queue_size = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=f"Serves {NAME}: {NOTE}.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    server = Server(("127.0.0.1", parser.parse_args().port), Door)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
