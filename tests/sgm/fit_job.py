"""Fits the small model into a run's folder, in a process of its own, slowly enough to be killed."""

import dataclasses
import sys
import time
import warnings

import belt

from liewise.errors import LiewiseWarning
from liewise.train import checkpoints

STEPS = 60


def main(folder: str, pause: float) -> None:
    original = checkpoints.sync

    def slow(path):
        time.sleep(pause)
        original(path)

    checkpoints.sync = slow
    warnings.simplefilter("ignore", LiewiseWarning)
    model = belt.small_model()
    training = dataclasses.replace(
        model.inference_training, steps=STEPS, checkpoint_every=5, dispatch_steps=5, validate_every=20
    )
    model.set_params(inference_training=training, density_training=training)
    model.fit(belt.images(), run_dir=folder, progress="lines")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
