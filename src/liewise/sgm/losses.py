"""What teaches the inference: prototypes of transformed copies must agree (`004`, eqs. 6, 7 and 24).

`to_prototype` is, for each view of an example, the transformation that takes the example to that view's prototype.
"""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from liewise.nn import correlate
from liewise.sgm.estimators import Ways
from liewise.sgm.reach import reaches
from liewise.transforms import Group

__all__ = ["agreement", "agreement_in_view", "distance_from_natural", "round_trip", "ways_agreement", "weighed"]

Examples = Float[Array, "batch ..."]
PerExample = Float[Array, " batch"]
Element = Any


def agreement(
    group: Group, examples: Examples, to_prototype: Sequence[Element], kept: Sequence[PerExample]
) -> Float[Array, ""]:
    """Compare each example with itself, taken to one view's prototype and back from another's.

    Eq. 24 seen from the example instead of from a view: what the drawn transformations lose at the frame's edge is
    not counted, and where the poses are right the one warp that is left changes nothing. Views count by what they kept
    of the example: where there is nothing to see, nothing can be found.
    """
    errors, weights = [], []
    for i, j in _ring(len(to_prototype)):
        there_and_back = group.compose(group.inverse(to_prototype[j]), to_prototype[i])
        errors.append(_squared(group.act(there_and_back, examples), examples))
        weights.append(jnp.minimum(kept[i], kept[j]))
    return weighed(jnp.stack(errors), jnp.stack(weights))


def weighed(values: Float[Array, "*rows"], weights: Float[Array, "*rows"]) -> Float[Array, ""]:
    """Return the mean of values by weights, none of which are negative; 0 where all are 0."""
    return jnp.sum(values * weights) / (jnp.sum(weights) + 1e-6)


def agreement_in_view(
    group: Group, views: Sequence[Examples], found: Sequence[Element], *, star: bool = False
) -> PerExample:
    """Compare each view with another one, taken to its prototype and out again by the first one's pose.

    All in a ring (eq. 24), or, as a star, the first view, which is the example itself, with every other (eq. 6).
    """
    total = jnp.zeros(len(views[0]))
    pairs = [(i, 0) for i in range(1, len(views))] if star else _ring(len(views))
    for i, j in pairs:
        across = group.compose(found[j], group.inverse(found[i]))
        total += _squared(group.act(across, views[i]), views[j])
    return total / len(pairs)


def round_trip(group: Group, examples: Examples, pose: Element) -> PerExample:
    """Compare each example with what its own prototype gives back (eq. 7, prototype first)."""
    prototype = group.act(group.inverse(pose), examples)
    return _squared(group.act(pose, prototype), examples)


def distance_from_natural(group: Group, to_prototype: Element) -> PerExample:
    """Tell how far prototypes are from the examples themselves along lines, in squares of reaches.

    Any element of an orbit could be its prototype. The least of this, over all examples, is a pose that is as natural
    as possible: neither blown up beyond the frame nor squeezed until the details are gone.
    """
    lines = np.array([c.line for c in group.coordinates])
    unit = np.where(lines, 1 / np.where(lines, reaches(group), 1.0), 0.0).astype(np.float32)
    return jnp.mean((group.parameters(to_prototype) * unit[None]) ** 2, 1)


def ways_agreement(one: Ways, other: Ways) -> PerExample:
    """Tell how far two views stay apart when each is turned back by a way drawn from its own scores.

    The expectation of the squared distance over all pairs of ways, relative to choosing them blindly: 1 is chance.
    Every way counts at once, so there is no wrong half turn to be stuck in; and an example that looks the same in
    several ways may take any of them.
    """
    p, q = one.chances, other.chances
    alike, chosen = jnp.zeros(len(p)), jnp.zeros(len(p))
    sides = p.shape[1]
    for i in range(sides):
        for j in range(sides):
            overlap = correlate(one.signal[:, i], other.signal[:, j])
            alike += jnp.mean(overlap, 1) / sides**2
            chosen += jnp.sum(correlate(p[:, i, :, None], q[:, j, :, None]) * overlap, 1)
    energy = (jnp.sum(one.signal[:, 0] ** 2, (1, 2)) + jnp.sum(other.signal[:, 0] ** 2, (1, 2))) / 2
    chance = jax.lax.stop_gradient(jnp.mean(energy - alike))
    return (energy - chosen) / (chance + 1e-6)


def _ring(views: int) -> list[tuple[int, int]]:
    """Pair every view with the next: each serves in two pairs; two views make one pair."""
    return [(0, 1)] if views == 2 else [(i, (i + 1) % views) for i in range(views)]


def _squared(one: Examples, other: Examples) -> PerExample:
    return jnp.mean((one - other) ** 2, tuple(range(1, other.ndim)))
