"""What may happen to an example: groups of transformations and how they act."""

from liewise.transforms.colour import Colour, colour, hsv_to_rgb, rgb_to_hsv
from liewise.transforms.content import lost
from liewise.transforms.coordinate import Coordinate
from liewise.transforms.group import Additive, Group
from liewise.transforms.interpolation import Interpolation, sample
from liewise.transforms.product import Joined, Product, product
from liewise.transforms.spatial import Affine, Chart, Flips, Spatial, affine, flips
from liewise.transforms.spec import from_json, parse, to_json
from liewise.transforms.warp import warp
from liewise.transforms.wording import axis_words, describe_value

__all__ = [
    "Additive",
    "Affine",
    "Chart",
    "Colour",
    "Coordinate",
    "Flips",
    "Group",
    "Interpolation",
    "Joined",
    "Product",
    "Spatial",
    "affine",
    "axis_words",
    "colour",
    "describe_value",
    "flips",
    "from_json",
    "hsv_to_rgb",
    "lost",
    "parse",
    "product",
    "rgb_to_hsv",
    "sample",
    "to_json",
    "warp",
]
