"""Sizes of a density over transformations, and what it leaves out."""

import dataclasses
from typing import Literal, get_args

from liewise.errors import LiewiseError

__all__ = ["DensityConfig", "Family"]

Family = Literal["spline", "gaussian"]


@dataclasses.dataclass(frozen=True)
class DensityConfig:
    """Sizes of a density, and what it leaves out."""

    features: tuple[int, ...] = (256, 128)  # layers of the feature extractor; the last is how many features there are
    feature_dropout: float = 0.3  # rate behind each of them
    side: int | None = 32  # pixels; prototypes higher or wider are averaged down to it; None: never
    head: tuple[int, ...] = (64,)  # hidden layers of the network for the bases
    conditioner: tuple[int, ...] = (64,)  # hidden layers of the network for the splines, one network a coordinate
    conditioner_dropout: float = 0.1  # rate behind each of them
    layers: int = 2  # splines a coordinate
    bins: int = 8  # of a spline
    family: Family = "spline"  # "gaussian": one mode, and no coordinate depends on another (`004`, §3.2)
    conditional: bool = True  # False: the prototype is not looked at (`004`, §3.2)
    bounded: bool = False  # coordinates on a line stay within the group's box

    def __post_init__(self):
        for name in ("features", "head", "conditioner"):
            sizes = getattr(self, name)
            if not sizes or any(size < 1 for size in sizes):
                raise LiewiseError(f"expected {name} as one or more sizes >= 1; got {sizes}")
        for name in ("feature_dropout", "conditioner_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise LiewiseError(f"expected 0 <= {name} < 1; got {getattr(self, name)}")
        if self.layers < 1 or self.bins < 2 or (self.side is not None and self.side < 1):
            raise LiewiseError(
                f"expected layers >= 1, bins >= 2 and side >= 1; got {self.layers}, {self.bins} and {self.side}"
            )
        if self.family not in get_args(Family):
            raise LiewiseError(f"family is 'spline' or 'gaussian'; got {self.family!r}")

    @classmethod
    def paper(cls, *, feature_dropout: float = 0.2, bounded: bool = False) -> "DensityConfig":
        """The sizes of `004`, Appendix C: C.1 as it is, C.2 bounded, C.3 bounded with a rate of 0.05."""
        return cls(
            features=(1024, 512, 512),
            feature_dropout=feature_dropout,
            side=None,
            head=(256, 256),
            conditioner=(256,),
            conditioner_dropout=0.1,
            layers=6,
            bins=6,
            bounded=bounded,
        )
