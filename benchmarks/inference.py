"""What a step of stage 1 costs in the paper's setting, against a matrix product of as many operations."""

import statistics
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from liewise import transforms
from liewise.sgm import InferenceConfig, build_inference, make_inference_loss, paper_inference_training
from liewise.train.optimiser import adamw

_SHAPE = (28, 28, 1)
_ROUNDS = 7


def measure() -> list[dict[str, Any]]:
    """The rows of the table: a step of gradient and update, five draws of 512 images, bicubic."""
    config, training = InferenceConfig.paper(), paper_inference_training()
    group = transforms.affine(chart="exp")
    images = np.random.default_rng(0).integers(0, 256, (training.batch_size, *_SHAPE), dtype=np.uint8)
    model = build_inference(group, images / np.float32(127.5) - 1, config, key=jax.random.key(0))
    params, static = eqx.partition(model, eqx.is_inexact_array)
    optimiser, loss = adamw(training.optimiser, training.steps), make_inference_loss(config)

    @partial(jax.jit, donate_argnums=0)
    def step(state: Any, batch: dict[str, jax.Array], key: jax.Array) -> Any:
        params, moments = state
        gradient = jax.grad(lambda p: loss(eqx.combine(p, static), batch, key)[0])(params)
        updates, moments = optimiser.update(gradient, moments, params)
        return optax.apply_updates(params, updates), moments

    state = (params, optimiser.init(params))
    batch = {"images": jnp.asarray(images), "blur": jnp.zeros(())}

    def run_step() -> None:
        nonlocal state
        state = jax.block_until_ready(step(state, batch, jax.random.key(1)))

    operations = _operations((int(np.prod(_SHAPE)), *config.hidden, group.dim), training.batch_size * config.views)
    side = round((operations / 2) ** (1 / 3))
    square = jax.random.normal(jax.random.key(2), (side, side))
    product = jax.jit(jnp.matmul)
    ours, theirs = [], []
    for _ in range(_ROUNDS):  # in turns, since other work on the machine comes and goes
        ours.append(_seconds(run_step))
        theirs.append(_seconds(lambda: jax.block_until_ready(product(square, square))))
    slow, fast = statistics.median(ours[1:]), statistics.median(theirs[1:])  # the first ones compiled
    return [
        {
            "name": "stage 1, the paper's preset: step / matrix product of as many operations",
            "value": slow / fast,
            "unit": "x",
            "target": 1.7,
            "note": f"batch {training.batch_size}, {config.views} draws, bicubic: {1e3 * slow:.0f} ms against"
            f" {1e3 * fast:.0f} ms for {side}x{side}",
        }
    ]


def _operations(sizes: tuple[int, ...], rows: int) -> int:
    """Multiplications and additions of a perceptron, forward and backward; nothing is asked of its input's slope."""
    products = [a * b for a, b in pairwise(sizes)]
    return 2 * rows * (3 * sum(products) - products[0])


def _seconds(run: Callable[[], Any]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began
