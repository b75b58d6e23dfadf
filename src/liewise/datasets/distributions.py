"""Distributions of one factor: small, checked, and written to JSON so that a run can record them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from scipy.special import ndtr, ndtri

from liewise.errors import DataError

__all__ = ["Constant", "Distribution", "Mixture", "TruncatedNormal", "Uniform", "from_json", "to_json"]


@dataclass(frozen=True)
class Uniform:
    """Every value between `low` and `high` alike.

    >>> float(Uniform(0.0, 4.0).cdf(1.0))
    0.25
    """

    low: float
    high: float

    def __post_init__(self):
        """Check the bounds."""
        _check_finite(self)
        if not self.low < self.high:
            raise DataError(f"expected low < high; got {self} (for one value, use Constant)")

    def sample(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Draw n values."""
        return rng.uniform(self.low, self.high, n)

    def cdf(self, x: np.ndarray | float) -> np.ndarray:
        """Return the probability of a value up to x."""
        return np.asarray(np.clip((np.asarray(x, float) - self.low) / (self.high - self.low), 0, 1))


@dataclass(frozen=True)
class TruncatedNormal:
    """A normal with this mean and standard deviation before it is cut to [low, high].

    >>> float(TruncatedNormal(0.0, 1.0, -2.0, 2.0).cdf(0.0))
    0.5
    """

    mean: float
    sigma: float  # standard deviation, not variance
    low: float
    high: float

    def __post_init__(self):
        """Check the bounds, and that they leave something."""
        _check_finite(self)
        if not self.low < self.high:
            raise DataError(f"expected low < high; got {self}")
        if self.sigma <= 0:
            raise DataError(f"expected a positive sigma (a standard deviation); got {self}")
        below, above = self._mass()
        if above - below < 1e-12:
            raise DataError(f"expected the cut to leave some of the normal; nothing is left of {self}")

    def sample(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Draw n values, by the inverse of the distribution function."""
        below, above = self._mass()
        values = self.mean + self.sigma * ndtri(rng.uniform(below, above, n))
        return np.clip(values, self.low, self.high)

    def cdf(self, x: np.ndarray | float) -> np.ndarray:
        """Return the probability of a value up to x."""
        below, above = self._mass()
        uncut = ndtr((np.asarray(x, float) - self.mean) / self.sigma)
        return np.asarray(np.clip((uncut - below) / (above - below), 0, 1))

    def _mass(self) -> tuple[float, float]:
        """Return how much of the uncut normal lies below each bound."""
        return (
            float(ndtr((self.low - self.mean) / self.sigma)),
            float(ndtr((self.high - self.mean) / self.sigma)),
        )


@dataclass(frozen=True)
class Constant:
    """Always the same value: the factor does not vary.

    >>> Constant(2.0).sample(np.random.default_rng(0), 3).tolist()
    [2.0, 2.0, 2.0]
    """

    value: float

    def __post_init__(self):
        """Check the value."""
        _check_finite(self)

    def sample(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Draw n values; none of the generator's randomness is used."""
        del rng
        return np.full(n, float(self.value))

    def cdf(self, x: np.ndarray | float) -> np.ndarray:
        """Return the probability of a value up to x: a step."""
        return np.asarray(np.asarray(x, float) >= self.value, float)


@dataclass(frozen=True)
class Mixture:
    """One of several distributions, each with its weight.

    >>> float(Mixture((Uniform(0.0, 1.0), Uniform(2.0, 3.0))).cdf(1.5))
    0.5
    """

    parts: tuple["Distribution", ...]
    weights: tuple[float, ...] = ()  # positive, sum 1; equal if left out

    def __post_init__(self):
        """Check parts and weights against each other."""
        if not self.weights:
            object.__setattr__(self, "weights", (1.0 / len(self.parts),) * len(self.parts) if self.parts else ())
        if not self.parts or len(self.parts) != len(self.weights):
            raise DataError(
                f"expected as many weights as parts, at least one; got {len(self.parts)} parts,"
                f" {len(self.weights)} weights"
            )
        if min(self.weights) <= 0 or not math.isclose(sum(self.weights), 1.0, abs_tol=1e-6):
            raise DataError(f"expected positive weights that sum to 1; got {self.weights}")

    def sample(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Draw n values: first which part, then its value."""
        which = rng.choice(len(self.parts), size=n, p=np.asarray(self.weights) / sum(self.weights))
        values = np.empty(n)
        for index, part in enumerate(self.parts):
            values[which == index] = part.sample(rng, int((which == index).sum()))
        return values

    def cdf(self, x: np.ndarray | float) -> np.ndarray:
        """Return the probability of a value up to x."""
        total = sum(w * part.cdf(x) for w, part in zip(self.weights, self.parts, strict=True))
        return np.asarray(total)


Distribution = Uniform | TruncatedNormal | Constant | Mixture

_KINDS: dict[str, type] = {
    "uniform": Uniform,
    "truncated-normal": TruncatedNormal,
    "constant": Constant,
    "mixture": Mixture,
}


def to_json(distribution: Distribution) -> dict:
    """Return the distribution as a dictionary that JSON can hold.

    >>> to_json(Uniform(0.0, 1.0))
    {'kind': 'uniform', 'low': 0.0, 'high': 1.0}
    """
    kind = next(name for name, cls in _KINDS.items() if type(distribution) is cls)
    if isinstance(distribution, Mixture):
        return {
            "kind": kind,
            "parts": [to_json(p) for p in distribution.parts],
            "weights": list(distribution.weights),
        }
    return {"kind": kind} | {f.name: getattr(distribution, f.name) for f in fields(distribution)}


def from_json(record: Mapping) -> Distribution:
    """Return the distribution that `to_json` wrote.

    >>> from_json({"kind": "constant", "value": 3.0})
    Constant(value=3.0)
    """
    values = dict(record)
    kind = values.pop("kind", None)
    if kind not in _KINDS:
        raise DataError(f"expected a distribution's kind, one of {', '.join(_KINDS)}; got {kind!r}")
    cls = _KINDS[kind]
    expected = {f.name for f in fields(cls)}
    if set(values) != expected:
        raise DataError(f"expected {sorted(expected)} for a {kind} distribution; got {sorted(values)}")
    if cls is Mixture:
        return Mixture(tuple(from_json(part) for part in values["parts"]), tuple(values["weights"]))
    return cls(**values)


def _check_finite(distribution: object) -> None:
    for name, value in vars(distribution).items():
        if not isinstance(value, int | float | np.number) or not math.isfinite(value):
            raise DataError(f"expected {name} to be a finite number; got {value!r}")
