"""Pixels between bytes, [0, 1] and the models' [-1, 1]."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from liewise.datasets import to_bytes, to_unit
from liewise.errors import DataError

EVERY_BYTE = np.arange(256, dtype=np.uint8)


def test_every_byte_survives_the_way_there_and_back():
    assert np.array_equal(to_bytes(to_unit(EVERY_BYTE)), EVERY_BYTE)


def test_bytes_and_floats_of_the_same_image_agree():
    np.testing.assert_allclose(to_unit(EVERY_BYTE), to_unit(EVERY_BYTE / np.float32(255)), atol=1e-6)
    assert to_unit(EVERY_BYTE).dtype == jnp.float32


def test_conversion_compiles_and_agrees():
    # a compiler may contract the product and the sum into one rounding
    np.testing.assert_allclose(jax.jit(to_unit)(EVERY_BYTE), to_unit(EVERY_BYTE), atol=1e-6)
    assert np.array_equal(jax.jit(to_bytes)(to_unit(EVERY_BYTE)), EVERY_BYTE)


def test_overshooting_pixels_are_clipped():
    assert to_bytes(jnp.array([-3.0, -1.0, 1.0, 3.0])).tolist() == [0, 0, 255, 255]


def test_other_kinds_of_numbers_are_refused():
    with pytest.raises(DataError, match="expected images as uint8, or floats in"):
        to_unit.__wrapped__(np.zeros(3, np.int64))
