"""A program of array operations: what a JAX function does, written down, to be run by NumPy alone.

`code` is plain values that JSON holds. Sizes that depend on how many examples there are stand in it as coefficients.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from liewise.augment.arithmetic import ARITHMETIC
from liewise.augment.drawing import fold_in, random_bits, split
from liewise.augment.reading import read_between
from liewise.augment.shapes import SHAPES

__all__ = ["OPERATIONS", "Program", "monomials"]

_MOST_BOUND = 16  # sizes that a program is kept ready for


def _scan(*inputs, body: "_Bound", length: int, reverse: bool, num_consts: int, num_carry: int):
    first = num_consts + num_carry
    constants, carry, rows = inputs[:num_consts], list(inputs[num_consts:first]), inputs[first:]
    kept: list[Any] = [None] * length
    for step in reversed(range(length)) if reverse else range(length):
        results = body.run([*constants, *carry, *(row[step] for row in rows)])
        carry, kept[step] = results[:num_carry], results[num_carry:]
    return *carry, *(None if column[0] is None else np.stack(column) for column in zip(*kept, strict=True))


def _while(*inputs, condition: "_Bound", body: "_Bound", cond_nconsts: int, body_nconsts: int):
    first = cond_nconsts + body_nconsts
    for_condition, for_body, carry = inputs[:cond_nconsts], inputs[cond_nconsts:first], list(inputs[first:])
    while condition.run([*for_condition, *carry])[0]:
        carry = body.run([*for_body, *carry])
    return tuple(carry)


def _cond(which, *inputs, branches: "list[_Bound]"):
    return tuple(branches[min(max(int(which), 0), len(branches) - 1)].run(list(inputs)))


OPERATIONS: dict[str, Callable[..., Any]] = {
    **ARITHMETIC,
    **SHAPES,
    "scan": _scan,
    "while": _while,
    "cond": _cond,
    "read_between": read_between,
    "random_bits": random_bits,
    "random_split": split,
    "random_fold_in": fold_in,
}
_SEVERAL = {"scan", "while", "cond", "split", "sort"}  # these return a tuple


class Program:
    """A function of arrays. Its sizes are given by name when it is called; it can be pickled, as plain data."""

    def __init__(self, code: dict[str, Any], arrays: Mapping[str, np.ndarray]):
        self.code, self.arrays = code, dict(arrays)
        self._bound: dict[tuple[int, ...], _Bound] = {}

    def __call__(self, *inputs: np.ndarray, **sizes: int) -> list[Any]:
        """Run it: arrays in, arrays out, in the dtypes of the function that it was made of."""
        named = tuple(sizes[name] for name in self.code["sizes"])
        bound = self._bound.get(named)
        if bound is None:
            if len(self._bound) >= _MOST_BOUND:
                self._bound.clear()
            bound = self._bound[named] = _Bound(self.code, self.arrays, monomials(named))
        with np.errstate(all="ignore"):
            return bound.run(list(inputs))

    def __reduce__(self):
        return Program, (self.code, self.arrays)


class _Bound:
    """A program whose sizes are known: steps with what they need at hand, and what nobody needs after them."""

    def __init__(self, code: dict[str, Any], arrays: Mapping[str, np.ndarray], sizes: Sequence[int]):
        self.inputs, self.outputs = code["inputs"], code["outputs"]
        self.start: list[Any] = [None] * code["slots"]
        for slot, constant in code["constants"]:
            self.start[slot] = arrays[constant] if isinstance(constant, str) else _literal(*constant)
        last = dict.fromkeys(self.inputs, -1)
        for place, (_, ins, outs, _) in enumerate(code["steps"]):
            last |= dict.fromkeys((*ins, *outs), place)
        kept = {*self.outputs, *(slot for slot, _ in code["constants"])}
        dead: list[list[int]] = [[] for _ in code["steps"]]
        for slot, place in last.items():
            if slot not in kept and slot is not None and place >= 0:
                dead[place].append(slot)
        self.steps = [
            (OPERATIONS[name], name in _SEVERAL, ins, outs, _bind(params, arrays, sizes), gone)
            for (name, ins, outs, params), gone in zip(code["steps"], dead, strict=True)
        ]

    def run(self, inputs: list[Any]) -> list[Any]:
        """Run all steps."""
        values = self.start.copy()
        for slot, value in zip(self.inputs, inputs, strict=True):
            values[slot] = value
        for operation, several, ins, outs, params, gone in self.steps:
            made = operation(*[values[i] for i in ins], **params)
            if several:
                for slot, one in zip(outs, made, strict=True):
                    if slot is not None:
                        values[slot] = one
            else:
                values[outs[0]] = made
            for slot in gone:
                values[slot] = None
        return [None if slot is None else values[slot] for slot in self.outputs]


def monomials(sizes: Sequence[int]) -> list[int]:
    """Return the products of every choice of sizes, none of them first: what lengths of axes are sums of."""
    return [math.prod(chosen) for count in range(len(sizes) + 1) for chosen in combinations(sizes, count)]


def _literal(dtype: str, value: Any) -> Any:
    return np.asarray(value, dtype)[()]


def _bind(value: Any, arrays: Mapping[str, np.ndarray], sizes: Sequence[int]) -> Any:
    """Put numbers in the place of sizes, and programs that run in the place of their code."""
    if isinstance(value, list):
        return [_bind(item, arrays, sizes) for item in value]
    if not isinstance(value, dict):
        return value
    if "size" in value:
        return sum(a * b for a, b in zip(value["size"], sizes, strict=True))
    if "steps" in value:
        return _Bound(value, arrays, sizes)
    return {name: _bind(item, arrays, sizes) for name, item in value.items()}
