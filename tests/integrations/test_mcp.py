"""The MCP server, asked by the SDK's own client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def ask(environment: dict[str, str], *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    pytest.importorskip("mcp")
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def whole() -> list[Any]:
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "dense", "mcp"], env={**os.environ, **environment}
        )
        async with stdio_client(parameters) as (reader, writer), ClientSession(reader, writer) as session:
            await session.initialize()
            names = sorted(tool.name for tool in (await session.list_tools()).tools)
            return [names, *[await session.call_tool(name, arguments) for name, arguments in calls]]

    return asyncio.run(whole())


def test_tools_answer(tmp_path: Path) -> None:
    home = tmp_path / "home"
    project = tmp_path / "project"
    project.mkdir()
    store = home / ".claude" / "projects" / "".join(c if c.isalnum() else "-" for c in str(project))
    store.mkdir(parents=True)
    (source,) = (EXAMPLES / "looks-successful").rglob("*.jsonl")
    lines = [json.loads(line) for line in source.read_text().splitlines()]
    (store / source.name).write_text("".join(json.dumps({**line, "cwd": str(project)}) + "\n" for line in lines))
    environment = {"HOME": str(home), "DENSE_STATE_DIR": str(tmp_path / "state")}
    names, distilled, last, issues, wrong = ask(
        environment,
        ("distill", {"path": str(EXAMPLES / "password-recovery")}),
        ("last_feedback", {"folder": str(project)}),
        ("open_issues", {"folder": str(project)}),
        ("last_feedback", {"folder": str(tmp_path)}),
    )
    assert names == ["distill", "last_feedback", "open_issues"]
    assert "8XDR7K2MQ9T4HBV6NC3LW54" in distilled.content[0].text
    assert "state: " in last.content[0].text
    assert not issues.is_error
    assert wrong.is_error
    assert "no session of a coding agent is stored" in wrong.content[0].text
