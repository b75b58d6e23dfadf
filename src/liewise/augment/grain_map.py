"""The augmenter as a Grain transformation; imported where it is asked for, since Grain may not be there."""

from typing import TYPE_CHECKING, Any

import numpy as np
from grain.python import RandomMapTransform

if TYPE_CHECKING:
    from liewise.augment.augmenter import Augmenter

__all__ = ["GrainMap"]


class GrainMap(RandomMapTransform):
    """Augments elements, or one field of them, by the generator that Grain has for each element."""

    def __init__(self, augment: "Augmenter", field: Any = None):
        self._augment, self._field = augment, field

    def random_map(self, element: Any, rng: np.random.Generator) -> Any:
        """Return the element with the image augmented."""
        if self._field is None:
            return self._augment(element, rng=rng)
        made = self._augment(element[self._field], rng=rng)
        if isinstance(element, tuple):
            return (*element[: self._field], made, *element[self._field + 1 :])
        return {**element, self._field: made}
