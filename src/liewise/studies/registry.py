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
