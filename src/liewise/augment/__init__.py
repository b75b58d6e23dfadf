"""Natural augmentation in other people's pipelines: what a fitted model learned, to be run by NumPy alone.

Nothing here imports JAX when it is imported, so that worker processes start at once; only writing programs down does.
"""

from liewise.augment.augmenter import Augmenter, Drawn
from liewise.augment.pool import Pool
from liewise.augment.program import Program
from liewise.augment.sampler import Sampler

__all__ = ["Augmenter", "Drawn", "Pool", "Program", "Sampler"]
