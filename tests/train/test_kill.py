import random
import signal
import time

import jobs
import numpy as np
import pytest

CONFIG = {
    "steps": 400,
    "batch_size": 16,
    "log_every": 5,
    "validate_every": 50,
    "checkpoint_every": 20,
    "dispatch_steps": 10,
}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    jobs.finish(jobs.start(folder, config=CONFIG, run_dir=str(folder / "run")))
    return jobs.outcome(folder), (folder / "run" / "metrics.jsonl").read_text()


def _has_begun(run):
    checkpoints = run / "checkpoints"
    return checkpoints.exists() and any(checkpoints.iterdir())


def _kill_and_resume(folder, kills: int, seed: int, **options):
    """Kill a run so many times, a random while after it has something to lose; how often a save was hit."""
    moments, run, hits = random.Random(seed), folder / "run", 0
    for _ in range(kills):
        process = jobs.start(folder, config=CONFIG, run_dir=str(run), **options)
        while not _has_begun(run) and process.poll() is None:
            time.sleep(0.01)
        if "slow_save" in options:  # wait until a save is under way
            while process.poll() is None and not list((run / "checkpoints").glob(".saving-*")):
                time.sleep(0.005)
        else:
            time.sleep(2.0)  # it has to start, and to compile
        time.sleep(moments.uniform(0.0, 0.6))
        process.kill()
        process.communicate()
        hits += any((run / "checkpoints").glob(".saving-*"))
    jobs.finish(jobs.start(folder, config=CONFIG, run_dir=str(run)))
    return hits


def _is_as_if_never_killed(folder, uninterrupted):
    arrays, metrics = uninterrupted
    found = jobs.outcome(folder)
    assert found.keys() == arrays.keys()
    assert all(np.array_equal(found[name], arrays[name]) for name in arrays)
    assert (folder / "run" / "metrics.jsonl").read_text() == metrics


def test_a_run_killed_during_saves_ends_bitwise_as_one_never_killed(uninterrupted, tmp_path):
    hits = _kill_and_resume(tmp_path, kills=2, seed=0, slow_save=0.05)
    assert hits >= 1
    _is_as_if_never_killed(tmp_path, uninterrupted)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_run_killed_at_random_moments_ends_bitwise_as_one_never_killed(uninterrupted, seed, tmp_path):
    _kill_and_resume(tmp_path, kills=3, seed=seed, slow_steps=0.05)
    _is_as_if_never_killed(tmp_path, uninterrupted)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
def test_a_run_killed_during_many_saves_ends_bitwise_as_one_never_killed(uninterrupted, seed, tmp_path):
    assert _kill_and_resume(tmp_path, kills=5, seed=seed, slow_save=0.05) >= 2
    _is_as_if_never_killed(tmp_path, uninterrupted)


@pytest.mark.parametrize("signum", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_signal_saves_and_exits_with_the_shells_status(signum, tmp_path):
    run = tmp_path / "run"
    process = jobs.start(tmp_path, config={**CONFIG, "steps": 100_000}, run_dir=str(run), slow_steps=0.01)
    while not _has_begun(run):
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.02)
    process.send_signal(signum)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + signum
    last = max(int(path.name) for path in (run / "checkpoints").iterdir())
    assert f"{signum.name}: stopped after step {last}; run it again to go on from step {last}" in output
    assert "Traceback" not in output
