"""Summaries as people and programs read them, and the doubts that go with them."""

import dataclasses
import json
import math

import numpy as np
import pytest

from liewise import transforms
from liewise.errors import LiewiseError, StoreError
from liewise.measure import Finding
from liewise.sgm import Summary
from liewise.sgm.doubts import cut_by_the_frame, narrow_boxes, noisy_poses, unseen
from liewise.sgm.health import complaints, still_falling
from liewise.train import Result

GROUP = transforms.product(transforms.affine("shift-x", "rotation", "scale"), transforms.flips("flip-x"))
SHIFT, ROTATION, SCALE, FLIP = GROUP.coordinates
HEALTH = {"examples": 128.0, "ratio/mean": 0.02, "floor/mean": 0.01, "ink": 0.98, "round trip/plain": 1.1}


def finding(coordinate, verdict="partial", low=-10.0, high=10.0, among="all", modes=(), examples=200, notes=()):
    box = tuple(float(coordinate.to_user(end, (28, 28))) for end in (coordinate.low, coordinate.high))
    return Finding(coordinate, among, verdict, low, high, modes, box, 0.97, examples, notes)


def example():
    return Summary(
        (
            finding(SHIFT, "absent", -0.2, 0.2),
            finding(ROTATION, "several modes", -100.0, 100.0, modes=(-90.0, 90.0)),
            finding(SCALE, "full", 0.78, 1.28),
            finding(FLIP, "full", 0.0, 0.5),
            finding(ROTATION, among="squares", examples=70, notes=("100% look the same after 90°",)),
            finding(ROTATION, "absent", 0.0, 0.0, among="discs", examples=0, notes=("none of the examples changes",)),
        ),
        ("rotation cannot be identified: most of discs (100%) look the same after it",),
        HEALTH | {"round trip": math.nan},
    )


def test_the_table_shows_verdicts_intervals_boxes_classes_and_warnings():
    text = str(example())
    assert max(map(len, text.splitlines())) <= 120
    for expected in (
        "all examples (200)",
        "squares (70)",
        "-90°, +90°",
        "±3.4 px",
        "×0.78",
        "50% other",
        "both ways",
        "100% look the same after",
        "warning: rotation cannot be identified",
        "2.0% of the variance",
    ):
        assert expected in text


def test_the_words_are_sentences_with_units():
    words = example().words()
    assert words[0] == "shift-x is absent: 95 % of natural versions lie between -0.2 px and +0.2 px (sure: 0.97)."
    assert words[1].startswith("rotation has several modes, at -90° and +90°, within -100° to +100°")
    assert words[2].startswith("scale is full: ×0.78 to ×1.28, and perhaps further")
    assert words[3].startswith("flip-x is full: 50% of natural versions are mirrored")
    assert words[4].endswith("(sure: 0.97). 100% look the same after 90°.")
    assert words[5] == "discs: rotation cannot be told. None of the examples changes."
    assert words[-1].startswith("Warning: rotation cannot be identified")


def test_a_summary_is_the_same_after_json():
    summary = dataclasses.replace(example(), health=HEALTH)
    assert Summary.from_json(summary.to_json()) == summary
    assert json.loads(example().to_json())["health"]["round trip"] is None
    assert math.isnan(Summary.from_json(example().to_json()).health["round trip"])


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"format": 1, "findings": [{}], "warnings": [], "health": {}}'])
def test_what_is_no_summary_is_refused(text):
    with pytest.raises(StoreError, match="not a summary"):
        Summary.from_json(text)


def test_a_summary_of_a_later_version_is_refused():
    with pytest.raises(StoreError, match="format 99; this version reads up to 1"):
        Summary.from_json('{"format": 99}')


def test_findings_are_found_by_name():
    assert example().finding("rotation", "squares").examples == 70
    with pytest.raises(LiewiseError, match=r"no finding on 'hue' among 'all'; there are shift-x, .* squares, discs"):
        example().finding("hue")


def test_what_most_examples_or_a_class_do_not_show_is_named():
    seen = np.ones((10, 4), bool)
    seen[:4, 1] = False
    groups = [("all", np.ones(10, bool)), ("discs", np.arange(10) < 5), ("hearts", np.arange(10) >= 5)]
    assert unseen(GROUP.coordinates, seen, groups) == [
        "rotation cannot be identified: most of discs (80%) look the same after it"
    ]
    seen[:9, 1] = False
    assert unseen(GROUP.coordinates, seen, groups)[0].startswith("rotation cannot be identified: 90% of the examples")
    assert unseen(GROUP.coordinates, np.ones((10, 4), bool), groups) == []


def test_content_at_the_frames_edge_is_named_unless_nothing_moves():
    inside = np.zeros((10, 28, 28, 1), np.uint8)
    inside[:, 8:20, 8:20] = 255
    cut = inside.copy()
    cut[:4, 10:14, 20:] = 255
    assert cut_by_the_frame(GROUP, inside) == []
    assert cut_by_the_frame(GROUP, cut)[0].startswith("content is cut by the frame in 40% of the examples")
    assert cut_by_the_frame(transforms.affine("rotation", fill=1.0), 255 - inside) == []
    assert cut_by_the_frame(transforms.colour(), np.repeat(cut, 3, -1)) == []


def test_a_box_that_nature_fills_is_named():
    narrow = transforms.affine("rotation", "scale", box={"rotation": np.pi / 4}).coordinates
    findings = [finding(narrow[0], low=-42.0, high=43.0), finding(SCALE, low=0.78, high=1.27)]
    said = narrow_boxes([*findings, finding(ROTATION, low=-171.0, high=171.0), finding(FLIP, low=0.0, high=0.5)])
    assert len(said) == 2
    assert said[0].startswith("the box of rotation is too small: nature goes as far as it (-45° to +45°)")
    assert narrow_boxes([finding(SCALE, low=0.9, high=1.1), finding(narrow[0], low=-20.0, high=20.0)]) == []


def test_poses_that_are_found_badly_are_named():
    noises = {"rotation": np.radians(100), "shift-x": 0.01}
    said = noisy_poses([finding(SHIFT), finding(ROTATION)], noises, (28, 28))
    assert said == ["rotation is found badly: copies of one example come out up to +50° off; train for longer"]


def _trained(losses, stopped="finished", name="validation/loss"):
    rows = tuple({"step": 10 * (i + 1), name: float(value)} for i, value in enumerate(losses))
    return Result(None, None, stopped, 10 * len(losses), 10, 0.0, rows, 1.0)


def test_a_loss_that_still_falls_at_the_end_is_a_complaint():
    falling, flat = np.linspace(1.0, 0.2, 30), np.concatenate([np.linspace(1, 0.3, 15), np.full(15, 0.3)])
    assert still_falling(_trained(falling), relative=True) > 0.4
    assert still_falling(_trained(flat), relative=True) == pytest.approx(0, abs=1e-9)
    assert still_falling(_trained(falling - 5), relative=False) == pytest.approx(0.24, abs=0.03)
    assert still_falling(_trained(falling, stopped="patience"), relative=True) == 0
    assert math.isnan(still_falling(_trained(falling[:3]), relative=True))
    health = HEALTH | {"inference/falling": 0.4, "density/falling": math.nan}
    assert complaints(HEALTH | {"inference/falling": 0.05, "density/falling": 0.05}) == ()
    assert [text for text in complaints(health) if "has not converged: the loss of the inference" in text]


def test_the_validation_loss_counts_where_there_is_enough_of_it():
    rows = [{"step": i, "loss": -float(i), "validation/loss": 1.0} for i in range(1, 31)]
    assert still_falling(Result(None, None, "finished", 30, 30, 1.0, tuple(rows), 1.0), relative=False) == 0
