"""The outlines of dSprites' square, ellipse and heart, as distances to them.

Measured on the official archive; lengths are pixels of its 64x64 frame at scale 1, (u, v) lies in the
sprite's own frame with v down. https://github.com/google-deepmind/dsprites-dataset
"""

import numpy as np

__all__ = ["REACH", "SHAPES", "SYMMETRY", "signed_distance"]

SHAPES = ("square", "ellipse", "heart")  # in the archive's order: the labels
SYMMETRY = {"square": 90.0, "ellipse": 180.0, "heart": 360.0}  # degrees after which a shape looks the same
REACH = 13.7  # no outline goes further from the sprite's centre

_SQUARE_HALF = 9.6
_ELLIPSE_HALVES = (12.8, 7.2)

# The archive's heart is the curve u = a sin^3 t, v = c + sum_k b_k cos(k t). The numbers are a least-squares
# fit to the boundary seen in 3,000 of its images at scales 0.9 and 1: 0.01 px off on average, 0.05 at most.
_HEART_A = 9.594
_HEART_C = -1.438
_HEART_B = (-8.603, 3.314, 1.323, 0.660)
_HEART_CENTRE_V = -2.0  # seen from here the heart is star-shaped: one radius for each direction
_HEART_BINS = 1024


def signed_distance(shape: str, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the distance to the outline, negative inside; good to first order, which is where it is used.

    >>> signed_distance("square", np.array([5.6, 10.6]), np.zeros(2)).round(3).tolist()
    [-4.0, 1.0]
    """
    return {"square": _square, "ellipse": _ellipse, "heart": _heart}[shape](u, v)


def _square(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.maximum(np.abs(u), np.abs(v)) - np.float32(_SQUARE_HALF)


def _ellipse(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    p, q = u / np.float32(_ELLIPSE_HALVES[0]), v / np.float32(_ELLIPSE_HALVES[1])
    level = np.sqrt(p * p + q * q)
    p, q = p / np.float32(_ELLIPSE_HALVES[0]), q / np.float32(_ELLIPSE_HALVES[1])
    # level / |gradient of level|; the centre, where both vanish, is as far inside as anything
    slope = np.sqrt(p * p + q * q) / np.maximum(level, np.float32(1e-6))
    return (level - 1) / np.maximum(slope, np.float32(1 / _ELLIPSE_HALVES[0]))


def _heart(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    v = v - np.float32(_HEART_CENTRE_V)
    # 0 down at the tip, pi up at the notch; left is as right
    direction = np.arctan2(np.abs(u), v) * np.float32((_HEART_BINS - 1) / np.pi)
    index = direction.astype(np.int32)
    fraction = direction - index
    radius = _HEART_RADIUS[index] * (1 - fraction) + _HEART_RADIUS[index + 1] * fraction
    return (np.sqrt(u * u + v * v) - radius) * _HEART_TILT[index]


def _heart_table() -> tuple[np.ndarray, np.ndarray]:
    """Return the heart's radius per direction, and the cosine between the radius and the outline's normal."""
    t = np.linspace(0.0, np.pi, 20_001)
    u = _HEART_A * np.sin(t) ** 3
    v = _HEART_C - _HEART_CENTRE_V + sum(b * np.cos((k + 1) * t) for k, b in enumerate(_HEART_B))
    direction = np.arctan2(u, v)
    order = np.argsort(direction)
    grid = np.linspace(0.0, np.pi, _HEART_BINS)
    radius = np.interp(grid, direction[order], np.hypot(u, v)[order])
    tilt = 1.0 / np.hypot(1.0, np.gradient(radius, grid) / radius)
    return np.append(radius, radius[-1]).astype(np.float32), tilt.astype(np.float32)


_HEART_RADIUS, _HEART_TILT = _heart_table()
