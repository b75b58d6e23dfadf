"""The papers' perceptron."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import erf

from liewise.nn import MLP

ROWS = jnp.asarray(np.random.default_rng(0).normal(size=(5, 6)), jnp.float32)


def _make(**options):
    return MLP((6, 16, 8, 3), key=jax.random.key(0), **options)


@eqx.filter_jit
def _run(mlp, rows, key=None):
    return mlp(rows, key=key)


def test_each_layer_is_dense_then_gelu_then_layer_norm_and_the_last_is_dense_alone():
    mlp = _make()
    x = np.asarray(ROWS, np.float64)
    for layer in mlp.layers[:-1]:
        x = x @ np.asarray(layer.weight) + np.asarray(layer.bias)
        x = x * (1 + erf(x / np.sqrt(2))) / 2
        x = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    last = mlp.layers[-1]
    np.testing.assert_allclose(_run(mlp, ROWS), x @ np.asarray(last.weight) + np.asarray(last.bias), atol=3e-3)


def test_a_last_scale_of_zero_begins_as_zero():
    assert not np.any(_run(_make(last_scale=0.0), ROWS))
    assert np.any(_run(_make(), ROWS))


def test_rows_do_not_see_each_other():
    mlp = _make()
    np.testing.assert_allclose(_run(mlp, ROWS)[2:3], _run(mlp, ROWS[2:3]), atol=1e-6)


def test_dropout_is_random_with_a_key_while_training():
    mlp = _make(dropout=0.5)
    one, same, other = (_run(mlp, ROWS, jax.random.key(seed)) for seed in (0, 0, 1))
    assert np.array_equal(one, same)
    assert not np.allclose(one, other)


def test_dropout_needs_a_key_while_training():
    with pytest.raises(RuntimeError, match="requires a key"):
        _run(_make(dropout=0.5), ROWS)


def test_dropout_is_off_in_inference_mode_key_or_not():
    still = eqx.nn.inference_mode(_make(dropout=0.5))
    plain = _run(_make(), ROWS)
    assert np.array_equal(_run(still, ROWS), plain)
    assert np.array_equal(_run(still, ROWS, jax.random.key(0)), plain)


def test_without_dropout_a_key_changes_nothing():
    assert np.array_equal(_run(_make(), ROWS, jax.random.key(0)), _run(_make(), ROWS))


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_every_parameter_gets_a_gradient(dropout):
    mlp = _make(dropout=dropout)
    slopes = eqx.filter_jit(eqx.filter_grad(lambda m, key: jnp.sum(m(ROWS, key=key) ** 2)))(mlp, jax.random.key(1))
    named = jax.tree_util.tree_leaves_with_path(eqx.filter(slopes, eqx.is_inexact_array))
    assert len(named) == 3 * 2 + 2 * 2
    for path, leaf in named:
        assert np.isfinite(leaf).all(), jax.tree_util.keystr(path)
        assert np.any(leaf != 0), jax.tree_util.keystr(path)


def test_weights_keep_the_size_of_what_passes_through():
    layer = MLP((400, 300), key=jax.random.key(0)).layers[0]
    out = layer(jax.random.normal(jax.random.key(1), (50, 400)))
    assert float(jnp.std(out)) == pytest.approx(1 / np.sqrt(3), rel=0.1)
    assert not np.any(layer.bias)
