"""How far transformations go, against draws whose ranges are known."""

import numpy as np
import pytest

from liewise import transforms
from liewise.sgm import Densities, natural_ranges
from liewise.transforms import product

N = 200  # examples


class Drawn(Densities):
    """Densities whose samples are given."""

    def __init__(self, group, draw, size=(9, 17)):
        self.coordinates, self.size, self._draw = group.coordinates, size, draw

    def sample(self, key, n):
        del key
        eta = self._draw(np.random.default_rng(0), (N, n))
        return np.stack(eta, -1).astype(np.float32)


def only_range(group, draw):
    (found,) = natural_ranges(Drawn(group, draw))
    return found


def test_a_shift_is_in_pixels_whatever_the_prototypes_own_place():
    def draw(rng, shape):
        own = rng.uniform(-3, 3, (shape[0], 1))  # where an example's prototype stands
        return [own + rng.uniform(-0.5, 0.5, shape)]

    found = only_range(transforms.affine("shift-x"), draw)
    assert (found.low, found.high) == pytest.approx((-0.475 * 8, 0.475 * 8), abs=0.1)  # half extents of 8 pixels
    assert found.box == pytest.approx((-2.0, 2.0))


@pytest.mark.parametrize("middle", [0.0, 2.0, np.pi, -3.0])
def test_a_rotation_is_in_degrees_wherever_on_the_circle(middle):
    def draw(rng, shape):
        return [(middle + rng.uniform(-1, 1, shape) + np.pi) % (2 * np.pi) - np.pi]

    found = only_range(transforms.affine("rotation"), draw)
    assert (found.low, found.high) == pytest.approx((-54.4, 54.4), abs=1.5)
    assert found.box == pytest.approx((-180.0, 180.0))


def test_a_uniform_rotation_goes_all_the_way_round():
    found = only_range(transforms.affine("rotation"), lambda rng, shape: [rng.uniform(-np.pi, np.pi, shape)])
    assert (found.low, found.high) == pytest.approx((-171, 171), abs=2)


def test_one_side_may_go_further_than_the_other():
    found = only_range(transforms.affine("scale"), lambda rng, shape: [rng.exponential(0.3, shape)])
    median = np.log(2) * 0.3
    ends = [np.exp(-0.3 * np.log(1 - level) - median) for level in (0.025, 0.975)]
    assert (found.low, found.high) == pytest.approx(ends, rel=0.03)


def test_what_is_absent_has_no_width():
    found = only_range(transforms.colour("value"), lambda rng, shape: [np.full(shape, 0.4)])
    assert (found.low, found.high) == pytest.approx((1.0, 1.0))


def test_mirroring_is_the_share_that_is_the_other_way():
    def draw(rng, shape):
        rate = np.where(np.arange(shape[0]) % 2, 0.9, 0.2)[:, None]  # either way may be the example's natural one
        return [(rng.random(shape) < rate).astype(float)]

    found = only_range(transforms.flips("flip-x"), draw)
    assert (found.low, found.high) == pytest.approx((0.0, 0.15), abs=0.01)


def test_there_is_a_range_for_every_coordinate_in_order():
    group = product(transforms.affine("shift-x", "rotation"), transforms.colour("hue"))

    def draw(rng, shape):
        return [np.zeros(shape), rng.uniform(-0.2, 0.2, shape), rng.uniform(-0.1, 0.1, shape)]

    found = natural_ranges(Drawn(group, draw))
    assert [r.coordinate.name for r in found] == ["shift-x", "rotation", "hue"]
    assert [r.high for r in found] == pytest.approx([0.0, np.rad2deg(0.19), 0.095 * 360], abs=0.3)
