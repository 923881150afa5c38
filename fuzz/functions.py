"""Attack every public function and method: a valid call, then some of its arguments wrong."""

from __future__ import annotations

import inspect
import os
import shutil
import sys
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import inputs
import numpy as np
import scipy.sparse as sp
from calls import CALLS, Call, Data
from checks import check_finite, check_state, check_unchanged, fingerprint, global_state
from harness import Finding, expect_typed
from inputs import Rng, odd, pick

import ctsne

LIMIT = 60.0

#: Calls that take long, and how often they are made compared with the others.
RARE = {
    "ConditionalTSNE": 0.5,
    "distributed": 0.02,
    "evaluate.standard_measures": 0,  # its libraries compile for a minute, more than LIMIT
    "sweep.sweep": 0.5,
    "tl": 0.2,
    "pl": 0.2,
    "report": 0.05,
}

#: Keywords that make a call slow or noisy, and the name of an argument for messages.
EXCLUDED = ("n_iter", "verbose", "progress", "argument")

#: Measures are NaN where they mean nothing: without labels, or with too few points; so is the match
#: of a new point whose label is not in the map.
MAY_BE_NAN = ("ConditionalTSNE.place", "evaluate.", "sweep.", "tl.evaluate", "tl.sweep")


#: The public part of modules that other modules use too.
PUBLIC = {"labels": ("combine_columns",)}


def public_names() -> set[str]:
    """Return every public function, and every public method of a public class."""
    found = set()
    for module_name in ctsne.__all__:
        module = getattr(ctsne, module_name)
        if module is ctsne.ConditionalTSNE:
            found |= {f"{module_name}.{name}" for name in estimator_methods()}
        elif inspect.isfunction(module):
            found.add(module_name)
        if not inspect.ismodule(module):
            continue
        for name in PUBLIC.get(module_name, module.__all__):
            value = getattr(module, name)
            if inspect.isclass(value):
                # A dataclass holds what a function returned: only its methods do something.
                methods = [
                    each for each, member in vars(value).items() if inspect.isfunction(member)
                ]
                found |= {f"{module_name}.{name}.{each}" for each in methods if each[0] != "_"}
                found |= set() if _is_record(value) else {f"{module_name}.{name}"}
            elif callable(value):
                found.add(f"{module_name}.{name}")
    return found


def estimator_methods() -> set[str]:
    """Return what a fitted model can do; fitting it has an attacker of its own."""
    own = [each for each in ctsne.ConditionalTSNE.__mro__ if each.__module__.startswith("ctsne.")]
    named = {name for each in own for name, value in vars(each).items() if callable(value)}
    return {name for name in named if name[0] != "_"} - {"fit", "fit_transform", "resume"}


def _is_record(value: type) -> bool:
    return is_dataclass(value) or issubclass(value, tuple)


def start(folder: Path) -> None:
    """Refuse to attack if there is a public function that no case would call."""
    if missing := public_names() ^ set(CALLS):
        raise RuntimeError(f"fuzz/calls.py and the public functions differ: {sorted(missing)}")
    os.chdir(folder)  # an odd path ends here


def attack(rng: Rng, folder: Path) -> str | None:
    """Call one function, and check what it returns and what it leaves behind."""
    name = pick_name(rng)
    data = Data(rng, folder)
    call = CALLS[name](data)
    damaged = change(rng, call)
    given = {str(place): value for place, value in enumerate(call.args)} | call.kwargs
    own = {key: value for key, value in given.items() if not is_written(value)}
    before = {key: fingerprint(value) for key, value in own.items()}
    state = global_state(random=False)
    try:
        outcome, result = run(call) if damaged else expect_typed(call)
        for key, value in own.items():
            check_unchanged(before[key], fingerprint(value), f"{name}: argument {key}")
        check_state(state)
        if outcome == "ok" and not damaged:
            may_be_nan = name.startswith(MAY_BE_NAN)
            check_finite(result, name, nan=may_be_nan, infinite=name.startswith("affinity."))
            for value in given.values():
                if hasattr(value, "obsm"):  # an AnnData object, into which maps are written
                    check_finite(value, name)
    except Finding as finding:
        raise Finding(f"{finding}\n{name}{shown(call)}", finding.kind) from finding
    except Exception as error:
        error.add_note(f"{name}{shown(call)}")
        raise
    finally:
        close_figures()
        clean(folder)
    return outcome


def run(call: Call) -> tuple[str, Any]:
    """Call with an object that no function returns: any exception will do, but not a crash."""
    try:
        return "ok", call()
    except Exception as error:
        return type(error).__name__, error


def pick_name(rng: Rng) -> str:
    """Choose a function, slow ones rarely."""
    while True:
        name = pick(rng, tuple(CALLS))
        chance = RARE.get(name, RARE.get(name.partition(".")[0], 1))
        if rng.random() < chance:
            return name


def change(rng: Rng, call: Call) -> bool:
    """Make up to three arguments odd; return whether one is an object that no function returns."""
    places = [*range(len(call.args)), *optional_names(call)]
    count = min(len(places), int(pick(rng, (0, 0, 1, 1, 1, 2, 3))))
    damaged = False
    for place in (places[i] for i in rng.permutation(len(places))[:count]):
        where = call.args if isinstance(place, int) else call.kwargs
        value = where[place] if isinstance(place, int) else call.kwargs.get(place)
        where[place], broken = changed(rng, value)
        damaged |= broken
    return damaged


def optional_names(call: Call) -> list[str]:
    """Return the keywords of a call that can be made odd, given or not."""
    parameters = inspect.signature(call.function).parameters.values()
    keywords = (each.name for each in parameters if each.kind is each.KEYWORD_ONLY)
    return [name for name in dict.fromkeys([*call.kwargs, *keywords]) if name not in EXCLUDED]


def changed(rng: Rng, value: Any) -> tuple[Any, bool]:
    """Return a value like this one but odd, and whether it is a damaged object of ctsne."""
    kind = rng.random()
    if kind < 0.5:
        if isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind == "f":
            return inputs.table(rng, value, broken=0.4), False
        if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "UO":
            return inputs.labels(rng, len(value), broken=0.3), False
        if sp.issparse(value):
            return inputs.broken_sparse(rng, rng.normal(size=value.shape)), False
        if type(value).__module__.startswith("ctsne.") and is_dataclass(value):
            return damaged_copy(rng, value), True
        if isinstance(value, str | Path):
            return pick(
                rng, ("", "x", "\0", "a/b/c", "é", "-", ".", "..", value, f"{value}x")
            ), False
    value = odd(rng)
    # Valid, but slow or large: as many iterations or points as asked for.
    return 3 if isinstance(value, int | np.integer) and value > 10**4 else value, False


def damaged_copy(rng: Rng, value: Any) -> Any:
    """Return a copy of a result with one field damaged, as only hand-made objects are."""
    field = pick(rng, fields(value)).name
    content = getattr(value, field)
    if not isinstance(content, np.ndarray) or not content.size or rng.random() < 0.3:
        return replace(value, **{field: odd(rng)})
    content = content.copy()
    how = rng.integers(3)
    if how == 0:
        content = content[:-1]
    elif content.dtype.kind in "iu":
        content.flat[int(rng.integers(content.size))] = pick(rng, (-1, -5, 10**6, 2**31 - 1))
    elif content.dtype.kind == "f":
        content.flat[int(rng.integers(content.size))] = pick(rng, (np.nan, np.inf, -1, 1e30))
    return replace(value, **{field: content})


def is_written(value: Any) -> bool:
    """Return whether functions may change this argument: AnnData objects, and random generators."""
    kind = type(value).__name__
    return kind in (
        "AnnData",
        "Layout",
        "Generator",
        "RandomState",
        "list_iterator",
        "ConditionalTSNE",
    )


def shown(call: Call) -> str:
    """Return the arguments of a call, in short."""
    args = [f"{value!r:.80}" for value in call.args]
    args += [f"{name}={value!r:.80}" for name, value in call.kwargs.items()]
    return f"({', '.join(args)})"


def close_figures() -> None:
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def clean(folder: Path) -> None:
    """Remove what a case wrote, so that the next one does not depend on it."""
    for path in folder.iterdir():
        if path.name not in ("saved.npz", "saved.ctsne"):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
