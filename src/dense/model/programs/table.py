"""The programs that can be asked: a row for each."""

from __future__ import annotations

from dense.model.programs import claude_code, codex, command, gemini_cli, opencode
from dense.model.programs.program import ModelProgram
from dense.model.providers import Provider

COMMAND = "exec"
"""The name of whatever command the user gives."""


def _provider(name: str, prices: str | None, context_window: int) -> Provider:
    return Provider(
        name=name,
        base_url="",
        key_names=(),
        wire="program",
        needs_key=False,
        json_mode="none",
        takes_temperature=False,
        prices=prices,
        context_window=context_window,
    )


PROGRAMS: dict[str, ModelProgram] = {
    program.provider.name: program
    for program in [
        ModelProgram(
            provider=_provider("claude-code", "anthropic", 200_000),
            executable="claude",
            start=claude_code.start,
            read=claude_code.read,
            login="start `claude` and log in, or set ANTHROPIC_API_KEY",
            usual_model="claude-opus-5-5",
            overhead_tokens=450,
        ),
        ModelProgram(
            provider=_provider("codex", "openai", 272_000),
            executable="codex",
            start=codex.start,
            read=codex.read,
            login="run `codex login`",
            usual_model="gpt-6.1-sol",
            overhead_tokens=2_900,
        ),
        ModelProgram(
            provider=_provider("gemini-cli", "google", 1_000_000),
            executable="gemini",
            start=gemini_cli.start,
            read=gemini_cli.read,
            login="start `gemini` and log in, or set GEMINI_API_KEY",
            usual_model="gemini-3.1-pro-preview",
            overhead_tokens=160,
        ),
        ModelProgram(
            provider=_provider("opencode", None, 128_000),
            executable="opencode",
            start=opencode.start,
            read=opencode.read,
            login="run `opencode auth login`",
            overhead_tokens=140,
        ),
        ModelProgram(
            provider=_provider(COMMAND, None, 128_000),
            executable="",
            start=command.start,
            read=command.read,
            login="log in where the command does",
        ),
    ]
}
"""By name."""
