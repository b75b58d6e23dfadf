"""Draws as a density would give them: smoothed, with a little stray mass, and each example's by a pose of its own."""

import numpy as np

from liewise import transforms

SIZE = (28, 28)
ROTATION = transforms.affine("rotation").coordinates[0]
SHIFT = transforms.affine("shift-x").coordinates[0]
SCALE = transforms.affine("scale").coordinates[0]
FLIP = transforms.flips("flip-x").coordinates[0]
TURN = 2 * np.pi


def band(low, high):
    """A uniform distribution."""
    return lambda rng, shape: rng.uniform(low, high, shape)


def modes(*centres, half=10.0, weights=None):
    """Narrow bands, alike or by weights."""
    return lambda rng, shape: rng.choice(centres, shape, p=weights) + rng.uniform(-half, half, shape)


def turns(truth, *, n=120, k=256, smooth=2.0, stray=0.03, apart=True, seed=0):
    """Rotations in radians from a truth in degrees."""
    rng = np.random.default_rng(seed)
    degrees = truth(rng, (n, k)) + smooth * rng.normal(size=(n, k))
    degrees = np.where(rng.random((n, k)) < stray, rng.uniform(-180, 180, (n, k)), degrees)
    degrees = degrees + (rng.uniform(-180, 180, (n, 1)) if apart else 0.0)
    return np.radians((degrees + 180) % 360 - 180)


def line(truth, *, n=120, k=256, smooth=0.0, stray=0.03, reach=1.0, seed=0):
    """Values on a line from a truth in the same unit, each example's somewhere else."""
    rng = np.random.default_rng(seed)
    values = truth(rng, (n, k)) + smooth * rng.normal(size=(n, k))
    values = np.where(rng.random((n, k)) < stray, rng.uniform(-reach, reach, (n, k)), values)
    return values + rng.normal(0, 0.2 * reach, (n, 1))
