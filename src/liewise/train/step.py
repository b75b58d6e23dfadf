"""The compiled heart of the loop: many steps in one device call, with no word to the host in between.

The number of steps is an argument, so that one compilation serves every length and the numbers are bitwise
the same however the steps are grouped.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jax.sharding import Mesh
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree, Scalar, UInt32

from liewise.train.config import Phase, TrainConfig
from liewise.train.devices import sharding
from liewise.train.failures import TrainError
from liewise.train.feed import Arrays, Feed, Slot
from liewise.train.optimiser import adamw, learning_rate
from liewise.train.schedules import Schedule

__all__ = ["Loss", "Outcome", "Parts", "Program", "State", "metric_names"]

Loss = Callable[[Any, dict[str, Any], PRNGKeyArray], tuple[Scalar, Mapping[str, Scalar]]]

_RESERVED = ("loss", "grad_norm", "learning_rate")


class State(NamedTuple):
    """What a step changes."""

    params: PyTree
    moments: PyTree
    step: Int[Array, ""]  # steps done
    halted: Bool[Array, ""]  # a loss or gradient was not finite: nothing changes any more


class Outcome(NamedTuple):
    """What a device call reports, fetched by the host once per call."""

    table: Float[Array, "steps names"]
    done: Int[Array, ""]  # rows of the table whose update was applied
    halted: Bool[Array, ""]  # the row after those is the one that was not finite


class Parts(NamedTuple):
    """A model and its company, taken apart: what is trained, other arrays, and what is not an array."""

    trained: PyTree
    arrays: PyTree
    static: PyTree

    @classmethod
    def of(cls, model: PyTree, constants: Mapping[str, PyTree]) -> "Parts":
        """Take a model and the constants of its loss apart."""
        trained, rest = eqx.partition(model, eqx.is_inexact_array)
        arrays, static = eqx.partition((rest, dict(constants)), eqx.is_array)
        return cls(trained, arrays, static)

    def join(self) -> tuple[PyTree, dict[str, PyTree]]:
        """The model and the constants."""
        rest, constants = eqx.combine(self.arrays, self.static)
        return eqx.combine(self.trained, rest), constants


class Program:
    """The loss and its optimiser, compiled once per batch size."""

    def __init__(
        self,
        loss: Loss,
        static: PyTree,
        schedules: Mapping[str, Schedule],
        config: TrainConfig,
        feed: Feed,
        mesh: Mesh,
    ):
        self._loss, self._static, self._schedules = loss, static, schedules
        self._config, self._feed, self._mesh = config, feed, mesh
        self._optimiser = adamw(config.optimiser, config.steps)
        self._rate = learning_rate(config.optimiser, config.steps)
        self._compiled: dict[Phase, jax.stages.Compiled] = {}
        self.names: tuple[str, ...] = ()

    def begin(self, params: PyTree) -> State:
        """The state before the first step."""
        return State(params, self._optimiser.init(params), jnp.int32(0), jnp.bool_(False))

    def prepare(self, state: State, arrays: PyTree, step: int) -> None:
        """Compile for the phase that this step belongs to, unless that has been done."""
        phase = self._config.phase(step)
        if phase in self._compiled:
            return
        slot, seed = self._feed.at(step), jnp.uint32(self._config.seed)
        example = jax.eval_shape(self._example(phase), state.params, arrays, slot[:2], seed)
        self.names = ("loss", *metric_names(example), "grad_norm", "learning_rate")
        whole = sharding(self._mesh)
        run = jax.jit(self._run(phase), donate_argnums=0, out_shardings=whole)
        self._compiled[phase] = run.lower(*self._arguments(state, arrays, slot, 0)).compile()

    def launch(self, state: State, arrays: PyTree, step: int, count: int) -> tuple[State, Outcome]:
        """Set the device to `count` steps from `step` on; returns at once, and the old state is gone."""
        phase = self._config.phase(step)
        slot = self._feed.at(step)
        return self._compiled[phase](*self._arguments(state, arrays, slot, count))

    def memory(self, step: int) -> int:
        """Bytes that a prepared call needs beyond its arguments, as the compiler plans it."""
        analysis = self._compiled[self._config.phase(step)].memory_analysis()
        if analysis is None:
            raise TrainError("expected a platform whose compiler plans memory; this one does not say")
        return analysis.temp_size_in_bytes

    def room(self, step: int) -> int:
        """The most steps that one call from `step` on can run."""
        return min(self._config.dispatch_steps, self._feed.at(step).room)

    def _arguments(self, state: State, arrays: PyTree, slot: Slot, count: int) -> tuple[Any, ...]:
        return state, arrays, (slot.arrays, slot.cursor), np.uint32(self._config.seed), np.int32(count)

    def _example(self, phase: Phase) -> Callable[..., Any]:
        def one(params: PyTree, arrays: PyTree, slot: tuple[Arrays, Any], seed: UInt32[Array, ""]) -> Any:
            return self._evaluate(params, arrays, self._feed.batch(slot, jnp.int32(0), phase), seed, jnp.int32(0))

        return one

    def _evaluate(
        self, params: PyTree, arrays: PyTree, rows: Arrays, seed: UInt32[Array, ""], step: Int[Array, ""]
    ) -> Any:
        model, constants = Parts(params, arrays, self._static).join()
        values = {name: schedule(step) for name, schedule in self._schedules.items()}
        key = jax.random.fold_in(jax.random.key(seed), step)
        return self._loss(model, {**rows, **values, **constants}, key)

    def _run(self, phase: Phase) -> Callable[..., tuple[State, Outcome]]:
        def run(
            state: State,
            arrays: PyTree,
            slot: tuple[Arrays, Any],
            seed: UInt32[Array, ""],
            count: Int[Array, ""],
        ) -> tuple[State, Outcome]:
            first = state.step

            def body(carry: tuple[State, Array]) -> tuple[State, Array]:
                state, table = carry
                i = state.step - first
                # Behind a barrier the loss is compiled alike wherever its batch comes from.
                rows = lax.optimization_barrier(self._feed.batch(slot, i, phase))
                state, row = self._step(state, arrays, rows, seed)
                return state, table.at[i].set(row)

            def more(carry: tuple[State, Array]) -> Bool[Array, ""]:
                state, _ = carry
                return (state.step - first < count) & ~state.halted

            empty = jnp.zeros((self._config.dispatch_steps, len(self.names)))
            state, table = lax.while_loop(more, body, (state, empty))
            return state, Outcome(table, state.step - first, state.halted)

        return run

    def _step(
        self, state: State, arrays: PyTree, rows: Arrays, seed: UInt32[Array, ""]
    ) -> tuple[State, Float[Array, " names"]]:
        def loss(params: PyTree) -> tuple[Any, Any]:
            return self._evaluate(params, arrays, rows, seed, state.step)

        (value, parts), gradient = jax.value_and_grad(loss, has_aux=True)(state.params)
        norm = optax.tree.norm(gradient)
        finite = jnp.isfinite(value) & jnp.isfinite(norm)
        # A branch, not a `where`: XLA then updates in place, and the guard costs nothing (a `where`: 4 %).
        params, moments = lax.cond(
            finite, self._update, lambda params, moments, _: (params, moments), state.params, state.moments, gradient
        )
        columns = {**parts, "loss": value, "grad_norm": norm, "learning_rate": self._rate(state.step)}
        row = jnp.stack([jnp.asarray(columns[name], jnp.float32) for name in self.names])
        return State(params, moments, state.step + finite.astype(jnp.int32), ~finite), row

    def _update(self, params: PyTree, moments: PyTree, gradient: PyTree) -> tuple[PyTree, PyTree]:
        updates, moments = self._optimiser.update(gradient, moments, params)
        return optax.apply_updates(params, updates), moments


def metric_names(returned: Any) -> tuple[str, ...]:
    """The names of a loss's metrics, once what it returns has been found to be of the agreed form."""
    if not (isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], Mapping)):
        raise TrainError(
            f"expected loss(model, batch, key) to return (scalar, dict of scalars); got {_describe(returned)}"
        )
    value, parts = returned
    if not (_is_scalar(value) and jnp.issubdtype(value.dtype, jnp.floating)):
        raise TrainError(f"expected loss(model, batch, key) to return a float scalar first; got {_describe(value)}")
    for name, part in parts.items():
        if name in _RESERVED:
            raise TrainError(f"expected metrics named other than {_RESERVED}; got one named {name!r}")
        if not _is_scalar(part):
            raise TrainError(f"expected the metric {name!r} to be a scalar; got {_describe(part)}")
    return tuple(sorted(parts))


def _is_scalar(value: Any) -> bool:
    return getattr(value, "shape", None) == () and hasattr(value, "dtype")


def _describe(value: Any) -> str:
    if hasattr(value, "shape"):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, tuple):
        return f"({', '.join(_describe(part) for part in value)})"
    return type(value).__name__
