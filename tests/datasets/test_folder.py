"""The user's own images: every file is an example, or named and counted."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from liewise import datasets
from liewise.errors import DataError

RNG = np.random.default_rng(0)


def pixels(height: int = 8, width: int = 8, channels: int = 3) -> np.ndarray:
    """Some pixels that are not constant."""
    array = RNG.integers(0, 256, (height, width, channels), dtype=np.uint8)
    return array[..., 0] if channels == 1 else array


def put(path: Path, array: np.ndarray | Image.Image | None = None, **more) -> Path:
    """Write an image file, and its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    array = pixels() if array is None else array
    image = Image.fromarray(array) if isinstance(array, np.ndarray) else array
    image.save(path, **more)
    return path


def test_class_folders_are_labels_in_alphabetical_order_however_deep(tmp_path: Path):
    arrays = {name: pixels() for name in ("cat/b.png", "cat/a.png", "ant/deep/er/c.png")}
    for name, array in arrays.items():
        put(tmp_path / name, array)
    data = datasets.load(tmp_path)
    assert data.class_names == ("ant", "cat")
    assert data.train.labels.tolist() == [0, 1, 1]
    assert np.array_equal(data.train.images[0], arrays["ant/deep/er/c.png"])
    assert np.array_equal(data.train.images[1], arrays["cat/a.png"])
    assert data.notes == ()


def test_top_folders_called_train_test_or_val_are_splits(tmp_path: Path):
    for name in ("train/a/1.png", "train/b/2.png", "test/b/3.png", "validation/a/4.png"):
        put(tmp_path / name)
    data = datasets.load(tmp_path)
    assert list(data.splits) == ["train", "test", "val"]
    assert data.test.labels.tolist() == [1]


def test_a_folder_without_class_folders_has_no_labels(tmp_path: Path):
    put(tmp_path / "1.png"), put(tmp_path / "2.jpg")
    data = datasets.load(str(tmp_path))
    assert data.train.labels is None
    assert len(data.train) == 2
    assert data.name == tmp_path.name


def test_grey_images_stay_grey_and_follow_colour_where_there_is_some(tmp_path: Path):
    grey = pixels(channels=1)
    put(tmp_path / "1.png", grey)
    data = datasets.load(tmp_path)
    assert np.array_equal(data.train.images, grey[None, :, :, None])
    put(tmp_path / "2.png", pixels())
    data = datasets.load(tmp_path)
    assert np.array_equal(data.train.images[0], np.repeat(grey[:, :, None], 3, axis=2))
    assert data.notes == ("1 image grey made RGB, since others have colour",)


def deep(path: Path) -> np.ndarray:
    """A 16-bit grey image, and what it should read as."""
    values = RNG.integers(0, 65_536, (8, 8)).astype(np.uint16)
    put(path, Image.fromarray(values))
    return np.rint(values / 257).astype(np.uint8)[..., None]


def see_through(path: Path) -> np.ndarray:
    """An image half transparent, on black."""
    array = np.dstack([pixels(), np.full((8, 8), 128, np.uint8)])
    put(path, array)
    return np.rint(array[..., :3] * (128 / 255)).astype(np.uint8)


def palette(path: Path) -> np.ndarray:
    """An image of sixteen colours."""
    image = Image.fromarray(pixels()).quantize(16)
    put(path, image)
    return np.asarray(image.convert("RGB"))


def one_bit(path: Path) -> np.ndarray:
    """A black and white image."""
    array = RNG.integers(0, 2, (8, 8)).astype(bool)
    put(path, array)
    return array[..., None] * np.uint8(255)


def cmyk(path: Path) -> np.ndarray:
    """An image for a printing press."""
    image = Image.fromarray(np.dstack([pixels(), np.zeros((8, 8), np.uint8)]), mode="CMYK")
    put(path.with_suffix(".tif"), image)
    return np.asarray(image.convert("RGB"))


def turned(path: Path) -> np.ndarray:
    """A photograph by a camera held sideways."""
    array = pixels(8, 12)
    exif = Image.Exif()
    exif[0x0112] = 6
    put(path, array, exif=exif)
    return np.rot90(array, -1)


def animated(path: Path) -> np.ndarray:
    """A moving picture, of which the first frame counts."""
    frames = [Image.fromarray(pixels()).quantize(16) for _ in range(3)]
    put(path.with_suffix(".gif"), frames[0], save_all=True, append_images=frames[1:], optimize=False)
    return np.asarray(frames[0].convert("RGB"))


def deep_colour(path: Path) -> np.ndarray:
    """A 16-bit colour PNG, which Pillow cannot write."""
    import struct
    import zlib

    values = RNG.integers(0, 65_536, (8, 8, 3)).astype(">u2")
    raw = b"".join(b"\0" + row.tobytes() for row in values)

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", 8, 8, 16, 2, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + parts)
    return (values >> 8).astype(np.uint8)


@pytest.mark.parametrize(
    ("make", "notes"),
    [
        (deep, ("1 image 16-bit reduced to 8",)),
        (deep_colour, ("1 image 16-bit reduced to 8",)),
        (see_through, ("1 image alpha laid on the background",)),
        (palette, ("1 image palette made RGB",)),
        (one_bit, ("1 image 1-bit made 8-bit grey",)),
        (cmyk, ("1 image CMYK made RGB",)),
        (turned, ("1 image turned upright by EXIF orientation",)),
        (animated, ("1 image animated, of which the first frame is taken", "1 image palette made RGB")),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_oddities_are_converted_as_displayed_and_noted(tmp_path: Path, make, notes: tuple[str, ...]):
    expected = make(tmp_path / "odd.png")
    data = datasets.load(tmp_path)
    assert data.notes == notes
    np.testing.assert_allclose(data.train.images[0].astype(int), expected.astype(int), atol=1)


def test_transparent_pixels_show_the_background_asked_for(tmp_path: Path):
    array = np.dstack([pixels(), np.zeros((8, 8), np.uint8)])
    array[0, 0, 3] = 255
    put(tmp_path / "1.png", array)
    image = datasets.load(tmp_path, background=200).train.images[0]
    assert np.array_equal(image[0, 0], array[0, 0, :3])
    assert (image[1:] == 200).all()


def test_mixed_sizes_are_refused_with_the_count_of_each(tmp_path: Path):
    for index, shape in enumerate([(8, 8), (8, 8), (6, 9)]):
        put(tmp_path / f"{index}.png", pixels(*shape))
    message = r"got 2 of 8x8, 1 of 6x9 \(height x width\). Give size=\(height, width\), and resize='crop'"
    with pytest.raises(DataError, match=message):
        datasets.load(tmp_path)


def test_resizing_crops_pads_or_stretches_and_is_noted(tmp_path: Path):
    array = np.full((4, 8, 3), 100, np.uint8)
    array[:, :2], array[:, 6:] = 255, 255
    put(tmp_path / "1.png", array)
    made = {
        how: datasets.load(tmp_path, size=8, resize=how, constant="keep", background=7).train.images[0, ..., 0]
        for how in ("crop", "pad", "stretch")
    }
    assert abs(made["crop"][:, 2:6].astype(int) - 100).max() < 10  # the white ends are cut off
    assert (made["pad"][:2] == 7).all()
    assert np.array_equal(made["pad"][2:6], array[..., 0])
    assert (made["stretch"][:, 0] == 255).all()
    data = datasets.load(tmp_path, size=(8, 6))
    assert data.train.image_shape == (8, 6, 3)
    assert data.notes == ("1 image resized to 8x6 (crop)",)


def broken_folder(folder: Path) -> None:
    """Three good images, one cut off, and one that is something else."""
    for index in range(3):
        put(folder / "a" / f"{index}.png", pixels(40, 40))
    whole = (folder / "a" / "0.png").read_bytes()
    (folder / "a" / "cut.png").write_bytes(whole[: len(whole) // 2])
    (folder / "a" / "page.jpg").write_bytes(b"<html>not found</html>")


def test_broken_images_are_refused_by_name_with_their_count(tmp_path: Path):
    broken_folder(tmp_path)
    cut, page = r"a/cut\.{} \(.*truncated.*\)", r"a/page\.jpg \(cannot be identified as an image\)"
    with pytest.raises(DataError, match=rf"2 images in .* cannot be read: {cut.format('png')}, {page}\. Mend"):
        datasets.load(tmp_path)
    for name in ("page.jpg", "cut.png"):
        (tmp_path / "a" / name).unlink()
    whole = put(tmp_path / "a" / "cut.jpg", pixels(40, 40)).read_bytes()
    (tmp_path / "a" / "cut.jpg").write_bytes(whole[:-200])
    with pytest.raises(DataError, match=rf"1 image in .* cannot be read: {cut.format('jpg')}.*skip_unreadable=True"):
        datasets.load(tmp_path)
    assert len(datasets.load(tmp_path, skip_unreadable=True).train) == 3


def test_broken_images_are_skipped_on_request_and_counted(tmp_path: Path):
    broken_folder(tmp_path)
    data = datasets.load(tmp_path, skip_unreadable=True)
    assert len(data.train) == len(data.train.labels) == 3
    assert len(data.notes) == 1
    assert data.notes[0].startswith("2 unreadable images skipped: a/cut.png (")
    assert "a/page.jpg (" in data.notes[0]


def test_many_names_are_cut_short_with_how_many_more(tmp_path: Path):
    for index in range(9):
        (tmp_path / f"{index}.png").write_bytes(b"broken")
    with pytest.raises(DataError, match=r"9 images .* 4\.png \(.*\) and 4 more\."):
        datasets.load(tmp_path)


def test_other_files_and_hidden_ones_are_ignored_and_counted(tmp_path: Path):
    put(tmp_path / "a" / "1.png")
    put(tmp_path / ".cache" / "2.png")
    for name in ("a/readme.txt", "labels.csv", ".DS_Store", "a/Thumbs.db"):
        (tmp_path / name).write_bytes(b"1,2,3")
    data = datasets.load(tmp_path)
    assert len(data.train) == 1
    assert data.notes == (
        "3 hidden or system files ignored",
        "2 files of other kinds ignored: a/readme.txt, labels.csv",
    )


def test_links_are_followed_and_those_that_lead_nowhere_are_named(tmp_path: Path):
    folder, elsewhere = tmp_path / "mine", tmp_path / "elsewhere"
    put(folder / "cat" / "1.png"), put(elsewhere / "2.png")
    (folder / "dog").symlink_to(elsewhere)
    (folder / "cat" / "3.png").symlink_to(elsewhere / "2.png")
    data = datasets.load(folder)
    assert data.class_names == ("cat", "dog")
    assert data.train.labels.tolist() == [0, 0, 1]
    assert data.notes == ()
    (folder / "cat" / "4.png").symlink_to(tmp_path / "gone.png")
    with pytest.raises(DataError, match=r"1 image in .* cannot be read: cat/4\.png \(No such file or directory\)"):
        datasets.load(folder)


def test_a_folder_that_may_not_be_looked_into_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    put(tmp_path / "a" / "1.png"), put(tmp_path / "b" / "2.png")
    original = os.scandir

    def guarded(path):
        if Path(path).name == "b":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return original(path)

    monkeypatch.setattr(os, "scandir", guarded)
    with pytest.raises(DataError, match=r"cannot look into .*b: Permission denied"):
        datasets.load(tmp_path)


def test_an_image_is_known_by_its_contents_and_not_by_its_name(tmp_path: Path):
    array = pixels()
    put(tmp_path / "noname", array, format="PNG")
    assert np.array_equal(datasets.load(tmp_path).train.images[0], array)


def test_constant_images_are_refused_skipped_or_kept_as_chosen(tmp_path: Path):
    put(tmp_path / "a" / "1.png")
    put(tmp_path / "a" / "black.png", np.zeros((8, 8, 3), np.uint8))
    with pytest.raises(DataError, match=r"of 2 images, 1 is constant .*: a/black\.png; constant='skip'"):
        datasets.load(tmp_path)
    skipped = datasets.load(tmp_path, constant="skip")
    assert len(skipped.train) == 1
    assert skipped.notes == ("1 constant image skipped: a/black.png",)
    kept = datasets.load(tmp_path, constant="keep")
    assert len(kept.train) == 2
    assert kept.notes == ("1 constant image kept: a/black.png",)
    (tmp_path / "a" / "1.png").unlink()
    with pytest.raises(DataError, match="of 1 image, 1 is constant"):
        datasets.load(tmp_path, constant="skip")


def nothing(folder: Path) -> None:
    """Leave the folder empty."""


def only_text(folder: Path) -> None:
    """Nothing that is an image."""
    (folder / "a.txt").write_bytes(b"text")


def only_hidden(folder: Path) -> None:
    """Nothing that is seen."""
    (folder / ".a.png").write_bytes(b"text")


def beside_classes(folder: Path) -> None:
    """An image that belongs to no class."""
    put(folder / "a" / "1.png"), put(folder / "2.png")


def beside_splits(folder: Path) -> None:
    """A class folder beside a split."""
    put(folder / "train" / "1.png"), put(folder / "cats" / "2.png")


def same_split_twice(folder: Path) -> None:
    """Two names for one split."""
    put(folder / "val" / "1.png"), put(folder / "valid" / "2.png")


def endless(folder: Path) -> None:
    """A link to the folder that it lies in."""
    put(folder / "a" / "1.png")
    (folder / "a" / "again").symlink_to(folder)


def empty_split(folder: Path) -> None:
    """A split with nothing in it."""
    put(folder / "train" / "1.png")
    (folder / "test").mkdir()


def floats(folder: Path) -> None:
    """A TIFF of floats, whose range nobody knows."""
    put(folder / "1.tif", np.ones((8, 8), np.float32))


def all_cut_off(folder: Path) -> None:
    """An image that ends too early, and no other."""
    path = put(folder / "1.png", pixels(40, 40))
    path.write_bytes(path.read_bytes()[:2_000])


def all_cut_off_late(folder: Path) -> None:
    """An image of which only the pixels tell that it ends too early."""
    path = put(folder / "1.jpg", pixels(40, 40))
    path.write_bytes(path.read_bytes()[:-200])


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (nothing, {}, "expected images in .*; it is empty$"),
        (only_hidden, {}, "it is empty but for hidden files"),
        (only_text, {}, "expected images in .*; found none$"),
        (beside_classes, {}, r"1 lie beside the class folders a: 2\.png"),
        (beside_splits, {}, "expected only train, test and val folders in .* beside train; got also cats"),
        (same_split_twice, {}, "expected one folder for each split in .*; got val, valid"),
        (endless, {}, "a/again is a link to a folder that it lies in"),
        (empty_split, {}, "found none in its 'test' folder"),
        (floats, {}, r"1\.tif \(pixels of kind F, which have no fixed range\)"),
        (all_cut_off, {"skip_unreadable": True}, r"1 image in .* cannot be read: 1\.png"),
        (all_cut_off_late, {"skip_unreadable": True}, r"1 image in .* cannot be read: 1\.jpg"),
        (only_text, {"resize": "zoom"}, "expected resize to be one of crop, pad, stretch; got 'zoom'"),
        (only_text, {"background": 300}, "expected a background from 0 to 255; got 300"),
        (only_text, {"size": 0}, "expected a size of at least one pixel; got 0"),
        (only_text, {"sise": 8}, "unknown option sise for a folder; it knows: size, resize"),
        (beside_splits, {"constant": "drop"}, "expected only train"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_cannot_be_loaded_is_refused_by_name(tmp_path: Path, make, options: dict, message: str):
    make(tmp_path)
    with pytest.raises(DataError, match=message):
        datasets.load(tmp_path, **options)
