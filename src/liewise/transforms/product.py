"""Products of groups: one transformation with one η."""

from collections.abc import Sequence
from itertools import pairwise

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from liewise.errors import TransformError
from liewise.transforms.group import Box, Group, root
from liewise.transforms.spatial import Affine, Flips, Spatial

__all__ = ["Joined", "Product", "product"]


class Product(Group):
    """The direct product of groups whose actions commute: a tuple of elements, applied in turn."""

    factors: tuple[Group, ...]

    def __init__(self, factors: Sequence[Group]):
        self.factors = tuple(factors)
        self.coordinates = tuple(c for f in factors for c in f.coordinates)

    def with_box(self, box: Box) -> "Product":
        """Return the same product with another random box for the coordinates that are named."""
        unknown = set(box) - set(self.names)
        if unknown:
            raise TransformError(f"the box names {', '.join(sorted(unknown))}, which this group does not have")
        return Product([f.with_box({n: box[n] for n in f.names if n in box}) for f in self.factors])

    def completed(self) -> "Product":
        """Complete each factor."""
        return Product([f.completed() for f in self.factors])

    def element(self, eta: Float[Array, "batch dim"]) -> tuple:
        """Return each factor's element from its share of η."""
        self._expect(eta)
        return tuple(f.element(part) for f, part in zip(self.factors, self._shares(eta), strict=True))

    def compose(self, second: tuple, first: tuple) -> tuple:
        """Compose factor by factor."""
        return tuple(f.compose(s, g) for f, s, g in zip(self.factors, second, first, strict=True))

    def inverse(self, element: tuple) -> tuple:
        """Invert factor by factor."""
        return tuple(f.inverse(g) for f, g in zip(self.factors, element, strict=True))

    def act(self, element: tuple, examples):
        """Let each factor act in turn."""
        for factor, part in zip(self.factors, element, strict=True):
            examples = factor.act(part, examples)
        return examples

    def distance(self, one: tuple, other: tuple) -> Float[Array, " batch"]:
        """Return the root of the summed squares of the factors' distances."""
        parts = [f.distance(a, b) for f, a, b in zip(self.factors, one, other, strict=True)]
        return root(jnp.sum(jnp.stack(parts) ** 2, 0))

    def parameters(self, element: tuple) -> Float[Array, "batch dim"]:
        """Read off each factor's coordinates."""
        return jnp.concatenate([f.parameters(g) for f, g in zip(self.factors, element, strict=True)], -1)

    def check(self, shape: tuple[int, ...]) -> None:
        """Refuse what any factor refuses."""
        for factor in self.factors:
            factor.check(shape)

    def _shares(self, eta):
        return _shares(self.factors, eta)


class Joined(Spatial):
    """Mirrorings and affine maps as one group of matrices: mirrored first, then moved, and resampled once.

    The two do not commute (a turn before a mirror is the other turn after it), so a direct product would not be one.
    """

    affine: Affine = eqx.field(kw_only=True)
    flips: Flips = eqx.field(kw_only=True)

    def __init__(self, affine: Affine, flips: Flips):
        self.affine, self.flips = affine, flips
        self.coordinates = affine.coordinates + flips.coordinates
        self.interpolation, self.fill = affine.interpolation, affine.fill

    def with_box(self, box: Box) -> "Joined":
        """Return the same group with another random box for the affine coordinates that are named."""
        return Joined(self.affine.with_box(box), self.flips)

    def completed(self) -> "Joined":
        """Complete the affine factor."""
        return Joined(self.affine.completed(), self.flips)

    def element(self, eta: Float[Array, "batch dim"]) -> Float[Array, "batch 3 3"]:
        """Multiply the two matrices."""
        self._expect(eta)
        moved, mirrored = _shares((self.affine, self.flips), eta)
        return self.compose(self.affine.element(moved), self.flips.element(mirrored))

    def parameters(self, element: Float[Array, "batch 3 3"]) -> Float[Array, "batch dim"]:
        """Read off the mirroring, and the affine map of what is left.

        Where there is a rotation, the sign of the area tells of one mirroring, and a second is half a turn.
        """
        flips = self.flips.parameters(element)
        if "rotation" in self.affine.names:
            linear = element[:, :2, :2]
            mirrors = linear[:, 0, 0] * linear[:, 1, 1] - linear[:, 0, 1] * linear[:, 1, 0] < 0
            first = jnp.arange(self.flips.dim)[None, :] == 0
            flips = (mirrors[:, None] & first).astype(jnp.float32)
        moved = self.compose(element, self.inverse(self.flips.element(flips)))
        return jnp.concatenate([self.affine.parameters(moved), flips], -1)


def product(*groups: Group) -> Group:
    """Combine groups into one. Flips and affine maps join into one group of matrices, so that images are warped once.

    The actions of the other factors must commute with each other, as colour does with anything spatial.

    >>> from liewise.transforms import affine, colour
    >>> product(affine("rotation"), colour("hue")).names
    ('rotation', 'hue')
    """
    flat = [f for g in groups for f in (g.factors if isinstance(g, Product) else (g,))]
    if not flat:
        raise TransformError("a product needs at least one group")
    factors = _join(flat)
    names = [name for f in factors for name in f.names]
    if len(set(names)) < len(names):
        raise TransformError(f"each coordinate once, please; got {', '.join(names)}")
    if len(factors) == 1:
        return factors[0]
    return Product(factors)


def _join(groups: Sequence[Group]) -> list[Group]:
    spatial = [g for g in groups if isinstance(g, Spatial)]
    if len(spatial) < 2:
        return list(groups)
    maps = [g for g in spatial if isinstance(g, Affine)]
    mirrors = [g for g in spatial if isinstance(g, Flips)]
    if len(maps) != 1 or len(mirrors) != 1 or len(spatial) > 2:
        raise TransformError("of the groups that move pixels, combine at most one affine group and one of flips")
    joined = Joined(maps[0], mirrors[0])
    rest = [g for g in groups if not isinstance(g, Spatial)]
    return [joined, *rest]


def _shares(factors: Sequence[Group], eta: Float[Array, "batch dim"]) -> list[Float[Array, "batch part"]]:
    ends = [0]
    for factor in factors:
        ends.append(ends[-1] + factor.dim)
    return [eta[:, a:b] for a, b in pairwise(ends)]
