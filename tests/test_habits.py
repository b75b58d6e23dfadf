"""The guards that every other test relies on are up."""

import warnings

import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest

from liewise import transforms


def test_a_key_that_is_used_twice_is_an_error():
    group, key = transforms.affine(), jax.random.key(0)
    group.sample(key, 2)
    with pytest.raises(jax.errors.KeyReuseError):
        group.sample(key, 2)


def test_ranks_that_differ_are_an_error():
    with pytest.raises(ValueError, match="rank_promotion"):
        jnp.ones(3) + jnp.ones((2, 3))


@pytest.mark.parametrize("matrices", [np.eye(3), jnp.eye(3)[None], jnp.ones((2, 3, 3), jnp.int32)])
def test_annotations_are_enforced(matrices):
    with pytest.raises(jaxtyping.TypeCheckError):
        transforms.warp(jnp.ones((2, 8, 8, 1)), matrices)


def test_a_warning_is_an_error():
    with pytest.raises(UserWarning, match="heard"):
        warnings.warn("heard", stacklevel=1)
