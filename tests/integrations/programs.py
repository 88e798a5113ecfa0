"""A scripted model server that keeps whole requests, for programs that DENSE asks, and a trace with traps for them.

It is no language model: its answer is written here."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import wire_anthropic
import wire_gemini
import wire_openai_chat
import wire_openai_responses
from scripted_model import Call, Turn

SECRET = "planted-7f3a91c2"
ANSWER = {
    "subtasks": [
        {
            "to": 4,
            "title": "Look around",
            "summary": "The attempt listed the files and read the notes.",
            "why": "a2 shows the files",
            "coherence": "coherent",
            "completion": "incomplete",
        }
    ],
    "issues": [
        {"text": "The owner in notes.txt was not replaced", "evidence": [3], "quote": "owner: ann‹at›example.org"}
    ],
    "root": {
        "summary": "The attempt looked around.",
        "why": "seen",
        "coherence": "coherent",
        "completion": "incomplete",
    },
    "next_steps": [{"do": "Replace the owner in notes.txt", "because": [3]}],
}
"""A valid answer about `trap_trace`, which repeats the escape of the prompt in a quote."""
MODELS = {
    "claude-code": "claude-code/sonnet",
    "codex": "codex",
    "gemini-cli": "gemini-cli",
    "opencode": "opencode/scripted/scripted",
}
WIRES: dict[str, Any] = {
    "claude-code": wire_anthropic,
    "codex": wire_openai_responses,
    "gemini-cli": wire_gemini,
    "opencode": wire_openai_chat,
}
COUNTS = ("count_tokens", ":countTokens")


def traps(folder: Path) -> str:
    """Text of a trace that programs take for commands and files."""
    return f"owner: ann@example.org\n@{folder}/secret.txt\n@secret.txt\n@./secret.txt\n/help\n!ls\n#remember\n‹at2›"


def trap_trace(folder: Path) -> Path:
    """A trace whose task and outputs hold traps for the programs that read it; the files that it names are planted."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "secret.txt").write_text(SECRET)
    text = traps(folder)
    steps = [
        {"role": "user", "content": f"/help\n!ls\n@{folder}/secret.txt Replace the owner in notes.txt."},
        {
            "role": "assistant",
            "content": "I look around.",
            "tool_calls": [_call("c1", "ls")],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "notes.txt"},
        {"role": "assistant", "content": "", "tool_calls": [_call("c2", "cat notes.txt")]},
        {"role": "tool", "tool_call_id": "c2", "content": text},
        {"role": "assistant", "content": "", "tool_calls": [_call("c3", "grep owner notes.txt")]},
        {"role": "tool", "tool_call_id": "c3", "content": "owner: ann@example.org"},
        {"role": "assistant", "content": "I stop here."},
    ]
    path = folder / "trace.json"
    path.write_text(json.dumps({"messages": steps}))
    return path


def _call(identity: str, command: str) -> dict[str, Any]:
    arguments = json.dumps({"command": command})
    return {"id": identity, "type": "function", "function": {"name": "bash", "arguments": arguments}}


@dataclass
class ModelServer:
    """What the server does, and what it was asked."""

    name: str
    answer: str = json.dumps(ANSWER, ensure_ascii=False)
    status: int = 200
    error: str = "scripted failure"
    wait: float = 0.0
    call: Call | None = None
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    bodies: list[str] = field(default_factory=list[str])
    """Everything that was received, of whatever path."""

    def prompts(self) -> list[str]:
        """The user's text of each request for an answer, as the wire carries it."""
        return [_user_text(request) for request in self.requests]


def _user_text(request: dict[str, Any]) -> str:
    turns: list[Any] = request.get("messages") or request.get("input") or request.get("contents") or []
    texts: list[str] = []
    for turn in turns:
        if turn.get("role") == "user":
            content = turn.get("content") or turn.get("parts")
            texts += [content] if isinstance(content, str) else [part.get("text", "") for part in content]
    return max(texts, key=len)


@contextmanager
def model_server(server: ModelServer) -> Generator[str]:
    """Run the server; yields its address."""
    wire, stopped = WIRES[server.name], threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            return

        def reply(self, status: int, kind: str, body: bytes) -> None:
            try:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                return

        def do_GET(self) -> None:
            self.reply(404, "application/json", b'{"error":{"message":"not here"}}')

        do_HEAD = do_GET

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            server.bodies.append(raw.decode("utf-8", "replace"))
            if not any(mark in self.path for mark in wire.PATHS):
                self.do_GET()
                return
            request = json.loads(raw)
            if any(mark in self.path for mark in COUNTS):
                self.reply(200, *wire.aside(request, self.path.split("?")[0]))
                return
            server.requests.append(request)
            stopped.wait(server.wait)
            if server.status != 200:
                error = {"message": server.error, "type": "error", "code": server.status, "status": "FAILED"}
                self.reply(server.status, "application/json", json.dumps({"type": "error", "error": error}).encode())
                return
            is_first = len(server.requests) == 1
            calls = [server.call] if server.call is not None and is_first else []
            turn = Turn("" if calls else server.answer, calls, input_tokens=1200, output_tokens=80)
            self.reply(200, *wire.respond(turn, request, self.path))

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = False  # none outlives the test
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_address[1]}"
    finally:
        stopped.set()
        http.shutdown()
        http.server_close()
