"""Operations of a program that work element by element, or along axes, under the names that JAX gives them."""

import numpy as np

__all__ = ["ARITHMETIC"]

_NEAR_ONE = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087)
_NEAR_ONE += (-0.00125372503, -0.00417768164, 0.246640727, 1.50140941)
_TAIL = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773)
_TAIL += (-0.0076224613, 0.00943887047, 1.00167406, 2.83297682)


def _div(a, b):
    if np.issubdtype(np.asarray(a).dtype, np.floating):
        return np.divide(a, b)
    return np.trunc(np.divide(a, b, dtype=np.float64)).astype(np.asarray(a).dtype)  # XLA rounds towards zero


def _integer_pow(x, *, y: int):
    power, result = x, None
    for bit in reversed(bin(abs(y))[2:]):
        if bit == "1":
            result = power if result is None else result * power
        power = power * power
    result = np.ones_like(x) if result is None else result
    return 1 / result if y < 0 else result


def _erf_inv(x):
    """The inverse of the error function in single precision (M. Giles, 2012), as XLA has it."""
    w = -np.log1p(-x * x)
    tail = w >= 5
    t = np.where(tail, np.sqrt(w) - 3, w - np.float32(2.5)).astype(np.float32)
    total = np.zeros_like(t)
    for near, far in zip(_NEAR_ONE, _TAIL, strict=True):
        total = np.where(tail, np.float32(far), np.float32(near)) + total * t
    return np.where(np.abs(x) == 1, x * np.float32(np.inf), total * x)


def _convert(x, *, new_dtype: str):
    return np.asarray(x).astype(new_dtype)


def _bitcast(x, *, new_dtype: str):
    return np.ascontiguousarray(x).view(new_dtype).reshape(np.shape(x))


def _round(x, *, rounding_method: str):
    if rounding_method == "TO_NEAREST_EVEN":
        return np.rint(x)
    whole = np.trunc(x)
    return whole + np.sign(x) * (np.abs(x - whole) >= 0.5)


def _select(which, *cases):
    which = np.asarray(which)
    if len(cases) == 2 and which.dtype == bool:
        return np.where(which, cases[1], cases[0])
    return np.choose(which.astype(np.intp), cases)


def _along(function):
    def run(x, *, axis: int, reverse: bool):
        return np.flip(function(np.flip(x, axis), axis), axis) if reverse else function(x, axis)

    return run


def _over(function):
    return lambda x, *, axes: function(x, axis=tuple(axes))


def _place(function):
    def run(x, *, axes: list[int], index_dtype: str):
        return function(x, axis=axes[0]).astype(index_dtype)

    return run


def _sort(*operands, dimension: int):
    order = np.argsort(operands[0], axis=dimension, kind="stable")
    return tuple(np.take_along_axis(operand, order, dimension) for operand in operands)


ARITHMETIC = {
    **{n: getattr(np, n) for n in ("abs", "ceil", "cos", "cosh", "exp", "exp2", "expm1", "floor", "log", "log1p")},
    **{n: getattr(np, n) for n in ("nextafter", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh", "cbrt")},
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": _div,
    "rem": np.fmod,
    "neg": np.negative,
    "max": np.maximum,
    "min": np.minimum,
    "pow": np.power,
    "integer_pow": _integer_pow,
    "atan2": np.arctan2,
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "acosh": np.arccosh,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "add_any": np.add,
    "erf_inv": _erf_inv,
    "round": _round,
    "is_finite": np.isfinite,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt_to": np.less,
    "le_to": np.less_equal,
    "not": np.invert,
    "xor": np.bitwise_xor,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "shift_left": np.left_shift,
    "shift_right_logical": lambda x, by: np.right_shift(x.view(f"u{x.itemsize}"), by.astype(f"u{x.itemsize}")),
    "shift_right_arithmetic": np.right_shift,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "clamp": lambda low, x, high: np.minimum(np.maximum(x, low), high),
    "select_n": _select,
    "convert_element_type": _convert,
    "bitcast_convert_type": _bitcast,
    "cumsum": _along(np.cumsum),
    "cumprod": _along(np.cumprod),
    "cummax": _along(np.maximum.accumulate),
    "cummin": _along(np.minimum.accumulate),
    "reduce_sum": _over(np.sum),
    "reduce_max": _over(np.max),
    "reduce_min": _over(np.min),
    "reduce_prod": _over(np.prod),
    "reduce_and": _over(np.all),
    "reduce_or": _over(np.any),
    "argmax": _place(np.argmax),
    "argmin": _place(np.argmin),
    "sort": _sort,
}
