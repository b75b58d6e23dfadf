"""Training a density: maximum likelihood of η, given prototypes of several random transformations of each example."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from liewise.datasets import to_unit
from liewise.errors import DataError
from liewise.sgm.density import Density
from liewise.sgm.density_config import DensityConfig
from liewise.sgm.scalars import scalar
from liewise.train import Loss, OptimiserConfig, Result, Sink, TrainConfig, train
from liewise.transforms import Group

__all__ = [
    "density_loss",
    "density_training",
    "fit_density",
    "make_density_loss",
    "paper_density_training",
    "standards",
]

Prototypes = np.ndarray  # uint8 [n, draws, height, width, channels]
Etas = np.ndarray  # [n, dim]


def make_density_loss(consistency: float = 0.0) -> Loss:
    """Return the loss of stage 2, with a weight for the consistency penalty.

    A batch holds `prototypes`, uint8 [batch, draws, height, width, channels], and `eta`, [batch, dim]. The loss is
    -log p_ψ(η|x̂'), averaged over the draws x̂' of each example's prototype (`004`, §3.1), plus `consistency` times the
    variance of log p_ψ(η|x̂') over those draws.
    """

    def loss(
        model: Density, batch: Mapping[str, Any], key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], dict[str, Float[Array, ""]]]:
        images = to_unit(batch["prototypes"])
        draws = images.shape[1]
        look, ask = jax.random.split(key)
        features = model.features(images.reshape(-1, *images.shape[2:]), key=look)
        eta = jnp.repeat(model.within_bounds(batch["eta"]), draws, axis=0)
        terms = model.log_probs_from(features, eta[:, None], key=ask).reshape(-1, draws, eta.shape[-1])
        spread = jnp.mean(jnp.var(jnp.sum(terms, -1), axis=1))
        nats = -jnp.mean(terms, (0, 1))
        metrics = {f"nats/{c.name}": value for c, value in zip(model.coordinates, nats, strict=True)}
        nll = jnp.sum(nats)
        return nll + consistency * spread, {**metrics, "nll": nll, "consistency": spread}

    return loss


density_loss = make_density_loss()


def density_training(steps: int = 3000, batch_size: int = 128) -> TrainConfig:
    """The default: with four draws or five, two minutes on two CPU cores, or less when held-out examples stop gaining.

    Draws count for more than examples: with one draw of each, the density soon learns the examples by heart.
    """
    return TrainConfig(
        steps=steps,
        batch_size=batch_size,
        optimiser=OptimiserConfig(
            learning_rate=2e-3,
            initial_multiplier=0.1,
            final_multiplier=0.01,
            warmup_fraction=0.05,
            weight_decay=1e-2,
            clip_norm=2.0,
        ),
        validate_every=100,
        patience=8,
    )


def paper_density_training(data: Literal["mnist", "mnist-colour", "dsprites"] = "mnist") -> TrainConfig:
    """The training of `004`: C.1, C.2, C.3."""
    steps, rate, final = {
        "mnist": (60_000, 3e-3, 0.03),
        "mnist-colour": (15_000, 3e-3, 0.03),
        "dsprites": (60_000, 3e-4, 0.3),
    }[data]
    return TrainConfig(
        steps=steps,
        batch_size=512,
        optimiser=OptimiserConfig(
            learning_rate=rate, initial_multiplier=0.1, final_multiplier=final, warmup_fraction=0.2, clip_norm=2.0
        ),
    )


def fit_density(
    group: Group,
    prototypes: Prototypes,
    eta: Etas,
    config: DensityConfig | None = None,
    train_config: TrainConfig | None = None,
    *,
    validation: tuple[Prototypes, Etas] | None = None,
    consistency: float = 0.0,
    run_dir: str | Path | None = None,
    progress: str = "auto",
    sinks: Sequence[Sink] = (),
) -> Result:
    """Train p_ψ(η|x̂) on a data set.

    Args:
        group: whose coordinates η are.
        prototypes: of each example, as bytes; several draws, each of the example transformed at random beforehand.
        eta: what takes each example's prototype to the example.
        config: sizes; the small ones by default.
        train_config: `density_training()` by default.
        validation: prototypes and η held out; without them the training runs to its last step.
        consistency: weight of the penalty on draws that disagree.
        run_dir: where checkpoints and metrics.jsonl go; without it, nothing is written.
        progress: as for `train`.
        sinks: likewise.
    """
    train_config = train_config or density_training()
    config = config or DensityConfig()
    data = _rows(group, prototypes, eta)
    held_out = None if validation is None else _rows(group, *validation)
    centre, scale = standards(group, eta, config)
    key = jax.random.key(train_config.seed)
    model = Density(group, prototypes.shape[2:], config, centre=centre, scale=scale, key=key)
    return train(
        model,
        make_density_loss(consistency),
        data,
        train_config,
        validation=held_out,
        validation_loss=density_loss,
        run_dir=run_dir,
        progress=progress,
        sinks=sinks,
    )


def standards(group: Group, eta: Etas, config: DensityConfig) -> tuple[Float[np.ndarray, " dim"], ...]:
    """The centres and scales that bring data to where splines bend."""
    pairs = [
        scalar(c, config.layers, config.bins, bounded=config.bounded).standard(column)
        for c, column in zip(group.coordinates, eta.T, strict=True)
    ]
    return tuple(np.array(pairs, np.float32).T)


def _rows(group: Group, prototypes: Prototypes, eta: Etas) -> dict[str, np.ndarray]:
    """Data for the loop, once they have been found to be in order."""
    if prototypes.ndim != 5 or prototypes.dtype != np.uint8 or 0 in prototypes.shape:
        raise DataError(
            "expected prototypes as uint8 [n, draws, height, width, channels];"
            f" got {prototypes.dtype} {tuple(prototypes.shape)}"
        )
    if eta.shape != (len(prototypes), group.dim):
        raise DataError(
            f"expected η [{len(prototypes)}, {group.dim}] for {', '.join(group.names)}; got {tuple(eta.shape)}"
        )
    bad = ~np.isfinite(eta)
    if bad.any():
        names = [name for name, column in zip(group.names, bad.T, strict=True) if column.any()]
        raise DataError(f"expected finite η; {', '.join(names)} are not in {bad.any(axis=1).sum()} examples")
    return {"prototypes": prototypes, "eta": np.asarray(eta, np.float32)}
