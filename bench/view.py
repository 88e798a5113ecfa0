"""How fast the page of `dense view` opens in headless Chromium: until its first view is complete, for 5,000 steps.

    python bench/view.py [--steps 5000] [--pictures DIR]

The reference is a page with the same text in one `pre` element, opened in the same browser in the same run. Times are
the browser's own, from the start of the navigation; the best of five openings counts."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from html import escape
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "refit" / "report" / "page"))

import chromium

from dense import distill_sync
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory
from dense.view import LoadedRun, write_view

LIMIT_SECONDS = 1.5
READY = "document.documentElement.dataset.ready === 'yes'"
FILES = ("src/parser.py", "src/reader.py", "tests/test_parser.py", "README.md", "src/cli.py")


def made(count: int) -> Trajectory:
    """A long attempt with reads, edits, failing and passing tests, about 3 KB a step."""
    steps: list[Step] = []
    for number in range(1, count + 1):
        name = FILES[number // 40 % len(FILES)]
        commands = (
            f"cat {name}",
            f"sed -i 's/a{number}/b{number}/' {name}",
            "python -m pytest -q",
            f"grep -n x {name}",
        )
        command = commands[number % 4]
        failed = number % 4 == 2 and number % 3 == 0
        body = "\n".join(f"{line:4} value_{number * line % 977} = parse(row[{line}])" for line in range(70))
        output = f"{body}\n1 failed, 3 passed in 0.1s" if failed else f"{body}\n4 passed in 0.1s"
        call = ToolCall("bash", {"command": command}, f"c{number}")
        seen = Observation(output, f"c{number}", exit_code=int(failed))
        steps.append(Step(Source("made", index=number), f"Step {number}: {command}", "", (call,), (seen,)))
    return Trajectory(
        "messages", "made", Source("made"), task=Task("Make the parser pass its tests."), steps=tuple(steps)
    )


async def opened(port: int, page: Path, picture: Path | None = None) -> tuple[float, float]:
    """Seconds until the first view is complete, and until the browser calls the page loaded."""
    async with chromium.tab(port) as tab:
        await tab.open(page.as_uri())
        while not await tab.js(f"{READY} || !document.getElementById('data')"):
            await asyncio.sleep(0.01)
        await tab.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        paint = await tab.js("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        load = await tab.js("performance.getEntriesByType('navigation')[0].loadEventEnd")
        if picture is not None:
            await tab.picture(picture)
        return max(paint, load) / 1000, load / 1000


def best(port: int, page: Path, picture: Path | None = None) -> float:
    return min(asyncio.run(opened(port, page, picture))[0] for _ in range(5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=5_000)
    parser.add_argument("--pictures", type=Path, help="leave a screenshot here")
    options = parser.parse_args()
    if chromium.installed() is None:
        sys.exit(f"no browser: install one of {', '.join(chromium.NAMES)}")
    trajectory = made(options.steps)
    done = distill_sync(trajectory)
    run = LoadedRun(trajectory, done.record, done.feedback.report, done.feedback.message, done.reconciled)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        page = write_view([run], folder / "view.html")
        text = "\n".join(step.observations[0].text for step in trajectory.steps)
        plain = folder / "plain.html"
        plain.write_text(f"<!doctype html><meta charset=utf-8><pre>{escape(text)}</pre>")
        with chromium.browser(folder / "profile") as port:
            picture = options.pictures / "view.png" if options.pictures else None
            ours, reference = best(port, page, picture), best(port, plain)
        sizes = f"{len(text) / 1e6:.1f} MB of text, page {page.stat().st_size / 1e6:.1f} MB"
    print(
        f"{options.steps:,} steps, {sizes}: first view {ours:.2f} s (limit {LIMIT_SECONDS} s), {ours / reference:.2f}"
    )
    print(f"times a plain page of the same text ({reference:.2f} s)")
    if ours > LIMIT_SECONDS:
        sys.exit("over the limit")


if __name__ == "__main__":
    main()
