"""The named sets: read from a data directory, from the cache or fetched; checked; refused by name where wrong."""

import gzip
import hashlib
import struct
import sys
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy.io import savemat

from liewise import datasets
from liewise.datasets import registry, store
from liewise.datasets.hdf5 import read_hdf5
from liewise.datasets.idx import read_idx
from liewise.datasets.svhn import read_mat
from liewise.errors import DataError

RNG = np.random.default_rng(0)


def idx(array: np.ndarray) -> bytes:
    """An array in the idx format."""
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


def offer(monkeypatch, server, name: str, contents: list[bytes], *, packed: bool = True) -> list[bytes]:
    """Have a named set consist of these contents, served here, with their true checksums."""
    entry = registry.ENTRIES[name]
    files, bodies = [], []
    for file, data in zip(entry.files, contents, strict=True):
        body = gzip.compress(data) if packed else data
        meant = data if file.of_contents else body
        algorithm = file.checksum.split(":")[0]
        checksum = f"{algorithm}:{hashlib.new(algorithm, meant).hexdigest()}"
        server.files[file.name] = body
        files.append(replace(file, urls=(server.url(file.name),), checksum=checksum, size=len(body)))
        bodies.append(body)
    monkeypatch.setitem(registry.ENTRIES, name, replace(entry, files=tuple(files)))
    return bodies


@pytest.fixture
def small_mnist(monkeypatch, server) -> list[bytes]:
    """MNIST with 12 and 5 digits, to be fetched from here."""
    images, labels = RNG.integers(0, 256, (17, 28, 28), dtype=np.uint8), np.arange(17, dtype=np.uint8) % 10
    parts = (images[:12], labels[:12], images[12:], labels[12:])
    return offer(monkeypatch, server, "mnist", [idx(part) for part in parts])


def test_mnist_is_fetched_into_the_cache_once_and_read(small_mnist, server, cache: Path):
    for _ in range(2):
        data = datasets.load("mnist", progress=False)
    assert data.train.images.shape == (12, 28, 28, 1)
    assert data.test.labels.tolist() == [2, 3, 4, 5, 6]
    assert data.class_names[7] == "7"
    assert len(server.asked) == 4
    assert sorted(p.name for p in (cache / "mnist").glob("*.gz"))[0] == "t10k-images-idx3-ubyte.gz"


@pytest.mark.parametrize("place", ["mnist", ""])
@pytest.mark.parametrize("packed", [True, False])
def test_the_data_directory_is_looked_at_first(
    small_mnist, server, tmp_path: Path, monkeypatch, place: str, packed: bool
):
    folder = tmp_path / "data" / place
    folder.mkdir(parents=True)
    for file, body in zip(registry.ENTRIES["mnist"].files, small_mnist, strict=True):
        # packed by someone else: the contents count
        data = gzip.compress(gzip.decompress(body), 1) if packed else gzip.decompress(body)
        (folder / (file.name if packed else file.name.removesuffix(".gz"))).write_bytes(data)
    by_option = datasets.load("mnist", data_dir=tmp_path / "data")
    monkeypatch.setenv("LIEWISE_DATA_DIR", str(tmp_path / "data"))
    by_variable = datasets.load("mnist")
    assert np.array_equal(by_option.train.images, by_variable.train.images)
    assert server.asked == []


def test_a_file_that_is_not_the_real_one_is_refused_with_both_sums(small_mnist, tmp_path: Path):
    folder = tmp_path / "mnist"
    folder.mkdir()
    wrong = gzip.compress(idx(np.zeros((3, 28, 28), np.uint8)))
    (folder / "train-images-idx3-ubyte.gz").write_bytes(wrong)
    expected = registry.ENTRIES["mnist"].files[0].checksum
    found = hashlib.sha256(gzip.decompress(wrong)).hexdigest()
    with pytest.raises(DataError) as caught:
        datasets.load("mnist", data_dir=tmp_path)
    for part in (str(folder / "train-images-idx3-ubyte.gz"), expected, found):
        assert part in str(caught.value)
    (folder / "train-images-idx3-ubyte.gz").write_bytes(b"<html>")
    with pytest.raises(DataError, match="got none, since it cannot be unpacked"):
        datasets.load("mnist", data_dir=tmp_path)


def test_a_file_that_changes_after_its_check_is_checked_again(small_mnist, cache: Path):
    datasets.load("mnist", progress=False)
    datasets.load("mnist", progress=False)
    path = cache / "mnist" / "train-labels-idx1-ubyte.gz"
    path.write_bytes(gzip.compress(idx(np.zeros(12, np.uint8))))
    with pytest.raises(DataError, match=r"train-labels-idx1-ubyte\.gz is not the .* of mnist"):
        datasets.load("mnist", progress=False)


def test_offline_every_file_that_is_missing_is_named_with_where_to_put_it(small_mnist, server, cache: Path):
    datasets.fetch("mnist", progress=False)
    files = registry.ENTRIES["mnist"].files
    for file in files[1:]:
        (cache / "mnist" / file.name).unlink()
    server.files.clear()
    with pytest.raises(DataError) as caught:
        datasets.load("mnist", progress=False)
    message = str(caught.value)
    assert f"could not fetch {files[1].name}" in message
    assert f"Put the file into {cache / 'mnist'}, or into a folder that LIEWISE_DATA_DIR" in message
    for file in files[2:]:
        assert f"{file.name}, from {file.urls[0]}" in message
    assert files[0].name not in message


def test_a_file_of_another_set_loose_in_the_data_directory_is_passed_over(
    small_mnist, server, tmp_path: Path, monkeypatch
):
    name = registry.ENTRIES["mnist"].files[0].name
    other = gzip.compress(b"fashion")
    (tmp_path / name).write_bytes(other)
    monkeypatch.setattr(store, "_KNOWN", {hashlib.sha256(b"fashion").hexdigest()})
    assert len(datasets.load("mnist", data_dir=tmp_path, progress=False).train) == 12


def test_a_data_directory_that_is_not_there_is_named(monkeypatch):
    with pytest.raises(DataError, match="expected data_dir to be a folder; there is none at /nowhere"):
        datasets.load("mnist", data_dir="/nowhere")
    monkeypatch.setenv("LIEWISE_DATA_DIR", "/nowhere")
    with pytest.raises(DataError, match="expected LIEWISE_DATA_DIR to be a folder; there is none at /nowhere"):
        datasets.load("mnist")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PK\x03\x04", r"expected an idx file of bytes .* starts with 50 4b 03 04"),
        (idx(np.zeros((3, 2), np.uint8))[:-1], r"is torn: its header promises \(3, 2\) bytes, it holds 5"),
        (b"\x00\x00\x08\x03\x00", "is torn"),
    ],
)
def test_an_idx_file_that_is_torn_or_foreign_is_refused(tmp_path: Path, data: bytes, message: str):
    (tmp_path / "images").write_bytes(data)
    with pytest.raises(DataError, match=message):
        read_idx(tmp_path / "images")
    (tmp_path / "images.gz").write_bytes(gzip.compress(data)[:-9])
    with pytest.raises(DataError, match=r"images\.gz is torn or not a \.gz file"):
        read_idx(tmp_path / "images.gz")


def mat(tmp_path: Path, n: int) -> tuple[bytes, np.ndarray]:
    """SVHN's format with n images, labels 1 to 10."""
    images = RNG.integers(0, 256, (32, 32, 3, n), dtype=np.uint8)
    savemat(tmp_path / "x.mat", {"X": images, "y": (np.arange(n)[:, None] % 10 + 1).astype(np.uint8)})
    return (tmp_path / "x.mat").read_bytes(), images


def test_svhn_is_fetched_as_mat_and_its_label_10_is_the_digit_0(monkeypatch, server, tmp_path: Path):
    (train, images), (test, _) = mat(tmp_path, 12), mat(tmp_path, 3)
    offer(monkeypatch, server, "svhn", [train, test], packed=False)
    data = datasets.load("svhn", progress=False)
    assert data.train.labels.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2]
    assert np.array_equal(data.train.images[5], images[..., 5])
    assert data.notes == ()


def test_part_of_svhn_in_the_data_directory_stands_in_and_is_noted(tmp_path: Path):
    folder = tmp_path / "svhn-cropped"
    folder.mkdir()
    for part, n in (("train", 4), ("t10k", 2)):
        images, labels = np.zeros((n, 32, 32, 3), np.uint8), np.arange(n, dtype=np.uint8)
        (folder / f"{part}-images-idx4-ubyte.gz").write_bytes(gzip.compress(idx(images)))
        (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(labels)))
    data = datasets.load("svhn", data_dir=tmp_path)
    assert {e.name: e.place for e in datasets.catalogue(data_dir=tmp_path)}["svhn"] == "part in data dir"
    assert data.train.images.shape == (4, 32, 32, 3)
    assert data.notes[0] == f"train: 4 of the official 73,257 images, from {folder}"
    assert data.notes[1] == f"test: 2 of the official 26,032 images, from {folder}"


def test_a_mat_file_that_is_torn_or_foreign_is_refused(tmp_path: Path):
    (tmp_path / "bad.mat").write_bytes(b"not a mat file at all" * 20)
    with pytest.raises(DataError, match=r"expected a \.mat file with X and y at .*bad\.mat"):
        read_mat(tmp_path / "bad.mat")
    savemat(tmp_path / "other.mat", {"z": np.zeros(3)})
    with pytest.raises(DataError, match=r"expected a \.mat file with X and y at .*other\.mat"):
        read_mat(tmp_path / "other.mat")
    savemat(tmp_path / "flat.mat", {"X": np.zeros((3, 4)), "y": np.zeros((3, 1))})
    with pytest.raises(DataError, match=r"expected X \[height, width, 3, n\] and y \[n, 1\]"):
        read_mat(tmp_path / "flat.mat")


def hdf5(tmp_path: Path, **arrays: np.ndarray) -> bytes:
    """An HDF5 file's bytes."""
    path = tmp_path / "made.h5"
    with h5py.File(path, "w") as file:
        for key, array in arrays.items():
            file[key] = array
    return path.read_bytes()


def test_galaxy_mnist_is_fetched_unpacked_and_read(monkeypatch, server, tmp_path: Path, cache: Path):
    images = RNG.integers(0, 256, (9, 64, 64, 3), dtype=np.uint8)
    parts = [
        hdf5(tmp_path, images=images[:6], labels=np.arange(6, dtype=np.uint64) % 4),
        hdf5(tmp_path, images=images[6:], labels=np.arange(3, dtype=np.uint64)),
    ]
    offer(monkeypatch, server, "galaxy-mnist", parts)
    data = datasets.load("galaxy-mnist", progress=False)
    assert np.array_equal(data.train.images, images[:6])
    assert data.test.labels.tolist() == [0, 1, 2]
    assert data.class_names[3] == "unbarred spiral"
    assert (cache / "galaxy-mnist" / "train_dataset.hdf5").is_file()
    again = datasets.load("galaxy-mnist", n=2, splits=("test",))
    assert list(again.splits) == ["test"]
    assert np.array_equal(again.test.images, images[6:8])
    assert again.notes == ("the first 2 images of each split",)


def test_patch_camelyon_fetches_only_the_splits_asked_for(monkeypatch, server, tmp_path: Path):
    parts = []
    for n in (5, 3, 2):
        labels = (np.arange(n) % 2).astype(np.uint8).reshape(n, 1, 1, 1)
        parts += [hdf5(tmp_path, x=np.full((n, 96, 96, 3), n, np.uint8)), hdf5(tmp_path, y=labels)]
    offer(monkeypatch, server, "patch-camelyon", parts)
    data = datasets.load("patch-camelyon", splits=("val",), progress=False)
    assert len(server.asked) == 2
    assert data.val.labels.tolist() == [0, 1, 0]
    whole = datasets.load("patch-camelyon", progress=False)
    assert [len(split) for split in whole.splits.values()] == [5, 3, 2]


def test_unpacked_hdf5_in_the_data_directory_is_read_as_it_is(tmp_path: Path, server):
    folder = tmp_path / "galaxy-mnist"
    folder.mkdir()
    for part in ("train", "test"):
        body = hdf5(tmp_path, images=np.ones((2, 64, 64, 3), np.uint8), labels=np.zeros(2, np.uint64))
        (folder / f"{part}_dataset.hdf5").write_bytes(body)
    assert len(datasets.load("galaxy-mnist", data_dir=tmp_path).train) == 2


def test_hdf5_oddities_are_refused_by_name(tmp_path: Path, monkeypatch):
    (tmp_path / "bad.h5").write_bytes(b"nothing of the kind")
    with pytest.raises(DataError, match=r"bad\.h5 is torn or not an HDF5 file"):
        read_hdf5(tmp_path / "bad.h5", "x")
    hdf5(tmp_path, z=np.zeros(3))
    with pytest.raises(DataError, match=r"expected 'x' in .*made\.h5; it holds: z"):
        read_hdf5(tmp_path / "made.h5", "x")
    with pytest.raises(DataError, match=r"expected splits of galaxy-mnist out of train, test; got \('val',\)"):
        datasets.load("galaxy-mnist", splits=("val",))
    with pytest.raises(DataError, match="expected at least one example a split; got n=0"):
        datasets.load("galaxy-mnist", n=0)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(DataError, match=r"needs h5py: pip install 'liewise\[hdf5\]'"):
        datasets.load("galaxy-mnist")


def test_a_torn_gz_is_refused_and_leaves_nothing_unpacked(monkeypatch, server, tmp_path: Path, cache: Path):
    body = hdf5(tmp_path, images=np.ones((2, 64, 64, 3), np.uint8), labels=np.zeros(2, np.uint64))
    offer(monkeypatch, server, "galaxy-mnist", [gzip.compress(body)[:-20]] * 2, packed=False)
    with pytest.raises(DataError, match=r"cannot unpack .*train_dataset\.hdf5\.gz"):
        datasets.load("galaxy-mnist", progress=False)
    assert not list((cache / "galaxy-mnist").glob("*.hdf5*.part"))


def test_the_catalogue_says_where_each_set_lies(small_mnist, tmp_path: Path):
    places = {entry.name: entry.place for entry in datasets.catalogue()}
    assert places["sprites"] == "built in"
    assert places["mnist"] == places["svhn"] == "to fetch"
    paths = datasets.fetch("mnist", progress=False)
    assert all(path.is_file() for path in paths)
    assert {e.name: e.place for e in datasets.catalogue()}["mnist"] == "cache"
    folder = tmp_path / "data" / "mnist"
    folder.mkdir(parents=True)
    for path in paths:
        (folder / path.name).write_bytes(path.read_bytes())
    assert {e.name: e.place for e in datasets.catalogue(data_dir=tmp_path / "data")}["mnist"] == "data dir"
    assert datasets.fetch("sprites") == ()


def test_every_entry_says_what_it_is_under_which_terms_and_has_mirrors():
    assert len(registry.ENTRIES) == 7
    for entry in registry.ENTRIES.values():
        assert entry.summary
        assert entry.sizes
        assert entry.licence
        for file in entry.files:
            algorithm, digest = file.checksum.split(":")
            assert len(digest) == {"md5": 32, "sha256": 64}[algorithm]
            assert len(file.urls) >= 2
            assert all(file.name in url or "id=" in url for url in file.urls)


@pytest.mark.parametrize(("name", "mean"), [("mnist", 0.1307), ("fashion-mnist", 0.2860)])
def test_the_real_files_are_read_and_are_the_real_ones(data_dir: Path, name: str, mean: float):
    if not (data_dir / name).is_dir():
        pytest.skip(f"no {name} here")
    data = datasets.load(name, data_dir=data_dir)
    assert data.train.images.shape == (60_000, 28, 28, 1)
    assert len(data.test) == 10_000
    assert data.train.images.mean() / 255 == pytest.approx(mean, abs=1e-4)
    assert np.bincount(data.test.labels).min() > 800
    first, held_out = data.train.divide(10_000)
    assert (len(first), len(held_out)) == (50_000, 10_000)


def test_the_real_part_of_svhn_is_read_and_noted(data_dir: Path):
    if not (data_dir / "svhn-cropped").is_dir():
        pytest.skip("no SVHN here")
    data = datasets.load("svhn", data_dir=data_dir)
    assert data.train.images.shape == (5_000, 32, 32, 3)
    assert "train: 5,000 of the official 73,257 images" in data.notes[0]
