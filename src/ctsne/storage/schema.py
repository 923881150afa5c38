"""What stored values and arrays must look like, written down once, and the one checker of both."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import LARGEST_VALUE, MOST_POINTS
from ctsne._core.messages import listed, shown

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Number:
    """A finite number in a range."""

    low: float = -LARGEST_VALUE
    high: float = LARGEST_VALUE
    whole: bool = False


@dataclass(frozen=True)
class Array:
    """An array: its type, its shape with names for sizes, and the range of its values."""

    dtype: str  # "floating" is single or double precision
    shape: tuple[str | int, ...]
    low: float = -LARGEST_VALUE
    high: float = LARGEST_VALUE
    below: str | None = None  # a size that all values are smaller than
    gaps: bool = False  # values may be NaN
    optional: bool = False


COUNT = Number(0, MOST_POINTS, whole=True)
POSITIVE = Number(math.ulp(0.0))


def check_plain(value: Any, wanted: Any, what: str) -> None:
    """Refuse a value read from JSON that does not match a schema.

    A schema is a type, a `Number`, a set of texts to choose from, ``[schema]`` for a list,
    ``{str: schema}`` for any names with values, a mapping with all names, or ``(None, schema)`` for
    a value that may be missing.
    """
    match wanted:
        case (None, present):
            if value is not None:
                check_plain(value, present, what)
        case Number():
            number = not isinstance(value, bool) and isinstance(value, int | float)
            kind = "a whole number" if wanted.whole else "a number"
            require(number and not (wanted.whole and type(value) is not int), what, kind, value)
            inside = wanted.low <= value <= wanted.high  # false for NaN too
            require(inside, what, f"{kind} from {wanted.low:g} to {wanted.high:g}", value)
        case set() | frozenset():
            known = isinstance(value, str) and value in wanted
            require(known, what, f"one of {listed(sorted(wanted))}", value)
        case [schema]:
            require(isinstance(value, list), what, "a list", value)
            for entry in value:
                check_plain(entry, schema, f"{what}, an entry")
        case dict():
            require(isinstance(value, dict), what, "names with values", value)
            if str not in wanted and set(value) != set(wanted):
                different = sorted(set(value) ^ set(wanted))
                raise ValueError(f"its {what} has missing or unknown names: {listed(different)}")
            for name, entry in value.items():
                check_plain(entry, wanted.get(name, wanted.get(str)), f"{what}, {name!s:.40}")
        case _:
            names = {str: "text", bool: "true or false"}
            require(isinstance(value, wanted), what, names.get(wanted, "a value"), value)


def check_arrays(arrays: Arrays, schema: Mapping[str, Array], sizes: Mapping[str, int]) -> None:
    """Refuse arrays that are missing or unknown, or of another type, shape or range."""
    unknown = [name for name in arrays if name not in schema]
    if unknown:
        raise ValueError(f"it has unknown arrays: {listed(unknown, most=3)}")
    known = dict(sizes)
    for name, wanted in schema.items():
        if name in arrays:
            _check_array(arrays[name], wanted, name, known)
        elif not wanted.optional:
            raise ValueError(f"its array {name} is missing")


def _check_array(array: NDArray[Any], wanted: Array, name: str, sizes: dict[str, int]) -> None:
    """Check one array; a size with a new name is whatever it is here."""
    kinds = ("float32", "float64") if wanted.dtype == "floating" else (wanted.dtype,)
    fits = str(array.dtype) in kinds and array.ndim == len(wanted.shape)
    for size, found in zip(wanted.shape, array.shape, strict=False):
        fits &= found == (sizes.setdefault(size, found) if isinstance(size, str) else size)
    if not fits:
        raise ValueError(f"its array {name} has another type or shape: {array.dtype} {array.shape}")
    values = array[~np.isnan(array)] if wanted.gaps else array
    if values.size == 0 or array.dtype == bool:
        return
    high = wanted.high if wanted.below is None else sizes[wanted.below] - 1
    if not wanted.low <= values.min() <= values.max() <= high:  # false for NaN too
        raise ValueError(f"its array {name} has values outside of {wanted.low:g} to {high:g}")


def stored_arrays(values: Mapping[str, Any], schema: Mapping[str, Array]) -> dict[str, Any]:
    """Return the values that a schema names as arrays to store, without those that are None."""
    made = {}
    for name, wanted in schema.items():
        if values.get(name) is not None:
            dtype = None if wanted.dtype == "floating" else wanted.dtype
            made[name] = np.ascontiguousarray(values[name], dtype).reshape(np.shape(values[name]))
    return made


def require(fits: object, what: str, wanted: str, value: object) -> None:
    """Refuse a part of a file that does not fit."""
    if not fits:
        raise ValueError(f"its {what} must be {wanted}, got {shown(value)}")


def strict_json(text: str | bytes) -> Any:
    """Return the content of a JSON text without NaN and infinities, which JSON does not have."""
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")
