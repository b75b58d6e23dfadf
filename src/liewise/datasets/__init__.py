"""Where examples come from: named sets, the user's own files, and made sets whose truth is known.

>>> from liewise import datasets
>>> data = datasets.load("sprites", n=30, n_test=6, size=32)
>>> data.train.factors["orientation"]
Factor(30 values in deg, period 360)
"""

from liewise.datasets.dataset import Dataset, MissingSplitError
from liewise.datasets.distributions import (
    Constant,
    Distribution,
    Mixture,
    TruncatedNormal,
    Uniform,
    from_json,
    to_json,
)
from liewise.datasets.listing import CatalogueEntry, catalogue, fetch
from liewise.datasets.loading import load
from liewise.datasets.made import coloured, rotated, transformed
from liewise.datasets.outlines import SHAPES, SYMMETRY
from liewise.datasets.pictures import read_images
from liewise.datasets.pixels import to_bytes, to_unit
from liewise.datasets.split import Factor, Split
from liewise.datasets.sprite_factors import SpriteFactors
from liewise.datasets.sprites import render

__all__ = [
    "SHAPES",
    "SYMMETRY",
    "CatalogueEntry",
    "Constant",
    "Dataset",
    "Distribution",
    "Factor",
    "MissingSplitError",
    "Mixture",
    "Split",
    "SpriteFactors",
    "TruncatedNormal",
    "Uniform",
    "catalogue",
    "coloured",
    "fetch",
    "from_json",
    "load",
    "read_images",
    "render",
    "rotated",
    "to_bytes",
    "to_json",
    "to_unit",
    "transformed",
]
