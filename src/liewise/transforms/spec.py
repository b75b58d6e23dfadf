"""Groups written down: as JSON for a run's folder, and as the short text that a command line takes."""

import math
import re
from collections.abc import Mapping
from typing import Any

from liewise.errors import TransformError
from liewise.transforms.colour import Colour, colour
from liewise.transforms.group import Group
from liewise.transforms.product import Joined, Product, product
from liewise.transforms.spatial import Affine, Flips, affine, flips
from liewise.transforms.warp import half_extent

__all__ = ["from_json", "parse", "to_json"]

_AFFINE = ("shift", "shift-x", "shift-y", "rotation", "scale", "scale-x", "scale-y", "shear")
_COLOUR = ("hue", "saturation", "value")
_FLIPS = ("flip-x", "flip-y")
_WHOLE = {"affine": ("shift", "rotation", "scale-x", "scale-y"), "colour": _COLOUR, "flips": _FLIPS}
_SAME = {"color": "colour"}
_MAKERS = (
    (lambda names, box: affine(*names, box=box), _AFFINE),
    (lambda names, box: flips(*names), _FLIPS),
    (lambda names, box: colour(*names, box=box), _COLOUR),
)


def to_json(group: Group) -> dict[str, Any]:
    """Describe a group of ours with plain values; `from_json` builds it again.

    >>> to_json(colour("hue"))
    {'group': 'colour', 'box': {'hue': [-0.5, 0.5]}}
    """
    box = {c.name: [c.low, c.high] for c in group.coordinates}
    if isinstance(group, Product):
        return {"group": "product", "factors": [to_json(f) for f in group.factors]}
    if isinstance(group, Joined):
        return {"group": "product", "factors": [to_json(group.affine), to_json(group.flips)]}
    if isinstance(group, Affine):
        rest = {"chart": group.chart, "interpolation": group.interpolation, "fill": group.fill}
        return {"group": "affine", "box": box, **rest}
    if isinstance(group, Flips):
        return {"group": "flips", "box": box, "interpolation": group.interpolation, "fill": group.fill}
    if isinstance(group, Colour):
        return {"group": "colour", "box": box}
    raise TransformError(f"{type(group).__name__} is not one of liewise's groups; give the group itself when loading")


def from_json(description: Mapping[str, Any]) -> Group:
    """Build the group that `to_json` described."""
    rest = dict(description)
    kind = rest.pop("group", None)
    if kind not in ("affine", "colour", "flips", "product"):
        raise TransformError(f"no group {kind!r}; there are affine, colour, flips and product")
    try:
        if kind == "product":
            return product(*(from_json(f) for f in rest["factors"]))
        box = {name: (float(low), float(high)) for name, (low, high) in rest.pop("box").items()}
        if kind == "affine":
            return affine(*box, box=box, **rest)
        if kind == "colour":
            return colour(*box, box=box, **rest)
        return flips(*box, **rest)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, TransformError):
            raise
        raise TransformError(f"not the description of a group: {dict(description)!r}") from error


def parse(text: str, size: tuple[int, int] | None = None) -> Group:
    """Build a group from a list of groups and coordinates, each with a limit where wanted.

    Limits carry a unit: degrees (`rotation=45deg`, `hue=90deg`), pixels or per cent of the half extent
    (`shift=4px`, `shift-x=20%`), factors (`scale=1.3x`); a shear has none. They hold either way.

    Args:
        text: such as "affine,colour" or "rotation=45deg,scale".
        size: the images' (height, width), for limits in pixels.

    >>> parse("rotation=90deg,hue").names
    ('rotation', 'hue')
    """
    limits: dict[str, float | None] = {}
    for part in text.replace(" ", "").split(","):
        name, _, limit = part.partition("=")
        name = _SAME.get(name, name)
        if name in _WHOLE:
            if limit:
                raise TransformError(f"{part!r}: a limit belongs to a coordinate, not to all of {name}")
            limits.update(dict.fromkeys(_WHOLE[name]))
        elif name in (*_AFFINE, *_COLOUR, *_FLIPS):
            limits[name] = _limit(name, limit, size) if limit else None
        else:
            known = ", ".join((*_WHOLE, *_AFFINE, *_COLOUR, *_FLIPS))
            raise TransformError(f"no transformation {name!r}; there are {known}")
    groups = []
    for make, names in _MAKERS:
        chosen = [name for name in limits if name in names]
        box = {name: value for name in chosen if (value := limits[name]) is not None}
        if "shift" in box:
            box["shift-x"] = box["shift-y"] = box.pop("shift")
        if chosen:
            groups.append(make(chosen, box))
    return product(*groups)


def _limit(name: str, text: str, size: tuple[int, int] | None) -> float:
    match = re.fullmatch(r"([0-9.]+)(deg|px|%|x|)", text)
    if not match:
        raise TransformError(f"{name}={text}: a limit is a number with its unit, such as 45deg, 4px, 20% or 1.3x")
    number, unit = float(match[1]), match[2]
    if name in _FLIPS:
        raise TransformError(f"{name}={text}: a flip has no limit")
    if unit == "deg" and name in ("rotation", "hue"):
        return math.radians(number) if name == "rotation" else number / 360
    if unit == "px" and name.startswith("shift"):
        if size is None:
            raise TransformError(f"{name}={text}: pixels need the size of the images; use per cent of the half extent")
        return number / half_extent(size)
    if unit == "%" and name.startswith("shift"):
        return number / 100
    if unit == "x" and name.startswith(("scale", "saturation", "value")) and number > 1:
        return math.log(number)
    if unit == "" and name == "shear":
        return number
    raise TransformError(f"{name}={text}: rotation and hue take deg, shifts px or %, factors x above 1, shear none")
