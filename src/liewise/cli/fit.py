"""`liewise fit …`: train a model on a data set, into a run folder, and say what was found."""

import contextlib
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from liewise.cli.source import Force, Source, Transforms, group_for
from liewise.errors import LiewiseError, LiewiseWarning

__all__ = ["Fit"]

Steps = Annotated[int | None, tyro.conf.arg(metavar="STEPS", help_behavior_hint="")]


@dataclass(frozen=True, kw_only=True)
class Fit(Source):
    """Find out which transformations are natural for a data set."""

    # the folder for the run: configuration, metrics, model; the same command goes on with one that was cut off
    out: Annotated[Path, tyro.conf.arg(metavar="RUN")]
    # such as "affine,colour" or "rotation=45deg,scale=1.3x"; what fits the images if left out
    transforms: Transforms = None
    # what to fit to; the first if left out
    split: Annotated[str | None, tyro.conf.arg(metavar="NAME", help_behavior_hint="")] = None
    # of training the poses; some minutes' worth if left out
    steps: Steps = None
    # of training the densities, at most
    density_steps: Steps = None
    # of everything that is random
    seed: int = 0
    # no progress
    quiet: Annotated[bool, tyro.conf.arg(help_behavior_hint="")] = False
    # start anew where the folder holds a run
    force: Force = False

    def run(self) -> None:
        """Load, fit, and print what is natural."""
        self._refuse()
        from rich.console import Console

        from liewise.sgm import SGM, density_training, inference_training
        from liewise.train import RunFolder

        data = self.load()
        name = self.split or next(iter(data.splits))
        split = data[name]
        about = {
            "data": {
                "given": self.data,
                "options": self.options,
                "split": name,
                "name": data.name,
                "source": data.source,
                "licence": data.licence,
                "class_names": list(data.class_names),
                "notes": list(data.notes),
            },
            "transforms": self.transforms,
        }
        folder = RunFolder(self.out, about=about, force=self.force)
        finished_before = folder.finished and not self.force
        model = SGM(
            group_for(split, self.transforms),
            inference_training=inference_training() if self.steps is None else inference_training(self.steps),
            density_training=density_training() if self.density_steps is None else density_training(self.density_steps),
            seed=self.seed,
        )
        with _spoken_warnings(), self._spoken_stops():
            model.fit(split, run_dir=folder, progress="silent" if self.quiet else "auto")
        if finished_before:
            print(f"{self.out} holds this run, and it is finished: there is nothing to do (--force starts it anew)")
            return
        summary = model.summary(class_names=data.class_names, seed=self.seed)
        (self.out / "summary.json").write_text(summary.to_json())
        Console().print(summary.table())
        print(
            f"the run is in {self.out}; liewise resample {self.out} --out grid.png draws natural versions of examples"
        )

    def _refuse(self) -> None:
        for name in ("steps", "density_steps"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise LiewiseError(f"--{name.replace('_', '-')} is 1 or more; got {value}")
        if not 0 <= self.seed < 2**31:
            raise LiewiseError(f"--seed is 0 or more, and below 2**31; got {self.seed}")

    @contextlib.contextmanager
    def _spoken_stops(self) -> Iterator[None]:
        """Say how to go on, where training did not say it itself."""
        from liewise.train import Interrupted

        try:
            yield
        except KeyboardInterrupt:
            print("stopped; the same command goes on from here", file=sys.stderr)
            raise
        except Interrupted as stop:
            if self.quiet:
                print(stop, file=sys.stderr)
            raise


@contextlib.contextmanager
def _spoken_warnings() -> Iterator[None]:
    """Print warnings as lines; those about what was found come with the table."""
    from liewise.train import CheckpointWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LiewiseWarning)
        warnings.simplefilter("always", CheckpointWarning)
        warnings.showwarning = lambda message, *_, **__: print(f"warning: {message}", file=sys.stderr)
        yield
