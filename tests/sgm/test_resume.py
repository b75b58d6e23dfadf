"""A fit that is cut off goes on to the same model, to the bit."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import belt
import numpy as np
import pytest

import liewise
from liewise.errors import StoreError

_HERE = Path(__file__).parent
_SECONDS = 600  # a shared machine may be busy


def start(arguments, **options):
    path = os.pathsep.join([str(_HERE), str(Path(liewise.__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu"}
    return subprocess.Popen([sys.executable, *map(str, arguments)], env=environment, text=True, **options)


def fit(folder, pause=0.0):
    job = [_HERE / "fit_job.py", folder, pause]
    return start(job, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def wait_for(process, path):
    """Wait until something lies at a path, as long as the process lives."""
    while not list(path.parent.glob(path.name)):
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.01)


def finish(process):
    output, _ = process.communicate(timeout=_SECONDS)
    assert process.returncode == 0, output
    return output


def arrays(folder):
    (file,) = (folder / "model").glob("*.safetensors")
    return file.name, file.read_bytes()


@pytest.mark.slow
def test_a_fit_killed_in_each_stage_ends_bitwise_as_one_never_killed(tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    finish(fit(whole))
    for stage in ("inference", "density"):
        process = fit(cut, pause=0.02)
        wait_for(process, cut / stage / "checkpoints" / "0*")
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert not (cut / "result.json").exists()
        with pytest.raises(StoreError, match="is not finished: give the same command again"):
            liewise.load(cut, group=belt.BELT)
    said = finish(fit(cut))
    assert "going on with the run in" in said
    assert "going on from step" in said
    assert arrays(cut) == arrays(whole)
    for stage in ("inference", "density"):
        metrics = [(folder / stage / "metrics.jsonl").read_text() for folder in (whole, cut)]
        assert metrics[0] == metrics[1]
    assert not list(cut.glob("*/checkpoints"))  # only going on needed them
    images = belt.images(4)
    one, other = (liewise.load(folder, group=belt.BELT).log_prob(images) for folder in (whole, cut))
    assert np.array_equal(one, other)


@pytest.mark.slow
def test_ctrl_c_exits_with_130_and_one_line_that_says_how_to_go_on(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (40, 8, 8, 3), dtype=np.uint8)
    np.save(tmp_path / "colours.npy", images)
    run = tmp_path / "run"
    command = ["-m", "liewise", "fit", tmp_path / "colours.npy", "--transforms", "value", "--out", run, "--quiet"]
    command += ["--steps", "100000", "--density-steps", "20"]
    process = start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(process, run / "inference" / "metrics.jsonl")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=_SECONDS)
    assert (process.returncode, out) == (130, ""), err
    (line,) = err.splitlines()
    assert line.startswith("SIGINT: stopped after step ")
    assert "run it again to go on from step " in line
