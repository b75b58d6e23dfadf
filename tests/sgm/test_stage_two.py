"""Whole arrays go through functions of batches, and what stage 2 learns from is what was asked for."""

import belt
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from belt import BELT, SIDE

from liewise.datasets import to_unit
from liewise.sgm import Inference
from liewise.sgm.stage_two import in_batches, make_pairs

IMAGES = belt.images(7)


class Moments(Inference):
    """Reads where the first wave stands, and how bright the image is: exact on the belt."""

    def __call__(self, examples):
        wave = jnp.fft.rfft(jnp.mean(examples[..., 0], 1), axis=1)
        along = -jnp.angle(wave[:, 1]) / (2 * jnp.pi)
        return jnp.stack([along, jnp.log(jnp.mean(examples + 1, (1, 2, 3)))], -1)


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_batches_give_what_the_whole_gives(size):
    keys = jax.random.split(jax.random.key(0), 7)
    seen = []

    def noisy(images, keys):
        seen.append(len(images))
        return {"sum": images.sum((1, 2, 3)), "noise": jax.vmap(jax.random.normal)(keys)}

    found = in_batches(noisy, IMAGES, jax.random.clone(keys), size=size)
    assert np.array_equal(found["sum"], IMAGES.sum((1, 2, 3)))
    assert np.array_equal(found["noise"], jax.vmap(jax.random.normal)(keys))
    assert set(seen) == {min(size, 7)}  # one shape, so one compilation


def test_pairs_are_poses_and_prototypes_of_transformed_examples():
    pairs = make_pairs(Moments(BELT), IMAGES, draws=3, key=jax.random.key(0))
    assert (pairs.prototypes.shape, pairs.prototypes.dtype) == ((7, 3, SIDE, SIDE, 1), np.uint8)
    examples = to_unit(IMAGES)
    eta = Moments(BELT)(examples)
    assert np.allclose(pairs.eta, eta, atol=1e-6)
    prototypes = (np.asarray(BELT.act(-eta, examples)) + 1) * 127.5
    # an exact inference finds the same prototype in every transformed copy, but for the rounding of bytes
    assert np.abs(pairs.prototypes - prototypes[:, None]).max() < 1.5


def test_pairs_see_copies_that_differ():
    class Blind(Inference):
        def __call__(self, examples):
            return jnp.zeros((len(examples), 2))

    copies = make_pairs(Blind(BELT), IMAGES, draws=3, key=jax.random.key(0)).prototypes.astype(float)
    assert np.abs(copies[:, 0] - copies[:, 1]).mean() > 5
    assert np.abs(copies[0] - copies[1]).mean() > 5


def test_pairs_take_no_more_memory_than_allowed():
    two = 2 * 3 * SIDE * SIDE  # bytes of the prototypes of two images
    whole = make_pairs(Moments(BELT), IMAGES, draws=3, key=jax.random.key(0))
    some = make_pairs(Moments(BELT), IMAGES, draws=3, key=jax.random.key(0), most_bytes=two + 5)
    assert some.prototypes.nbytes == two
    assert np.allclose(some.eta, whole.eta[:2], atol=1e-6)
    assert np.abs(some.prototypes.astype(int) - whole.prototypes[:2]).max() <= 1
    assert len(make_pairs(Moments(BELT), IMAGES, draws=3, key=jax.random.key(0), most_bytes=1).eta) == 1
