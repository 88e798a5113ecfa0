"""`dense setup`, `dense hook`, `dense config`: what runs by itself, and with which settings."""

from __future__ import annotations

from typing import Annotated

import typer

from dense.cli.text import printable
from dense.errors import DenseError


def setup(
    agent: Annotated[
        str,
        typer.Argument(
            help="claude-code, codex, gemini-cli or opencode; scout prints the path of the scanner.", show_default=False
        ),
    ],
    remove: Annotated[bool, typer.Option("--undo", help="Remove what was installed.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Install hooks that distill each session at its end and give the next one its feedback.

    Shows what it will write and asks first. Your own settings files are not edited."""
    from dense.integrations.setup import PLUGINS, install, plan_setup, undo

    if agent == "scout":  # nothing to install: Scout loads a scanner by its path
        print(PLUGINS.parent / "scout.py")
        return
    plan = plan_setup(agent)
    if remove:
        for line in undo(agent):
            print(printable(line))
        return
    print(f"For {agent}, dense will:")
    for line in plan.lines():
        print(f"  {printable(line)}")
    if not yes and not typer.confirm("Go on?"):
        raise DenseError("nothing was written")
    install(plan)
    print(f"Done. `dense hook status` says what the hooks did; `dense setup {agent} --undo` removes them.")


def hook(
    command: Annotated[
        str, typer.Argument(help="session-start, session-end, work, status, on or off.", show_default=False)
    ],
) -> None:
    """What agents call at the start and the end of a session; `status`, `on` and `off` are for people."""
    from dense.integrations.hooks import main

    raise typer.Exit(main([command]))


def config() -> None:
    """Show the settings that are in force here, and where each comes from."""
    from dense.integrations.settings import load_settings

    settings = load_settings()
    origins = dict(settings.origins)
    rows = {
        "model": settings.model or "(the built-in rules)",
        "base_url": settings.base_url or "(the provider's)",
        "budget": settings.budget or "(a quarter of the trace, 3 to 24 KB)",
        "redact": settings.redact,
        "hooks.max_usd_per_day": f"{settings.hook_max_usd_per_day:g}",
    }
    for name, value in rows.items():
        print(f"{name:22} {printable(value):40} {printable(origins.get(name, 'default'))}")


def distill_defaults() -> dict[str, str | bool]:
    """What the settings files say for options of `dense distill` that are not given."""
    from dense.integrations.settings import load_settings

    settings = load_settings()
    given = {"model": settings.model, "base_url": settings.base_url, "budget": settings.budget}
    redaction: dict[str, dict[str, str | bool]] = {"false": {"no_redact": True}, "kingfisher": {"redact": "kingfisher"}}
    off = redaction.get(settings.redact, {})
    return {name: value for name, value in given.items() if value is not None} | off


def mcp() -> None:
    """Serve feedback to agents by the Model Context Protocol, on standard input and output."""
    from dense.integrations.mcp_server import make_server

    make_server().run("stdio")
