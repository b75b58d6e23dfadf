"""What a fitted model says about the examples that its run kept: all the numbers and pictures of a page."""

from dataclasses import dataclass, field
from functools import cached_property

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from liewise.datasets import to_bytes, to_unit
from liewise.report.page.axes import FRAMES, Axis
from liewise.report.page.pictures import as_bytes
from liewise.report.page.relative import away, middles, moved, share_on_grid
from liewise.sgm import SGM, Densities, Marginal
from liewise.sgm.queries import find
from liewise.sgm.stage_two import in_batches
from liewise.transforms import Coordinate, Group

__all__ = ["Label", "Seen"]

Label = int | str
_SHOWN = 12  # examples
_DRAWS = 128  # of each example
_VERSIONS = 6
_COPIED, _COPIES = 3, 8  # examples that are transformed at random, and how often


@dataclass(frozen=True, eq=False)
class Seen:
    """A model before the examples that were held out, some of which are shown."""

    model: SGM
    images: np.ndarray  # [n, height, width, channels], as they were given
    labels: np.ndarray | None
    class_names: tuple[str, ...]
    _frames: dict[tuple[int, str], np.ndarray] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def shown(self) -> np.ndarray:
        """The examples that the page shows: places among the images, one class after the other where there are any."""
        if self.labels is None:
            return np.arange(min(_SHOWN, len(self.images)))
        turns = [np.flatnonzero(self.labels == label) for label in np.unique(self.labels)]
        order = [places[turn] for turn in range(_SHOWN) for places in turns if turn < len(places)]
        return np.array(order[:_SHOWN])

    @cached_property
    def classes(self) -> tuple[Label, ...]:
        """The labels of the classes, if there are at least two."""
        found = () if self.labels is None else tuple(np.unique(self.labels).tolist())
        return found if len(found) > 1 else ()

    def class_name(self, label: Label) -> str:
        """Return what a class is called."""
        if isinstance(label, str):
            return label
        return self.class_names[label] if label < len(self.class_names) else f"class {label}"

    def called(self, place: int) -> str:
        """Return what a shown example is called: its number, and its class."""
        name = f"example {place + 1}"
        return name if self.labels is None else f"{name}, {self.class_name(self.labels[self.shown[place]].item())}"

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the images in pixels."""
        return self.images.shape[1], self.images.shape[2]

    @property
    def group(self) -> Group:
        """The group that the model has."""
        return self.model.group_

    @cached_property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The coordinates that were asked for: a box without width only completes the group."""
        return tuple(c for c in self.group.coordinates if c.low < c.high)

    @cached_property
    def found(self) -> tuple[np.ndarray, np.ndarray]:
        """Poses and prototypes, in [-1, 1], of all the examples, and behind them those of the copies."""
        asked = np.concatenate([as_bytes(self.images), self.copies.reshape(-1, *self.images.shape[1:])])
        return in_batches(lambda x: find(self.model.parts_, to_unit(x)), asked)

    @cached_property
    def densities(self) -> Densities:
        """Of all the examples."""
        return self._densities(np.arange(len(self.images)))

    @cached_property
    def drawn(self) -> np.ndarray:
        """Natural transformations of each example, as η [n, draws, dim]."""
        return np.asarray(self.densities.sample(jax.random.key(0), _DRAWS))

    @cached_property
    def middle(self) -> np.ndarray:
        """The middle of what is natural for each example, as η [n, dim]."""
        columns = [middles(c, self.drawn[..., i]) for i, c in enumerate(self.group.coordinates)]
        return np.stack(columns, -1).astype(np.float32)

    def away(self, coordinate: Coordinate) -> np.ndarray:
        """Return the draws of a coordinate relative to each example's middle [n, draws]."""
        place = self.group.index(coordinate.name)
        return away(coordinate, self.drawn[..., place], self.middle[:, None, place])

    @cached_property
    def axes(self) -> dict[str, Axis]:
        """The axis of each coordinate."""
        return {c.name: Axis.around(c, self.size, self.away(c)) for c in self.coordinates}

    def pooled(self, coordinate: Coordinate, label: Label | None = None) -> np.ndarray:
        """Return the density of a coordinate over all examples, or those of a class, at its axis' points."""
        values = self.away(coordinate)
        rows = values if label is None or self.labels is None else values[self.labels == label]
        return share_on_grid(rows, self.axes[coordinate.name].points, coordinate)

    @cached_property
    def pictures(self) -> np.ndarray:
        """The shown examples, as bytes."""
        return as_bytes(self.images[self.shown])

    @cached_property
    def poses(self) -> np.ndarray:
        """The poses of the shown examples, as η."""
        return self.found[0][self.shown]

    @cached_property
    def prototypes(self) -> np.ndarray:
        """The prototypes of the shown examples, as bytes."""
        return np.asarray(to_bytes(self.found[1][self.shown]))

    @cached_property
    def copies(self) -> np.ndarray:
        """Some shown examples transformed at random, within the box: bytes [examples, copies, …]."""
        given = self.pictures[:_COPIED]
        eta = self.group.sample(jax.random.key(1), len(given) * _COPIES)
        copies = self.group.act(self.group.element(eta), to_unit(np.repeat(given, _COPIES, 0)))
        return np.asarray(to_bytes(copies)).reshape(len(given), _COPIES, *given.shape[1:])

    @cached_property
    def prototypes_of_copies(self) -> np.ndarray:
        """The prototype of each of the copies, as bytes."""
        return np.asarray(to_bytes(self.found[1][len(self.images) :])).reshape(self.copies.shape)

    def versions(self, place: int) -> np.ndarray:
        """Return natural versions of a shown example, as bytes."""
        return self.posed(place, self.drawn[self.shown[place], :_VERSIONS])

    @cached_property
    def close(self) -> Densities:
        """The densities of the shown examples."""
        return self._densities(self.shown)

    @cached_property
    def marginals(self) -> dict[str, np.ndarray]:
        """Each shown example's density of each coordinate at its axis' points, per unit of η."""
        return {c.name: self._on_axis(self.close.marginal(c.name), c) for c in self.coordinates}

    def own_place(self, place: int, coordinate: Coordinate) -> float:
        """Return where a shown example itself lies, in η relative to its middle."""
        i = self.group.index(coordinate.name)
        return float(away(coordinate, self.poses[place, i], self.middle[self.shown[place], i]))

    def at(self, place: int, **values: np.ndarray) -> np.ndarray:
        """Return η for a shown example: these values relative to its middle, the rest as the example has it."""
        count = len(next(iter(values.values())))
        eta = np.repeat(self.poses[place][None], count, 0)
        for name, column in values.items():
            i = self.group.index(name)
            middle = self.middle[self.shown[place], i]
            eta[:, i] = moved(self.group.coordinates[i], middle, np.asarray(column, np.float32))
        return eta

    def posed(self, place: int, eta: np.ndarray) -> np.ndarray:
        """Return a shown example in these poses, as bytes; it is resampled once, from the example itself."""
        spare = np.repeat(eta[-1:], -len(eta) % FRAMES, 0)  # whole batches only: one compilation serves all
        wanted = np.concatenate([eta, spare])
        repeated = [np.repeat(rows[place][None], len(wanted), 0) for rows in (self.pictures, self.poses)]
        made = in_batches(lambda x, p, e: _posed(self.group, to_unit(x), p, e), *repeated, wanted, size=FRAMES)
        return made[: len(eta)]

    def frames(self, place: int, coordinate: Coordinate) -> np.ndarray:
        """Return a shown example along the axis of a coordinate, as bytes."""
        key = place, coordinate.name
        if key not in self._frames:
            eta = self.at(place, **{coordinate.name: self.axes[coordinate.name].frames})
            self._frames[key] = self.posed(place, eta)
        return self._frames[key]

    def _densities(self, places: np.ndarray) -> Densities:
        return Densities(self.model.parts_.density, self.group, jnp.asarray(self.found[1][places]))

    def _on_axis(self, marginal: Marginal, coordinate: Coordinate) -> np.ndarray:
        """Bring densities from the prototypes' coordinates to the middles', and from the user's unit to η."""
        place = self.group.index(coordinate.name)
        axis = self.axes[coordinate.name]
        eta = np.asarray(coordinate.from_user(marginal.values, self.size))
        period = coordinate.period
        rows = []
        for middle, density in zip(self.middle[self.shown, place], marginal.density, strict=True):
            wanted = moved(coordinate, middle, axis.points)
            if coordinate.steps is not None:
                rows.append(density[np.abs(wanted[:, None] - eta[None]).argmin(1)])
            else:
                per_eta = density * np.abs(np.gradient(marginal.values) / np.gradient(eta))
                rows.append(np.interp(wanted, eta, per_eta, period=period) if period else _interp(wanted, eta, per_eta))
        return np.stack(rows)


def _interp(wanted: np.ndarray, eta: np.ndarray, density: np.ndarray) -> np.ndarray:
    return np.interp(wanted, eta, density, left=0, right=0)


@eqx.filter_jit
def _posed(group: Group, examples: jax.Array, poses: jax.Array, eta: jax.Array) -> jax.Array:
    there = group.compose(group.element(eta), group.inverse(group.element(jnp.asarray(poses))))
    return to_bytes(group.act(there, examples))
