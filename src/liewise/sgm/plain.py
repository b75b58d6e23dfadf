"""Configurations as plain values that JSON holds, and back."""

import dataclasses
import typing
from typing import Any, TypeVar

from liewise.errors import StoreError, TransformError
from liewise.transforms import Group, from_json, to_json

__all__ = ["from_plain", "group_from_plain", "group_to_plain", "to_plain"]

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


def group_to_plain(group: Group) -> dict[str, Any]:
    """Return a group as plain values; one that is not of liewise by its name and coordinates."""
    try:
        return to_json(group)
    except TransformError:
        return {"own": type(group).__name__, "coordinates": [to_plain(c) for c in group.coordinates]}


def group_from_plain(values: dict[str, Any] | None) -> Group | None:
    """Build the group again; one that is not of liewise cannot be."""
    if values is None:
        return None
    if "own" in values:
        raise StoreError(f"the model's group, {values['own']}, is not one of liewise's: give it, by load(..., group=)")
    return from_json(values)


def _value(hint: Any, value: Any) -> Any:
    if isinstance(value, dict) and dataclasses.is_dataclass(hint):
        return from_plain(typing.cast(type, hint), value)
    if isinstance(value, list):
        return tuple(_value(None, item) for item in value)
    return value
