"""A finished map in an AnnData object: what is kept, under which names, in which form."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from ctsne._fit.fitting import point_diagnostics
from ctsne.affinity.result import KEPT_DIAGNOSTICS
from ctsne.evaluate import summarize_diagnostics
from ctsne.methods import METHODS, is_used

__all__ = ["kept_params", "store_map", "taken_fields"]

# Parameters that never change the map.
_NOT_KEPT = ("callback", "callback_every", "n_jobs", "verbose")


def store_map(target: Any, key: str, model: Any, params: Mapping[str, Any]) -> None:
    """Write the map of a fitted estimator and all that is known of it."""
    diagnostics = model.diagnostics_
    summary = summarize_diagnostics(diagnostics)
    kept = point_diagnostics(model)
    if "other_share" not in kept:
        summary = {name: value for name, value in summary.items() if "other_share" not in name}
    target.obsm[key] = model.embedding_  # first, as it makes a view an object of its own
    for name in KEPT_DIAGNOSTICS:
        if name in kept:
            target.obs[f"{key}_{name}"] = kept[name]
        elif f"{key}_{name}" in target.obs:  # of an earlier map of this name
            del target.obs[f"{key}_{name}"]
    target.obsp[_affinities_key(key)] = sp.csr_matrix(model.affinities_)
    target.uns[key] = {
        "params": dict(params),
        "kl_divergence": float(model.kl_divergence_),
        "n_iter": int(model.n_iter_),
        "recall": float(diagnostics.recall),
        "affinities_key": _affinities_key(key),
        "diagnostics_keys": {name: f"{key}_{name}" for name in kept},
        "diagnostics": summary,
    }
    knob = METHODS[model.method].knob
    if knob is not None and model.mixing_ is not None:
        value = float(getattr(model, f"{knob}_"))
        target.uns[key]["found"] = {knob: value, "mixing": float(model.mixing_)}


def taken_fields(adata: Any, key: str) -> list[str]:
    """Name what :func:`store_map` would replace."""
    fields = [("obsm", key), *(("obs", f"{key}_{name}") for name in KEPT_DIAGNOSTICS)]
    fields += [("obsp", _affinities_key(key)), ("uns", key)]
    return [f'adata.{part}["{name}"]' for part, name in fields if name in getattr(adata, part)]


def _affinities_key(key: str) -> str:
    return f"{key}_affinities"


def kept_params(model: Any) -> dict[str, Any]:
    """Return what of an estimator's parameters the map depends on, in a form that files can hold.

    None is left out: older files of AnnData do not hold it.
    """
    params = model.get_params(deep=False)
    used = [name for name in params if name not in _NOT_KEPT and is_used(name, params)]
    plain = {name: _plain(params[name]) for name in used}
    return {name: value for name, value in plain.items() if value is not None}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, np.random.RandomState):
        return None  # its state has moved on
    if isinstance(value, Mapping):
        # Not as a mapping: labels may hold what names of groups in a file may not.
        labels = np.array([str(label) for label in value], dtype=object)
        return {"label": labels, "value": np.array(list(value.values()), dtype=np.float64)}
    if isinstance(value, numbers.Real):
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    return "array"  # positions to start from or to align by, one for each point
