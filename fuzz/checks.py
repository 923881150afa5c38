"""What must hold after a call: finite results, unchanged input, unchanged global state."""

from __future__ import annotations

import dataclasses
import os
import sys
import threading
import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from harness import Finding


def fingerprint(value: Any) -> Any:
    """Return something that differs if the value, or an array inside it, was changed."""
    if isinstance(value, np.ma.MaskedArray):
        return fingerprint(value.data), fingerprint(np.ma.getmaskarray(value))
    if isinstance(value, np.ndarray):
        content = repr(value.tolist()) if value.dtype.hasobject else value.tobytes()
        return value.dtype.str, value.shape, value.strides, value.flags.writeable, content
    if sp.issparse(value):
        # Not by way of SciPy, which trusts the parts of a broken matrix.
        parts = {name: part for name, part in vars(value).items() if name not in _CACHES}
        return type(value).__name__, fingerprint(parts)
    if isinstance(value, pd.DataFrame):
        columns = [value.iloc[:, i].to_numpy() for i in range(value.shape[1])]
        return fingerprint(columns), repr(value.columns), repr(value.index), repr(value.dtypes)
    if isinstance(value, pd.Series):
        return fingerprint(value.to_numpy()), repr(value.index), repr(value.dtype)
    if isinstance(value, Mapping):
        return tuple((repr(key), fingerprint(each)) for key, each in value.items())
    if isinstance(value, list | tuple):
        return type(value).__name__, tuple(map(fingerprint, value))
    if isinstance(value, np.random.Generator):
        return repr(value.bit_generator.state)
    if isinstance(value, np.random.RandomState):
        return repr(value.get_state())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, fingerprint(
            {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
        )
    return repr(value)


# What SciPy remembers of a matrix; "maxprint" is how it prints it.
_CACHES = ("_has_sorted_indices", "_has_canonical_format", "has_canonical_format", "maxprint")


def check_unchanged(before: Any, after: Any, what: str) -> None:
    """Report input that a call changed."""
    if before != after:
        raise Finding(
            f"{what} was changed\nbefore: {before!r:.500}\nafter:  {after!r:.500}", "changed input"
        )


def global_state(*, random: bool = True) -> dict[str, Any]:
    """Return the state of the process that a library must leave alone."""
    state = {
        "modules": len(sys.modules),
        "warning filters": list(warnings.filters),
        "numpy's error handling": np.geterr(),
        "threads": threading.active_count(),
        "working directory": os.getcwd(),
    }
    if random:
        name, keys, *rest = np.random.get_state()  # noqa: NPY002
        state["numpy's random state"] = (name, keys.tobytes(), rest)
    return state


def check_state(before: dict[str, Any]) -> None:
    """Report global state that a call changed."""
    patience = time.monotonic() + 5
    # The threads of a closed pool need a moment to end.
    while threading.active_count() > before["threads"] and time.monotonic() < patience:
        time.sleep(0.002)
    after = global_state(random="numpy's random state" in before)
    after["threads"] = max(after["threads"], before["threads"])  # fewer are fine
    # Some libraries set filters and start threads when they are imported.
    loaded = after.pop("modules") != before.pop("modules")
    for name, value in before.items():
        if after[name] != value and not (loaded and name in ("warning filters", "threads")):
            raise Finding(f"{name}: changed\nbefore: {value!r:.500}\nafter:  {after[name]!r:.500}")


def check_finite(value: Any, what: str, *, nan: bool = False, infinite: bool = False) -> None:
    """Report NaN and infinite numbers anywhere inside a result. Maps never hold them."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for each in dataclasses.fields(value):
            allowed = {"nan": nan, "infinite": infinite} if each.name != "embedding" else {}
            check_finite(getattr(value, each.name), f"{what}.{each.name}", **allowed)
    elif hasattr(value, "obsm"):
        check_finite(value.obsm, f"{what}.obsm")
    elif isinstance(value, Mapping):
        for key, each in value.items():
            check_finite(each, f"{what}[{key!r}]", nan=nan, infinite=infinite)
    elif isinstance(value, list | tuple):
        for each in value:
            check_finite(each, what, nan=nan, infinite=infinite)
    elif sp.issparse(value):
        check_finite(value.data, what, nan=nan, infinite=infinite)
    elif isinstance(value, pd.DataFrame | pd.Series):
        check_finite(value.to_numpy(), what, nan=nan, infinite=infinite)
    elif isinstance(value, float | np.floating) or (
        isinstance(value, np.ndarray) and value.dtype.kind == "f"
    ):
        bad = (not nan and np.isnan(value).any()) or (not infinite and np.isinf(value).any())
        if bad:
            raise Finding(f"{what} is not finite\n{value!r:.500}", "not finite")
