"""Stage 1: teaching a network to find poses, without labels (`004`, Algorithm 1 and Appendix B)."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from liewise.datasets import to_unit
from liewise.sgm.inference import Equivariant, Inference, Plain
from liewise.sgm.inference_config import InferenceConfig
from liewise.sgm.losses import agreement, agreement_in_view, distance_from_natural, round_trip, ways_agreement, weighed
from liewise.train import Loss, Result, TrainConfig, schedules, train
from liewise.transforms import Group, lost

__all__ = ["build_inference", "fit_inference", "make_inference_loss"]

Element = Any  # of the group
Images = Float[Array, "batch ..."]

_FOR_SCALES = 1024  # examples that set the network's scales
_CUT = 0.1  # of an example's variance: a copy that lost as much teaches nothing
_FEWER = 4  # times fewer examples tell as much of what prototypes are like


def build_inference(
    group: Group, examples: Any, config: InferenceConfig, *, window: int | None = None, key: PRNGKeyArray
) -> Inference:
    """Make an untrained network for data like `examples` (in [-1, 1]), a few of which set its scales and window."""
    group = group.completed() if config.complete else group
    if config.network == "plain":
        return Plain(group, examples.shape[1:], hidden=config.hidden, bounded=config.bounded, key=key)
    return Equivariant(
        group,
        jnp.asarray(examples),
        hidden=config.hidden,
        looks=config.looks,
        looks_at_use=config.looks_at_use,
        window=window,
        key=key,
    )


def make_inference_loss(config: InferenceConfig) -> Loss:
    """Make the loss; a batch holds `images`, and `blur` where the configuration has one.

    It is relative: 1 is the mean variance of an example's pixels.
    """

    def loss(model: Inference, batch: dict[str, Any], key: PRNGKeyArray):
        group, views = model.group, config.views
        examples = to_unit(batch["images"])
        if config.blur:
            examples = blurred(examples, batch["blur"])
        for_poses, *for_views = jax.random.split(key, views + 1)
        eta = [group.sample(k, len(examples)) for k in for_views]
        if config.pairs == "one view":
            eta[0] = jnp.zeros_like(eta[0])  # the example itself: eq. 6
        drawn = [group.element(e) for e in eta]
        copies = [group.act(element, examples) for element in drawn]
        trace = model.trace(jnp.concatenate(copies), for_poses)
        found = [group.element(e) for e in jnp.split(trace.eta, views)]
        to_prototype = [group.compose(group.inverse(f), d) for f, d in zip(found, drawn, strict=True)]
        unit = 1 / (jnp.mean(jnp.var(examples.reshape(len(examples), -1), 1)) + 1e-6)
        if config.pairs == "example":
            kept = [_kept(group, d, copy, examples) for d, copy in zip(drawn, copies, strict=True)]
            apart = agreement(group, examples, to_prototype, kept)
        else:
            kept = [jnp.ones(len(examples))] * views
            apart = jnp.mean(agreement_in_view(group, copies, found, star=config.pairs == "one view"))
        parts, total = {"agreement": unit * apart}, unit * apart
        if config.invertibility_weight:
            few = max(1, len(examples) // _FEWER)
            pose, copy, weight = jax.tree.map(lambda leaf: leaf[:few], (found[-1], copies[-1], kept[-1]))
            parts["round_trip"] = unit * weighed(round_trip(group, copy, pose), weight)
            total += config.invertibility_weight * parts["round_trip"]
        if trace.last is not None:
            parts["settled"] = jnp.mean(trace.last**2)
            total += config.settled_weight * parts["settled"]
        if config.ways_weight and trace.ways:
            parts["ways"] = _ways_loss([ways for look in trace.ways for ways in look], kept)
            total += config.ways_weight * parts["ways"]
        if config.natural_weight:
            moved = dict(zip(group.names, jnp.concatenate(eta).T, strict=True))
            away = jnp.concatenate([distance_from_natural(group, element) for element in to_prototype])
            parts["natural"] = weighed(away + model.missed(trace, moved), jnp.concatenate(kept))
            total += config.natural_weight * parts["natural"]
        return total, parts

    return loss


def fit_inference(
    group: Group,
    images: np.ndarray,
    config: InferenceConfig,
    training: TrainConfig,
    *,
    validation: np.ndarray | None = None,
    run_dir: str | Path | None = None,
    progress: str = "auto",
) -> Result:
    """Train a network on images (uint8, or floats in [0, 1]); `result.best` is the inference."""
    key = jax.random.key(training.seed)
    some = np.linspace(0, len(images) - 1, min(len(images), _FOR_SCALES)).astype(int)
    model = build_inference(group, to_unit(images[some]), config, key=key)
    over = {}
    if config.blur:
        over["blur"] = schedules.linear(config.blur, 0.0, max(1, round(config.blur_fraction * training.steps)))
    return train(
        model,
        make_inference_loss(config),
        {"images": images},
        training,
        validation=None if validation is None else {"images": validation},
        schedules=over,
        run_dir=run_dir,
        progress=progress,
    )


def blurred(
    examples: Float[Array, "batch height width channels"], sigma
) -> Float[Array, "batch height width channels"]:
    """Blur by a Gaussian of five pixels each way, the frame's edge going on."""
    offsets = jnp.arange(-2, 3)
    weights = jnp.exp(-0.5 * (offsets / jnp.maximum(sigma, 1e-3)) ** 2)
    weights = weights / jnp.sum(weights)
    for axis in (1, 2):
        rim = [(0, 0)] * 4
        rim[axis] = (2, 2)
        wide = jnp.pad(examples, rim, mode="edge")
        size = examples.shape[axis]
        shifted = [jax.lax.slice_in_dim(wide, i, i + size, axis=axis) for i in range(len(offsets))]
        examples = jnp.tensordot(weights, jnp.stack(shifted), 1)
    return examples


def _kept(group: Group, element: Element, copies: Images, examples: Images) -> Float[Array, " batch"]:
    """How much a copy counts: fully where all of the example is still there, not at all where it is clearly cut."""
    return jax.lax.stop_gradient(jnp.clip(1 - lost(group, element, copies, examples) / _CUT, 0.0, 1.0))


def _ways_loss(all_ways, kept: list[Float[Array, " batch"]]) -> Float[Array, ""]:
    total, views = jnp.zeros(()), len(kept)
    for ways in all_ways:
        apart = [jax.tree.map(lambda leaf, v=v: jnp.split(leaf, views)[v], ways) for v in range(views)]
        pairs = [(ways_agreement(apart[v - 1], apart[v]), jnp.minimum(kept[v - 1], kept[v])) for v in range(1, views)]
        values, weights = (jnp.stack(column) for column in zip(*pairs, strict=True))
        total += weighed(values, weights)
    return total
