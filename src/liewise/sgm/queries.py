"""What one asks of a fitted model, as pure functions of batches in [-1, 1]."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from liewise.sgm.density import Density
from liewise.sgm.inference import Inference, prototypes
from liewise.transforms import Group

__all__ = ["Parts", "draw_from", "draw_poses", "find", "log_prob", "posed", "relate", "resample"]

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
    drawn = draw_from(parts.density, parts.density.features(found), keys, n).reshape(-1, group.dim)
    versions = group.act(relate(group, drawn, jnp.repeat(eta, n, 0)), jnp.repeat(examples, n, 0))
    return versions.reshape(len(examples), n, *examples.shape[1:])


@eqx.filter_jit
def log_prob(parts: Parts, examples: Examples) -> Float[Array, " batch"]:
    """Return log p(η|x̂) of each example's own pose."""
    eta, found = prototypes(parts.inference, examples)
    return parts.density.log_prob(eta, found)


@eqx.filter_jit
def draw_poses(parts: Parts, found: Examples, keys: Keys) -> Eta:
    """Draw a natural pose for each prototype, each by its own key."""
    return draw_from(parts.density, parts.density.features(found), keys, 1)[:, 0]


@eqx.filter_jit
def posed(group: Group, found: Examples, eta: Eta) -> Examples:
    """Return prototypes in these poses."""
    return group.act(group.element(eta), found)


def relate(group: Group, eta: Eta, pose: Eta) -> Any:
    """Return the elements that take examples from one pose to another."""
    return group.compose(group.element(eta), group.inverse(group.element(pose)))


def draw_from(
    density: Density, features: Float[Array, "batch features"], keys: Keys, n: int
) -> Float[Array, "batch n dim"]:
    """Draw n natural poses for each prototype, from its features, each by its own key."""
    return jax.vmap(lambda k, f: density.sample_from(k, f[None], n)[0])(keys, features)
