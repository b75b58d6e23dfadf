"""The augmenter on images that it knows: images a second, and beside JAX's own warp of as many in the same process."""

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from liewise import SGM, datasets, transforms
from liewise.sgm import DensityConfig, InferenceConfig, density_training, inference_training

_BATCH, _ROUNDS = 4096, 9
_WANTED = 50_000  # images a second, on two cores


def measure() -> list[dict[str, Any]]:
    """The rows of the table: bytes in, bytes out, 28x28, bicubic; the networks are small, since they are not asked."""
    images = datasets.load("sprites", n=_BATCH, n_test=16, size=28).train.images
    model = SGM(
        transforms.affine(),
        inference_config=InferenceConfig(hidden=(16,), looks=(1, 1), looks_at_use=(1, 1)),
        density_config=DensityConfig(features=(16, 8), head=(8,), conditioner=(8,), layers=1, bins=4),
        inference_training=inference_training(steps=5, batch_size=64),
        density_training=density_training(steps=5, batch_size=64),
    ).fit(images[:256], progress="silent")
    augment = model.augmenter(images, draws=4)
    known, group = np.arange(_BATCH), model.group_
    assert augment.pool is not None
    relation = augment.pool.relation(known, known % 4)[0]
    act = jax.jit(lambda element, x: datasets.to_bytes(group.act(element, datasets.to_unit(x))))

    def through_jax() -> None:
        jax.block_until_ready(act(relation, images))

    def ours() -> None:
        augment(images, index=known)

    ours_all, jax_all = _in_turns(ours, through_jax)
    one_all, _ = _in_turns(lambda: [augment(image, index=0) for image in images[:256]], through_jax)
    rate = _BATCH / ours_all
    return [
        {
            "name": f"augmenter, batches of {_BATCH} known 28x28 images: time / that of {_WANTED:,} images a second",
            "value": _WANTED / rate,
            "unit": "x",
            "target": 1.0,
            "note": f"{rate:,.0f} images a second on {os.cpu_count()} cores; one by one {256 / one_all:,.0f}",
        },
        {
            "name": "augmenter, the same: seconds / JAX's warp alone, compiled",
            "value": ours_all / jax_all,
            "unit": "x",
            "target": None,
            "note": f"JAX {_BATCH / jax_all:,.0f} images a second",
        },
    ]


def _in_turns(first: Callable[[], Any], second: Callable[[], Any]) -> tuple[float, float]:
    """Return the medians of the seconds that two things take, timed in turns."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(_ROUNDS):
        for run, kept in zip((first, second), seconds, strict=True):
            began = time.perf_counter()
            run()
            kept.append(time.perf_counter() - began)
    return statistics.median(seconds[0][1:]), statistics.median(seconds[1][1:])  # the first ones compiled
