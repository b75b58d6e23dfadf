"""A data set: named splits, and what one ought to know about where they came from."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from liewise.datasets.split import Split
from liewise.errors import DataError

__all__ = ["SPLIT_NAMES", "Dataset", "MissingSplitError"]

# what people call their splits, and what we call them
SPLIT_NAMES = {"train": "train", "test": "test", "val": "val", "valid": "val", "validation": "val"}


class MissingSplitError(DataError, AttributeError):
    """A split was asked for that the data set does not have."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Named splits of examples, read as attributes: `data.train`, `data.test`.

    >>> import numpy as np
    >>> data = Dataset("squares", {"train": Split(np.ones((3, 8, 8, 1), np.uint8))})
    >>> data.train
    Split(3 images 8x8x1 uint8)
    """

    name: str
    splits: Mapping[str, Split]
    class_names: tuple[str, ...] = ()  # in the order of the labels; empty where there are none
    licence: str = ""
    citation: str = ""
    source: str = ""  # an address, a path, or how it was made
    notes: tuple[str, ...] = ()  # what was converted, skipped or left out, with counts

    def __post_init__(self):
        """Check that there is something, and that labels have names where names are given."""
        if not self.splits:
            raise DataError(f"expected at least one split in data set '{self.name}'; got none")
        for name, split in self.splits.items():
            if self.class_names and split.labels is not None and split.labels.max() >= len(self.class_names):
                raise DataError(
                    f"expected labels below {len(self.class_names)}, the number of class names; split"
                    f" '{name}' of '{self.name}' goes up to {split.labels.max()}"
                )
        object.__setattr__(self, "splits", MappingProxyType(dict(self.splits)))

    def __getattr__(self, name: str) -> Split:
        # dunder names and a half-built object (copying, unpickling) must not look for splits
        if name.startswith("_") or "splits" not in self.__dict__:
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Split:
        """Return the split of this name."""
        if name not in self.splits:
            raise MissingSplitError(f"data set '{self.name}' has no split '{name}'; it has: {', '.join(self.splits)}")
        return self.splits[name]

    def __repr__(self) -> str:
        lines = [f"  {name}: {split!r}" for name, split in self.splits.items()]
        return "\n".join([f"Dataset '{self.name}'", *lines])

    def __reduce__(self):
        # a mapping proxy cannot be pickled, and worker processes need data sets
        fields = (self.class_names, self.licence, self.citation, self.source, self.notes)
        return Dataset, (self.name, dict(self.splits), *fields)
