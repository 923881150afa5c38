"""Columns of an AnnData object that could be labels, and measured maps: one or many settings."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from ctsne._core.vocabulary import FEATURE_METRICS, MEASURED_POINTS, NEIGHBORHOOD
from ctsne.estimator import ConditionalTSNE
from ctsne.evaluate import evaluate as evaluate_arrays
from ctsne.evaluate.screen import screen as screen_arrays
from ctsne.io.anndata import factored_out, graph_fields, labels_of, map_name, map_of, obs_columns
from ctsne.io.dataset import Source
from ctsne.io.tables import candidates
from ctsne.methods import align_value
from ctsne.settings import DEFAULTS
from ctsne.storage.record import GivenArray, Record, recorded_columns
from ctsne.sweep import SweepResult
from ctsne.sweep import sweep as sweep_arrays
from ctsne.sweep.grid import Grid
from ctsne.tl import fields

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData


def screen(
    adata: AnnData,
    *,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    layer: str | None = None,
    metric: str = "euclidean",
    n_jobs: int = -1,
) -> pd.DataFrame:
    """Rank the columns of ``adata.obs`` that could be factored out, and propose one.

    Columns with a few values that repeat could be labels, others numbers (``kind`` "number").

    The proposal is logged. ``adata`` is not changed.

    Parameters
    ----------
    adata : AnnData
    use_rep, n_pcs, layer, metric, n_jobs
        As in :func:`ctsne.tl.ctsne`.

    Returns
    -------
    pandas.DataFrame
        One row per column: number of ``values`` and of ``missing`` ones, ``mixing`` among the
        nearest neighbours in the data (the smallest first; 1 is random; of a number the gap), the
        ``kind`` that the name suggests, and a ``note``. ``attrs`` has the ``proposal`` (None if no
        column dominates), the ``advice`` in words, and ``relations`` such as nested columns.

    Examples
    --------
    >>> from ctsne.tl import screen
    >>> table = screen(adata)
    >>> table.attrs["proposal"], table.loc["cell_type", "kind"]
    ('batch', 'analysis')
    """
    import pandas as pd

    fields.check_adata(adata)
    features = fields.find_features(adata, use_rep, n_pcs, layer)
    columns = candidates(obs_columns(adata.obs), numbers=True)
    found = screen_arrays(features.matrix, columns, metric=metric, pca=features.pca, n_jobs=n_jobs)
    names = ["name", "values", "missing", "mixing", "kind", "note"]
    table = pd.DataFrame(map(vars, found.columns), columns=names).set_index("name")
    relations = [str(relation) for relation in found.relations]
    table.attrs = {"proposal": found.proposal, "advice": found.advice, "relations": relations}
    for text in (*relations, found.advice):
        logging.getLogger("ctsne").info(text)
    return table


def evaluate(
    adata: AnnData,
    labels: object = None,
    *,
    other: object = None,
    basis: str = "ctsne",
    use_rep: str | None = None,
    n_pcs: int | None = None,
    layer: str | None = None,
    metric: str | None = None,
    k: int = NEIGHBORHOOD,
    sample: float | None = MEASURED_POINTS,
    random_state: int | None = fields.DEFAULT_SEED,
    rng: Any = None,
    standard: bool = False,
    n_jobs: int = -1,
) -> pd.DataFrame:
    """Measure a map: which neighbours of the data it keeps, and how it mixes labels.

    Maps of other tools can be measured too: ``basis="umap"``. ``adata`` is not changed.

    Parameters
    ----------
    adata : AnnData
    labels, other : str, list of str or array-like of length n_obs, optional
        The label that was factored out, which neighbourhoods are adjusted for, and the label to
        look for in the map: a column of ``adata.obs``, several, or the labels themselves. Each of
        several columns is measured, ``labels`` also as a combination. By default ``labels`` are
        the columns that a map of :func:`ctsne.tl.ctsne` was made with.
    basis : str, default="ctsne"
        The map in ``adata.obsm``, with or without ``"X_"``.
    use_rep, n_pcs, layer, metric : optional
        The data to compare with, as in :func:`ctsne.tl.ctsne`. By default those that a map of
        ctsne was made of; for other maps, the default of :func:`ctsne.tl.ctsne`.
    k, sample, random_state, rng, n_jobs
        As in :func:`ctsne.evaluate.evaluate`, and ``rng`` as in :func:`ctsne.tl.ctsne`.
    standard : bool, default=False
        Add the measures of scib-metrics: of the map, of a t-SNE map, of the data and, if there is
        one, of the graph that was stored with the map or that it was made of. Needs ``labels`` and
        ``other``.

    Returns
    -------
    pandas.DataFrame
        One row per measure, as in :func:`ctsne.evaluate.evaluate`.

    Examples
    --------
    >>> from ctsne.tl import ctsne, evaluate
    >>> adata.obs["batch"], adata.obs["type"] = data.known, data.hidden
    >>> ctsne(adata, "batch", method="joint", perplexity=20, n_iter=300)
    >>> table = evaluate(adata, "batch", other="type")
    >>> sorted(set(table["label"].dropna()))
    ['batch', 'type']
    """
    fields.check_adata(adata)
    embedding = map_of(adata, basis)
    record = fields.find_stored_record(adata, basis) or Record("another program", {})
    numbers = None
    if labels is None and record.labels and set(record.labels) <= set(adata.obs):
        labels, numbers = recorded_columns(record)
    period = record.parameters.get("numbers_period") if numbers else None
    known = factored_out(adata, labels, numbers, period=period)
    hidden = labels_of(adata, other, "other")
    neighbors_key = record.options.get("neighbors_key")
    record = _of_features(adata, record)
    if use_rep is None and n_pcs is None and layer is None:
        features = fields.find_stored_features(adata, record)
    else:
        features = fields.find_features(adata, use_rep, n_pcs, layer)
    align = align_value({**DEFAULTS, **record.parameters}) if record.parameters else "none"
    if isinstance(align, GivenArray):
        align = record.options.get("align_rep", "none")
    compared: Any = standard
    if standard is True and (graph := _graph_of(adata, basis, neighbors_key)) is not None:
        compared = {"graph": graph}
    return evaluate_arrays(
        embedding,
        features.matrix,
        known,
        other=hidden,
        k=k,
        metric=record.parameters.get("metric", "euclidean") if metric is None else metric,
        pca=features.pca,
        align=fields.find_alignment(adata, align),
        sample=sample,
        random_state=fields.seed_of(random_state, rng),
        standard=compared,
        n_jobs=n_jobs,
    )


def _graph_of(adata: Any, basis: str, neighbors_key: str | None) -> Any:
    """Return the distances of the graph stored with a map, or that it was made of, if any."""
    entries = (adata.uns.get(name) for name in (graph_fields(map_name(basis)).entry, neighbors_key))
    for entry in entries:
        if isinstance(entry, Mapping):
            return adata.obsp.get(entry.get("distances_key", "distances"))
    return None


def _of_features(adata: Any, record: Record) -> Record:
    key = record.options.get("neighbors_key")
    if key is None:
        return record
    entry = adata.uns.get(key)
    params = entry.get("params", {}) if isinstance(entry, Mapping) else {}
    use_rep, metric, n_pcs = (params.get(name) for name in ("use_rep", "metric", "n_pcs"))
    source = None
    if use_rep in adata.obsm or use_rep == "X":
        source = Source("X" if use_rep == "X" else "obsm", use_rep, 0)
    known = {"metric": metric} if metric in FEATURE_METRICS else {}
    counted = {"n_pcs": int(n_pcs)} if source is not None and n_pcs is not None else {}
    return Record("another program", known, source=source, options=counted)


def sweep(
    adata: AnnData,
    labels: object,
    grid: Grid | None = None,
    *,
    numbers: object = None,
    other: object = None,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    layer: str | None = None,
    estimator: ConditionalTSNE | None = None,
    k: int | None = None,
    sample: float | None = MEASURED_POINTS,
    folder: str | os.PathLike[str] | None = None,
    progress: bool = True,
    n_jobs: int | None = -1,
) -> SweepResult:
    """Make and measure the maps of many settings with one neighbour search.

    ``adata`` is not changed. Pass the chosen setting to :func:`ctsne.tl.ctsne`, with the other
    parameters of the estimator, or store its map: ``adata.obsm["X_ctsne"] = best.embedding``.

    Parameters
    ----------
    adata : AnnData
    labels, other : str, list of str or array-like of length n_obs
        The label to factor out and, optional, the label to look for in the maps, as in
        :func:`ctsne.tl.evaluate`.
    numbers : str, list of str or array-like of length n_obs, optional
        Numbers to factor out, as in :func:`ctsne.tl.ctsne`.
    grid : mapping or list of mappings, optional
        Parameters of :class:`ctsne.ConditionalTSNE` and their values, as in
        :func:`ctsne.sweep.sweep`; by default t-SNE, ``"joint"`` and the paper's ``"revised"``.
    use_rep, n_pcs, layer
        The features, as in :func:`ctsne.tl.ctsne`.
    estimator, k, sample, folder, progress, n_jobs
        As in :func:`ctsne.sweep.sweep`.

    Returns
    -------
    SweepResult

    Examples
    --------
    >>> from ctsne import ConditionalTSNE, tl
    >>> result = tl.sweep(
    ...     adata, "batch", {"method": "joint", "strength": [0, 1]}, progress=False,
    ...     estimator=ConditionalTSNE(perplexity=20, n_iter=300, random_state=0),
    ... )
    >>> best = result.best(mixing=0.5)
    >>> tl.ctsne(adata, "batch", perplexity=20, n_iter=300, **best.parameters)
    """
    fields.check_adata(adata)
    hidden = labels_of(adata, other, "other")
    period = getattr(estimator, "numbers_period", None)
    known = factored_out(adata, labels, numbers, period=period)
    features = fields.find_features(adata, use_rep, n_pcs, layer)
    fields.warn_of_counts(features)
    if n_pcs is not None:
        estimator = clone(ConditionalTSNE(random_state=0) if estimator is None else estimator)
        estimator.set_params(pca=features.pca)
    return sweep_arrays(
        features.matrix,
        known,
        grid,
        other=hidden,
        estimator=estimator,
        k=k,
        sample=sample,
        folder=folder,
        progress=progress,
        n_jobs=n_jobs,
    )
