"""Parts of networks, written for batches."""

from liewise.nn.mlp import MLP

__all__ = ["MLP"]
