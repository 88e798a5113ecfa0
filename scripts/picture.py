"""Makes the README's picture of a page: the example `looks-successful` in headless Chromium.

python scripts/picture.py [--dark] [--out docs/pictures/view.png]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "refit" / "report" / "page"))

import chromium

from dense.view import load_runs, write_view

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "looks-successful" / "rollout.jsonl"
READY = "document.documentElement.dataset.ready === 'yes'"


async def photograph(port: int, page: Path, out: Path, width: int, height: int, scheme: str) -> None:
    """Open a page in the browser and keep what its first screen shows."""
    async with chromium.tab(port) as tab:
        await tab.look(width=width, height=height, scheme=scheme)
        await tab.open(page.as_uri())
        while not await tab.js(READY):
            await asyncio.sleep(0.01)
        await tab.picture(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--width", type=int, default=1200)
    parser.add_argument("--height", type=int, default=1120)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures" / "view.png")
    options = parser.parse_args()
    if chromium.installed() is None:
        sys.exit(f"no browser: install one of {', '.join(chromium.NAMES)}")
    with tempfile.TemporaryDirectory() as folder:
        page = write_view(load_runs(EXAMPLE), Path(folder) / "page.html")
        with chromium.browser(Path(folder) / "profile") as port:
            scheme = "dark" if options.dark else "light"
            asyncio.run(photograph(port, page, options.out, options.width, options.height, scheme))


if __name__ == "__main__":
    main()
