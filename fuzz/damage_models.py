"""Damage inside model files: valid archives whose values are wrong."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from damage_text import Rng, pick

from ctsne.storage.archive import read_archive, write_archive

#: What may stand where something else should.
_ODD = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    3,
    2**31,
    10**30,
    -(10**30),
    0.5,
    1e-300,
    1e300,
    "",
    "x",
    "joint",
    "tsne",
    "euclidean",
    "\0",
    "é" * 100,
    [],
    [1],
    ["a", "a"],
    {},
    {"a": 1},
    [[[]]],
)
_NUMBERS = (np.nan, np.inf, -np.inf, -1.0, 0.0, 1e-30, 1e30, 3.5)
_WHOLE = (-2, -1, 0, 1, 7, 10**6, 2**31 - 1)


def hurt_model_file(rng: Rng, path: Path, _: Path) -> str:
    """Change a value of the text or an array, and write the file as a valid archive."""
    content = read_archive(path, "model")
    arrays = _taken_out(content)
    ways: dict[str, Callable[[], str]] = {
        "value": lambda: _hurt_value(rng, content),
        "value of the reference": lambda: _hurt_value(rng, content["reference"]),
        "entry": lambda: _hurt_entry(rng, arrays),
        "shape": lambda: _hurt_shape(rng, arrays),
        "type": lambda: _hurt_type(rng, arrays),
        "names": lambda: _hurt_names(rng, arrays),
    }
    how = pick(rng, list(ways))
    what = ways[how]()
    for name, array in arrays.items():
        _put_in(content, name, array)
    write_archive(path, "model", content)
    return f"{how} {what}"


def _taken_out(tree: Any, place: str = "") -> dict[str, Any]:
    """Take all arrays out of a tree, and return copies by their place."""
    found = {}
    for key, value in list(tree.items() if isinstance(tree, dict) else enumerate(tree)):
        if isinstance(value, np.ndarray):
            found[f"{place}{key}"] = tree.pop(key).copy()
        elif isinstance(value, dict | list):
            found |= _taken_out(value, f"{place}{key}/")
    return found


def _put_in(tree: Any, name: str, array: Any) -> None:
    """Put an array into its place, if the tree still has it."""
    *way, last = name.split("/")
    with contextlib.suppress(IndexError, KeyError, TypeError, ValueError):
        for step in way:
            tree = tree[int(step)] if isinstance(tree, list) else tree[step]
        tree[last] = array


def _hurt_value(rng: Rng, content: dict[str, Any]) -> str:
    """Replace, remove or add a value somewhere in a tree of values."""
    place: Any = content
    way = []
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = pick(rng, keys)
        way.append(str(key))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.15:
            break
        place = inner
    draw = rng.random()
    if draw < 0.15 and isinstance(place, dict):
        del place[key]
    elif draw < 0.25 and isinstance(place, dict):
        place["unknown"] = 1
    elif isinstance(inner, float) and rng.random() < 0.5:
        place[key] = float(pick(rng, (-inner, 2 * inner, inner / 1e6, inner * 1e6, 0.0)))
    else:
        place[key] = pick(rng, _ODD)
    return "/".join(way)[:60]


def _some(rng: Rng, arrays: dict[str, Any]) -> str:
    return str(pick(rng, [name for name, each in arrays.items() if each.size] or list(arrays)))


def _hurt_entry(rng: Rng, arrays: dict[str, Any]) -> str:
    """Change one entry, many of them, or their order."""
    name = _some(rng, arrays)
    flat = arrays[name].reshape(-1)
    places = rng.integers(flat.size, size=int(pick(rng, (1, 1, 1, 5, flat.size))))
    if rng.random() < 0.2:
        rng.shuffle(flat)
    elif flat.dtype.kind == "f":
        flat[places] = pick(rng, _NUMBERS)
    elif flat.dtype.kind == "b":
        flat[places] = ~flat[places]
    else:
        flat[places] = np.array(pick(rng, _WHOLE)).astype(flat.dtype)
    return name


def _hurt_shape(rng: Rng, arrays: dict[str, Any]) -> str:
    """Cut an array, repeat it, or give it other dimensions."""
    name = _some(rng, arrays)
    array = arrays[name]
    whole = np.atleast_1d(array)
    ways = (
        whole[:-1],
        whole[:0],
        np.concatenate([whole, whole]),
        array.reshape(-1),
        array[None],
        whole[..., :1],
        np.swapaxes(np.atleast_2d(array), 0, 1),
    )
    arrays[name] = np.ascontiguousarray(pick(rng, ways))
    return name


def _hurt_type(rng: Rng, arrays: dict[str, Any]) -> str:
    name = _some(rng, arrays)
    kinds = (np.float32, np.float64, np.int32, np.int64, np.int8, np.uint16, np.bool_, np.float16)
    with np.errstate(all="ignore"):
        arrays[name] = arrays[name].astype(pick(rng, kinds))
    return name


def _hurt_names(rng: Rng, arrays: dict[str, Any]) -> str:
    """Remove, add, rename or swap arrays."""
    one, other = _some(rng, arrays), _some(rng, arrays)
    draw = rng.random()
    if draw < 0.3:
        del arrays[one]
    elif draw < 0.5:
        arrays[pick(rng, ("more", "reference/more", "labels/7"))] = np.zeros(3)
    elif draw < 0.6:
        arrays[f"{one}_"] = arrays.pop(one)
    else:
        arrays[one], arrays[other] = arrays[other], arrays[one]
    return f"{one} {other}"
