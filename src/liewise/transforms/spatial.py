"""Groups that move the pixels of an image: affine maps in two charts, and flips.

An element is the 3×3 matrix by which the sampling grid is warped, the inverse of what the content does. Generators
are signed so that a positive η does to the *displayed content* what its coordinate says: right, down,
counter-clockwise, larger, and leaning to the right.
"""

from typing import Literal, get_args

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from liewise.errors import TransformError
from liewise.transforms import matrices
from liewise.transforms.coordinate import Coordinate
from liewise.transforms.group import Box, Group, root
from liewise.transforms.interpolation import Interpolation, expect_images, expect_interpolation
from liewise.transforms.warp import warp

__all__ = ["SPATIAL_NAMES", "Affine", "Chart", "Flips", "Spatial", "affine", "flips"]

Chart = Literal["factored", "exp"]
Matrices = Float[Array, "batch 3 3"]

# What each coordinate adds to the six numbers (shift x, shift y, angle, log scale x, log scale y, slant) ...
_PARTS = {
    "shift-x": (1, 0, 0, 0, 0, 0),
    "shift-y": (0, 1, 0, 0, 0, 0),
    "rotation": (0, 0, 1, 0, 0, 0),
    "scale-x": (0, 0, 0, 1, 0, 0),
    "scale-y": (0, 0, 0, 0, 1, 0),
    "scale": (0, 0, 0, 1, 1, 0),
    "shear": (0, 0, 0, 0, 0, 1),
}
# ... and what those do to the content, as generators [[a, b, x], [c, d, y]] with y down.
_GENERATORS = np.array(
    [
        [[0, 0, 1], [0, 0, 0]],
        [[0, 0, 0], [0, 0, 1]],
        [[0, 1, 0], [-1, 0, 0]],
        [[1, 0, 0], [0, 0, 0]],
        [[0, 0, 0], [0, 1, 0]],
        [[0, -1, 0], [0, 0, 0]],
    ],
    np.float32,
)
_COORDINATES = {
    "shift-x": ("px", "right", 0.25),
    "shift-y": ("px", "down", 0.25),
    "rotation": ("deg", "counter-clockwise", np.pi),
    "scale-x": ("factor", "wider", 0.25),
    "scale-y": ("factor", "taller", 0.25),
    "scale": ("factor", "larger", 0.25),
    "shear": ("ratio", "top leaning right", 0.25),
}
_SHORT = {"shift": ("shift-x", "shift-y")}
_USUAL = ("shift", "rotation", "scale-x", "scale-y")  # the five of the paper
_FLIPS = {"flip-x": "left and right exchanged", "flip-y": "top and bottom exchanged"}
SPATIAL_NAMES = {"affine": (*_SHORT, *_PARTS), "flips": tuple(_FLIPS)}


class Spatial(Group):
    """A group whose elements are matrices that warp the sampling grid."""

    interpolation: Interpolation = eqx.field(static=True, default="bicubic")
    fill: float = eqx.field(static=True, default=-1.0)

    def __check_init__(self):
        expect_interpolation(self.interpolation)
        if not (isinstance(self.fill, int | float | np.number) and np.isfinite(self.fill)):
            raise TransformError(f"the fill is a finite number, -1 for black; got {self.fill!r}")

    def compose(self, second: Matrices, first: Matrices) -> Matrices:
        """Multiply; the order of the product flips, because matrices act on the grid."""
        return matrices.multiply(first, second)

    def inverse(self, element: Matrices) -> Matrices:
        """Invert the matrices."""
        return matrices.inverse(element)

    def act(self, element: Matrices, examples):
        """Warp each image once."""
        expect_images(examples, len(element))
        return warp(examples, element, interpolation=self.interpolation, fill=self.fill)

    def distance(self, one: Matrices, other: Matrices) -> Float[Array, " batch"]:
        """Return by how much the places that a pixel reads differ: root mean square over the frame, in half extents."""
        gap = (one - other)[:, :2, :]
        square = jnp.sum(gap[:, :, :2] ** 2, (1, 2)) / 3 + jnp.sum(gap[:, :, 2] ** 2, 1)
        return root(square)

    def check(self, shape: tuple[int, ...]) -> None:
        """Refuse what is not [height, width, channels]."""
        if len(shape) != 3:
            raise TransformError(f"{', '.join(self.names)} act on [height, width, channels]; got {shape}")


class Affine(Spatial):
    """Affine maps with any of seven coordinates, in one of two charts.

    `factored`: the content is slanted, scaled, turned about the middle, then shifted, so that every coordinate means
    what it says and a full turn closes. `exp`: the exponential of the sum of generators (the papers' choice), which is
    smooth at 0, but not one to one near half a turn. Both reach matrices that the other's subset of coordinates may
    not; `distance(element(parameters(g)), g)` says how far off.
    """

    chart: Chart = eqx.field(static=True, default="factored")

    def __check_init__(self):
        if self.chart not in get_args(Chart):
            raise TransformError(f"chart is 'factored' or 'exp'; got {self.chart!r}")

    def element(self, eta: Float[Array, "batch dim"]) -> Matrices:
        """Return the matrices of these coordinates in the group's chart."""
        self._expect(eta)
        parts = eta @ self._parts
        return _from_exp(parts) if self.chart == "exp" else _from_factors(parts)

    def parameters(self, element: Matrices) -> Float[Array, "batch dim"]:
        """Read the coordinates off matrices; what they have no coordinate for is left out.

        NaN in the chart `exp` where a matrix has no logarithm, and in both where it mirrors.
        """
        parts = _to_exp(element) if self.chart == "exp" else _to_factors(element)
        return parts @ np.linalg.pinv(self._parts).astype(np.float32)

    def in_chart(self, chart: Chart) -> "Affine":
        """Return the same coordinates in another chart."""
        return Affine(self.coordinates, self.interpolation, self.fill, chart)

    def convert(self, eta: Float[Array, "batch dim"], chart: Chart) -> Float[Array, "batch dim"]:
        """Express the same transformations in another chart."""
        return self.in_chart(chart).parameters(self.element(eta))

    def completed(self) -> "Affine":
        """Add the coordinates without which products of these leave the group.

        A rotation between unequal scales makes a shear, a rotation turns one shift into the other.

        >>> affine("rotation", "scale-x").completed().names
        ('rotation', 'scale-x', 'scale-y', 'shear')
        """
        names = set(self.names)
        scales = names & {"scale", "scale-x", "scale-y"}
        if "rotation" in names and ("shear" in names or scales - {"scale"}):
            names |= {"shear"}
            if len(scales) < 2:  # any two of the three scale both axes
                names |= {"scale-x"} if "scale" in names else {"scale-x", "scale-y"}
        if {"shift-x", "shift-y"} & names and "rotation" in names:
            names |= {"shift-x", "shift-y"}
        if {"shift-y", "shear"} <= names:
            names |= {"shift-x"}
        if names == set(self.names):
            return self
        box = dict.fromkeys(names, (0.0, 0.0)) | {c.name: (c.low, c.high) for c in self.coordinates}
        return affine(*names, chart=self.chart, box=box, interpolation=self.interpolation, fill=self.fill)

    @property
    def _parts(self) -> np.ndarray:
        return np.array([_PARTS[name] for name in self.names], np.float32)


class Flips(Spatial):
    """The finite group of mirrorings: each coordinate is 0 (as it is) or 1 (mirrored)."""

    def element(self, eta: Float[Array, "batch dim"]) -> Matrices:
        """Return mirrorings, reading 0.5 and more as 1."""
        self._expect(eta)
        sign = jnp.where(eta >= 0.5, -1.0, 1.0)
        ones = jnp.ones(eta.shape[0])
        x, y = (sign[:, self.index(n)] if n in self.names else ones for n in ("flip-x", "flip-y"))
        return jnp.stack([x, y, ones], -1)[:, :, None] * jnp.eye(3)[None]

    def parameters(self, element: Matrices) -> Float[Array, "batch dim"]:
        """Read off which axes are mirrored."""
        axes = jnp.array([0 if name == "flip-x" else 1 for name in self.names])
        return (element[:, axes, axes] < 0).astype(jnp.float32)


def affine(
    *names: str,
    chart: Chart = "factored",
    box: Box | None = None,
    interpolation: Interpolation = "bicubic",
    fill: float = -1.0,
) -> Affine:
    """Make an affine group of any of shift-x, shift-y, rotation, scale-x, scale-y, scale and shear.

    Args:
        names: the coordinates; "shift" is short for both shifts. Without any: the five of the paper (no shear).
        chart: "factored" or "exp"; see `Affine`.
        box: limits of the random box by name, in η: half extents, radians, logarithms of factors. A number limits
            both sides.
        interpolation: "bilinear" or "bicubic".
        fill: the value outside the frame.

    >>> affine("rotation", "shift").names
    ('shift-x', 'shift-y', 'rotation')
    """
    full = [name for given in names or _USUAL for name in _SHORT.get(given, (given,))]
    for name in full:
        if name not in _PARTS:
            raise TransformError(f"no affine coordinate {name!r}; there are {', '.join(_PARTS)}")
    if len(set(full)) < len(full):
        raise TransformError(f"each coordinate once, please; got {', '.join(full)}")
    if {"scale", "scale-x", "scale-y"} <= set(full):
        raise TransformError("scale, scale-x and scale-y together say the same thing twice; leave one out")
    chosen = [name for name in _PARTS if name in full]
    coordinates = []
    for name in chosen:
        unit, positive, limit = _COORDINATES[name]
        period = 2 * np.pi if name == "rotation" else None
        coordinates.append(Coordinate(name, unit, positive, -limit, limit, period))
    return Affine(tuple(coordinates), interpolation, fill, chart).with_box(box or {})


def flips(*names: str, interpolation: Interpolation = "bicubic", fill: float = -1.0) -> Flips:
    """Make the group of mirrorings: flip-x (left to right), flip-y (top to bottom), or both."""
    wanted = names or tuple(_FLIPS)
    for name in wanted:
        if name not in _FLIPS:
            raise TransformError(f"no flip {name!r}; there are flip-x and flip-y")
    coordinates = tuple(
        Coordinate(name, "times", text, 0.0, 1.0, steps=(0.0, 1.0)) for name, text in _FLIPS.items() if name in wanted
    )
    return Flips(coordinates, interpolation, fill)


def _from_exp(parts: Float[Array, "batch 6"]) -> Matrices:
    return matrices.exp(-jnp.tensordot(parts, _GENERATORS, 1))


def _to_exp(element: Matrices) -> Float[Array, "batch 6"]:
    flat = -matrices.log(element).reshape(-1, 6)
    return flat @ np.linalg.pinv(_GENERATORS.reshape(6, 6)).astype(np.float32)


def _from_factors(parts: Float[Array, "batch 6"]) -> Matrices:
    """Invert shift · rotation · scale · slant, factor by factor: small numbers stay exact."""
    x, y, angle, log_x, log_y, slant = parts.T
    c, s, sx, sy = jnp.cos(angle), jnp.sin(angle), jnp.exp(-log_x), jnp.exp(-log_y)
    # The inverse of the scaled turn first, then the inverse of the slant from the left.
    below = jnp.stack([sy * s, sy * c, -sy * (s * x + c * y)], -1)
    above = jnp.stack([sx * c, -sx * s, -sx * (c * x - s * y)], -1) + slant[:, None] * below
    return matrices.from_rows(jnp.stack([above, below], 1))


def _to_factors(element: Matrices) -> Float[Array, "batch 6"]:
    """Factor the content's matrix into a rotation and an upper triangle."""
    content = matrices.inverse(element)
    first, second = content[:, :2, 0], content[:, :2, 1]
    length = jnp.sqrt(jnp.sum(first**2, 1))
    c, s = first[:, 0] / length, -first[:, 1] / length
    height = s * second[:, 0] + c * second[:, 1]
    slant = -(c * second[:, 0] - s * second[:, 1]) / length
    height = jnp.where(height > 0, height, np.nan)  # a mirror image is no rotation
    angle = jnp.arctan2(s, c)
    return jnp.stack([content[:, 0, 2], content[:, 1, 2], angle, jnp.log(length), jnp.log(height), slant], -1)
