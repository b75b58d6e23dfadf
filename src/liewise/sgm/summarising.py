"""From a fitted model and examples to a summary: natural poses are drawn, brought to their own frame, and judged."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from liewise.datasets import to_unit
from liewise.errors import DataError
from liewise.measure import Finding, changes, found_for_copies, in_own_frame, judge, own_periods, width
from liewise.sgm.densities import Densities
from liewise.sgm.doubts import cut_by_the_frame, narrow_boxes, noisy_poses, unseen
from liewise.sgm.examples import as_labels
from liewise.sgm.health import complaints
from liewise.sgm.queries import Parts, find
from liewise.sgm.stage_two import in_batches
from liewise.sgm.summary import Summary
from liewise.transforms import Coordinate

__all__ = ["Evidence", "summarise"]

_EXAMPLES = 256  # at most; more would only take time
_DRAWS = 256  # natural poses of each
_COPIES = 8  # of each, transformed at random, to see what it looks the same after
_VERSIONS = 4  # of each, as natural as itself, to see how well poses are found
_CHANGES = 0.02  # of the most there can be: an example that changes less looks the same after a transformation
_FEWEST = 8  # examples of a class, to say anything about it
_SAYING = 0.5  # of the examples: what most of them have in common is noted


class Evidence(NamedTuple):
    """What is known of examples; the examples come first everywhere."""

    chosen: np.ndarray  # [n], their places among those that were given
    natural: np.ndarray  # [n, draws, dim], in their own frame
    found: np.ndarray  # [n, copies, dim], likewise: poses that follow from those of natural versions
    periods: dict[str, np.ndarray]  # [n] by coordinate on a circle
    seen: np.ndarray  # [n, dim], whether the example changes along the coordinate


def summarise(
    parts: Parts,
    images: np.ndarray,
    labels: Any,
    class_names: Sequence[str],
    *,
    health: dict[str, float],
    seed: int,
) -> tuple[Summary, Evidence]:
    """Judge every coordinate, among all examples and by class; return what it was judged by as well."""
    classes = _classes(labels, class_names, len(images))
    group, size = parts.inference.group, (images.shape[1], images.shape[2])
    chosen = np.sort(np.random.default_rng(seed).permutation(len(images))[:_EXAMPLES])
    evidence = _evidence(parts, images[chosen], chosen, jax.random.key(seed))
    trust = 1 - float(np.clip(np.nan_to_num(health["ratio/mean"] - health["floor/mean"], nan=1.0), 0.0, 1.0))
    groups = [("all", np.ones(len(chosen), bool)), *((name, mask[chosen]) for name, mask in classes)]
    findings, noises = [], {}
    for among, rows in groups:
        if rows.sum() < _FEWEST and among != "all":
            continue
        for place, coordinate in enumerate(group.coordinates):
            seen = rows & evidence.seen[:, place]
            noise = _noise(evidence, coordinate, place, seen) if seen.any() else 0.0
            if among == "all":
                noises[coordinate.name] = noise
            findings.append(
                _finding(evidence, coordinate, place, among, rows, noise=noise, trust=trust, size=size, seed=seed)
            )
    every = [f for f in findings if f.among == "all"]
    warnings = (
        *complaints(health),
        *unseen(group.coordinates, evidence.seen, groups),
        *cut_by_the_frame(group, images[chosen]),
        *narrow_boxes(every),
        *noisy_poses(every, noises, size),
        *_few(groups),
    )
    return Summary(tuple(findings), warnings, dict(health)), evidence


def _evidence(parts: Parts, images: np.ndarray, chosen: np.ndarray, key: jax.Array) -> Evidence:
    group = parts.inference.group
    for_draws, for_copies = jax.random.split(key)
    examples = np.asarray(to_unit(images))
    eta, prototypes = in_batches(lambda x: find(parts, to_unit(x)), images)
    drawn = np.asarray(Densities(parts.density, group, jnp.asarray(prototypes)).sample(for_draws, _DRAWS))
    periods = {}
    circles = [(place, c) for place, c in enumerate(group.coordinates) if c.period is not None]
    if circles:
        anyhow = np.asarray(group.sample(for_copies, len(images) * _COPIES)).reshape(len(images), _COPIES, -1)
        found = found_for_copies(parts.inference, group, examples, anyhow)
        periods = {c.name: own_periods(c, found[..., place]) for place, c in circles}
    found = found_for_copies(parts.inference, group, examples, drawn[:, :_VERSIONS], eta)
    return Evidence(
        chosen,
        in_own_frame(group, drawn, prototypes, periods),
        in_own_frame(group, found, prototypes, periods),
        periods,
        changes(group, prototypes) >= _CHANGES,
    )


def _finding(
    evidence: Evidence,
    coordinate: Coordinate,
    place: int,
    among: str,
    rows: np.ndarray,
    *,
    noise: float,
    trust: float,
    size: tuple[int, int],
    seed: int,
) -> Finding:
    seen = rows & evidence.seen[:, place]
    box = tuple(float(coordinate.to_user(end, size)) for end in (coordinate.low, coordinate.high))
    if not seen.any():
        nothing = 0.0 if coordinate.steps is not None else float(coordinate.to_user(0.0, size))
        notes = ("none of the examples changes when it is transformed so",)
        return Finding(coordinate, among, "absent", nothing, nothing, (), (box[0], box[1]), 0.0, 0, notes)
    periods = evidence.periods[coordinate.name][seen] if coordinate.name in evidence.periods else None
    return judge(
        coordinate,
        evidence.natural[seen][..., place],
        size=size,
        among=among,
        periods=periods,
        noise=noise,
        trust=trust * float(seen.sum() / rows.sum()),
        notes=_symmetry(coordinate, periods, size),
        seed=seed,
    )


def _noise(evidence: Evidence, coordinate: Coordinate, place: int, rows: np.ndarray) -> float:
    """How wide the poses are that follow for one and the same example from its natural versions."""
    if coordinate.steps is not None:
        return 0.0
    periods = evidence.periods[coordinate.name][rows] if coordinate.name in evidence.periods else None
    return width(evidence.found[rows][..., place], periods)


def _symmetry(coordinate: Coordinate, periods: np.ndarray | None, size: tuple[int, int]) -> tuple[str, ...]:
    if periods is None or coordinate.period is None:
        return ()
    values, counts = np.unique(periods, return_counts=True)
    share = counts.max() / len(periods)
    usual = float(values[counts.argmax()])
    if share < _SAYING or usual >= coordinate.period:
        return ()
    return (f"{share:.0%} look the same after {float(coordinate.to_user(usual, size)):.0f}°",)


def _classes(labels: Any, names: Sequence[str], count: int) -> list[tuple[str, np.ndarray]]:
    """Return each class's name and a mask of its examples."""
    labels = as_labels(labels, count)
    if labels is None:
        return []
    values = np.unique(labels)
    named = np.issubdtype(labels.dtype, np.integer) and len(names) > 0
    if named and not (values.min() >= 0 and values.max() < len(names)):
        raise DataError(
            f"expected labels from 0 to {len(names) - 1}, as there are class names; got up to {values.max()}"
        )
    plain = "{}" if labels.dtype.kind in "US" else "class {}"
    return [(names[int(value)] if named else plain.format(value), labels == value) for value in values]


def _few(groups: list[tuple[str, np.ndarray]]) -> list[str]:
    few = [f"{name} ({rows.sum()})" for name, rows in groups if rows.sum() < _FEWEST and name != "all"]
    return [f"fewer than {_FEWEST} examples, so nothing is said about {', '.join(few)}"] if few else []
