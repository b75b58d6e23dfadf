"""Completed groups hold all that their transformations can be composed to."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liewise import transforms as lt

NAMES = ("shift-x", "shift-y", "rotation", "scale-x", "scale-y", "scale", "shear")
CLOSED = [
    lt.affine("shift"),
    lt.affine("shift-x", "scale-x", "shear"),
    lt.affine("shift", "scale-x", "scale-y", "shear"),
    lt.affine("shift", "rotation"),
    lt.affine("shift", "rotation", "scale"),
    lt.affine("rotation", "scale", "scale-y", "shear"),
    lt.affine("shift", "rotation", "scale-x", "scale-y", "shear", chart="exp", box={"rotation": 2.0}),
    lt.flips(),
    lt.colour("hue", "value"),
    lt.product(lt.affine("shift", "rotation"), lt.flips()),
    lt.product(lt.affine("scale"), lt.colour()),
]
OPEN = [
    (("rotation", "scale-x"), {"scale-y", "shear"}),
    (("rotation", "shear"), {"scale-x", "scale-y"}),
    (("rotation", "scale", "shear"), {"scale-x"}),
    (("rotation", "scale", "scale-x"), {"shear"}),
    (("rotation", "shift-x"), {"shift-y"}),
    (("shear", "shift-y"), {"shift-x"}),
    (("shift", "rotation", "scale-x", "scale-y"), {"shear"}),
]
BATCH = 16
charts = st.sampled_from(["factored", "exp"])
affine_names = st.sets(st.sampled_from(NAMES), min_size=1).filter(lambda n: not {"scale", "scale-x", "scale-y"} <= n)
companions = st.sampled_from(
    [(), (lt.flips("flip-x"),), (lt.flips("flip-y"),), (lt.flips(),), (lt.colour(),), (lt.flips(), lt.colour("hue"))]
)


def _drawn(group, seed, chart):
    """Elements from all of a box as wide as the default one, also of coordinates whose own box has no width."""
    low, high = (np.array(b) for b in group.box)
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, 0.25)
    if chart == "exp":
        half = 0.3 * half  # further out, products have no logarithm
    steps = np.array([c.steps is not None for c in group.coordinates])
    share = np.random.default_rng(seed).uniform(-1, 1, (BATCH, group.dim))
    eta = np.where(steps, share > 0, middle + half * share)
    return group.element(jnp.asarray(eta, jnp.float32))


@given(names=affine_names, chart=charts, others=companions, seed=st.integers(0, 2**31 - 1))
@settings(max_examples=60)
def test_products_of_a_completed_group_have_coordinates_in_it(names, chart, others, seed):
    group = lt.product(lt.affine(*sorted(names), chart=chart), *others).completed()
    a, b = _drawn(group, seed, chart), _drawn(group, seed + 1, chart)
    for element in (group.compose(a, b), group.inverse(a)):
        apart = group.distance(group.element(group.parameters(element)), element)
        assert float(apart.max()) < 5e-4, group.names


@given(names=affine_names, others=companions)
@settings(max_examples=40)
def test_completing_twice_is_completing_once(names, others):
    group = lt.product(lt.affine(*sorted(names)), *others).completed()
    assert group.completed() == group


@given(names=affine_names, others=companions, limit=st.floats(0.01, 0.2))
@settings(max_examples=40)
def test_the_random_box_stays_as_it_was(names, others, limit):
    whole = lt.product(lt.affine(*sorted(names), box=dict.fromkeys(names, (-limit, limit / 2))), *others)
    completed = whole.completed()
    boxes = {c.name: (c.low, c.high) for c in completed.coordinates}
    assert {c.name: (c.low, c.high) for c in whole.coordinates}.items() <= boxes.items()
    assert all(boxes[name] == (0.0, 0.0) for name in set(boxes) - set(whole.names))


@pytest.mark.parametrize("group", CLOSED, ids=lambda group: ",".join(group.names))
def test_a_closed_group_comes_back_unchanged(group):
    assert group.completed() == group


@pytest.mark.parametrize(("names", "added"), OPEN, ids=lambda part: ",".join(sorted(part)))
def test_an_open_one_gets_what_it_generates(names, added):
    group = lt.affine(*names)
    assert set(group.completed().names) == set(group.names) | added


def test_what_is_open_would_lose_something():
    """The tests above could not fail if products were always read back."""
    for names, _ in OPEN:
        group = lt.affine(*names)
        a, b = _drawn(group, 0, "factored"), _drawn(group, 1, "factored")
        product = group.compose(a, b)
        assert float(group.distance(group.element(group.parameters(product)), product).max()) > 1e-2, names


@pytest.mark.parametrize("names", [names for names, _ in OPEN], ids=",".join)
def test_a_completed_group_survives_json(names):
    box = dict.fromkeys(names, (-0.1, 0.05)) if "shift" not in names else {}
    spatial = lt.affine(*names, chart="exp", interpolation="bilinear", fill=0.5, box=box)
    for group in (spatial, lt.product(spatial, lt.flips(interpolation="bilinear", fill=0.5), lt.colour("hue"))):
        completed = group.completed()
        assert completed != group
        assert lt.from_json(lt.to_json(completed)) == completed


def test_samples_of_a_completed_group_are_those_of_the_group():
    group = lt.affine("shift", "rotation", "scale", "shear", box={"scale": (0.0, 0.3)})
    completed = group.completed()
    eta = completed.sample(jax.random.key(0), 200)
    element = completed.element(eta)
    columns = np.array([completed.index(name) for name in group.names])
    assert float(group.distance(group.element(eta[:, columns]), element).max()) < 1e-5
