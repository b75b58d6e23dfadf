"""What every group of transformations can do; define `element`, `compose`, `inverse` and `act` for one of your own.

A group works on batches: η, elements and examples all have the batch in front. Elements are pytrees in which
composition and inverse are exact (matrices for affine maps, sums for colour), so that an example is resampled once
however many transformations were composed.
"""

import dataclasses
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from liewise.errors import TransformError
from liewise.transforms.coordinate import Coordinate

__all__ = ["Additive", "Element", "Group"]

G = TypeVar("G", bound="Group")
Element = Any  # a pytree of arrays with the batch in front
Box = Mapping[str, float | int | np.number | Sequence[float]]  # by name, in η: a limit either way, or (low, high)


class Group(eqx.Module):
    """A group of transformations with named coordinates η."""

    coordinates: tuple[Coordinate, ...] = eqx.field(static=True)

    @abstractmethod
    def element(self, eta: Float[Array, "batch dim"]) -> Element:
        """Return the transformations that have these coordinates."""

    @abstractmethod
    def compose(self, second: Element, first: Element) -> Element:
        """Return what acts like `first` and then `second`."""

    @abstractmethod
    def inverse(self, element: Element) -> Element:
        """Return what undoes each transformation."""

    @abstractmethod
    def act(self, element: Element, examples: Float[Array, "batch ..."]) -> Float[Array, "batch ..."]:
        """Transform each example, pixel values in [-1, 1] where it is an image."""

    @abstractmethod
    def distance(self, one: Element, other: Element) -> Float[Array, " batch"]:
        """Return how far apart two transformations are; equal ones are at 0, however they are written."""

    @abstractmethod
    def parameters(self, element: Element) -> Float[Array, "batch dim"]:
        """Return coordinates of transformations: `element` undone, as far as the coordinates reach."""

    def identity(self, batch: int = 1) -> Element:
        """Return the transformation that changes nothing, a batch of it."""
        return self.element(jnp.zeros((batch, self.dim)))

    def completed(self: G) -> G:
        """Return the group that these transformations generate, where their own coordinates do not reach all of it.

        Coordinates that are added have a random box of width zero.
        """
        return self

    def check(self, shape: tuple[int, ...]) -> None:
        """Refuse examples of this shape, batch left out, by name if the group cannot act on them."""

    def _expect(self, eta) -> None:
        """Refuse what is not η of this group, in a batch."""
        if eta.ndim != 2 or eta.shape[1] != self.dim:
            raise TransformError(f"expected η [batch, {self.dim}] for {', '.join(self.names)}; got {eta.shape}")

    def sample(self, key: jax.Array, batch: int) -> Float[Array, "batch dim"]:
        """Draw η uniformly from the random box."""
        keys = jax.random.split(key, self.dim)
        return jnp.stack([c.sample(k, (batch,)) for c, k in zip(self.coordinates, keys, strict=True)], -1)

    def difference(self, one: Float[Array, "batch dim"], other: Float[Array, "batch dim"]) -> Float[Array, "batch dim"]:
        """Subtract coordinates, the short way round where they go in circles."""
        columns = (one - other).T
        return jnp.stack([c.wrap(column) for c, column in zip(self.coordinates, columns, strict=True)], -1)

    def with_box(self: G, box: Box) -> G:
        """Return the same group with another random box for the coordinates that are named.

        >>> from liewise import transforms
        >>> transforms.affine("rotation", "scale").with_box({"rotation": 0.5, "scale": (0.0, 0.2)}).box[1]
        Array([0.5, 0.2], dtype=float32)
        """
        unknown = set(box) - set(self.names)
        if unknown:
            raise TransformError(f"the box names {', '.join(sorted(unknown))}, which this group does not have")
        return dataclasses.replace(self, coordinates=tuple(_with_limits(c, box.get(c.name)) for c in self.coordinates))

    @property
    def dim(self) -> int:
        """How many coordinates there are."""
        return len(self.coordinates)

    @property
    def names(self) -> tuple[str, ...]:
        """The coordinates' names, in the order of η."""
        return tuple(c.name for c in self.coordinates)

    @property
    def box(self) -> tuple[Float[Array, " dim"], Float[Array, " dim"]]:
        """The random box: the lowest and the highest η."""
        return jnp.array([c.low for c in self.coordinates]), jnp.array([c.high for c in self.coordinates])

    def index(self, name: str) -> int:
        """Return the place of a coordinate in η."""
        if name not in self.names:
            raise TransformError(f"no coordinate {name!r}; this group has {', '.join(self.names)}")
        return self.names.index(name)

    def eta(self, batch: int = 1, **values: float | Float[Array, " batch"]) -> Float[Array, "batch dim"]:
        """Build η from values by name (`_` for `-`), zero elsewhere.

        >>> from liewise import transforms
        >>> transforms.affine("shift", "rotation").eta(rotation=0.5, shift_x=0.1)
        Array([[0.1, 0. , 0.5]], dtype=float32)
        """
        eta = jnp.zeros((batch, self.dim))
        for name, value in values.items():
            eta = eta.at[:, self.index(name.replace("_", "-"))].set(value)
        return eta


class Additive(Group):
    """A group whose elements are η itself: composing adds, inverting negates, circles close.

    With `act` it is a whole group; see the docs for one on time series.
    """

    def element(self, eta: Float[Array, "batch dim"]) -> Float[Array, "batch dim"]:
        """Return η."""
        self._expect(eta)
        return eta

    def compose(self, second, first):
        """Add."""
        return second + first

    def inverse(self, element):
        """Negate."""
        return -element

    def distance(self, one, other):
        """Return the Euclidean distance in η, the short way round where coordinates go in circles."""
        return root(jnp.sum(self.difference(one, other) ** 2, -1))

    def parameters(self, element):
        """Return η, brought to the middle turn where coordinates go in circles."""
        return self.difference(element, jnp.zeros_like(element))


def root(square: Float[Array, " batch"]) -> Float[Array, " batch"]:
    """Return the square root, with a gradient of zero rather than NaN at zero."""
    safe = jnp.where(square > 0, square, 1.0)
    return jnp.where(square > 0, jnp.sqrt(safe), 0.0)


def _with_limits(coordinate: Coordinate, limit: float | int | np.number | Sequence[float] | None) -> Coordinate:
    if limit is None:
        return coordinate
    try:
        low, high = limit if isinstance(limit, Sequence) else (-limit, limit)
        plain = float(low), float(high)  # hashable, and JSON takes them
    except (TypeError, ValueError) as error:
        raise TransformError(
            f"the box of {coordinate.name!r} is a number, or (low, high), in η; got {limit!r}"
        ) from error
    return dataclasses.replace(coordinate, low=plain[0], high=plain[1])
