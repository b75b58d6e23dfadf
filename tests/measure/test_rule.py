"""The rule, on draws whose truth is known."""

import json

import numpy as np
import pytest
from draws import FLIP, ROTATION, SCALE, SHIFT, SIZE, TURN, band, line, modes, turns
from hypothesis import given
from hypothesis import strategies as st

from liewise.errors import DataError
from liewise.measure import Finding, Rule, aligned, judge, middles, resolution, width

PIXEL = 1 / 13.5  # in η, of 28 pixels


def rotation(truth, **options):
    return judge(ROTATION, turns(truth, **options), size=SIZE)


@pytest.mark.parametrize(
    ("truth", "verdict", "ends", "places"),
    [
        (band(-1, 1), "absent", (-4, 4), ()),
        (band(-15, 15), "partial", (-15, 15), ()),
        (band(20, 110), "partial", (-44, 44), ()),
        (band(-140, 140), "partial", (-134, 134), ()),
        (band(-180, 180), "full", (-171, 171), ()),
        (modes(0, 180), "several modes", (-99.5, 99.5), (-90, 90)),
        (modes(10, 60), "several modes", (-34.5, 34.5), (-25, 25)),
        (modes(0, 120, 240), "several modes", (-129.5, 129.5), (-120, 0, 120)),
        (modes(0, 90, weights=(0.2, 0.8)), "several modes", (-54, 54), (-45, 45)),
    ],
)
def test_each_verdict_on_a_circle_wherever_prototypes_stand(truth, verdict, ends, places):
    found = rotation(truth)
    assert found.verdict == verdict
    assert found.sure > 0.8
    assert (found.low, found.high) == pytest.approx(ends, abs=4)
    assert found.modes == pytest.approx(places, abs=4)


def test_a_narrow_mode_across_the_seam_is_absent_and_a_band_there_is_one_band():
    absent, partial = (turns(truth, apart=False) for truth in (band(178, 182), band(150, 210)))
    assert judge(ROTATION, absent, size=SIZE).verdict == "absent"
    found = judge(ROTATION, partial, size=SIZE)
    assert (found.verdict, found.modes) == ("partial", ())
    assert (found.low, found.high) == pytest.approx((-29, 29), abs=3)


@pytest.mark.parametrize(
    ("truth", "verdict"),
    [
        (band(-0.3, 0.3), "absent"),
        (band(-2.0, 2.0), "partial"),
        (modes(-2.0, 1.5, half=0.4), "several modes"),
        (band(-3.3, 3.3), "full"),
    ],
)
def test_each_verdict_on_a_line_in_pixels(truth, verdict):
    drawn = line(lambda rng, shape: truth(rng, shape) * PIXEL, smooth=0.1 * PIXEL, reach=6 * PIXEL)
    found = judge(SHIFT, drawn, size=SIZE)
    assert found.verdict == verdict
    if verdict == "partial":
        assert (found.low, found.high) == pytest.approx((-1.9, 1.9), abs=0.2)


def test_factors_are_read_as_factors():
    found = judge(SCALE, line(band(np.log(0.8), np.log(1.25)), stray=0.0), size=SIZE)
    assert (found.low, found.high) == pytest.approx((0.81, 1.236), abs=0.02)
    assert found.box == pytest.approx((np.exp(-0.25), np.exp(0.25)))


def test_what_a_shape_looks_the_same_after_is_no_mode_of_its_own():
    square = np.full(120, TURN / 4)
    upright = turns(modes(0, 90, 180, 270, half=2))
    assert judge(ROTATION, upright, size=SIZE).verdict == "several modes"
    assert judge(ROTATION, upright, size=SIZE, periods=square).verdict == "absent"
    quarter = turns(band(-45, 45))
    assert judge(ROTATION, quarter, size=SIZE).verdict == "partial"
    found = judge(ROTATION, quarter, size=SIZE, periods=square)
    assert found.verdict == "full"
    assert found.high <= 45


def test_circles_of_different_lengths_are_full_together():
    drawn = np.concatenate([turns(band(-180, 180), n=60), turns(band(-45, 45), n=60)])
    periods = np.repeat([TURN, TURN / 4], 60)
    assert judge(ROTATION, drawn, size=SIZE, periods=periods).verdict == "full"


def test_what_the_inferences_noise_explains_is_absent():
    blurred = turns(band(-1, 1), smooth=8.0, stray=0.0)
    assert judge(ROTATION, blurred, size=SIZE).verdict == "partial"
    noise = width(turns(band(-1, 1), k=12, smooth=8.0, stray=0.0, seed=5), np.full(120, TURN))
    assert judge(ROTATION, blurred, size=SIZE, noise=noise).verdict == "absent"
    wide = turns(band(-60, 60), smooth=8.0)
    assert judge(ROTATION, wide, size=SIZE, noise=noise).verdict == "partial"


@pytest.mark.parametrize(("share", "verdict"), [(0.0, "absent"), (0.02, "absent"), (0.1, "partial"), (0.5, "full")])
def test_mirrored_versions_count_against_the_most_natural_way(share, verdict):
    rng = np.random.default_rng(0)
    drawn = (rng.random((80, 200)) < share).astype(float)
    drawn[::2] = 1 - drawn[::2]  # half of the prototypes stand the other way round
    found = judge(FLIP, drawn, size=SIZE)
    assert found.verdict == verdict
    assert found.high == pytest.approx(share, abs=0.05)


def test_a_verdict_on_the_border_is_less_sure_than_one_that_is_clear():
    border, clear = (rotation(band(-half, half), smooth=0.0, stray=0.0) for half in (5.2, 20))
    assert border.sure < 0.9 < clear.sure
    assert judge(ROTATION, turns(band(-20, 20)), size=SIZE, trust=0.5).sure == pytest.approx(0.5, abs=0.05)


def test_examples_that_hardly_vary_among_others_that_do_are_noted():
    drawn = np.concatenate([turns(band(-60, 60), n=70), turns(band(-1, 1), n=50, stray=0.0)])
    assert judge(ROTATION, drawn, size=SIZE).notes == ("42% of the examples hardly vary",)
    assert rotation(band(-60, 60)).notes == ()


@given(st.floats(-np.pi, np.pi), st.integers(0, 1000))
def test_turning_all_prototypes_moves_the_middle_along(angle, seed):
    drawn = turns(modes(0, 130, half=8), n=4, seed=seed)
    periods = np.full(4, TURN)
    moved = middles(drawn + angle, periods) - middles(drawn, periods) - angle
    assert np.abs(np.angle(np.exp(1j * moved))).max() < 1e-6


def test_the_middle_is_half_way_between_modes_whatever_their_weights():
    for weights in [(0.5, 0.5), (0.8, 0.2), (0.1, 0.9)]:
        drawn = turns(modes(0, 100, half=5, weights=weights), stray=0.0, apart=False)
        assert np.degrees(middles(drawn, np.full(120, TURN))) % 360 == pytest.approx(50, abs=7)


def test_aligned_draws_lie_within_half_a_period():
    away = aligned(turns(band(-180, 180)), np.full(120, TURN / 3))
    assert np.abs(away).max() <= TURN / 6 + 1e-9


def test_the_resolution_is_in_a_users_unit():
    assert resolution(ROTATION, SIZE) == pytest.approx(np.radians(10))
    assert resolution(SHIFT, SIZE) == pytest.approx(PIXEL)
    assert resolution(SHIFT, (200, 200)) == pytest.approx(4 / 99.5)
    assert resolution(SCALE, SIZE) == pytest.approx(np.log(1.1))


def test_a_finding_is_the_same_after_json():
    for found in (rotation(modes(0, 180)), judge(FLIP, np.zeros((4, 5)), size=SIZE, notes=("a note",))):
        assert Finding.from_dict(json.loads(json.dumps(found.as_dict()))) == found


def test_moved_constants_are_within_a_third():
    moved, rule = Rule().moved(np.random.default_rng(0)), Rule()
    assert moved != rule
    assert 3 / 4 <= moved.valley / rule.valley <= 4 / 3


@pytest.mark.parametrize(
    ("drawn", "match"),
    [
        (np.zeros((0, 5)), r"expected draws \[examples, draws\] of rotation; got \(0, 5\)"),
        (np.zeros(5), r"got \(5,\)"),
        (np.array([[0.0, np.nan]]), "expected finite draws of rotation; got 1 that"),
    ],
)
def test_what_cannot_be_judged_is_refused(drawn, match):
    with pytest.raises(DataError, match=match):
        judge(ROTATION, drawn, size=SIZE)
