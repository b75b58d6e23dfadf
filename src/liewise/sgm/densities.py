"""The densities over transformations of some examples, and what one asks of them."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from liewise.errors import LiewiseError
from liewise.sgm.density import Density
from liewise.transforms import Coordinate, Group

__all__ = ["Densities", "Joint", "Marginal"]

_SAMPLES = 1024  # for quantiles and joint marginals
_BEFORE = 64  # draws of the coordinates before, over which a marginal is averaged
_PEAK = 0.1  # of the highest: what is lower is no mode
_VALLEY = 0.7  # of the lower of two peaks: what does not fall below that between them is one mode


@dataclass(frozen=True)
class Marginal:
    """The density of one coordinate, for each example, on a grid in its user's unit."""

    coordinate: Coordinate
    values: np.ndarray  # [points], in degrees, pixels, factors, ...
    density: np.ndarray  # [n, points], per unit of `values`

    def modes(self) -> list[np.ndarray]:
        """Return where each example's density has its peaks, the highest first."""
        return [self.values[_peaks(row, self.coordinate.period is not None)] for row in self.density]


@dataclass(frozen=True)
class Joint:
    """The density of two coordinates, for each example, on a grid in their users' units."""

    coordinates: tuple[Coordinate, Coordinate]
    values: tuple[np.ndarray, np.ndarray]  # the cells' edges
    density: np.ndarray  # [n, cells of the first, cells of the second]; each sums to 1


class Densities:
    """p(η|x̂) of some examples: what is natural for each."""

    def __init__(self, model: Density, group: Group, prototypes: Float[Array, "n height width channels"]):
        self._model, self._group = model, group
        self.size = (prototypes.shape[1], prototypes.shape[2])  # pixels: height, width
        self.coordinates = group.coordinates
        self._features = model.features(prototypes)

    def __len__(self) -> int:
        return len(self._features)

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, "examples n dim"]:
        """Draw n transformations for each example, as η."""
        return self._model.sample_from(key, self._features, n)

    def log_prob(self, eta: Float[Array | np.ndarray, "examples dim"]) -> Float[Array, " examples"]:
        """Return how likely one transformation of each example's prototype is."""
        if eta.shape != (len(self), self._group.dim):
            raise LiewiseError(f"expected η [{len(self)}, {self._group.dim}], one row an example; got {eta.shape}")
        return self._model.log_prob_from(self._features, jnp.asarray(eta)[:, None])[:, 0]

    def marginal(self, name: str, *, points: int = 181, seed: int = 0) -> Marginal:
        """Return the density of one coordinate, whatever the others are.

        The grid covers the circle, or where the densities' samples lie and a little more. On a finite coordinate the
        points are its steps, and the densities are probabilities.
        """
        place = self._group.index(name)
        coordinate = self._group.coordinates[place]
        drawn = self.sample(jax.random.key(seed), _BEFORE)
        grid = _grid(coordinate, np.asarray(drawn[..., place]), points)
        density = np.asarray(_marginal(self._model, self._features, drawn, jnp.asarray(grid, jnp.float32), place))
        values = np.asarray(coordinate.to_user(grid, self.size), np.float64)
        if coordinate.steps is None:
            density = density * np.abs(np.gradient(grid) / np.gradient(values))[None]
        return Marginal(coordinate, values, density)

    def joint(self, first: str, second: str, *, cells: int = 48, samples: int = 8192, seed: int = 0) -> Joint:
        """Return the density of two coordinates, as a histogram of samples."""
        drawn = np.asarray(self.sample(jax.random.key(seed), samples))
        columns = [self._in_user(drawn, name) for name in (first, second)]
        edges = [np.linspace(column.min(), column.max() + 1e-9, cells + 1) for column in columns]
        counts = [np.histogram2d(a, b, edges)[0] for a, b in zip(*columns, strict=True)]
        a, b = (self._group.coordinates[self._group.index(name)] for name in (first, second))
        return Joint((a, b), (edges[0], edges[1]), np.stack(counts) / samples)

    def quantiles(
        self, name: str, levels: tuple[float, ...] = (0.025, 0.5, 0.975), *, seed: int = 0
    ) -> Float[np.ndarray, "examples levels"]:
        """Return quantiles of one coordinate in its user's unit; a circle is cut opposite to its mean direction."""
        place = self._group.index(name)
        drawn = np.asarray(self.sample(jax.random.key(seed), _SAMPLES))[..., place]
        coordinate = self._group.coordinates[place]
        if coordinate.period is not None:
            middle = np.angle(np.exp(2j * np.pi * drawn / coordinate.period).mean(1)) * coordinate.period / (2 * np.pi)
            drawn = middle[:, None] + np.asarray(coordinate.wrap(drawn - middle[:, None]))
        found = np.quantile(drawn, levels, axis=1).T
        return np.asarray(coordinate.to_user(found, self.size))

    def modes(self, name: str) -> list[np.ndarray]:
        """Return the peaks of one coordinate's density for each example, in its user's unit."""
        return self.marginal(name).modes()

    def _in_user(self, drawn: np.ndarray, name: str) -> np.ndarray:
        place = self._group.index(name)
        return np.asarray(self._group.coordinates[place].to_user(drawn[..., place], self.size))


@eqx.filter_jit
def _marginal(model: Density, features: Array, drawn: Array, grid: Array, place: int) -> Array:
    """Average the density of a coordinate over draws of the coordinates before it, example by example."""

    def one(pair: tuple[Array, Array]) -> Array:
        feature, before = pair
        eta = jnp.repeat(before[:, None], len(grid), 1).at[:, :, place].set(grid[None])
        terms = model.log_probs_from(feature[None], eta.reshape(1, -1, eta.shape[-1]))[0, :, place]
        return jnp.mean(jnp.exp(terms.reshape(len(before), len(grid))), 0)

    return jax.lax.map(one, (features, drawn))


def _grid(coordinate: Coordinate, drawn: np.ndarray, points: int) -> np.ndarray:
    if coordinate.steps is not None:
        return np.array(coordinate.steps)
    if coordinate.period is not None:
        return np.linspace(-0.5, 0.5, points) * coordinate.period
    low, high = np.quantile(drawn, [0.001, 0.999])
    rim = 0.15 * max(high - low, 1e-3)
    return np.linspace(low - rim, high + rim, points)


def _peaks(density: np.ndarray, closed: bool) -> np.ndarray:
    """Return the places of the modes, the highest first: peaks with valleys between them."""
    if len(density) < 2:
        raise LiewiseError("a density on fewer than two points has no modes")
    n = len(density)
    order = [int(i) for i in np.argsort(-density) if density[i] >= _PEAK * density.max()]
    kept: list[int] = []
    for i in order:
        if all(_parted(density, i, j, closed, n) for j in kept):
            kept.append(i)
    return np.array(kept, int)


def _parted(density: np.ndarray, i: int, j: int, closed: bool, n: int) -> bool:
    low, high = min(i, j), max(i, j)
    lower = min(density[i], density[j])
    inside = density[low : high + 1].min() < _VALLEY * lower
    if not closed:
        return bool(inside)
    outside = np.concatenate([density[high:], density[: low + 1]]).min() < _VALLEY * lower
    return bool(inside and outside)
