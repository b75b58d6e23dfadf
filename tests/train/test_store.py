import errno
import hashlib
import json
import os
import pickle
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from liewise.errors import StoreError
from liewise.train import load, read_config, save, store

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "uint32",
    "float16",
    "bfloat16",
    "float32",
    "float8_e4m3fn",
    "complex64",
]


def _net(config):
    return eqx.nn.MLP(2, 1, config["width"], 1, key=jax.random.key(config.get("seed", 0)))


@pytest.fixture
def saved(tmp_path):
    save(tmp_path / "model", _net({"width": 4, "seed": 7}), kind="net", config={"width": 4})
    return tmp_path / "model"


def _arrays(folder: Path) -> Path:
    return next(folder.glob("*.safetensors"))


def _edit(folder: Path, **changes) -> None:
    head = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps({**head, **changes}))


def _bits(leaf):
    return np.asarray(jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf).tobytes()


@given(data=st.data())
def test_any_tree_of_arrays_comes_back_to_the_bit(data, tmp_path_factory):
    shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
    arrays = {}
    for i, name in enumerate(data.draw(st.lists(st.sampled_from(DTYPES), max_size=5))):
        dtype, shape = jnp.dtype(name), data.draw(shapes)
        raw = data.draw(st.binary(min_size=1, max_size=8)) * (dtype.itemsize * int(np.prod(shape)) + 1)
        array = np.frombuffer(raw, np.uint8)[: dtype.itemsize * int(np.prod(shape))]
        array = (array % 2).astype(bool) if name == "bool" else array.view(dtype)
        array = array.reshape(shape)
        arrays[f"a{i}"] = jnp.asarray(array) if data.draw(st.booleans()) else array
    tree = {"nested": [arrays, "text", None, 3.5], "key": jax.random.key(data.draw(st.integers(0, 99)))}
    folder = tmp_path_factory.mktemp("tree")
    save(folder, tree, kind="tree", config={})

    def build(config):
        return jax.tree.map(lambda leaf: leaf * 0 if _is_plain(leaf) else leaf, {**tree, "key": jax.random.key(0)})

    back = load(folder, build)
    assert jax.tree.structure(back) == jax.tree.structure(tree)
    for a, b in zip(jax.tree.leaves(tree), jax.tree.leaves(back), strict=True):
        if eqx.is_array(a):
            assert (type(a), a.dtype, a.shape) == (type(b), b.dtype, b.shape)
            assert _bits(a) == _bits(b)
        else:
            assert a == b


def _is_plain(leaf):
    return eqx.is_array(leaf) and leaf.dtype in (jnp.float32, jnp.int32)


def test_a_model_comes_back_with_its_numbers(saved):
    model, x = _net({"width": 4, "seed": 7}), jnp.ones(2)
    assert load(saved, _net, kind="net")(x) == model(x)
    assert read_config(saved) == {"width": 4}


def test_saving_again_leaves_one_model_and_other_files_alone(saved):
    (saved / "notes.txt").write_text("mine")
    save(saved, _net({"width": 5, "seed": 8}), kind="net", config={"width": 5})
    assert load(saved, _net)(jnp.ones(2)) == _net({"width": 5, "seed": 8})(jnp.ones(2))
    assert sorted(path.suffix for path in saved.iterdir()) == [".json", ".safetensors", ".txt"]


@pytest.mark.parametrize("calls_before", [0, 1])
@pytest.mark.parametrize("stage", ["replace", "fsync"])
def test_a_save_that_fails_at_any_stage_leaves_the_old_model(saved, stage, calls_before, monkeypatch):
    original, calls = getattr(os, stage), 0

    def full(*arguments):
        nonlocal calls
        calls += 1
        if calls > calls_before * (2 if stage == "fsync" else 1):
            raise OSError(errno.ENOSPC, "No space left on device")
        return original(*arguments)

    monkeypatch.setattr(os, stage, full)
    with pytest.raises(StoreError, match=r"was not saved in .*No space left.*what was there before still is"):
        save(saved, _net({"width": 5, "seed": 8}), kind="net", config={"width": 5})
    monkeypatch.undo()
    assert load(saved, _net)(jnp.ones(2)) == _net({"width": 4, "seed": 7})(jnp.ones(2))
    assert not [path for path in saved.iterdir() if path.name.startswith(".")]


def _truncate(folder):
    path = _arrays(folder)
    path.write_bytes(path.read_bytes()[:-7])


def _flip(folder):
    data = bytearray(_arrays(folder).read_bytes())
    data[-1] ^= 1
    _arrays(folder).write_bytes(data)


def _swap_arrays(folder, tensors: bytes):
    _arrays(folder).write_bytes(tensors)
    _edit(folder, sha256=hashlib.sha256(tensors).hexdigest())


def _reshape(folder):
    found = safetensors.numpy.load_file(_arrays(folder))
    _swap_arrays(folder, safetensors.numpy.save({name: array.reshape(-1) for name, array in found.items()}))


def _drop(folder):
    found = safetensors.numpy.load_file(_arrays(folder))
    found.pop(next(iter(found)))
    _swap_arrays(folder, safetensors.numpy.save(found))


class _Bomb:
    def __reduce__(self):
        return os._exit, (66,)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (_truncate, "torn or changed: its checksum is not the one in model.json"),
        (_flip, "torn or changed"),
        (lambda folder: _arrays(folder).unlink(), "lacks its arrays"),
        (lambda folder: _swap_arrays(folder, b"not tensors"), "is not a safetensors file"),
        (lambda folder: _swap_arrays(folder, pickle.dumps(_Bomb())), "is not a safetensors file"),
        (lambda folder: (folder / "model.json").write_bytes(pickle.dumps(_Bomb())), "not a model of liewise"),
        (lambda folder: (folder / "model.json").write_text('{"format": 1, "ki'), "is torn or not a model"),
        (lambda folder: (folder / "model.json").write_text("[" * 10**5), "is torn or not a model"),
        (lambda folder: (folder / "model.json").write_text('{"name": "react"}'), "it states no format"),
        (lambda folder: (folder / "model.json").unlink(), "there is no model.json"),
        (lambda folder: _edit(folder, format=2), "has format 2, by liewise .*reads up to 1: upgrade it"),
        (lambda folder: _edit(folder, config="width"), "its 'config' is not a dict"),
        (lambda folder: _edit(folder, kind="vae"), "expected a model of kind 'net' .*got 'vae'"),
        (lambda folder: _edit(folder, file="../../etc/passwd"), "points outside its folder"),
        (lambda folder: _edit(folder, config={"width": 6}), r"expected .*bias as float32\[6\] .*got float32\[4\]"),
        (lambda folder: _edit(folder, arrays={}), "lacks the array .layers"),
        (_reshape, r"expected .*weight as float32\[4, 2\] .*got float32\[8\]"),
        (_drop, "lacks the array .layers"),
    ],
)
def test_a_torn_or_foreign_model_is_refused_by_name(saved, harm, message):
    harm(saved)
    with pytest.raises(StoreError, match=message):
        load(saved, _net, kind="net")


def test_an_array_too_many_or_of_another_dtype_is_refused(saved):
    with pytest.raises(StoreError, match=r"has an array .layers\[0\]\.bias that this model does not have"):
        load(saved, lambda config: eqx.tree_at(lambda net: net.layers[0].bias, _net(config), None))
    with pytest.raises(StoreError, match=r"as float16\[4\] .*got float32\[4\]"):
        load(saved, lambda config: jax.tree.map(_halve, _net(config)))


def _halve(leaf):
    return leaf.astype(jnp.float16) if eqx.is_array(leaf) else leaf


def test_keys_of_another_kind_are_refused(tmp_path):
    save(tmp_path, {"key": jax.random.key(0)}, kind="k", config={})
    with pytest.raises(StoreError, match=r"key<rbg>\[\] .*got key<fry>\[\]"):
        load(tmp_path, lambda config: {"key": jax.random.key(0, impl="rbg")})


@pytest.mark.parametrize("config", [{"x": np.ones(3)}, {"x": float("nan")}, {"x": {1, 2}}])
def test_a_configuration_that_json_cannot_hold_is_refused(config, tmp_path):
    with pytest.raises(StoreError, match="a configuration that JSON can hold"):
        save(tmp_path, {}, kind="k", config=config)
    assert not list(tmp_path.iterdir())


def test_nothing_that_could_run_code_is_imported_to_read_a_model():
    assert not {"pickle", "marshal", "shelve", "joblib"} & set(vars(store))
