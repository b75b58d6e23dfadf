"""Numbers with their units and signs, as people read them."""

__all__ = ["axis_words", "describe_value"]

_UNITS = {"deg": "°", "factor": "×", "times": ""}


def axis_words(name: str, unit: str) -> str:
    """Write what an axis shows, with its unit.

    >>> axis_words("rotation", "deg"), axis_words("shift-x", "px"), axis_words("flip-x", "times")
    ('rotation, °', 'shift-x, px', 'flip-x')
    """
    word = _UNITS.get(unit, unit)
    return f"{name}, {word}" if word else name


def describe_value(value: float, unit: str) -> str:
    """Write a value of a coordinate, or of a factor, in its unit.

    >>> describe_value(-90.0, "deg"), describe_value(3.25, "px"), describe_value(1.284, "factor")
    ('-90°', '+3.2 px', '×1.28')
    """
    if unit == "deg":
        return f"{_signed(value, 0)}°"
    if unit == "px":
        return f"{_signed(value, 1)} px"
    if unit == "factor":
        return f"×{value:.2f}"
    if unit == "times":
        return "mirrored" if value else "as it is"
    return _signed(value, 2) + ("" if unit == "ratio" else f" {unit}")


def _signed(value: float, digits: int) -> str:
    rounded = round(value, digits)
    return f"{rounded:+.{digits}f}" if rounded else f"{0:.{digits}f}"
