"""What stage 2 learns from: each example's pose, and prototypes of the example transformed at random (`004`, §3.1)."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key, PRNGKeyArray

from liewise.datasets import to_bytes, to_unit
from liewise.sgm.inference import Inference, prototypes

__all__ = ["Pairs", "in_batches", "make_pairs"]

_BATCH = 256  # examples at a time
_MOST_BYTES = 2**30  # of prototypes


class Pairs(NamedTuple):
    """Poses, and several draws of the prototype that belongs to each."""

    prototypes: np.ndarray  # uint8 [n, draws, height, width, channels]
    eta: np.ndarray  # [n, dim]


def make_pairs(
    inference: Inference, images: np.ndarray, *, draws: int, key: PRNGKeyArray, most_bytes: int = _MOST_BYTES
) -> Pairs:
    """Find the poses of images, and prototypes of `draws` random transformations of each.

    Where that would be more than so many bytes, only the first images are taken; ones in random order, please.
    """
    images = images[: max(1, most_bytes // (draws * images[0].size))]
    keys = jax.random.split(key, len(images))
    found, eta = in_batches(lambda images, keys: _pairs(inference, images, keys, draws), images, keys)
    return Pairs(found, eta)


def in_batches(function, *arrays, size: int = _BATCH):
    """Apply a function of batches to whole arrays, so many rows at a time; the last batch is filled up.

    The result's leaves are NumPy arrays; one compilation serves every batch.
    """
    count = len(arrays[0])
    size = min(size, count)
    parts = []
    for start in range(0, count, size):
        places = np.minimum(np.arange(start, start + size), count - 1)
        result = jax.tree.map(np.asarray, function(*(array[places] for array in arrays)))
        parts.append(jax.tree.map(lambda leaf, n=count - start: leaf[:n], result))
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)


@eqx.filter_jit
def _pairs(inference: Inference, images, keys: Key[Array, " batch"], draws: int):
    group, examples = inference.group, to_unit(images)
    eta = inference(examples)
    drawn = jax.vmap(lambda k: group.sample(k, draws))(keys).reshape(-1, group.dim)
    copies = group.act(group.element(drawn), jnp.repeat(examples, draws, 0))
    _, found = prototypes(inference, copies)
    return to_bytes(found).reshape(len(images), draws, *examples.shape[1:]), eta
