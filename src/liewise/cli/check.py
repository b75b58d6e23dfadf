"""`liewise check RUN`: can transformations be recovered on these data, and nothing where there is nothing?"""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from liewise.cli.source import Force, may_write
from liewise.errors import LiewiseError, LiewiseWarning

__all__ = ["Check"]

_RESULT = "check.json"
_LEAST = 16  # steps: with fewer there is no schedule


@dataclass(frozen=True, kw_only=True)
class Check:
    """Transform a run's own prototypes in known ways, fit again, and say how well that is recovered."""

    # the folder of a finished run
    run_dir: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(name="run", metavar="RUN")]
    # of training the poses, each time
    steps: int = 400
    # of training the densities, each time, at most
    density_steps: int = 400
    # injections, each with another kind of distribution for every coordinate; the control comes on top
    rounds: int = 1
    # of everything that is random
    seed: int = 0
    # no progress
    quiet: Annotated[bool, tyro.conf.arg(help_behavior_hint="")] = False
    # replace the result of an earlier check
    force: Force = False

    def run(self) -> None:
        """Check, print a table, and write it into the run's folder."""
        for name, least in (("steps", _LEAST), ("density_steps", _LEAST), ("rounds", 1)):
            if getattr(self, name) < least:
                raise LiewiseError(f"--{name.replace('_', '-')} is {least} or more; got {getattr(self, name)}")
        if not 0 <= self.seed < 2**31:
            raise LiewiseError(f"--seed is 0 or more, and below 2**31; got {self.seed}")
        may_write(self.run_dir / _RESULT, self.force)
        from rich.console import Console

        from liewise import load
        from liewise.report import check_table
        from liewise.sgm import check
        from liewise.train import RunFolder

        model = load(self.run_dir)
        images = RunFolder(self.run_dir).examples()["images"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LiewiseWarning)  # the fits are short on purpose
            found = check(
                model,
                images,
                steps=self.steps,
                density_steps=self.density_steps,
                rounds=self.rounds,
                seed=self.seed,
                progress="silent" if self.quiet else "auto",
            )
        Console().print(check_table(found))
        (self.run_dir / _RESULT).write_text(found.to_json() + "\n")
        print(f"wrote {self.run_dir / _RESULT}")
