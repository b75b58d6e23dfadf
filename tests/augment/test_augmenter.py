import pickle

import fitted
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from PIL import Image
from scipy import stats

import liewise as lw
from liewise import datasets, transforms
from liewise.augment import Augmenter
from liewise.errors import DataError, LiewiseError, NotFittedError
from liewise.sgm.augmenting import make_pool


def _forms(batch):
    """The same grey images in all forms, each with how to bring it back to bytes [n, 12, 12, 1]."""
    floats = batch / np.float32(255)
    yield batch, lambda a: a
    yield batch[..., 0], lambda a: a[..., None]
    yield np.moveaxis(batch, -1, 1), lambda a: np.moveaxis(a, 1, -1)
    yield floats, lambda a: np.rint(a * 255)
    yield floats.astype(np.float64), lambda a: np.rint(a * 255)


def test_whatever_the_form_the_versions_are_the_same_and_come_in_that_form(augment, images):
    want = augment(images, index=np.arange(24))
    assert want.shape == images.shape
    assert want.dtype == np.uint8
    assert (want != images).any((1, 2, 3)).all()
    for given, to_bytes in _forms(images):
        got = augment(given, index=np.arange(24))
        assert got.shape == given.shape
        assert got.dtype == given.dtype
        assert np.abs(to_bytes(got).astype(int) - want).max() <= 1  # where floats are rounded


def test_one_image_by_itself_is_the_one_from_the_batch(augment, images):
    batch = augment(images[:20], index=np.arange(20))
    for i in range(20):
        assert np.array_equal(augment(images[i], index=i), batch[i])
        assert np.array_equal(augment(images[i, :, :, 0], index=i), batch[i, :, :, 0])


def test_a_pil_image_comes_back_as_one(augment, images):
    made = augment(Image.fromarray(images[3, :, :, 0]), index=3)
    assert isinstance(made, Image.Image)
    assert np.array_equal(np.asarray(made), augment(images[3], index=3)[..., 0])


def test_the_parameters_say_what_was_done(model, augment, images):
    versions, drawn = augment(images, index=np.arange(24), parameters=True)
    group = model.group_
    there = group.compose(group.element(jnp.asarray(drawn.eta)), group.inverse(group.element(jnp.asarray(drawn.pose))))
    want = datasets.to_bytes(group.act(there, datasets.to_unit(images)))
    assert np.abs(np.asarray(want).astype(int) - versions).max() <= 1
    assert np.abs(group.difference(jnp.asarray(drawn.pose), jnp.asarray(model.pose(images)))).max() < 1e-4


def test_known_and_unknown_images_are_drawn_from_the_models_density(model, augment, images):
    pool = make_pool(model.parts_, images[:1], 400, jax.random.key(5))
    augment = Augmenter(augment.sampler, pool, seed=1)
    known, unknown = images[:1], images[1:2]
    for image in (known, unknown):
        drawn = augment(np.repeat(image, 400, 0), index=np.arange(400), parameters=True)[1].eta
        assert len(np.unique(drawn[:, 0])) > 200
        want = np.asarray(model.density(image).sample(jax.random.key(11), 4000))[0]
        for column in range(drawn.shape[1]):
            assert stats.ks_2samp(drawn[:, column], want[:, column]).pvalue > 1e-3


def test_epochs_go_through_the_store_and_then_come_again(augment, images):
    draw = {epoch: _in_epoch(augment, epoch, images[:4]) for epoch in range(17)}
    for image in range(4):
        assert len({draw[epoch][image].tobytes() for epoch in range(16)}) == 16
    assert np.array_equal(draw[0], draw[16])


def _in_epoch(augment, epoch, images):
    again = pickle.loads(pickle.dumps(augment))  # so that the others' epoch stays unset
    again.set_epoch(epoch)
    return again(images)


def test_in_an_epoch_the_order_and_the_batches_do_not_matter(augment, images):
    again = Augmenter(augment.sampler, augment.pool, seed=3)
    again.set_epoch(5)
    order = np.random.default_rng(0).permutation(20)
    whole = again(images[:20])
    assert np.array_equal(np.concatenate([again(images[i : i + 1]) for i in order]), whole[order])


def test_without_an_epoch_every_call_draws_anew_and_a_seed_gives_the_same_calls(augment, images):
    one, other = (Augmenter(augment.sampler, augment.pool, seed=3) for _ in range(2))
    first, second = one(images[:20]), one(images[:20])
    assert (first != second).any()
    assert np.array_equal(first, other(images[:20]))
    assert np.array_equal(second, other(images[:20]))


def test_another_seed_draws_others(augment, images):
    other = Augmenter(augment.sampler, augment.pool, seed=4)
    assert (other(images, index=np.arange(24)) != augment(images, index=np.arange(24))).any()


def test_the_store_takes_six_numbers_a_draw(augment):
    assert augment.pool.stored.shape == (20, 16, 6)


@pytest.mark.slow
def test_colour_and_mirrors_go_along():
    group = transforms.product(transforms.affine("rotation"), transforms.flips("flip-x"), transforms.colour())
    model, photos = fitted.model(group, 3), fitted.images(6, 3)
    augment = model.augmenter(photos[:3])
    versions, drawn = augment(photos, index=np.arange(6), parameters=True)
    there = group.compose(group.element(jnp.asarray(drawn.eta)), group.inverse(group.element(jnp.asarray(drawn.pose))))
    want = np.asarray(datasets.to_bytes(group.act(there, datasets.to_unit(photos))))
    assert np.mean(np.abs(want.astype(int) - versions) > 1) < 1e-3  # a hue may jump where there is no colour
    first = np.moveaxis(photos, -1, 1)
    assert np.array_equal(np.moveaxis(augment(first, index=np.arange(6)), 1, -1), versions)
    assert augment(Image.fromarray(photos[0]), index=0).mode == "RGB"


def test_what_does_not_fit_is_refused_by_name(augment, images):
    with pytest.raises(DataError, match=r"batch of 12x12x1 .* got \(24, 10, 12, 1\)"):
        augment(images[:, :10])
    with pytest.raises(DataError, match=r"uint8, or floats in .* got int64"):
        augment(images.astype(np.int64))
    with pytest.raises(DataError, match="before they are normalised"):
        augment(images / np.float32(127.5) - 1)
    with pytest.raises(DataError, match=r'convert\("L"\)'):
        augment(Image.fromarray(images[0, :, :, 0]).convert("RGB"))
    with pytest.raises(DataError, match="an array, a tensor or a PIL image; got list"):
        augment([[0, 1]])
    with pytest.raises(DataError, match="whole number as index for each of 24 images"):
        augment(images, index=3)
    with pytest.raises(LiewiseError, match="index or rng, not both"):
        augment(images[0], index=3, rng=np.random.default_rng(0))
    with pytest.raises(LiewiseError, match="epoch as a whole number"):
        augment.set_epoch(-1)


def test_a_model_is_asked_for_its_augmenter_once_it_is_fitted(model, images, tmp_path):
    with pytest.raises(NotFittedError):
        lw.SGM().augmenter(images)
    with pytest.raises(NotFittedError):
        lw.SGM().export(tmp_path / "sampler.py")
    with pytest.raises(DataError, match="as the model was fitted to"):
        model.augmenter(images[:, :10])
    with pytest.raises(LiewiseError, match="draws and threads of 1 or more"):
        model.augmenter(images, draws=0)
