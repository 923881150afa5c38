"""Labels and parameters of a model as JSON, and back."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from ctsne._core.messages import label_text, shown

# Units of NumPy's dates and durations.
_UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")


def plain_labels(names: Sequence[object]) -> list[Any]:
    """Return labels as JSON can hold them: text, numbers, booleans, dates; others become text.

    Refuses labels that would no longer differ.
    """
    plain = [_plain(name) for name in names]
    first: dict[object, object] = {}
    for name, value in zip(names, map(_label, plain), strict=True):
        if value in first:
            raise ValueError(
                f"the labels {shown(first[value])} and {shown(name)} cannot be told apart in a "
                "file, where values other than text, numbers, booleans and dates become text; "
                "rename one of them and fit again"
            )
        first[value] = name
    return plain


def labels_from(plain: object) -> tuple[object, ...]:
    """Return the labels that `plain_labels` wrote; refuse anything else."""
    if not isinstance(plain, list):
        raise ValueError(f"labels must be a list, got {shown(plain)}")
    names = tuple(map(_label, plain))
    if len(set(names)) < len(names):
        raise ValueError("it names a label twice")
    return names


def _plain(value: Any) -> Any:
    if isinstance(value, np.datetime64 | np.timedelta64):
        unit, step = np.datetime_data(value.dtype)
        return {value.dtype.name.partition("[")[0]: [int(value.astype(np.int64)) * step, unit]}
    if isinstance(value, np.generic):
        value = float(value) if isinstance(value, np.floating) else value.item()
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | int) or (isinstance(value, float) and np.isfinite(value)):
        return value
    if isinstance(value, float):
        return {"float": str(value)}
    if isinstance(value, bytes):
        return {"bytes": value.decode("latin-1")}
    if isinstance(value, datetime.timedelta) and not getattr(value, "nanoseconds", 0):
        return {"timedelta": [value.days, value.seconds, value.microseconds]}
    if isinstance(value, datetime.datetime) and not getattr(value, "nanosecond", 0):
        exact = value.to_pydatetime() if hasattr(value, "to_pydatetime") else value  # of pandas
        return {"datetime": exact.isoformat()}
    for kind in (datetime.date, datetime.time):
        if type(value) is kind:
            return {kind.__name__: value.isoformat()}
    return label_text(value)


_READERS: dict[str, Callable[[Any], object]] = {
    "float": lambda text: {"inf": float("inf"), "-inf": -float("inf")}[text],
    "bytes": lambda text: text.encode("latin-1"),
    "timedelta": lambda parts: datetime.timedelta(*_whole(parts, 3)),
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
    "datetime64": lambda parts: np.datetime64(*_with_unit(parts)),
    "timedelta64": lambda parts: np.timedelta64(*_with_unit(parts)),
}


def _label(plain: Any) -> object:
    if isinstance(plain, str | bool | int | float):
        return plain
    try:
        ((kind, value),) = plain.items()
        return _READERS[kind](value)
    except Exception:
        raise ValueError(f"{shown(plain)} is not a label") from None


def _whole(parts: Any, count: int) -> list[int]:
    if not isinstance(parts, list) or [type(part) for part in parts] != [int] * count:
        raise ValueError
    return parts


def _with_unit(parts: Any) -> tuple[int, Any]:
    *number, unit = parts
    if unit not in _UNITS:
        raise ValueError
    return _whole(number, 1)[0], unit


def plain_value(value: Any) -> Any:
    """Return a parameter as JSON can hold it: a number per label as pairs, a NumPy number plain."""
    if isinstance(value, Mapping):
        labels = plain_labels(list(value))
        numbers = map(plain_value, value.values())
        return {"per label": [list(pair) for pair in zip(labels, numbers, strict=True)]}
    if isinstance(value, np.bool_ | np.integer):
        return value.item()
    if isinstance(value, Real) and not isinstance(value, bool | int | float):
        return float(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"a model file cannot hold {shown(value)}")


def value_from(plain: Any) -> Any:
    """Return the parameter that `plain_value` wrote; refuse anything else."""
    if plain is None or isinstance(plain, str | bool | int | float):
        return plain
    pairs = plain.get("per label") if isinstance(plain, dict) and len(plain) == 1 else None
    if not isinstance(pairs, list) or not all(isinstance(p, list) and len(p) == 2 for p in pairs):
        raise ValueError(f"{shown(plain)} is not a parameter")
    labels = labels_from([label for label, _ in pairs])
    numbers = [number for _, number in pairs]
    if not all(isinstance(number, int | float) for number in numbers):
        raise ValueError(f"{shown(plain)} is not a parameter")
    return dict(zip(labels, numbers, strict=True))
