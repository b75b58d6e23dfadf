"""Whether a fit can be believed: measured on held-out examples and on its own history, and said in words."""

import math

import numpy as np
from jaxtyping import PRNGKeyArray

from liewise.measure import invariance
from liewise.sgm.inference import Inference
from liewise.train import Result

__all__ = ["check_health", "complaints", "still_falling"]

_EXAMPLES, _COPIES = 128, 8
_LEAST_INK = 0.5  # of what the examples hold
_MOST_RATIO = 0.5  # of the variance of random copies
_MOST_LOSS = 3.0  # times the error of a plain warp there and back ...
_ROUNDING = (2 / 255) ** 2 / 12  # ... unless no byte would show it
_MOST_FALL = {"inference": 0.15, "density": 0.15}  # of the loss; nats a coordinate: in the last third of a training
_FEWEST = 6  # validations, or rows of a history, from which a fall can be read


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


def still_falling(result: Result, *, relative: bool) -> float:
    """Return by how much the loss fell in the last third of a training: what a longer one might still gain.

    The validation loss, where there are enough validations; NaN where there is too little to tell. A training that
    stopped because it gained no more falls no more.

    Args:
        result: of the training.
        relative: whether to divide by the loss two thirds on.
    """
    if result.stopped != "finished":
        return 0.0
    names = [n for n in ("validation/loss", "loss") if sum(n in row for row in result.history) >= _FEWEST]
    if not names:
        return math.nan
    steps, losses = result.curve(names[0])
    before = losses[(steps > 0.57 * result.step) & (steps <= 0.73 * result.step)]
    last = losses[steps > 0.87 * result.step]
    if not (len(before) and len(last)):
        return math.nan
    fall = float(before.mean() - last.mean())
    return fall / float(before.mean()) if relative else fall


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
    for stage, most in _MOST_FALL.items():
        if health.get(f"{stage}/falling", 0.0) > most:
            how = f"by {health[f'{stage}/falling']:.0%}" if stage == "inference" else "by more than noise"
            said.append(
                f"training has not converged: the loss of the {stage} was still falling {how} in the last third of its"
                " steps; train for longer"
            )
    return tuple(said)
