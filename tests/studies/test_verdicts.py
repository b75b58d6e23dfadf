"""The calibration study: its lists are consistent, its bases hold what they say, and a killed run goes on."""

import dataclasses
import json

import numpy as np
import pytest
from scipy import ndimage

from liewise import transforms
from liewise.datasets import SHAPES, SYMMETRY, Uniform
from liewise.errors import LiewiseError
from liewise.measure import judge
from liewise.sgm import Recovery
from liewise.studies import verdicts
from liewise.studies.context import Context
from liewise.studies.outcome import Measured
from liewise.studies.verdict_bases import BASES, base_images
from liewise.studies.verdict_cases import DEVELOPMENT, HELD_OUT, Case

SIZE = (28, 28)


def _asked(case):
    """Every coordinate with what is given of it, and the shape's own symmetry in degrees."""
    for label, given in [(None, case.given), *case.by_class.items()]:
        shape = case.base if label is None else SHAPES[label] if "shapes" in case.base else ""
        for name, (verdict, distribution) in given.items():
            yield name, verdict, distribution, SYMMETRY.get(shape, 360.0) if name == "rotation" else 360.0


@pytest.mark.parametrize("case", [*DEVELOPMENT, *HELD_OUT], ids=lambda case: f"{case.base}, {case.transforms}")
def test_the_rule_says_of_the_truth_itself_what_the_list_says(case):
    group = transforms.parse(case.transforms, SIZE)
    for name, verdict, distribution, symmetry in _asked(case):
        coordinate = group.coordinates[group.index(name)]
        drawn = np.stack([distribution.sample(np.random.default_rng(i), 256) for i in range(40)])
        eta = coordinate.from_user(drawn, SIZE)
        periods = None if coordinate.period is None else np.full(40, coordinate.period * symmetry / 360)
        finding = judge(coordinate, eta, size=SIZE, periods=periods)
        assert finding.verdict == verdict
        assert finding.sure > (0.5 if verdict == "full" and coordinate.period is None else 0.8)
        assert coordinate.steps or eta.min() >= coordinate.low - 0.02 or coordinate.name in ("saturation", "value")


def test_the_held_out_list_has_forty_cases_that_are_not_on_the_other():
    assert len(HELD_OUT) >= 40
    assert not [case for case in HELD_OUT if case in DEVELOPMENT]
    assert {case.base for case in (*HELD_OUT, *DEVELOPMENT)} == set(BASES)
    kinds = {verdict for case in HELD_OUT for _, verdict, _, _ in _asked(case)}
    assert kinds == {"absent", "partial", "several modes", "full"}


def test_sprites_are_drawn_in_one_pose():
    split, classes = base_images("red shapes", 12, data_dir=None, seed=0)
    assert split.images.shape == (12, *SIZE, 3)
    assert classes == SHAPES
    for label in range(3):
        assert np.ptp(split.images[split.labels == label], axis=0).max() == 0
    assert split.images[..., 1:].max() == 0


@pytest.mark.parametrize("base", ["mnist", "fashion"])
def test_digits_and_clothes_are_centred_and_digits_are_upright(base, data_dir):
    split, classes = base_images(base, 60, data_dir=data_dir, seed=0)
    assert len(classes) == 10
    middles = np.array([ndimage.center_of_mass(image) for image in split.images[..., 0].astype(float)])
    assert np.abs(middles - 13.5).max() < 0.35
    if base == "mnist":
        rows, columns = np.mgrid[:28, :28]
        slants = [
            (image * (columns - x) * (rows - y)).sum() / (image * (rows - y) ** 2).sum()
            for image, (y, x) in zip(split.images[..., 0].astype(float), middles, strict=True)
        ]
        assert np.abs(slants).max() < 0.08


def test_an_unknown_base_is_refused():
    with pytest.raises(LiewiseError, match="no base 'dogs'; there are heart"):
        base_images("dogs", 3, data_dir=None, seed=0)


def test_a_killed_run_goes_on_and_a_changed_case_is_done_again(tmp_path, monkeypatch):
    tiny = verdicts._Budget(examples=40, steps=2, density_steps=2, batch_size=8)
    monkeypatch.setattr(verdicts, "_BUDGETS", {"small": tiny})
    monkeypatch.setattr(verdicts, "_FRESH", 16)
    cases = [Case("heart", "rotation", {"rotation": DEVELOPMENT[1].given["rotation"]})]
    context = Context(folder=tmp_path, progress="silent")
    first = verdicts.run_cases(context, cases, "development")
    monkeypatch.setattr(verdicts, "_judged", None)  # whatever is done now cannot be fitted
    assert verdicts.run_cases(context, cases, "development") == first
    changed = dataclasses.replace(cases[0], transforms="rotation=90deg")
    with pytest.raises(TypeError):
        verdicts.run_cases(context, [changed], "development")
    path = next(tmp_path.rglob("00.json"))
    path.write_text(path.read_text()[:50])
    with pytest.raises(TypeError):
        verdicts.run_cases(context, cases, "development")


def test_the_table_counts_what_is_right_and_how_far_off_the_ends_are():
    coordinate = transforms.affine("rotation").coordinates[0]
    turns = np.random.default_rng(0).uniform(-0.5, 0.5, (20, 64))
    finding = judge(coordinate, turns, size=SIZE)
    right = Recovery("partial", -30.0, 30.0, 0.02, 1.0, 0.1, finding)
    wrong = Recovery("full", -171.0, 171.0, 0.4, 70.0, 0.5, finding)
    cases = [Case("heart", "rotation", {"rotation": case.given["rotation"]}) for case in DEVELOPMENT[1:8:6]]
    table, each = verdicts._outcome([(cases[0], (right,)), (cases[1], (wrong,))], "development").tables
    assert table.rows[0] == (2, 2, Measured(0.5, at_least=0.95), 0.5, Measured(0.5, at_least=0.95))
    assert [row[4:6] for row in each.rows] == [("partial", "partial"), ("full", "partial ✗")]
    assert [row[-1].met for row in each.rows] == [True, False]


def test_a_recovery_is_the_same_after_json():
    finding = judge(transforms.affine("rotation").coordinates[0], np.zeros((4, 8)), size=SIZE)
    row = Recovery("absent", 0.0, 0.0, 0.0, 0.0, 0.0, finding)
    assert Recovery.from_dict(json.loads(json.dumps(row.as_dict()))) == row
