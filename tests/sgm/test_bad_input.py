"""What cannot be learned from is refused by name, before any training; what is odd but sound is taken."""

import json
import shutil

import belt
import jax
import numpy as np
import pytest
from belt import BELT, small_model

import liewise
from liewise import transforms
from liewise.errors import DataError, LiewiseError, StoreError, TransformError
from liewise.sgm import SGM, DensityConfig
from liewise.sgm.examples import held_out_places
from liewise.transforms import Additive, Coordinate

GOOD = belt.images()
NOISE = np.random.default_rng(0).integers(0, 256, (20, 16, 16, 1), dtype=np.uint8)


@pytest.fixture
def untrained(monkeypatch):
    """Let every training fail."""

    def fail(*arguments, **options):
        raise AssertionError("it was trained")

    monkeypatch.setattr("liewise.sgm.model.fit_inference", fail)
    monkeypatch.setattr("liewise.sgm.model.fit_density", fail)


def with_one(value):
    images = (GOOD / 255).astype(np.float32)
    images[5, 2, 3] = value
    return images


@pytest.mark.parametrize(
    ("images", "match"),
    [
        (GOOD[:0], "expected at least one image; got none"),
        ([], r"expected images \[n, height, width\] or .*; got \(0,\)"),
        (GOOD[:2], "expected 16 images or more to learn from; got 2"),
        (GOOD[:1], "expected 16 images or more to learn from; got 1"),
        (np.full_like(GOOD, 7), "48 of 48 images are constant .* nothing can be learned there"),
        (np.zeros_like(GOOD), "48 of 48 images are constant"),
        (np.repeat(GOOD[:1], 20, 0), "all 20 images are the same: there is nothing that varies"),
        (with_one(np.nan), "expected finite pixels; got NaN or infinity, first in image 5"),
        (with_one(np.inf), "expected finite pixels; got NaN or infinity, first in image 5"),
        (with_one(255.0), r"expected float pixels in \[0, 1\]; got \[.*, 255\]"),
        (with_one(-1.0), r"expected float pixels in \[0, 1\]; got \[-1, "),
        (GOOD > 90, None),
        ((GOOD > 90).astype(np.uint8), "got 0 and 1 alone: give those as booleans or as floats"),
        (GOOD.astype(int) - 50, "expected integer pixels from 0 to 255"),
        (GOOD + 1j, "expected pixels as integers or floats; got complex128"),
        (GOOD[0, :, :, 0], r"expected images \[n, height, width\] or .*; got \(8, 8\)"),
        (GOOD[0], "looks like a single image: add an axis in front"),
        (GOOD[None], r"expected images .*; got \(1, 48, 8, 8, 1\)"),
        (GOOD.reshape(48, -1), r"expected images .*; got \(48, 64\)"),
        (np.repeat(GOOD, 2, -1), r"expected 1, 3 or 4 channels, first or last; got \(48, 8, 8, 2\)"),
        (GOOD[:, :7], "expected images of 8x8 pixels or more; got 7x8"),
        (GOOD[:, :, :5], "expected images of 8x8 pixels or more; got 8x5"),
        ([image[: 6 + i % 2] for i, image in enumerate(GOOD)], "expected images of one size"),
        ("mnist", r"expected images \[n, height, width\] or .*; got \(\)"),
    ],
)
def test_images_that_nothing_can_be_learned_from_are_refused(untrained, images, match):
    error, match = (AssertionError, "it was trained") if match is None else (DataError, match)
    with pytest.raises(error, match=match):
        small_model().fit(images, progress="silent")


def test_channels_may_come_first_where_that_is_clear(untrained):
    with pytest.raises(AssertionError, match="it was trained"):
        small_model().fit(np.moveaxis(np.repeat(NOISE, 3, -1), -1, 1), progress="silent")


class Series(Additive):
    """Delays of signals [batch, time]."""

    def act(self, element, examples):
        time = examples.shape[1]
        cycles = np.fft.rfftfreq(time)[None, :] * time
        return jax.numpy.fft.irfft(jax.numpy.fft.rfft(examples) * jax.numpy.exp(-2j * np.pi * cycles * element), time)


class Smaller(Additive):
    """Halves images."""

    def act(self, element, examples):
        return examples[:, ::2]


LINE = (Coordinate("delay", "", "later", -0.5, 0.5),)


@pytest.mark.parametrize(
    ("group", "images", "match"),
    [
        (transforms.colour("hue"), NOISE, r"colour needs images \[height, width, 3\]; got \(16, 16, 1\)"),
        (
            transforms.product(transforms.affine("rotation"), transforms.colour()),
            NOISE,
            r"colour needs images \[height, width, 3\]; got \(16, 16, 1\)",
        ),
        (
            transforms.affine(box=dict.fromkeys(transforms.affine().names, 0.0)),
            NOISE,
            "the random box of .* has no width",
        ),
        (
            transforms.colour("value", box={"value": 0.0}),
            np.repeat(NOISE, 3, -1),
            "the random box of value has no width",
        ),
        (Series(LINE), NOISE, "Series cannot act on images 16x16x1: "),
        (Smaller(LINE), NOISE, "expected Smaller to give back images 16x16x1; it does not"),
        ("affine", NOISE, r"expected a group, as transforms.affine\(\) makes one; got 'affine'"),
    ],
    ids=["hue of grey", "colour of grey", "no box", "no box of one", "signals", "halves", "a word"],
)
def test_groups_that_do_not_suit_the_images_are_refused(untrained, group, images, match):
    with pytest.raises(TransformError, match=match):
        SGM().set_params(group=group).fit(images, progress="silent")


def test_signals_are_not_taken_for_images(untrained):
    with pytest.raises(DataError, match=r"expected images \[n, height, width\] or .*; got \(20, 64\)"):
        small_model(Series(LINE)).fit(np.random.default_rng(0).random((20, 64)), progress="silent")


def test_colour_images_may_go_with_a_group_that_leaves_colour_alone(untrained):
    with pytest.raises(AssertionError, match="it was trained"):
        small_model(transforms.affine("rotation")).fit(np.repeat(NOISE, 3, -1), progress="silent")


def test_one_coordinate_may_be_without_width(untrained):
    group = transforms.affine("rotation", "shift-x", box={"shift-x": 0.0})
    with pytest.raises(AssertionError, match="it was trained"):
        small_model(group).fit(NOISE, progress="silent")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"draws": 0}, "expected draws >= 1; got 0"),
        ({"validation": 0.0}, "expected validation as a fraction between 0 and 1; got 0.0"),
        ({"validation": 1.0}, "expected validation as a fraction between 0 and 1; got 1.0"),
        ({"validation": float("nan")}, "expected validation as a fraction between 0 and 1; got nan"),
        ({"consistency": -1.0}, "expected a finite consistency >= 0; got -1.0"),
        ({"consistency": float("nan")}, "expected a finite consistency >= 0; got nan"),
        ({"seed": -1}, r"expected 0 <= seed < 2\*\*31; got -1"),
    ],
)
def test_settings_out_of_range_are_refused(untrained, options, match):
    with pytest.raises(LiewiseError, match=match):
        small_model(**options).fit(GOOD, progress="silent")


def test_bounds_without_room_are_refused_before_stage_1(untrained):
    model = SGM(transforms.affine("rotation", "scale-x"), density_config=DensityConfig(bounded=True))
    with pytest.raises(
        LiewiseError, match=r"a bounded density needs a box with low < high; that of 'scale-y' is 0.0, 0.0"
    ):
        model.fit(NOISE, progress="silent")  # completing the group added it


@pytest.mark.parametrize("validation", [1e-9, 0.1, 0.5, 0.999])
def test_something_is_held_out_and_something_is_learned_from(validation):
    training, held_out = held_out_places(16, validation, seed=0)
    assert min(len(training), len(held_out)) >= 1
    assert sorted([*training, *held_out]) == list(range(16))


@pytest.fixture
def folder(run, tmp_path):
    """A copy of a finished run's folder, to break."""
    return shutil.copytree(run[0], tmp_path / "run")


def fit_into(folder, images=GOOD, **options):
    return small_model(**options).fit(images, run_dir=folder, progress="silent")


def edit(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def tear(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize(
    ("harm", "match"),
    [
        (lambda f: tear(next(f.glob("model/*.safetensors"))), "is torn or changed: its checksum"),
        (lambda f: tear(f / "model" / "model.json"), "model.json is torn or not a model of liewise"),
        (lambda f: next(f.glob("model/*.safetensors")).unlink(), "lacks its arrays"),
        (lambda f: shutil.rmtree(f / "model"), "no model in .*: there is no model.json"),
        (lambda f: edit(f / "model" / "model.json", lambda c: c.update(kind="vae")), "of kind 'sgm' in .*; got 'vae'"),
        (lambda f: edit(f / "model" / "model.json", lambda c: c.update(format=99)), "has format 99, .* upgrade it"),
        (
            lambda f: edit(f / "model" / "model.json", lambda c: c["config"].pop("health")),
            "not one of this version: it lacks health",
        ),
        (
            lambda f: edit(f / "model" / "model.json", lambda c: c["config"].pop("draws")),
            "not one of this version: it lacks draws",
        ),
        (
            lambda f: edit(f / "model" / "model.json", lambda c: c["config"]["density_config"].update(flow="x")),
            "DensityConfig has no flow; the file is of another version",
        ),
        (
            lambda f: edit(f / "model" / "model.json", lambda c: c["config"]["density_config"].update(features=[9])),
            r"expected .* as float32\[",
        ),
        (
            lambda f: edit(f / "config.json", lambda c: c.update(format=99)),
            "the run in .* has format 99; .* upgrade it",
        ),
        (lambda f: (f / "result.json").unlink(), "is not finished: give the same command again, and it goes on"),
    ],
)
def test_a_folder_that_holds_no_sound_model_is_refused(folder, harm, match):
    harm(folder)
    with pytest.raises(StoreError, match=match):
        liewise.load(folder, group=BELT)


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(StoreError, match=r"no model in .*nothing: there is no model.json"):
        liewise.load(tmp_path / "nothing")


def test_the_group_of_ones_own_has_to_be_given_and_to_be_the_one(folder):
    with pytest.raises(StoreError, match=r"the model's group, Belt, is not one of liewise's: give it, by load"):
        liewise.load(folder)
    for other in (transforms.affine("rotation", "scale"), BELT.with_box({"gain": 0.1}), Series(BELT.coordinates)):
        with pytest.raises(StoreError, match="the group given is not the one that the model was fitted with"):
            liewise.load(folder, group=other)


def test_a_run_of_something_else_is_not_gone_on_with(untrained, folder, tmp_path):
    before = (folder / "config.json").read_bytes()
    for options, match in [
        ({"draws": 3}, "holds another run: draws is 2 there and 3 here"),
        ({"seed": 1}, "holds another run: density_training seed is 0 there and 1 here"),
        ({"group": BELT.with_box({"gain": 0.1})}, "holds another run: group coordinates"),
        ({"images": GOOD[::-1]}, "holds another run: images sha256"),
    ]:
        with pytest.raises(StoreError, match=match):
            fit_into(folder, **options)
    assert (folder / "config.json").read_bytes() == before


def test_a_run_of_another_version_is_not_gone_on_with(untrained, folder):
    edit(folder / "config.json", lambda c: c.update(format=99))
    with pytest.raises(StoreError, match=r"has format 99; this is liewise .* upgrade it"):
        fit_into(folder)


def test_a_folder_with_something_else_in_it_is_left_alone(untrained, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match="is not empty and holds no run of liewise: name a folder of its own"):
        fit_into(tmp_path)
    with pytest.raises(StoreError, match=r"expected a folder for the run; .*notes.txt is a file"):
        fit_into(tmp_path / "notes.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_bad_input_leaves_no_folder_behind(untrained, tmp_path):
    with pytest.raises(DataError):
        fit_into(tmp_path / "run", images=GOOD[:2])
    assert not (tmp_path / "run").exists()


def test_a_model_that_learned_nothing_says_so(run):
    (complaint,) = run[1].warnings_
    assert "hardly invariant" in complaint
