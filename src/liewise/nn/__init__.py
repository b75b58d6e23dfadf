"""Parts of networks, written for batches."""

from liewise.nn.circular import CircularNet, circular_mode, correlate
from liewise.nn.mlp import MLP
from liewise.nn.polar import polar_map, to_polar

__all__ = ["MLP", "CircularNet", "circular_mode", "correlate", "polar_map", "to_polar"]
