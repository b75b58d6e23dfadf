import dataclasses
import errno
import json
import shutil
import signal
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
import tiny

from liewise.errors import StoreError
from liewise.train import CheckpointWarning, Interrupted, OptimiserConfig, TrainConfig, checkpoints, train

CONFIG = TrainConfig(steps=30, batch_size=16, log_every=1, validate_every=10, checkpoint_every=10)


def _train(run_dir, config=CONFIG, *, model=None, data=None, **options):
    options = {"validation": tiny.data(20, seed=1), "progress": "silent", **options}
    return train(model or tiny.Net(), tiny.loss, data or tiny.data(), config, run_dir=run_dir, **options)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    return folder, _train(folder)


@pytest.fixture
def copy(finished, tmp_path):
    """A finished run's folder to damage."""
    return Path(shutil.copytree(finished[0], tmp_path / "run"))


def _largest(folder):
    return max((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)


def _flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


DAMAGE = {
    "a flipped bit in the arrays": lambda folder: _flip(_largest(folder / "state"), -20),
    "a flipped bit in Orbax's metadata": lambda folder: _flip(folder / "state" / "_METADATA", 40),
    "a flipped bit in the seal": lambda folder: _flip(folder / "checkpoint.json", 200),
    "a truncated file": lambda folder: _largest(folder / "state").write_bytes(b"torn"),
    "an empty file": lambda folder: _largest(folder / "state").write_bytes(b""),
    "a missing file": lambda folder: _largest(folder / "state").unlink(),
    "a file too many": lambda folder: (folder / "state" / "guest").write_text("hello"),
    "no seal": lambda folder: (folder / "checkpoint.json").unlink(),
    "a seal that is not JSON": lambda folder: (folder / "checkpoint.json").write_text("{"),
    "nothing at all": lambda folder: [shutil.rmtree(folder), folder.mkdir()],
}


def _store(folder):
    return checkpoints.Checkpoints(folder, {"a": 1}, keep=3)


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    """Three small checkpoints."""
    import jax.numpy as jnp

    from liewise.train.devices import as_mesh, place

    folder = tmp_path_factory.mktemp("sealed")
    store = _store(folder)
    trees = {step: place({"w": jnp.arange(100.0) + step, "none": None}, as_mesh(None)) for step in (1, 2, 3)}
    for step, tree in trees.items():
        store.save(step, tree, {"note": step})
    return folder, trees


@pytest.mark.parametrize("damage", DAMAGE, ids=str)
def test_damage_is_found_and_the_checkpoint_before_is_taken(sealed, damage, tmp_path):
    folder, trees = shutil.copytree(sealed[0], tmp_path / "run"), sealed[1]
    DAMAGE[damage](folder / "000000003")
    with pytest.warns(CheckpointWarning, match="at step 3 is damaged .* set aside as broken-000000003"):
        tree, notes = _store(folder).restore(trees[1])
    assert (tree["w"] == trees[2]["w"]).all()
    assert notes == {"note": 2, "step": 2}
    assert (folder / "broken-000000003").exists()


def test_when_all_are_damaged_nothing_is_restored(sealed, tmp_path):
    folder = shutil.copytree(sealed[0], tmp_path / "run")
    for step in (1, 2, 3):
        (folder / f"00000000{step}" / "checkpoint.json").write_text("")
    with pytest.warns(CheckpointWarning, match="damaged"):
        assert _store(folder).restore(sealed[1][1]) is None


def test_a_damaged_run_goes_on_from_the_one_before_to_the_same_bits(finished, copy):
    _flip(_largest(copy / "checkpoints" / "000000030" / "state"), 100)
    with pytest.warns(CheckpointWarning, match="at step 30 is damaged"):
        result = _train(copy)
    assert tiny.same(result.last, finished[1].last)
    assert tiny.same(result.best, finished[1].best)
    assert (copy / "metrics.jsonl").read_bytes() == (finished[0] / "metrics.jsonl").read_bytes()


def test_only_the_last_few_are_kept(tmp_path, sealed):
    store = checkpoints.Checkpoints(tmp_path, {}, keep=2)
    for step in (5, 10, 15):
        store.save(step, sealed[1][1], {})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000000010", "000000015"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": tiny.Net(width=9)}, r"model .*bias is float32\[8\] there and float32\[9\] here"),
        ({"data": tiny.data(95)}, r"data .*uint8\[96, 4\] there and uint8\[95, 4\] here"),
        ({"config": dataclasses.replace(CONFIG, steps=31)}, "config steps is 30 there and 31 here"),
        ({"config": dataclasses.replace(CONFIG, optimiser=OptimiserConfig(0.5))}, "config optimiser learning_rate"),
        ({"validation": None}, "validated is True there and False here"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused_by_name(copy, change, message):
    with pytest.raises(StoreError, match=f"step 30 .* belongs to another run: {message}"):
        _train(copy, **change)


def test_a_checkpoint_of_a_newer_format_is_refused(sealed, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "_FORMAT", 9)
    _store(tmp_path).save(1, sealed[1][1], {})
    monkeypatch.undo()
    with pytest.raises(StoreError, match="has format 9; this version of liewise reads up to 1"):
        _store(tmp_path).restore(sealed[1][1])


@pytest.mark.parametrize("stage", ["_write", "_digests", "_write_seal", "sync"])
def test_a_full_disk_is_a_warning_and_harms_no_older_checkpoint(stage, sealed, tmp_path, monkeypatch):
    store = _store(tmp_path)
    store.save(1, sealed[1][1], {"note": 1})

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoints, stage, full)
    with pytest.warns(CheckpointWarning, match=r"no checkpoint at step 2 .*No space.* the one at step 1 is kept"):
        store.save(2, sealed[1][2], {"note": 2})
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["000000001"]
    tree, notes = _store(tmp_path).restore(sealed[1][1])
    assert (tree["w"] == sealed[1][1]["w"]).all()
    assert notes["note"] == 1


def test_a_disk_that_is_almost_full_is_noticed_before_anything_is_written(sealed, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    monkeypatch.setattr(checkpoints, "_write", lambda *arguments: pytest.fail("it was written"))
    with pytest.warns(CheckpointWarning, match=r"No space left .* bytes needed, 1000 free.*there is none before it"):
        _store(tmp_path).save(2, sealed[1][2], {})
    assert not list(tmp_path.iterdir())


def test_settings_that_change_no_number_may_differ(finished, copy):
    shutil.rmtree(copy / "checkpoints" / "000000030")
    result = _train(copy, dataclasses.replace(CONFIG, dispatch_steps=3, keep_checkpoints=1, checkpoint_every=None))
    assert tiny.same(result.last, finished[1].last)


class _Signalling:
    """A sink that sends this process a signal when a step is recorded."""

    def __init__(self, step, signum=signal.SIGINT):
        self._step, self._signum = step, signum

    def write(self, step, values):
        if step == self._step:
            signal.raise_signal(self._signum)

    def close(self):
        pass


def test_an_interrupted_run_goes_on_to_the_same_bits(finished, tmp_path):
    before = signal.getsignal(signal.SIGINT)
    config = dataclasses.replace(CONFIG, dispatch_steps=2, checkpoint_every=None)
    for step in (5, 17):
        with pytest.raises(Interrupted, match=r"SIGINT: stopped after step .* run it again") as caught:
            _train(tmp_path, config, sinks=[_Signalling(step)])
        assert caught.value.code == 130
    assert signal.getsignal(signal.SIGINT) is before
    result = _train(tmp_path, config)
    assert tiny.same(result.last, finished[1].last)
    assert result.history == finished[1].history
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == list(range(1, 31))


def test_without_a_run_folder_an_interruption_says_that_nothing_was_saved():
    with pytest.raises(Interrupted, match="nothing was saved, since there is no run folder"):
        _train(None, dataclasses.replace(CONFIG, dispatch_steps=2), sinks=[_Signalling(4)])


def test_training_works_outside_the_main_thread_and_leaves_handlers_alone(tmp_path):
    before, seen = signal.getsignal(signal.SIGINT), []

    class Watch(_Signalling):
        def write(self, step, values):
            seen.append(signal.getsignal(signal.SIGINT))

    config = dataclasses.replace(CONFIG, steps=2)
    thread = threading.Thread(target=_train, args=(tmp_path, config), kwargs={"sinks": [Watch(0)]})
    thread.start()
    thread.join()
    assert set(seen) == {before}
