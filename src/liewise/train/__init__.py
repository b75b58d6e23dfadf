"""One training loop for every model, and models for keeps."""

from liewise.train import schedules
from liewise.train.checkpoints import difference
from liewise.train.config import OptimiserConfig, Phase, TrainConfig
from liewise.train.failures import CheckpointWarning, Interrupted, NonFiniteError, TrainError
from liewise.train.feed import examples_of_step
from liewise.train.loop import train
from liewise.train.progress import announce
from liewise.train.result import Result
from liewise.train.run_folder import RunFolder, fingerprint
from liewise.train.sinks import Sink, TensorBoard, WandB
from liewise.train.step import Loss
from liewise.train.store import load, read_config, save

__all__ = [
    "CheckpointWarning",
    "Interrupted",
    "Loss",
    "NonFiniteError",
    "OptimiserConfig",
    "Phase",
    "Result",
    "RunFolder",
    "Sink",
    "TensorBoard",
    "TrainConfig",
    "TrainError",
    "WandB",
    "announce",
    "difference",
    "examples_of_step",
    "fingerprint",
    "load",
    "read_config",
    "save",
    "schedules",
    "train",
]
