import dataclasses
import json
import math
import threading

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import tiny

from liewise.train import (
    NonFiniteError,
    OptimiserConfig,
    TrainConfig,
    TrainError,
    examples_of_step,
    feed,
    schedules,
    train,
)
from liewise.train.devices import as_mesh
from liewise.train.optimiser import adamw

CONFIG = TrainConfig(
    steps=60, batch_size=16, log_every=1, validate_every=25, optimiser=OptimiserConfig(learning_rate=0.03)
)


def _train(config=CONFIG, *, model=None, loss=tiny.loss, data=None, **options):
    return train(model or tiny.Net(), loss, data or tiny.data(), config, progress="silent", **options)


@pytest.fixture(scope="module")
def reference():
    return _train(dataclasses.replace(CONFIG, dispatch_seconds=None))


def test_training_is_what_a_plain_loop_over_steps_does(reference):
    rows, model = tiny.data(), tiny.Net()
    params, static = eqx.partition(model, eqx.is_inexact_array)
    optimiser = adamw(CONFIG.optimiser, CONFIG.steps)
    moments = optimiser.init(params)

    @jax.jit
    def step(params, moments, batch, key):
        (value, _), gradient = jax.value_and_grad(
            lambda p: tiny.loss(eqx.combine(p, static), batch, key), has_aux=True
        )(params)
        updates, moments = optimiser.update(gradient, moments, params)
        return optax.apply_updates(params, updates), moments, value

    losses = []
    for i in range(CONFIG.steps):
        batch = {name: jnp.asarray(array[examples_of_step(CONFIG, i, 96)]) for name, array in rows.items()}
        key = jax.random.fold_in(jax.random.key(CONFIG.seed), i)
        params, moments, value = step(params, moments, batch, key)
        losses.append(float(value))
    assert np.allclose(reference.curve("loss")[1], losses, atol=1e-5)
    assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize(
    "grouping",
    [
        {"dispatch_steps": 1},
        {"dispatch_steps": 7},
        {"dispatch_seconds": 1e-4},
        {"dispatch_seconds": 10.0},
        {"checkpoint_every": 9},
    ],
    ids=str,
)
def test_numbers_do_not_depend_on_how_steps_are_grouped(reference, grouping, tmp_path):
    config = dataclasses.replace(CONFIG, **grouping)
    result = _train(config, run_dir=tmp_path if "checkpoint_every" in grouping else None)
    assert tiny.same(result.last, reference.last)
    assert result.history == reference.history


@pytest.mark.parametrize("stream_bytes", [1, 16 * 8 * 5, 2**20])
def test_streamed_data_give_bitwise_the_resident_numbers(reference, stream_bytes):
    result = _train(dataclasses.replace(CONFIG, resident_bytes=0, stream_bytes=stream_bytes))
    assert result.history == reference.history
    assert tiny.same(result.last, reference.last)


def test_the_next_buffer_is_gathered_while_one_is_in_use(monkeypatch):
    begun = {start: threading.Event() for start in (0, 5, 10)}
    load = feed.Streamed._load

    def watched(self, start):
        begun[start].set()
        return load(self, start)

    monkeypatch.setattr(feed.Streamed, "_load", watched)
    buffers = feed.Streamed(tiny.data(), dataclasses.replace(CONFIG, steps=15, stream_bytes=16 * 8 * 5), as_mesh(None))
    buffers.at(0)
    assert begun[5].wait(30)
    assert not begun[10].is_set()  # two at a time are held, and no more
    buffers.at(5)
    assert begun[10].wait(30)
    buffers.close()


def test_memory_mapped_data_are_streamed(reference, tmp_path):
    for name, rows in tiny.data().items():
        np.save(tmp_path / name, rows)
    mapped = {name: np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in tiny.data()}
    result = _train(dataclasses.replace(CONFIG, resident_bytes=0), data=mapped)
    assert result.history == reference.history


def test_a_thousand_steps_are_traced_once():
    traces = 0

    def loss(model, batch, key):
        nonlocal traces
        traces += 1
        return tiny.loss(model, batch, key)

    config = dataclasses.replace(CONFIG, steps=1000, dispatch_steps=70)
    _train(config, loss=loss)
    assert traces == 2  # once for the names of the metrics, once to compile


def test_a_batch_size_that_grows_sees_the_stream_without_a_gap():
    seen = []

    def loss(model, batch, key):
        value, parts = tiny.loss(model, batch, key)
        return value, {**parts, "size": jnp.float32(len(batch["x"])), "sum": batch["x"].astype(jnp.float32).sum()}

    changes = ((40, 32),)
    for resident in (None, 0):
        config = dataclasses.replace(CONFIG, batch_changes=changes, resident_bytes=resident)
        result = _train(config, loss=loss)
        assert result.curve("size")[1].tolist() == [16.0] * 40 + [32.0] * 20
        seen.append(result.history)
        sums = [tiny.data()["x"][examples_of_step(config, step, 96)].sum() for step in range(60)]
        assert result.curve("sum")[1].tolist() == sums
    assert seen[0] == seen[1]


def test_seeds_are_different_runs(reference):
    other = _train(dataclasses.replace(CONFIG, seed=1))
    assert other.history[0]["loss"] != reference.history[0]["loss"]


def test_the_batch_keeps_the_dtype_of_the_data():
    def loss(model, batch, key):
        assert batch["x"].dtype == jnp.uint8
        return tiny.loss(model, batch, key)

    _train(dataclasses.replace(CONFIG, steps=1), loss=loss)


def test_the_callers_model_and_data_survive():
    model, data = tiny.Net(), tiny.data()
    before = jax.tree.map(np.array, eqx.filter(model, eqx.is_array))
    _train(model=model, data=data)
    assert tiny.same(eqx.filter(model, eqx.is_array), before)
    assert all(np.array_equal(data[name], tiny.data()[name]) for name in data)


def test_schedules_are_in_the_batch_and_stand_at_their_end_in_validation():
    def loss(model, batch, key):
        value, _ = tiny.loss(model, batch, key)
        return value, {"beta": batch["beta"]}

    result = _train(loss=loss, schedules={"beta": schedules.linear(10.0, 4.0, 60)}, validation=tiny.data(20))
    assert np.allclose(result.curve("beta")[1], np.linspace(10, 4, 61)[:-1], atol=1e-5)
    assert result.curve("validation/beta")[1].tolist() == [4.0, 4.0, 4.0]


def test_constants_reach_the_loss_whole_and_are_not_trained():
    frozen = tiny.Net(width=3)
    before = jax.tree.map(np.array, eqx.filter(frozen, eqx.is_array))

    def loss(model, batch, key):
        target = jax.vmap(batch["teacher"].mlp)(batch["x"] / 127.5 - 1.0)[:, 0]
        return tiny.loss(model, {**batch, "y": target}, key)

    result = _train(loss=loss, constants={"teacher": frozen})
    assert result.history[-1]["loss"] < result.history[0]["loss"]
    assert tiny.same(frozen, before)


def test_arrays_that_are_not_floats_stay():
    class Odd(eqx.Module):
        net: tiny.Net
        table: jax.Array
        key: jax.Array

        def __call__(self, x, key):
            return self.net(x, key) * self.table[1]

    model = Odd(tiny.Net(), jnp.arange(3), jax.random.key(9))
    last = _train(model=model).last
    assert np.array_equal(last.table, [0, 1, 2])
    assert jnp.array_equal(jax.random.key_data(last.key), jax.random.key_data(jax.random.key(9)))


def test_validation_is_the_mean_over_all_examples_with_dropout_off():
    held_out = tiny.data(37, seed=1)

    def plain(model, batch, key):
        return jnp.mean((model(batch["x"] / 127.5 - 1.0, key) - batch["y"]) ** 2), {}

    config = dataclasses.replace(CONFIG, validation_batch_size=16)
    result = _train(config, validation=held_out, validation_loss=plain)
    guess = jax.vmap(result.last.mlp)(held_out["x"] / np.float32(127.5) - 1)[:, 0]
    assert math.isclose(result.history[-1]["validation/loss"], np.mean((guess - held_out["y"]) ** 2), rel_tol=1e-5)
    steps, _ = result.curve("validation/loss")
    assert steps.tolist() == [25, 50, 60]
    streamed = _train(dataclasses.replace(config, resident_bytes=0), validation=held_out, validation_loss=plain)
    assert streamed.history == result.history


def _scored(scores):
    """A validation loss that follows a script, by the number of steps behind it."""

    def loss(model, batch, key):
        return jnp.asarray(scores)[jnp.round(model.count).astype(int)], {}

    return loss


class _Counter(eqx.Module):
    count: jax.Array


def _count(model, batch, key):
    return -model.count * 1.0, {}


_COUNTING = TrainConfig(
    steps=8,
    batch_size=1,
    validate_every=1,
    log_every=1,
    optimiser=OptimiserConfig(1.0, 1.0, 1.0, 0.0, weight_decay=0.0),
)


def _counting(config, scores, **options):
    data = {"x": np.zeros(4, np.float32)}
    options = {"validation": data, "validation_loss": _scored(scores), "progress": "silent", **options}
    return train(_Counter(jnp.zeros(())), _count, data, config, **options)


def test_the_best_model_is_kept():
    result = _counting(_COUNTING, [9.0, 5.0, 4.0, 6.0, 3.0, 7.0, 8.0, 3.0, 9.0])
    assert (result.best_step, result.best_score, result.stopped, result.step) == (4, 3.0, "finished", 8)
    assert round(float(result.best.count)) == 4
    assert round(float(result.last.count)) == 8


def test_patience_ends_a_run_that_does_not_improve_and_it_stays_ended(tmp_path):
    config = dataclasses.replace(_COUNTING, patience=2)
    for _ in range(2):
        result = _counting(config, [9.0, 5.0, 4.0, 6.0, 4.0, 1.0, 1.0, 1.0, 1.0], run_dir=tmp_path)
        assert (result.stopped, result.step, result.best_step) == ("patience", 4, 2)
        assert round(float(result.best.count)) == 2


def test_without_validation_the_best_is_the_last(reference):
    assert tiny.same(reference.best, reference.last)
    assert (reference.best_step, reference.best_score) == (60, None)


def _poisoned(step: int, what: str):
    def loss(model, batch, key):
        value, parts = tiny.loss(model, batch, key)
        bad = batch["step"] == step
        if what == "loss":
            value = jnp.where(bad, jnp.nan, value)
        else:
            weight = model.mlp.layers[0].weight[0, 0]
            value = value + jnp.sqrt(jnp.where(bad, 0.0 * weight, 1.0))  # zero, with a slope of infinity times zero
        return value, {**parts, "share": jnp.where(bad, jnp.inf, 0.5)}

    return loss


@pytest.mark.parametrize(("what", "dispatch_steps"), [("loss", 1), ("loss", 5), ("gradient", 1024)])
def test_a_run_that_stops_being_finite_ends_at_the_last_good_step(what, dispatch_steps, tmp_path):
    config = dataclasses.replace(CONFIG, dispatch_steps=dispatch_steps, dispatch_seconds=None)
    counter = {"step": lambda step: step}
    with pytest.raises(NonFiniteError, match=r"not finite after 37 steps \(.*share inf.*nonfinite.json") as caught:
        _train(config, loss=_poisoned(37, what), schedules=counter, run_dir=tmp_path)
    assert caught.value.step == 37
    assert caught.value.parts["share"] == math.inf
    report = json.loads((tmp_path / "nonfinite.json").read_text())
    assert report["examples"] == examples_of_step(config, 37, 96).tolist()
    assert report["parts"]["share"] == "inf"
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == list(range(1, 38))
    mended = _train(config, loss=_poisoned(-1, what), schedules=counter, run_dir=tmp_path)
    assert mended.step == 60
    assert [row["step"] for row in mended.history] == list(range(1, 61))


def test_a_validation_loss_that_is_not_finite_ends_the_run():
    with pytest.raises(NonFiniteError, match="the validation loss is not finite after 3 steps"):
        _counting(_COUNTING, [9.0, 5.0, 4.0, math.nan, 4.0, 1.0, 1.0, 1.0, 1.0])


def _bad_loss(returned):
    return lambda model, batch, key: returned(model.mlp.layers[0].weight.sum())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": {"x": np.zeros((3, 4)), "y": np.zeros(4)}}, r"equally long arrays; got lengths \{'x': 3, 'y': 4\}"),
        ({"data": {"x": np.array(["a"])}}, "number arrays; got 'x' of <U1"),
        ({"data": {"x": np.float32(3)}}, "number arrays; got 'x' of float32"),
        ({"data": {"x": np.zeros((0, 4))}}, "examples; got 0"),
        ({"validation": {"x": np.zeros((0, 4))}}, "validation data of 1 to .* examples; got 0"),
        ({"schedules": {"x": schedules.constant(1.0)}}, "cannot hold 'x' twice: it is in data and in schedules"),
        ({"constants": {"y": 3}}, "cannot hold 'y' twice: it is in data and in constants"),
        ({"model": eqx.nn.Identity()}, "floating-point arrays to train"),
        ({"loss": _bad_loss(lambda w: w)}, r"\(scalar, dict of scalars\); got float32\[\]"),
        ({"loss": _bad_loss(lambda w: (w[None], {}))}, r"a float scalar first; got float32\[1\]"),
        ({"loss": _bad_loss(lambda w: (w, {"a": jnp.stack([w, w])}))}, r"metric 'a' to be a scalar; got float32\[2\]"),
        ({"loss": _bad_loss(lambda w: (w, {"loss": w}))}, "got one named 'loss'"),
        ({"loss": _bad_loss(lambda w: (w, w))}, r"got \(float32\[\], float32\[\]\)"),
    ],
)
def test_what_the_loop_cannot_work_with_is_refused_by_name(options, message):
    with pytest.raises(TrainError, match=message):
        _train(**options)


def test_empty_data_are_refused():
    with pytest.raises(TrainError, match="at least one array; got none"):
        train(tiny.Net(), tiny.loss, {}, CONFIG, progress="silent")


def test_an_unknown_curve_is_refused(reference):
    with pytest.raises(TrainError, match="no 'lss' in this run's history; it has first, grad_norm"):
        reference.curve("lss")


def test_a_run_folder_that_cannot_be_made_is_refused_before_training(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TrainError, match=r"a run folder that can be written to; .*file"):
        _train(run_dir=tmp_path / "file" / "run")
