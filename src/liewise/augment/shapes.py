"""Operations of a program that move elements about, look them up, or multiply matrices."""

import math

import numpy as np

__all__ = ["SHAPES"]

_FEW = 4  # terms of a product that are added one by one: to the same bits, however many rows there are


def _broadcast(x, *, shape: list[int], broadcast_dimensions: list[int]):
    full = [1] * len(shape)
    for axis, length in zip(broadcast_dimensions, np.shape(x), strict=True):
        full[axis] = length
    return np.broadcast_to(np.reshape(x, full), shape)


def _slice(x, *, start_indices: list[int], limit_indices: list[int], strides: list[int] | None):
    steps = strides or [1] * len(start_indices)
    return x[tuple(slice(a, b, c) for a, b, c in zip(start_indices, limit_indices, steps, strict=True))]


def _dynamic_slice(x, *starts, slice_sizes: list[int]):
    places = zip(starts, slice_sizes, np.shape(x), strict=True)
    return x[tuple(slice(a, a + n) for a, n in ((min(max(int(s), 0), full - n), n) for s, n, full in places))]


def _split(x, *, sizes: list[int], axis: int):
    return tuple(np.split(x, np.cumsum(sizes)[:-1], axis))


def _pad(x, value, *, padding_config: list[list[int]]):
    shape, held, kept = [], [], []
    for (low, high, inner), length in zip(padding_config, x.shape, strict=True):
        inside = length + max(length - 1, 0) * inner
        shape.append(max(low, 0) + inside + max(high, 0))
        held.append(slice(max(low, 0), max(low, 0) + inside, inner + 1))
        kept.append(slice(max(-low, 0), shape[-1] - max(-high, 0)))  # less than nothing: cut off
    made = np.full(shape, value, x.dtype)
    made[tuple(held)] = x
    return made[tuple(kept)]


def _iota(*, shape: list[int], dimension: int, dtype: str):
    line = np.arange(shape[dimension], dtype=dtype).reshape([-1 if i == dimension else 1 for i in range(len(shape))])
    return np.broadcast_to(line, shape)


def _dot(a, b, *, dimension_numbers: list[list[list[int]]]):
    (over_a, over_b), (batch_a, batch_b) = dimension_numbers
    free_a = [i for i in range(a.ndim) if i not in over_a and i not in batch_a]
    free_b = [i for i in range(b.ndim) if i not in over_b and i not in batch_b]
    batch, rows = [a.shape[i] for i in batch_a], [a.shape[i] for i in free_a]
    columns, terms = [b.shape[i] for i in free_b], math.prod(a.shape[i] for i in over_a)
    left = a.transpose([*batch_a, *free_a, *over_a]).reshape([*batch, math.prod(rows), terms])
    right = b.transpose([*batch_b, *over_b, *free_b]).reshape([*batch, terms, math.prod(columns)])
    if 0 < terms <= _FEW:
        made = left[..., :, :1] * right[..., :1, :]
        for k in range(1, terms):
            made = made + left[..., :, k : k + 1] * right[..., k : k + 1, :]
    else:
        made = left @ right
    return made.reshape(batch + rows + columns)


def _gather(x, indices, *, dimension_numbers: dict, slice_sizes: list[int], mode: str, fill_value):
    """Look slices up, one for each row of indices; see XLA's gather for what the numbers mean."""
    numbers, batch = dimension_numbers, np.shape(indices)[:-1]
    dropped = {*numbers["collapsed_slice_dims"], *numbers["operand_batching_dims"]}
    offsets = [axis for axis in range(x.ndim) if axis not in dropped]
    places, inside = [], np.ones(batch, bool)
    for axis in range(x.ndim):
        last = x.shape[axis] - slice_sizes[axis]
        if axis in numbers["start_index_map"]:
            start = indices[..., numbers["start_index_map"].index(axis)].astype(np.int64)
            inside &= (start >= 0) & (start <= last)
            start = np.clip(start, 0, last)
        elif axis in numbers["operand_batching_dims"]:
            along = numbers["start_indices_batching_dims"][numbers["operand_batching_dims"].index(axis)]
            start = np.arange(x.shape[axis]).reshape([-1 if i == along else 1 for i in range(len(batch))])
        else:
            start = np.zeros((1,) * len(batch), np.int64)
        start = start.reshape(start.shape + (1,) * len(offsets))
        if axis in offsets:
            place = offsets.index(axis)
            start = start + np.arange(slice_sizes[axis]).reshape([-1 if i == place else 1 for i in range(len(offsets))])
        places.append(start)
    found = np.broadcast_to(x[tuple(places)], (*batch, *(slice_sizes[axis] for axis in offsets)))
    if mode == "FILL_OR_DROP" and not inside.all():
        value = fill_value if fill_value is not None else (np.nan if x.dtype.kind == "f" else 0)
        found = np.where(inside.reshape(batch + (1,) * len(offsets)), found, np.asarray(value, x.dtype))
    behind = numbers["offset_dims"]
    return np.moveaxis(found, range(len(batch), found.ndim), behind) if offsets else found


SHAPES = {
    "broadcast_in_dim": _broadcast,
    "concatenate": lambda *parts, dimension: np.concatenate(parts, dimension),
    "dot_general": _dot,
    "dynamic_slice": _dynamic_slice,
    "expand_dims": lambda x, *, dimensions: np.expand_dims(x, tuple(dimensions)),
    "gather": _gather,
    "iota": _iota,
    "pad": _pad,
    "reshape": lambda x, *, new_sizes: np.reshape(x, new_sizes),
    "rev": lambda x, *, dimensions: np.flip(x, dimensions),
    "slice": _slice,
    "split": _split,
    "squeeze": lambda x, *, dimensions: np.squeeze(x, tuple(dimensions)),
    "stack": lambda *parts, axis: np.stack(parts, axis),
    "transpose": lambda x, *, permutation: np.transpose(x, permutation),
}
