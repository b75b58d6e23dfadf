"""What a study runs in: scale, seed and folders, and models that are fitted once for all figures of a setting."""

import dataclasses
import json
from pathlib import Path
from typing import Any

from liewise.sgm import SGM
from liewise.studies.registry import Scale
from liewise.studies.settings import Examples, Recipe, Setting
from liewise.train import RunFolder

__all__ = ["Context", "Fit", "write_json"]


@dataclasses.dataclass(frozen=True)
class Fit:
    """A fitted model of a setting, with what it learned from and what to measure it on."""

    setting: Setting
    examples: Examples
    model: SGM
    reused: bool  # whether it was there already

    @property
    def seconds(self) -> float:
        """How long both stages took, in the call that ended them."""
        return sum(self.model.seconds_.values())


@dataclasses.dataclass
class Context:
    """Where a study runs, and what it has fitted so far."""

    scale: Scale = "small"
    seed: int = 0
    folder: Path = Path("studies")
    data_dir: Path | None = None
    data: str | None = None  # what `study run --data` names
    progress: str = "auto"
    fits: dict[str, Fit] = dataclasses.field(default_factory=dict)

    def examples(self, setting: Setting) -> Examples:
        """Load the data of a setting."""
        return setting.load(self.data_dir, self.seed, self.scale)

    def recipe(self, setting: Setting) -> Recipe:
        """Return how the setting is fitted at this scale."""
        return setting.recipes[self.scale]

    def fit_folder(self, name: str) -> Path:
        """Return where the fit of a setting lies."""
        return self.folder / "fits" / f"{name}-{self.scale}-seed{self.seed}"

    def fit(self, setting: Setting) -> Fit:
        """Fit a model, or go on with one that was cut off, or take the one that is there already."""
        if setting.name not in self.fits:
            self.fits[setting.name] = self._fit(setting)
        return self.fits[setting.name]

    def model(self, recipe: Recipe) -> SGM:
        """Make a model, not fitted yet."""
        return SGM(
            recipe.group,
            inference_config=recipe.inference_config,
            density_config=recipe.density_config,
            inference_training=recipe.inference_training,
            density_training=recipe.density_training,
            seed=self.seed,
        )

    def _fit(self, setting: Setting) -> Fit:
        examples, folder = self.examples(setting), RunFolder(self.fit_folder(setting.name))
        reused = folder.finished
        model = self.model(self.recipe(setting)).fit(examples.train, run_dir=folder, progress=self.progress)
        return Fit(setting, examples, model, reused)


def write_json(path: Path, content: Any) -> None:
    """Write a file of JSON, its folder with it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n")
