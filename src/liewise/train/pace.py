"""How many steps a device call should run, so that calls take about the wall time that is aimed at."""

from liewise.train.config import TrainConfig

__all__ = ["Pace"]

_GROWTH = 8


class Pace:
    """Feels its way up from one step; how steps are grouped changes no number."""

    def __init__(self, config: TrainConfig):
        self._most, self._aim = config.dispatch_steps, config.dispatch_seconds
        self.length = self._most if self._aim is None else 1

    def observe(self, steps: int, seconds: float) -> None:
        """A call of so many steps took so long."""
        if self._aim is not None and steps > 0:
            fitting = int(steps * self._aim / max(seconds, 1e-9))
            self.length = max(1, min(fitting, _GROWTH * self.length, self._most))
