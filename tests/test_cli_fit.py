"""`liewise fit` and `liewise resample` as a user types them, on a few small images in colour."""

import contextlib
import functools
import io
import json
import re
import shutil

import numpy as np
import pytest
from PIL import Image

from liewise import sgm
from liewise.cli import main

IMAGES = np.random.default_rng(0).integers(40, 200, (40, 8, 8, 3), dtype=np.uint8)


def call(*arguments):
    """Run the command; the exit code."""
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return stop.code
    return 0


@pytest.fixture
def liewise(capsys):
    """The command; it returns the exit code and what was printed."""

    def run(*arguments):
        code = call(*arguments)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def options(folder, run):
    return ["fit", folder / "colours.npy", "--transforms", "value", "--out", run, "--steps", 3, "--density-steps", 3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Images as an array and as files, and a run that was fitted to them by networks as small as they get."""
    folder = tmp_path_factory.mktemp("cli")
    np.save(folder / "colours.npy", IMAGES)
    Image.fromarray(IMAGES[0]).save(folder / "one.png")
    Image.fromarray(IMAGES[1]).save(folder / "other.png")
    Image.fromarray(np.tile(IMAGES[0], (2, 3, 1))).save(folder / "large.png")
    (folder / "page.png").write_text("<html>")
    (folder / "notes").mkdir()
    (folder / "notes" / "mine.txt").write_text("")
    return folder


@pytest.fixture(scope="module")
def small(folder):
    """Small networks, as the command line has no options for them."""
    model = functools.partial(
        sgm.SGM,
        inference_config=sgm.InferenceConfig(hidden=(16,), looks=(1, 1), looks_at_use=(1, 1)),
        density_config=sgm.DensityConfig(features=(8,), head=(8,), conditioner=(8,), family="gaussian"),
    )
    with pytest.MonkeyPatch.context() as patch:
        model.load = sgm.SGM.load
        patch.setattr(sgm, "SGM", model)
        yield


@pytest.fixture(scope="module")
def fitted(folder, small):
    """The run, and what was printed."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = call(*options(folder, folder / "run"))
    assert code == 0, err.getvalue()
    return folder / "run", out.getvalue(), err.getvalue()


def test_fit_ends_with_a_table_in_the_users_units(fitted):
    run, out, err = fitted
    assert re.search(r"verdict\s+from\s+to\s+modes\s+sure", out)
    assert re.search(r"value\s+(absent|partial|several modes|full)\s+×\d\.\d\d\s+×\d\.\d\d", out)
    words = " ".join(out.split())
    assert "on 4 held-out examples: " in words
    assert f"liewise resample {run} --out grid.png" in words
    assert "stage 1 of 2, poses: value; 3 steps" in err
    assert "stage 2 of 2, densities: at most 3 steps" in err
    assert "Traceback" not in err


def test_a_finished_run_has_nothing_to_do(fitted, folder, liewise, monkeypatch):
    monkeypatch.setattr("liewise.sgm.model.fit_inference", None)
    run = fitted[0]
    code, out, err = liewise(*options(folder, run))
    assert (code, err) == (0, "")
    assert out == f"{run} holds this run, and it is finished: there is nothing to do (--force starts it anew)\n"


def test_another_command_into_the_same_folder_is_refused(fitted, folder, liewise):
    run = fitted[0]
    code, _, err = liewise(*options(folder, run), "--seed", 1)
    assert code == 2
    assert err.startswith(f"liewise: {run} holds another run: ")
    assert err.endswith("name another folder, or replace it by --force\n")


@pytest.mark.slow
def test_force_starts_anew(fitted, folder, liewise, tmp_path):
    run = shutil.copytree(fitted[0], tmp_path / "run")
    code, out, _ = liewise(*options(folder, run), "--seed", 1, "--quiet", "--force")
    assert code == 0
    assert "natural, central 95 %" in out
    config = json.loads((run / "config.json").read_text())
    assert (config["settings"]["seed"], len(config["began"])) == (1, 1)


def test_resample_draws_the_runs_own_examples(fitted, liewise, tmp_path):
    out = tmp_path / "new" / "grid.png"
    assert liewise("resample", fitted[0], "--n", 3, "--out", out) == (0, f"wrote {out}\n", "")
    with Image.open(out) as picture:
        assert picture.size[0] > 500
    code, _, err = liewise("resample", fitted[0], "--n", 3, "--out", out)
    assert (code, err) == (2, f"liewise: {out} is there already; --force replaces it\n")


def test_resample_draws_files_and_brings_them_to_size(fitted, folder, liewise, tmp_path):
    out = tmp_path / "grid.png"
    files = [folder / name for name in ("one.png", "other.png", "large.png")]
    code, _, err = liewise("resample", fitted[0], *files, "--n", 3, "--out", out)
    assert code == 2
    assert "large.png" in err
    assert "resize" in err
    code, printed, err = liewise("resample", fitted[0], *files, "--n", 3, "--out", out, "--resize", "crop")
    assert (code, printed) == (0, f"wrote {out}\n")
    assert err.startswith("note: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("{run}", "--n", "0"), "--n is 1 or more"),
        (("{run}", "--seed", "-1"), "--seed 0 or more"),
        (("{run}", "{folder}/gone.png"), "gone.png"),
        (("{run}", "{folder}/page.png"), "page.png"),
        (("{folder}/nothing",), "no model in {folder}/nothing: there is no model.json"),
        (("{folder}/notes",), "no model in {folder}/notes: there is no model.json"),
    ],
)
def test_a_wrong_resampling_is_one_line_and_exit_code_2(fitted, folder, liewise, tmp_path, arguments, message):
    places = {"run": fitted[0], "folder": folder}
    code, _, err = liewise("resample", *(a.format(**places) for a in arguments), "--out", tmp_path / "grid.png")
    assert code == 2
    assert err.startswith("liewise: ")
    assert err.count("\n") == 1
    assert message.format(**places) in err
    assert not (tmp_path / "grid.png").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--steps", "0"), "--steps is 1 or more; got 0"),
        (("--density-steps", "0"), "--density-steps is 1 or more; got 0"),
        (("--seed", "-1"), "--seed is 0 or more"),
        (("--transforms", "twist"), "no transformation 'twist'; there are affine"),
        (("--transforms", "rotation=0deg"), "and none is 0"),
        (("--split", "val"), "has no split 'val'; it has: train"),
        (("--out", "{folder}/notes"), "is not empty and holds no run of liewise"),
        (("--out", "{folder}/one.png"), "expected a folder for the run; {folder}/one.png is a file"),
    ],
)
def test_a_wrong_fit_is_one_line_and_exit_code_2(folder, liewise, tmp_path, arguments, message):
    given = ["--out", tmp_path / "run", *(a.format(folder=folder) for a in arguments)]
    code, _, err = liewise("fit", folder / "colours.npy", *given)
    assert code == 2
    assert err.startswith("liewise: ")
    assert err.count("\n") == 1
    assert message.format(folder=folder) in err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("images", "transforms", "message"),
    [
        (IMAGES[:2], "value", "expected 16 images or more to learn from; got 2"),
        (IMAGES[..., :1], "hue", "colour needs images [height, width, 3]; got (8, 8, 1)"),
        (IMAGES[:, :7], "value", "expected images of 8x8 pixels or more; got 7x8"),
        (np.full((20, 8, 8, 1), np.nan), "rotation", "expected finite pixels; got NaN or infinity in 20 images"),
        (np.zeros((20, 8, 8, 1), np.uint8), "rotation", "of 20 images, 20 are constant"),
    ],
)
def test_data_that_cannot_be_learned_from_are_one_line_and_exit_code_2(liewise, tmp_path, images, transforms, message):
    np.save(tmp_path / "images.npy", images)
    code, _, err = liewise("fit", tmp_path / "images.npy", "--transforms", transforms, "--out", tmp_path / "run")
    assert code == 2
    assert err.startswith("liewise: ")
    assert err.count("\n") == 1
    assert message in err
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_sprites_are_fitted_and_resampled_by_the_default_networks(liewise, tmp_path):
    run = tmp_path / "run"
    wanted = ["--size", 16, "--transforms", "rotation", "--steps", 2, "--density-steps", 2]
    code, out, _ = liewise("fit", "sprites", *wanted, "--out", run)
    assert code == 0
    assert re.search(r"rotation\s+\S+°\s+\S+°\s+-180° … \+180°", out)
    assert liewise("resample", run, "--n", 2, "--out", tmp_path / "grid.png")[0] == 0
