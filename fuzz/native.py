"""Attacks the native module: every function, class, method and property that it binds.

A case makes valid arguments for one of them as the library would, alters some of them or the object
whose method is called, and calls it. No call may crash, hang, write outside its arrays, change its
input, or return what would send another call out of bounds.
"""

from __future__ import annotations

import ctypes
import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from harness import Finding
from native_calls import CALLS, Call, World
from native_damage import Damage
from numpy.typing import NDArray

from ctsne import _native

# A sanitizer slows calls down, and reserves terabytes of addresses.
SANITIZED = any(hasattr(ctypes.CDLL(None), f"__{name}_init") for name in ("asan", "tsan"))
LIMIT = 200.0 if SANITIZED else 30.0
MEMORY = None if SANITIZED else 4 << 30

#: What bad arguments may raise.
ALLOWED = (TypeError, ValueError, MemoryError)
#: Arguments that a call writes to.
WRITTEN = {"distances", "force", "grids", "indices", "lists"}
#: Results that are not finite, or not initialised, for good input too.
NOT_FINITE = {"NeighborLists.indices", "NeighborLists.distances"}


def bound_names() -> set[str]:
    """Find everything that the module binds, except constants."""
    names = set()
    for name, value in vars(_native).items():
        if isinstance(value, type):
            names |= {
                f"{name}.{member}"
                for member in vars(value)
                if member in ("__init__", "__getstate__", "__setstate__")
                or not member.startswith("__")
            }
        elif callable(value) and not inspect.ismodule(value):
            names.add(name)
    return names


def start(folder: Path) -> None:
    """Refuse to run if a name of the module is not attacked."""
    if bound_names() != set(CALLS):
        raise RuntimeError(f"add to or remove from CALLS: {bound_names() ^ set(CALLS)}")


def attack(rng: np.random.Generator, folder: Path) -> str:
    """Call one name with arguments that are good or damaged."""
    world = World(rng)
    name = str(rng.choice(list(CALLS)))
    owner, arguments = CALLS[name](world)
    damage = Damage(world.n, world.given, rng, sanitized=SANITIZED)
    for _ in range(int(rng.choice(4, p=[0.3, 0.4, 0.2, 0.1]))):
        if owner is not None and (not arguments or rng.random() < 0.25):
            owner = damage.object(owner, lambda: _other(name, rng))
        elif arguments:
            which = str(rng.choice(list(arguments)))
            arguments[which] = damage.argument(arguments[which], lambda: _other(name, rng))
    steps = arguments.get("steps")
    if isinstance(steps, int) and 10_000 < steps < 2**31:
        arguments["steps"] = 10_000  # valid, and as slow as it was asked to be
    written = [value for key, value in arguments.items() if key in WRITTEN]
    kept = [
        (array, array.tobytes())
        for array in [*arguments.values(), *world.given]
        if isinstance(array, np.ndarray)
        and array.dtype != object
        and not any(_shared(array, value) for value in [*written, owner])
    ]
    try:
        result = _call(name, owner, arguments)
    except ALLOWED as error:
        if not damage.done:
            raise Finding(f"{name} refused good arguments: {error}", "wrong") from error
        return type(error).__name__
    finally:
        world.check_fences(name)
        if any(array.tobytes() != before for array, before in kept):
            raise Finding(f"{name} changed its input", "changed input")
    if not damage.done and name not in NOT_FINITE and not _finite(result):
        raise Finding(f"{name} returned numbers that are not finite", "not finite")
    if name in ("SearchPoints.find_exact", "Cells.find"):
        _check_lists(name, owner, arguments, world)
    else:
        _check_result(name, arguments, result)
    return "ok"


def _call(name: str, owner: Any, arguments: dict[str, Any]) -> Any:
    thing, _, member = name.partition(".")
    if not member or member == "__init__":
        return getattr(_native, thing)(**arguments)
    found = getattr(type(owner), member, None)
    if found is None:  # an object of another kind took its place
        raise TypeError(f"{type(owner).__name__} has no {member}")
    if not callable(found):
        return getattr(owner, member)
    if member == "__setstate__":
        return owner.__setstate__(*arguments.values())
    result = getattr(owner, member)(**arguments)
    if member == "__getstate__":
        return pickle.loads(pickle.dumps(owner)) and None
    return result


def _other(name: str, rng: np.random.Generator) -> Call:
    """Make the same call in another world, with other sizes."""
    return CALLS[name](World(rng))


def _shared(array: NDArray[Any], value: Any) -> bool:
    if isinstance(value, _native.Mesh):
        try:
            value = value.grids
        except TypeError:  # without an __init__
            return False
    if isinstance(value, memoryview):
        value = np.asarray(value)
    return isinstance(value, np.ndarray) and np.may_share_memory(array, value)


def _finite(result: Any) -> bool:
    if isinstance(result, tuple | list):
        # The last result of `fill` are log odds, infinite for a row with one list only.
        return all(_finite(each) for each in (result[:4] if len(result) == 5 else result))
    if isinstance(result, np.ndarray | float):
        return bool(np.isfinite(result).all())
    return True


def _check_lists(name: str, owner: Any, arguments: dict[str, Any], world: World) -> None:
    """Check that the lists of all queries are filled with points."""
    lists, (k_same, length) = arguments["lists"], world.lengths
    if lists is not world.made_lists:  # replaced by those of other points
        return
    indices = lists.indices
    points = owner if isinstance(owner, _native.SearchPoints) else owner.points
    queried = points.ids[arguments["queries"]]
    listed = (np.arange(length) >= k_same[queried, None]) == bool(arguments["other"])
    if not ((indices[queried] >= 0) & (indices[queried] < world.n))[listed].all():
        raise Finding(f"{name} filled a list with points that do not exist")


def _check_result(name: str, arguments: dict[str, Any], result: Any) -> None:
    """Check what other calls trust: orders, columns and row starts."""
    if name == "symmetrize":
        indptr, columns, values = result
        n = len(arguments["indices"])
        whole = len(indptr) == n + 1 and indptr[0] == 0 and indptr[-1] == len(columns)
        if not (whole and (np.diff(indptr) >= 0).all() and len(values) == len(columns)):
            raise Finding("symmetrize returned wrong row starts")
        if len(columns) and not 0 <= columns.min() <= columns.max() < n:
            raise Finding("symmetrize returned columns outside the matrix")
    elif name == "make_cells":
        order, bounds = result
        n = int(arguments["ranges"][-1])
        if len(order) != n or (np.sort(order) != np.arange(n)).any():
            raise Finding("make_cells returned no order of the rows")
        if bounds[0] != 0 or bounds[-1] != n or (np.diff(bounds) <= 0).any():
            raise Finding("make_cells returned wrong bounds")
