"""A batch of images that is shared out over devices is warped where it lies."""

import os
import subprocess
import sys

SCRIPT = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import NamedSharding, PartitionSpec
from liewise.transforms import affine, colour, product

mesh = jax.make_mesh((4,), ("batch",), axis_types=(jax.sharding.AxisType.Auto,))
shared = NamedSharding(mesh, PartitionSpec("batch"))
group = product(affine(), colour())
eta = group.sample(jax.random.key(0), 64)
images = jax.random.uniform(jax.random.key(1), (64, 16, 16, 3), minval=-1, maxval=1)
act = jax.jit(lambda eta, images: group.act(group.element(eta), images))
slope = jax.jit(jax.grad(lambda eta, images: act(eta, images).sum()))
for function in (act, slope):
    apart = [jax.device_put(a, shared) for a in (eta, images)]
    text = function.lower(*apart).compile().as_text()
    for exchange in ("all-gather", "all-reduce", "all-to-all", "collective-permute"):
        assert exchange not in text, exchange
    np.testing.assert_allclose(function(*apart), function(eta, images), atol=1e-4)
"""


def test_warps_need_no_exchange_between_devices():
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env={**os.environ, **flags}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
