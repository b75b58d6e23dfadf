"""What one asks of a fitted model, as pure functions of batches in [-1, 1]."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from liewise.sgm.density import Density
from liewise.sgm.inference import Inference, prototypes
from liewise.transforms import Group

__all__ = ["Parts", "draw_poses", "find", "log_prob", "posed", "resample"]

Examples = Float[Array, "batch height width channels"]
Eta = Float[Array, "batch dim"]
Keys = Key[Array, " batch"]  # one for each example


class Parts(NamedTuple):
    """The two networks of a model."""

    inference: Inference
    density: Density


@eqx.filter_jit
def find(parts: Parts, examples: Examples) -> tuple[Eta, Examples]:
    """Return poses and prototypes."""
    return prototypes(parts.inference, examples)


@eqx.filter_jit
def resample(parts: Parts, examples: Examples, keys: Keys, n: int) -> Float[Array, "batch n height width channels"]:
    """Return n natural versions of each example, each example by its own key; one warp from the example itself."""
    group = parts.inference.group
    eta, found = prototypes(parts.inference, examples)
    drawn = _draw(parts.density, found, keys, n).reshape(-1, group.dim)
    there = group.compose(group.element(drawn), group.inverse(group.element(jnp.repeat(eta, n, 0))))
    versions = group.act(there, jnp.repeat(examples, n, 0))
    return versions.reshape(len(examples), n, *examples.shape[1:])


@eqx.filter_jit
def log_prob(parts: Parts, examples: Examples) -> Float[Array, " batch"]:
    """Return log p(η|x̂) of each example's own pose."""
    eta, found = prototypes(parts.inference, examples)
    return parts.density.log_prob(eta, found)


@eqx.filter_jit
def draw_poses(parts: Parts, found: Examples, keys: Keys) -> Eta:
    """Draw a natural pose for each prototype, each by its own key."""
    return _draw(parts.density, found, keys, 1)[:, 0]


@eqx.filter_jit
def posed(group: Group, found: Examples, eta: Eta) -> Examples:
    """Return prototypes in these poses."""
    return group.act(group.element(eta), found)


def _draw(density: Density, found: Examples, keys: Keys, n: int) -> Float[Array, "batch n dim"]:
    features = density.features(found)
    return jax.vmap(lambda k, f: density.sample_from(k, f[None], n)[0])(keys, features)
