"""Configurations as plain values that JSON holds, and back."""

import dataclasses
import typing
from typing import Any, TypeVar

from liewise.errors import StoreError

__all__ = ["from_plain", "to_plain"]

T = TypeVar("T")


def to_plain(config: Any) -> dict[str, Any]:
    """Return a dataclass as nested dictionaries."""
    return dataclasses.asdict(config)


def from_plain(kind: type[T], values: dict[str, Any]) -> T:
    """Build the dataclass again; what it does not know is refused by name."""
    hints = typing.get_type_hints(kind)
    unknown = sorted(set(values) - set(hints))
    if unknown:
        raise StoreError(f"{kind.__name__} has no {', '.join(unknown)}; the file is of another version")
    return kind(**{name: _value(hints[name], value) for name, value in values.items()})


def _value(hint: Any, value: Any) -> Any:
    if isinstance(value, dict) and dataclasses.is_dataclass(hint):
        return from_plain(typing.cast(type, hint), value)
    if isinstance(value, list):
        return tuple(_value(None, item) for item in value)
    return value
