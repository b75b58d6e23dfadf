"""Whether stage 1 can be believed: measured on held-out examples, and said in words."""

import numpy as np
from jaxtyping import PRNGKeyArray

from liewise.measure import invariance
from liewise.sgm.inference import Inference

__all__ = ["check_health", "complaints"]

_EXAMPLES, _COPIES = 128, 8
_LEAST_INK = 0.5  # of what the examples hold
_MOST_RATIO = 0.5  # of the variance of random copies
_MOST_LOSS = 3.0  # times the error of a plain warp there and back ...
_ROUNDING = (2 / 255) ** 2 / 12  # ... unless no byte would show it


def check_health(inference: Inference, held_out: np.ndarray, *, key: PRNGKeyArray) -> dict[str, float]:
    """Measure invariance, ink kept and the round trip on some held-out images (bytes)."""
    found = invariance(
        inference,
        inference.group,
        held_out[:_EXAMPLES],
        key=key,
        copies=_COPIES,
        iterations=2,
    )
    return found.summary()


def complaints(health: dict[str, float]) -> tuple[str, ...]:
    """Return what is wrong, a sentence each; nothing if all is well."""
    said = []
    if health["ink"] < _LEAST_INK:
        said.append(
            f"prototypes lose content: they keep {health['ink']:.0%} of the ink; make the box smaller,"
            " or give invertibility_weight more weight"
        )
    if health["ratio/mean"] > _MOST_RATIO:
        said.append(
            f"prototypes are hardly invariant: {health['ratio/mean']:.0%} of the variance of transformed copies is"
            " left in them; train for longer, or ask for fewer transformations"
        )
    if health["round trip/plain"] > _MOST_LOSS and health["round trip"] > _ROUNDING:
        said.append(
            f"prototypes do not lead back: the round trip errs {health['round trip/plain']:.1f} times as much as a"
            " plain warp there and back; give invertibility_weight more weight"
        )
    return tuple(said)
