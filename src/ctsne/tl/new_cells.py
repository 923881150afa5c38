"""New cells in a map that is finished."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ctsne._core.checks import check_choice
from ctsne._core.messages import quoted, shown, unknown, warn
from ctsne.estimator import ConditionalTSNE, model_of_map
from ctsne.io import anndata as ad
from ctsne.io.dataset import Dataset
from ctsne.methods import METHODS
from ctsne.placing.request import in_order, labels_for
from ctsne.settings import DEFAULTS
from ctsne.storage.record import GivenArray, Record, record_of, recorded_columns
from ctsne.tl import fields

if TYPE_CHECKING:
    from anndata import AnnData

_SAVE = "keep the model itself: model.save(path), or ctsne embed --model"
# Representations made by scanpy's PCA, whose axes differ from one dataset to the next.
_COMPONENTS = "X_pca"
_LOADINGS = "PCs"
_PROJECT = (
    "project the new cells onto the components of the reference, ref: adata.obsm['X_pca'] = "
    "np.asarray(adata[:, ref.var_names].X - ref.X.mean(axis=0)) @ ref.varm['PCs'], with X "
    "prepared in the same way"
)


@dataclass(frozen=True, eq=False)
class _Reference:
    """A model, and how it was made: where its features and labels are in an AnnData object."""

    model: ConditionalTSNE
    record: Record
    genes: tuple[str, ...] | None = None  # to be found by name
    loadings: tuple[Any, list[str]] = (None, [])  # of its components, with the genes


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
    new cells alone do *not*; project the new cells onto those of the reference.

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
    key_added, copy
        As in :func:`ctsne.tl.ctsne`.
    perplexity : float, optional
        Effective number of neighbours per new cell, as in :meth:`ctsne.ConditionalTSNE.place`.
    n_jobs : int, default=-1
        Number of threads, if ``reference`` is an AnnData object; a model has its own ``n_jobs``.
        Does not change the result.

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
    >>> reference, new = adata.copy(), adata[:50].copy()
    >>> tl.ctsne(reference, "batch", perplexity=20, n_iter=300)
    >>> tl.transform(new, reference)
    >>> new.obsm["X_ctsne"].shape, int(new.obs["ctsne_far"].sum())
    ((50, 2), 0)
    """
    fields.check_adata(adata)
    name = fields.check_target(adata, key_added, copy=copy)
    if ad.is_anndata(reference):
        found = _of_adata(reference, basis, n_jobs)
    elif isinstance(reference, ConditionalTSNE):
        found = _of_model(reference)
    else:
        what = "reference must be a fitted ConditionalTSNE or an AnnData object with a map"
        how = f"got {type(reference).__name__}; ctsne.load reads a model from a file"
        raise TypeError(f"{what}, {how}")
    chosen = _features(adata, found, use_rep, layer)
    column, names = _labels(adata, found, labels)
    aligned = _aligned(adata, found, align)
    placed = found.model.place(chosen.X, column, aligned=aligned, perplexity=perplexity)
    # Nothing is written before everything that can fail is done.
    parameters: dict[str, Any] = {"method": found.model.method, "metric": found.model.metric}
    if perplexity is not None:
        parameters["perplexity"] = float(perplexity)
    record = Record("ctsne.tl.transform", parameters, names, chosen.source)
    far = float(placed.far_distance)
    target = fields.store_map(
        adata, name, placed.embedding, placed.diagnostics(), record, copy=copy, far_distance=far
    )
    return target if copy else None


def _of_model(model: ConditionalTSNE) -> _Reference:
    check_is_fitted(model)
    record = record_of(model)
    genes: Any = record.features
    if record.source is None:
        genes = getattr(model, "feature_names_in_", None)
    named = genes is not None and (record.source is None or record.source.kind != "obsm")
    return _Reference(model, record, tuple(map(str, genes)) if named else None)


def _of_adata(adata: Any, basis: str, n_jobs: int | None) -> _Reference:
    """Make a model of a map from the settings stored with it, without fitting again."""
    positions = ad.map_of(adata, basis)
    try:
        record = fields.find_stored_record(adata, basis)
        if record is None or record.made_by.endswith("transform"):
            raise ValueError("no map made by ctsne; pass a fitted model, or use ctsne.tl.ctsne")
        parameters = _parameters(record)
    except ValueError as error:
        raise ValueError(f"reference, map {basis!r}: {error}") from error
    if isinstance(parameters.get("align"), GivenArray):
        parameters["align"] = fields.find_alignment(adata, record.options["align_rep"])
    features = fields.find_stored_features(adata, record)
    labels, numbers = recorded_columns(record)
    period, combine = record.parameters.get("numbers_period"), bool(record.options.get("combine"))
    column = ad.factored_out(adata, labels, numbers, period=period, combine=combine)
    if column is None and parameters["method"] != "tsne":
        raise ValueError(f"the labels of the map {basis!r} were given as an array; {_SAVE}")
    model = model_of_map({**parameters, "n_jobs": n_jobs}, features.matrix, column, positions)
    components = features.source is not None and features.source.kind == "obsm"
    loadings = adata.varm.get(_LOADINGS), list(adata.var_names)
    return _Reference(model, record, None if components else features.names, loadings)


def _parameters(record: Record) -> dict[str, Any]:
    if "neighbors_key" in record.options:
        what = "it was made from a graph (neighbors_key), which says nothing about new cells"
        how = "make a map from features, or from distances with ConditionalTSNE"
        raise ValueError(f"{what}; {how}")
    if record.options.get("features") is not None:
        raise ValueError(f"it was made of some of the features (--features); {_SAVE}")
    if isinstance(record.parameters.get("align"), GivenArray) and (
        record.options.get("align_rep") is None
    ):
        raise ValueError(f"it was aligned with an array that is not stored; {_SAVE}")
    parameters = {name: record.parameters[name] for name in DEFAULTS if name in record.parameters}
    parameters["init"] = "pca"  # the map is made already
    method = check_choice(parameters.get("method", DEFAULTS["method"]), "method", tuple(METHODS))
    if parameters.pop("mixing", None) is not None:
        knob = METHODS[method].knob or ""
        if knob not in record.results:
            raise ValueError(f"the {knob} that was found for its mixing is not stored; {_SAVE}")
        parameters[knob] = record.results[knob]
    return {**parameters, "method": method}


def _features(adata: Any, found: _Reference, use_rep: str | None, layer: str | None) -> Dataset:
    """Return the features of the new cells, which must be those of the reference."""
    # Columns of a representation have no names to compare.
    genes = found.genes if use_rep in (None, "X") else None
    if use_rep is None and layer is None and found.record.source is not None:
        use_rep, layer = found.record.source.use_rep, found.record.source.layer
    if use_rep not in (None, "X") and use_rep not in adata.obsm:
        known = unknown(use_rep, sorted(adata.obsm), what="representation", where="adata.obsm")
        same = "the new cells need the same representation as the reference"
        raise ValueError(f"{known}; {_PROJECT if use_rep == _COMPONENTS else same}")
    if use_rep == _COMPONENTS and not _same_components(adata, found):
        text = "adata.obsm['X_pca'] has other axes than that of the reference (varm['PCs'] differ)"
        raise ValueError(f"{text}, so the two cannot be compared; {_PROJECT}")
    chosen = ad.choose_representation(adata, use_rep=use_rep, layer=layer)
    if genes is not None and not set(genes) <= set(chosen.features) and layer is None:
        chosen = ad.choose_representation(adata, use_rep="X")
    matrix, n_pcs = chosen.X, found.record.options.get("n_pcs")
    if n_pcs is not None:
        matrix = matrix[:, : int(n_pcs)]
    elif genes is not None and chosen.features != genes:
        place = {name: column for column, name in enumerate(chosen.features)}
        missing = [gene for gene in genes if gene not in place]
        if missing:
            raise ValueError(
                f"adata lacks {len(missing)} of the {len(genes)} columns of the reference: "
                f"{quoted(missing, most=5)}; all of them are needed, in adata.var_names, or name "
                "the representation that holds them with use_rep"
            )
        matrix = matrix[:, [place[gene] for gene in genes]]
    d = found.model.n_features_in_
    if matrix.shape[1] != d:
        what = f"{chosen.source} of adata has {matrix.shape[1]} columns"
        raise ValueError(f"{what}, but the map was made from {d}; name the same with use_rep")
    return replace(chosen, X=matrix)


def _same_components(adata: Any, found: _Reference) -> bool:
    """Return whether components of the new cells have the axes of the reference, if known."""
    own, (theirs, genes) = adata.varm.get(_LOADINGS), found.loadings
    if own is None or theirs is None:
        return True
    same = own.shape == theirs.shape and list(adata.var_names) == genes
    return same and np.allclose(own, theirs, atol=1e-6, equal_nan=True)


def _labels(adata: Any, found: _Reference, labels: Any) -> tuple[Any, tuple[str, ...]]:
    """Return the labels of the new cells as the model takes them, and the names of the columns."""
    known = found.record.labels
    if labels is None:
        absent = [name for name in known if name not in adata.obs]
        if absent and len(absent) < len(known):
            how = "add it with missing values to use the others"
            warn(f"adata.obs has no column {quoted(absent)}, so no labels are used; {how}")
        labels = list(known) if known and not absent else None
    if labels is None:
        return None, ()
    names = tuple(in_order(ad.column_names(adata, labels), known))
    column = ad.labels_of(adata, list(names) or labels)
    if isinstance(column, dict):
        column = labels_for(found.model.labels_, list(column.values()))
    return column, names


def _aligned(adata: Any, found: _Reference, align: Any) -> Any:
    """Return the representation in which other labels are compared, if the model needs one."""
    if found.model.diagnostics_.alignment != "array":
        if align is not None:
            raise ValueError(f"align={shown(align)} has no effect: the map was made without one")
        return None
    align = found.record.options.get("align_rep") if align is None else align
    if align is None:
        what = "the map was aligned with a representation: name that of the new cells with align"
        raise ValueError(f"{what}, a key of adata.obsm or an array")
    return fields.find_alignment(adata, align)
