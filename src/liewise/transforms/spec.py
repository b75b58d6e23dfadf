"""Groups written down: as JSON for a run's folder, and as the short text that a command line takes."""

import math
import re
from collections.abc import Mapping
from typing import Any

from liewise.errors import TransformError
from liewise.transforms.colour import COLOUR_NAMES, Colour, colour
from liewise.transforms.group import Group
from liewise.transforms.product import Joined, Product, product
from liewise.transforms.spatial import SPATIAL_NAMES, Affine, Flips, affine, flips
from liewise.transforms.warp import half_extent

__all__ = ["from_json", "parse", "to_json"]

_KINDS = {**SPATIAL_NAMES, "colour": COLOUR_NAMES}
_MAKERS = {"affine": affine, "flips": flips, "colour": colour}
_SAME = {"color": "colour"}


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


def parse(text: str, size: tuple[int, int] | None = None, **spatial: Any) -> Group:
    """Build a group from a list of groups and coordinates, each with a limit where wanted.

    Limits carry a unit and hold either way: degrees (`rotation=45deg`, `hue=90deg`), pixels or per cent of the half
    extent (`shift=4px`, `shift-x=20%`), factors (`scale=1.3x`); a shear has none.

    Args:
        text: such as "affine,colour" or "rotation=45deg,scale".
        size: the images' (height, width), for limits in pixels.
        **spatial: what `affine` and `flips` take besides: interpolation and fill; and affine's chart.

    >>> parse("rotation=90deg,hue").names
    ('rotation', 'hue')
    """
    parts = [part.partition("=") for part in text.replace(" ", "").split(",")]
    single: set[str] = set()  # what was named by itself, not with its whole group
    named: dict[str, dict[str, float | None]] = {kind: {} for kind in _KINDS}
    for name, _, limit in parts:
        kind = _kind(_SAME.get(name, name))
        if kind is None:
            known = ", ".join((*_KINDS, *(n for names in _KINDS.values() for n in names)))
            raise TransformError(f"no transformation {name!r}; there are {known}")
        if _SAME.get(name, name) == kind:
            if limit:
                raise TransformError(f"{name}={limit}: a limit belongs to a coordinate, not to all of {kind}")
            for whole in _MAKERS[kind]().names:
                named[kind].setdefault(whole, None)
            continue
        value = _limit(name, limit, size) if limit else None
        for coordinate in _MAKERS[kind](name).names:
            if coordinate in single:
                raise TransformError(f"{coordinate} is named twice; once, please, with its limit if it has one")
            single.add(coordinate)
            named[kind][coordinate] = value
    groups = []
    for kind, limits in named.items():
        options = spatial if kind == "affine" else {k: v for k, v in spatial.items() if k != "chart"}
        group = _MAKERS[kind](*limits, **({} if kind == "colour" else options)) if limits else None
        box = {name: value for name, value in limits.items() if value is not None}
        groups += [group.with_box(box)] if group else []
    return product(*groups)


def _kind(name: str) -> str | None:
    return next((kind for kind, names in _KINDS.items() if name == kind or name in names), None)


def _limit(name: str, text: str, size: tuple[int, int] | None) -> float:
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)(deg|px|%|x|)", text)
    if not match:
        raise TransformError(f"{name}={text}: a limit is a number with its unit, such as 45deg, 4px, 20% or 1.3x")
    number, unit = float(match[1]), match[2]
    if name in SPATIAL_NAMES["flips"]:
        raise TransformError(f"{name}={text}: a flip has no limit")
    if unit == "px" and name.startswith("shift") and size is None:
        raise TransformError(f"{name}={text}: pixels need the size of the images; use per cent of the half extent")
    if unit == "deg" and name in ("rotation", "hue") and 0 < number <= 180:
        return math.radians(number) if name == "rotation" else number / 360
    if unit == "px" and name.startswith("shift") and size is not None and number > 0:
        return number / half_extent(size)
    if unit == "%" and name.startswith("shift") and number > 0:
        return number / 100
    if unit == "x" and name.startswith(("scale", "saturation", "value")) and number > 1:
        return math.log(number)
    if unit == "" and name == "shear" and number > 0:
        return number
    raise TransformError(
        f"{name}={text}: rotation and hue take up to 180deg, shifts px or %, factors x above 1, shear a bare number;"
        " and none is 0"
    )
