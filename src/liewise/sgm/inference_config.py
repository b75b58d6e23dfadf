"""How stage 1 is done: which network, which losses, and presets by data set (`004`, Appendix C)."""

import dataclasses
from typing import Literal

from liewise.train import OptimiserConfig, TrainConfig

__all__ = ["InferenceConfig", "inference_training", "paper_inference_training"]


@dataclasses.dataclass(frozen=True)
class InferenceConfig:
    """The network that finds poses, and what teaches it."""

    network: Literal["equivariant", "plain"] = "equivariant"
    hidden: tuple[int, ...] = (1024, 256)  # of the corrections, or of the plain network
    looks: tuple[int, int] = (2, 2)  # in training: times, and corrections each time; the plain network looks once
    looks_at_use: tuple[int, int] = (3, 3)
    complete: bool = True  # add the coordinates without which the transformations are no group
    bounded: bool = False  # plain network: η within the box, by a tanh
    pairs: Literal["example", "views", "one view"] = "example"  # compared at: the example; eq. 24; eq. 6
    views: int = 2  # transformed copies of an example in a step
    ways_weight: float = 1.0  # of the loss on the ways that were weighed
    natural_weight: float = 0.02  # of how far prototypes are from natural poses, which chooses one of an orbit
    settled_weight: float = 0.3  # of the square of the last correction, in reaches
    invertibility_weight: float = 1.0  # of eq. 7
    blur: float = 0.0  # px, first standard deviation of a Gaussian; it falls to 0 ...
    blur_fraction: float = 0.01  # ... within this part of the steps

    @classmethod
    def paper(cls, data: Literal["mnist", "mnist-colour", "dsprites"] = "mnist") -> "InferenceConfig":
        """Return the paper's: Appendix C.1, C.2, C.3."""
        mnist = cls(
            network="plain",
            hidden=(2048, 1024, 512, 256),
            complete=False,
            pairs="views",
            views=5,
            natural_weight=0.0,
            invertibility_weight=0.1,
        )
        if data == "mnist":
            return mnist
        bounded = dataclasses.replace(mnist, bounded=True, invertibility_weight=0.0, blur=3.0)
        if data == "mnist-colour":
            return bounded
        return dataclasses.replace(bounded, pairs="one view", views=6)


def inference_training(steps: int = 2500, *, batch_size: int = 256, seed: int = 0) -> TrainConfig:
    """Return the default training: minutes on two cores."""
    optimiser = OptimiserConfig(
        learning_rate=2e-3, initial_multiplier=0.1, final_multiplier=1e-2, warmup_fraction=0.05, clip_norm=1.0
    )
    return TrainConfig(steps=steps, batch_size=batch_size, optimiser=optimiser, validate_every=500, seed=seed)


def paper_inference_training(
    data: Literal["mnist", "mnist-colour", "dsprites"] = "mnist", *, seed: int = 0
) -> TrainConfig:
    """Return the paper's training: 60,000 steps of 512 examples."""
    optimiser = {
        "mnist": OptimiserConfig(3e-4, 1e-2, 1e-3, 0.2, clip_norm=10.0),
        "mnist-colour": OptimiserConfig(3e-4, 1e-2, 1e-4, 0.1, clip_norm=2.0),
        "dsprites": OptimiserConfig(1e-3, 3e-2, 1e-3, 0.05, clip_norm=3.0),
    }[data]
    return TrainConfig(steps=60_000, batch_size=512, optimiser=optimiser, validate_every=2000, seed=seed)
