"""The dSprites archive: the rows drawn are those whose factors were drawn, in little memory."""

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from liewise import datasets
from liewise.datasets import SHAPES, Constant, Uniform
from liewise.datasets.dsprites import _draw_rows, read_rows, row_factors
from liewise.errors import DataError

RNG = np.random.default_rng(0)
SMALL = RNG.integers(0, 2, (5_000, 64, 64), dtype=np.uint8)
NAME = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive in the real one's format, with a pickle in it as the real one has."""
    path = tmp_path_factory.mktemp("archive") / "small.npz"
    np.savez_compressed(path, metadata=np.array({"a": 1}, dtype=object), imgs=SMALL)
    return path


@pytest.mark.parametrize("rows", [[0], [4_999], [7, 3, 3, 4_100, 0], list(range(5_000))])
def test_rows_are_read_in_the_order_asked_with_repeats(small: Path, rows: list[int]):
    assert np.array_equal(read_rows(small, np.array(rows), SMALL.shape), SMALL[rows])


def test_an_archive_that_is_torn_or_foreign_is_refused_by_name(small: Path, tmp_path: Path):
    with pytest.raises(DataError, match=r"expected 'imgs' as uint8 \(6000, 64, 64\) in .*small.npz; got uint8"):
        read_rows(small, np.array([0]), (6_000, 64, 64))
    torn = tmp_path / "torn.npz"
    torn.write_bytes(small.read_bytes()[:-5_000])
    with pytest.raises(DataError, match=r"torn\.npz is torn or not the dSprites archive"):
        read_rows(torn, np.array([0]), SMALL.shape)
    np.savez(tmp_path / "other.npz", x=SMALL[:2])
    with pytest.raises(DataError, match=r"other\.npz is torn or not the dSprites archive.*imgs"):
        read_rows(tmp_path / "other.npz", np.array([0]), SMALL.shape)
    short = tmp_path / "short.npz"
    with zipfile.ZipFile(small) as whole, zipfile.ZipFile(short, "w") as cut:
        cut.writestr("imgs.npy", whole.read("imgs.npy")[:-4096])
    with pytest.raises(DataError, match="'imgs' ends after row 4999"):
        read_rows(short, np.array([4_999]), SMALL.shape)


def test_rows_drawn_have_the_values_nearest_to_those_drawn():
    spec = {
        "scale": Constant(0.83),
        "orientation": Constant(356.0),
        "x": Constant(0.5),
        "y": Uniform(0.9, 1.0),
    }
    rows = _draw_rows(np.random.default_rng(0), np.full(500, 2), dict.fromkeys(SHAPES, spec))
    labels, factors = row_factors(rows)
    assert set(labels) == {2}
    np.testing.assert_allclose(factors["scale"], 0.8)
    assert set(factors["orientation"]) == {0.0}  # 356 is nearer to a whole turn, which is none
    np.testing.assert_allclose(factors["x"], 0.5, atol=0.5 / 31)
    np.testing.assert_allclose(np.unique(factors["y"]), np.array([28, 29, 30, 31]) / 31)


def test_what_the_archive_does_not_have_is_refused():
    spec = {"square": {"scale": Constant(2.0)}}
    with pytest.raises(DataError, match="expected scale within the archive's range; got 2 to 2"):
        _draw_rows(np.random.default_rng(0), np.zeros(3, int), spec)


def test_uniform_rows_reach_every_value():
    rows = _draw_rows(np.random.default_rng(0), np.arange(3_000) % 3, "uniform")
    labels, factors = row_factors(rows)
    assert np.bincount(labels).tolist() == [1_000] * 3
    assert len(np.unique(factors["orientation"])) == 40
    assert len(np.unique(factors["x"])) == len(np.unique(factors["y"])) == 32


@pytest.fixture(scope="module")
def archive_dir(data_dir: Path) -> Path:
    """The data directory, if the real archive lies there."""
    if not (data_dir / "dsprites" / NAME).is_file():
        pytest.skip("no dSprites archive here")
    return data_dir


def test_the_real_archive_confirms_the_factors_of_its_rows(archive_dir: Path):
    rows = np.random.default_rng(1).choice(737_280, 5_000, replace=False)
    with np.load(archive_dir / "dsprites" / NAME, allow_pickle=False) as held:
        truth = held["latents_values"][rows]
    labels, factors = row_factors(rows)
    np.testing.assert_allclose(truth[:, 1] - 1, labels)
    np.testing.assert_allclose(truth[:, 2], factors["scale"])
    np.testing.assert_allclose(np.degrees(truth[:, 3]), factors["orientation"])
    np.testing.assert_allclose(truth[:, 4], factors["x"])
    np.testing.assert_allclose(truth[:, 5], factors["y"])


def test_the_real_archive_loads_with_the_papers_factors(archive_dir: Path):
    data = datasets.load("dsprites", data_dir=archive_dir, n=300, n_test=30, seed=1)
    assert set(np.unique(data.train.images)) == {0, 255}
    assert np.bincount(data.train.labels).tolist() == [100, 100, 100]
    hearts = data.train[data.train.labels == 2]
    assert set(hearts.factors["orientation"].values) == {0.0}
    rows, columns = np.indices((64, 64)) - 31.5
    mass = hearts.images[..., 0].sum((1, 2), dtype=float)
    seen_x = (hearts.images[..., 0] * columns).sum((1, 2)) / mass
    np.testing.assert_allclose(seen_x, hearts.factors["x"].values, atol=0.5)
    seen_y = (hearts.images[..., 0] * rows).sum((1, 2)) / mass
    # a heart's mass lies a little above the middle of its box
    assert np.ptp(seen_y - hearts.factors["y"].values) < 0.6


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
def test_drawing_from_the_real_archive_takes_little_memory(archive_dir: Path, tmp_path: Path):
    code = (
        "from liewise import datasets;"
        f"datasets.load('dsprites', data_dir={str(archive_dir)!r}, n=10_000, n_test=2_000);"
        "print(open('/proc/self/status').read())"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    peak = next(line for line in done.stdout.splitlines() if line.startswith("VmHWM"))
    assert int(peak.split()[1]) < 500_000, "kB, the whole process, JAX included"
