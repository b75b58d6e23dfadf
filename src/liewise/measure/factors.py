"""What factors a resampled example has: they follow by composing group elements, and no vision is needed.

An example x with the pose η_x = f(x) and a new η' drawn for its prototype give x' = T_η'(T_η_x⁻¹(x)), so x' is x moved
by the composition of the two. An inference that finds all poses off by the same element does no harm here.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from liewise.datasets import SHAPES, SYMMETRY, Split
from liewise.errors import DataError, TransformError
from liewise.transforms import Group, Product, Spatial
from liewise.transforms.warp import half_extent

__all__ = ["SPRITE_FACTORS", "relative", "resampled_factors"]

PoseEta = Float[Array | np.ndarray, "n dim"]
DrawnEta = Float[Array | np.ndarray, "n k dim"]
SPRITE_FACTORS = ("scale", "orientation", "x", "y")


def relative(group: Group, pose_eta: PoseEta, drawn_eta: DrawnEta) -> Float[np.ndarray, "n k dim"]:
    """Return the η of what takes each example x to its resampled versions x'.

    Args:
        group: whose coordinates η are.
        pose_eta: of each example, as the inference finds it.
        drawn_eta: k for each example's prototype, as the density draws them.
    """
    _check_paired(pose_eta, drawn_eta)
    return np.asarray(_relative(group, pose_eta, drawn_eta)).reshape(drawn_eta.shape)


def resampled_factors(
    group: Group, pose_eta: PoseEta, drawn_eta: DrawnEta, split: Split
) -> dict[str, Float[np.ndarray, "n k"]]:
    """Return the scale, orientation (degrees) and place x, y (pixels) of sprites that were resampled.

    Orientations are modulo the shape's own symmetry. What shears a sprite, or scales its sides apart, leaves it the
    orientation of the nearest rotation, and the scale that has its area. A mirror image is a sprite again, since every
    shape is its own.

    Args:
        group: one that moves pixels, or its product with others.
        pose_eta: of each example of the split, as the inference finds it.
        drawn_eta: k for each example's prototype, as the density draws them.
        split: sprites, with their labels and true factors.
    """
    n, k = drawn_eta.shape[:2]
    truth, symmetry = _truth(split, n)
    _check_paired(pose_eta, drawn_eta)
    grid = np.asarray(_matrices(group, _moved(group, pose_eta, drawn_eta)), np.float64)
    content = np.linalg.inv(grid).reshape(n, k, 3, 3)  # what is read from there is shown here
    linear, shift = content[..., :2, :2], content[..., :2, 2] * half_extent(split.image_shape[:2])
    place = np.stack([truth["x"], truth["y"]], -1)[:, None, :, None]
    x, y = np.moveaxis((linear @ place)[..., 0] + shift, -1, 0)
    determinant = np.linalg.det(linear)
    return {
        "scale": truth["scale"][:, None] * np.sqrt(np.abs(determinant)),
        "orientation": np.mod(_orientation(linear, determinant, truth["orientation"]), symmetry[:, None]),
        "x": x,
        "y": y,
    }


@eqx.filter_jit
def _moved(group: Group, pose_eta: PoseEta, drawn_eta: DrawnEta):
    """The elements that take examples to their resampled versions, a row for each of these."""
    n, k, dim = drawn_eta.shape
    undo = group.inverse(group.element(jnp.asarray(pose_eta, jnp.float32)))
    undo = jax.tree.map(lambda leaf: jnp.repeat(leaf, k, axis=0), undo)
    return group.compose(group.element(jnp.asarray(drawn_eta, jnp.float32).reshape(n * k, dim)), undo)


@eqx.filter_jit
def _relative(group: Group, pose_eta: PoseEta, drawn_eta: DrawnEta) -> Float[Array, "rows dim"]:
    return group.parameters(_moved(group, pose_eta, drawn_eta))


def _matrices(group: Group, element) -> Float[Array, "rows 3 3"]:
    """The share of an element that moves pixels."""
    parts = zip(group.factors, element, strict=True) if isinstance(group, Product) else [(group, element)]
    for part, matrices in parts:
        if isinstance(part, Spatial):
            return matrices
    raise TransformError(f"sprites' factors change where pixels move; got a group of {', '.join(group.names)} only")


def _check_paired(pose_eta: PoseEta, drawn_eta: DrawnEta) -> None:
    n, _, dim = drawn_eta.shape
    if pose_eta.shape != (n, dim):
        raise DataError(
            f"expected one pose an example, [{n}, {dim}] for drawn η {drawn_eta.shape}; got {pose_eta.shape}"
        )


def _truth(split: Split, n: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The true factors, and the degrees after which each sprite looks the same."""
    missing = [name for name in SPRITE_FACTORS if name not in split.factors]
    if missing or split.labels is None:
        raise DataError(f"expected sprites with labels and factors {', '.join(SPRITE_FACTORS)}; got {split}")
    if split.labels.max() >= len(SHAPES):
        raise DataError(f"expected labels of {', '.join(SHAPES)}, 0 to {len(SHAPES) - 1}; got {split.labels.max()}")
    if len(split) != n:
        raise DataError(f"expected drawn η for each of {len(split)} sprites; got {n}")
    symmetry = np.array([SYMMETRY[shape] for shape in SHAPES])[split.labels]
    return {name: split.factors[name].values for name in SPRITE_FACTORS}, symmetry


def _orientation(linear: np.ndarray, determinant: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """The nearest rotation to what `linear` makes of a sprite's axes, y being down, in degrees."""
    angle = np.radians(degrees)
    axes = np.moveaxis(np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]), -1, 0)
    moved = linear @ axes[:, None]
    # a shape is its own mirror image, left to right in its own frame
    moved[..., 0] *= np.where(determinant < 0, -1.0, 1.0)[..., None]
    return np.degrees(np.arctan2(moved[..., 0, 1] - moved[..., 1, 0], moved[..., 0, 0] + moved[..., 1, 1]))
