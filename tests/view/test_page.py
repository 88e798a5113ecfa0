"""The page in a real browser, from a file: what a person sees, clicks, types; nothing in a trace acts."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import chromium
import pytest

import dense
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory
from dense.view import LoadedRun, load_runs, page_html, write_view

EXAMPLES = Path(__file__).parents[2] / "examples"
HOSTILE = (
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "\u202eevil\u202c \x1b]0;owned\x07 {{ 7*7 }} \x00",
    "javascript:alert(1) <a href='javascript:alert(1)'>a1</a>",
)


def visit[T](port: int, page: Path, look: Callable[[chromium.Tab], Awaitable[T]], place: str = "") -> T:
    """Open the page and do something there. It may log nothing and ask for nothing but itself."""

    async def whole() -> T:
        async with chromium.tab(port) as tab:
            await tab.open(page.as_uri() + place)
            result = await look(tab)
            assert tab.logged() == []
            assert {address.partition("#")[0] for address in tab.asked()} == {page.as_uri()}
            return result

    return asyncio.run(whole())


async def settled(tab: chromium.Tab, expression: str) -> Any:
    """The value of an expression as soon as it is true."""
    for _ in range(200):
        if value := await tab.js(expression):
            return value
        await asyncio.sleep(0.02)
    raise AssertionError(f"never true: {expression}")


@pytest.fixture(scope="module")
def recovery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = load_runs(EXAMPLES / "password-recovery")
    return write_view(runs, tmp_path_factory.mktemp("view") / "recovery.html")


def test_what_is_open_is_seen_first(port: int, recovery: Path) -> None:
    async def look(tab: chromium.Tab) -> str:
        return await tab.js("document.querySelector('main').innerText")

    text = visit(port, recovery, look)
    order = [
        text.index(title) for title in ("Next steps", "Open issues (2)", "Timeline", "Subtasks", "Sizes and tokens")
    ]
    assert order == sorted(order)
    assert "incomplete" in text[: order[0]]


def test_an_identifier_leads_to_the_original_text(port: int, recovery: Path) -> None:
    async def look(tab: chromium.Tab) -> str:
        await tab.click("ul.issues a.id[href='#a15']")
        return await settled(
            tab, "document.body.classList.contains('detailed') && document.getElementById('detail').innerText"
        )

    text = visit(port, recovery, look)
    step = next(iter(dense.read(EXAMPLES / "password-recovery"))).steps[14]
    assert str(step.calls[0].arguments["command"]) in text
    assert step.observations[0].text.strip() in text


def test_keys_move_between_actions_and_close(port: int, recovery: Path) -> None:
    async def look(tab: chromium.Tab) -> None:
        for key, title in (("j", "a16"), ("k", "a15"), ("f", "a8")):
            await tab.js(f"dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}'}}))")
            await settled(tab, f"document.querySelector('#detail strong')?.textContent.startsWith('{title}')")
        await tab.js("dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))")
        assert await tab.js("document.getElementById('detail').hidden")

    visit(port, recovery, look, "#a15")


def test_search_finds_text_of_outputs(port: int, recovery: Path) -> None:
    async def look(tab: chromium.Tab) -> list[str]:
        await tab.js("search.value = 'complete: true'; search.dispatchEvent(new Event('input'))")
        await settled(tab, "document.getElementById('found').textContent")
        return await tab.js("[...document.querySelectorAll('#results a.id')].map(one => one.textContent)")

    found = visit(port, recovery, look)
    steps = next(iter(dense.read(EXAMPLES / "password-recovery"))).steps
    held = [f"a{number}" for number, step in enumerate(steps, 1) if "complete: true" in _text(step).lower()]
    assert found == held
    assert held


def _text(step: Step) -> str:
    return "\n".join(
        [
            step.message,
            step.reasoning,
            *(str(call.arguments) for call in step.calls),
            *(seen.text for seen in step.observations),
        ]
    )


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (390, "dark"), (1400, "dark")])
def test_it_fits_the_screen(port: int, recovery: Path, width: int, scheme: str) -> None:
    async def look(tab: chromium.Tab) -> tuple[int, str]:
        await tab.look(width=width, height=800, scheme=scheme)
        wide = await tab.js("document.documentElement.scrollWidth")
        return wide, await tab.js("getComputedStyle(document.body).backgroundColor")

    wide, colour = visit(port, recovery, look)
    assert wide <= width
    assert (colour == "rgb(255, 255, 255)") == (scheme == "light")


def test_two_attempts_side_by_side(port: int, tmp_path: Path) -> None:
    runs = [*load_runs(EXAMPLES / "csv-report"), *load_runs(EXAMPLES / "password-recovery")]
    page = write_view(runs, tmp_path / "compare.html")

    async def look(tab: chromium.Tab) -> str:
        assert await tab.js("document.querySelectorAll('section.run').length") == 2
        await tab.click("section.run:nth-child(2) ul.issues a.id[href='#2.a15']")
        await settled(tab, "document.querySelector('#detail strong')?.textContent.includes('recovery')")
        text = await tab.js("document.querySelector('main table').innerText")
        await tab.look(width=390, height=800, scheme="dark")
        widths = await tab.js("[...document.querySelectorAll('main table td')].map(cell => cell.offsetWidth)")
        assert min(widths) > 120, "no word is broken into letters on a phone"
        return text

    text = visit(port, page, look)
    assert "actions\t14\t22" in text
    assert "issue: The task asks for `/app/chart.png`" in text


def test_one_trace_under_two_methods(tmp_path: Path) -> None:
    runs = load_runs(EXAMPLES / "csv-report", methods=("dense", "dense-flat"))
    assert [run.record.method for run in runs] == ["dense", "dense-flat"]
    assert page_html(runs).count("dense-flat") > 0


def test_hostile_text_is_shown_and_does_nothing(port: int, tmp_path: Path) -> None:
    steps = tuple(
        Step(
            Source("x"), f"{evil} a1", evil, (ToolCall(evil, {"command": evil, evil: [evil]}, "c"),),
            (Observation(f"error: {evil}", "c", is_error=True, exit_code=1),),
        )
        for evil in HOSTILE
    )  # fmt: skip
    trajectory = Trajectory("messages", HOSTILE[0], Source(HOSTILE[1]), task=Task("\n".join(HOSTILE)), steps=steps)
    made = dense.distill_sync(trajectory)
    run = LoadedRun(trajectory, made.record, made.feedback.report, made.feedback.message, made.reconciled)
    page = write_view([run], tmp_path / "hostile.html")
    raw = page.read_text(encoding="utf-8")
    assert raw.count("<script") == raw.count("</script>")
    assert "\u202e" not in raw
    assert "\x00" not in raw

    async def look(tab: chromium.Tab) -> str:
        for action in range(1, len(steps) + 1):
            await tab.js(f"location.hash = '#a{action}'")
            await settled(tab, f"document.querySelector('#detail strong')?.textContent.startsWith('a{action} ')")
        assert await tab.js("document.querySelectorAll('main img, #detail img, a[href^=javascript]').length") == 0
        return await tab.js("document.title + document.getElementById('detail').innerText")

    text = visit(port, page, look)
    assert text.startswith("</script><script>document.title='owned'</script>")
    assert HOSTILE[3] in text


def test_a_distilled_folder_is_shown_with_its_trace_or_without(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from dense.cli.app import app

    trace = tmp_path / "trace.traj.json"
    trace.write_bytes((EXAMPLES / "password-recovery" / "recovery.traj.json").read_bytes())
    assert CliRunner().invoke(app, ["distill", str(trace), "--out", str(tmp_path / "out")]).exit_code == 0
    (folder,) = [path.parent for path in (tmp_path / "out").rglob("run.json")]
    (run,) = load_runs(folder)
    assert run.notes == ()
    assert len(run.trajectory.steps) == 22
    assert run.message == (folder / "message.txt").read_text()
    trace.unlink()
    (run,) = load_runs(folder)
    assert "no longer" in run.notes[0]
    assert json.dumps(run.notes[0])[1:-1] in page_html([run])


def test_what_cannot_be_shown_is_an_error_for_people(tmp_path: Path) -> None:
    from dense.errors import DenseError

    with pytest.raises(DenseError, match="several trajectories"):
        load_runs(EXAMPLES)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(DenseError, match="distill it again"):
        load_runs(tmp_path)


def test_a_page_that_does_not_fit_on_the_disk_leaves_the_old_one(tmp_path: Path) -> None:
    """A full disk, by a limit on the size of files that the page exceeds."""
    page = tmp_path / "page.html"
    page.write_text("old")
    command = f"ulimit -f 8; exec {sys.executable} -m dense view {EXAMPLES / 'csv-report'} --out {page}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1 and "the result cannot be written (File too large)" in done.stderr, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"] and page.read_text() == "old"


def test_a_cell_of_an_experiment_shows_its_last_try_and_what_it_was_given(tmp_path: Path) -> None:
    import shutil

    shutil.copytree(EXAMPLES / "csv-report" / "trial", tmp_path / "try-9" / "trial")
    shutil.copytree(EXAMPLES / "csv-report" / "trial", tmp_path / "try-10" / "trial")
    (tmp_path / "feedback").mkdir()
    (tmp_path / "message.txt").write_text("what it was given")
    (run,) = load_runs(tmp_path)
    assert "try-10" in run.trajectory.source.path
    assert run.given == "what it was given"
