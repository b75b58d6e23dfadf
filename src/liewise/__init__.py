"""Learn, without labels, which symmetries a data set has and to what extent.

Sub-packages are imported when they are first used, so that `liewise --help` need not wait for JAX.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from liewise._version import __version__

if TYPE_CHECKING:
    from liewise import datasets, report, train, transforms

__all__ = ["__version__", "datasets", "report", "train", "transforms"]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return importlib.import_module(f"liewise.{name}")
    raise AttributeError(f"module 'liewise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
