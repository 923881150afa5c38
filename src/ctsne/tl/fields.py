"""The fields of an AnnData object that a map is made of, and those that store it."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ctsne._core.checks import check_count, check_matrix, check_perplexity, check_same_rows
from ctsne._core.messages import unknown, warn
from ctsne._core.vocabulary import ALIGN_CHOICES
from ctsne.affinity.result import KEPT_DIAGNOSTICS, PLACED_DIAGNOSTICS
from ctsne.evaluate import summarize_diagnostics
from ctsne.fit.fitting import point_diagnostics
from ctsne.io import current_versions
from ctsne.io.anndata import choose_representation, find_entry, is_anndata, map_keys
from ctsne.io.dataset import NORMALIZE, looks_like_counts
from ctsne.labels import Column, Labels
from ctsne.methods import METHODS, is_used
from ctsne.neighbors.lists import different_labels
from ctsne.tl.graph import remove_graph

# Parameters that never change the map.
_NOT_KEPT = ("callback", "callback_every", "n_jobs", "verbose")


@dataclass(frozen=True, eq=False)
class Source:
    """The checked matrix of a map, the estimator's ``pca`` for it, and the arguments to store."""

    matrix: Any
    pca: int | str | None
    params: dict[str, Any]


def check_adata(adata: Any) -> None:
    """Refuse anything but AnnData objects."""
    if not is_anndata(adata):
        raise TypeError(
            f"adata must be an AnnData object, got {type(adata).__name__}; pass arrays to "
            "ctsne.ConditionalTSNE, ctsne.sweep or ctsne.evaluate"
        )


def find_features(
    adata: Any, use_rep: str | None, n_pcs: int | None, layer: str | None = None
) -> Source:
    """Choose features as the command line does; ``n_pcs`` selects columns or makes components."""
    if use_rep is not None and layer is not None:
        raise ValueError("use_rep and layer both name the features; leave one of them out")
    count = None if n_pcs is None else check_count(n_pcs, "n_pcs", low=0)
    use_rep = "X" if use_rep is None and count == 0 else use_rep
    found = choose_representation(adata, use_rep=use_rep, layer=layer)
    key = found.source.use_rep
    where = "layers" if layer is not None else "obsm"
    place = "adata.X" if layer is None and key == "X" else f"adata.{where}[{layer or key!r}]"
    matrix = check_matrix(found.matrix, argument=place)
    params: dict[str, Any] = {"use_rep": key} if layer is None else {"layer": layer}
    if found.source.n_variable is not None:
        params["highly_variable"] = True
    if count is None:
        return Source(matrix, "auto", params)
    if found.source.kind != "obsm":
        return Source(matrix, count or None, params)
    check_count(count, "n_pcs", low=1, high=matrix.shape[1])
    return Source(check_matrix(matrix[:, :count]), None, {**params, "n_pcs": count})


def warn_of_counts(source: Source) -> None:
    """Warn of a map of raw counts, which a few highly expressed genes would dominate."""
    layer = source.params.get("layer")
    if (layer is None and source.params.get("use_rep") != "X") or not looks_like_counts(
        source.matrix
    ):
        return
    place = "adata.X" if layer is None else f"adata.layers[{layer!r}]"
    taken = "" if layer is None else f"adata.X = {place}.copy(); "
    warn(
        f"{place} looks like raw counts, so the genes with the largest counts dominate the map; "
        f"normalise first, with scanpy as sc: {taken}{NORMALIZE}; then leave out use_rep "
        "and layer"
    )


def find_graph(
    adata: Any, key: object, labels: Column | Labels | None, perplexity: float
) -> Source:
    """Find the distances of a graph made by scanpy or bbknn, with enough neighbours for a map."""
    entries = {name: entry for name, entry in adata.uns.items() if isinstance(entry, Mapping)}
    graphs = [name for name in entries if name == "neighbors" or "distances_key" in entries[name]]
    if key not in graphs:
        message = unknown(key, graphs, what="neighbour graph", where="adata.uns")
        how = "" if graphs else "; scanpy.pp.neighbors(adata) makes one"
        raise ValueError(f"neighbors_key: {message}{how}")
    name = str(adata.uns[key].get("distances_key", "distances"))
    if name not in adata.obsp:
        raise ValueError(f"adata.uns[{key!r}] refers to adata.obsp[{name!r}], which does not exist")
    check_perplexity(perplexity, adata.n_obs)
    place = f"adata.obsp[{name!r}]"
    graph = check_matrix(adata.obsp[name], argument=place)
    row, column = sp.coo_array(graph).coords
    real = row != column
    row, column = row[real], column[real]
    least = int(np.bincount(row, minlength=adata.n_obs).min())
    if least < perplexity:
        raise ValueError(
            f"perplexity={perplexity:g} needs more neighbours than the {least} of some points in "
            f"{place}; scanpy.pp.neighbors(adata, n_neighbors={int(np.ceil(3 * perplexity)) + 1}) "
            f"finds enough, or lower the perplexity to a third of {least}"
        )
    for what, known in _named_labels(labels):
        if known.n_labels < 2:
            continue
        others = np.bincount(row[different_labels(known, row, column)], minlength=adata.n_obs)
        lonely = int(((others == 0) & (known.codes >= 0)).sum())
        if lonely:
            warn(
                f"{lonely} of {adata.n_obs} points {'has' if lonely == 1 else 'have'} no neighbour "
                f"with another {what} in {place}, so {what}s cannot be mixed there; leave "
                f"neighbors_key out to search such neighbours, or use a graph made {what} by "
                f"{what}, as bbknn does"
            )
    return Source(graph, "auto", {"neighbors_key": key})


def _named_labels(labels: Column | Labels | None) -> list[tuple[str, Column]]:
    """Return each label column with what to call its values."""
    if isinstance(labels, Labels):
        return list(zip(labels.names, labels.columns, strict=True))
    return [] if labels is None else [("label", labels)]


def find_alignment(adata: Any, align: Any) -> Any:
    """Return an alignment, or the representation that its name refers to."""
    if not isinstance(align, str):
        check_same_rows(adata.obs, align, argument="align")
    if not isinstance(align, str) or align in ALIGN_CHOICES:
        return align
    if align not in adata.obsm:
        names = [*ALIGN_CHOICES, *adata.obsm]
        raise ValueError(f"align: {unknown(align, names, what='alignment', where='adata.obsm')}")
    return np.asarray(adata.obsm[align])


def store_map(target: Any, name: str, model: Any, params: dict[str, Any]) -> None:
    """Write the map of a fitted estimator and its diagnostics."""
    diagnostics = model.diagnostics_
    kept, summary = point_diagnostics(model), summarize_diagnostics(diagnostics)
    if "other_share" not in kept:
        summary = {name: value for name, value in summary.items() if "other_share" not in name}
    keys = store_positions(target, name, model.embedding_, kept)
    entry = {
        "params": params,
        "kl_divergence": float(model.kl_divergence_),
        "n_iter": int(model.n_iter_),
        "recall": float(diagnostics.recall),
        "diagnostics_keys": keys,
        "diagnostics": summary,
        "versions": current_versions(),
    }
    knob = METHODS[model.method].knob
    if knob is not None and model.mixing_ is not None:
        found = {knob: getattr(model, f"{knob}_"), "mixing": model.mixing_}
        entry["found"] = {name: _plain(value, key="column") for name, value in found.items()}
    target.uns[name] = entry


def store_positions(
    target: Any, name: str, positions: Any, diagnostics: Mapping[str, Any]
) -> dict[str, str]:
    """Write positions and diagnostics instead of those of an earlier map; return the columns."""
    stored, before = map_keys(name)
    target.obsm[stored] = positions  # first, because this turns a view into a copy
    earlier = find_entry(target.uns, name)
    if earlier is not None:
        remove_graph(target, earlier)
        for column in set(_columns_of(earlier)) & set(target.obs):
            del target.obs[column]
        del target.uns[earlier]
    if before in target.obsm:  # as earlier versions called it
        del target.obsm[before]
    keys = {each: f"{name}_{each}" for each in diagnostics}
    for each, column in keys.items():
        target.obs[column] = diagnostics[each]
    return keys


def _columns_of(name: str) -> list[str]:
    return [f"{name}_{each}" for each in (*KEPT_DIAGNOSTICS, *PLACED_DIAGNOSTICS)]


def taken_fields(adata: Any, name: str) -> list[str]:
    """Name what :func:`store_map` would replace, unless an earlier map left it there."""
    if find_entry(adata.uns, name) is not None:
        return []
    places = {"obsm": map_keys(name), "obs": _columns_of(name), "uns": [name]}
    fields = [(part, each) for part, names in places.items() for each in names]
    return [f'adata.{part}["{name}"]' for part, name in fields if name in getattr(adata, part)]


def kept_params(model: Any) -> dict[str, Any]:
    """Return the parameters that the map depends on, in a form that files can hold."""
    params = model.get_params(deep=False)
    key = "column" if isinstance(model.labels_, Labels) else "label"
    used = {name: value for name, value in params.items() if is_used(name, params)}
    plain = {name: _plain(value, key=key) for name, value in used.items()}
    plain["pca"] = "none" if model.pca is None else model.pca
    left_out = [*_NOT_KEPT, *["pca"] * (model.metric == "precomputed" or model.pca == "auto")]
    # Older files of AnnData cannot hold None.
    return {name: x for name, x in plain.items() if name not in left_out and x is not None}


def _plain(value: Any, *, key: str) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, np.random.RandomState):
        return None  # its state has changed since
    if isinstance(value, Mapping):
        # Two arrays, because names of groups in a file cannot hold every label.
        names = np.array([str(name) for name in value], dtype=object)
        return {key: names, "value": np.array(list(value.values()), dtype=np.float64)}
    if isinstance(value, numbers.Real):
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    return "array"  # a start or an alignment with a row per point
