"""Writing a JAX function down as a program that NumPy alone can run.

The function is traced, calls are written out in place, and what nobody needs is left out. Lengths that depend on how
many examples there are: see `generalising`.
"""

import hashlib
import inspect
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from liewise.augment.generalising import generalised, points
from liewise.augment.program import OPERATIONS, Program
from liewise.errors import TransformError

__all__ = ["write_program"]

_SAME = {"copy", "copy_p", "stop_gradient", "optimization_barrier", "reduce_precision", "random_wrap", "random_unwrap"}
_CALLS = {"jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "remat", "checkpoint"}
_BODIES = {"call_jaxpr", "jaxpr", "fun_jaxpr"}
_READ = re.compile(r"liewise\.sample:(\w+):([^/\s)]+)")  # the scope that `transforms.sample` names


def write_program(
    function: Callable[..., Any], shapes: Callable[..., Sequence[jax.ShapeDtypeStruct]], sizes: tuple[str, ...] = ("b",)
) -> Program:
    """Write a function of arrays down.

    Args:
        function: called with arrays, and with the sizes by name if it takes any by these names; returns a pytree.
        shapes: what the arrays are like, for given sizes by name.
        sizes: the names of lengths that may be anything when the program runs.
    """
    takes = set(inspect.signature(function).parameters) & set(sizes)
    written: list[tuple[tuple[int, ...], dict[str, Any]]] = []
    arrays: dict[str, np.ndarray] = {}
    for point in points(len(sizes)):
        named = dict(zip(sizes, point, strict=True))
        some = {name: named[name] for name in takes}
        closed = jax.make_jaxpr(lambda *inputs, some=some: function(*inputs, **some))(*shapes(**named))
        written.append((point, _write(closed.jaxpr, closed.consts, arrays)))
    return Program({**generalised(written), "sizes": list(sizes)}, arrays)


def _write(jaxpr: Jaxpr, consts: Sequence[Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    sheet = _Sheet(arrays)
    inputs = [sheet.slot() for _ in jaxpr.invars]
    outputs = sheet.write(jaxpr, [sheet.constant(value) for value in consts], inputs)
    return sheet.finished(inputs, outputs)


class _Sheet:
    """A program as it is being written: values in numbered slots, and steps from slots to slots."""

    def __init__(self, arrays: dict[str, np.ndarray]):
        self.arrays = arrays  # by a name made of what they hold; all programs share them
        self.steps: list[list[Any]] = []
        self.constants: dict[Any, int] = {}
        self.count = 0

    def slot(self) -> int:
        self.count += 1
        return self.count - 1

    def constant(self, value: Any) -> int:
        value = jax.random.key_data(value) if jnp.issubdtype(jnp.asarray(value).dtype, jax.dtypes.prng_key) else value
        value = np.asarray(value)
        if value.ndim == 0:
            what = str(value.dtype), _number(value)
        else:
            what = hashlib.blake2b(f"{value.shape} {value.dtype}".encode() + value.tobytes(), digest_size=8).hexdigest()
            self.arrays[what] = value
        if what not in self.constants:
            self.constants[what] = self.slot()
        return self.constants[what]

    def write(self, jaxpr: Jaxpr, consts: Sequence[int], args: Sequence[int]) -> list[int]:
        """Write the steps of a jaxpr, and return where its results are."""
        at: dict[Any, int] = {
            **dict(zip(jaxpr.constvars, consts, strict=True)),
            **dict(zip(jaxpr.invars, args, strict=True)),
        }

        def place(operand: Any) -> int:
            if isinstance(operand, Literal):
                aval: Any = operand.aval
                return self.constant(np.asarray(operand.val, aval.dtype))
            return at[operand]

        for equation in jaxpr.eqns:
            made = self._equation(equation, [place(v) for v in equation.invars])
            at.update(zip(equation.outvars, made, strict=True))
        return [place(v) for v in jaxpr.outvars]

    def _equation(self, equation: Any, ins: list[int]) -> list[int]:
        name, params = equation.primitive.name, equation.params
        if name in _SAME:
            return ins
        if name in _CALLS:
            body = next(value for key, value in params.items() if key in _BODIES)
            read = _reads(body)
            return self._step("read_between", ins, 1, read) if read else self._inside(body, ins)
        if name not in OPERATIONS:
            raise TransformError(
                f"NumPy has to do without {name}, which the model or its group uses: there is no augmenter and no"
                " export for it; resample and prototype do work"
            )
        return self._step(name, ins, len(equation.outvars), self._params(name, equation))

    def _inside(self, body: ClosedJaxpr | Jaxpr, ins: list[int]) -> list[int]:
        if isinstance(body, Jaxpr):
            return self.write(body, [], ins)
        return self.write(body.jaxpr, [self.constant(value) for value in body.consts], ins)

    def _step(self, name: str, ins: list[int], count: int, params: dict[str, Any]) -> list[int]:
        outs = [self.slot() for _ in range(count)]
        self.steps.append([name, ins, outs, params])
        return outs

    def _params(self, name: str, equation: Any) -> dict[str, Any]:
        params = {_OTHER_NAMES.get((name, key), key): value for key, value in equation.params.items()}
        if name.startswith("random") and not _known_stream(equation, params):
            raise TransformError(
                "only the random numbers that JAX makes by default, 32 bits at a time, can be had in NumPy: see"
                " jax_default_prng_impl and jax_threefry_partitionable"
            )
        wanted = inspect.signature(OPERATIONS[name]).parameters.values() if name not in _UFUNCS else ()
        return {p.name: self._plain(params[p.name]) for p in wanted if p.kind is inspect.Parameter.KEYWORD_ONLY}

    def _plain(self, value: Any) -> Any:
        """Return a parameter as JSON holds it."""
        if isinstance(value, ClosedJaxpr):
            return _write(value.jaxpr, value.consts, self.arrays)
        if hasattr(value, "offset_dims"):  # of a gather
            return {key: self._plain(getattr(value, key)) for key in _GATHER}
        if hasattr(value, "name") and hasattr(value, "value"):  # an enumeration's
            return value.name
        if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
            return str(np.dtype(value))
        if isinstance(value, list | tuple):
            return [self._plain(item) for item in value]
        return _number(value) if isinstance(value, float | np.generic) else value

    def finished(self, inputs: list[int], outputs: list[int]) -> dict[str, Any]:
        """Leave out what nobody needs, and return the rest."""
        needed, steps = set(outputs), []
        for name, ins, outs, params in reversed(self.steps):
            if needed.isdisjoint(outs):
                continue
            kept = _without_spare_rows(outs, params, needed) if name == "scan" else outs
            needed.update(ins)
            steps.append([name, ins, kept, params])
        constants = [
            [slot, what if isinstance(what, str) else list(what)]
            for what, slot in self.constants.items()
            if slot in needed
        ]
        return {
            "slots": self.count,
            "constants": constants,
            "inputs": inputs,
            "steps": steps[::-1],
            "outputs": outputs,
        }


_UFUNCS = {name for name, operation in OPERATIONS.items() if isinstance(operation, np.ufunc)}
_GATHER = (
    "offset_dims",
    "collapsed_slice_dims",
    "start_index_map",
    "operand_batching_dims",
    "start_indices_batching_dims",
)
_OTHER_NAMES = {("scan", "jaxpr"): "body", ("while", "body_jaxpr"): "body", ("while", "cond_jaxpr"): "condition"}


def _known_stream(equation: Any, params: Any) -> bool:
    kind = str(equation.invars[0].aval.dtype)
    return (
        kind == "key<fry>"
        and params.get("bit_width", 32) == 32
        and getattr(jax.config, "jax_threefry_partitionable", False)
    )


def _number(value: Any) -> float | int | bool | str:
    """Return a number as JSON holds it, and so that it equals itself."""
    plain = value.item() if isinstance(value, np.generic | np.ndarray) else value
    return str(plain) if isinstance(plain, float) and not math.isfinite(plain) else plain


def _without_spare_rows(outs: list[Any], params: dict[str, Any], needed: set[int]) -> list[int | None]:
    """Leave out the rows of a scan that nobody needs; what makes them stays where something else needs it."""
    carry, body = params["num_carry"], params["body"]
    used = [i < carry or slot in needed for i, slot in enumerate(outs)]
    body["outputs"] = [slot if keep else None for slot, keep in zip(body["outputs"], used, strict=True)]
    alive, steps = {slot for slot in body["outputs"] if slot is not None}, []
    for step in reversed(body["steps"]):
        if not alive.isdisjoint(step[2]):
            alive.update(step[1])
            steps.append(step)
    body["steps"] = steps[::-1]
    return [slot if keep else None for slot, keep in zip(outs, used, strict=True)]


def _reads(body: ClosedJaxpr | Jaxpr) -> dict[str, Any] | None:
    """Recognise `transforms.sample`, by the scope in which all that it does lies."""
    jaxpr = body.jaxpr if isinstance(body, ClosedJaxpr) else body
    found = [_READ.search(str(equation.source_info.name_stack)) for equation in jaxpr.eqns]
    if not found or not all(found) or found[0] is None:
        return None
    return {"kind": found[0][1], "fill": float(found[0][2])}
