"""What one asks of a fitted model, and what scikit-learn asks of any."""

import belt
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from belt import BELT, SIDE, small_model
from jaxtyping import Array, Float
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

import liewise
from liewise import transforms
from liewise.datasets import Split
from liewise.errors import DataError, LiewiseError, NotFittedError
from liewise.sgm import SGM, Density, DensityConfig, Inference
from liewise.sgm.queries import Parts, resample

IMAGES = belt.images(6, seed=1)
AS_FLOATS = (IMAGES / 255).astype(np.float32)


def test_answers_have_the_shapes_and_types_of_what_was_given(fitted):
    pose = fitted.pose(IMAGES)
    assert (pose.shape, pose.dtype) == ((6, 2), np.float32)
    assert (fitted.log_prob(IMAGES).shape, len(fitted.density(IMAGES))) == ((6,), 6)
    for given in (IMAGES, AS_FLOATS):
        found, made = fitted.prototype(given), fitted.resample(given, 3)
        assert (found.shape, found.dtype) == (given.shape, given.dtype)
        assert (made.shape, made.dtype) == ((6, 3, SIDE, SIDE, 1), given.dtype)
        rows = fitted.transform(given)
        assert (rows.shape, rows.dtype) == ((6, SIDE * SIDE), np.float32)
        assert (rows.min() >= 0, rows.max() <= 1) == (True, True)
        assert fitted.inverse_transform(rows).shape == given.shape


@pytest.mark.parametrize(
    "other",
    [
        IMAGES[..., 0],
        AS_FLOATS,
        AS_FLOATS[..., 0].astype(np.float64),
        IMAGES.tolist(),
        Split(IMAGES),
        IMAGES[..., 0] + 0,
    ],
    ids=["no channels", "floats", "doubles", "lists", "split", "copy"],
)
def test_an_image_is_the_same_however_it_is_given(fitted, other):
    assert np.allclose(fitted.pose(other), fitted.pose(IMAGES), atol=1e-6)


def test_a_dark_image_is_dark_whatever_is_in_the_batch_with_it(fitted):
    dark = np.zeros((1, SIDE, SIDE), np.uint8)
    dark[0, 2, 3] = 1
    alone = fitted.transform(dark)
    assert alone.max() < 0.02
    assert np.allclose(alone[0], fitted.transform(np.concatenate([dark, IMAGES[..., 0]]))[0], atol=1e-6)


def test_prototypes_in_their_poses_are_the_examples(fitted):
    back = fitted.inverse_transform(fitted.transform(IMAGES), fitted.pose(IMAGES))
    assert np.abs(back - AS_FLOATS).max() < 1e-5
    assert np.abs(fitted.transform(IMAGES) - AS_FLOATS.reshape(6, -1)).max() > 1e-4  # or nothing was undone


def test_prototype_and_transform_agree(fitted):
    assert np.array_equal(fitted.prototype(IMAGES), np.rint(fitted.transform(IMAGES) * 255).reshape(IMAGES.shape))


def test_the_score_is_the_density_at_the_pose(fitted):
    assert np.allclose(fitted.log_prob(IMAGES), fitted.density(IMAGES).log_prob(fitted.pose(IMAGES)), atol=1e-4)


def test_a_seed_says_which_versions_are_drawn(fitted):
    first = fitted.resample(AS_FLOATS, 2, seed=3)
    assert np.array_equal(first, fitted.resample(AS_FLOATS, 2, seed=3))
    assert np.abs(first - fitted.resample(AS_FLOATS, 2, seed=4)).max() > 0.05
    assert np.abs(first[:, 0] - first[:, 1]).max() > 0.05


def test_versions_do_not_depend_on_what_else_is_in_the_batch(fitted):
    together = fitted.resample(AS_FLOATS, 2, seed=3)
    assert np.allclose(fitted.resample(AS_FLOATS[:2], 2, seed=3), together[:2], atol=1e-5)
    others = np.concatenate([AS_FLOATS[:1], AS_FLOATS[:0:-1]])
    assert np.allclose(fitted.resample(others, 2, seed=3)[0], together[0], atol=1e-5)


def test_versions_do_not_depend_on_the_size_of_a_batch(fitted, monkeypatch):
    whole = fitted.resample(AS_FLOATS, 2, seed=3)
    monkeypatch.setattr("liewise.sgm.model._RESAMPLED", 8)  # four images at a time, and two
    assert np.allclose(fitted.resample(AS_FLOATS, 2, seed=3), whole, atol=1e-5)


class Found(Inference):
    """Finds what it was told, whatever it sees."""

    eta: Float[Array, " dim"]

    def __call__(self, examples):
        return jnp.tile(self.eta, (len(examples), 1))


def test_a_version_is_one_warp_of_the_example():
    group = transforms.affine("rotation", interpolation="bilinear")
    density = Density(
        group, (9, 9, 1), DensityConfig(features=(8,), head=(8,), family="gaussian"), key=jax.random.key(0)
    )
    parts = Parts(Found(group, jnp.array([0.7])), density)
    examples = jax.random.uniform(jax.random.key(1), (3, 9, 9, 1), minval=-1.0)
    keys = jax.random.split(jax.random.key(2), 3)
    versions = resample(parts, examples, jax.random.clone(keys), 2)
    prototypes = group.act(group.element(jnp.full((3, 1), -0.7)), examples)
    features = density.features(prototypes)
    for place in range(3):
        drawn = density.sample_from(keys[place], features[place][None], 2)[0]
        once = group.act(group.element(drawn - 0.7), jnp.repeat(examples[place][None], 2, 0))
        twice = group.act(group.element(drawn), jnp.repeat(prototypes[place][None], 2, 0))
        assert np.allclose(versions[place], once, atol=1e-4)
        assert np.abs(versions[place] - twice).max() > 0.05


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda m: m.prototype(IMAGES[:, :7]), "expected images 8x8x1, as the model was fitted to; got 7x8x1"),
        (lambda m: m.prototype(np.repeat(IMAGES, 3, -1)), "expected images 8x8x1, .* got 8x8x3"),
        (lambda m: m.prototype(IMAGES[0]), r"\(8, 8, 1\) looks like a single image: add an axis in front"),
        (lambda m: m.prototype(IMAGES[:0]), "at least one image; got none"),
        (lambda m: m.prototype(AS_FLOATS * 2 - 1), r"expected float pixels in \[0, 1\]; got \[-"),
        (lambda m: m.prototype([IMAGES[0], IMAGES[1, :5]]), "expected images of one size"),
        (lambda m: m.resample(IMAGES, 0), "expected n >= 1 versions of each image; got 0"),
        (
            lambda m: m.inverse_transform(np.zeros((2, 63))),
            r"expected rows \[n, 64\], as transform gives them; got \(2, 63\)",
        ),
        (lambda m: m.inverse_transform(np.zeros((2, 64)), np.zeros((3, 2))), r"expected η \[2, 2\], one row an image"),
        (lambda m: m.density(IMAGES).log_prob(np.zeros((5, 2), np.float32)), r"expected η \[6, 2\], .* got \(5, 2\)"),
        (lambda m: m.density(IMAGES).marginal("rotation"), "no coordinate 'rotation'; this group has along, gain"),
    ],
)
def test_a_wrong_question_is_refused_by_name(fitted, call, match):
    with pytest.raises(LiewiseError, match=match):
        call(fitted)


@pytest.mark.parametrize(
    "ask", ["pose", "prototype", "density", "resample", "log_prob", "transform", "inverse_transform"]
)
def test_nothing_can_be_asked_before_fit(ask):
    with pytest.raises(NotFittedError, match=r"not fitted yet: call fit\(images\) first"):
        getattr(SGM(), ask)(IMAGES)


def test_nothing_can_be_saved_before_fit(tmp_path):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        SGM().save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_clone_is_as_the_constructor_made_it(fitted):
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        copy.pose(IMAGES)
    check_is_fitted(fitted)
    with pytest.raises(Exception, match="not fitted yet"):
        check_is_fitted(copy)


def test_parameters_are_set_by_name_and_unknown_ones_refused():
    model = SGM()
    assert model.set_params(draws=3, seed=7) is model
    assert (model.get_params()["draws"], model.get_params()["seed"]) == (3, 7)
    assert SGM(**model.get_params()).get_params() == model.get_params()
    with pytest.raises(LiewiseError, match="SGM has no parameter 'steps'; it has group, inference_config, "):
        model.set_params(steps=3)


def test_parameters_set_after_fit_leave_the_fitted_model_as_it_is(fitted, tmp_path):
    poses, draws = fitted.pose(IMAGES), fitted.draws
    try:
        fitted.set_params(group=transforms.affine("rotation"), draws=9)
        fitted.save(tmp_path)
    finally:
        fitted.set_params(group=BELT, draws=draws)
    back = SGM.load(tmp_path, group=BELT)
    assert np.array_equal(back.pose(IMAGES), poses)
    assert back.draws == draws


def test_a_pipeline_learns_classes_from_prototypes(run):
    images = belt.images()
    labels = (images[:, 3, 4, 0] > 90).astype(int)
    pipeline = make_pipeline(small_model(), PCA(30, random_state=0), LogisticRegression(C=1e3))
    pipeline.fit(images, labels, sgm__run_dir=run[0], sgm__progress="silent")  # which is finished, so it is read
    assert pipeline.score(images, labels) > 0.9
    back = pipeline[:-1].inverse_transform(np.clip(pipeline[:-1].transform(images), -9, 9))
    assert back.shape == images.shape


def test_a_finished_run_is_only_read(run, monkeypatch):
    folder, model = run
    monkeypatch.setattr("liewise.sgm.model.fit_inference", None)  # nothing may be trained
    before = sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*") if path.name != "config.json")
    again = small_model().fit(belt.images(), run_dir=folder, progress="silent")
    assert np.array_equal(again.pose(IMAGES), model.pose(IMAGES))
    assert before == sorted((p, p.stat().st_mtime_ns) for p in folder.rglob("*") if p.name != "config.json")


def test_load_reads_a_run_as_it_reads_a_model(run):
    folder, model = run
    for back in (liewise.load(folder, group=BELT), liewise.load(folder / "model", group=BELT)):
        assert np.array_equal(back.pose(IMAGES), model.pose(IMAGES))
        assert np.array_equal(back.log_prob(IMAGES), model.log_prob(IMAGES))
        assert np.array_equal(back.resample(IMAGES, 2), model.resample(IMAGES, 2))
        assert (back.health_.keys(), back.warnings_) == (model.health_.keys(), model.warnings_)
        assert back.get_params() == {**model.get_params(), "inference_training": back.inference_training}


def test_a_data_set_that_cannot_be_an_image_says_so(fitted):
    with pytest.raises(DataError, match=r"expected images \[n, height, width\] or .*; got \(6, 64\)"):
        fitted.pose(IMAGES.reshape(6, -1))
