"""How the factors of sprites are distributed: the paper's preset, uniform, or one's own, per shape.

The paper: "A Generative Model of Symmetry Transformations", https://arxiv.org/abs/2403.01946, appendix C.3.1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np

from liewise.datasets.distributions import Constant, Distribution, Mixture, TruncatedNormal, Uniform
from liewise.datasets.outlines import SHAPES
from liewise.datasets.split import Factor
from liewise.errors import DataError

__all__ = ["SpriteFactors", "draw", "paper", "resolve", "to_factors", "uniform"]


@dataclass(frozen=True)
class SpriteFactors:
    """How one shape's factors are distributed, in the archive's units.

    A position of 0.5 is the frame's centre, and 1 is half the frame (32 of 64 pixels) to the right or down.
    """

    scale: Distribution  # factor; the archive has 0.5 to 1
    orientation: Distribution  # degrees, counter-clockwise as displayed
    x: Distribution  # position; the archive has 0 to 1
    y: Distribution  # position, down; the archive has 0 to 1


def paper() -> dict[str, SpriteFactors]:
    """Return the distributions of the paper's appendix C.3.1."""
    # C.3.1 writes TruncNorm(mu = 0.75, sigma^2 = 0.2, ...) once and a bare 0.15 or 0.25 elsewhere. All are
    # taken as standard deviations: as variances they would be all but flat between their bounds (the density
    # at the edges 0.73 to 0.93 of that at the mean), and the public loader of the paper's authors calls the
    # number `scale`, which is JAX's and SciPy's word for a standard deviation.
    return {
        "square": SpriteFactors(
            scale=TruncatedNormal(0.75, 0.2, 0.55, 1.0),
            orientation=Uniform(0.0, 360.0),
            x=Uniform(0.5, 0.95),
            y=Uniform(0.5, 0.95),
        ),
        "ellipse": SpriteFactors(
            scale=TruncatedNormal(0.65, 0.15, 0.5, 0.85),
            orientation=Uniform(0.0, 90.0),
            x=TruncatedNormal(0.5, 0.25, 0.1, 0.9),
            y=TruncatedNormal(0.5, 0.15, 0.35, 0.65),
        ),
        "heart": SpriteFactors(
            scale=Uniform(0.9, 1.0),
            orientation=Constant(0.0),
            x=Uniform(0.1, 0.5),
            y=Mixture((Uniform(0.1, 0.3), Uniform(0.7, 0.9)), (0.5, 0.5)),
        ),
    }


def uniform() -> dict[str, SpriteFactors]:
    """Return every factor uniform over the archive's range, for every shape."""
    everywhere = SpriteFactors(
        scale=Uniform(0.5, 1.0),
        orientation=Uniform(0.0, 360.0),
        x=Uniform(0.0, 1.0),
        y=Uniform(0.0, 1.0),
    )
    return dict.fromkeys(SHAPES, everywhere)


def resolve(distributions: object) -> dict[str, SpriteFactors]:
    """Return one `SpriteFactors` a shape from a preset's name or from {shape: {factor: distribution}}.

    What a mapping leaves out is as in the paper's preset.
    """
    presets = {"paper": paper, "uniform": uniform}
    if isinstance(distributions, str) and distributions in presets:
        return presets[distributions]()
    if not isinstance(distributions, Mapping):
        raise DataError(
            "expected distributions to be 'paper', 'uniform', or {shape: {factor: distribution}};"
            f" got {distributions!r}"
        )
    resolved = paper()
    names = [f.name for f in fields(SpriteFactors)]
    for shape, given in distributions.items():
        if shape not in resolved:
            raise DataError(f"expected distributions for {', '.join(SHAPES)}; got one for '{shape}'")
        if isinstance(given, SpriteFactors):
            resolved[shape] = given
            continue
        unknown = [name for name in given if name not in names]
        if unknown:
            raise DataError(f"expected factors {', '.join(names)} for the {shape}; got '{unknown[0]}'")
        resolved[shape] = replace(resolved[shape], **given)
    return resolved


def draw(
    rng: np.random.Generator, labels: np.ndarray, distributions: Mapping[str, SpriteFactors]
) -> dict[str, np.ndarray]:
    """Draw scale, orientation, x and y for every label, each from its shape's distribution."""
    drawn = {f.name: np.empty(len(labels)) for f in fields(SpriteFactors)}
    for label, shape in enumerate(SHAPES):
        mine = np.flatnonzero(labels == label)
        for name, values in drawn.items():
            values[mine] = getattr(distributions[shape], name).sample(rng, len(mine))
    return drawn


def to_factors(drawn: Mapping[str, np.ndarray], size: int) -> dict[str, Factor]:
    """Return the drawn values in a user's units: positions become pixels from the frame's centre."""
    half_frame = size / 2
    return {
        "scale": Factor(drawn["scale"], "factor"),
        "orientation": Factor(np.mod(drawn["orientation"], 360.0), "deg", 360.0),
        "x": Factor((drawn["x"] - 0.5) * half_frame, "px"),
        "y": Factor((drawn["y"] - 0.5) * half_frame, "px"),
    }
