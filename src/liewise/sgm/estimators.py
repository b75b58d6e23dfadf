"""For each coordinate an estimator that moves along with the example by construction.

Where an example is, how large, how bright and how vivid, follow from moments; which way it is turned or mirrored, in
the plane or round the colour wheel, from scores of all the ways it could be. Estimators see the example with all that
was found before undone, and say what is left, coordinate by coordinate.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from liewise.nn import MLP, CircularNet, circular_mode, polar_map, to_polar
from liewise.transforms import Group, rgb_to_hsv

__all__ = ["Found", "HueCircle", "Mirrors", "Place", "RotationCircle", "Tint", "Ways"]

Images = Float[Array, "batch height width channels"]
Found = dict[str, Float[Array, " batch"]]  # what is left of each coordinate, in η
_TINY = 1e-6
_RINGS = 12  # of the polar picture
_WIDE = 1.0  # in η, from the smallest to the largest of scales
_PLACED = ("shift-x", "shift-y", "scale", "scale-x", "scale-y", "shear")


class Ways(NamedTuple):
    """The ways an example could be turned (places on a circle) and mirrored (sides), and a score for each.

    `signal` is the example as it looks from each side; turning the example rolls its places.
    """

    signal: Float[Array, "batch sides places features"]
    scores: Float[Array, "batch sides places"]

    @property
    def chances(self) -> Float[Array, "batch sides places"]:
        """How likely each way is to be the one."""
        return jax.nn.softmax(self.scores.reshape(len(self.scores), -1), axis=1).reshape(self.scores.shape)


class Place(eqx.Module):
    """Shifts and sizes, from the centre of mass and the mean squares of distances from there.

    A pixel's mass is its distance from the background, less where that is small; mass does not change when the
    example moves, and its centre moves along. Where both axes scale apart and slant, and by so much that looking at
    the example would not tell, the axes' sizes and the slant are those that make it round.
    """

    names: tuple[str, ...] = eqx.field(static=True)
    rounds: bool = eqx.field(static=True)
    background: Float[Array, " channels"]
    raw_threshold: Float[Array, ""]
    log_size: Float[Array, ""]  # of what is at scale 1

    def __init__(self, group: Group, examples: Images):
        """Set size 1 and the background by some of the data; the background is what is at the frame's edge."""
        boxes = {c.name: c.high - c.low for c in group.coordinates}
        self.names = tuple(n for n in _PLACED if n in boxes)
        self.rounds = "shear" in boxes and min(boxes.get("scale-x", 0), boxes.get("scale-y", 0)) >= _WIDE
        edge = jnp.concatenate([examples[:, 0], examples[:, -1], examples[:, :, 0], examples[:, :, -1]], 1)
        self.background = jnp.median(edge, axis=(0, 1))
        self.raw_threshold = jnp.array(-2.0)
        self.log_size = jnp.zeros(())
        self.log_size = jnp.mean(self._log_sizes(examples))

    def __call__(self, images: Images) -> Found:
        """Find the shifts; and the sizes, where both axes can scale."""
        x, y, xx, xy, yy = self._moments(images)
        found = {"shift-x": x, "shift-y": y}
        scales = [n for n in ("scale", "scale-x", "scale-y") if n in self.names]
        if self.rounds:
            across = jnp.sqrt(xx - xy**2 / yy)
            found["scale-x"], found["scale-y"] = jnp.log(across) - self.log_size, 0.5 * jnp.log(yy) - self.log_size
            found["shear"] = -xy / jnp.sqrt(yy) / across
        elif scales not in (["scale-x"], ["scale-y"]):
            size = 0.5 * jnp.log((xx + yy) / 2)
            found |= dict.fromkeys(scales[:1] if "scale" in scales else scales, size - self.log_size)
        return {n: found[n] for n in self.names if n in found}

    def radius(self, images: Images) -> Float[Array, ""]:
        """Return the radius of what all but the largest few examples show, as a share of the frame's longer side."""
        return jnp.exp(jnp.quantile(self._log_sizes(images), 0.95))  # a disc's radius is twice that in half extents

    def _log_sizes(self, images: Images) -> Float[Array, " batch"]:
        _, _, xx, _, yy = self._moments(images)
        return 0.5 * jnp.log((xx + yy) / 2)

    def _moments(self, images: Images):
        """Return the centre, and the mean squares around it, all in half extents."""
        height, width = images.shape[1:3]
        half = max((max(height, width) - 1) / 2, 0.5)
        x = np.float32((np.arange(width) - (width - 1) / 2) / half)
        y = np.float32((np.arange(height) - (height - 1) / 2) / half)
        square = jnp.mean((images - self.background[None, None, None]) ** 2, -1)
        distance = jnp.sqrt(square + 1e-4) - 1e-2
        mass = distance**2 / (distance + jax.nn.softplus(self.raw_threshold))
        along, down = jnp.sum(mass, 1), jnp.sum(mass, 2)
        total = jnp.sum(along, 1) + _TINY
        mean_x, mean_y = along @ x / total, down @ y / total
        xx, yy = along @ x**2 / total - mean_x**2, down @ y**2 / total - mean_y**2
        xy = (jnp.einsum("nhw,w,h->n", mass, x, y) / total - mean_x * mean_y) * (1 - 1e-3)
        least = 1e-4  # squares: a hundredth of the frame, less than a pixel
        return mean_x, mean_y, jnp.maximum(xx, 0.0) + least, xy, jnp.maximum(yy, 0.0) + least


class Tint(eqx.Module):
    """Saturation and value, from their means over what is bright."""

    names: tuple[str, ...] = eqx.field(static=True)
    log_means: Float[Array, "2"]  # of what is at factor 1

    def __init__(self, names: Collection[str], examples: Images):
        self.names = tuple(n for n in ("saturation", "value") if n in names)
        self.log_means = jnp.mean(_log_tints(examples), 0)

    def __call__(self, images: Images) -> Found:
        """Find the factors, as logarithms."""
        saturation, value = (_log_tints(images) - self.log_means[None]).T
        found = {"saturation": saturation, "value": value}
        return {n: found[n] for n in self.names}


def _log_tints(images: Images) -> Float[Array, "batch 2"]:
    hsv = _to_hsv(images)
    saturation, value = hsv[..., 1], hsv[..., 2]
    total = jnp.sum(value, 1) + _TINY
    vivid, bright = jnp.sum(saturation * value, 1) / total, jnp.sum(value**2, 1) / total
    return jnp.log(jnp.stack([vivid, bright], -1) + 1e-3)


class RotationCircle(eqx.Module):
    """Rotation, and mirroring with it: the example on polar coordinates, scored in every direction."""

    net: CircularNet
    flip: str | None = eqx.field(static=True)  # the coordinate that says whether it is mirrored
    angles: int = eqx.field(static=True)

    def __init__(self, flip: str | None, channels: int, *, angles: int = 32, hidden: int = 48, key: PRNGKeyArray):
        self.flip, self.angles = flip, angles
        self.net = CircularNet(angles, _RINGS * channels, (hidden, hidden), key=key)

    def __call__(self, images: Images) -> tuple[Found, Ways]:
        """Find the rotation; of a mirrored example, the one after the mirroring."""
        matrix = polar_map((images.shape[1], images.shape[2]), self.angles, _RINGS)
        sides = [images] if self.flip is None else [images, _mirrored(images, self.flip)]
        signals = [to_polar(side, matrix, self.angles) for side in sides]
        scores = [self.net(signal) for signal in signals]
        turns = [circular_mode(score) for score in scores]
        ways = Ways(jnp.stack(signals, 1), jnp.stack(scores, 1))
        if self.flip is None:
            return {"rotation": 2 * np.pi * turns[0]}, ways
        mirrored = jnp.max(scores[1], 1) > jnp.max(scores[0], 1)
        turn = jnp.where(mirrored, -turns[1], turns[0])
        return {"rotation": 2 * np.pi * turn, self.flip: mirrored.astype(jnp.float32)}, ways

    def missed(self, ways: Ways, moved: Found) -> Float[Array, " batch"]:
        """Return how far the ways are, on average, from the one that undoes how an example was moved: 0 to 2."""
        places = 2 * np.pi * np.arange(self.angles, dtype=np.float32) / self.angles
        if self.flip is None:
            return jnp.sum(ways.chances[:, 0] * _apart(places, moved["rotation"]), 1)
        mirrored = moved[self.flip] > 0.5
        turn = jnp.where(mirrored, -moved["rotation"], moved["rotation"])
        side = jnp.where(mirrored[:, None], ways.chances[:, 1], ways.chances[:, 0])
        return 2 - jnp.sum(side * (2 - _apart(places, turn)), 1)


class Mirrors(eqx.Module):
    """Mirroring where nothing turns: a score for each way of mirroring the example."""

    names: tuple[str, ...] = eqx.field(static=True)
    net: MLP

    def __init__(self, names: Sequence[str], pixels: int, *, key: PRNGKeyArray):
        self.names = tuple(names)
        self.net = MLP((pixels, 128, 1), key=key)

    def __call__(self, images: Images) -> tuple[Found, Ways]:
        """Find which axes are mirrored."""
        choices = np.array(np.meshgrid(*[[0, 1]] * len(self.names), indexing="ij")).reshape(len(self.names), -1)
        sides = []
        for choice in choices.T:
            side = images
            for name, mirrored in zip(self.names, choice, strict=True):
                side = _mirrored(side, name) if mirrored else side
            sides.append(side.reshape(len(images), -1))
        signal = jnp.stack(sides, 1)
        scores = self.net(signal.reshape(-1, signal.shape[-1])).reshape(signal.shape[:2])
        best = jnp.argmax(scores, 1)
        found = {n: jnp.asarray(row, jnp.float32)[best] for n, row in zip(self.names, choices, strict=True)}
        return found, Ways(signal[:, :, None], scores[:, :, None])

    def missed(self, ways: Ways, moved: Found) -> Float[Array, " batch"]:
        """Return how far the ways are, on average, from the one that undoes how an example was moved: 0 to 2."""
        place = jnp.zeros(len(ways.scores), jnp.int32)
        for name in self.names:
            place = 2 * place + (moved[name] > 0.5)
        return 2 - 2 * jnp.take_along_axis(ways.chances[:, :, 0], place[:, None], 1)[:, 0]


class HueCircle(eqx.Module):
    """Hue: a histogram round the colour wheel for each ring of the frame, scored at every hue."""

    net: CircularNet
    bins: int = eqx.field(static=True)
    rings: int = eqx.field(static=True)

    def __init__(self, *, bins: int = 32, rings: int = 3, hidden: int = 32, key: PRNGKeyArray):
        self.bins, self.rings = bins, rings
        self.net = CircularNet(bins, rings, (hidden, hidden), key=key)

    def __call__(self, images: Images) -> tuple[Found, Ways]:
        """Find the hue."""
        hsv = _to_hsv(images)
        places = jnp.arange(self.bins) / self.bins
        away = jnp.abs(jnp.mod(hsv[..., :1] - places[None, None] + 0.5, 1.0) - 0.5) * self.bins
        weight = (hsv[..., 1] * hsv[..., 2])[..., None] * jnp.maximum(1 - away, 0.0)
        total = jnp.einsum("npb,pr->nbr", weight, _rings(images.shape[1], images.shape[2], self.rings))
        signal = total / (jnp.sum(total, (1, 2), keepdims=True) / self.bins + 1e-3)
        scores = self.net(signal)
        return {"hue": circular_mode(scores)}, Ways(signal[:, None], scores[:, None])

    def missed(self, ways: Ways, moved: Found) -> Float[Array, " batch"]:
        """Return how far the ways are, on average, from the one that undoes how an example was moved: 0 to 2."""
        places = 2 * np.pi * np.arange(self.bins, dtype=np.float32) / self.bins
        return jnp.sum(ways.chances[:, 0] * _apart(places, 2 * np.pi * moved["hue"]), 1)


def _apart(places: Float[np.ndarray, " places"], angle: Float[Array, " batch"]) -> Float[Array, "batch places"]:
    return 1 - jnp.cos(places[None] - angle[:, None])


def _to_hsv(images: Images) -> Float[Array, "batch pixels 3"]:
    return rgb_to_hsv(jnp.clip((images + 1) / 2, 0.0, 1.0)).reshape(images.shape[0], -1, 3)


def _mirrored(images: Images, name: str) -> Images:
    return images[:, :, ::-1] if name == "flip-x" else images[:, ::-1]


def _rings(height: int, width: int, rings: int) -> Float[np.ndarray, "pixels rings"]:
    y, x = np.mgrid[:height, :width]
    radius = np.hypot(x - (width - 1) / 2, y - (height - 1) / 2) / (max(height, width) / 2)
    which = np.minimum((radius * rings).astype(int), rings - 1).ravel()
    return np.eye(rings, dtype=np.float32)[which]
