"""Reasons to doubt a summary, each by name and in a sentence."""

from collections.abc import Sequence

import numpy as np

from liewise.datasets import to_unit
from liewise.measure import Finding, fill_of
from liewise.transforms import Coordinate, Group, describe_value

__all__ = ["cut_by_the_frame", "narrow_boxes", "noisy_poses", "unseen"]

_MOST = 0.5  # of the examples: if more look the same, a coordinate cannot be identified
_LIT, _EDGE = 0.5, 0.02  # a pixel this far from the fill is content; so much of the edge is content that is cut
_CUT = 0.2  # of the examples
_REACHED = 0.9  # of the box's width
_NOISY = 0.25  # of the box's width, or of the circle


def unseen(coordinates: Sequence[Coordinate], seen: np.ndarray, groups: Sequence[tuple[str, np.ndarray]]) -> list[str]:
    """Name the coordinates along which most examples, or most of a class, look the same: no angle of a disc."""
    said = []
    for place, coordinate in enumerate(coordinates):
        shares = {name: 1 - float(seen[rows, place].mean()) for name, rows in groups if rows.any()}
        if shares["all"] > _MOST:
            who = f"{shares['all']:.0%} of the examples"
        elif blind := [f"{name} ({share:.0%})" for name, share in shares.items() if share > _MOST]:
            who = f"most of {', '.join(blind)}"
        else:
            continue
        said.append(f"{coordinate.name} cannot be identified: {who} look the same after it")
    return said


def cut_by_the_frame(group: Group, images: np.ndarray) -> list[str]:
    """Say so where content reaches the frame's edge, so that moving it brings in what was never seen."""
    if not any(hasattr(part, "fill") for part in getattr(group, "factors", (group,))):
        return []
    away = np.abs(np.asarray(to_unit(images)) - fill_of(group)).max(-1) > _LIT
    edge = np.concatenate([away[:, 0], away[:, -1], away[:, 1:-1, 0], away[:, 1:-1, -1]], axis=1)
    share = float(np.mean(edge.mean(1) >= _EDGE))
    if share <= _CUT:
        return []
    return [
        f"content is cut by the frame in {share:.0%} of the examples: what moves it brings in edges that none has;"
        " pad the images, or set the group's fill to their background"
    ]


def narrow_boxes(findings: Sequence[Finding]) -> list[str]:
    """Name the coordinates whose natural interval is about as wide as the box that was looked at."""
    said = []
    for finding in findings:
        c = finding.coordinate
        box = c.high - c.low
        if c.steps is not None or box == 0 or (c.period is not None and box > _REACHED * c.period):
            continue
        if _in_eta(finding, finding.high) - _in_eta(finding, finding.low) >= _REACHED * box:
            ends = " to ".join(describe_value(end, c.unit) for end in finding.box)
            said.append(f"the box of {c.name} is too small: nature goes as far as it ({ends}), or further; widen it")
    return said


def noisy_poses(findings: Sequence[Finding], noises: dict[str, float], size: tuple[int, int]) -> list[str]:
    """Name the coordinates that are found so badly that little could be told from absent."""
    said = []
    for finding in findings:
        c = finding.coordinate
        across = min(c.high - c.low, c.period or np.inf)
        if across > 0 and noises[c.name] > _NOISY * across and finding.examples:
            half = float(c.to_user(noises[c.name] / 2, size))
            said.append(
                f"{c.name} is found badly: copies of one example come out up to {describe_value(half, c.unit)} off;"
                " train for longer"
            )
    return said


def _in_eta(finding: Finding, value: float) -> float:
    """A user's value back in η, up to a factor that is the box's own."""
    c, (low, high) = finding.coordinate, finding.box
    if c.unit == "factor":
        return float(np.log(value))
    return value * (c.high - c.low) / (high - low)
