"""Middles, axes, dependence, colours: the small things that a page's numbers and readers rest on."""

import re
from importlib import resources

import numpy as np
import pytest

from liewise.report.page.axes import FRAMES, POINTS, Axis
from liewise.report.page.joints import dependence
from liewise.report.page.relative import away, middles, moved, share_on_grid
from liewise.report.style import FILLS, INK, QUIET
from liewise.transforms import affine, flips

TURN = affine("rotation").coordinates[0]
SHIFT, SCALE = affine("shift-x", "scale").coordinates
FLIP = flips("flip-x").coordinates[0]
RNG = np.random.default_rng(0)


def test_middles_are_medians_and_mean_directions():
    drawn = RNG.normal(0.3, 0.1, (2, 4000)).astype(np.float32)
    np.testing.assert_allclose(middles(SHIFT, drawn), 0.3, atol=0.01)
    across = np.asarray(TURN.wrap(drawn + np.pi - 0.3))  # mass on both sides of half a turn
    assert np.abs(np.asarray(TURN.wrap(middles(TURN, across) - np.pi))).max() < 0.01
    assert middles(FLIP, np.array([[1, 1, 0], [0, 1, 0]], np.float32)).tolist() == [1, 0]


@pytest.mark.parametrize("modes", [2, 3, 4])
def test_the_middle_of_opposed_modes_is_one_of_them(modes):
    which = RNG.integers(0, modes, (5, 4000)) * 2 * np.pi / modes
    drawn = np.asarray(TURN.wrap(0.4 + which + RNG.normal(0, 0.1, which.shape)))
    off = (middles(TURN, drawn) - 0.4) / (2 * np.pi / modes)
    np.testing.assert_allclose(off, np.rint(off), atol=0.02)


@pytest.mark.parametrize("coordinate", [TURN, SHIFT, FLIP], ids=lambda c: c.name)
def test_values_relative_to_a_middle_lead_back(coordinate):
    known = coordinate.steps or (-0.2, 0.1, 0.24)
    values = np.array(known, np.float32)
    for middle in values:
        relative = away(coordinate, values, np.float32(middle))
        np.testing.assert_allclose(moved(coordinate, middle, relative), values, atol=1e-6)
        assert relative[list(values).index(middle)] == 0


def test_axes_show_the_box_and_what_goes_further_in_round_steps():
    narrow = Axis.around(SHIFT, (33, 33), np.zeros(10))
    assert narrow.words(narrow.frames[narrow.tiles[-1]]) == "+4.0 px"  # the box of 4 px, in nine steps of 1
    assert narrow.reach >= SHIFT.high
    assert Axis.around(SHIFT, (33, 33), np.linspace(-0.6, 0.6, 99)).reach >= 0.59
    turn = Axis.around(TURN, (33, 33), np.zeros(10))
    assert [turn.words(v) for v in turn.frames[turn.tiles[::4]]] == ["−160°", "0°", "+160°"]
    assert len(turn.frames) == FRAMES
    assert len(turn.points) == POINTS
    assert turn.place(0.0) == 50
    assert turn.nearest(np.pi) == FRAMES - 1
    scale = Axis.around(SCALE, (33, 33), np.zeros(10))
    assert scale.words(0.0) == "×1.00"


def test_densities_on_a_grid_sum_to_one():
    turn, shift = Axis.around(TURN, (33, 33), np.zeros(1)), Axis.around(SHIFT, (33, 33), np.zeros(1))
    spread = share_on_grid(RNG.uniform(-np.pi, np.pi, 200_000), turn.points, TURN)
    np.testing.assert_allclose(spread, 1 / (2 * np.pi), rtol=0.1)
    peak = share_on_grid(RNG.normal(0, 0.05, 200_000), shift.points, SHIFT)
    assert abs(np.trapezoid(peak, shift.points) - 1) < 0.01
    assert share_on_grid(np.array([0.0, 1.0, 1.0, 1.0]), np.array([0.0, 1.0]), FLIP).tolist() == [0.25, 0.75]


def test_dependence_is_the_size_of_a_correlation():
    a, b = RNG.normal(size=(2, 4096))
    assert dependence(a, b) < 0.1
    assert abs(dependence(a, -0.8 * a + 0.6 * b) - 0.8) < 0.06
    assert dependence(a, np.sign(a)) > 0.8
    assert dependence(a, np.zeros_like(a)) == 0


def test_words_stand_out_from_their_ground_in_light_and_dark():
    css = resources.files("liewise.report.page").joinpath("page.css").read_text("utf-8")
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w{6});", part)) for part in css.split("prefers-color-scheme: dark"))
    light |= {"ink": INK, "quiet": QUIET, "area": FILLS[0]}
    for colours in (light, dark):
        pairs = [(word, ground) for word in ("ink", "quiet") for ground in ("ground", "raised")]
        for word, ground in [*pairs, ("warn-ink", "warn-ground"), ("ground", "area"), ("ink", "within")]:
            assert contrast(colours[word], colours[ground]) >= 4.5, (word, ground)


def contrast(one, other):
    """The ratio of the Web Content Accessibility Guidelines."""
    light = []
    for colour in (one, other):
        parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        light.append(
            np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ (0.2126, 0.7152, 0.0722)
        )
    return (max(light) + 0.05) / (min(light) + 0.05)
