"""What stored values and arrays must look like, written down once, and the one checker of both."""

import json
import math
from collections import ChainMap
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ctsne._core.checks import LARGEST_VALUE, MOST_POINTS
from ctsne._core.messages import quoted, shown

_LARGEST = 1e6 * LARGEST_VALUE  # distances and sums of the largest values that data may have


@dataclass(frozen=True)
class Number:
    """A finite number in a range."""

    low: float = -_LARGEST
    high: float = _LARGEST
    whole: bool = False


@dataclass(frozen=True)
class Array:
    """An array: its type, its shape with names for sizes, and the range of its values."""

    dtype: str  # "floating" is single or double precision
    shape: str  # sizes with the same name are equal; "..." stands for any further ones
    low: float = -_LARGEST
    high: float = _LARGEST
    below: str | None = None  # a size that all values are smaller than
    gaps: bool = False  # values may be NaN


# Positions in a map, which may be rotated.
POSITIONS = Array("float32", "n dims", low=-LARGEST_VALUE, high=LARGEST_VALUE)
COUNT = Number(0, MOST_POINTS, whole=True)
TINY, HUGE = math.ulp(0.0), math.nextafter(math.inf, 0)  # the least and the largest above 0
POSITIVE = Number(TINY)
TEXT = (None, str)


def check(
    value: Any, schema: Any, what: str = "content", sizes: MutableMapping[str, int] | None = None
) -> None:
    """Refuse a tree of values and arrays that does not match a schema.

    A schema is a type, a `Number`, an `Array`, a set of texts to choose from, ``[schema]`` for a
    list, ``{str: schema}`` for any names with values, a mapping with all names, or
    ``(None, schema)`` for a value that may be missing. ``sizes`` are known sizes of arrays.
    """
    sizes = {} if sizes is None else sizes
    match schema:
        case (None, present):
            if value is not None:
                check(value, present, what, sizes)
        case Number():
            number = not isinstance(value, bool) and isinstance(value, int | float)
            kind = "a whole number" if schema.whole else "a number"
            require(number and not (schema.whole and type(value) is not int), what, kind, value)
            inside = schema.low <= value <= schema.high  # false for NaN too
            require(inside, what, f"{kind} from {schema.low:g} to {schema.high:g}", value)
        case Array():
            _check_array(value, schema, what, sizes)
        case set():
            known = isinstance(value, str) and value in schema
            require(known, what, f"one of {quoted(sorted(schema))}", value)
        case [entries]:
            require(isinstance(value, list), what, "a list", value)
            for place, entry in enumerate(value):
                # A size that is new here belongs to this entry alone.
                check(entry, entries, f"{what}/{place}", ChainMap({}, sizes))
        case dict():
            require(isinstance(value, dict), what, "names with values", value)
            if str not in schema and set(value) != set(schema):
                different = sorted(set(value) ^ set(schema))
                raise ValueError(f"its {what} has missing or unknown names: {quoted(different)}")
            for name in value if str in schema else schema:
                check(value[name], schema.get(str, schema.get(name)), f"{what}/{name:.40}", sizes)
        case _:
            names = {str: "text", bool: "true or false"}
            require(isinstance(value, schema), what, names.get(schema, "a value"), value)


def _check_array(array: Any, schema: Array, what: str, sizes: MutableMapping[str, int]) -> None:
    require(isinstance(array, np.ndarray), what, "an array", array)
    kinds = ("float32", "float64") if schema.dtype == "floating" else (schema.dtype,)
    named, more = schema.shape.removesuffix(" ...").split(), schema.shape.endswith(" ...")
    fits = str(array.dtype) in kinds
    fits &= array.ndim > len(named) if more else array.ndim == len(named)
    for name, found in zip(named, array.shape, strict=False):
        fits &= found == (int(name) if name.isdigit() else sizes.setdefault(name, found))
    require(fits, what, f"{schema.dtype} of shape ({schema.shape})", f"{array.dtype} {array.shape}")
    values = array[~np.isnan(array)] if schema.gaps else array
    if values.size == 0 or array.dtype == bool:
        return
    high = schema.high if schema.below is None else sizes[schema.below] - 1
    inside = schema.low <= values.min() <= values.max() <= high  # false for NaN too
    require(inside, what, f"from {schema.low:g} to {high:g}", (values.min(), values.max()))


def require(fits: object, what: str, wanted: str, value: object) -> None:
    """Refuse a part of a file that does not fit."""
    if not fits:
        raise ValueError(f"its {what} must be {wanted}, got {shown(value)}")


def strict_json(text: str | bytes) -> Any:
    """Return the content of a JSON text without NaN and infinities, which JSON does not have."""
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")
