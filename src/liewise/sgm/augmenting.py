"""From a fitted model to its augmenter and its export: programs for NumPy, and a store of draws for known images."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from liewise.augment import Pool, Sampler
from liewise.augment.tracing import write_program
from liewise.datasets import to_unit
from liewise.sgm.inference import prototypes
from liewise.sgm.queries import Keys, Parts, draw_from, relate
from liewise.sgm.stage_two import in_batches

__all__ = ["make_pool", "make_sampler"]


def make_sampler(parts: Parts, image_shape: tuple[int, int, int]) -> Sampler:
    """Write down what a sampler needs of the two networks and their group."""
    group = parts.inference.group
    element = jax.eval_shape(group.element, _floats(1, group.dim))
    leaves, tree = jax.tree.flatten(element)
    features = jax.eval_shape(parts.density.features, _floats(1, *image_shape)).shape[1]

    def look(examples: jax.Array) -> tuple[jax.Array, ...]:
        pose, found = prototypes(parts.inference, examples)
        return pose, found, parts.density.features(found)

    def act(*given: jax.Array) -> jax.Array:
        return group.act(jax.tree.unflatten(tree, given[:-1]), given[-1])

    def read(*given: jax.Array) -> jax.Array:
        relation, pose = jax.tree.unflatten(tree, given[:-1]), given[-1]
        return group.parameters(group.compose(relation, group.element(pose)))

    def elements(b: int) -> list[jax.ShapeDtypeStruct]:
        return [jax.ShapeDtypeStruct((b, *leaf.shape[1:]), leaf.dtype) for leaf in leaves]

    def etas(b: int) -> list[jax.ShapeDtypeStruct]:
        return [_floats(b, group.dim)]

    keys = jax.eval_shape(lambda: jax.random.key(0)).dtype
    programs = {
        "look": write_program(look, lambda b: [_floats(b, *image_shape)]),
        "draw": write_program(
            lambda features, keys, n: draw_from(parts.density, features, keys, n),
            lambda b, n: [_floats(b, features), jax.ShapeDtypeStruct((b,), keys)],
            ("b", "n"),
        ),
        "relate": write_program(lambda eta, pose: relate(group, eta, pose), lambda b: etas(b) + etas(b)),
        "act": write_program(act, lambda b: [*elements(b), _floats(b, *image_shape)]),
        "read": write_program(read, lambda b: elements(b) + etas(b)),
    }
    return Sampler(programs, image_shape, group.names)


def make_pool(parts: Parts, images: np.ndarray, draws: int, key: PRNGKeyArray) -> Pool:
    """Find the poses of images, and draw for each the transformations that its versions will be made by."""
    keys = jax.random.split(key, len(images))
    pose, relations = in_batches(lambda x, k: _known(parts, to_unit(x), k, draws), images, keys)
    return Pool(images, pose, jax.tree.leaves(relations))


@eqx.filter_jit
def _known(parts: Parts, examples: jax.Array, keys: Keys, draws: int) -> tuple[jax.Array, Any]:
    pose, found = prototypes(parts.inference, examples)
    eta = draw_from(parts.density, parts.density.features(found), keys, draws)
    group = parts.inference.group
    relations = relate(group, eta.reshape(-1, group.dim), jnp.repeat(pose, draws, 0))
    return pose, jax.tree.map(lambda leaf: leaf.reshape(len(examples), draws, *leaf.shape[1:]), relations)


def _floats(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)
