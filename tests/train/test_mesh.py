import jax
import jobs
import numpy as np
import pytest
import tiny
from jax.sharding import Mesh

from liewise.train import TrainConfig, TrainError, train

CONFIG = {"steps": 40, "batch_size": 16, "log_every": 1, "validate_every": 15, "dispatch_steps": 8}


@pytest.fixture(scope="module")
def on_one_device(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one")
    jobs.finish(jobs.start(folder, config=CONFIG))
    return jobs.outcome(folder)


def _same_losses(a, b):
    assert np.array_equal(a["steps"], b["steps"])
    assert len(a["losses"]) == 40
    assert np.allclose(a["losses"], b["losses"], rtol=0, atol=1e-5)
    assert np.allclose(a["scores"], b["scores"], rtol=0, atol=1e-5)


@pytest.mark.parametrize("resident_bytes", [None, 0])
def test_eight_devices_give_the_losses_of_one(on_one_device, resident_bytes, tmp_path):
    config = {**CONFIG, "resident_bytes": resident_bytes}
    jobs.finish(jobs.start(tmp_path, devices=8, config=config))
    _same_losses(on_one_device, jobs.outcome(tmp_path))
    assert on_one_device["shares"].tolist() == [16]
    assert jobs.outcome(tmp_path)["shares"].tolist() == [2]


def _pair(folder, **options):
    address = jobs.free_address()
    return [jobs.start(folder, name=f"job{i}", process=i, address=address, **options) for i in range(2)]


def test_two_processes_give_the_losses_of_one_and_resume_as_one(on_one_device, tmp_path):
    run = str(tmp_path / "run")
    shorter = {**CONFIG, "checkpoint_every": 10}
    for process in _pair(tmp_path, config=shorter, run_dir=run):
        jobs.finish(process)
    _same_losses(on_one_device, jobs.outcome(tmp_path, "job0"))
    assert jobs.outcome(tmp_path, "job0")["shares"].tolist() == [8]
    alone = tmp_path / "alone"
    alone.mkdir()
    assert "going on from step 40" in jobs.finish(jobs.start(alone, config=CONFIG, run_dir=run))
    _same_losses(on_one_device, jobs.outcome(alone))


@pytest.mark.slow
def test_a_signal_to_one_of_two_processes_stops_both_at_the_same_step(tmp_path):
    run = tmp_path / "run"
    config = {**CONFIG, "steps": 4000, "log_every": 8}
    processes = _pair(tmp_path, config=config, run_dir=str(run), slow_steps=0.02)
    metrics = run / "metrics.jsonl"
    while not (metrics.exists() and metrics.stat().st_size):
        assert processes[0].poll() is None, processes[0].communicate()[0]
    processes[1].terminate()
    codes = []
    for process in processes:
        process.communicate(timeout=60)
        codes.append(process.returncode)
    assert codes == [143, 143]
    assert len(list((run / "checkpoints").iterdir())) == 1


@pytest.mark.slow
def test_a_full_disk_on_one_of_two_processes_stops_neither(on_one_device, tmp_path):
    config = {**CONFIG, "checkpoint_every": 10}
    outputs = [
        jobs.finish(process)
        for process in _pair(tmp_path, config=config, run_dir=str(tmp_path / "run"), full_disk=True)
    ]
    assert "no checkpoint at step 40 (OSError: [Errno 28] No space left" in outputs[0]
    assert "another process could not write its part" in outputs[1]
    _same_losses(on_one_device, jobs.outcome(tmp_path, "job0"))


def test_a_batch_that_devices_cannot_share_evenly_is_refused(tmp_path):
    process = jobs.start(tmp_path, devices=8, config={**CONFIG, "batch_size": 12})
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "8 devices can share evenly; got 12 from step 0 on" in output


def test_a_mesh_without_a_batch_axis_is_refused():
    mesh = Mesh(np.array(jax.devices()), ("model",))
    with pytest.raises(TrainError, match=r"a mesh with an axis 'batch'; got axes \('model',\)"):
        train(tiny.Net(), tiny.loss, tiny.data(), TrainConfig(steps=1), mesh=mesh, progress="silent")
