"""The laws of groups, for every group there is, by Hypothesis."""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxtyping import Array, Float

from liewise import transforms as lt
from liewise.errors import TransformError

BATCH = 4


class Series(lt.Additive):
    """Time shifts and amplitudes of a periodic one-dimensional signal: a user's own group."""

    def act(self, element: Float[Array, "batch 2"], examples: Float[Array, "batch time"]):
        frequencies = jnp.fft.rfftfreq(examples.shape[1])[None, :] * examples.shape[1]
        turned = jnp.fft.rfft(examples) * jnp.exp(-2j * jnp.pi * frequencies * element[:, :1])
        return jnp.exp(element[:, 1:]) * jnp.fft.irfft(turned, examples.shape[1])


GROUPS = {
    "five affine": lt.affine(),
    "five affine, exp": lt.affine(chart="exp", box={"rotation": 3.0}),
    "all six, factored": lt.affine("shift", "rotation", "scale-x", "scale-y", "shear"),
    "all six, exp": lt.affine("shift", "rotation", "scale-x", "scale-y", "shear", chart="exp", box={"rotation": 3.0}),
    "similarities": lt.affine("shift", "rotation", "scale"),
    "rotation": lt.affine("rotation"),
    "one shift": lt.affine("shift-y"),
    "scale and one axis": lt.affine("scale", "scale-x"),
    "colour": lt.colour(box={"saturation": 0.3, "value": 0.3}),
    "hue": lt.colour("hue"),
    "flips": lt.flips(),
    "affine and flips": lt.product(lt.affine("shift", "rotation"), lt.flips("flip-x")),
    "shift and flips": lt.product(lt.flips(), lt.affine("shift")),
    "affine and colour": lt.product(lt.affine(), lt.colour("hue", "value")),
    "a user's": Series(
        (
            lt.Coordinate("delay", "s", "later", -0.5, 0.5, period=1.0),
            lt.Coordinate("gain", "factor", "louder", -1.0, 1.0),
        )
    ),
}
every_group = pytest.mark.parametrize("name", GROUPS)
seeds = st.integers(0, 2**31 - 1)


@cache
def laws(name):
    """By how far each law is missed for random elements of a group, compiled as one function of a seed."""
    group = GROUPS[name]

    @eqx.filter_jit
    def missed(seed):
        etas = [group.sample(k, BATCH) for k in jax.random.split(jax.random.key(seed), 3)]
        a, b, c = (group.element(eta) for eta in etas)
        one, compose, inverse, apart = group.identity(BATCH), group.compose, group.inverse, group.distance
        slope = jax.grad(lambda eta: apart(group.element(eta), a).sum())(etas[0])
        return {
            "nothing after": apart(compose(a, one), a),
            "nothing before": apart(compose(one, a), a),
            "undone": apart(compose(a, inverse(a)), one),
            "undone first": apart(compose(inverse(a), a), one),
            "associative": apart(compose(compose(a, b), c), compose(a, compose(b, c))),
            "inverse of a product": apart(inverse(compose(a, b)), compose(inverse(b), inverse(a))),
            "read back": jnp.abs(group.difference(group.parameters(a), etas[0])).max(-1),
            "distance to itself": apart(a, a),
            "slope of the distance at 0": jnp.abs(slope),
            "distance is symmetric": jnp.abs(apart(a, b) - apart(b, a)),
            "triangle": jnp.maximum(apart(a, c) - apart(a, b) - apart(b, c), 0),
        }

    return missed


@every_group
@given(seed=seeds)
@settings(max_examples=25)
def test_laws_of_a_group_and_of_a_distance_hold(name, seed):
    for law, miss in laws(name)(jnp.uint32(seed)).items():
        assert float(miss.max()) < 2e-4, law


@every_group
def test_random_box_holds_its_samples_and_is_filled(name):
    group = GROUPS[name]
    eta = group.sample(jax.random.key(0), 2000)
    low, high = group.box
    assert bool((eta >= low[None]).all())
    assert bool((eta <= high[None]).all())
    np.testing.assert_allclose(eta.min(0), low, atol=0.02 * float((high - low).max()))
    np.testing.assert_allclose(eta.max(0), high, atol=0.02 * float((high - low).max()))


@every_group
def test_gradient_reaches_every_coordinate(name):
    group = GROUPS[name]
    if any(c.steps for c in group.coordinates):
        pytest.skip("finite coordinates have no gradient")
    examples = smooth_examples(group, BATCH)
    eta = 0.3 * group.sample(jax.random.key(3), BATCH)
    weights = jax.random.normal(jax.random.key(4), examples.shape)
    slope = jax.jit(jax.grad(lambda e: jnp.sum(weights * group.act(group.element(e), examples))))(eta)
    assert bool(jnp.isfinite(slope).all())
    assert bool((jnp.abs(slope).max(0) > 1e-3).all())


def smooth_examples(group, batch, size=48):
    """A soft coloured blob off the middle for images, a wave for series."""
    if isinstance(group, Series):
        return jnp.sin(2 * jnp.pi * (jnp.arange(32) / 32)[None] * jnp.ones((batch, 1)))
    axis = jnp.linspace(-1, 1, size)
    y, x = axis[:, None], axis[None, :]
    blob = jnp.exp(-8 * ((x * jnp.ones_like(y) - 0.15) ** 2 + 2 * (y * jnp.ones_like(x) + 0.1) ** 2))
    colours = jnp.array([0.8, 0.5, 0.3])
    return jnp.broadcast_to(2 * blob[None, :, :, None] * colours[None, None, None] - 1, (batch, size, size, 3))


@cache
def actions(name):
    group = GROUPS[name]

    @eqx.filter_jit
    def act(seed):
        first, second = jax.random.split(jax.random.key(seed))
        a, b = group.element(group.sample(first, BATCH)), group.element(group.sample(second, BATCH))
        examples = smooth_examples(group, BATCH)
        twice, once = group.act(a, group.act(b, examples)), group.act(group.compose(a, b), examples)
        undone = group.act(group.compose(group.inverse(b), b), examples)
        return jnp.abs(twice - once).reshape(BATCH, -1), jnp.abs(undone - examples)

    return act


@every_group
@given(seed=seeds)
@settings(max_examples=10)
def test_acting_twice_is_acting_with_the_composition(name, seed):
    apart, undone = actions(name)(jnp.uint32(seed))
    bulk = np.sort(apart, -1)[:, : int(0.97 * apart.shape[1])]  # content that left the frame in between is lost
    assert bulk.mean() < 2e-3
    assert float(undone.max()) < 2e-3


@pytest.mark.parametrize("name", [n for n, g in GROUPS.items() if isinstance(g, lt.Affine)])
def test_exp_near_zero_is_the_sum_of_generators(name):
    """Both charts agree with 1 + Σ η G to second order."""
    group = GROUPS[name]
    other = group.in_chart("exp" if group.chart == "factored" else "factored")

    @jax.jit
    def three(eta):
        linear = jax.vmap(lambda e: jax.jvp(lambda t: group.element(t[None])[0], (0 * e,), (e,))[1])(eta)
        return group.element(eta), other.element(eta), jnp.eye(3)[None] + linear

    ours, others, linear = three(1e-3 * jax.random.normal(jax.random.key(0), (8, group.dim)))
    assert float(jnp.abs(ours - others).max()) < 1e-5
    assert float(jnp.abs(ours - linear).max()) < 2e-5


def test_charts_convert_there_and_back():
    group = lt.affine("shift", "rotation", "scale-x", "scale-y", "shear", box={"rotation": 2.3})

    @jax.jit
    def there_and_back(eta):
        middle = group.convert(eta, "exp")
        apart = group.distance(group.in_chart("exp").element(middle), group.element(eta))
        return apart, group.in_chart("exp").convert(middle, "factored")

    eta = group.sample(jax.random.key(0), 1000)
    apart, again = there_and_back(eta)
    assert float(apart.max()) < 1e-4
    np.testing.assert_allclose(again, eta, atol=1e-3)


def test_full_turn_is_no_turn_and_halves_meet():
    group = lt.affine("rotation", "shift")
    turns = jnp.array([[0.0, 0, -np.pi], [0, 0, np.pi], [0, 0, 2 * np.pi], [0, 0, 0]])
    elements = group.element(turns.astype(jnp.float32))
    assert float(group.distance(elements[:1], elements[1:2])[0]) < 1e-6
    assert float(group.distance(elements[2:3], elements[3:])[0]) < 1e-6
    np.testing.assert_allclose(group.difference(turns[:1], turns[1:2]), 0, atol=1e-6)


def test_hue_of_a_full_turn_is_no_change():
    group = lt.colour("hue")
    image = smooth_examples(group, 1)
    np.testing.assert_allclose(group.act(jnp.array([[1.0]]), image), image, atol=1e-5)
    assert float(group.distance(jnp.array([[1.0]]), jnp.array([[0.0]]))[0]) < 1e-6


def _read_back(group, eta):
    """What is read off the elements of η, and how far apart the two are."""
    back = group.parameters(group.element(eta))
    return back, group.distance(group.element(back), group.element(eta))


@pytest.mark.parametrize("angle", [np.pi, -np.pi, np.pi - 1e-4, 3.1415])
def test_logarithm_of_half_a_turn_is_half_a_turn(angle):
    group = lt.affine("rotation", "shift", chart="exp")
    eta = jnp.array([[0.1, -0.2, angle]], jnp.float32)
    back, apart = jax.jit(lambda e: _read_back(group, e))(eta)
    assert float(apart[0]) < 2e-3
    assert abs(abs(float(back[0, 2])) - abs(angle)) < 2e-3


@pytest.mark.parametrize("chart", ["factored", "exp"])
def test_a_mirror_has_no_coordinates(chart):
    mirror = jnp.diag(jnp.array([-1.0, 1.0, 1.0]))[None]
    group = lt.affine("shift", "rotation", "scale-x", "scale-y", chart=chart)
    assert bool(jnp.isnan(group.parameters(mirror)).any())


def test_flips_and_turns_join_into_one_warp():
    group = lt.product(lt.affine("rotation"), lt.flips("flip-x"))
    assert isinstance(group, lt.Joined)
    turn_then_flip = group.compose(group.element(group.eta(flip_x=1.0)), group.element(group.eta(rotation=0.5)))
    read = group.parameters(turn_then_flip)
    np.testing.assert_allclose(read, [[-0.5, 1.0]], atol=1e-5)  # a mirror turns the other way


def test_eta_by_name_and_index():
    group = lt.affine()
    assert group.index("rotation") == 2
    np.testing.assert_allclose(group.eta(2, shift_x=0.5)[:, 0], 0.5)
    with pytest.raises(TransformError, match="no coordinate 'hue'; this group has shift-x"):
        group.index("hue")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lt.affine("twist"), "no affine coordinate 'twist'; there are shift-x"),
        (lambda: lt.affine("rotation", "rotation"), "each coordinate once"),
        (lambda: lt.affine("scale", "scale-x", "scale-y"), "say the same thing twice"),
        (lambda: lt.affine("rotation", box={"hue": 1.0}), "the box names hue, which this group does not have"),
        (lambda: lt.affine("rotation", box={"rotation": (1.0, -1.0)}), "finite low <= high; got 1.0, -1.0"),
        (lambda: lt.affine("rotation", box={"rotation": float("nan")}), "finite low <= high"),
        (lambda: lt.colour("lightness"), "no colour coordinate 'lightness'; there are hue"),
        (lambda: lt.flips("flip-z"), "no flip 'flip-z'"),
        (lambda: lt.product(), "at least one group"),
        (lambda: lt.product(lt.affine("rotation"), lt.affine("shift")), "at most one affine group"),
        (lambda: lt.product(lt.colour("hue"), lt.colour("hue")), "each coordinate once"),
        (lambda: lt.affine().check((28, 28)), r"act on \[height, width, channels\]; got \(28, 28\)"),
        (lambda: lt.colour().check((28, 28, 1)), r"colour needs images \[height, width, 3\]; got \(28, 28, 1\)"),
        (lambda: lt.product(lt.affine(), lt.colour()).check((28, 28, 1)), "colour needs images"),
        (lambda: lt.affine("shift").coordinates[0].to_user(0.5), "give the images' size"),
        (lambda: lt.affine(box={"rotation": 45}), "goes more than once round its period of 6.28319; boxes are in η"),
        (lambda: lt.affine().element(jnp.zeros((3, 4))), r"expected η \[batch, 5\] for shift-x.*; got \(3, 4\)"),
        (lambda: lt.affine().act(lt.affine().identity(3), jnp.zeros((4, 8, 8, 1))), "each of 3 elements; got"),
        (lambda: lt.affine().act(lt.affine().identity(3), jnp.zeros((3, 8, 8))), r"expected images \[batch"),
        (lambda: lt.affine().act(lt.affine().identity(1), jnp.zeros((1, 8, 8, 1), jnp.uint8)), "got uint8"),
        (lambda: lt.colour().act(lt.colour().identity(2), jnp.zeros((2, 8, 8, 1))), "colour needs images"),
    ],
)
def test_what_cannot_be_is_refused_by_name(make, message):
    with pytest.raises(TransformError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: lt.affine("rotation", box={"rotation": (1, 2, 3)}),
            r"number, or \(low, high\), in η; got \(1, 2, 3\)",
        ),
        (lambda: lt.affine("rotation", box={"rotation": "45deg"}), "is a number, or .* got '45deg'"),
        (lambda: lt.affine("rotation", fill="white"), "the fill is a finite number, -1 for black; got 'white'"),
        (lambda: lt.affine("rotation", fill=float("nan")), "the fill is a finite number, -1 for black; got nan"),
        (lambda: lt.affine("rotation", interpolation="cubic"), "is 'bilinear' or 'bicubic'; got 'cubic'"),
        (lambda: lt.affine("rotation", chart="polar"), "chart is 'factored' or 'exp'; got 'polar'"),
    ],
)
def test_what_is_of_the_wrong_kind_is_refused_by_name(without_annotations, make, message):
    with pytest.raises(TransformError, match=message):
        make()
