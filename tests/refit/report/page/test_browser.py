"""The page in a real browser, from a file: it logs nothing, asks for nothing, sorts, opens, holds whatever comes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from chromium import Tab, tab

from refit.results import Experiment


def visited[T](port: int, folder: Path, visit: Callable[[Tab], Awaitable[T]]) -> T:
    """Opens a report and does something there. Nothing may be logged, and nothing but the page asked for.

    With DENSE_PICTURES set to a folder, leaves a picture of each page there."""

    async def whole() -> T:
        async with tab(port) as page:
            await page.open((folder / "index.html").as_uri())
            result = await visit(page)
            if place := os.environ.get("DENSE_PICTURES"):
                await page.picture(Path(place) / f"{visit.__qualname__.split('.')[0]}.png")
            assert page.logged() == []
            assert page.asked() == [(folder / "index.html").as_uri()]
            return result

    return asyncio.run(whole())


COLUMN = "[...document.querySelectorAll('table.sorted')][0].tBodies[0].rows"
FIRST = f"[...{COLUMN}].map(row => row.cells[0].innerText)"
VALUES = f"[...{COLUMN}].map(row => Number(row.cells[1].dataset.sort))"
HEAD = "table.sorted thead th:nth-child(2)"
STATE = f"document.querySelector('{HEAD}').getAttribute('aria-sort')"


def test_a_table_sorts_by_click(port: int, site: tuple[Experiment, Path]) -> None:
    async def visit(page: Tab) -> None:
        before = await page.js(FIRST)
        apart = await page.js("[...document.querySelectorAll('table.sorted')][0].tBodies[1].innerText")
        await page.click(f"{HEAD} button")
        up = await page.js(VALUES)
        assert await page.js(STATE) == "ascending"
        assert up == sorted(up)
        await page.click(f"{HEAD} button")
        down = await page.js(VALUES)
        assert await page.js(STATE) == "descending"
        assert down == sorted(up, reverse=True)
        assert down != up
        await page.click(f"{HEAD} button")
        assert await page.js(STATE) == "none"
        assert await page.js(FIRST) == before
        assert await page.js("[...document.querySelectorAll('table.sorted')][0].tBodies[1].innerText") == apart
        assert "†" in apart, "what is privileged stays apart"

    visited(port, site[1], visit)


def test_a_table_sorts_by_keys_and_the_unknown_comes_last(port: int, site: tuple[Experiment, Path]) -> None:
    async def visit(page: Tab) -> None:
        await page.js(f"document.querySelector('{HEAD} button').focus()")
        await page.js(f"{COLUMN}[0].cells[1].dataset.sort = ''")
        first = (await page.js(FIRST))[0]
        for key, state in (("Enter", "ascending"), (" ", "descending")):
            await page.press(key)
            assert await page.js(STATE) == state
            assert (await page.js(FIRST))[-1] == first

    visited(port, site[1], visit)


BUTTON = "tr.row button"


def test_a_task_opens_by_key_into_its_cells_with_links(port: int, site: tuple[Experiment, Path]) -> None:
    experiment, folder = site

    async def visit(page: Tab) -> None:
        assert await page.js("document.querySelectorAll('tr.opened').length") == 0
        await page.js(f"document.querySelector('{BUTTON}').focus()")
        await page.press("Enter")
        assert await page.js(f"document.querySelector('{BUTTON}').getAttribute('aria-expanded')") == "true"
        task = await page.js(f"document.querySelector('{BUTTON}').innerText")
        cells = [one for one in experiment.results if one.cell.recipient == "first" and one.cell.task == task.strip()]
        lines = await page.js("[...document.querySelectorAll('tr.opened tbody tr')].map(row => row.innerText)")
        assert len(lines) == len(cells) == 2 * (1 + 4 * 2)
        links = await page.js("[...document.querySelectorAll('tr.opened a')].map(link => link.href)")
        assert len(links) == sum(
            bool(one.attempt.trace) + bool(one.feedback_folder) + bool(one.message) for one in cells
        )
        for link in links:
            path = Path(unquote(urlsplit(link).path))
            assert path.is_file(), link
            assert folder.parent in path.parents
        tokens = await page.js("[...document.querySelectorAll('tr.opened tbody tr')].map(r => r.cells[4].dataset.sort)")
        assert sorted(map(int, tokens)) == sorted(one.attempt.tokens or 0 for one in cells)
        await page.press(" ")
        assert await page.js("document.querySelectorAll('tr.opened').length") == 0

    visited(port, folder, visit)


def test_an_open_task_moves_with_its_row_and_its_cells_sort(port: int, site: tuple[Experiment, Path]) -> None:
    async def visit(page: Tab) -> None:
        await page.click(BUTTON)
        await page.click("table.tasks thead th button")
        await page.click("table.tasks thead th button")
        below = "document.querySelector('tr.opened').previousElementSibling.querySelector('button')"
        assert await page.js(f"{below}.getAttribute('aria-expanded')") == "true"
        names = await page.js(
            "[...document.querySelector('table.tasks').tBodies[0].querySelectorAll('tr.row th')].map(c => c.innerText)"
        )
        assert names == sorted(names, reverse=True)
        await page.click("tr.opened th:nth-child(5) button")
        sizes = await page.js(
            "[...document.querySelectorAll('tr.opened tbody tr')].map(r => Number(r.cells[4].dataset.sort))"
        )
        assert sizes == sorted(sizes)

    visited(port, site[1], visit)


def test_tasks_are_found_by_name(port: int, site: tuple[Experiment, Path]) -> None:
    async def visit(page: Tab) -> None:
        await page.js("document.getElementById('search').focus()")
        await page.do("Input.insertText", text="BUILD-")
        shown = await page.js("[...document.querySelectorAll('tr.row')].filter(r => !r.hidden).map(r => r.innerText)")
        assert len(shown) == 4
        assert all("build-" in text for text in shown)
        assert await page.js("document.getElementById('left').innerText") == "4 of 10 rows"

    visited(port, site[1], visit)


def test_everything_is_reached_by_the_tab_key(port: int, site: tuple[Experiment, Path]) -> None:
    async def visit(page: Tab) -> None:
        count = await page.js("document.querySelectorAll('a[href], button, input, summary, [tabindex=\"0\"]').length")
        seen: set[Any] = set()
        for _ in range(count + 2):
            await page.press("Tab")
            seen.add(await page.js("[document.activeElement.tagName, document.activeElement.innerText || ''].join()"))
        kinds = {text.split(",")[0] for text in seen}
        assert {"A", "BUTTON", "INPUT"} <= kinds
        assert any("build-cython-ext" in text for text in seen if text.startswith("BUTTON"))
        visible = await page.js(
            "(() => { const b = document.querySelector('tr.row button'); b.focus();"
            " return getComputedStyle(b).outlineStyle })()"
        )
        assert visible != "none", "the focus is seen"

    visited(port, site[1], visit)


def test_both_colour_schemes_and_a_narrow_window(port: int, site: tuple[Experiment, Path]) -> None:
    async def visit(page: Tab) -> None:
        found: dict[str, list[int]] = {}
        for scheme in ("light", "dark"):
            await page.look(scheme=scheme)
            style = await page.js("(s => [s.backgroundColor, s.color])(getComputedStyle(document.body))")
            found[scheme] = [sum(map(int, text[text.index("(") + 1 : -1].split(",")[:3])) for text in style]
        paper, ink = found["light"]
        assert paper - ink > 450
        paper, ink = found["dark"]
        assert ink - paper > 450
        await page.click(BUTTON)
        for width in (1200, 800, 360):
            await page.look(width=width, height=700)
            across = await page.js("document.documentElement.scrollWidth")
            assert across <= width, "only tables scroll sideways"
            if width < 400:
                wide = (
                    "[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth + 1)"
                )
                assert await page.js(f"{wide}.length") == 0, "on a phone no table is cut off"

    visited(port, site[1], visit)


def test_figures_are_seen(port: int, site: tuple[Experiment, Path]) -> None:
    async def visit(page: Tab) -> None:
        await page.js("document.querySelectorAll('img').forEach(image => image.loading = 'eager')")
        await page.js("Promise.all([...document.images].map(image => image.decode()))")
        sizes = await page.js("[...document.images].map(i => [i.naturalWidth, i.naturalHeight, i.alt.length, i.width])")
        assert len(sizes) == 9
        assert all(wide > 300 and high > 90 and words > 10 and shown > 300 for wide, high, words, shown in sizes)

    visited(port, site[1], visit)


def test_caveats_are_open_and_printed_even_if_closed(port: int, site: tuple[Experiment, Path]) -> None:
    async def visit(page: Tab) -> None:
        opened = "[...document.querySelectorAll('details.caveats')].map(details => details.open)"
        assert await page.js(opened) == [True, True]
        await page.click("details.caveats summary")
        assert await page.js(opened) == [False, True]
        await page.js("dispatchEvent(new Event('beforeprint'))")
        assert await page.js(opened) == [True, True]
        await page.js("dispatchEvent(new Event('afterprint'))")
        assert await page.js(opened) == [False, True]

    visited(port, site[1], visit)


def test_captions_are_read_without_scrolling(port: int, site: tuple[Experiment, Path]) -> None:
    async def visit(page: Tab) -> None:
        await page.look(width=360, height=700)
        widths = await page.js(
            "[...document.querySelectorAll('.caption')].map(one => one.getBoundingClientRect().right)"
        )
        assert len(widths) > 5 and max(widths) <= 360
        reported = "(t => document.getElementById(t.getAttribute('aria-describedby')).innerText)"
        assert "Strict pass rate" in await page.js(f"{reported}(document.querySelector('table.sorted'))")

    visited(port, site[1], visit)


def test_it_prints(port: int, site: tuple[Experiment, Path]) -> None:
    async def visit(page: Tab) -> None:
        assert len((await page.do("Page.printToPDF"))["data"]) > 100_000
        await page.do("Emulation.setEmulatedMedia", media="print")
        assert await page.js("getComputedStyle(document.querySelector('nav')).display") == "none"
        assert await page.js("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"

    visited(port, site[1], visit)


def test_hostile_text_is_inert(port: int, hostile: Path) -> None:
    async def visit(page: Tab) -> None:
        await page.js("document.querySelectorAll('tr.row button').forEach(button => button.click())")
        await page.js("document.querySelectorAll('details').forEach(details => details.open = true)")
        await page.js("document.querySelectorAll('thead button').forEach(button => button.click())")
        await asyncio.sleep(0.2)
        assert "owned" not in (await page.js("document.title")).replace("document.title='owned'", "")
        assert await page.js("document.querySelectorAll('script').length") == 2
        assert await page.js("document.querySelectorAll('img[src=x], [onerror]').length") == 0
        texts = await page.js("[...document.querySelectorAll('tr.opened')].map(row => row.innerText).join()")
        assert "<img src=x onerror" in texts
        assert "⟨U+202E⟩" in texts

    visited(port, hostile, visit)


def test_the_policy_stops_what_would_get_through(port: int, site: tuple[Experiment, Path]) -> None:
    """Were some text to become markup after all, it could neither run nor call home."""

    async def check() -> list[str]:
        async with tab(port) as page:
            await page.open((site[1] / "index.html").as_uri())
            await page.js(
                "document.body.insertAdjacentHTML('beforeend',"
                ' `<img src="http://127.0.0.1:9/x"><img src=y onerror="document.title=1">`);'
                "document.body.append(Object.assign(document.createElement('script'), {text: 'document.title = 2'}))"
            )
            await asyncio.sleep(0.3)
            assert await page.js("document.title") not in {"1", "2"}
            return page.logged()

    said = asyncio.run(check())
    assert len([text for text in said if "Content Security Policy" in text]) >= 3
