import multiprocessing
import sys
import warnings

import numpy as np
import pytest

from liewise.augment import Augmenter
from liewise.errors import LiewiseError

FORKS = "ignore:os.fork:RuntimeWarning"  # JAX's, of any fork; the workers run none of it
THREADS = "ignore:This process.*is multi-threaded:DeprecationWarning"


def _fresh(augment):
    return Augmenter(augment.sampler, augment.pool, seed=3)


def _epochs(dataset, count, **options):
    """The images of some epochs, as one array each."""
    torch = pytest.importorskip("torch")
    loader = torch.utils.data.DataLoader(dataset, batch_size=5, **options)
    for epoch in range(count):
        dataset.augment.set_epoch(epoch)
        yield np.concatenate([batch.numpy() for batch in loader])


@pytest.mark.filterwarnings(FORKS, THREADS)
@pytest.mark.parametrize("kind", ["ByIndex", "ByPixels"])
def test_a_torch_loader_gives_the_same_stream_for_any_number_of_forked_workers(augment, images, kind):
    pytest.importorskip("torch")
    import workers

    def stream(count, **options):
        dataset = getattr(workers, kind)(images[:22], _fresh(augment))
        fork = {"multiprocessing_context": "fork"} if count else {}
        return list(_epochs(dataset, 2, num_workers=count, **fork, **options))

    want = stream(0)
    assert (want[0] != want[1]).any((1, 2, 3)).all()
    for got in (stream(1), stream(2), stream(2, persistent_workers=True)):
        assert np.array_equal(got, want)


@pytest.mark.slow
@pytest.mark.parametrize("persistent", [False, True])
def test_so_do_spawned_workers(augment, images, persistent):
    pytest.importorskip("torch")
    import workers

    want = list(_epochs(workers.ByIndex(images[:22], _fresh(augment)), 2))
    dataset = workers.ByIndex(images[:22], _fresh(augment))
    spawned = {"num_workers": 2, "multiprocessing_context": "spawn", "persistent_workers": persistent}
    assert np.array_equal(list(_epochs(dataset, 2, **spawned)), want)


def _whether_jax_is_there(augment, image, queue):
    import sys

    queue.put((augment(image, index=3), "jax" in sys.modules))


def test_a_spawned_worker_needs_no_jax(augment, images):
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    worker = context.Process(target=_whether_jax_is_there, args=(augment, images[3], queue))
    worker.start()
    made, jax_was_there = queue.get()
    worker.join()
    assert np.array_equal(made, augment(images[3], index=3))
    assert not jax_was_there


@pytest.mark.filterwarnings(FORKS, THREADS)
def test_without_an_epoch_torch_workers_draw_anew_in_each(augment, images):
    torch = pytest.importorskip("torch")
    import workers

    dataset = workers.ByPixels(images[:20], _fresh(augment))
    loader = torch.utils.data.DataLoader(dataset, batch_size=20, num_workers=1, multiprocessing_context="fork")
    first, second = (next(iter(loader)).numpy() for _ in range(2))
    assert (first != second).any()


def test_torch_tensors_of_any_layout_and_kind_come_back_as_they_were(augment, images):
    torch = pytest.importorskip("torch")
    want = augment(images, index=np.arange(24))
    for tensor in (torch.from_numpy(images), torch.from_numpy(images).permute(0, 3, 1, 2)):
        made = augment(tensor, index=np.arange(24))
        assert made.dtype == torch.uint8
        assert made.shape == tensor.shape
        assert np.array_equal(made.numpy().reshape(want.shape), want)
    half = augment(torch.from_numpy(images).permute(0, 3, 1, 2).to(torch.float16) / 255, index=np.arange(24))
    assert half.dtype == torch.float16
    assert np.abs(half.numpy()[:, 0] - want[..., 0] / 255).max() < 5e-3


def test_a_torchvision_pipeline_takes_it(augment, images):
    torch = pytest.importorskip("torch")
    try:
        from torchvision import tv_tensors
        from torchvision.transforms import v2
    except (ImportError, RuntimeError) as error:  # the latter: built for another torch
        pytest.skip(str(error))
    again = _fresh(augment)
    again.set_epoch(1)
    pipeline = v2.Compose([again, v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.5], [0.5])])
    tensor = torch.from_numpy(images[:1]).permute(0, 3, 1, 2)[0]
    want = again(images[0])[..., 0] / np.float32(127.5) - 1
    for given in (tensor, tv_tensors.Image(tensor)):
        made = pipeline(given)
        assert type(made) is type(given)
        assert np.abs(made.numpy()[0] - want).max() < 1e-5
    image = v2.ToPILImage()(tensor)
    assert np.abs(v2.Compose([again, v2.PILToTensor()])(image).numpy()[0] - again(images[0])[..., 0]).max() == 0


@pytest.mark.filterwarnings(FORKS, THREADS)
def test_grain_gives_the_same_stream_for_any_number_of_workers(augment, images):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grain = pytest.importorskip("grain.python")
    elements = [{"image": image, "label": i} for i, image in enumerate(images[:12])]
    by_field, whole = augment.for_grain("image"), augment.for_grain()
    made = list(grain.MapDataset.source(elements).seed(1).random_map(by_field))
    plain = list(grain.MapDataset.source(images[:12]).seed(1).random_map(whole))
    assert [element["label"] for element in made] == list(range(12))
    assert np.array_equal([element["image"] for element in made], plain)
    assert all((a != b).any() for a, b in zip(plain, images, strict=False))
    assert np.array_equal(plain, list(grain.MapDataset.source(images[:12]).seed(1).random_map(augment.random_map)))
    pairs = grain.MapDataset.source([(image, 1) for image in images[:3]]).seed(1).random_map(augment.for_grain(0))
    assert np.array_equal([pair[0] for pair in pairs], plain[:3])


def test_without_grain_for_grain_says_what_to_do(augment, monkeypatch):
    monkeypatch.setitem(sys.modules, "grain.python", None)
    monkeypatch.delitem(sys.modules, "liewise.augment.grain_map", raising=False)
    with pytest.raises(LiewiseError, match="pip install grain"):
        augment.for_grain()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_grain_loader_does_so_with_worker_processes(augment, images):
    grain = pytest.importorskip("grain.python")
    from absl import flags

    flags.FLAGS.mark_as_parsed()  # which a script's absl.app.run would do

    def stream(count):
        sampler = grain.IndexSampler(12, seed=0, shuffle=True, num_epochs=1, shard_options=grain.NoSharding())
        loader = grain.DataLoader(
            data_source=images[:12], sampler=sampler, operations=[augment.for_grain()], worker_count=count
        )
        return np.stack(list(loader))

    want = stream(0)
    assert sorted(map(bytes, stream(2))) == sorted(map(bytes, want))
