"""Made cases whose verdicts are known: what is done to which images, on two lists that share no case.

On the development list the rule may be tuned; the held-out one is for reporting alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from liewise.datasets import Constant, Distribution, Mixture, Uniform
from liewise.measure import Verdict

__all__ = ["DEVELOPMENT", "HELD_OUT", "Case", "Given"]

Given = tuple[Verdict, Distribution]  # of one coordinate: the right verdict, and how it is distributed


@dataclass(frozen=True)
class Case:
    """Images of a base, transformed at random in a known way."""

    base: str  # of `verdict_bases`
    transforms: str  # what is looked for
    given: Mapping[str, Given] = field(default_factory=dict)  # by coordinate, alike for all examples ...
    by_class: Mapping[int, Mapping[str, Given]] = field(default_factory=dict)  # ... or each class by itself

    @property
    def verdicts(self) -> int:
        """How many verdicts there are to get right."""
        return len(self.given) + sum(map(len, self.by_class.values()))


def _absent(value: float | int = 0.0) -> Given:
    return "absent", Constant(float(value))


def _band(low: float | int, high: float | int) -> Given:
    return "partial", Uniform(float(low), float(high))


def _modes(*centres: float | int, half: float | int) -> Given:
    return "several modes", Mixture(tuple(Uniform(float(c - half), float(c + half)) for c in centres))


def _round(half: float | int = 180.0) -> Given:
    return "full", Uniform(float(-half), float(half))


_ONE = _absent(1.0)  # of factors
_MIRRORED: Given = ("full", Mixture((Constant(0.0), Constant(1.0))))
_FILLED: Given = ("full", Uniform(0.715, 1.3986))  # all of a box of 1.4 either way

DEVELOPMENT = (
    Case(
        "shapes",
        "rotation,scale=1.4x",
        by_class={
            0: {"rotation": _round(), "scale": _band(0.85, 1.2)},
            1: {"rotation": _band(-30, 30), "scale": _modes(0.78, 1.24, half=0.03)},
            2: {"rotation": _modes(0, 180, half=10), "scale": _ONE},
        },
    ),
    Case("mnist", "rotation", {"rotation": _band(-25, 25)}),
    Case("mnist", "shift", {"shift-x": _modes(-2.5, 2.5, half=0.6), "shift-y": _absent()}),
    Case("fashion", "rotation", {"rotation": _modes(-30, 60, half=12)}),
    Case("fashion", "scale=1.4x", {"scale": _band(0.85, 1.2)}),
    Case("red mnist", "hue,saturation=2x", {"hue": _band(-40, 40), "saturation": _band(0.55, 0.95)}),
    Case("red shapes", "hue", {"hue": _round()}),
    Case("heart", "rotation", {"rotation": _round()}),
    Case("mnist", "flip-x", {"flip-x": _absent()}),
    Case("red fashion", "hue", {"hue": _absent(70.0)}),
    Case("ellipse", "shift", {"shift-x": _band(-1.5, 2.5), "shift-y": _modes(-2, 2, half=0.7)}),
    Case("heart", "scale-x=1.4x,scale-y=1.4x", {"scale-x": _band(0.85, 1.25), "scale-y": _ONE}),
)

HELD_OUT = (
    Case("heart", "rotation", {"rotation": _modes(-20, 130, half=12)}),
    Case("heart", "rotation", {"rotation": _absent(25.0)}),
    Case("heart", "rotation,scale=1.5x", {"rotation": _band(-70, 70), "scale": _ONE}),
    Case("heart", "rotation,scale=1.5x", {"rotation": _round(), "scale": _modes(0.75, 1.15, half=0.04)}),
    Case("heart", "rotation", {"rotation": _modes(0, 120, -120, half=14)}),
    Case("ellipse", "rotation", {"rotation": _band(-40, 20)}),
    Case("ellipse", "rotation", {"rotation": _round(90.0)}),
    Case("ellipse", "rotation", {"rotation": _modes(0, 75, half=10)}),
    Case("ellipse", "rotation,scale=1.5x", {"rotation": _absent(-50.0), "scale": _band(0.75, 1.1)}),
    Case("square", "rotation", {"rotation": _round(45.0)}),
    Case("square", "rotation,scale=1.5x", {"rotation": _absent(10.0), "scale": _band(0.8, 1.25)}),
    Case("square", "rotation", {"rotation": _band(-14, 14)}),
    Case("heart", "shift", {"shift-x": _band(-2.5, 1.0), "shift-y": _absent(1.0)}),
    Case("square", "shift", {"shift-x": _absent(), "shift-y": _modes(-1.5, 2.5, half=0.5)}),
    Case("shapes", "shift", {"shift-x": _band(-2, 2), "shift-y": _band(0, 2.6)}),
    Case("heart", "shear", {"shear": _band(-0.15, 0.15)}),
    Case("heart", "scale-x=1.4x,scale-y=1.4x", {"scale-x": _ONE, "scale-y": _modes(0.8, 1.2, half=0.04)}),
    Case("shapes", "scale=1.4x", {"scale": _FILLED}),
    Case(
        "shapes",
        "rotation",
        by_class={0: {"rotation": _absent()}, 1: {"rotation": _band(-25, 25)}, 2: {"rotation": _round()}},
    ),
    Case(
        "shapes",
        "shift",
        by_class={
            0: {"shift-x": _band(-2.5, 2.5), "shift-y": _absent()},
            1: {"shift-x": _modes(-2, 2, half=0.5), "shift-y": _band(-1.5, 1.5)},
            2: {"shift-x": _absent(), "shift-y": _band(-2, 1)},
        },
    ),
    Case("mnist", "rotation", {"rotation": _round()}),
    Case("mnist", "rotation", {"rotation": _modes(0, 180, half=15)}),
    Case("mnist", "rotation", {"rotation": _band(-60, 60)}),
    Case("mnist", "rotation=90deg", {"rotation": _band(-45, 35)}),
    Case("mnist", "rotation", {"rotation": _modes(0, 90, half=15)}),
    Case("mnist", "shift", {"shift-x": _band(-2.5, 2.5), "shift-y": _absent(-1.0)}),
    Case("mnist", "shift", {"shift-x": _band(-1, 2), "shift-y": _modes(-2, 2, half=0.5)}),
    Case("mnist", "shift", {"shift-x": _absent(1.0), "shift-y": _absent(2.0)}),
    Case("mnist", "scale=1.5x", {"scale": _band(0.75, 1.2)}),
    Case("mnist", "scale=1.5x", {"scale": _modes(0.7, 1.2, half=0.04)}),
    Case("mnist", "flip-x", {"flip-x": _MIRRORED}),
    Case("mnist", "rotation", by_class={2: {"rotation": _round()}, 4: {"rotation": _band(-50, 50)}}),
    Case("fashion", "rotation", {"rotation": _round()}),
    Case("fashion", "rotation", {"rotation": _band(-50, 50)}),
    Case("fashion", "rotation", {"rotation": _modes(0, 180, half=20)}),
    Case("fashion", "rotation=90deg", {"rotation": _band(-30, 45)}),
    Case("fashion", "shift", {"shift-x": _band(-2, 2), "shift-y": _absent()}),
    Case("fashion", "shift", {"shift-x": _modes(-2.2, 2.2, half=0.5), "shift-y": _band(-2, 2)}),
    Case("fashion", "scale=1.5x", {"scale": _band(0.75, 1.25)}),
    Case("red mnist", "hue", {"hue": _round()}),
    Case("red mnist", "hue", {"hue": _modes(0, 120, half=15)}),
    Case("red mnist", "hue,saturation=2.5x", {"hue": _absent(40.0), "saturation": _band(0.4, 0.9)}),
    Case("red mnist", "rotation,hue", {"rotation": _band(-60, 60), "hue": _band(0, 108)}),
    Case("red shapes", "hue,saturation=2.5x", {"hue": _band(-70, 50), "saturation": _ONE}),
    Case("red shapes", "hue,value=1.6x", {"hue": _round(), "value": _band(0.5, 0.9)}),
    Case(
        "red shapes",
        "hue",
        by_class={0: {"hue": _absent()}, 1: {"hue": _modes(-60, 60, half=12)}, 2: {"hue": _round()}},
    ),
    Case("red fashion", "hue", {"hue": _modes(0, 140, half=20)}),
    Case("red fashion", "hue", {"hue": _round()}),
)
