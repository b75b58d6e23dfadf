"""Which examples a step sees: a pseudo-random permutation of each epoch that is never written out.

Example k of an epoch is found by a Feistel network over a grid of about n cells, keyed by (seed, epoch).
"""

import math

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Int, UInt32

__all__ = ["draw", "permute"]

_ROUNDS = 8


def draw(
    seed: UInt32[Array, ""], epoch: UInt32[Array, ""], positions: UInt32[Array, "*shape"], n: int
) -> Int[Array, "*shape"]:
    """The examples at `positions`, counted from the beginning of `epoch`, of an endless shuffled stream."""
    size = jnp.uint32(n)
    return permute(seed, epoch + positions // size, positions % size, n)


def permute(
    seed: UInt32[Array, ""], epoch: UInt32[Array, "*shape"], k: UInt32[Array, "*shape"], n: int
) -> Int[Array, "*shape"]:
    """The k-th example (0 <= k < n < 2**31) of each epoch's own permutation of n examples."""
    columns = math.isqrt(n - 1) + 1
    rows = -(-n // columns)
    key = _mix(_mix(epoch + jnp.uint32(0x9E3779B9)) ^ seed)

    def shuffle(cell: UInt32[Array, "*shape"]) -> UInt32[Array, "*shape"]:
        row, column = cell // jnp.uint32(columns), cell % jnp.uint32(columns)
        for i in range(0, _ROUNDS, 2):
            row = (row + _hash(column, key, i) % jnp.uint32(rows)) % jnp.uint32(rows)
            column = (column + _hash(row, key, i + 1) % jnp.uint32(columns)) % jnp.uint32(columns)
        return row * jnp.uint32(columns) + column

    # The grid has fewer than isqrt(n) + 1 cells too many; who lands on one walks on until it is off them.
    def walk(cell: UInt32[Array, "*shape"]) -> UInt32[Array, "*shape"]:
        return jnp.where(cell >= jnp.uint32(n), shuffle(cell), cell)

    return lax.while_loop(lambda cell: jnp.any(cell >= jnp.uint32(n)), walk, shuffle(k)).astype(jnp.int32)


def _hash(x: jax.Array, key: jax.Array, i: int) -> jax.Array:
    return _mix(x ^ _mix(key + jnp.uint32(0x85EBCA77 * (i + 1) % 2**32)))


def _mix(x: jax.Array) -> jax.Array:
    """Scrambles 32 bits so that each depends on all (the finaliser of MurmurHash3)."""
    x = (x ^ (x >> 16)) * jnp.uint32(0x85EBCA6B)
    x = (x ^ (x >> 13)) * jnp.uint32(0xC2B2AE35)
    return x ^ (x >> 16)
