"""Networks that find poses: equivariant by construction, whatever the group; and what training makes of them."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float
from scipy.ndimage import convolve1d

from liewise import datasets, transforms
from liewise.measure import invariance
from liewise.sgm import (
    Equivariant,
    InferenceConfig,
    Plain,
    build_inference,
    fit_inference,
    inference_training,
    make_inference_loss,
    prototypes,
)
from liewise.sgm.inference_fitting import blurred
from liewise.transforms import affine, colour, flips, product

SMALL = InferenceConfig(hidden=(16,), looks=(1, 1), looks_at_use=(2, 1))
GROUPS = {
    "all affine": affine(),
    "shear": affine("shear"),
    "one scale": affine("scale-x"),
    "uniform scale": affine("scale", "rotation"),
    "exp chart": affine(chart="exp"),
    "flips": flips("flip-x", "flip-y"),
    "turned and mirrored": product(affine("rotation"), flips("flip-x")),
    "colour": colour(),
    "hue": colour("hue"),
    "affine and colour": product(affine("shift", "rotation"), colour()),
}

QUICK = ("all affine", "turned and mirrored", "hue")  # to compile; the others are slow tests


def hearts(n: int = 6, size: int = 25):
    """Small hearts that point anywhere, so that what is moved stays in the frame."""
    here = {"x": datasets.Constant(0.5), "y": datasets.Constant(0.5), "scale": datasets.Constant(0.5)}
    spread = {"heart": here | {"orientation": datasets.Uniform(0.0, 360.0)}}
    return datasets.load("sprites", n=n, size=size, shapes=("heart",), distributions=spread, seed=1).train.images


def pictures(coloured: bool, n: int = 6):
    if not coloured:
        return hearts(n)
    tints = np.random.default_rng(0).uniform(0.3, 0.9, (n, 1, 1, 3))
    return (hearts(n) * tints).astype(np.uint8)


class Series(transforms.Additive):
    """Delays of periodic signals: a group of one's own, on examples that are not images."""

    def act(self, element: Float[Array, "batch dim"], examples: Float[Array, "batch time"]):
        time = examples.shape[1]
        cycles = jnp.fft.rfftfreq(time)[None] * time
        return jnp.fft.irfft(jnp.fft.rfft(examples) * jnp.exp(-2j * jnp.pi * cycles * element), time)


def test_what_is_moved_by_whole_pixels_is_found_to_be_moved_by_as_much():
    images = datasets.to_unit(hearts())
    group = affine("shift")
    model = Equivariant(group, images, hidden=(16,), key=jax.random.key(0))
    by = jnp.repeat(jnp.array([[2.0, -1.0]]) / 12, len(images), 0)  # pixels over half extents
    after = model(group.act(group.element(by), images))
    np.testing.assert_allclose(after - model(images), by, atol=1e-5)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_an_example_turned_by_quarters_has_the_same_prototype(quarters: int):
    images = datasets.to_unit(hearts())
    model = Equivariant(affine(), images, hidden=(16,), key=jax.random.key(0))
    found = [prototypes(model, x)[1] for x in (images, jnp.rot90(images, quarters, (1, 2)))]
    apart = jnp.mean((found[0] - found[1]) ** 2, (1, 2, 3)) / jnp.var(images)
    assert float(jnp.max(apart)) < 2e-3


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow) for n in GROUPS])
def test_every_group_is_served_and_its_gradients_are_finite_and_reach_all_that_is_learned(name: str):
    group = GROUPS[name]
    images = pictures("hue" in group.names or "value" in group.names)
    model = build_inference(group, datasets.to_unit(images), SMALL, key=jax.random.key(0))
    # corrections begin as zero, and nothing reaches what comes before a zero
    model = eqx.tree_at(lambda m: m.correction.layers[-1].weight, model, replace_fn=lambda w: w + 0.01)
    loss = make_inference_loss(SMALL)

    @eqx.filter_jit
    @eqx.filter_value_and_grad(has_aux=True)
    def graded(model, key):
        return loss(model, {"images": jnp.asarray(images)}, key)

    (total, parts), slopes = graded(model, jax.random.key(1))
    assert np.isfinite(total)
    assert all(np.isfinite(part) for part in parts.values())
    for path, slope in jax.tree_util.tree_leaves_with_path(slopes):
        assert np.isfinite(slope).all(), path
    learned = eqx.filter(slopes.correction, eqx.is_inexact_array)
    if any(c.steps is None for c in group.coordinates):
        assert all(np.any(leaf != 0) for leaf in jax.tree.leaves(learned))
    for estimator in slopes.ways:
        leaves = jax.tree.leaves(eqx.filter(estimator, eqx.is_inexact_array))
        assert all(np.any(leaf != 0) for leaf in leaves[:-1])  # the last bias moves all scores alike


def test_a_group_of_ones_own_is_found_by_corrections_alone():
    group = Series((transforms.Coordinate("delay", "deg", "later", -0.5, 0.5, period=1.0),))
    waves = jnp.sin(2 * jnp.pi * jnp.arange(32) / 32)[None].repeat(4, 0)
    model = Equivariant(group, waves, hidden=(8,), key=jax.random.key(0))
    assert model(waves).shape == (4, 1)
    assert not model.first
    assert not model.ways


def test_transformations_that_are_no_group_are_completed_unless_that_is_forbidden():
    images = datasets.to_unit(hearts())
    group = affine("rotation", "scale-x", "scale-y")
    whole = build_inference(group, images, SMALL, key=jax.random.key(0)).group
    asked = build_inference(group, images, InferenceConfig(hidden=(16,), complete=False), key=jax.random.key(0)).group
    assert set(whole.names) - set(group.names) == {"shear"}
    assert asked.names == group.names


def test_large_images_are_looked_at_from_further_away_and_posed_at_full_size():
    images = datasets.to_unit(hearts(3, size=80))
    model = Equivariant(affine("rotation"), images, hidden=(8,), key=jax.random.key(0))
    assert model.correction.layers[0].weight.shape[0] == 32 * 32
    assert prototypes(model, images)[1].shape == images.shape


def test_what_can_be_moved_to_the_middle_is_looked_at_there_alone():
    images = datasets.to_unit(hearts(3, size=80))
    model = Equivariant(affine("shift", "rotation"), images, hidden=(8,), key=jax.random.key(0))
    side = round(model.correction.layers[0].weight.shape[0] ** 0.5)
    middle = (80 - side) // 2
    inside = (images[:, middle : middle + side, middle : middle + side] > -1).sum()
    assert side < 32
    assert int(inside) == int((images > -1).sum())


def test_content_at_the_border_gives_poses_within_reach():
    images = jnp.ones((3, 16, 16, 1)).at[:, :, 8:].set(-1.0)
    group = affine()
    model = Equivariant(group, images, hidden=(8,), key=jax.random.key(0))
    low, high = (np.asarray(end) for end in group.box)
    eta = np.asarray(model(images))
    assert (eta >= (low + high) / 2 - 4 * (high - low)).all()
    assert (eta <= (low + high) / 2 + 4 * (high - low)).all()


def test_the_paper_s_network_stays_in_the_box_where_it_is_told_to_and_draws_around_its_mean():
    images = 50.0 * jax.random.normal(jax.random.key(0), (64, 12, 12, 1))
    model = Plain(affine(), (12, 12, 1), hidden=(16,), bounded=True, key=jax.random.key(1))
    low, high = model.group.box
    eta = model(images)
    assert bool(jnp.all((eta >= low[None]) & (eta <= high[None])))
    free = Plain(affine(), (12, 12, 1), hidden=(16,), key=jax.random.key(1))
    drawn = free.trace(images, jax.random.key(2)).eta - free(images)
    np.testing.assert_allclose(jnp.std(drawn), jax.nn.softplus(-3.0), rtol=0.1)


def test_the_paper_s_sizes():
    plain = InferenceConfig.paper("mnist")
    assert (plain.network, plain.hidden, plain.views, plain.pairs) == ("plain", (2048, 1024, 512, 256), 5, "views")
    assert InferenceConfig.paper("dsprites").pairs == "one view"
    assert InferenceConfig.paper("mnist-colour").blur == 3.0
    assert plain.invertibility_weight == 0.1


@pytest.mark.parametrize("sigma", [0.5, 3.0])
def test_blur_is_a_gaussian_of_five_pixels(sigma: float):
    images = np.random.default_rng(0).uniform(-1, 1, (2, 9, 11, 1)).astype(np.float32)
    weights = np.exp(-0.5 * (np.arange(-2, 3) / sigma) ** 2)
    weights /= weights.sum()
    expected = convolve1d(convolve1d(images, weights, axis=1, mode="nearest"), weights, axis=2, mode="nearest")
    np.testing.assert_allclose(blurred(jnp.asarray(images), sigma), expected, atol=1e-5)
    np.testing.assert_allclose(blurred(jnp.asarray(images), 0.0), images, atol=1e-6)


@pytest.mark.slow
def test_a_minute_of_training_makes_prototypes_of_digits_that_do_not_move(data_dir):
    data = datasets.load("mnist", data_dir=data_dir)
    result = fit_inference(affine(), data.train.images, InferenceConfig(), inference_training(150), progress="silent")
    found = invariance(result.best, result.best.group, data.test.images[:200], key=jax.random.key(0), iterations=2)
    assert found.mean < 0.1
    assert found.median < 0.03
    assert found.ink_kept > 0.9
