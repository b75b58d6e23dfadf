"""Each figure is drawn from whatever models there are, and what it computes itself is right."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from tiny_studies import TinyContext

from liewise.studies import study_named
from liewise.studies.iterated import chains
from liewise.studies.marginals import true_ranges
from liewise.studies.orbits import orbit
from liewise.studies.outcome import Outcome, Picture
from liewise.studies.settings import SETTINGS


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    return TinyContext(folder=tmp_path_factory.mktemp("studies"), progress="silent")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "pictures"),
    [
        ("sgm-fig8", {"examples"}),
        ("sgm-fig10", {"marginals"}),
        ("sgm-fig11", {"chains", "movement"}),
        ("sgm-fig13", {"orbits"}),
        ("sgm-fig14", {"orbits"}),
        ("sgm-fig15", {"marginals"}),
        ("sgm-fig16", {"marginals"}),
        ("sgm-fig17", {"positions"}),
    ],
)
def test_a_figure_is_drawn_with_a_table_beside_it(context, name, pictures):
    outcome = study_named(name).load()(context)
    assert isinstance(outcome, Outcome)
    assert set(outcome.pictures) == pictures
    assert all(isinstance(p, Picture) and isinstance(p.figure, Figure) and p.caption for p in outcome.pictures.values())
    assert all(table.rows for table in outcome.tables)
    for picture in outcome.pictures.values():
        picture.figure.draw_without_rendering()


def test_an_orbit_moves_along_the_coordinates_that_are_named_and_no_other(context):
    group = context.fit(SETTINGS["mnist-colour"]).model.group_
    red = np.zeros((8, 8, 3), np.uint8)
    red[..., 0] = 255
    dimmed = orbit(group, red, ("value",), 5, seed=1)
    assert dimmed.shape == (5, 8, 8, 3)
    assert np.allclose(dimmed[..., 1:], 0, atol=1e-6)
    assert np.all(np.diff(dimmed[:, 0, 0, 0]) >= 0)
    turned = orbit(group, red, ("hue",), 5, seed=1)
    assert np.allclose(turned.max(-1), 1, atol=1e-6)
    assert turned.std(0).max() > 0.1


def test_a_chain_begins_with_the_example_and_goes_on_with_prototypes(context):
    fit = context.fit(SETTINGS["mnist-affine"])
    images = fit.examples.test.images[:3]
    chain = chains(fit, images, 2)
    assert np.array_equal(np.rint(chain[0] * 255), images)
    assert np.allclose(chain[1], fit.model.prototype(chain[0]))
    assert np.allclose(chain[2], fit.model.prototype(chain[1]))


def test_the_true_range_holds_every_version_that_could_have_been_made(context):
    """A version of an example with another true hue and saturation lies within the range, as far in as it should."""
    fit = context.fit(SETTINGS["mnist-colour"])
    shown = fit.examples.test[:6]
    ranges, pose = true_ranges(fit, shown), fit.model.pose(shown)
    hue, saturation = (fit.model.group_.index(name) for name in ("hue", "saturation"))
    inside = (360 * pose[:, hue] - ranges["hue"][:, 0]) % 360
    assert np.allclose(inside, shown.factors["hue"].values, atol=1e-3)
    assert np.allclose(np.diff(ranges["hue"]), 108)
    factor = np.exp(pose[:, saturation]) * 0.6 / ranges["saturation"][:, 0]
    assert np.allclose(factor, shown.factors["saturation"].values, rtol=1e-4)
