"""The measure says what a few naive lines say, and tells good inferences from bad ones."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float

from liewise import transforms
from liewise.errors import DataError, LiewiseError, TransformError
from liewise.measure import invariance, resultant

SIZE = 17
TURNS = transforms.affine("rotation")
KEY = jax.random.key(0)


def spots(n=6):
    """A soft spot off the centre, somewhere round it, and a smaller one to its side: no example is symmetric."""
    axis = np.linspace(-1, 1, SIZE)
    images = np.zeros((n, SIZE, SIZE))
    for image, angle in zip(images, np.random.default_rng(0).uniform(-np.pi, np.pi, n), strict=True):
        for turn, far, strength in ((0.0, 0.4, 1.0), (0.9, 0.5, 0.3)):
            x, y = far * np.cos(angle + turn), -far * np.sin(angle + turn)
            image += strength * np.exp(-((axis[None, :] - x) ** 2 + (axis[:, None] - y) ** 2) / 0.06)
    return (2 * np.clip(images, 0, 1) - 1).astype(np.float32)[..., None]


def direction(images):
    """The angle at which the ink lies, counter-clockwise: it turns as a spot does."""
    axis = jnp.linspace(-1, 1, images.shape[1])
    ink = (images[..., 0] + 1) / 2
    return jnp.arctan2(-jnp.sum(ink * axis[None, :, None], (1, 2)), jnp.sum(ink * axis[None, None, :], (1, 2)))[:, None]


def by_half_turns(images):
    """The same with an error of half a turn, for half of the angles."""
    angle = direction(images)
    return angle + jnp.pi * (jnp.sin(2.0 * angle + 0.3) > 0)


def still(examples):
    return jnp.zeros((examples.shape[0], 1))


class Listed(transforms.Affine):
    """Turns whose random box is a list, the same for every example."""

    def sample(self, key: jax.Array, batch: int) -> Float[Array, "batch dim"]:
        return jnp.linspace(-2.0, 2.5, batch)[:, None]


class Levels(transforms.Additive):
    """What a level adds to every value of a series, once for each coordinate; quick to compile."""

    def act(self, element: Float[Array, "batch dim"], examples: Float[Array, "batch time"]):
        return examples + jnp.sum(element, 1, keepdims=True)


def levels(*limits):
    return Levels(tuple(transforms.Coordinate(f"level-{i}", "", "up", -x, x) for i, x in enumerate(limits)))


def level(series):
    """A level that is seen, and one that is a little off, by how much depending on the level."""
    mean = jnp.mean(series, 1, keepdims=True)
    return mean + 0.1 * jnp.sin(5 * mean)


def series(n=5):
    return np.random.default_rng(0).uniform(-0.5, 0.5, (n, 9)).astype(np.float32)


@pytest.fixture(scope="module")
def turned():
    """What is found for an inference that turns with the example."""
    return invariance(direction, TURNS, spots(), key=KEY)


@pytest.fixture(scope="module")
def half_turned():
    return invariance(by_half_turns, TURNS, spots(), key=KEY)


def test_the_measure_is_what_naive_lines_say():
    group, images = Listed(TURNS.coordinates), spots(2)
    found = invariance(by_half_turns, group, images, key=KEY, copies=5)

    @jax.jit
    def acted(eta, image):
        return group.act(group.element(eta[None, None]), image[None])[0]

    @jax.jit
    def found_for(image):
        return by_half_turns(image[None])[0, 0]

    def act(eta, image):
        return np.asarray(acted(jnp.float32(eta), image))

    for i, image in enumerate(images):
        true = np.linspace(-2.0, 2.5, 5)
        copies = [act(eta, image) for eta in true]
        eta = [float(found_for(copy)) for copy in copies]
        prototypes = [act(-e, copy) for e, copy in zip(eta, copies, strict=True)]
        undone = [act(-e, copy) for e, copy in zip(true, copies, strict=True)]
        back = [act(e, prototype) for e, prototype in zip(eta, prototypes, strict=True)]
        plain = [act(e, one) for e, one in zip(true, undone, strict=True)]
        variance = np.var(copies, axis=0).mean()
        expected = {
            "ratio": np.var(prototypes, axis=0).mean() / variance,
            "floor": np.var(undone, axis=0).mean() / variance,
            "ink": (np.array(prototypes) + 1).sum() / (np.array(copies) + 1).sum(),
            "round_trip": np.mean((np.array(back) - copies) ** 2),
            "plain": np.mean((np.array(plain) - copies) ** 2),
        }
        assert {name: getattr(found, name)[i] for name in expected} == pytest.approx(expected, rel=1e-3)
        error = np.array(eta) - true
        assert found.whole_turn["rotation"][i] == pytest.approx(abs(np.exp(1j * error).mean()), abs=1e-4)
        assert found.half_turn["rotation"][i] == pytest.approx(abs(np.exp(2j * error).mean()), abs=1e-4)
        first = float(found_for(image))
        second = float(found_for(act(-first, image)))
        wrapped = [abs((e + np.pi) % (2 * np.pi) - np.pi) for e in (first, second)]
        np.testing.assert_allclose(found.moves[i, :2, 0], wrapped, atol=1e-3)


def test_an_inference_that_turns_with_the_example_reaches_the_floor(turned):
    assert turned.median < 2 * np.median(turned.floor) < 0.02
    assert turned.ink_kept == pytest.approx(1, abs=0.02)
    assert turned.round_trip_ratio < 1.5
    assert turned.whole_turn["rotation"].min() > 0.99
    assert turned.movement["rotation"][0] > 0.1 > 0.01 > turned.movement["rotation"][1:].max()


def test_an_inference_that_sees_nothing_has_a_ratio_of_one():
    found = invariance(still, TURNS, spots(), key=KEY)
    np.testing.assert_allclose(found.ratio, 1, atol=1e-3)
    np.testing.assert_allclose(found.ink, 1, atol=1e-3)
    np.testing.assert_allclose(found.moves, 0)
    assert found.whole_turn["rotation"].mean() < 0.5


def test_prototypes_moved_out_of_the_frame_are_invariant_and_have_no_ink():
    found = invariance(lambda x: jnp.full((x.shape[0], 2), 5.0), transforms.affine("shift"), spots(2), key=KEY)
    np.testing.assert_allclose(found.ratio, 0, atol=1e-6)
    np.testing.assert_allclose(found.ink, 0, atol=1e-6)


def test_ink_is_what_differs_from_the_background_that_is_named():
    on_white = 1 - series() ** 2
    found = invariance(lambda x: jnp.mean(x, 1, keepdims=True) - 1, levels(0.1), on_white, key=KEY, background=1.0)
    np.testing.assert_allclose(found.ink, 0, atol=1e-4)


def test_an_error_of_half_turns_is_seen_at_the_whole_turn_and_forgiven_at_the_half(half_turned):
    assert half_turned.half_turn["rotation"].min() > 0.98
    assert half_turned.whole_turn["rotation"].max() < 0.6
    assert half_turned.summary()["rotation/consistent"] == 0
    assert half_turned.mean > 0.3


def test_an_example_has_the_same_numbers_in_batches_of_any_size():
    one, other = (invariance(level, levels(0.5), series(), key=KEY, batch=b) for b in (2, 64))
    np.testing.assert_allclose(one.ratio, other.ratio, rtol=1e-4)
    np.testing.assert_allclose(one.moves, other.moves, atol=1e-6)
    assert len(one) == 5


def test_another_key_draws_other_copies():
    one, other = (invariance(level, levels(0.5), series(), key=jax.random.key(s)).mean for s in (0, 1))
    assert one != other
    assert one == pytest.approx(other, rel=0.5)


def test_batches_are_compiled_once():
    traced = []

    def counted(examples):
        traced.append(examples.shape)
        return still(examples)

    invariance(counted, levels(0.5), series(7), key=KEY, copies=3, batch=2)
    assert len(traced) == len(set(traced)) == 2  # copies, and the examples whose prototypes are iterated


def test_bytes_are_read_as_pixels():
    as_bytes = np.random.default_rng(0).integers(0, 256, (3, 9), np.uint8)
    as_floats = (as_bytes / 127.5 - 1).astype(np.float32)
    one, other = (invariance(level, levels(0.5), x, key=KEY) for x in (as_bytes, as_floats))
    np.testing.assert_allclose(one.ratio, other.ratio, rtol=1e-3)


def test_an_example_that_no_transformation_changes_has_no_ratio_and_is_left_out_of_the_mean():
    images = np.random.default_rng(0).uniform(-1, 1, (3, 4, 4, 3)).astype(np.float32)
    images[2] = -1.0
    found = invariance(still, transforms.colour("hue"), images, key=KEY)
    assert np.isnan(found.ratio).tolist() == [False, False, True]
    assert np.isnan(found.ink).tolist() == [False, False, True]
    assert found.mean == pytest.approx(1, abs=1e-3)
    assert found.whole_turn["hue"].max() < 0.6  # of a period of its own: hues in the box lie all round


def test_a_coordinate_whose_box_has_no_width_has_no_relative_movement():
    found = invariance(lambda x: jnp.full((x.shape[0], 2), 0.1), levels(0.0, 0.5), series(2), key=KEY, iterations=3)
    assert list(found.movement) == ["level-1"]
    np.testing.assert_allclose(found.movement["level-1"], 0.1, rtol=1e-6)
    assert found.moves.shape == (2, 3, 2)


def test_the_numbers_of_some_examples_can_be_taken(half_turned):
    part = half_turned.take(np.arange(6) % 2 == 0)
    assert len(part) == part.summary()["examples"] == 3
    assert part.mean == pytest.approx(half_turned.ratio[[0, 2, 4]].mean())
    assert part.half_turn["rotation"].tolist() == half_turned.half_turn["rotation"][[0, 2, 4]].tolist()


def test_the_summary_has_every_number_by_name(turned):
    numbers = turned.summary()
    assert numbers["ratio/mean"] == turned.mean
    assert numbers["floor/median"] == pytest.approx(np.median(turned.floor))
    assert numbers["rotation/moved"] == pytest.approx(turned.moves[:, 1, 0].mean() / (2 * np.pi))
    assert numbers["rotation/consistent"] == 1
    assert all(isinstance(value, float) for value in numbers.values())


def test_poses_that_are_not_finite_are_refused():
    with pytest.raises(LiewiseError, match="not finite"):
        invariance(lambda x: jnp.full((x.shape[0], 1), jnp.nan), levels(0.5), series(), key=KEY)


def test_what_cannot_be_measured_is_refused_by_name():
    with pytest.raises(LiewiseError, match="copies of at least 2; got 1"):
        invariance(still, TURNS, spots(2), key=KEY, copies=1)
    with pytest.raises(DataError, match="at least one example"):
        invariance(still, TURNS, spots(2)[:0], key=KEY)
    with pytest.raises(TransformError, match="height, width, channels"):
        invariance(still, TURNS, spots(2)[..., 0], key=KEY)


def test_the_resultant_is_one_for_equal_angles_and_none_for_angles_all_round():
    angles = np.stack([np.full(8, 2.0), np.arange(8) * np.pi / 4]).astype(np.float32)
    np.testing.assert_allclose(resultant(angles), [1, 0], atol=1e-6)
