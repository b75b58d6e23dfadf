"""Arrays, .npy and .npz: layouts and ranges are recognised where that is certain, and refused by name where not."""

import pickle
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from liewise import datasets
from liewise.errors import DataError

RNG = np.random.default_rng(0)
BYTES = RNG.integers(0, 256, (6, 9, 8, 3), dtype=np.uint8)


@pytest.mark.parametrize(
    ("array", "expected", "notes"),
    [
        (BYTES, BYTES, ()),
        (BYTES[..., 0], BYTES[..., :1], ()),
        (np.moveaxis(BYTES, 3, 1), BYTES, ("train: channels moved from first to last",)),
        (BYTES.astype(np.int64), BYTES, ("train: int64 values made bytes",)),
        (BYTES.astype(np.uint16) * 257, BYTES, ("train: 16-bit values reduced to 8",)),
        (BYTES > 100, (BYTES > 100) * np.uint8(255), ("train: values 0 and 1 made 0 and 255",)),
        (BYTES // 200, (BYTES // 200) * np.uint8(255), ("train: values 0 and 1 made 0 and 255",)),
        (BYTES / 255, (BYTES / 255).astype(np.float32), ()),
        (BYTES / 127.5 - 1, (BYTES / 255).astype(np.float32), ("train: floats in [-1, 1] brought to [0, 1]",)),
        (
            np.concatenate([BYTES, BYTES[..., :1] * 0 + 255], axis=3),
            BYTES,
            ("train: 6 images with alpha laid on black",),
        ),
    ],
)
def test_arrays_are_brought_to_bytes_or_floats_in_0_to_1(array, expected, notes):
    data = datasets.load(array)
    assert data.train.images.dtype == expected.dtype
    np.testing.assert_allclose(data.train.images, expected, atol=1e-6)
    assert data.notes == notes


def test_an_array_of_jax_is_an_array_too():
    assert np.array_equal(datasets.load(jnp.asarray(BYTES)).train.images, BYTES)


@pytest.mark.parametrize(
    ("array", "options", "message"),
    [
        (BYTES[0, 0], {}, r"expected images \[n, height, width\] or .*; got \(8, 3\)"),
        (BYTES[0], {}, r"\(9, 8, 3\) looks like a single image: add an axis in front"),
        (BYTES[:, :3], {}, r"channels could be first or last in \(6, 3, 8, 3\): say layout='HWC' or 'CHW'"),
        (BYTES[..., :2], {}, r"expected 1, 3 or 4 channels, first or last; got \(6, 9, 8, 2\)"),
        (BYTES, {"layout": "CHW"}, "expected 1, 3 or 4 channels; got 9 with layout CHW"),
        (BYTES, {"layout": "NHWC"}, "expected layout 'HWC' or 'CHW'; got 'NHWC'"),
        (BYTES[:0], {}, r"expected at least one image with at least one pixel; got \(0, 9, 8, 3\)"),
        (BYTES.astype(float), {}, r"in \[0, 1\] or in \[-1, 1\]; got \[0, 255\]: divide by 255, or give them"),
        (BYTES / 50 - 2, {}, r"expected float pixels in \[0, 1\] or in \[-1, 1\]; got \[-2, 3.1\]$"),
        (np.where(BYTES > 0, 0.5, np.nan), {}, "NaN or infinity in . images, first in"),
        (BYTES.astype(int) - 1, {}, r"expected integer pixels from 0 to 255 \(or to 65535\); got -1 to 254"),
        (BYTES.astype(complex), {}, "expected pixels as integers or floats; got complex128"),
        (BYTES.astype(str), {}, "expected pixels as integers or floats; got <U"),
        (BYTES, {"labels": np.eye(6)}, r"expected labels \[n\]; got \(6, 6\): .* give labels.argmax"),
        (BYTES, {"labels": np.arange(5)}, "expected 6 labels, one an image; got 5"),
        (BYTES, {"labels": np.arange(6) / 2}, "expected labels as integers"),
        (np.zeros_like(BYTES), {}, "of 6 images, 6 are constant .*: 0, 1, 2, 3, 4 and 1 more$"),
        (BYTES, {"constant": "drop"}, "expected constant to be one of refuse, skip, keep; got 'drop'"),
        (BYTES, {"key": "x"}, "unknown option key for an array; it knows: labels, layout, constant, name"),
    ],
)
def test_what_is_ambiguous_or_no_image_is_refused_by_name(array, options: dict, message: str):
    with pytest.raises(DataError, match=message):
        datasets.load(array, **options)


def test_a_layout_that_is_given_settles_what_is_ambiguous():
    ambiguous = BYTES[:, :3]
    assert np.array_equal(datasets.load(ambiguous, layout="HWC").train.images, ambiguous)
    assert datasets.load(ambiguous, layout="CHW").train.image_shape == (8, 3, 3)


@pytest.mark.parametrize(
    "labels", [np.arange(6), np.arange(6)[:, None], np.arange(6.0), np.array([*"abcdef"])], ids=repr
)
def test_labels_may_be_columns_whole_floats_or_text(labels):
    data = datasets.load(BYTES, labels=labels)
    assert data.train.labels.tolist() == list(range(6))
    assert data.class_names == (tuple("abcdef") if labels.dtype.kind == "U" else ())


@pytest.mark.parametrize("keys", [("images", "labels"), ("x", "y"), ("imgs", "targets"), ("data", "label")])
def test_npz_images_and_labels_are_found_by_their_keys(tmp_path: Path, keys: tuple[str, str]):
    np.savez(tmp_path / "a.npz", **{keys[0]: BYTES, keys[1]: np.arange(6), "other": np.zeros(3)})
    data = datasets.load(tmp_path / "a.npz")
    assert np.array_equal(data.train.images, BYTES)
    assert data.train.labels.tolist() == list(range(6))
    assert data.name == "a"


@pytest.mark.parametrize("names", [("x_train", "y_train", "x_test"), ("train_images", "train_labels", "test_images")])
def test_npz_splits_are_found_by_their_keys(tmp_path: Path, names: tuple[str, str, str]):
    np.savez(tmp_path / "a.npz", **dict(zip(names, (BYTES, np.arange(6), BYTES[:2]), strict=True)))
    data = datasets.load(str(tmp_path / "a.npz"))
    assert data.train.labels.tolist() == list(range(6))
    assert data.test.labels is None
    assert len(data.test) == 2


def test_a_pickle_beside_the_images_is_never_opened_and_one_for_images_is_refused(tmp_path: Path):
    np.savez(tmp_path / "a.npz", images=BYTES, meta=np.array([{"a": 1}], dtype=object))
    assert len(datasets.load(tmp_path / "a.npz").train) == 6
    np.savez(tmp_path / "b.npz", images=np.array([BYTES[0], BYTES[1, :5]], dtype=object))
    for name in ("b.npz", "c.npy"):
        if name == "c.npy":
            np.save(tmp_path / name, np.array([BYTES[0], None], dtype=object))
        with pytest.raises(DataError, match=r"holds Python objects \(a pickle\), which liewise never loads"):
            datasets.load(tmp_path / name)


def test_npz_without_a_telling_key_is_refused_with_the_keys_it_has(tmp_path: Path):
    np.savez(tmp_path / "a.npz", pictures=BYTES, extra=np.zeros(2))
    with pytest.raises(DataError, match=r"it holds: pictures, extra\. Name the right one with key="):
        datasets.load(tmp_path / "a.npz")
    assert len(datasets.load(tmp_path / "a.npz", key="pictures").train) == 6
    with pytest.raises(DataError, match=r"expected key 'picture' in .*; it holds: pictures, extra"):
        datasets.load(tmp_path / "a.npz", key="picture")


@pytest.mark.parametrize(
    "keys", [("x", "images"), ("x_train", "train_images", "x_test"), ("images", "x_train"), ("x_val", "x_valid")]
)
def test_npz_with_two_arrays_for_one_split_is_refused(tmp_path: Path, keys: tuple[str, ...]):
    np.savez(tmp_path / "a.npz", **dict.fromkeys(keys, BYTES))
    with pytest.raises(DataError, match=f"under exactly one of images, imgs.* it holds: {', '.join(keys)}"):
        datasets.load(tmp_path / "a.npz")


def test_npz_splits_may_stand_beside_plain_keys(tmp_path: Path):
    np.savez(tmp_path / "a.npz", images=BYTES, labels=np.arange(6), test_images=BYTES[:2], test_labels=np.arange(2))
    data = datasets.load(tmp_path / "a.npz")
    assert {name: split.labels.tolist() for name, split in data.splits.items()} == {
        "train": list(range(6)),
        "test": [0, 1],
    }


def test_npy_is_read_and_a_torn_or_foreign_file_is_refused(tmp_path: Path):
    np.save(tmp_path / "a.npy", BYTES)
    assert np.array_equal(datasets.load(tmp_path / "a.npy", labels=np.arange(6)).train.images, BYTES)
    whole = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "torn.npy").write_bytes(whole[:-50])
    (tmp_path / "evil.npy").write_bytes(pickle.dumps({"a": 1}))
    np.savez_compressed(tmp_path / "a.npz", images=BYTES)
    (tmp_path / "torn.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:-50])
    for name in ("torn.npy", "torn.npz"):
        with pytest.raises(DataError, match=f"{name} is torn or not a NumPy file"):
            datasets.load(tmp_path / name)
    with pytest.raises(DataError, match=r"holds Python objects \(a pickle\)"):
        datasets.load(tmp_path / "evil.npy")


def test_class_names_from_text_must_agree_over_the_splits(tmp_path: Path):
    labels = {"y_train": np.array([*"aabbcc"]), "y_test": np.array([*"ax"])}
    np.savez(tmp_path / "a.npz", x_train=BYTES, x_test=BYTES[:2], **labels)
    with pytest.raises(DataError, match="expected the same class names in every split"):
        datasets.load(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("fashion_mnist", "unknown data set 'fashion_mnist'. Did you mean 'fashion-mnist'"),
        ("minst", "Did you mean 'mnist'"),
        ("zzz", "unknown data set 'zzz'. Known: sprites, mnist, fashion-mnist, svhn, dsprites"),
        ("no/such/folder", "there is nothing at no/such/folder"),
        ("gone.npz", r"there is nothing at gone\.npz"),
        (Path("gone"), "there is nothing at gone"),
        (3.5, "expected the name of a data set, a path, an array or a table of the datasets library; got float"),
        (None, "got NoneType"),
    ],
)
def test_sources_that_are_nothing_are_refused_by_name(source, message: str):
    with pytest.raises(DataError, match=message):
        datasets.load(source)


def test_a_file_of_another_kind_is_refused(tmp_path: Path):
    (tmp_path / "a.csv").write_bytes(b"1,2")
    with pytest.raises(DataError, match=r"expected a folder of images, an \.npz or an \.npy file; got .*a\.csv"):
        datasets.load(tmp_path / "a.csv")


def test_the_real_galaxies_of_an_npz_load(data_dir: Path):
    path = data_dir / "efigi" / "efigi64_clean.npz"
    if not path.is_file():
        pytest.skip("no EFIGI here")
    assert datasets.load(path).train.images.shape == (3_640, 64, 64, 3)
