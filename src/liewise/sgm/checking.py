"""Checking a run on its own data: prototypes are transformed in known ways, fitted again, and compared.

Prototypes are the data with the transformation taken out. So what is injected into them is all there is to find, and
without an injection, which is the control, nothing is.
"""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from liewise.datasets import Constant, Distribution, Mixture, Split, Uniform, transformed
from liewise.errors import DataError
from liewise.sgm.fitting import density_training
from liewise.sgm.inference_config import inference_training
from liewise.sgm.model import SGM
from liewise.sgm.recovery import Recovery, recoveries
from liewise.train import announce
from liewise.transforms import Coordinate

__all__ = ["Check", "check", "injections"]

_FORMAT = 1
_FEWEST = 32  # prototypes
_MADE = 2048  # examples to fit to, or as many as there are prototypes, if these are more
_BATCH = 128
_KINDS = ("partial", "several modes", "full", "absent")


@dataclass(frozen=True)
class Check:
    """How well injected transformations were recovered, and what the untransformed control gave."""

    control: tuple[Recovery, ...]
    injected: tuple[Recovery, ...]  # of all rounds, one after the other
    prototypes: int
    settings: Mapping[str, int]
    seconds: float

    @property
    def right(self) -> float:
        """The share of right verdicts, the control's included."""
        rows = [*self.control, *self.injected]
        return float(np.mean([row.right for row in rows]))

    def to_json(self) -> str:
        """Return all of it as JSON."""
        parts = {name: [row.as_dict() for row in getattr(self, name)] for name in ("control", "injected")}
        rest = {"prototypes": self.prototypes, "settings": dict(self.settings), "seconds": self.seconds}
        return json.dumps({"format": _FORMAT, "right": self.right, **rest, **parts}, indent=1, ensure_ascii=False)


def check(
    model: SGM,
    images: np.ndarray,
    *,
    steps: int = 400,
    density_steps: int = 400,
    rounds: int = 1,
    seed: int = 0,
    progress: str = "auto",
) -> Check:
    """Inject known transformations into the prototypes of images, fit again, and compare; once without, as a control.

    Args:
        model: whose group and networks are tried, and whose prototypes are taken.
        images: of the user's own.
        steps: of stage 1, each time.
        density_steps: of stage 2, at most, each time.
        rounds: injections, each with another kind of distribution for every coordinate.
        seed: of everything that is random.
        progress: as for `fit`.
    """
    if len(images) < _FEWEST:
        raise DataError(f"expected {_FEWEST} examples or more to check with; got {len(images)}")
    prototypes = Split(np.asarray(model.prototype(images)))
    often = np.tile(np.arange(len(prototypes)), max(1, _MADE // len(prototypes)))
    found, seconds = [], 0.0
    for number, given in enumerate([_nothing(model), *injections(model, rounds)]):
        announce(progress, f"check: {f'injection {number} of {rounds}' if number else 'the untransformed control'}")
        made, fresh = (
            transformed(split, model.group_, given, seed=2 * (seed + number) + part)
            for part, split in enumerate((prototypes.take(often), prototypes))
        )
        again = _again(model, steps, density_steps, seed).fit(made.images, progress=progress)
        seconds += sum(again.seconds_.values())
        found.append(recoveries(again.parts_, fresh, health=again.health_, seed=seed))
    settings = {"steps": steps, "density_steps": density_steps, "rounds": rounds, "seed": seed}
    injected = tuple(row for rows in found[1:] for row in rows)
    return Check(found[0], injected, len(prototypes), settings, seconds)


def injections(model: SGM, rounds: int) -> Iterator[dict[str, Distribution]]:
    """Yield what is injected into each coordinate; from round to round another kind of distribution."""
    size = (model.image_shape_[0], model.image_shape_[1])
    for number in range(rounds):
        kinds = [_KINDS[(place + number) % len(_KINDS)] for place in range(model.group_.dim)]
        yield {c.name: _distribution(c, kind, size) for c, kind in zip(model.group_.coordinates, kinds, strict=True)}


def _nothing(model: SGM) -> dict[str, Distribution]:
    size = (model.image_shape_[0], model.image_shape_[1])
    return {c.name: _distribution(c, "absent", size) for c in model.group_.coordinates}


def _distribution(coordinate: Coordinate, kind: str, size: tuple[int, int]) -> Distribution:
    """Return a distribution of this kind within the coordinate's box, in its user's unit."""
    if coordinate.low == coordinate.high or kind == "absent":
        return Constant(0.0 if coordinate.steps is not None else float(coordinate.to_user(0.0, size)))
    if coordinate.steps is not None:
        return Mixture(tuple(Constant(step) for step in coordinate.steps))

    def band(low: float, high: float) -> Uniform:
        """A band between parts of the box, from -1 to 1."""
        middle, half = (coordinate.low + coordinate.high) / 2, (coordinate.high - coordinate.low) / 2
        ends = (float(coordinate.to_user(middle + part * half, size)) for part in (low, high))
        return Uniform(*ends)

    if kind == "several modes":
        return Mixture((band(-0.8, -0.6), band(0.05, 0.25)))
    round_it = coordinate.period is not None and coordinate.high - coordinate.low >= 0.99 * coordinate.period
    return band(-1.0, 1.0) if kind == "full" and round_it else band(-0.4, 0.4)


def _again(model: SGM, steps: int, density_steps: int, seed: int) -> SGM:
    settings = model.get_params() | {
        "inference_training": dataclasses.replace(inference_training(steps, batch_size=_BATCH), validate_every=steps),
        "density_training": density_training(density_steps),
        "seed": seed,
    }
    return SGM(**settings)
