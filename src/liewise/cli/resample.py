"""`liewise resample …`: draw natural versions of images, by a model that was fitted before."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from liewise.cli.source import Force, may_write
from liewise.errors import LiewiseError

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Resample"]

Images = Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="IMAGE", help_behavior_hint="")]
_EXAMPLES = 4  # of the run's own


@dataclass(frozen=True, kw_only=True)
class Resample:
    """Draw other versions of images that are as natural, beside their prototypes."""

    # the folder of a finished run
    run_dir: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(name="run", metavar="RUN")]
    # the images; without any, some examples that the run held out
    images: Annotated[
        tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="IMAGE", help_behavior_hint="")
    ] = ()
    # the PNG to write
    out: Path
    # versions of each image
    n: int = 16
    # of the draws
    seed: int = 0
    # how images of another size are brought to that of the model; as the run's own were if left out
    resize: Annotated[
        Literal["crop", "pad", "stretch"] | None, tyro.conf.arg(metavar="crop|pad|stretch", help_behavior_hint="")
    ] = None
    # replace a file that is there
    force: Force = False

    def run(self) -> None:
        """Load, resample, draw."""
        if self.n < 1 or not 0 <= self.seed < 2**31:
            raise LiewiseError(f"--n is 1 or more, and --seed 0 or more; got {self.n} and {self.seed}")
        may_write(self.out, self.force)
        from liewise import load
        from liewise.report import resampled_sheet

        model = load(self.run_dir)
        images, names = self._images(model.image_shape_)
        versions = model.resample(images, self.n, seed=self.seed)
        sheet = resampled_sheet(images, model.prototype(images), versions, names)
        self.out.parent.mkdir(parents=True, exist_ok=True)
        sheet.savefig(self.out, format="png")
        print(f"wrote {self.out}")

    def _images(self, shape: tuple[int, int, int]) -> "tuple[np.ndarray, list[str]]":
        from liewise.datasets import read_images
        from liewise.train import RunFolder

        run = RunFolder(self.run_dir)
        if not self.images:
            kept = run.examples()
            return kept["images"][:_EXAMPLES], [f"held out {place}" for place in kept["places"][:_EXAMPLES]]
        options = run.read()["about"].get("data", {}).get("options", {}) if run.exists else {}
        resize = self.resize or options.get("resize") or ("crop" if "size" in options else None)
        images, notes = read_images(self.images, shape, resize=resize, background=options.get("background", 0))
        for note in notes:
            print(f"note: {note}", file=sys.stderr)
        return images, [path.name for path in self.images]
