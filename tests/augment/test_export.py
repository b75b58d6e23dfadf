import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from liewise.errors import LiewiseError

WITHOUT_JAX = """
import importlib.abc, sys

class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("jax", "jaxlib", "liewise", "equinox", "scipy"):
            raise AssertionError(f"{name} was imported")

sys.meta_path.insert(0, Refuse())
sys.path.insert(0, sys.argv[1])
import numpy as np
import sampler

images = np.load(sys.argv[1] + "/images.npy")
np.savez(
    sys.argv[1] + "/got.npz",
    pose=sampler.pose(images),
    prototype=sampler.prototype(images),
    resample=sampler.resample(images, 3, seed=7),
)
"""


def test_an_export_needs_numpy_alone_and_equals_the_model(model, images, tmp_path):
    floats = images / np.float32(255)
    model.export(tmp_path / "sampler.py")
    np.save(tmp_path / "images.npy", floats)
    subprocess.run([sys.executable, "-I", "-c", WITHOUT_JAX, str(tmp_path)], check=True)
    got = np.load(tmp_path / "got.npz")
    assert np.abs(got["pose"] - model.pose(floats)).max() < 1e-4
    assert np.abs(got["prototype"] - model.prototype(floats)).max() < 1e-4
    assert got["resample"].shape == (24, 3, 12, 12, 1)
    assert np.abs(got["resample"] - model.resample(floats, 3, seed=7)).max() < 1e-4


def test_an_export_refuses_by_name_and_does_not_overwrite(model, images, tmp_path):
    path = tmp_path / "sampler.py"
    with pytest.raises(LiewiseError, match="name of a Python file"):
        model.export(tmp_path / "sampler.npz")
    model.export(path)
    with pytest.raises(LiewiseError, match="there already"):
        model.export(path)
    spec = importlib.util.spec_from_file_location("sampler", path)
    sampler = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sampler)
    assert model.group_.names == sampler.NAMES
    with pytest.raises(sampler.DataError, match="batch of 12x12x1"):
        sampler.pose(images[:, :10])
    with pytest.raises(sampler.DataError, match="n >= 1"):
        sampler.resample(images, 0)
