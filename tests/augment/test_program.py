import jax
import jax.numpy as jnp
import numpy as np
import pytest

from liewise import transforms
from liewise.augment.drawing import fold_in, key_of, random_bits, split
from liewise.augment.tracing import write_program
from liewise.errors import TransformError


def _floats(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


@jax.custom_jvp
def _doubled(x):
    return 2 * x


_doubled.defjvp(lambda primals, tangents: (_doubled(*primals), 2 * tangents[0]))

FUNCTIONS = {
    "element by element": lambda x: jnp.tanh(x) * jnp.where(x > 0, jnp.sqrt(jnp.abs(x)), x**3),
    "whole numbers": lambda x: (jnp.asarray(10 * x, jnp.int32) // 3, jnp.mod(jnp.asarray(10 * x, jnp.int32), 4)),
    "division to zero": lambda x: jax.lax.div(jnp.asarray(10 * x, jnp.int32), jnp.int32(3)),
    "negative powers": lambda x: (x + 4.0) ** -3,
    "rounding": lambda x: (jnp.round(4 * x), jnp.floor(x), jnp.sign(x), jnp.clip(x, -0.5, 0.5)),
    "inverse error function": lambda x: jax.scipy.special.erfinv(jnp.clip(x, -0.9995, 0.9995)),
    "along an axis": lambda x: (jnp.cumsum(x, 1), jnp.sort(x, 1), jnp.argmax(x, 1), jnp.max(x, 1), x[:, ::-1]),
    "looking up": lambda x: (jnp.take_along_axis(x, jnp.argsort(x, 1)[:, :2], 1), x.at[:, 7].get(mode="fill")),
    "padding": lambda x: (jnp.pad(x, ((0, 0), (1, 2))), jax.lax.pad(x, 0.5, ((0, 0, 0), (-1, 1, 2)))),
    "products": lambda x: (x @ np.ones((5, 3), np.float32), jnp.einsum("bi,bj->bij", x, x), x.T @ x),
    "calls": lambda x: _doubled(jax.jit(jnp.sin)(x)),
    "scan": lambda x: jax.lax.scan(lambda c, row: (c + row, c * row), jnp.zeros(len(x)), x.T),
    "while": lambda x: jax.lax.while_loop(lambda c: jnp.sum(c) < 100, lambda c: 2 * c, jnp.abs(x) + 0.1),
    "cond": lambda x: jax.lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x),
    "slices": lambda x: jax.lax.dynamic_slice(x, (0, jnp.argmax(x[0])), (2, 3)),
    "lengths": lambda x: (jnp.repeat(x, 3, 0), jnp.arange(2.0 * len(x)), x.reshape(-1)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_program_does_what_the_function_does_for_any_number_of_rows(name):
    function = FUNCTIONS[name]
    program = write_program(function, lambda b: [_floats(b, 5)])
    for rows in (2, 3, 8):
        x = np.random.default_rng(rows).normal(size=(rows, 5)).astype(np.float32)
        want = jax.tree.leaves(function(jnp.asarray(x)))
        for one, other in zip(program(x, b=rows), want, strict=True):
            assert one.dtype == other.dtype
            assert np.allclose(one, other, atol=1e-5, rtol=1e-5, equal_nan=True)


@pytest.mark.parametrize("interpolation", ["bilinear", "bicubic"])
def test_the_warp_in_numpy_is_the_warp(interpolation):
    group = transforms.affine(interpolation=interpolation, fill=-0.5)
    program = write_program(
        lambda eta, x: group.act(group.element(eta), x), lambda b: [_floats(b, group.dim), _floats(b, 9, 14, 2)]
    )
    eta = np.asarray(group.sample(jax.random.key(0), 6))
    x = np.random.default_rng(0).uniform(-1, 1, (6, 9, 14, 2)).astype(np.float32)
    want = group.act(group.element(jnp.asarray(eta)), jnp.asarray(x))
    assert np.abs(program(eta, x, b=6)[0] - want).max() < 1e-4
    assert any(step[0] == "read_between" for step in program.code["steps"])


def test_keys_and_bits_are_those_of_jax():
    keys = jax.random.split(jax.random.key(42), 5)
    ours = split(key_of(42), shape=[5])
    assert np.array_equal(_data(ours), jax.random.key_data(keys))
    bits = jax.vmap(lambda key: jax.random.bits(key, (2, 3)))(jax.random.clone(keys))
    assert np.array_equal(random_bits(ours, shape=[2, 3], bit_width=32), bits)
    folded = jax.vmap(lambda key: jax.random.fold_in(key, 9))(jax.random.clone(keys))
    assert np.array_equal(_data(fold_in(ours, np.array(9))), jax.random.key_data(folded))


def _data(keys):
    return np.stack([keys >> np.uint64(32), keys & np.uint64(2**32 - 1)], -1)


def test_what_numpy_cannot_do_is_refused_by_name():
    with pytest.raises(TransformError, match="NumPy has to do without lgamma"):
        write_program(jax.scipy.special.gammaln, lambda b: [_floats(b, 5)])


def test_what_mixes_examples_by_their_number_is_refused():
    with pytest.raises(TransformError, match="something else for other numbers of examples"):
        write_program(lambda x: x * np.arange(len(x), dtype=np.float32)[:, None], lambda b: [_floats(b, 5)])
