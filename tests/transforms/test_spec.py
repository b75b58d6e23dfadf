"""Groups as text and as JSON."""

import json

import jax
import numpy as np
import pytest

from liewise.errors import TransformError
from liewise.transforms import Additive, Coordinate, Group, affine, colour, flips, from_json, parse, product, to_json

GROUPS = [
    affine("rotation", "scale", chart="exp", box={"rotation": 0.3}, interpolation="bilinear", fill=0.5),
    colour("hue", "value", box={"hue": (0.0, 0.3)}),
    flips("flip-y"),
    product(affine(), flips(), colour()),
]


@pytest.mark.parametrize("group", GROUPS, ids=lambda g: "+".join(g.names))
def test_json_there_and_back(group):
    again = from_json(json.loads(json.dumps(to_json(group))))
    assert again == group
    eta = group.sample(jax.random.key(0), 5)
    same = jax.tree.map(np.array_equal, again.element(eta), group.element(eta))
    assert all(jax.tree.leaves(same))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("affine", ("shift-x", "shift-y", "rotation", "scale-x", "scale-y")),
        ("color", ("hue", "saturation", "value")),
        ("rotation, shift-x", ("shift-x", "rotation")),
        ("affine,colour", ("shift-x", "shift-y", "rotation", "scale-x", "scale-y", "hue", "saturation", "value")),
        ("flip-x,rotation", ("rotation", "flip-x")),
    ],
)
def test_text_names_groups_and_coordinates(text, names):
    assert parse(text).names == names


def limits(group: Group):
    return {c.name: pytest.approx((c.low, c.high), rel=1e-6) for c in group.coordinates}


def test_limits_carry_units():
    group = parse("rotation=45deg,shift=20%,scale=1.5x,hue=90deg,value=2x")
    assert limits(group) == {
        "shift-x": (-0.2, 0.2),
        "shift-y": (-0.2, 0.2),
        "rotation": (-np.pi / 4, np.pi / 4),
        "scale": (-np.log(1.5), np.log(1.5)),
        "hue": (-0.25, 0.25),
        "value": (-np.log(2), np.log(2)),
    }
    for text in ("affine,rotation=45deg", "rotation=45deg,affine"):
        assert limits(parse(text))["rotation"] == (-np.pi / 4, np.pi / 4)
    assert limits(parse("shift-x=4px", size=(33, 17))) == {"shift-x": (-0.25, 0.25)}


def test_text_takes_the_options_of_spatial_groups():
    group = parse("rotation,flip-x,hue", chart="exp", interpolation="bilinear", fill=0.5)
    described = to_json(group)["factors"][0]["factors"]
    assert [(g.get("chart"), g["interpolation"], g["fill"]) for g in described] == [
        ("exp", "bilinear", 0.5),
        (None, "bilinear", 0.5),
    ]


@pytest.mark.parametrize("end", [0.3, np.float32(0.3), (-0.3, 0.3), [-0.3, 0.3]])
def test_boxes_are_plain_numbers_whatever_came(end):
    group = product(affine("rotation"), flips("flip-x"), colour("hue")).with_box({"rotation": end})
    assert group.box[1].tolist() == pytest.approx([0.3, 1.0, 0.5])
    assert hash(group) == hash(from_json(json.loads(json.dumps(to_json(group)))))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no transformation ''; there are affine"),
        ("spin", "no transformation 'spin'; there are affine"),
        ("rotation=45", "rotation and hue take up to 180deg"),
        ("rotation=4px", "rotation and hue take up to 180deg"),
        ("rotation=0deg", "none is 0"),
        ("hue=720deg", "rotation and hue take up to 180deg"),
        ("rotation=1.2.3deg", "a limit is a number with its unit"),
        ("rotation=45deg,rotation=90deg", "rotation is named twice"),
        ("rotation,rotation", "rotation is named twice"),
        ("shift-x=10%,shift=20%", "shift-x is named twice"),
        ("rotation=deg", "a limit is a number with its unit"),
        ("shift=4px", "pixels need the size of the images"),
        ("scale=0.5x", "factors x above 1"),
        ("affine=45deg", "a limit belongs to a coordinate, not to all of affine"),
        ("flip-x=1", "a flip has no limit"),
    ],
)
def test_text_that_says_nothing_is_refused(text, message):
    with pytest.raises(TransformError, match=message):
        parse(text)


class Mine(Additive):
    """A group of a user's own."""

    def act(self, element, examples):
        return examples + element


def test_a_users_group_must_be_given_again():
    mine = Mine((Coordinate("level", "ratio", "up", -1.0, 1.0),))
    with pytest.raises(TransformError, match="Mine is not one of liewise's groups; give the group itself"):
        to_json(mine)


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ({"group": "quaternions"}, "no group 'quaternions'"),
        ({}, "no group None"),
        ({"group": "affine"}, "not the description of a group"),
        ({"group": "affine", "box": {"rotation": [0]}}, "not the description of a group"),
        ({"group": "affine", "box": {"rotation": [-1, 1]}, "colour": 3}, "not the description of a group"),
        ({"group": "affine", "box": {"rotation": [-1, 1]}, "interpolation": "nearest"}, "bilinear|not the description"),
        ({"group": "affine", "box": {"rotation": [-1, 1]}, "chart": "polar"}, "factored|not the description"),
    ],
)
def test_json_that_describes_no_group_is_refused(description, message):
    with pytest.raises(TransformError, match=message):
        from_json(description)
