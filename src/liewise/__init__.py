"""Learn, without labels, which symmetries a data set has and to what extent.

Sub-packages are imported when they are first used, so that `liewise --help` need not wait for JAX.
"""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from liewise._version import __version__

if TYPE_CHECKING:
    from liewise import datasets, measure, report, sgm, train, transforms
    from liewise.sgm import SGM

__all__ = ["SGM", "__version__", "datasets", "load", "measure", "report", "sgm", "train", "transforms"]


def load(folder: str | Path, **options: Any) -> "SGM":
    """Read a fitted model, or the one in a finished run's folder; `options` are those of the model's own `load`."""
    from liewise.sgm import SGM

    return SGM.load(folder, **options)


def __getattr__(name: str) -> Any:
    if name == "SGM":
        return importlib.import_module("liewise.sgm").SGM
    if name in __all__:
        return importlib.import_module(f"liewise.{name}")
    raise AttributeError(f"module 'liewise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
