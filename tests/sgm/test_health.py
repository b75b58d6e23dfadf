"""A failed stage 1 says so in words; a good one says nothing."""

import belt
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from belt import BELT

from liewise.sgm import Inference
from liewise.sgm.health import check_health, complaints
from liewise.transforms import Additive, Coordinate

KEY = jax.random.key(0)
GOOD = {"ink": 1.0, "ratio/mean": 0.02, "round trip": 1e-3, "round trip/plain": 1.1}


class Exact(Inference):
    """Reads where the first wave stands, and how bright the image is."""

    def __call__(self, examples):
        wave = jnp.fft.rfft(jnp.mean(examples[..., 0], 1), axis=1)
        gain = jnp.log(jnp.mean(examples + 1, (1, 2, 3)) / 0.7)
        return jnp.stack([-jnp.angle(wave[:, 1]) / (2 * jnp.pi), gain], -1)


class Still(Inference):
    """Finds nothing."""

    def __call__(self, examples):
        return jnp.zeros((len(examples), 2))


class Darkening(Exact):
    """Finds that every image is as bright as can be, so that its prototype is all but black."""

    def __call__(self, examples):
        return super().__call__(examples) + jnp.array([[0.0, 5.0]])


class Window(Additive):
    """Moves images up and down; what leaves the frame is gone."""

    def act(self, element, examples):
        rows = jnp.arange(examples.shape[1])[None, :] - jnp.round(8 * element)
        inside = (rows >= 0) & (rows < examples.shape[1])
        read = jnp.clip(rows, 0, examples.shape[1] - 1).astype(int)
        moved = jnp.take_along_axis(examples, read[:, :, None, None], 1)
        return jnp.where(inside[:, :, None, None], moved, -1.0)


WINDOW = Window((Coordinate("down", "", "down", -0.1, 0.1),))


class Away(Inference):
    """Leads everything out of the frame."""

    def __call__(self, examples):
        return jnp.full((len(examples), 1), -0.9)


def said(inference, images):
    return complaints(check_health(inference, images, key=KEY))


def test_a_good_inference_is_not_complained_of():
    assert said(Exact(BELT), belt.images(8)) == ()


def test_prototypes_that_vary_as_the_copies_do_are_complained_of():
    (complaint,) = said(Still(BELT), belt.images(8))
    assert complaint.startswith("prototypes are hardly invariant: 100% of the variance")


def test_dark_prototypes_are_complained_of():
    assert any("lose content: they keep 1% of the ink" in text for text in said(Darkening(BELT), belt.images(8)))


def test_blank_prototypes_are_complained_of_though_they_are_invariant():
    found = check_health(Away(WINDOW), belt.images(8), key=KEY)
    assert found["ratio/mean"] < 0.5
    (complaint,) = complaints(found)
    assert complaint.startswith("prototypes lose content")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("ink", 0.2, "they keep 20% of the ink; make the box smaller"),
        ("ratio/mean", 0.7, "70% of the variance of transformed copies is left in them; train for longer"),
        ("round trip/plain", 4.0, "the round trip errs 4.0 times as much as a plain warp"),
    ],
)
def test_each_fault_is_said_with_its_number_and_a_remedy(name, value, words):
    (complaint,) = complaints({**GOOD, name: value})
    assert words in complaint


def test_what_could_not_be_measured_is_not_complained_of():
    assert complaints(dict.fromkeys(GOOD, float("nan"))) == ()


def test_rounding_on_the_way_back_is_no_fault():
    exact = {**GOOD, "round trip": 5e-14, "round trip/plain": 20.0}  # the plain way loses all but nothing, either
    assert complaints(exact) == ()


def test_health_is_measured_on_the_held_out_and_does_not_depend_on_their_number_beyond_need():
    images = np.concatenate([belt.images(8)] * 17)
    assert check_health(Still(BELT), images, key=KEY)["examples"] == 128
