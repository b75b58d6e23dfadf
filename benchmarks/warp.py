"""The warp: its derivative against itself, and both against torch's and against a matrix product."""

import importlib.util
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from liewise.transforms import Interpolation, affine, warp

_CASES: tuple[tuple[Interpolation, tuple[int, int, int, int]], ...] = (
    ("bilinear", (512, 28, 28, 1)),
    ("bicubic", (512, 28, 28, 1)),
    ("bilinear", (128, 64, 64, 3)),
    ("bicubic", (128, 64, 64, 3)),
    ("bilinear", (16, 256, 256, 1)),
    ("bicubic", (16, 256, 256, 1)),
)
_ROUNDS = 30


def measure() -> list[dict[str, Any]]:
    """The rows of the table."""
    return [row for kind, shape in _CASES for row in _case(kind, shape)]


def _case(kind: Interpolation, shape: tuple[int, int, int, int]) -> list[dict[str, Any]]:
    keys = jax.random.split(jax.random.key(0), 3)
    images, cotangent = (jax.random.uniform(k, shape, minval=-1, maxval=1) for k in keys[:2])
    group = affine()
    matrices = group.element(group.sample(keys[2], shape[0]))

    def forward(images, matrices):
        return warp(images, matrices, interpolation=kind)

    def back_to_matrices(images, matrices, cotangent):
        return jax.vjp(lambda m: forward(images, m), matrices)[1](cotangent)

    def back_to_both(images, matrices, cotangent):
        return jax.vjp(forward, images, matrices)[1](cotangent)

    def loss_and_slope(images, matrices, target):
        return jax.value_and_grad(lambda m: jnp.mean((forward(images, m) - target) ** 2))(matrices)

    side = _side_of_equal_bytes(images.size)
    square = jax.random.normal(keys[0], (side, side))
    named: dict[str, Callable[[], Any]] = {
        "forward": _compiled(forward, images, matrices),
        "to the matrices": _compiled(back_to_matrices, images, matrices, cotangent),
        "to both": _compiled(back_to_both, images, matrices, cotangent),
        "in a loss": _compiled(loss_and_slope, images, matrices, cotangent),
        "product": _compiled(jnp.matmul, square, square),
        **_torch(kind, images, matrices, cotangent),
    }
    seconds = _best(named)
    once = seconds["forward"]
    name = f"{kind} {'x'.join(map(str, shape))}"
    rows = [
        _row(f"{name}: backward to the matrices / forward", seconds["to the matrices"] / once, 4),
        _row(f"{name}: backward to matrices and images / forward", seconds["to both"] / once, 10),
        _row(f"{name}: squared error and its gradient to the matrices / forward", seconds["in a loss"] / once, 5),
        _row(f"{name}: forward / matrix product of {side}x{side}", once / seconds["product"], None),
    ]
    if "torch forward" in seconds:
        rows += [
            _row(f"{name}: forward / torch's", once / seconds["torch forward"], None),
            _row(f"{name}: backward to both / torch's", seconds["to both"] / seconds["torch to both"], None),
        ]
    rows[0]["note"] = f"forward {once * 1e3:.2f} ms"
    return rows


def _row(name: str, value: float, target: float | None) -> dict[str, Any]:
    return {"name": name, "value": value, "unit": "x", "target": target, "note": ""}


def _side_of_equal_bytes(elements: int) -> int:
    """A product of two squares reads and writes three; a warp reads one batch of images and writes one."""
    return round((2 * elements / 3) ** 0.5)


def _compiled(function: Callable[..., Any], *arguments: jax.Array) -> Callable[[], Any]:
    run = jax.jit(function)
    return lambda: jax.block_until_ready(run(*arguments))


def _torch(kind: str, images: jax.Array, matrices: jax.Array, cotangent: jax.Array) -> dict[str, Callable[[], Any]]:
    if importlib.util.find_spec("torch") is None:
        print("torch is not here (make bench installs it): no comparison with grid_sample")
        return {}
    import numpy as np
    import torch

    def tensor(array):
        return torch.from_numpy(np.array(array, order="C"))

    planes, slopes = (tensor(np.moveaxis(np.asarray(a), -1, 1)) for a in (images, cotangent))
    theta = tensor(np.asarray(matrices)[:, :2])

    def forward(planes, theta):
        grid = torch.nn.functional.affine_grid(theta, list(planes.shape), align_corners=True)
        return torch.nn.functional.grid_sample(planes, grid, kind, "zeros", align_corners=True)

    def to_both():
        leaves = [planes.clone().requires_grad_(), theta.clone().requires_grad_()]
        forward(*leaves).backward(slopes)

    return {"torch forward": lambda: forward(planes, theta), "torch to both": to_both}


def _best(named: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Time everything in turns, so that a busy moment of the machine touches all alike; keep the least."""
    best = {}
    for round_ in range(_ROUNDS + 2):
        for name, run in named.items():
            start = time.perf_counter()
            run()
            seconds = time.perf_counter() - start
            if round_ >= 2:
                best[name] = min(seconds, best.get(name, float("inf")))
    return best
