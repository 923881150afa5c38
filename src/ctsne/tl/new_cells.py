"""New cells in a map that is finished."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ctsne._core.checks import check_choice, check_matrix
from ctsne._core.files import reason
from ctsne._core.messages import listed, shown, unknown, warn
from ctsne._core.vocabulary import ALIGN_CHOICES
from ctsne.estimator import ConditionalTSNE, model_of_map
from ctsne.io.anndata import (
    CHOSEN_GENES,
    Representation,
    choose_representation,
    column_names,
    find_entry,
    is_anndata,
    labels_of,
    map_of,
)
from ctsne.labels import Column, combine_columns
from ctsne.methods import METHODS
from ctsne.placing.new_labels import in_order
from ctsne.placing.place import Placement
from ctsne.settings import DEFAULTS
from ctsne.storage.model import origin_of
from ctsne.storage.provenance import Provenance
from ctsne.tl import fields
from ctsne.tl.embed import check_target

if TYPE_CHECKING:
    from anndata import AnnData

_SAVE = "keep the model itself: model.save(path), or ctsne embed --model"
# Representations made by scanpy's PCA, whose axes differ from one dataset to the next.
_COMPONENTS = "X_pca"
_LOADINGS = "PCs"


@dataclass(frozen=True, eq=False)
class _Reference:
    """A model, and where its features and labels are in an AnnData object, as far as known."""

    model: ConditionalTSNE
    use_rep: str | None = None
    layer: str | None = None
    n_pcs: int | None = None
    genes: tuple[str, ...] | None = None
    labels: tuple[str, ...] = ()
    align: str | None = None


def transform(
    adata: AnnData,
    reference: ConditionalTSNE | AnnData,
    labels: object = None,
    *,
    use_rep: str | None = None,
    layer: str | None = None,
    align: object = None,
    basis: str = "ctsne",
    key_added: str = "ctsne",
    perplexity: float | None = None,
    n_jobs: int | None = -1,
    copy: bool = False,
) -> AnnData | None:
    """Place new cells in a finished map, without moving it.

    Each cell lands among its nearest neighbours in the reference, so its features must mean the
    same: the same genes, or the same components. Principal components that scanpy computed for the
    new cells alone do *not*; project the new cells onto those of the reference. If an argument is
    not valid, nothing is changed.

    Parameters
    ----------
    adata : AnnData
        The new cells.
    reference : ConditionalTSNE or AnnData
        A fitted (or loaded) model, or an AnnData object with a map made by :func:`ctsne.tl.ctsne`
        or ``ctsne embed``, whose features and labels are still there.
    labels : str, list of str or array-like of length n_obs, optional
        The labels of the new cells: columns of ``adata.obs``, one for each that was factored out,
        or the labels themselves. By default the columns of the same names as in the reference, if
        there are any. Labels may be new or missing.
    use_rep, layer : str, optional
        The features, as in :func:`ctsne.tl.ctsne`; by default those of the reference.
    align : str or array-like of shape (n_obs, d), optional
        For a map that was aligned with a representation: a key of ``adata.obsm`` (by default the
        one of the reference) or an array.
    basis : str, default="ctsne"
        The map of ``reference``, if that is an AnnData object, with or without ``"X_"``.
    key_added : str, default="ctsne"
        Name of the positions, with or without ``"X_"``, and prefix of the fields that belong to
        them.
    perplexity : float, optional
        Effective number of neighbours per new cell, as in :meth:`ctsne.ConditionalTSNE.place`.
    n_jobs : int, default=-1
        Number of threads, if ``reference`` is an AnnData object; a model has its own ``n_jobs``.
        Does not change the result.
    copy : bool, default=False
        Return a copy with the results instead of writing them into ``adata``.

    Returns
    -------
    AnnData or None
        The copy if ``copy=True``, else None. These fields are set:

        - ``obsm["X_" + key_added]``: the positions, float32;
          ``ctsne.pl.embedding(adata, reference=reference)`` draws them over the reference
        - ``obs[key_added + "_far"]``: True for cells far from everything in the reference, whose
          places mean nothing; ``"_distance"``, to the nearest reference cell
        - ``obs[key_added + "_perplexity"]``, ``"_largest_weight"`` and, if the similarities use
          labels, ``"_other_share"``, ``"_matched"``: as in :func:`ctsne.tl.ctsne`
        - ``uns[key_added]``: ``"params"``, ``"far_distance"`` (the limit) and the fields' names

    Examples
    --------
    >>> import anndata
    >>> from ctsne import tl
    >>> from ctsne.datasets import make_synthetic
    >>> data = make_synthetic(300, random_state=0)
    >>> adata = anndata.AnnData(data.X)
    >>> adata.obs["batch"] = data.known
    >>> reference, new = adata.copy(), adata[:50].copy()
    >>> tl.ctsne(reference, "batch", perplexity=20, n_iter=300)
    >>> tl.transform(new, reference)
    >>> new.obsm["X_ctsne"].shape, int(new.obs["ctsne_far"].sum())
    ((50, 2), 0)
    """
    fields.check_adata(adata)
    name = check_target(adata, key_added, copy=copy)
    found = _of_adata(reference, basis) if is_anndata(reference) else _of_model(reference)
    X = _features(adata, found, reference, use_rep, layer)
    column, names = _labels(adata, found, labels)
    aligned = _aligned(adata, found, align)
    model = found.model.set_params(n_jobs=n_jobs) if is_anndata(reference) else found.model
    placed = model.place(X, column, aligned=aligned, perplexity=perplexity)
    # Nothing is written before everything that can fail is done.
    make_copy = adata.to_memory if adata.isbacked else adata.copy
    target = make_copy() if copy else adata
    params: dict[str, Any] = {"method": model.method}
    if perplexity is not None:
        params["perplexity"] = float(perplexity)
    if names:
        params["labels"] = names[0] if len(names) == 1 else np.array(names, dtype=object)
    _store(target, name, placed, params)
    return target if copy else None


def _of_model(model: Any) -> _Reference:
    """Return a fitted model with what its file says about the data."""
    if not isinstance(model, ConditionalTSNE):
        kind = type(model).__name__
        raise TypeError(
            "reference must be a fitted ConditionalTSNE or an AnnData object with a map, got "
            f"{kind}; ctsne.load reads a model from a file"
        )
    check_is_fitted(model)
    origin, genes = origin_of(model), getattr(model, "feature_names_in_", None)
    if origin is None:
        return _Reference(model, genes=None if genes is None else tuple(map(str, genes)))
    settings = origin.provenance.settings
    use_rep, layer = origin.part()
    genes = origin.features if layer is not None or use_rep == "X" else None
    return _Reference(
        model,
        use_rep=use_rep,
        layer=layer,
        genes=genes,
        labels=tuple(settings.get("labels") or ()),
        align=settings.get("align_rep"),
    )


def _of_adata(adata: Any, basis: str) -> _Reference:
    """Make a model of a map from the settings stored with it, without fitting again."""
    positions = map_of(adata, basis)
    key = find_entry(adata.uns, basis)
    if key is None:
        how = "pass a fitted model, or make the map with ctsne.tl.ctsne"
        raise ValueError(f"reference.obsm[{basis!r}] was not made by ctsne; {how}")
    entry = adata.uns[key]
    try:
        stored = _command_line(entry) if "provenance" in entry else dict(entry.get("params", {}))
        parameters, names = _parameters(stored, entry.get("found", {}))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, ValueError):
            raise ValueError(f"reference, map {basis!r}: {error}") from error
        raise ValueError(f"reference.uns[{key!r}] is damaged: {reason(error)}") from error
    align = parameters.get("align", "none")
    named = align if isinstance(align, str) and align not in ALIGN_CHOICES else None
    if named is not None:
        parameters["align"] = fields.find_alignment(adata, named)
    chosen = _stored_features(adata, stored)
    column = labels_of(adata, list(names)) if names else None
    if isinstance(column, dict) and stored.get("combine"):
        column = combine_columns(list(column.values()))
    if column is None and parameters.get("method", DEFAULTS["method"]) != "tsne":
        raise ValueError(f"the labels of the map {basis!r} were given as an array; {_SAVE}")
    model = model_of_map(parameters, chosen.matrix, column, positions)
    return _Reference(
        model,
        use_rep=None if chosen.source.n_variable else chosen.source.use_rep,
        layer=stored.get("layer"),
        n_pcs=stored.get("n_pcs"),
        genes=None if chosen.source.kind == "obsm" else chosen.features,
        labels=names,
        align=named,
    )


def _parameters(
    stored: Mapping[str, Any], found: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the parameters of the estimator and the names of the label columns."""
    if "neighbors_key" in stored:
        raise ValueError(
            "it was made from a graph (neighbors_key), which says nothing about new cells; make a "
            "map from features, or from distances with ConditionalTSNE"
        )
    parameters = {name: stored[name] for name in DEFAULTS if name in stored}
    for name, value in parameters.items():
        if isinstance(value, Mapping) and "value" in value:
            parameters[name] = _by_name(value)
        elif isinstance(value, np.generic):
            parameters[name] = value.item()
    parameters["pca"] = None if stored.get("pca") == "none" else parameters.get("pca", "auto")
    parameters["init"] = "pca"  # the map is made already
    if isinstance(parameters.get("align"), str) and parameters["align"] == "array":
        raise ValueError(f"it was aligned with an array that is not stored; {_SAVE}")
    method = check_choice(parameters.get("method", DEFAULTS["method"]), "method", tuple(METHODS))
    if parameters.pop("mixing", None) is not None:
        knob = METHODS[method].knob or ""
        if knob not in found:
            raise ValueError(f"the {knob} that was found for its mixing is not stored; {_SAVE}")
        value = found[knob]
        parameters[knob] = _by_name(value) if isinstance(value, Mapping) else float(value)
    names = stored.get("labels", ())
    return parameters, (names,) if isinstance(names, str) else tuple(map(str, names))


def _stored_features(adata: Any, stored: Mapping[str, Any]) -> Representation:
    """Return the features that a map of this object was made of."""
    use_rep, layer, n_pcs = (stored.get(name) for name in ("use_rep", "layer", "n_pcs"))
    chosen = choose_representation(adata, use_rep=use_rep, layer=layer)
    if stored.get("highly_variable"):  # as they are marked now
        marked = np.asarray(adata.var[CHOSEN_GENES], bool)
        genes = tuple(np.array(chosen.features, object)[marked])
        chosen = replace(chosen, matrix=chosen.matrix[:, marked], features=genes)
    elif n_pcs is not None:
        chosen = replace(chosen, matrix=chosen.matrix[:, : int(n_pcs)])
    return replace(chosen, matrix=check_matrix(chosen.matrix, argument="the features of reference"))


def _by_name(value: Mapping[str, Any]) -> dict[str, float]:
    """Return one number per label or column from the two arrays that hold them."""
    names = value["label"] if "label" in value else value["column"]
    return dict(zip(map(str, names), map(float, value["value"]), strict=True))


def _command_line(entry: Any) -> dict[str, Any]:
    """Return the settings of a map of ``ctsne embed`` as :func:`ctsne.tl.ctsne` stores them."""
    settings = Provenance.from_json(str(entry["provenance"])).settings
    if settings.get("features") is not None:
        raise ValueError(f"the map was made of some of the features (--features); {_SAVE}")
    stored = {name: value for name, value in settings.items() if value is not None}
    stored["n_components"] = stored.pop("dimensions", 2)
    stored.setdefault("combine", True)  # as in records of earlier versions
    if "align_rep" in stored:
        stored["align"] = stored.pop("align_rep")
    return stored


def _features(
    adata: Any, found: _Reference, reference: Any, use_rep: str | None, layer: str | None
) -> Any:
    """Return the features of the new cells, which must be those of the reference."""
    named = use_rep not in (None, "X")  # columns of a representation have no names to compare
    if use_rep is None and layer is None:
        use_rep, layer = found.use_rep, found.layer
    if use_rep not in (None, "X") and use_rep not in adata.obsm:
        known = unknown(use_rep, sorted(adata.obsm), what="representation", where="adata.obsm")
        raise ValueError(f"{known}; {_how_to_make(use_rep)}")
    if use_rep == _COMPONENTS and is_anndata(reference):
        _check_components(adata, reference)
    chosen = choose_representation(adata, use_rep=use_rep, layer=layer)
    genes = None if named else found.genes
    if genes is not None and not set(genes) <= set(chosen.features) and layer is None:
        chosen = choose_representation(adata, use_rep="X")
    matrix = chosen.matrix
    if found.n_pcs is not None:
        matrix = matrix[:, : int(found.n_pcs)]
    elif genes is not None and chosen.features != genes:
        place = {name: column for column, name in enumerate(chosen.features)}
        missing = [gene for gene in genes if gene not in place]
        if missing:
            raise ValueError(
                f"adata lacks {len(missing)} of the {len(genes)} columns of the reference: "
                f"{listed(missing, most=5)}; all of them are needed, in adata.var_names, or name "
                "the representation that holds them with use_rep"
            )
        matrix = matrix[:, [place[gene] for gene in genes]]
    d = found.model.n_features_in_
    if matrix.shape[1] != d:
        what = f"{chosen.source} of adata has {matrix.shape[1]} columns"
        raise ValueError(f"{what}, but the map was made from {d}; name the same with use_rep")
    return matrix


def _how_to_make(use_rep: str) -> str:
    if use_rep != _COMPONENTS:
        return "the new cells need the same representation as the reference"
    return (
        "project the new cells onto the components of the reference, ref: adata.obsm['X_pca'] = "
        "np.asarray(adata[:, ref.var_names].X - ref.X.mean(axis=0)) @ ref.varm['PCs'], with X "
        "prepared in the same way"
    )


def _check_components(adata: Any, reference: Any) -> None:
    """Refuse components that were computed for the new cells alone."""
    if _LOADINGS not in adata.varm or _LOADINGS not in reference.varm:
        return
    own, theirs = adata.varm[_LOADINGS], reference.varm[_LOADINGS]
    same = own.shape == theirs.shape and list(adata.var_names) == list(reference.var_names)
    if not same or not np.allclose(own, theirs, atol=1e-6):
        raise ValueError(
            "adata.obsm['X_pca'] has other axes than that of the reference (varm['PCs'] differ), "
            f"so the two cannot be compared; {_how_to_make(_COMPONENTS)}"
        )


def _labels(adata: Any, found: _Reference, labels: Any) -> tuple[Any, tuple[str, ...]]:
    """Return the labels of the new cells as the model takes them, and the names of the columns."""
    own = found.model.labels_
    if labels is None:
        absent = [name for name in found.labels if name not in adata.obs]
        if absent and len(absent) < len(found.labels):
            how = "add it with missing values to use the others"
            warn(f"adata.obs has no column {listed(absent)}, so no labels are used; {how}")
        labels = list(found.labels) if found.labels and not absent else None
    if labels is None:
        return None, ()
    names = tuple(column_names(adata, labels))
    if names:
        several = own is not None and not isinstance(own, Column)
        names = tuple(in_order(names, found.labels or (own.names if several else ())))
        labels = list(names)
    column = labels_of(adata, labels)
    if isinstance(column, dict):
        if isinstance(own, Column) or own is None:  # the map was made of their combinations
            column = combine_columns(list(column.values()))
        else:
            if len(names) != own.n_columns:
                got = f"{own.n_columns} label columns were factored out, got {len(names)}"
                raise ValueError(f"labels: {got}")
            column = dict(zip(own.names, column.values(), strict=True))
    return column, names


def _aligned(adata: Any, found: _Reference, align: Any) -> Any:
    """Return the representation in which other labels are compared, if the model needs one."""
    if found.model.diagnostics_.alignment != "array":
        if align is not None:
            raise ValueError(f"align={shown(align)} has no effect: the map was made without one")
        return None
    align = found.align if align is None else align
    if align is None:
        raise ValueError(
            "the map was aligned with a representation: name that of the new cells with align, a "
            "key of adata.obsm or an array"
        )
    return fields.find_alignment(adata, align)


def _store(target: Any, name: str, placed: Placement, params: dict[str, Any]) -> None:
    """Write positions and diagnostics; what an earlier map left behind is removed."""
    keys = fields.store_positions(target, name, placed.embedding, placed.diagnostics())
    target.uns[name] = {
        "params": params,
        "far_distance": float(placed.far_distance),
        "diagnostics_keys": keys,
    }
