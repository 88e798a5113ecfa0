"""`dense setup`, `dense hook`, `dense config`: what runs by itself, and with which settings."""

from __future__ import annotations

from typing import Annotated

import typer

from dense.cli.text import printable
from dense.errors import DenseError
from dense.options import OPTIONS, describe_value


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
    from dense.integrations.settings import HOOK_KEY, load_settings, user_file

    settings = load_settings()
    origins = dict(settings.origins)
    print(f"your own settings: {printable(str(user_file()))}")
    rows = {name: describe_value(settings.options, name) for name in OPTIONS}
    for name, value in {**rows, HOOK_KEY: f"{settings.hook_max_usd_per_day:g}"}.items():
        print(f"{name:22} {printable(value):62} {printable(origins.get(name, 'default'))}")


def mcp() -> None:
    """Serve feedback to agents by the Model Context Protocol, on standard input and output."""
    from dense.integrations.mcp_server import make_server

    make_server().run("stdio")
