"""Which studies there are; their modules are imported when they run."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from liewise.errors import LiewiseError

__all__ = ["STUDIES", "Scale", "Study", "study_named"]

Scale = Literal["small", "paper"]


@dataclass(frozen=True)
class Study:
    """A figure or a table, and where the function is that makes it."""

    name: str
    title: str
    shows: str  # a sentence or two: what of the paper, and what to look for
    function: str  # "module:name", in this package; it takes a Context and returns an Outcome
    takes_data: bool = False  # whether data of one's own may take the place of the study's

    def load(self) -> Callable[[Any], Any]:
        """Import the function that runs the study."""
        module, name = self.function.split(":")
        return getattr(importlib.import_module(f"liewise.studies.{module}"), name)


def study_named(name: str) -> Study:
    """Return the study of this name; an unknown one is refused with the names that there are."""
    if name not in STUDIES:
        raise LiewiseError(f"no study {name!r}; there are {', '.join(STUDIES)}")
    return STUDIES[name]


_ALL = (
    Study(
        "sgm-fig8",
        "Prototypes and resampled examples",
        "Fig. 8 of the SGM's paper: test examples, their prototypes, and natural versions of them drawn by the model,"
        " for digits under affine and under colour transformations and for dSprites. The last rows should look like"
        " the first, and hearts should not turn.",
        "examples:run",
    ),
    Study(
        "sgm-invariance",
        "How invariant prototypes are",
        "On held-out examples and in every setting: the variance of the prototypes of 16 transformed copies over that"
        " of the copies (0 is perfect, the floor is what resampling alone leaves), the ink that prototypes keep, and"
        " whether the angle found agrees over the copies. With the paper's network for the same time beside it.",
        "invariance:run",
    ),
    Study(
        "sgm-fig10",
        "What is natural for a digit",
        "Fig. 10: a few digits, their prototypes, and the density of each affine coordinate given the prototype. The"
        " round 0 can be turned by far, the 1, the 8 and some 6 and 9 have two modes half a turn apart, and the 2 has"
        " one or nearly so.",
        "marginals:few_digits",
    ),
    Study(
        "sgm-fig11",
        "Prototypes of prototypes",
        "Fig. 11: the prototype of a prototype, and so on, and how far each is moved. A perfect inference moves nothing"
        " after the first; the paper's stays at about 5 %.",
        "iterated:run",
    ),
    Study(
        "sgm-fig13",
        "Orbits of digits",
        "Fig. 13: seven examples of one orbit under rotation, translations, or both and scaling; their prototypes,"
        " which should be one and the same, and resampled versions.",
        "orbits:affine",
    ),
    Study(
        "sgm-fig14",
        "Orbits of coloured digits",
        "Fig. 14: the same for hue, saturation and value.",
        "orbits:colours",
    ),
    Study(
        "sgm-fig15",
        "What is natural for a digit: more of them",
        "Fig. 15: as Fig. 10, two digits of each class.",
        "marginals:many_digits",
    ),
    Study(
        "sgm-fig16",
        "What is natural for a coloured digit",
        "Fig. 16: coloured digits, their prototypes, and the densities of hue, saturation and value, with the true"
        " ranges of hue and saturation shaded. The densities should fill these and end with them.",
        "marginals:colours",
    ),
    Study(
        "sgm-fig17",
        "Where sprites are",
        "Fig. 17: for each shape of dSprites, examples and their positions, resampled ones and theirs. Squares stay to"
        " the lower right, hearts above and below the middle and never between.",
        "positions:run",
    ),
    Study(
        "sgm-sprites",
        "The truth recovered: sprites",
        "On sprites, whose factors are known: the distribution of each shape's scale, orientation and place among"
        " resampled held-out examples, against the true one. What does not vary must not: hearts do not turn, and"
        " are above the middle or below it.",
        "sprites:run",
    ),
    Study(
        "sgm-rotations",
        "The truth recovered: digits turned by more",
        "Digits turned at random by up to 15, 45, 90 and 180 degrees on top of their own slant: the density of rotation"
        " given the prototype gets wider with that, class by class, and is uniform in the end.",
        "rotations:run",
    ),
    Study(
        "sgm-colours",
        "The truth recovered: coloured digits",
        "Digits with a hue from 0 to 108 degrees and a saturation from 0.6 to 0.9: hue and saturation of resampled"
        " held-out digits against the true ones.",
        "colours:run",
    ),
    Study(
        "sgm-ablations",
        "The paper's modelling choices, one by one",
        "Section 3.2, with numbers: a spline flow against a Gaussian with one mode, densities that look at the"
        " prototype against ones that do not, and prototypes that are invariant in full against in part.",
        "ablations:run",
    ),
    Study(
        "sgm-cost",
        "What stage 2 costs",
        "Wall time until the held-out likelihood of poses is within 0.05 nats a coordinate of where it converges.",
        "cost:run",
    ),
    Study(
        "sgm-galaxy",
        "Galaxies",
        "Affine and colour transformations at once on GalaxyMNIST, or on images given by --data: examples, prototypes,"
        " natural versions, and what is natural for single images.",
        "galaxy:run",
        takes_data=True,
    ),
    Study(
        "sgm-sweep",
        "Choosing hyper-parameters",
        "The grids of Appendix C.1 swept by Optuna (an extra: pip install 'liewise[sweep]') on digits: some settings of"
        " each stage at scale small, all of them at scale paper.",
        "sweep:run",
    ),
    Study(
        "verdicts",
        "How often verdicts are right",
        "Our own: made cases whose truth is known (coordinates, kinds of distribution, sprites, digits, clothes,"
        " colours), none of them used to tune the rule. Verdicts should be right in 95 % and intervals' ends within"
        " 10 % of the box.",
        "verdicts:run",
    ),
    Study(
        "verdicts-development",
        "Verdicts on the development list",
        "The same on other cases: the ones on which the rule may be tuned.",
        "verdicts:develop",
    ),
)
STUDIES = {study.name: study for study in _ALL}
