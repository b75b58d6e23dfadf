"""Learn, without labels, which symmetries a data set has and to what extent.

Sub-packages are imported when they are first used, so that `liewise --help` need not wait for JAX.
"""

import importlib
from types import ModuleType

from liewise._version import __version__

_ROOMS = ("datasets", "report", "train", "transforms")

__all__ = ["__version__", *_ROOMS]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> ModuleType:
    if name in _ROOMS:
        return importlib.import_module(f"liewise.{name}")
    raise AttributeError(f"module 'liewise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
