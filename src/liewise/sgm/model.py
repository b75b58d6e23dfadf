"""The Symmetry-aware Generative Model as people use it: fit it to images, then ask (`004`)."""

import dataclasses
import inspect
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from liewise import train
from liewise.datasets import Split, to_unit
from liewise.errors import LiewiseError, LiewiseWarning, NotFittedError, StoreError
from liewise.sgm.densities import Densities
from liewise.sgm.density import Density
from liewise.sgm.density_config import DensityConfig
from liewise.sgm.examples import as_given, as_images, as_labels, held_out_places, refuse_unfit
from liewise.sgm.fitting import density_training, fit_density
from liewise.sgm.health import check_health, complaints, still_falling
from liewise.sgm.inference_config import InferenceConfig, inference_training
from liewise.sgm.inference_fitting import build_inference, fit_inference
from liewise.sgm.plain import from_plain, group_from_plain, group_to_plain, to_plain
from liewise.sgm.queries import Parts, draw_poses, find, log_prob, posed, resample
from liewise.sgm.stage_two import in_batches, make_pairs
from liewise.sgm.summarising import summarise
from liewise.sgm.summary import Summary
from liewise.train import RunFolder, TrainConfig, announce, fingerprint
from liewise.transforms import Group, affine

__all__ = ["SGM"]

_KIND = "sgm"
_MOST_KEPT = 2**25  # bytes of held-out images in a run's folder
_RESAMPLED = 512  # versions at a time


class SGM:
    """Finds examples' prototypes and the density over the transformations that are natural for them.

    Images go in as uint8 or as floats in [0, 1], [n, height, width] or [n, height, width, channels], and come out with
    channels, uint8 if they were. Habits are scikit-learn's: nothing happens before `fit`, which returns the model.

    >>> from liewise import transforms
    >>> SGM(transforms.affine("rotation")).get_params()["draws"]
    5
    """

    _kept: dict[str, np.ndarray] | None = None  # examples that were held out
    _class_names: tuple[str, ...] = ()

    def __init__(
        self,
        group: Group | None = None,
        *,
        inference_config: InferenceConfig | None = None,
        density_config: DensityConfig | None = None,
        inference_training: TrainConfig | None = None,
        density_training: TrainConfig | None = None,
        draws: int = 5,
        consistency: float = 0.0,
        validation: float = 0.1,
        seed: int = 0,
    ):
        """Say what will be fitted.

        Args:
            group: what may happen to an example; the paper's five affine coordinates by default. Where they are no
                group by themselves, it is completed (`group_` says to what); `InferenceConfig(complete=False)` forbids.
            inference_config: the network that finds poses, and its losses.
            density_config: the sizes of p(η|x̂).
            inference_training: steps, batch and optimiser of stage 1.
            density_training: likewise of stage 2.
            draws: random transformations of each example whose prototypes stage 2 learns from.
            consistency: weight of the penalty on draws that disagree.
            validation: the fraction of images held out to choose the best networks by; 1,024 images at most.
            seed: of everything that is random; each training's own seed is replaced by it.
        """
        self.group = group
        self.inference_config = inference_config
        self.density_config = density_config
        self.inference_training = inference_training
        self.density_training = density_training
        self.draws = draws
        self.consistency = consistency
        self.validation = validation
        self.seed = seed

    def fit(
        self,
        images: Any,
        labels: Any = None,
        *,
        run_dir: str | Path | RunFolder | None = None,
        progress: str = "auto",
    ) -> "SGM":
        """Learn poses, then densities, from images alone.

        Args:
            images: an array of images, or a split of a data set.
            labels: classes, one an image, for `summary`; nothing is learned from them.
            run_dir: a folder for the configuration, checkpoints, metrics and the model. A run that was cut off goes on
                from there to the same model, and one that is finished is read; one of something else is refused.
            progress: "bar", "lines", "silent", or "auto".
        """
        labels = images.labels if labels is None and isinstance(images, Split) else labels
        images = as_images(images)
        labels = as_labels(labels, len(images))
        group = affine() if self.group is None else self.group
        refuse_unfit(images, group, self.draws, self.validation)
        folder = RunFolder(Path(run_dir)) if isinstance(run_dir, str | Path) else run_dir
        if folder is not None:
            goes_on = folder.claim({"model": _KIND, **self._settings(), "images": fingerprint(images)})
            if folder.finished:
                return self._adopt(SGM.load(folder.path, group=group))
            if goes_on:
                announce(progress, f"going on with the run in {folder.path}")
        training, held_out = held_out_places(len(images), self.validation, self.seed)
        result = self._fit(group, images[training], images[held_out], folder and folder.path, progress)
        self._kept = _some(images, labels, held_out)
        if folder is not None:
            self.save(folder.path / "model")
            folder.keep_examples(**self._kept)
            folder.finish(result)
        for complaint in self.warnings_:
            warnings.warn(complaint, LiewiseWarning, stacklevel=2)
        return self

    def _fit(
        self, group: Group, training: np.ndarray, held_out: np.ndarray, path: Path | None, progress: str
    ) -> dict[str, Any]:
        first_training, second_training = self._trainings()
        announce(progress, f"stage 1 of 2, poses: {', '.join(group.names)}; {first_training.steps:,} steps")
        first = fit_inference(
            group,
            training,
            self.inference_config or InferenceConfig(),
            first_training,
            validation=held_out,
            run_dir=path and path / "inference",
            progress=progress,
        )
        key = jax.random.fold_in(jax.random.key(self.seed), 2)
        for_pairs, for_held_out, for_health = jax.random.split(key, 3)
        pairs = make_pairs(first.best, training, draws=self.draws, key=for_pairs)
        announce(progress, f"stage 2 of 2, densities: at most {second_training.steps:,} steps")
        second = fit_density(
            first.best.group,
            pairs.prototypes,
            pairs.eta,
            self.density_config,
            second_training,
            validation=make_pairs(first.best, held_out, draws=self.draws, key=for_held_out),
            consistency=self.consistency,
            run_dir=path and path / "density",
            progress=progress,
        )
        health = check_health(first.best, held_out, key=for_health) | {
            "inference/falling": still_falling(first, relative=True),
            "density/falling": still_falling(second, relative=False) / first.best.group.dim,
        }
        self._take(Parts(first.best, second.best), health, {"inference": first.seconds, "density": second.seconds})
        return {name: _ending(stage) for name, stage in (("inference", first), ("density", second))}

    def pose(self, images: Any) -> np.ndarray:
        """Return η for each image: what takes its prototype to it, as the group writes it."""
        return self._found(self._checked(images))[0]

    def prototype(self, images: Any) -> np.ndarray:
        """Return each image with its transformation taken out."""
        given = self._checked(images)
        return as_given(self._found(given)[1], given.dtype)

    def density(self, images: Any) -> Densities:
        """Return the density over transformations of each image's prototype."""
        found = self._found(self._checked(images))[1]
        return Densities(self.parts_.density, self.group_, jnp.asarray(found))

    def resample(self, images: Any, n: int = 1, *, seed: int = 0) -> np.ndarray:
        """Return n other, equally natural versions of each image: [images, n, height, width, channels]."""
        given = self._checked(images)
        if n < 1:
            raise LiewiseError(f"expected n >= 1 versions of each image; got {n}")
        size = max(1, _RESAMPLED // n)
        made = in_batches(
            lambda x, keys: resample(self.parts_, to_unit(x), keys, n), given, self._keys(seed, given), size=size
        )
        return as_given(made, given.dtype)

    def log_prob(self, images: Any) -> np.ndarray:
        """Return how natural each image's pose is for its prototype, in nats: low for unusual poses."""
        return in_batches(lambda x: log_prob(self.parts_, to_unit(x)), self._checked(images))

    def transform(self, images: Any) -> np.ndarray:
        """Return prototypes as rows of numbers in [0, 1], for what comes next in a pipeline."""
        found = as_given(self._found(self._checked(images))[1], np.dtype(np.float32))
        return found.reshape(len(found), -1)

    def fit_transform(self, images: Any, labels: Any = None, **options: Any) -> np.ndarray:
        """Fit, and return the prototypes of the same images."""
        return self.fit(images, labels, **options).transform(images)

    def inverse_transform(self, rows: Any, eta: Any = None, *, seed: int = 0) -> np.ndarray:
        """Return images from the rows of `transform`: posed by η, or without it each in a natural pose."""
        self._require()
        found = self._checked(np.asarray(rows, np.float32).reshape(-1, *self.image_shape_))
        if eta is None:
            keys = self._keys(seed, found)
            eta = in_batches(lambda x, k: draw_poses(self.parts_, to_unit(x), k), found, keys)
        made = in_batches(lambda x, e: posed(self.group_, to_unit(x), e), found, np.asarray(eta, np.float32))
        return as_given(made, found.dtype)

    def summary(
        self, images: Any = None, labels: Any = None, class_names: Sequence[str] = (), *, seed: int = 0
    ) -> Summary:
        """Say which transformations are natural, how far they go, and how sure that is: the answer (docs: Verdicts).

        Args:
            images: to judge by; those that were held out if not given.
            labels: classes, one an image, each of which is judged by itself as well.
            class_names: names of the classes, by label; those of the run if not given.
            seed: of everything that is random.
        """
        self._require()
        if images is None:
            if self._kept is None:
                raise LiewiseError("this model was saved without examples: give summary(images) some")
            images = self._kept["images"]
            labels = self._kept.get("labels") if labels is None else labels
        elif labels is None and isinstance(images, Split):
            labels = images.labels
        names = tuple(class_names) or self._class_names
        return summarise(self.parts_, self._checked(images), labels, names, health=self.health_, seed=seed)[0]

    def save(self, folder: str | Path) -> None:
        """Write the model; `load` reads it, and runs no code in doing so."""
        self._require()
        config = {
            **self._settings(),
            "image_shape": list(self.image_shape_),
            "health": {name: value if math.isfinite(value) else None for name, value in self.health_.items()},
            "seconds": self.seconds_,
        }
        train.save(folder, self.parts_, kind=_KIND, config=config)

    @classmethod
    def load(cls, folder: str | Path, *, group: Group | None = None) -> "SGM":
        """Read a model, or a run's folder that has one; a group of one's own has to be given again."""
        folder = Path(folder)
        run = RunFolder(folder)
        if run.exists:
            run.result()  # refuses one that is not finished
            folder = folder / "model"
        config = train.read_config(folder, kind=_KIND)
        model = cls._of(config, group)
        for_inference, for_density = jax.random.split(jax.random.key(0))
        asked = model.group or affine()

        def build(config: dict[str, Any]) -> Parts:
            shape = tuple(config["image_shape"])
            blank = np.zeros((2, *shape), np.float32)
            inference = build_inference(asked, blank, model.inference_config or InferenceConfig(), key=for_inference)
            return Parts(inference, Density(inference.group, shape, model.density_config, key=for_density))

        parts = train.load(folder, build, kind=_KIND)
        health = {name: math.nan if value is None else value for name, value in config["health"].items()}
        model._take(parts, health, config["seconds"])
        if run.exists:
            model._kept = run.examples()
            model._class_names = tuple(run.read()["about"].get("data", {}).get("class_names", ()))
        return model

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return what the constructor was given."""
        del deep
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self, **params: Any) -> "SGM":
        """Change what the constructor was given; it counts from the next `fit` on."""
        for name, value in params.items():
            if name not in _PARAMETERS:
                raise LiewiseError(f"SGM has no parameter {name!r}; it has {', '.join(_PARAMETERS)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        given = [f"{name}={value!r}" for name, value in self.get_params().items() if value is not None]
        return f"SGM({', '.join(given)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "parts_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="transformer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
        )

    def _settings(self) -> dict[str, Any]:
        """Say what was asked for, in plain values."""
        first, second = self._trainings()
        return {
            "group": None if self.group is None else group_to_plain(self.group),
            "inference_config": to_plain(self.inference_config or InferenceConfig()),
            "density_config": to_plain(self.density_config or DensityConfig()),
            "inference_training": to_plain(first),
            "density_training": to_plain(second),
            "draws": self.draws,
            "consistency": self.consistency,
            "validation": self.validation,
            "seed": self.seed,
        }

    def _trainings(self) -> tuple[TrainConfig, TrainConfig]:
        first, second = self.inference_training or inference_training(), self.density_training or density_training()
        return dataclasses.replace(first, seed=self.seed), dataclasses.replace(second, seed=self.seed)

    def _take(self, parts: Parts, health: dict[str, float], seconds: dict[str, float]) -> None:
        self.parts_ = parts
        self.group_: Group = parts.inference.group
        self.image_shape_ = parts.density.image_shape
        self.health_, self.seconds_ = health, seconds
        self.warnings_ = complaints(health)

    def _adopt(self, other: "SGM") -> "SGM":
        self._take(other.parts_, other.health_, other.seconds_)
        self._kept, self._class_names = other._kept, other._class_names
        return self

    def _found(self, given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return in_batches(lambda x: find(self.parts_, to_unit(x)), given)

    def _keys(self, seed: int, given: np.ndarray) -> jax.Array:
        return jax.random.split(jax.random.key(seed), len(given))

    def _checked(self, images: Any) -> np.ndarray:
        self._require()
        return as_images(images, shape=self.image_shape_)

    def _require(self) -> None:
        if not hasattr(self, "parts_"):
            raise NotFittedError("this SGM is not fitted yet: call fit(images) first, or load one")

    @classmethod
    def _of(cls, config: dict[str, Any], group: Group | None) -> "SGM":
        """Make an unfitted model from what `save` wrote."""
        try:
            kinds = {
                "inference_config": InferenceConfig,
                "density_config": DensityConfig,
                "inference_training": TrainConfig,
                "density_training": TrainConfig,
            }
            rest = {name: config[name] for name in ("draws", "consistency", "validation", "seed")}
            asked = group if group is not None else group_from_plain(config["group"])
            return cls(asked, **{n: from_plain(kind, config[n]) for n, kind in kinds.items()}, **rest)
        except (KeyError, TypeError) as error:
            raise StoreError(f"the model's configuration is not one of this version: {error}") from error


_PARAMETERS = tuple(name for name in inspect.signature(SGM.__init__).parameters if name != "self")


def _ending(result: train.Result) -> dict[str, Any]:
    score = result.best_score
    return {"steps": result.step, "stopped": result.stopped, "best_step": result.best_step, "best_score": score}


def _some(images: np.ndarray, labels: np.ndarray | None, places: np.ndarray) -> dict[str, np.ndarray]:
    """Choose what is kept of the held-out examples."""
    places = places[: max(1, _MOST_KEPT // images[0].nbytes)]
    kept = {"images": images[places], "places": places}
    return kept if labels is None else kept | {"labels": labels[places]}
