"""From a program written down for a few numbers of examples to one for any number.

A tracer knows fixed lengths only. So a function is written down for several of them; whole numbers that differ are
lengths that depend on how many examples there are, as a sum of products of sizes. One more point checks that.
"""

from itertools import product
from typing import Any

import numpy as np

from liewise.augment.program import monomials
from liewise.errors import TransformError

__all__ = ["generalised", "points"]

Point = tuple[int, ...]


def points(count: int) -> list[Point]:
    """Return where to write a program with so many sizes down: just enough points, and one more."""
    corners = [(3 + i, 5 + 2 * i) for i in range(count)]
    return [*product(*corners), tuple(11 + 2 * i for i in range(count))]


def generalised(written: list[tuple[Point, Any]]) -> Any:
    """Merge what was written at these points."""
    first = written[0][1]
    if all(code == first for _, code in written):
        return first
    if isinstance(first, dict) and all(code.keys() == first.keys() for _, code in written):
        return {key: generalised([(point, code[key]) for point, code in written]) for key in first}
    if isinstance(first, list) and all(len(code) == len(first) for _, code in written):
        return [generalised([(point, code[i]) for point, code in written]) for i in range(len(first))]
    if all(type(code) is int for _, code in written):
        return {"size": _coefficients(written)}
    raise _refusal()


def _coefficients(written: list[tuple[Point, int]]) -> list[int]:
    """Find the sum of products of sizes that the numbers are."""
    terms = np.array([monomials(point) for point, _ in written], float)
    numbers = np.array([number for _, number in written], float)
    found = np.round(np.linalg.lstsq(terms, numbers)[0]).astype(int)
    if not np.array_equal(terms @ found, numbers):
        raise _refusal()
    return found.tolist()


def _refusal() -> TransformError:
    return TransformError(
        "the model or its group does something else for other numbers of examples: there is no augmenter and no export"
        " for it; resample and prototype do work"
    )
