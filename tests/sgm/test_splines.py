import jax
import jax.numpy as jnp
import numpy as np
import pytest

from liewise.sgm.splines import INTERVAL, CircularSpline, Spline, bend, circle_splines, evaluate, invert, line_splines

FAMILIES = {
    "one spline on a line": (lambda: bend(Spline(6, INTERVAL)), INTERVAL),
    "splines on a line": (lambda: line_splines(2, 8), INTERVAL),
    "one spline on a circle": (lambda: bend(CircularSpline(bins=6, offset=1.0)), np.pi),
    "splines on a circle": (lambda: circle_splines(2, 8), np.pi),
    "a circle of one turn": (lambda: bend(CircularSpline(bins=5, half_period=0.5, offset=0.3)), 0.5),
}
CIRCLES = [name for name in FAMILIES if "circle" in name]
ROWS = 300


def _bent(name, spread=1.0):
    """A family of bijections, parameters of bent versions of it, and a place on each."""
    make, edge = FAMILIES[name]
    family = make()
    rng = np.random.default_rng(0)
    parameters = spread * rng.normal(size=(ROWS, family.size))
    return family, jnp.asarray(parameters, jnp.float32), jnp.asarray(rng.uniform(-edge, edge, ROWS), jnp.float32)


def _gap(a, b, name):
    """The distance between two places, the short way round on a circle."""
    gap = np.abs(np.asarray(a - b))
    turn = 2 * FAMILIES[name][1]
    return np.minimum(gap, turn - gap) if name in CIRCLES else gap


@pytest.mark.parametrize("name", FAMILIES)
def test_bending_is_undone(name):
    family, parameters, x = _bent(name)
    y, _ = evaluate(family, parameters, x)
    assert np.max(_gap(x, y, name)) > 0.1 * FAMILIES[name][1]
    assert np.max(_gap(invert(family, parameters, y), x, name)) < 2e-3
    assert np.median(_gap(invert(family, parameters, y), x, name)) < 1e-5


@pytest.mark.parametrize("name", FAMILIES)
def test_the_log_determinant_is_that_of_the_jacobian_both_ways(name):
    family, parameters, x = _bent(name)
    y, log_det = evaluate(family, parameters, x)
    slopes = jax.vmap(lambda p, v: jax.grad(lambda u: family.make(p).transform(u))(v))(parameters, x)
    back = jax.vmap(lambda p, v: family.make(p).inverse_and_log_det(v)[1])(parameters, y)
    assert np.allclose(log_det, np.log(slopes), atol=1e-4)
    assert np.median(np.abs(back + log_det)) < 1e-4


@pytest.mark.parametrize("name", FAMILIES)
def test_zeros_are_the_identity(name):
    family, parameters, x = _bent(name, spread=0.0)
    y, log_det = evaluate(family, parameters, x)
    assert np.max(_gap(x, y, name)) < 1e-5
    assert np.allclose(log_det, 0, atol=1e-5)


@pytest.mark.parametrize("name", CIRCLES)
def test_values_and_slopes_are_continuous_across_the_seam(name):
    family, parameters, _ = _bent(name)
    edge = FAMILIES[name][1]
    before, slope_before = evaluate(family, parameters, jnp.full(ROWS, edge * (1 - 1e-6)))
    behind, slope_behind = evaluate(family, parameters, jnp.full(ROWS, -edge))
    assert np.max(_gap(before, behind, name)) < 1e-3 * edge
    assert np.max(np.abs(slope_before - slope_behind)) < 1e-2


def test_slopes_are_continuous_at_the_fixed_point_wherever_it_is():
    family, parameters, _ = _bent("one spline on a circle")
    fixed = -(1.0 + parameters[:, -1])  # the offset comes last
    low, slope_low = evaluate(family, parameters, fixed + np.pi - 1e-4)
    _, slope_high = evaluate(family, parameters, fixed + np.pi + 1e-4)
    assert np.max(np.abs(np.sin((low - fixed - np.pi) / 2))) < 1e-2
    assert np.median(np.abs(slope_low - slope_high)) < 0.01


@pytest.mark.parametrize("name", CIRCLES)
def test_once_round_is_sent_to_once_round(name):
    family, parameters, _ = _bent(name)
    edge = FAMILIES[name][1]
    places = jnp.linspace(-edge, edge, 4001)[:-1]
    _, log_det = evaluate(family, jnp.broadcast_to(parameters[0], (4000, parameters.shape[1])), places)
    assert np.mean(np.exp(log_det)) == pytest.approx(1.0, abs=2e-3)


def test_a_line_beyond_the_interval_stays_as_it_is():
    family, parameters, _ = _bent("splines on a line")
    far = jnp.linspace(3.1, 50.0, ROWS)
    for x in (far, -far):
        y, log_det = evaluate(family, parameters, x)
        assert np.array_equal(y, x)
        assert np.array_equal(log_det, np.zeros(ROWS))
        assert np.array_equal(invert(family, parameters, x), x)


@pytest.mark.parametrize("name", FAMILIES)
def test_wild_parameters_give_finite_values_and_gradients_both_ways(name):
    family, parameters, x = _bent(name, spread=20.0)
    values = (*evaluate(family, parameters, x), invert(family, parameters, x))
    gradients = jax.grad(lambda p, v: sum(jnp.sum(part) for part in evaluate(family, p, v)), (0, 1))(parameters, x)
    assert all(np.isfinite(part).all() for part in (*values, *gradients))


@pytest.mark.parametrize("name", FAMILIES)
def test_every_parameter_has_a_gradient(name):
    family, parameters, x = _bent(name)
    gradients = jax.grad(lambda p: jnp.sum(evaluate(family, p, x)[1]))(parameters)
    assert (np.abs(gradients).sum(0) > 0).all()
