"""Natural poses in the data's own frame, the noise of an inference, and what of an example cannot be seen to change.

Where a prototype stands is nobody's choice: another one, turned or moved, would do as well. So poses are taken from
where each example's own density has its middle, and places are those of its content's centre of mass.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from liewise.measure.alignment import middles
from liewise.transforms import Coordinate, Group, Product

__all__ = ["changes", "fill_of", "found_for_copies", "in_own_frame", "own_periods"]

Images = Float[Array | np.ndarray, "n height width channels"]
Eta = Float[np.ndarray, "n dim"]
Etas = Float[np.ndarray, "n k dim"]
Pose = Callable[[Float[Array, "batch ..."]], Float[Array, "batch dim"]]
_ROWS = 512  # copies at a time
_FOLDS = (1, 2, 3, 4, 5, 6, 8)  # how often a shape may look the same on the way round
_AGREE = 0.9  # resultant length of poses that are one and the same
_STEPS = 8  # values between the ends of a box, or round a circle
_LEAST_SWEEP = 0.25  # in η, where a box has no width
_WAVES = 12  # of a circle's density
_KERNEL = 1 / 12  # of a circle: standard deviation of the kernel that finds where it is densest


def in_own_frame(group: Group, eta: Etas, prototypes: Images, periods: dict[str, np.ndarray]) -> Etas:
    """Return poses as they would be for prototypes that are centred, and turned and sized as is natural for them.

    Args:
        group: whose η they are.
        eta: several for each prototype.
        prototypes: in [-1, 1].
        periods: by coordinate on a circle, after how much each example looks the same.
    """
    middle = np.stack([_middle(c, eta[..., i], periods.get(c.name)) for i, c in enumerate(group.coordinates)], 1)
    centre = np.zeros_like(middle)
    if {"shift-x", "shift-y"} <= set(group.names):
        centre[:, [group.index("shift-x"), group.index("shift-y")]] = _centres(prototypes, fill_of(group))
    found = np.asarray(_reframed(group, *(np.asarray(values, np.float32) for values in (eta, middle, centre))))
    return np.where(np.isfinite(found).all(-1, keepdims=True), found, eta)  # a chart may not reach all matrices


def found_for_copies(pose: Pose, group: Group, examples: Images, there: Etas, back: Eta | None = None) -> Etas:
    """Return the poses of examples that follow from those found for transformed copies of them.

    They would be all the same if the inference were perfect and no example looked the same from several sides.

    Args:
        pose: the inference.
        group: whose poses it finds.
        examples: in [-1, 1].
        there: what is done to each copy of an example ...
        back: ... after this was undone, if it is given.
    """
    n, copies = there.shape[:2]
    back = np.zeros((n, group.dim), np.float32) if back is None else back
    batch = max(1, min(n, _ROWS // copies))
    parts = []
    for start in range(0, n, batch):
        rows = np.minimum(np.arange(start, start + batch), n - 1)  # the last batch is filled up
        given = (np.asarray(values[rows], np.float32) for values in (examples, there, back))
        parts.append(np.asarray(_found_for_copies(pose, group, *given))[: n - start])
    return np.concatenate(parts)


def own_periods(coordinate: Coordinate, found: Float[np.ndarray, "n k"]) -> Float[np.ndarray, " n"]:
    """Return after how much of the circle each example looks the same to the inference: all, half, a third.

    Args:
        coordinate: one with a period.
        found: poses found for copies of each example.
    """
    period = coordinate.period or 1.0
    angles = 2 * np.pi * found / period
    lengths = np.stack([np.abs(np.exp(1j * fold * angles).mean(1)) for fold in _FOLDS], 1)
    agreed = lengths >= _AGREE
    fold = np.where(agreed.any(1), np.array(_FOLDS)[agreed.argmax(1)], 1)
    return period / fold


def changes(group: Group, prototypes: Images) -> Float[np.ndarray, "n dim"]:
    """Return how much each example changes along each coordinate: at most 1 or so, and 0 where nothing is to be seen.

    It is the largest mean square of the difference that a value within the box, or on the circle, makes to the centred
    prototype, over twice the variance of its pixels.
    """
    images = jnp.asarray(prototypes, jnp.float32)
    centre = np.zeros((len(images), group.dim), np.float32)
    if {"shift-x", "shift-y"} <= set(group.names):
        centre[:, [group.index("shift-x"), group.index("shift-y")]] = -_centres(prototypes, fill_of(group))
    columns = []
    for place, coordinate in enumerate(group.coordinates):
        most = np.zeros(len(images))
        for value in _sweep(coordinate):
            eta = np.zeros(group.dim, np.float32)
            eta[place] = value
            most = np.maximum(most, np.asarray(_changed(group, images, jnp.asarray(centre), jnp.asarray(eta))))
        columns.append(most)
    return np.stack(columns, 1)


def fill_of(group: Group) -> float:
    """Return what a group fills a frame with from outside; the darkest value if it moves no pixels."""
    parts = group.factors if isinstance(group, Product) else (group,)
    fills = (getattr(part, "fill", None) for part in parts)
    return next((float(fill) for fill in fills if fill is not None), -1.0)


@eqx.filter_jit
def _reframed(group: Group, eta, middle, centre):
    """η of the same natural examples, for prototypes brought to the centre and to the middle pose, shifts left out."""
    n, k, dim = eta.shape
    shifts = np.array([c.unit == "px" for c in group.coordinates])
    turned = jnp.where(shifts[None], 0.0, middle)
    change = group.compose(group.element(centre), group.inverse(group.element(turned)))
    change = jax.tree.map(lambda leaf: jnp.repeat(leaf, k, axis=0), change)
    return group.parameters(group.compose(group.element(eta.reshape(n * k, dim)), change)).reshape(n, k, dim)


@eqx.filter_jit
def _found_for_copies(pose: Pose, group: Group, examples, there, back):
    n, copies, dim = there.shape
    undo = group.inverse(group.element(jnp.repeat(back, copies, 0)))
    done = group.compose(group.element(there.reshape(n * copies, dim)), undo)
    eta = pose(group.act(done, jnp.repeat(examples, copies, 0)))
    implied = group.parameters(group.compose(group.inverse(done), group.element(eta)))
    return implied.reshape(n, copies, dim)


@eqx.filter_jit
def _changed(group: Group, images, centre, eta):
    there = group.element(centre)
    moved = group.compose(group.element(jnp.repeat(eta[None], len(images), 0)), there)
    gap = group.act(moved, images) - group.act(there, images)
    flat = images.reshape(len(images), -1)
    return jnp.mean(gap.reshape(flat.shape) ** 2, 1) / (2 * jnp.var(flat, axis=1) + 1e-6)


def _middle(coordinate: Coordinate, drawn: np.ndarray, periods: np.ndarray | None) -> np.ndarray:
    if coordinate.steps is not None:
        shares = np.stack([(drawn == step).mean(1) for step in coordinate.steps], 1)
        return np.array(coordinate.steps)[shares.argmax(1)]
    if coordinate.period is None:
        return middles(drawn)
    return _densest(drawn, np.full(len(drawn), coordinate.period) if periods is None else periods)


def _densest(drawn: np.ndarray, periods: np.ndarray) -> np.ndarray:
    """Where each circle is densest; half way between two modes, a frame would lie on its side."""
    angles = 2 * np.pi * drawn / periods[:, None]
    waves = np.arange(1, _WAVES + 1)
    damped = np.exp(-0.5 * (2 * np.pi * _KERNEL * waves) ** 2)
    weights = damped * np.stack([np.exp(1j * wave * angles).mean(1) for wave in waves], 1)
    grid = np.linspace(0, 2 * np.pi, 72, endpoint=False)
    density = (weights[:, :, None] * np.exp(-1j * waves[:, None] * grid)).sum(1).real
    return grid[density.argmax(1)] * periods / (2 * np.pi)


def _centres(images: Images, fill: float) -> np.ndarray:
    """The centre of mass of what is not background, in half extents of the longer side: right and down."""
    mass = np.abs(np.asarray(images, np.float64) - fill).mean(-1)
    height, width = mass.shape[1:]
    half = max((max(height, width) - 1) / 2, 0.5)
    total = mass.sum((1, 2)) + 1e-9
    x = mass.sum(1) @ ((np.arange(width) - (width - 1) / 2) / half) / total
    y = mass.sum(2) @ ((np.arange(height) - (height - 1) / 2) / half) / total
    return np.stack([x, y], 1)


def _sweep(coordinate: Coordinate) -> np.ndarray:
    if coordinate.steps is not None:
        return np.array(coordinate.steps)
    if coordinate.period is not None:
        return np.arange(1, _STEPS) * coordinate.period / _STEPS
    if coordinate.low == coordinate.high:
        return np.array([-_LEAST_SWEEP, _LEAST_SWEEP])
    return np.array([coordinate.low, coordinate.low / 2, coordinate.high / 2, coordinate.high])
