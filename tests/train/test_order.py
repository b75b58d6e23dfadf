import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from liewise.train import TrainConfig, examples_of_step
from liewise.train.order import draw


def _epochs(n: int, epochs: int, seed: int = 0, first: int = 0) -> np.ndarray:
    positions = jnp.arange(n * epochs, dtype=jnp.uint32)
    return np.asarray(draw(jnp.uint32(seed), jnp.uint32(first), positions, n)).reshape(epochs, n)


def _naive(seed: int, epoch: int, k: int, n: int) -> int:
    """The same Feistel walk in Python's own integers, one example at a time."""
    top = 2**32

    def mix(x: int) -> int:
        x = ((x ^ (x >> 16)) * 0x85EBCA6B) % top
        x = ((x ^ (x >> 13)) * 0xC2B2AE35) % top
        return x ^ (x >> 16)

    columns = next(c for c in range(1, n + 1) if c * c >= n)
    rows = next(r for r in range(1, n + 1) if r * columns >= n)
    key = mix(mix((epoch + 0x9E3779B9) % top) ^ seed)
    while True:
        row, column = divmod(k, columns)
        for i in range(8):
            word = column if i % 2 == 0 else row
            noise = mix(word ^ mix((key + 0x85EBCA77 * (i + 1)) % top))
            if i % 2 == 0:
                row = (row + noise % rows) % rows
            else:
                column = (column + noise % columns) % columns
        k = row * columns + column
        if k < n:
            return k


@settings(max_examples=25)
@given(n=st.integers(1, 400), seed=st.integers(0, 2**31 - 1), first=st.integers(0, 2**32 - 4))
def test_every_epoch_sees_every_example_once(n, seed, first):
    positions = jnp.arange(1200, dtype=jnp.uint32)
    with jax.disable_jit():  # nothing to compile anew for each n
        drawn = draw(jnp.uint32(seed), jnp.uint32(first), positions, n)
    epochs = np.asarray(drawn)[: 3 * n].reshape(3, n)
    assert (np.sort(epochs, axis=1) == np.arange(n)).all()


@pytest.mark.parametrize("n", [1, 2, 3, 10, 97, 1000])
def test_order_is_that_of_a_naive_walk(n):
    epochs = _epochs(n, 2, seed=5, first=7)
    k = np.unique(np.linspace(0, n - 1, 50).astype(int))
    assert [[_naive(5, 7 + e, int(i), n) for i in k] for e in range(2)] == epochs[:, k].tolist()


def test_epochs_and_seeds_differ():
    epochs = np.concatenate([_epochs(60, 5, seed=seed) for seed in range(5)])
    assert len({tuple(epoch) for epoch in epochs}) == 25


@pytest.mark.parametrize("n", [3, 5, 12, 37])
def test_each_example_lands_at_each_place_equally_often(n):
    epochs = _epochs(n, 200 * n, seed=1)
    counts = np.stack([np.bincount(column, minlength=n) for column in epochs.T])
    statistic = ((counts - 200) ** 2 / 200).sum()
    assert 0.001 < scipy.stats.chi2.sf(statistic, (n - 1) ** 2) < 0.999


def test_all_orders_of_a_few_examples_occur_equally_often():
    _, counts = np.unique(_epochs(4, 4800, seed=2), axis=0, return_counts=True)
    assert len(counts) == 24
    assert scipy.stats.chisquare(counts).pvalue > 0.001


def test_neighbours_in_an_epoch_are_unrelated():
    epochs = _epochs(500, 100).astype(float)
    correlation = np.corrcoef(epochs[:, :-1].ravel(), epochs[:, 1:].ravel())[0, 1]
    assert abs(correlation) < 0.02


def test_steps_deal_the_stream_out_in_batches_across_epochs_and_batch_sizes():
    config = TrainConfig(steps=30, batch_size=7, batch_changes=((10, 13), (20, 50)), seed=3)
    dealt = np.concatenate([examples_of_step(config, step, 40) for step in range(30)])
    assert np.array_equal(dealt[:680], _epochs(40, 17, seed=3).ravel())


def test_the_far_end_of_a_long_run_does_not_overflow():
    config = TrainConfig(steps=2**31 - 1, batch_size=2**20, seed=1)
    n, step = 2**31 - 5, 2**31 - 2
    epoch, offset = divmod(step * 2**20, n)
    chosen = examples_of_step(config, step, n)
    assert [_naive_big(1, epoch, offset + j, n) for j in (0, 2**20 - 1)] == [chosen[0], chosen[-1]]


def _naive_big(seed: int, epoch: int, k: int, n: int) -> int:
    positions = jnp.asarray([k % n], dtype=jnp.uint32)
    return int(draw(jnp.uint32(seed), jnp.uint32((epoch + k // n) % 2**32), positions, n)[0])
