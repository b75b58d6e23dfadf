"""What a run leaves behind."""

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from liewise.train.failures import TrainError
from liewise.train.record import Row

__all__ = ["Result"]


@dataclasses.dataclass(frozen=True)
class Result:
    """The models of a finished run, and how it went."""

    best: Any  # the model with the lowest validation loss; without validation, the last
    last: Any  # the model after the last step
    stopped: str  # "finished" or "patience"
    step: int  # steps done
    best_step: int  # steps done when the best was validated
    best_score: float | None  # its validation loss; None: nothing was validated
    history: tuple[Row, ...]  # the rows of metrics.jsonl, those before a resumption included
    seconds: float  # wall time of this call

    def curve(self, name: str) -> tuple[Int[np.ndarray, " rows"], Float[np.ndarray, " rows"]]:
        """The steps at which a number was recorded, and what it was: `loss`, `validation/loss`, ..."""
        rows = [row for row in self.history if name in row]
        if not rows:
            known = sorted({known for row in self.history for known in row})
            raise TrainError(f"no {name!r} in this run's history; it has {', '.join(known) or 'no rows'}")
        return np.array([int(row["step"]) for row in rows]), np.array([float(row[name]) for row in rows])
