import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from liewise.train import OptimiserConfig, TrainConfig, TrainError, schedules
from liewise.train.optimiser import adamw, learning_rate


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"steps": 0}, "steps >= 1; got 0"),
        ({"batch_size": -3}, "batch_size >= 1; got -3"),
        ({"patience": 0}, "patience >= 1 or None; got 0"),
        ({"checkpoint_seconds": 0.0}, "checkpoint_seconds > 0 or None; got 0"),
        ({"seed": -1}, r"0 <= seed < 2\*\*31; got -1"),
        ({"resident_bytes": -1}, "resident_bytes >= 0; got -1"),
        ({"steps": 10, "batch_changes": ((10, 4),)}, "steps ascending within 1..9"),
        ({"steps": 10, "batch_changes": ((5, 4), (3, 8))}, "steps ascending"),
        ({"steps": 10, "batch_changes": ((5, 0),)}, "sizes >= 1"),
        ({"batch_size": 2**30}, r"dispatch_steps \* batch size < 2\*\*31"),
    ],
)
def test_impossible_settings_are_refused_by_name(setting, message):
    with pytest.raises(TrainError, match=message):
        TrainConfig(**setting)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"learning_rate": 0.0}, "learning_rate > 0"),
        ({"final_multiplier": -1.0}, "final_multiplier >= 0"),
        ({"warmup_fraction": 1.0}, "0 <= warmup_fraction < 1"),
        ({"clip_norm": 0.0}, "clip_norm > 0 or None"),
    ],
)
def test_impossible_optimisers_are_refused_by_name(setting, message):
    with pytest.raises(TrainError, match=message):
        OptimiserConfig(**setting)


def test_phases_cover_the_steps_and_count_the_examples():
    phases = TrainConfig(steps=10, batch_size=2, batch_changes=((3, 4), (7, 8))).phases
    assert [dataclasses.astuple(phase) for phase in phases] == [(0, 3, 2, 0), (3, 7, 4, 6), (7, 10, 8, 22)]


def test_learning_rate_warms_up_linearly_and_decays_by_a_cosine():
    rate = learning_rate(
        OptimiserConfig(learning_rate=0.1, initial_multiplier=0.1, final_multiplier=0.01, warmup_fraction=0.2), 100
    )
    assert np.allclose([rate(0), rate(10), rate(20), rate(60), rate(100)], [0.01, 0.055, 0.1, 0.0505, 0.001])


def test_a_short_run_has_a_learning_rate():
    rates = [float(learning_rate(OptimiserConfig(warmup_fraction=0.9), steps)(0)) for steps in (1, 2, 3)]
    assert np.isfinite(rates).all()


def test_the_optimiser_is_adamw_after_clipping_by_global_norm():
    config = OptimiserConfig(0.1, 1.0, 1.0, 0.0, weight_decay=0.01, clip_norm=1.0)
    optimiser = adamw(config, 10)
    params, gradients = jnp.array([1.0, -2.0]), [jnp.array([3.0, 4.0]), jnp.array([0.1, 0.2])]
    state = optimiser.init(params)
    want, m, v = np.array([1.0, -2.0]), np.zeros(2), np.zeros(2)
    for t, gradient in enumerate(gradients, 1):
        updates, state = optimiser.update(gradient, state, params)
        params = params + updates
        g = np.asarray(gradient, float)
        g = g / max(1.0, np.linalg.norm(g))
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        step = m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        want = want - 0.1 * (step + 0.01 * want)
    assert np.allclose(params, want, atol=1e-5)


def test_schedules_begin_and_end_where_they_say():
    made = [
        (schedules.constant(3.0), 3.0, 3.0),
        (schedules.linear(1.0, 5.0, 10), 1.0, 5.0),
        (schedules.cosine(10.0, 1.0, 10), 10.0, 1.0),
        (schedules.warmup_cosine(2.0, 10, initial=0.5, final=0.25, warmup=3), 0.5, 0.25),
    ]
    for schedule, first, last in made:
        assert np.allclose([schedule(0), schedule(10), schedule(99)], [first, last, last])
        assert jnp.shape(schedule(jnp.int32(4))) == ()


def test_a_schedule_without_steps_is_refused():
    with pytest.raises(TrainError, match="at least one step; got 0"):
        schedules.cosine(1.0, 0.0, 0)
