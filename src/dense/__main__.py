"""The command `dense`, also as `python -m dense`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run a hook at once, because an agent waits for it; anything else by the command line."""
    if sys.argv[1:2] == ["hook"] and "--help" not in sys.argv:
        from dense.integrations.hooks import main as hook

        sys.exit(hook(sys.argv[2:]))
    from dense.cli.app import main as command

    command()


if __name__ == "__main__":
    main()
