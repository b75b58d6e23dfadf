"""Natural augmentation in anyone's pipeline: a callable that draws another, equally natural version of each image.

It is NumPy alone, so worker processes may be forked or spawned, and it can be pickled.
"""

import multiprocessing
import os
import sys
from typing import Any, NamedTuple

import numpy as np

from liewise.augment.borders import take
from liewise.augment.drawing import mix
from liewise.augment.epoch import Epoch
from liewise.augment.pool import Pool, fingerprints
from liewise.augment.sampler import Sampler
from liewise.errors import DataError, LiewiseError

__all__ = ["Augmenter", "Drawn"]


class Drawn(NamedTuple):
    """What was drawn: `group.compose(group.element(eta), group.inverse(group.element(pose)))` made the version."""

    eta: np.ndarray  # [n, dim]: the natural pose that was drawn
    pose: np.ndarray  # [n, dim]: the pose that the image itself is in


class Augmenter:
    """Draws natural versions of images; made by `SGM.augmenter`.

    Call it with one image or a batch, [height, width], channels last or first, uint8 or floats in [0, 1], as an array,
    a torch tensor or a PIL image; what comes back is of the same form.

    What is drawn for an image is a function of

    - the seed, the epoch and `index`, where an index is given;
    - the seed, the epoch and the image's pixels, where none is, but `set_epoch` has been called;
    - the generator, where `rng` is given (Grain's way).

    So in these cases the stream is the same for any number of workers, any batching and any order. With neither, it is
    a function of the seed, the process and how many calls there were in it: another version each time, but not the same
    ones with another number of workers.

    Images that it was made with are recognised by their pixels and cost one warp. Their versions come from a store of
    so many `draws` each: independent draws for as many epochs, which then come again. All others go through the model,
    in NumPy, which is slow.
    """

    def __init__(self, sampler: Sampler, pool: Pool | None, *, seed: int = 0, threads: int | None = None):
        self.sampler, self.pool, self.seed = sampler, pool, _whole("seed", seed)
        self.threads = os.cpu_count() or 1 if threads is None else threads
        self._epoch, self._calls = Epoch(), 0

    def __call__(
        self,
        images: Any,
        *,
        index: Any = None,
        rng: np.random.Generator | None = None,
        parameters: bool = False,
    ) -> Any:
        """Return another version of an image, or of each image of a batch.

        Args:
            images: in any of the forms above.
            index: which example it is: a whole number, or one for each image of a batch.
            rng: draw by this generator instead.
            parameters: return `(versions, Drawn)`.
        """
        taken = take(images, self.sampler.image_shape)
        given = taken.images
        prints = fingerprints(given)
        starts, epoch = self._draws(prints, index, rng)
        rows = np.full(len(given), -1) if self.pool is None else self.pool.find(prints)
        relation, drawn = self._relations(given, rows, starts, epoch, parameters)
        threads = self.threads if multiprocessing.parent_process() is None else 1  # a worker has a core to itself
        made = taken.give_back(self.sampler.act(relation, given, threads))
        return (made, drawn) if parameters else made

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch begins; workers that are there already see it, too. Call it before the loader is iterated."""
        self._epoch.value = _whole("epoch", epoch)

    def random_map(self, element: Any, rng: np.random.Generator) -> Any:
        """Augment as Grain's `random_map` asks for it; elements that are no arrays: see `for_grain`."""
        return self(element, rng=rng)

    def for_grain(self, field: Any = None) -> Any:
        """Return a `grain.transforms.RandomMap` of elements, or of one field of them (a key, or a place in a tuple)."""
        try:
            from liewise.augment.grain_map import GrainMap
        except ImportError as error:
            raise LiewiseError("for_grain needs Grain: pip install grain") from error
        return GrainMap(self, field)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_calls": 0}

    def __repr__(self) -> str:
        known = 0 if self.pool is None else len(self.pool)
        draws = f" of {self.pool.draws} draws each" if self.pool else ""
        return f"Augmenter({', '.join(self.sampler.names)}; {known} known images{draws}; seed={self.seed})"

    def _draws(self, prints: np.ndarray, index: Any, rng: np.random.Generator | None) -> tuple[np.ndarray, int]:
        """Return a random number for each image, and the epoch, which goes through the store from there."""
        count = len(prints)
        if rng is not None:
            if index is not None:
                raise LiewiseError("give index or rng, not both: each says by itself what is drawn")
            return rng.integers(0, 2**63, count).astype(np.uint64), 0
        epoch = self._epoch.value
        if index is not None:
            places = np.asarray(index)
            if places.dtype.kind not in "iu" or places.shape not in ((), (count,)) or (count > 1 and places.ndim == 0):
                raise DataError(f"expected a whole number as index for each of {count} images; got {index!r}")
            return mix(self.seed, 1, places.reshape(-1)), epoch or 0
        if epoch is not None:
            return mix(self.seed, 2, prints), epoch
        self._calls += 1
        return mix(self.seed, 3, *_process(), self._calls, np.arange(count)), 0

    def _relations(
        self, given: np.ndarray, rows: np.ndarray, starts: np.ndarray, epoch: int, parameters: bool
    ) -> tuple[list[np.ndarray], Drawn | None]:
        """Return the transformations that make the versions, from the store where there are any."""
        known = rows >= 0
        programs, parts, drawn = self.sampler.programs, [], []
        if known.any():
            assert self.pool is not None
            slots = (starts[known] + np.uint64(epoch)) % np.uint64(self.pool.draws)
            relation = self.pool.relation(rows[known], slots.astype(np.intp))
            parts.append(relation)
            if parameters:
                pose = self.pool.pose[rows[known]]
                drawn.append(Drawn(programs["read"](*relation, pose, b=len(pose))[0], pose))
        if not known.all():
            eta, pose = self.sampler.draw(given[~known], mix(starts[~known], epoch), 1)
            parts.append(programs["relate"](eta[:, 0], pose, b=len(pose)))
            drawn.append(Drawn(eta[:, 0], pose))
        order = np.argsort(np.argsort(~known, kind="stable"))  # from known ones first to as they were given
        together = [_in_order(leaves, order) for leaves in zip(*parts, strict=True)]
        if not parameters:
            return together, None
        return together, Drawn(*(_in_order(rows, order) for rows in zip(*drawn, strict=True)))


def _in_order(parts: tuple[np.ndarray, ...], order: np.ndarray) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)[order]


def _process() -> tuple[int, ...]:
    """Return numbers that tell worker processes apart; those of a torch loader by the seed that it gives them."""
    name = int.from_bytes(multiprocessing.current_process().name.encode()[-8:], "little")
    torch_data = sys.modules.get("torch.utils.data")
    worker = None if torch_data is None else torch_data.get_worker_info()
    return (name,) if worker is None else (worker.seed,)


def _whole(name: str, value: Any) -> int:
    if not isinstance(value, int | np.integer) or value < 0:
        raise LiewiseError(f"expected {name} as a whole number, 0 or more; got {value!r}")
    return int(value)
