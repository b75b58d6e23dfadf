"""How far prototypes stay the same when examples are transformed, and whether they still hold what the examples held.

Everything is measured as a user would meet it: copies of an example, transformed at random, are all that the inference
sees, and prototypes are made from the copies themselves.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, UInt8

from liewise.datasets import to_unit
from liewise.errors import DataError, LiewiseError
from liewise.transforms import Coordinate, Group, lost

__all__ = ["Invariance", "Pose", "invariance", "resultant"]

Pose = Callable[[Float[Array, "batch ..."]], Float[Array, "batch dim"]]  # pose(x) = η such that x = T_η(prototype)
_STILL = 1e-10  # of the mean square: copies whose variance is less are the same but for rounding
_BLANK = 1e-6  # a pixel, on average: copies with less ink have none
_CONSISTENT = 0.95
_WHOLE = 0.1  # of an example's variance: a copy that lost less of it is whole


@dataclass(frozen=True, eq=False)
class Invariance:
    """What `invariance` found, per example; NaN where an example has no such number.

    An example that its transformations leave as it is has no variance ratio; one as blank as the background has no ink
    to keep. Means and medians are over the others.
    """

    coordinates: tuple[Coordinate, ...]
    ratio: np.ndarray  # [n], variance over prototypes / variance over copies: 0 is perfect, 1 is none
    floor: np.ndarray  # [n], the same with the true η undone: what resampling alone leaves
    whole: np.ndarray  # [n], the share of copies that lost no content at the frame's edge
    whole_ratio: np.ndarray  # [n], the ratio over those copies alone
    whole_floor: np.ndarray  # [n]
    ink: np.ndarray  # [n], pixels' sum above the background, prototypes / copies
    round_trip: np.ndarray  # [n], mean square error of T_f(T_f⁻¹ x) against x
    plain: np.ndarray  # [n], the same with the true η in place of f(x)
    whole_turn: Mapping[str, np.ndarray]  # [n] by coordinate: resultant length of found minus true, at its period
    half_turn: Mapping[str, np.ndarray]  # [n], the same at half the period: a half turn is no error
    moves: np.ndarray  # [n, iterations, dim], |η| found for x, for its prototype, for the prototype of that, …

    def __len__(self) -> int:
        return len(self.ratio)

    def take(self, indices: slice | np.ndarray) -> "Invariance":
        """Return the numbers of some of the examples: these indices, this slice, or where this mask is true."""
        return replace(
            self,
            **{
                f.name: getattr(self, f.name)[indices]
                for f in fields(self)
                if isinstance(getattr(self, f.name), np.ndarray)
            },
            whole_turn={name: values[indices] for name, values in self.whole_turn.items()},
            half_turn={name: values[indices] for name, values in self.half_turn.items()},
        )

    @property
    def mean(self) -> float:
        """The mean variance ratio."""
        return _mean(self.ratio)

    @property
    def median(self) -> float:
        """The median variance ratio."""
        return _median(self.ratio)

    @property
    def ink_kept(self) -> float:
        """The mean share of ink that is kept; an empty prototype is perfectly invariant, and keeps none."""
        return _mean(self.ink)

    @property
    def round_trip_ratio(self) -> float:
        """The mean error of the round trip over that of a plain warp there and back; NaN if the latter has none."""
        plain = _mean(self.plain)
        return _mean(self.round_trip) / plain if plain else math.nan

    @property
    def movement(self) -> dict[str, np.ndarray]:
        """By coordinate, the mean |η| of each iteration over the width of the random box (`004`, Fig. 11).

        A coordinate whose box has no width is left out.
        """
        widths = {c.name: c.high - c.low for c in self.coordinates}
        mean = self.moves.mean(0)
        return {name: mean[:, place] / width for place, (name, width) in enumerate(widths.items()) if width > 0}

    def summary(self) -> dict[str, float]:
        """Return the numbers that tell how good an inference is, by name.

        `…/consistent` is the share of examples whose resultant length at the whole period is 0.95 or more, and
        `…/moved` how far the second prototype is from the first, in widths of the box.
        """
        numbers = {
            "examples": float(len(self)),
            "ratio/mean": self.mean,
            "ratio/median": self.median,
            "floor/mean": _mean(self.floor),
            "floor/median": _median(self.floor),
            "whole": float(self.whole.mean()),
            "whole/mean": _mean(self.whole_ratio),
            "whole/median": _median(self.whole_ratio),
            "whole/floor": _mean(self.whole_floor),
            "ink": self.ink_kept,
            "round trip": _mean(self.round_trip),
            "round trip/plain": self.round_trip_ratio,
        }
        for name, whole in self.whole_turn.items():
            numbers[f"{name}/whole turn"] = _mean(whole)
            numbers[f"{name}/half turn"] = _mean(self.half_turn[name])
            numbers[f"{name}/consistent"] = float(np.mean(whole >= _CONSISTENT))
        for name, moved in self.movement.items():
            if len(moved) > 1:
                numbers[f"{name}/moved"] = float(moved[1])
        return numbers


def invariance(
    pose: Pose,
    group: Group,
    examples: Float[Array | np.ndarray, "n ..."] | UInt8[Array | np.ndarray, "n ..."],
    *,
    key: PRNGKeyArray,
    copies: int = 16,
    iterations: int = 4,
    background: float = -1.0,
    batch: int = 32,
) -> Invariance:
    """Measure how invariant the prototypes are that an inference gives.

    The numbers depend on the key and on an example's place, not on the size of a batch.

    Args:
        pose: the inference, a function that JAX can compile.
        group: whose η it finds; copies are drawn from its random box.
        examples: as bytes, or as floats in [-1, 1], as the inference takes them.
        key: for the transformations.
        copies: of each example.
        iterations: how often to take the prototype of a prototype, to see whether it moves.
        background: the value of a pixel without ink.
        batch: examples at a time; the memory is that of `batch * copies` examples, a few times over.
    """
    for name, value, least in (("copies", copies, 2), ("iterations", iterations, 1), ("batch", batch, 1)):
        if value < least:
            raise LiewiseError(f"expected {name} of at least {least}; got {value}")
    if not len(examples):
        raise DataError("expected at least one example; got none")
    group.check(examples.shape[1:])
    n, batch = len(examples), min(batch, len(examples))
    parts = []
    for start in range(0, n, batch):
        places = np.minimum(np.arange(start, start + batch), n - 1)  # the last batch is filled up
        part = _measure(pose, group, examples[places], places, key, copies, iterations, background)
        parts.append(jax.tree.map(lambda leaf: np.asarray(leaf)[: n - start], part))  # noqa: B023
    found = jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)
    if not found.pop("finite").all():
        raise LiewiseError("the inference gave poses, or prototypes, that are not finite; nothing can be measured")
    return Invariance(coordinates=group.coordinates, **found)


def resultant(angles: Float[Array | np.ndarray, "*rows n"]) -> Float[Array, "*rows"]:
    """Return the length of the mean of unit vectors: 1 when all angles (radians) agree, about 1/√n when none do.

    >>> resultant(np.array([[0.5, 0.5], [0.0, np.pi]], np.float32)).round(3).tolist()
    [1.0, 0.0]
    """
    return jnp.hypot(jnp.mean(jnp.cos(angles), -1), jnp.mean(jnp.sin(angles), -1))


@eqx.filter_jit
def _measure(
    pose: Pose, group: Group, given, places, key: PRNGKeyArray, copies: int, iterations: int, background: float
) -> dict[str, Any]:
    examples = to_unit(given) if given.dtype == jnp.uint8 else jnp.asarray(given, jnp.float32)
    n = examples.shape[0]
    keys = jax.vmap(partial(jax.random.fold_in, key))(places)
    true = jax.vmap(lambda k: group.sample(k, copies))(keys).reshape(n * copies, group.dim)
    seen = group.act(group.element(true), jnp.repeat(examples, copies, axis=0))
    eta = pose(seen)
    both = group.element(jnp.concatenate([eta, true]))
    there = group.act(group.inverse(both), jnp.concatenate([seen, seen]))
    prototypes, undone = jnp.split(there, 2)
    back, plainly_back = jnp.split(group.act(both, there), 2)

    def by_example(values):
        return values.reshape(n, copies, -1)

    def variance(values):
        return jnp.mean(jnp.var(by_example(values), axis=1), -1)

    gone = lost(group, group.element(true), seen, jnp.repeat(examples, copies, axis=0)).reshape(n, copies)
    whole = (gone < _WHOLE).astype(jnp.float32)

    def whole_variance(values):
        rows, weight = by_example(values), whole[..., None] / jnp.maximum(jnp.sum(whole, 1), 1.0)[:, None, None]
        middle = jnp.sum(rows * weight, 1, keepdims=True)
        return jnp.mean(jnp.sum((rows - middle) ** 2 * weight, 1), -1)

    def ink(values):
        return jnp.mean(by_example(values) - background, (1, 2))

    def error(values):
        return jnp.mean(by_example(values - seen) ** 2, (1, 2))

    per_variance = _inverse(variance(seen), _STILL * jnp.mean(by_example(seen) ** 2, (1, 2)))
    per_whole_variance = _inverse(whole_variance(seen), _STILL * jnp.mean(by_example(seen) ** 2, (1, 2)))
    off = by_example(eta - true)
    turns = {c.name: 2 * np.pi / c.period * off[..., i] for i, c in enumerate(group.coordinates) if c.period}
    return {
        "ratio": variance(prototypes) * per_variance,
        "floor": variance(undone) * per_variance,
        "whole": jnp.mean(whole, 1),
        "whole_ratio": whole_variance(prototypes) * per_whole_variance,
        "whole_floor": whole_variance(undone) * per_whole_variance,
        "ink": ink(prototypes) * _inverse(ink(seen), jnp.full(n, _BLANK)),
        "round_trip": error(back),
        "plain": error(plainly_back),
        "whole_turn": {name: resultant(angles) for name, angles in turns.items()},
        "half_turn": {name: resultant(2 * angles) for name, angles in turns.items()},
        "moves": _moves(pose, group, examples, iterations),
        "finite": jnp.all(jnp.isfinite(by_example(eta)), (1, 2))
        & jnp.all(jnp.isfinite(by_example(prototypes)), (1, 2)),
    }


def _moves(pose: Pose, group: Group, examples, iterations: int) -> Float[Array, "n iterations dim"]:
    """|η| found for the examples, then for their prototypes as if they were examples, and so on."""

    def again(seen, _):
        eta = pose(seen)
        prototypes = group.act(group.inverse(group.element(eta)), seen)
        return prototypes, jnp.abs(group.difference(eta, jnp.zeros_like(eta)))

    _, moves = jax.lax.scan(again, examples, length=iterations)
    return jnp.moveaxis(moves, 0, 1)


def _inverse(values: Float[Array, " n"], least: Float[Array, " n"]) -> Float[Array, " n"]:
    """1 / values, and NaN where they are no more than rounding errors."""
    return jnp.where(jnp.abs(values) > least, 1 / jnp.where(jnp.abs(values) > least, values, 1.0), jnp.nan)


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean(dtype=np.float64)) if len(known) else math.nan


def _median(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else math.nan
