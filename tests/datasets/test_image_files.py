"""Pictures that a camera held sideways took: shown upright, whatever kind of file they are in."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from liewise import datasets

RNG = np.random.default_rng(0)

_UPRIGHT = {
    1: lambda stored: stored,
    2: lambda stored: stored[:, ::-1],
    3: lambda stored: stored[::-1, ::-1],
    4: lambda stored: stored[::-1],
    5: lambda stored: stored.swapaxes(0, 1),
    6: lambda stored: np.rot90(stored, -1),
    7: lambda stored: stored[::-1, ::-1].swapaxes(0, 1),
    8: lambda stored: np.rot90(stored),
}


@pytest.mark.parametrize("orientation", _UPRIGHT)
@pytest.mark.parametrize(
    ("mode", "name"),
    [
        *[(mode, "1.png") for mode in ("L", "LA", "RGB", "RGBA", "P", "I;16")],
        *[(mode, "1.tif") for mode in ("L", "RGB", "RGBA", "I;16")],
        *[(mode, "1.webp") for mode in ("RGB", "RGBA")],
    ],
)
def test_images_are_turned_upright_whatever_their_kind(tmp_path: Path, mode: str, name: str, orientation: int):
    array = RNG.integers(0, 256, (6, 9, 4), dtype=np.uint8)
    array[..., 3] = np.where(array[..., 3] > 99, 255, 0)
    options: dict = {"lossless": True} if name.endswith("webp") else {}
    if mode == "I;16":
        image = Image.fromarray(array[..., 0].astype(np.uint16) * 257)
    elif mode == "P":
        image, options = Image.fromarray(array[..., :3]).quantize(8), {"transparency": 0}
    else:
        image = Image.fromarray(array).convert(mode)
    exif = Image.Exif()
    exif[0x0112] = orientation
    for which, more in (("stored", {}), ("turned", {"exif": exif})):
        (tmp_path / which).mkdir()
        image.save(tmp_path / which / name, **options, **more)
    stored, turned = (datasets.load(tmp_path / which) for which in ("stored", "turned"))
    assert np.array_equal(turned.train.images[0], _UPRIGHT[orientation](stored.train.images[0]))
    assert (orientation != 1) == any("turned upright" in note for note in turned.notes)
