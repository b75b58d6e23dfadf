"""Finding an example's pose: η = f(x) such that x = T_η(prototype).

`Equivariant` is the default; `Plain` is the paper's network, an MLP on pixels (`004`, Appendix C).
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from liewise.nn import MLP
from liewise.sgm.estimators import Found, HueCircle, Mirrors, Place, RotationCircle, Tint, Ways
from liewise.sgm.reach import reaches
from liewise.transforms import Group

__all__ = ["Equivariant", "Inference", "Plain", "Trace", "prototypes"]

Examples = Float[Array, "batch ..."]
Eta = Float[Array, "batch dim"]
_WIDE = 4.0  # times the reach of a correction: how far out on a line a pose may lie
_LARGEST = 32  # pixels: larger images are looked at from further away
_MARGIN = 1.6  # times the radius of what an example shows: half of the window that is looked at


class Trace(NamedTuple):
    """Poses; the ways that were weighed for them, at each look, by each estimator; the last correction, in reaches."""

    eta: Eta
    ways: tuple[tuple[Ways, ...], ...] = ()
    last: Eta | None = None  # zero where all is settled


class Inference(eqx.Module):
    """A network that finds poses of examples under a group."""

    group: Group

    def __call__(self, examples: Examples) -> Eta:
        """Return the pose of each example."""
        raise NotImplementedError

    def trace(self, examples: Examples, key: PRNGKeyArray) -> Trace:
        """Return poses as training wants them: with their by-products, and with noise where the network has any."""
        raise NotImplementedError

    def missed(self, trace: Trace, moved: Found) -> Float[Array, " batch"]:
        """Return how far the ways weighed at first are from those that undo how examples were moved, by coordinate."""
        del moved
        return jnp.zeros(len(trace.eta))


def prototypes(inference: Inference, examples: Examples) -> tuple[Eta, Examples]:
    """Return each example's pose, and the example with it undone."""
    eta = inference(examples)
    group = inference.group
    return eta, group.act(group.inverse(group.element(eta)), examples)


class Equivariant(Inference):
    """Estimators that move with the example, then corrections by a network that looks at the aligned example.

    Every stage sees the example with what was found so far undone, and its finding is composed with that; so if one
    stage aligns all of an orbit, whatever the next does it does alike for all of it. Corrections are applied several
    times, and then all of it again: a second look at an example that is all but aligned settles which way it is turned
    where the first look could not, so that the prototype of a prototype is the same one.
    """

    first: tuple[Any, ...]  # estimators by moments: all look at the example as it is
    ways: tuple[Any, ...]  # estimators that weigh all ways, one after the other
    correction: MLP
    window: int = eqx.field(static=True)  # pixels: the side of the square in the middle that is looked at
    looks: tuple[int, int] = eqx.field(static=True)  # in training: how often, and corrections each time
    looks_at_use: tuple[int, int] = eqx.field(static=True)

    def __init__(
        self,
        group: Group,
        examples: Examples,
        *,
        hidden: Sequence[int] = (1024, 256),
        looks: tuple[int, int] = (2, 2),
        looks_at_use: tuple[int, int] = (3, 3),
        window: int | None = None,
        key: PRNGKeyArray,
    ):
        """Make one for data like `examples`, a few of which set the scales, and the window where none is given."""
        for_mirrors, for_rotation, for_hue, for_correction = jax.random.split(key, 4)
        names, shape = group.names, examples.shape[1:]
        image = len(shape) == 3
        self.window = _window(group, examples) if window is None else window
        seen = self._seen(examples[:1]).shape[1:]
        coloured = image and shape[-1] == 3
        flips = [n for n in ("flip-x", "flip-y") if n in names]
        first, ways = [], []
        if image and {"shift-x", "shift-y", "scale", "scale-x", "scale-y"} & set(names):
            first.append(Place(group, examples))
        if coloured and {"saturation", "value"} & set(names):
            first.append(Tint(names, examples))
        if coloured and "hue" in names:
            ways.append(HueCircle(key=for_hue))
        if image and "rotation" in names:
            ways.append(RotationCircle(flips[0] if flips else None, seen[-1], key=for_rotation))
        elif image and flips:
            ways.append(Mirrors(flips, int(np.prod(seen)), key=for_mirrors))
        self.group, self.first, self.ways = group, tuple(first), tuple(ways)
        self.correction = MLP((int(np.prod(seen)), *hidden, group.dim), key=for_correction, last_scale=0.0)
        self.looks, self.looks_at_use = looks, looks_at_use

    def __call__(self, examples: Examples) -> Eta:
        """Return the pose of each example."""
        return self._find(examples, self.looks_at_use).eta

    def trace(self, examples: Examples, key: PRNGKeyArray) -> Trace:
        """Return poses, and the ways weighed; nothing is random."""
        del key
        return self._find(examples, self.looks)

    def missed(self, trace: Trace, moved: Found) -> Float[Array, " batch"]:
        """Return how far the ways weighed at first are from those that undo how examples were moved, by coordinate."""
        away = [way.missed(ways, moved) for way, ways in zip(self.ways, trace.ways[0], strict=True)]
        return sum(away, jnp.zeros(len(trace.eta)))

    def _find(self, examples: Examples, looks: tuple[int, int]) -> Trace:
        times, corrections = looks

        def look(eta: Eta, _: None) -> tuple[Eta, tuple[tuple[Ways, ...], Eta]]:
            found: Found = {}
            for estimator in self.first:
                found |= estimator(self._undone(examples, eta))
            eta = self._more(eta, found)
            weighed = []
            for estimator in self.ways:
                found, ways = estimator(self._seen(self._undone(examples, eta)))
                eta = self._more(eta, found)
                weighed.append(ways)
            eta, made = jax.lax.scan(correct, eta, length=corrections)
            return eta, (tuple(weighed), made[-1])

        def correct(eta: Eta, _: None) -> tuple[Eta, Eta]:
            seen = self._seen(self._undone(examples, eta))
            correction = jnp.tanh(self.correction(seen.reshape(len(seen), -1)))
            return self._composed(eta, correction * reaches(self.group)[None]), correction

        nothing = jnp.zeros((len(examples), self.group.dim))
        eta, (weighed, last) = jax.lax.scan(look, nothing, length=times)
        by_look = tuple(jax.tree.map(lambda leaf, i=i: leaf[i], weighed) for i in range(times))
        return Trace(eta, by_look, last[-1])

    def _seen(self, examples: Examples) -> Examples:
        """Look at the middle, and at large images from so far away that they have no more than so many pixels."""
        if examples.ndim != 4:
            return examples
        cut = [max(0, (side - self.window) // 2) for side in examples.shape[1:3]]  # alike at both ends
        examples = examples[:, cut[0] : examples.shape[1] - cut[0], cut[1] : examples.shape[2] - cut[1]]
        if max(examples.shape[1:3]) <= _LARGEST:
            return examples
        factor = _LARGEST / max(examples.shape[1:3])
        size = [max(1, round(side * factor)) for side in examples.shape[1:3]]
        return jax.image.resize(examples, (len(examples), *size, examples.shape[3]), "linear", antialias=True)

    def _undone(self, examples: Examples, eta: Eta) -> Examples:
        """Undo a pose. What is seen then teaches what to find there, not how to have arrived there."""
        undo = self.group.inverse(self.group.element(jax.lax.stop_gradient(eta)))
        return self.group.act(undo, examples)

    def _more(self, eta: Eta, found: Found) -> Eta:
        nothing = jnp.zeros(len(eta))
        return self._composed(eta, jnp.stack([found.get(n, nothing) for n in self.group.names], -1))

    def _composed(self, eta: Eta, more: Eta) -> Eta:
        both = self.group.parameters(self.group.compose(self.group.element(eta), self.group.element(more)))
        on_line = np.array([c.line for c in self.group.coordinates])
        low, high = self.group.box
        middle, reach = (low + high) / 2, _WIDE * reaches(self.group)
        clipped = jnp.clip(both, (middle - reach)[None], (middle + reach)[None])
        return jnp.where(on_line[None], clipped, both)


class Plain(Inference):
    """The paper's network: an MLP on pixels, and one learned scale a coordinate for noise while training."""

    net: MLP
    raw_scale: Float[Array, " dim"]
    bounded: bool = eqx.field(static=True)  # η within the group's box, by a tanh

    def __init__(
        self,
        group: Group,
        shape: tuple[int, ...],
        *,
        hidden: Sequence[int] = (2048, 1024, 512, 256),
        bounded: bool = False,
        key: PRNGKeyArray,
    ):
        self.group, self.bounded = group, bounded
        self.net = MLP((int(np.prod(shape)), *hidden, group.dim), key=key)
        self.raw_scale = jnp.full((group.dim,), -3.0)

    def __call__(self, examples: Examples) -> Eta:
        """Return the mean of q(η|x)."""
        return self._limit(self.net(examples.reshape(len(examples), -1)))

    def trace(self, examples: Examples, key: PRNGKeyArray) -> Trace:
        """Draw poses from q(η|x)."""
        mean = self.net(examples.reshape(len(examples), -1))
        scale = jax.nn.softplus(self.raw_scale)
        return Trace(self._limit(mean + scale[None] * jax.random.normal(key, mean.shape)))

    def _limit(self, raw: Eta) -> Eta:
        if not self.bounded:
            return raw
        low, high = self.group.box
        return ((low + high) / 2)[None] + ((high - low) / 2)[None] * jnp.tanh(raw)


def _window(group: Group, examples: Examples) -> int:
    """The window that holds what an example shows, once it has been moved to the middle; where it cannot, all."""
    if examples.ndim != 4:
        return 0
    sides = examples.shape[1:3]
    if not {"shift-x", "shift-y"} <= set(group.names):
        return max(sides)
    side = 2 * math.ceil(_MARGIN * float(Place(group, examples).radius(examples)) * max(sides))
    return side if side < min(sides) else max(sides)
