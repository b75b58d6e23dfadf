"""Configurations become what JSON holds, and come back as they were; groups too, if they are liewise's."""

import json

import pytest
from belt import BELT

from liewise import transforms
from liewise.errors import StoreError, TransformError
from liewise.sgm import DensityConfig, InferenceConfig, density_training, inference_training, paper_inference_training
from liewise.sgm.plain import from_plain, group_from_plain, group_to_plain, to_plain
from liewise.train import TrainConfig

CONFIGS = [
    InferenceConfig(),
    InferenceConfig.paper("dsprites"),
    DensityConfig.paper(bounded=True),
    DensityConfig(side=None),
    inference_training(7, seed=3),
    density_training(),
    paper_inference_training("mnist-colour"),
    TrainConfig(batch_changes=((10, 64), (20, 128)), patience=3, resident_bytes=0),
]
GROUPS = [
    transforms.affine(),
    transforms.affine(
        "rotation", "shear", chart="exp", interpolation="bilinear", fill=1.0, box={"rotation": (0.1, 2.0)}
    ),
    transforms.flips("flip-x"),
    transforms.product(transforms.affine("rotation"), transforms.flips("flip-y"), transforms.colour("hue")),
]


def through_json(value):
    return json.loads(json.dumps(value, allow_nan=False))


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: type(config).__name__)
def test_configurations_come_back_from_json(config):
    assert from_plain(type(config), through_json(to_plain(config))) == config


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: ",".join(group.names))
def test_groups_come_back_from_json(group):
    back = group_from_plain(through_json(group_to_plain(group)))
    assert back is not None
    assert (type(back), back.coordinates) == (type(group), group.coordinates)
    assert group_to_plain(back) == group_to_plain(group)


def test_no_group_stays_none():
    assert group_from_plain(None) is None


def test_fields_of_another_version_are_named_even_in_nested_configurations():
    with pytest.raises(StoreError, match="InferenceConfig has no attention, heads; the file is of another version"):
        from_plain(InferenceConfig, {**to_plain(InferenceConfig()), "heads": 4, "attention": True})
    values = to_plain(TrainConfig())
    values["optimiser"]["momentum"] = 0.9
    with pytest.raises(StoreError, match="OptimiserConfig has no momentum"):
        from_plain(TrainConfig, values)


def test_a_group_of_ones_own_is_described_and_asked_for():
    plain = through_json(group_to_plain(BELT))
    assert (plain["own"], [c["name"] for c in plain["coordinates"]]) == ("Belt", ["along", "gain"])
    with pytest.raises(
        StoreError, match=r"the model's group, Belt, is not one of liewise's: give it, by load\(..., group="
    ):
        group_from_plain(plain)


def test_an_unknown_group_is_named():
    with pytest.raises(TransformError, match="no group 'twist'; there are affine"):
        group_from_plain({"group": "twist", "box": {}})
