"""Summaries and checks of a tiny run: what they need is kept, and what is wrong is said by name."""

import json
import shutil
import warnings

import numpy as np
import pytest

from liewise import SGM, datasets, load, transforms
from liewise.cli import main
from liewise.errors import DataError, LiewiseError, NotFittedError, StoreError
from liewise.sgm import Check, DensityConfig, InferenceConfig, Summary, check, density_training, inference_training
from liewise.sgm.checking import injections
from liewise.train import RunFolder

CLASSES = ("square", "ellipse", "heart")
SPRITES = datasets.load("sprites", n=280, n_test=6, size=16).train


def tiny():
    return SGM(
        transforms.affine("rotation"),
        inference_config=InferenceConfig(hidden=(8,), looks=(1, 1), looks_at_use=(1, 1)),
        density_config=DensityConfig(features=(8,), head=(8,), conditioner=(8,), layers=1, bins=4, side=16),
        inference_training=inference_training(16, batch_size=16),
        density_training=density_training(16, batch_size=16),
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    about = {"data": {"class_names": list(CLASSES)}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tiny().fit(SPRITES, run_dir=RunFolder(folder, about=about), progress="silent")
    return folder


@pytest.fixture(scope="module")
def model(run):
    return load(run)


def test_a_run_is_judged_by_the_examples_that_it_held_out_class_by_class(run, model):
    summary = model.summary()
    assert {f.among for f in summary.findings} == {"all", *CLASSES}
    assert summary.finding("rotation").examples == len(RunFolder(run).examples()["images"]) == 28
    assert model.summary() == summary
    assert Summary.from_json(summary.to_json()) == summary


def test_other_images_are_judged_with_their_labels_or_without(model):
    other = SPRITES[:60]
    assert {f.among for f in model.summary(other).findings} == {"all", *CLASSES}
    assert {f.among for f in model.summary(other.images).findings} == {"all"}
    texts = np.where(other.labels == 0, "angular", "round")
    assert {f.among for f in model.summary(other.images, texts).findings} == {"all", "angular", "round"}


def test_a_class_with_few_examples_is_left_out_by_name(model):
    labels = np.array([0] * 27 + [1] * 3)
    summary = model.summary(SPRITES.images[:30], labels, ("a", "b"))
    assert {f.among for f in summary.findings} == {"all", "a"}
    assert "fewer than 8 examples, so nothing is said about b (3)" in summary.warnings


def test_labels_are_kept_where_they_are_given_with_an_array():
    model = tiny()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(SPRITES.images[:160], [CLASSES[label] for label in SPRITES.labels[:160]], progress="silent")
    assert set(model._kept["labels"]) == set(CLASSES)


@pytest.mark.parametrize("ask", ["summary", "fit"])
@pytest.mark.parametrize(
    ("labels", "got"), [(np.zeros(29, int), "got 29"), (np.zeros((30, 3), int), r"got an array \(30, 3\)")]
)
def test_labels_of_the_wrong_length_are_refused(model, ask, labels, got):
    asked = model.summary if ask == "summary" else tiny().fit
    with pytest.raises(DataError, match=f"expected 30 labels, one an image; {got}"):
        asked(SPRITES.images[:30], labels)


def test_labels_without_a_name_are_refused(model):
    with pytest.raises(DataError, match="expected labels from 0 to 1, as there are class names; got up to 2"):
        model.summary(SPRITES.images[:30], SPRITES.labels[:30], ("a", "b"))


def test_a_model_without_examples_asks_for_some(model, tmp_path):
    model.save(tmp_path / "model")
    with pytest.raises(LiewiseError, match=r"saved without examples: give summary\(images\) some"):
        load(tmp_path / "model").summary()
    with pytest.raises(NotFittedError):
        tiny().summary()


def test_so_short_a_training_has_not_converged_or_says_nothing_of_it(model):
    assert set(model.health_) >= {"inference/falling", "density/falling"}
    assert not [text for text in model.warnings_ if "nan" in text]


def test_a_check_compares_a_control_and_each_injection(model, monkeypatch):
    monkeypatch.setattr("liewise.sgm.checking._MADE", 80)
    assert SPRITES.labels is not None
    images = SPRITES.images[SPRITES.labels == 2][:40]  # hearts: others look the same after part of a turn
    found = check(model, images, steps=16, density_steps=16, rounds=2, progress="silent")
    assert [row.expected for row in found.control] == ["absent"]
    band, modes = (given["rotation"] for given in injections(model, 2))
    assert (band.low, band.high) == pytest.approx((-72, 72))
    assert isinstance(modes, datasets.Mixture)
    for row in found.injected:
        assert row.w1 >= 0
        assert 0 <= row.ks <= 1
    assert found.prototypes == 40
    kept = json.loads(found.to_json())
    assert kept["right"] == found.right
    assert [row["expected"] for row in kept["injected"]] == [row.expected for row in found.injected]


def test_a_check_needs_some_examples(model):
    with pytest.raises(DataError, match="expected 32 examples or more to check with; got 5"):
        check(model, SPRITES.images[:5])


def _called(capsys, *arguments):
    try:
        main(list(arguments))
        code = 0
    except SystemExit as stop:
        code = stop.code
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_check_prints_a_table_and_writes_it_into_the_run_once(run, capsys, monkeypatch):
    canned = check_result(run)
    monkeypatch.setattr("liewise.sgm.check", lambda *_, **__: canned)
    monkeypatch.setenv("COLUMNS", "140")
    code, out, err = _called(capsys, "check", str(run), "--quiet")
    assert (code, err) == (0, "")
    assert "control: nothing injected" in out
    assert "of 2 verdicts are right, on 40 prototypes" in out
    assert json.loads((run / "check.json").read_text())["prototypes"] == 40
    assert _called(capsys, "check", str(run))[::2] == (
        2,
        f"liewise: {run / 'check.json'} is there already; --force replaces it\n",
    )


def check_result(run):
    """A check without its fits."""
    from liewise.sgm import Recovery

    finding = load(run).summary().finding("rotation")
    row = Recovery("absent", 0.0, 0.0, 0.5, 80.0, 0.4, finding)
    return Check((row,), (row,), 40, {"steps": 16}, 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--steps", "3"), "--steps is 16 or more; got 3"),
        (("--rounds", "0"), "--rounds is 1 or more; got 0"),
        (("--seed", "-1"), "--seed is 0 or more"),
    ],
)
def test_a_wrong_call_of_check_is_one_line_and_exit_code_2(run, capsys, arguments, message):
    code, _, err = _called(capsys, "check", str(run), *arguments)
    assert code == 2
    assert err.startswith(f"liewise: {message}")
    assert err.count("\n") == 1


def test_a_run_that_is_broken_or_unfinished_is_named(run, capsys, tmp_path):
    code, _, err = _called(capsys, "check", str(tmp_path / "none"))
    assert (code, err.count("\n")) == (2, 1)
    unfinished = shutil.copytree(run, tmp_path / "unfinished", ignore=shutil.ignore_patterns("check.json"))
    (unfinished / "result.json").unlink()
    assert "is not finished" in _called(capsys, "check", str(unfinished))[2]
    broken = shutil.copytree(run, tmp_path / "broken", ignore=shutil.ignore_patterns("check.json"))
    (broken / "examples.npz").write_bytes(b"PK")
    assert "examples.npz is missing or torn" in _called(capsys, "check", str(broken))[2]
    with pytest.raises(StoreError, match="missing or torn"):
        load(broken)
