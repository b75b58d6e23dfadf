"""Images of one colour: no transformation shows on them, so that they are not learned from unawares."""

from collections.abc import Callable

import numpy as np

from liewise.datasets.framing import counted, some
from liewise.datasets.split import Split
from liewise.errors import DataError

__all__ = ["without_constant"]

_CHOICES = ("refuse", "skip", "keep")


def without_constant(split: Split, choice: str, notes: list[str], name_of: Callable[[int], str]) -> Split:
    """Return the split without its constant images, or refuse or keep them, and note what was done."""
    if choice not in _CHOICES:
        raise DataError(f"expected constant to be one of {', '.join(_CHOICES)}; got '{choice}'")
    found = split.constant()
    if len(found) == 0:
        return split
    listed = some([name_of(int(index)) for index in found])
    if choice == "refuse" or len(found) == len(split):
        advice = "" if len(found) == len(split) else "; constant='skip' leaves them out, constant='keep' keeps them"
        one = len(found) == 1
        raise DataError(
            f"of {counted(len(split), 'image')}, {len(found)} {'is' if one else 'are'} constant (every pixel the same),"
            f" so that nothing can be learned from {'it' if one else 'them'}: {listed}{advice}"
        )
    if choice == "keep":
        notes.append(f"{counted(len(found), 'constant image')} kept: {listed}")
        return split
    notes.append(f"{counted(len(found), 'constant image')} skipped: {listed}")
    return split.take(np.delete(np.arange(len(split)), found))
