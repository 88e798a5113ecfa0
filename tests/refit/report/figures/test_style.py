"""Names that fit and do not act; looks that stay the same and can be told apart without colour."""

from __future__ import annotations

import math
import unicodedata
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dense.methods import method_names
from refit.report.figures.style import OTHERS, STYLES, darker, method_styles, short_name
from refit.results import RUN0


def test_every_method_of_ours_has_a_look_of_its_own() -> None:
    assert set(STYLES) == {RUN0, *method_names()}


def test_looks_differ_without_colour_too() -> None:
    for (one, a), (other, b) in combinations(STYLES.items(), 2):
        assert a.marker != b.marker, (one, other)
        assert a.colour != b.colour, (one, other)
        if "dense" not in (one, other) and RUN0 not in (one, other):
            assert a.dash != b.dash, (one, other)
    for a, b in combinations(OTHERS, 2):
        assert (a.marker, a.colour, a.dash) != (b.marker, b.colour, b.dash)


def test_colours_are_distinguished_by_eye() -> None:
    """The distance of colours as people see them; from about twenty on nobody takes one for the other."""
    colours = [look.colour for look in (*STYLES.values(), *OTHERS)]
    near = [(one, other) for one, other in combinations(colours, 2) if math.dist(_seen(one), _seen(other)) < 25]
    assert near == []
    assert math.dist(_seen("#56b4e9"), _seen("#66ccee")) < 25, "the check can fail"


def _seen(colour: str) -> tuple[float, float, float]:
    """Lightness, and how red and how yellow: CIE's L*, a* and b* under daylight."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089
    fx, fy, fz = (math.cbrt(value) if value > 0.008856 else 7.787 * value + 16 / 116 for value in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def test_colours_of_own_methods_go_by_their_order_alone() -> None:
    short = method_styles(("none", "mine", "yours"))
    long = method_styles((RUN0, "mine", "dense", "none", "yours", "theirs"))
    assert short["mine"] == long["mine"] == OTHERS[0]
    assert short["yours"] == long["yours"] == OTHERS[1]
    assert short["dense"] == STYLES["dense"]


def test_more_own_methods_than_colours_still_have_one_each() -> None:
    many = [f"own-{number}" for number in range(30)]
    assert set(many) <= set(method_styles(many))


@given(st.text(), st.integers(6, 60))
def test_a_name_fits_and_nothing_in_it_acts(text: str, length: int) -> None:
    name = short_name(text, length)
    assert 0 < len(name) <= max(length, len("(no name)"))
    assert not any(unicodedata.category(character)[0] == "C" for character in name)
    assert name == " ".join(name.split())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("short", "short"),
        ("a-very-long-name-of-a-task-that-ends-in-7", "a-very-long-name-o…ends-in-7"),
        ("two\nlines\x00", "two lines"),
        ("\u202eevil", "evil"),
        ("\u200b", "(no name)"),
    ],
)
def test_names(text: str, said: str) -> None:
    assert short_name(text) == said


def test_an_edge_is_seen_on_its_fill() -> None:
    for look in (*STYLES.values(), *OTHERS):
        assert abs(_light(look.colour) - _light(darker(look.colour))) > 20, look


def _light(colour: str) -> float:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return 0.3 * red + 0.59 * green + 0.11 * blue
