"""JAX's random numbers in NumPy: threefry, its keys as one 64-bit number each, and whole numbers mixed into keys."""

from typing import Any

import numpy as np

__all__ = ["fold_in", "key_of", "mix", "random_bits", "split"]

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_LOW = np.uint64(0xFFFFFFFF)


def key_of(seed: int) -> np.ndarray:
    """Return the key that `jax.random.key` makes of a seed."""
    return np.array(seed & 0xFFFFFFFF, np.uint64)


def split(keys: Any, *, shape: list[int]) -> np.ndarray:
    """Return so many keys of each key, as `jax.random.split` does."""
    high, low = _threefry(keys, _places(keys, shape))
    return (high.astype(np.uint64) << np.uint64(32)) | low


def fold_in(keys: Any, number: Any) -> np.ndarray:
    """Return each key with a number mixed in, as `jax.random.fold_in` does."""
    high, low = _threefry(keys, np.asarray(number).astype(np.uint32).astype(np.uint64))
    return (high.astype(np.uint64) << np.uint64(32)) | low


def random_bits(keys: Any, *, shape: list[int], bit_width: int) -> np.ndarray:
    """Return 32 random bits a place, an array of this shape for each key."""
    assert bit_width == 32
    high, low = _threefry(keys, _places(keys, shape))
    return high ^ low


def mix(*numbers: Any) -> np.ndarray:
    """Mix whole numbers into keys, all 64 bits of which depend on all of them (the finaliser of splitmix64)."""
    total = np.uint64(0)
    with np.errstate(over="ignore"):
        for number in numbers:
            total = total + np.asarray(number).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
            total = (total ^ (total >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            total = (total ^ (total >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            total = total ^ (total >> np.uint64(31))
    return np.asarray(total)


def _places(keys: Any, shape: list[int]) -> np.ndarray:
    """Number the places of an array for each key; those of `shape` lie behind those of the keys."""
    return np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.uint64).reshape((1,) * np.ndim(keys) + tuple(shape))


def _threefry(keys: Any, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Encrypt counts by keys: 20 rounds of Threefry-2x32 (https://www.thesalmons.org/john/random123/)."""
    keys = np.asarray(keys, np.uint64).reshape(np.shape(keys) + (1,) * (np.ndim(counts) - np.ndim(keys)))
    first, second = (keys >> np.uint64(32)).astype(np.uint32), (keys & _LOW).astype(np.uint32)
    schedule = (first, second, first ^ second ^ np.uint32(0x1BD11BDA))
    with np.errstate(over="ignore"):
        a = (counts >> np.uint64(32)).astype(np.uint32) + schedule[0]
        b = (counts & _LOW).astype(np.uint32) + schedule[1]
        for group in range(5):
            for turn in _ROTATIONS[group % 2]:
                a = a + b
                b = ((b << np.uint32(turn)) | (b >> np.uint32(32 - turn))) ^ a
            a = a + schedule[(group + 1) % 3]
            b = b + schedule[(group + 2) % 3] + np.uint32(group + 1)
    return a, b
