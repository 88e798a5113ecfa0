"""Figures of made-up experiments: what is drawn, where, in which size; and bytes that follow from the report alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from made_result import with_attempt
from msgspec.structs import replace
from stores import ALL, HOSTILE, made, task_names

from dense.errors import DenseError
from refit.report.build import build
from refit.report.figures import Drawing, bars, canvas, costs, draw, drawings, heatmap, panel, points
from refit.report.figures.style import STYLES, short_name
from refit.report.model import Report
from refit.results import ANALYST, RUN0, Experiment, Prices, Result

NOTE = "The recipient is scripted: its numbers say nothing about a language model."
FULL = ("pass-against-tokens", "pass-against-all-tokens", "pass-rates", "gains", "token-change", "costs")


def reported(experiment: Experiment) -> Report:
    return build(experiment, draws=200)


@pytest.fixture(scope="module")
def small() -> Report:
    """As large as the demonstration's."""
    return reported(made(("scripted",), 6, 2, ALL, notes=(NOTE,)))


@pytest.fixture(scope="module")
def hostile() -> Report:
    own = "<i>own</i> $\\alpha$ method with a very long name indeed"
    return reported(made(("<b>$x$</b>", "y" * 300), HOSTILE, 2, ("dense", own), 2, notes=("$\\frac{1}{0}$ " * 60,)))


class Kept:
    """Figures on their way to disk: laid out as they would be, to be looked at instead of written."""

    def __init__(self) -> None:
        self.figures: dict[str, Any] = {}
        self.texts: dict[str, list[Any]] = {}
        """Those that are really drawn: a figure holds many more, such as ticks beyond an axis's end."""

    def save(self, figure: Any, _folder: Path, name: str) -> tuple[str, ...]:
        from matplotlib.text import Text

        drawn: list[Any] = []
        as_it_was = Text.draw

        def noticed(text: Any, renderer: Any) -> None:
            drawn.append(text)
            as_it_was(text, renderer)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Text, "draw", noticed)
            figure.draw_without_rendering()
        self.figures[name] = figure
        self.texts[name] = drawn
        return f"{name}.svg", f"{name}.png"


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Kept:
    found = Kept()
    monkeypatch.setattr(panel, "save", found.save)
    return found


def test_all_figures_of_a_small_experiment(small: Report, tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "old.svg").write_text("of an earlier report")
    found = draw(small, tmp_path)
    assert [one.name for one in found] == [*FULL, "cumulative", "tasks-1-scripted"]
    assert [one.name for one in found if not one.is_drawn] == ["cumulative"]
    assert "one round" in found[6].reason
    files = {file for one in found for file in one.files}
    assert {path.name for path in (tmp_path / "figures").iterdir()} == files | {"figures.json"}
    assert drawings(tmp_path) == found
    for file in files:
        data = (tmp_path / "figures" / file).read_bytes()
        if file.endswith(".png"):
            assert data.startswith(b"\x89PNG")
            assert b"tEXt" not in data, "a PNG that tells who made it"
        else:
            assert ET.fromstring(data).tag.endswith("svg")
            assert b"<dc:date>" not in data


def test_the_same_report_gives_the_same_bytes_whatever_is_set(tmp_path: Path) -> None:
    """In another process, with another hash seed and settings of the user's own that would change everything."""
    only = reported(made(("x",), 3, 1, ("dense", "verifier-feedback"), 2))
    draw(only, tmp_path / "here")
    (tmp_path / "report.json").write_bytes(msgspec.json.encode(only))
    (tmp_path / "matplotlibrc").write_text(
        "text.usetex: True\nfont.size: 30\nsvg.fonttype: none\nsavefig.bbox: tight\n"
    )
    code = (
        "import sys, msgspec; from pathlib import Path; from refit.report.model import Report;"
        "from refit.report.figures import draw; place = Path(sys.argv[1]);"
        "draw(msgspec.json.decode((place / 'report.json').read_bytes(), type=Report), place / 'there')"
    )
    env = os.environ | {"PYTHONHASHSEED": "7", "MATPLOTLIBRC": str(tmp_path / "matplotlibrc"), "DISPLAY": ""}
    subprocess.run([sys.executable, "-W", "error", "-c", code, str(tmp_path)], env=env, check=True, timeout=120)
    here, there = (_bytes(tmp_path / side / "figures") for side in ("here", "there"))
    assert here.keys() == there.keys()
    assert [name for name in here if here[name] != there[name]] == []


def _bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_bars_are_as_long_as_the_numbers(small: Report, kept: Kept, tmp_path: Path) -> None:
    with canvas.drawing():
        bars.bars(small, tmp_path, bars.PASSED)
        bars.bars(small, tmp_path, bars.GAINS)
        costs.costs(small, tmp_path)
    [recipient] = small.recipients
    assert recipient.baseline is not None
    rows = [recipient.baseline, *recipient.rows]
    axis = kept.figures["pass-rates"].axes[0]
    assert [bar.get_width() for bar in axis.patches] == pytest.approx([row.passed.value for row in rows])
    assert [bar.get_facecolor()[:3] for bar in axis.patches] == [_rgb(row.method) for row in rows]
    ends = [tuple(line.get_xdata()) for line in axis.lines if line.get_marker() == "|"]
    intervals = [row.passed.interval for row in rows]
    assert ends == [(found.low, found.high) for found in intervals if found is not None]
    said = [text.get_text() for text in axis.texts]
    assert said == [f"{row.passed.value:.1f}" for row in rows if row.passed.value is not None]

    axis = kept.figures["gains"].axes[0]
    apart = [row for row in recipient.rows if row.role == "privileged"]
    assert len(apart) == 1
    assert len(axis.patches) == len(recipient.rows) - 1, "the privileged reference is a line"
    dashed = [line for line in axis.lines if line.get_linestyle() == "--" and line.get_color() == "#444444"]
    assert apart[0].change is not None
    assert [tuple(line.get_xdata()) for line in dashed] == [(apart[0].change.value, apart[0].change.value)]

    axis = kept.figures["costs"].axes[0]
    longest = {round(bar.get_y() + 0.36): bar.get_x() + bar.get_width() for bar in axis.patches}
    totals = [row.cost.total.value for row in rows if row.cost is not None]
    assert [longest[place] for place in range(len(rows))] == pytest.approx(totals)


def test_the_privileged_come_last_wherever_the_experiment_names_them(kept: Kept, tmp_path: Path) -> None:
    with canvas.drawing():
        bars.bars(reported(made(("x",), 3, 1, ("verifier-feedback", "dense"))), tmp_path, bars.PASSED)
    labels = [tick.get_text() for tick in kept.figures["pass-rates"].axes[0].get_yticklabels()]
    assert labels == ["Baseline", "DENSE", "Verifier feedback †"]


def _rgb(method: str) -> tuple[float, ...]:
    colour = STYLES[method].colour
    return tuple(int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))


def test_points_stand_where_the_numbers_say(small: Report, kept: Kept, tmp_path: Path) -> None:
    with canvas.drawing():
        points.points(small, tmp_path, points.COMBINED)
    [recipient] = small.recipients
    assert recipient.baseline is not None
    axis = kept.figures["pass-against-all-tokens"].axes[0]
    marks = {
        line.get_marker(): (line.get_xdata()[0], line.get_ydata()[0])
        for line in axis.lines
        if len(line.get_xdata()) == 1
    }
    wanted = {
        STYLES[row.method].marker: (row.means["combined_tokens"].value, row.passed.value)
        for row in recipient.rows
        if row.role == "method"
    }
    start = STYLES[RUN0].marker
    assert marks == wanted | {start: (recipient.baseline.tokens.value, recipient.baseline.passed.value)}


def test_axes_of_percentages_stay_within_them(kept: Kept, tmp_path: Path) -> None:
    with canvas.drawing():
        points.points(reported(_graded(1.0)), tmp_path, points.EXECUTION)
    axis = kept.figures["pass-against-tokens"].axes[0]
    assert axis.get_ylim()[1] <= 103
    assert max(axis.get_yticks()) == 100
    assert axis.get_ylim()[1] - axis.get_ylim()[0] >= 8, "no difference is not magnified"


def test_a_heatmap_has_every_task_and_grey_for_what_was_not_scored(kept: Kept, tmp_path: Path) -> None:
    names = task_names(89)
    absent = [("GPT-5.5", name) for name in names[:3]]
    report = reported(made(("GPT-5.5", "other"), 89, 3, ALL, not_applicable=absent, invalid=0))
    with canvas.drawing():
        drawn = heatmap.heatmaps(report, tmp_path)
        _check_texts(kept.figures["tasks-1-gpt-5-5"], kept.texts["tasks-1-gpt-5-5"])
    assert [one.name for one in drawn] == ["tasks-1-gpt-5-5", "tasks-2-other"]
    axes = kept.figures["tasks-1-gpt-5-5"].axes
    assert len(axes) == 2, "two columns"
    labels = [tick.get_text() for axis in axes for tick in axis.get_yticklabels()]
    assert labels == [short_name(name, heatmap.NAME) for name in sorted(names)]
    hatched = [one for axis in axes for one in axis.collections if one.get_hatch()]
    assert sum(len(one.get_paths()) for one in hatched) == 3 * (len(ALL) + 1)
    digits = sum(len(line.get_xdata()) for axis in axes for line in axis.lines)
    assert digits == 86 * (len(ALL) + 1)
    assert not any(one.get_hatch() for axis in kept.figures["tasks-2-other"].axes for one in axis.collections)


def test_costs_of_nothing_are_said_and_not_drawn_as_an_empty_axis(tmp_path: Path) -> None:
    free = made(tasks=3)
    free = replace(free, prices=dict.fromkeys([*free.recipients, ANALYST], Prices(0, 0)))
    [drawing] = costs.costs(reported(free), tmp_path)
    assert not drawing.is_drawn and drawing.reason == "none recorded: every price is 0"


def test_many_tasks_go_on_pages_and_too_many_are_left_out(kept: Kept, tmp_path: Path) -> None:
    [one, two] = heatmap_of(reported(made(tasks=130, repetitions=1, methods=("none", "dense"))), tmp_path)
    assert (one.title, two.title) == (f"{_TITLE} (page 1 of 2)", f"{_TITLE} (page 2 of 2)")
    assert len(kept.figures) == 2
    assert two.files == ("tasks-1-gpt-5-5-page2.svg", "tasks-1-gpt-5-5-page2.png")
    [none] = heatmap_of(reported(made(tasks=601, repetitions=1, methods=("dense",))), tmp_path)
    assert not none.is_drawn
    assert "601 tasks" in none.reason


_TITLE = "Tasks by method: GPT-5.5"


def heatmap_of(report: Report, folder: Path) -> list[Drawing]:
    with canvas.drawing():
        return heatmap.heatmaps(report, folder)


ODD: dict[str, Callable[[], Experiment]] = {
    "one task, one repetition, one method": lambda: made(("x",), 1, 1, ("dense",), invalid=0),
    "nothing changes": lambda: _graded(1.0),
    "most cells invalid": lambda: made(("x",), 8, 3, ("none", "dense"), invalid=0.6),
    "several rounds": lambda: made(("x", "W" * 80), 5, 2, (*ALL, "own:A", "W" * 40), 3, notes=(NOTE, NOTE)),
}


def _graded(reward: float) -> Experiment:
    experiment = made(("x",), 4, 2, ("none", "dense"), invalid=0)
    return replace(experiment, results=tuple(with_attempt(one, reward=reward) for one in experiment.results))


@pytest.mark.parametrize("name", [*ODD, "hostile", "small"])
def test_text_is_legible_and_inside(name: str, kept: Kept, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Print size, at least seven points, nothing cut off, no two labels on each other."""
    report: Report = reported(ODD[name]()) if name in ODD else request.getfixturevalue(name)
    found = draw(report, tmp_path)
    assert sum(one.is_drawn for one in found) >= 4
    for file, figure in kept.figures.items():
        with canvas.drawing():
            _check_texts(figure, kept.texts[file])
        notes = [text for text in kept.texts[file] if text.get_text().startswith("Note: ")]
        assert len(notes) == bool(report.notes), "what must be said is said in the picture too"


def _check_texts(figure: Any, texts: list[Any]) -> None:
    width, height = figure.get_size_inches()
    assert width <= canvas.WIDTH + 0.001
    assert height <= 11
    whole = figure.bbox
    boxes: list[tuple[str, Any]] = []
    for text in texts:
        box = text.get_window_extent()
        if not text.get_text().strip() or not text.get_visible() or box.width == 0:
            continue
        assert text.get_fontsize() >= canvas.SMALL, text
        slack = 0.02 * figure.dpi
        assert box.x0 >= whole.x0 - slack, f"cut at the left: {text}"
        assert box.x1 <= whole.x1 + slack, f"cut at the right: {text}"
        assert box.y0 >= whole.y0 - slack, f"cut below: {text}"
        assert box.y1 <= whole.y1 + slack, f"cut above: {text}"
        boxes.append((text.get_text(), box.shrunk(0.9, 0.6)))
    for at, (one, box) in enumerate(boxes):
        for other, beside in boxes[at + 1 :]:
            assert not box.overlaps(beside), f"{one!r} on {other!r}"


def test_without_tokens_figures_of_tokens_are_left_out_with_a_reason(tmp_path: Path) -> None:
    found = {one.name: one for one in draw(reported(made(tasks=3, methods=("dense",), with_tokens=False)), tmp_path)}
    assert {name for name, one in found.items() if one.is_drawn} == {"pass-rates", "gains", "tasks-1-gpt-5-5"}
    assert all(one.reason for one in found.values() if not one.is_drawn)
    assert "tokens" in found["token-change"].reason
    assert found["costs"].reason == "tokens are not known"


def only(keep: Callable[[Result], bool], change: Callable[[Result], Result] = lambda one: one) -> Report:
    experiment = made(("x",), 3, 1, ("none", "dense"), 2, invalid=0)
    results = tuple(change(one) for one in experiment.results if keep(one))
    return reported(replace(experiment, results=results, planned=()))


REASONS: dict[str, tuple[Callable[[], Report], dict[str, str]]] = {
    "round 0 alone": (
        lambda: only(lambda one: one.cell.round == 0),
        {
            "pass-rates": "there is no run with feedback",
            "gains": "there is no run with feedback",
            "cumulative": "there is no round with feedback",
            "costs": "there is no run with feedback",
        },
    ),
    "no round 0": (
        lambda: only(lambda one: one.cell.round > 0),
        {
            "gains": "no round 0 is scored, so there is nothing to compare with",
            "cumulative": "no round 0 is scored, so there is nothing to start from",
        },
    ),
    "none scored": (
        lambda: only(lambda _: True, lambda one: with_attempt(one, reward=None) if one.cell.round else one),
        {"pass-rates": "no run with feedback is scored", "token-change": "no run with feedback is scored"},
    ),
    "sums only": (
        lambda: only(lambda _: True, lambda one: with_attempt(one, usage=None, total=5)),
        {"costs": "only sums of tokens are known, which cannot be priced"},
    ),
}


@pytest.mark.parametrize("name", REASONS)
def test_what_is_left_out_tells_the_true_reason(name: str, kept: Kept, tmp_path: Path) -> None:
    of, reasons = REASONS[name]
    found = {one.name: one.reason for one in draw(of(), tmp_path)}
    assert {figure: found[figure] for figure in reasons} == reasons


@pytest.mark.parametrize("tasks", [2, 54])
def test_notes_of_a_heatmap_stand_over_it_however_tall_it_is(tasks: int, kept: Kept, tmp_path: Path) -> None:
    heatmap_of(reported(made(("x",), tasks, 1, ("dense",), notes=(NOTE,))), tmp_path)
    [figure] = kept.figures.values()
    [texts] = kept.texts.values()
    note = next(text for text in texts if text.get_text().startswith("Note: "))
    name = next(text for text in texts if text.get_text() == "x")
    with canvas.drawing():
        top = (figure.bbox.y1 - note.get_window_extent().y1) / figure.dpi
        gap = (note.get_window_extent().y0 - name.get_window_extent().y1) / figure.dpi
    assert 0 <= top < 0.1 and 0 <= gap < 0.15, "inches"


def test_nothing_scored_draws_no_number(tmp_path: Path) -> None:
    experiment = made(("x",), 3, 1, ("dense",))
    found = draw(reported(replace(experiment, results=())), tmp_path)
    assert [one.name for one in found if one.is_drawn] == []
    assert found[-1].reason == "no cell is scored"


def test_what_is_known_for_some_results_only_is_said(kept: Kept, tmp_path: Path) -> None:
    experiment = made(tasks=4, repetitions=2, methods=("none", "dense"), invalid=0)
    half = tuple(with_attempt(one, usage=None) if one.cell.repetition else one for one in experiment.results)
    found = {one.name: one for one in draw(reported(replace(experiment, results=half)), tmp_path)}
    assert "DENSE on GPT-5.5 (4 of 8)" in found["pass-against-tokens"].caption
    assert "DENSE on GPT-5.5 (4 of 8)" in found["token-change"].caption
    assert "known for some" not in found["pass-rates"].caption


def test_many_recipients_take_several_figures(kept: Kept, tmp_path: Path) -> None:
    report = reported(made([f"r{number}" for number in range(8)], 2, 1, ("dense",)))
    with canvas.drawing():
        found = bars.bars(report, tmp_path, bars.GAINS)
    assert set(kept.figures) == {"gains", "gains-2"}
    assert [one.name for one in found] == ["gains", "gains-2"]
    assert [len(one.recipients) for one in found] == [6, 2]


def test_without_matplotlib_the_error_says_what_to_install(
    small: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DenseError, match=r"\[report\]'"):
        draw(small, tmp_path)


def test_a_folder_that_cannot_be_written_is_reported(small: Report, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DenseError, match="figures cannot be written"):
        draw(small, tmp_path / "file")


def test_the_list_is_plain_json(small: Report, tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    only = replace(small, recipients=())
    draw(only, tmp_path)
    stated = json.loads((tmp_path / "figures" / "figures.json").read_text())
    assert {"name", "title", "reason"} <= set(stated[0])
