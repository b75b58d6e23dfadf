"""A run in a process of its own: what it does is given by a JSON argument, what came out is saved as arrays."""

import json
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import jax
import numpy as np
import tiny
from jax.sharding import Mesh

from liewise.train import CheckpointWarning, TrainConfig, checkpoints, train


def main(options: dict) -> None:
    if "process" in options:
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(options["address"], 2, options["process"])
    if options.get("slow_save"):
        _slow_down_saves(options["slow_save"])
    if options.get("full_disk"):
        warnings.simplefilter("always", CheckpointWarning)
        if jax.process_index() == 0:
            checkpoints.shutil.disk_usage = lambda path: SimpleNamespace(free=0)
    mesh = None if "devices" not in options else Mesh(np.array(jax.devices()[: options["devices"]]), ("batch",))
    shares: list[int] = []  # examples of a batch that one device gets

    def loss(model, batch, key):
        shape = batch["x"].shape
        jax.debug.inspect_array_sharding(batch["x"], callback=lambda s: shares.append(s.shard_shape(shape)[0]))
        return tiny.loss(model, batch, key)

    result = train(
        tiny.Net(),
        loss,
        tiny.data(),
        TrainConfig(**options["config"]),
        validation=tiny.data(37, seed=1),
        validation_loss=tiny.loss,
        run_dir=options.get("run_dir"),
        mesh=mesh,
        progress="lines",
        sinks=[_Slow(options["slow_steps"])] if "slow_steps" in options else [],
    )
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves((result.last, result.best)) if hasattr(leaf, "shape")]
    if jax.process_index() == 0:
        steps, losses = result.curve("loss")
        scores = result.curve("validation/loss")[1]
        np.savez(options["out"], *leaves, steps=steps, losses=losses, scores=scores, shares=shares)


class _Slow:
    def __init__(self, seconds: float):
        self._seconds = seconds

    def write(self, step: int, values: dict[str, float]) -> None:
        time.sleep(self._seconds)

    def close(self) -> None:
        pass


def _slow_down_saves(seconds: float) -> None:
    """Make every stage of a save long enough to be killed in."""
    for name in ("_write", "_digests", "sync"):
        original = getattr(checkpoints, name)

        def slow(*arguments, original=original, **keywords):
            time.sleep(seconds)
            return original(*arguments, **keywords)

        setattr(checkpoints, name, slow)


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
