"""The cases of data and transformations that studies fit, with the paper's presets (`004`, Appendix C) and ours.

`small` is the equivariant network and the small density, minutes on two cores; `paper` the paper's own networks,
trainings and chart, for a GPU. Where the paper has no such case, its nearest preset is taken.
"""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import numpy as np

from liewise import transforms
from liewise.datasets import Split, coloured, load, rotated
from liewise.sgm import (
    DensityConfig,
    InferenceConfig,
    density_training,
    inference_training,
    paper_density_training,
    paper_inference_training,
)
from liewise.studies.registry import Scale
from liewise.train import TrainConfig
from liewise.transforms import Affine, Group, Product

__all__ = ["SETTINGS", "Examples", "Recipe", "Setting", "galaxy", "mnist_rotated"]

Preset = Literal["mnist", "mnist-colour", "dsprites"]
_TEST = 2000  # examples held out, where a set has no test split of its own or a smaller one will do
_ROUND = dict.fromkeys(("shift-x", "shift-y", "scale-x", "scale-y"), 0.75) | {"rotation": np.pi}  # C.3
_TURNING_DIGITS = (2, 3, 4, 5, 6, 7, 9)  # 0, 1 and 8 look much the same after half a turn


@dataclasses.dataclass(frozen=True)
class Examples:
    """What a model learns from, and what it is measured on."""

    train: Split
    test: Split


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Everything about a fit but the data and the seed."""

    group: Group
    inference_config: InferenceConfig
    density_config: DensityConfig
    inference_training: TrainConfig
    density_training: TrainConfig


Loader = Callable[[Path | None, int, Scale], Examples]  # where data sets lie, seed, scale


@dataclasses.dataclass(frozen=True)
class Setting:
    """Data, the transformations asked for, and how a model of them is fitted at each scale."""

    name: str
    title: str
    load: Loader
    recipes: Mapping[Scale, Recipe]
    turning: tuple[int, ...] = ()  # labels of what has no symmetry of its own under rotation; none given: all


def _recipes(group: Group, preset: Preset, *, steps: int = 2500, density_steps: int = 3000) -> dict[Scale, Recipe]:
    bounded, dropout = preset != "mnist", 0.05 if preset == "dsprites" else 0.2
    return {
        "small": Recipe(
            group, InferenceConfig(), DensityConfig(), inference_training(steps), density_training(density_steps)
        ),
        "paper": Recipe(
            _in_paper_chart(group),
            InferenceConfig.paper(preset),
            DensityConfig.paper(feature_dropout=dropout, bounded=bounded),
            paper_inference_training(preset),
            paper_density_training(preset),
        ),
    }


def _in_paper_chart(group: Group) -> Group:
    if isinstance(group, Product):
        return transforms.product(*(_in_paper_chart(factor) for factor in group.factors))
    return group.in_chart("exp") if isinstance(group, Affine) else group


def _mnist(data_dir: Path | None, seed: int, scale: Scale) -> Examples:
    del seed, scale
    data = load("mnist", data_dir=data_dir)
    return Examples(data.train.divide(10_000)[0], data.test)  # C.1: the last 10,000 are for sweeps


def _mnist_turned(degrees: float) -> Loader:
    def turned(data_dir: Path | None, seed: int, scale: Scale) -> Examples:
        plain = _mnist(data_dir, seed, scale)
        train, test = (rotated(s, degrees, seed=2 * seed + i) for i, s in enumerate((plain.train, plain.test)))
        return Examples(train, test)

    return turned


def _mnist_coloured(data_dir: Path | None, seed: int, scale: Scale) -> Examples:
    plain = _mnist(data_dir, seed, scale)
    train, test = (coloured(s, seed=2 * seed + i) for i, s in enumerate((plain.train, plain.test)))
    return Examples(train, test)


def _fashion(data_dir: Path | None, seed: int, scale: Scale) -> Examples:
    del seed, scale
    data = load("fashion-mnist", data_dir=data_dir)
    return Examples(data.train.divide(10_000)[0], data.test)


def _drawn(source: str) -> Loader:
    """Sprites, as many as the scale affords, with the distributions of C.3.1."""

    def drawn(data_dir: Path | None, seed: int, scale: Scale) -> Examples:
        count = {"small": 15_000, "paper": 50_000}[scale]
        data = load(source, data_dir=data_dir, n=count, n_test=_TEST, seed=seed)
        return Examples(data.train, data.test)

    return drawn


def _galaxies(source: str) -> Loader:
    def galaxies(data_dir: Path | None, seed: int, scale: Scale) -> Examples:
        del scale
        data = load(source, data_dir=data_dir)
        if "test" in data.splits:
            return Examples(data.train, data.test)
        first = data[next(iter(data.splits))].shuffled(seed)
        return Examples(*first.divide(min(_TEST, len(first) // 5)))

    return galaxies


def mnist_rotated(degrees: float) -> Setting:
    """Digits that are turned by U(-degrees, degrees) on top of their own angles, and rotation alone to learn."""
    group = transforms.affine("rotation")
    return Setting(
        f"mnist-rotated-{degrees:g}",
        f"MNIST turned by ±{degrees:g}°",
        _mnist_turned(degrees),
        _recipes(group, "mnist", steps=800, density_steps=1500),
        _TURNING_DIGITS,
    )


def galaxy(source: str | None = None) -> Setting:
    """GalaxyMNIST, or colour images of one's own, under affine and colour transformations."""
    group = transforms.product(transforms.affine(), transforms.colour())
    name = "galaxy-mnist" if source is None else f"galaxy-{Path(source).stem}"
    title = "GalaxyMNIST" if source is None else Path(source).name
    return Setting(name, title, _galaxies(source or "galaxy-mnist"), _recipes(group, "mnist-colour", steps=2000))


_FIXED = (
    Setting(
        "mnist-affine",
        "MNIST, affine",
        _mnist_turned(15.0),  # as the paper does in its section 4.1, so that there is something to see
        _recipes(transforms.affine(), "mnist"),
        _TURNING_DIGITS,
    ),
    Setting(
        "mnist-colour",
        "MNIST, colour",
        _mnist_coloured,
        _recipes(transforms.colour(), "mnist-colour", steps=1000, density_steps=2000),
    ),
    Setting(
        "dsprites-affine",
        "dSprites, affine",
        _drawn("dsprites"),
        _recipes(transforms.affine(box=_ROUND), "dsprites"),
        (2,),
    ),
    Setting(
        "sprites-affine",
        "sprites, affine",
        _drawn("sprites"),
        _recipes(transforms.affine(box=_ROUND), "dsprites"),
        (2,),
    ),
    Setting(
        "fashion",
        "Fashion-MNIST, rotation, shift, scale",
        _fashion,
        _recipes(transforms.affine("rotation", "shift", "scale"), "mnist"),
    ),
    Setting(
        "mnist-affine-colour",
        "coloured MNIST, affine × colour",
        _mnist_coloured,
        _recipes(transforms.product(transforms.affine(), transforms.colour()), "mnist-colour"),
        _TURNING_DIGITS,
    ),
)
SETTINGS = {setting.name: setting for setting in _FIXED}
