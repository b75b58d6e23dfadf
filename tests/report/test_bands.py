"""Bands of examples show each example in its place, and pictures keep within their bytes."""

import numpy as np
import pytest
from PIL import Image

from liewise.errors import DataError
from liewise.report import Band, Block, draw_bands, mosaic, write_png


def bytes_of(*shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def test_a_mosaic_holds_every_image_in_its_place():
    images = bytes_of(2, 3, 8, 8, 3)
    sheet = mosaic(images, gap=1)
    assert sheet.shape == (2 * 8 + 1, 3 * 8 + 2, 3)
    assert (sheet[9:17, 18:26] == images[1, 2]).all()
    assert (sheet[8] == 255).all()


def test_grey_and_floats_become_bytes_of_three_colours():
    images = np.full((1, 1, 8, 8, 1), 0.2, np.float32)
    assert (mosaic(images) == 51).all()
    assert mosaic(images).shape == (8, 8, 3)


def test_bands_lie_below_each_other_with_their_names_beside_them():
    above, below = bytes_of(1, 2, 8, 8, 1), bytes_of(2, 2, 8, 8, 1, seed=1)
    blocks = [Block("left", (Band("one", above), Band("two", below))), Block("right", (Band("one", above),))]
    figure = draw_bands(blocks)
    left, right = (part.axes[0] for part in figure.subfigs)
    assert [part.get_suptitle() for part in figure.subfigs] == ["left", "right"]
    assert [label.get_text() for label in left.get_yticklabels()] == ["one", "two"]
    assert [label.get_text() for label in right.get_yticklabels()] == [""]
    shown = np.asarray(left.images[0].get_array())
    assert (shown[:8] == mosaic(above)).all()
    assert (shown[-17:] == mosaic(below)).all()
    assert 8 < left.get_yticks()[1] < len(shown)


def test_blocks_go_on_below_where_they_are_too_many_for_a_row():
    figure = draw_bands([Block(str(i), (Band("", bytes_of(1, 2, 8, 8, 1)),)) for i in range(3)], across=2)
    assert [part.get_suptitle() for part in figure.subfigs if part.axes] == ["0", "1", "2"]


def test_bands_of_unequal_width_are_refused():
    with pytest.raises(DataError, match=r"equal width in a block; got \[2, 3\] columns"):
        draw_bands([Block("", (Band("", bytes_of(1, 2, 8, 8, 1)), Band("", bytes_of(1, 3, 8, 8, 1))))])


def test_a_picture_is_as_fine_as_its_bytes_allow(tmp_path):
    figure = draw_bands([Block("noise", (Band("", bytes_of(4, 4, 32, 32, 3)),))])
    fine = write_png(figure, tmp_path / "fine.png", most_bytes=10**6)
    coarse = write_png(figure, tmp_path / "coarse.png", most_bytes=20_000)
    assert coarse.stat().st_size <= 20_000 < fine.stat().st_size
    with Image.open(fine) as one, Image.open(coarse) as other:
        assert other.size < one.size
