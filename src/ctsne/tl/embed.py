"""A map of an AnnData object with known labels factored out."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ctsne._core.messages import shown
from ctsne._core.vocabulary import ALIGN_CHOICES, NO_EFFECT
from ctsne.estimator import ConditionalTSNE
from ctsne.evaluate import summarize_diagnostics
from ctsne.fit.advice import doubt_line
from ctsne.fit.fit import StageLog
from ctsne.fit.summary import point_diagnostics
from ctsne.io.anndata import column_names, factored_out, map_keys
from ctsne.layout.descent import Callback
from ctsne.methods import METHODS, is_used
from ctsne.settings import DEFAULTS
from ctsne.storage.record import Record, fit_results
from ctsne.tl import fields

if TYPE_CHECKING:
    from anndata import AnnData


def ctsne(
    adata: AnnData,
    labels: object,
    *,
    numbers: object = None,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    layer: str | None = None,
    neighbors_key: str | None = None,
    key_added: str = "ctsne",
    store_graph: bool = False,
    trust: bool = False,
    random_state: int | np.random.RandomState | None = fields.DEFAULT_SEED,
    rng: int | np.random.Generator | None = None,
    copy: bool = False,
    n_components: int = 2,
    method: str = "joint",
    mixing: float | Mapping[str, float] | None = None,
    strength: float | Mapping[Any, float] | None = None,
    beta: float | Mapping[Any, float] | None = None,
    align: str | ArrayLike | None = None,
    odds: float | Mapping[Any, float] | None = None,
    beta_low: float | Mapping[Any, float] | None = None,
    numbers_period: float | Mapping[str, float] | None = None,
    bandwidth: str = "r",
    perplexity: float = 30,
    metric: str = "euclidean",
    recall: float = 0.99,
    init: str | ArrayLike | None = None,
    n_iter: int = 750,
    early_exaggeration: float = 12,
    early_exaggeration_iter: int = 250,
    exaggeration: float = 1,
    learning_rate: float | str = "auto",
    dof: float = 1,
    callback: Callback | None = None,
    callback_every: int = 50,
    n_jobs: int | None = -1,
    verbose: int = 0,
) -> AnnData | None:
    """Make a t-SNE map of the cells with known labels factored out.

    The map is the same, bit for bit, as that of :class:`ctsne.ConditionalTSNE` and of ``ctsne
    embed`` with the same data and parameters. If an argument is not valid, nothing is changed.

    Parameters
    ----------
    adata : AnnData
        Cells in rows, in memory or backed by a file. A view becomes a copy, as with scanpy.
    labels : str, list of str, array-like of length n_obs, or None
        What to factor out: a column of ``adata.obs``, two or three columns, each with a strength
        (or mixing) of its own if a mapping such as ``strength={"donor": 0.5, "batch": 0.8}`` is
        given, or the labels themselves. Missing labels condition nothing.
    numbers : str, list of str or array-like of length n_obs, optional
        Numbers to factor out, such as ``"n_counts"`` or ``"age"``, as in
        :meth:`ctsne.ConditionalTSNE.fit`; with ``labels``, three columns in all.
    use_rep : str, optional
        The features: a key of ``adata.obsm``, or ``"X"`` for all genes. By default
        ``adata.obsm["X_pca"]`` if present, else the genes of ``X`` that
        ``adata.var["highly_variable"]`` marks, else all of ``X``.
    n_pcs : int, optional
        Number of principal components: the first columns of ``adata.obsm[use_rep]``, or components
        made of ``X``, by default 50 if there are more genes. 0 takes ``X`` itself.
    layer : str, optional
        Take all genes of ``adata.layers[layer]`` instead of ``use_rep``.
    neighbors_key : str, optional
        Take neighbours from the graph ``adata.uns[neighbors_key]`` (usually ``"neighbors"``) of
        ``scanpy.pp.neighbors`` or bbknn. It must hold at least ``perplexity`` neighbours per point,
        better three times as many, and neighbours with other labels among them.
    key_added : str, default="ctsne"
        Name of the map, with or without ``"X_"``, and prefix of the fields that belong to it.
    store_graph : bool, default=False
        Whether to store the similarities too, as a neighbours entry that scanpy can cluster. It may
        take more space than all other fields.
    trust : bool, default=False
        Whether to say how far the place of each cell can be believed, which takes a fifth to a half
        of the time of the map.
    copy : bool, default=False
        Return a copy with the results, in memory, instead of writing them into ``adata``.
    align : {"none", "mutual", "local", "mean", "auto"}, str or array, optional
        Space in which cells with other labels are compared: an alignment, a key of ``adata.obsm``
        such as ``"X_pca_harmony"``, or an array with a row per cell. The default depends on the
        method: ``"local"`` for ``"joint"``.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Metric of the neighbour search; has no effect with ``neighbors_key``.
    init : {"pca", "random", "spectral"} or array of shape (n_obs, n_components), optional
        Start of the map: ``"pca"`` by default, ``"spectral"`` with ``neighbors_key``.
    random_state, rng, n_components, method, mixing, strength, beta, odds, beta_low, \
numbers_period, bandwidth, perplexity, recall, n_iter, early_exaggeration, \
early_exaggeration_iter, exaggeration, learning_rate, dof, callback, callback_every, n_jobs, verbose
        As in :class:`ctsne.ConditionalTSNE`; ``random_state`` is 0 by default, and ``rng``
        replaces it by another seed or a :class:`numpy.random.Generator`.

    Returns
    -------
    AnnData or None
        The copy if ``copy=True``, else None. These fields are set:

        - ``obsm["X_" + key_added]``: the map, float32, as scanpy and cellxgene expect it;
          ``scanpy.pl.embedding(adata, key_added)`` draws it
        - ``obs[key_added + "_perplexity"]``, ``"_largest_weight"`` and, if the similarities use
          labels, ``"_other_share"``, ``"_matched"``: diagnostics of every cell, to colour by; with
          ``trust``, ``"_trust"``, from 0 to 1 (:meth:`ctsne.ConditionalTSNE.trust`)
        - with ``store_graph``, ``uns[key_added + "_neighbors"]``, as from ``scanpy.pp.neighbors``:
          pass its name as ``neighbors_key`` to ``scanpy.tl.leiden`` or ``umap``. The similarities,
          at most 1, are in ``obsp[key_added + "_connectivities"]``, and the strongest of every cell
          in ``obsp[key_added + "_distances"]``, as ``sqrt(1 - 2 log(connectivity))``
        - ``uns[key_added]``: ``"params"`` that affect the map, ``"results"``, ``"diagnostics"`` in
          short, and the ``"record"`` that :func:`ctsne.tl.transform` and the command line read

    Examples
    --------
    >>> from ctsne.tl import ctsne
    >>> ctsne(adata, "batch", perplexity=20, n_iter=300)
    >>> adata.obsm["X_ctsne"].shape
    (300, 2)
    """
    arguments = dict(locals())  # as given, before any of them is replaced
    fields.check_adata(adata)
    arguments["random_state"] = fields.seed_of(random_state, rng)
    name = fields.check_target(adata, key_added, copy=copy, graph=store_graph)
    known = factored_out(adata, labels, numbers, period=numbers_period)
    if neighbors_key is None:
        if metric == "precomputed":
            raise ValueError('for metric="precomputed", name a graph with neighbors_key')
        init = "pca" if init is None else init
        features = fields.find_features(adata, use_rep, n_pcs, layer)
        fields.warn_of_counts(features)
    else:
        other_metric = None if metric == "euclidean" else metric
        ignored = {"use_rep": use_rep, "n_pcs": n_pcs, "layer": layer, "metric": other_metric}
        for argument, value in ignored.items():
            if value is not None:
                what = f"{argument}={shown(value)} has no effect with neighbors_key"
                how = "whose graph already has distances; leave one of them out"
                raise ValueError(f"{what}, {how}")
        metric, init = "precomputed", "spectral" if init is None else init
        searched = known if method in METHODS and METHODS[method].splits_neighbors else None
        features = fields.find_graph(adata, neighbors_key, searched, perplexity)
    if features.source is not None and features.source.use_rep in map_keys(name):
        raise ValueError(f"key_added={shown(key_added)} would replace the features of the map")
    chosen = {"align": fields.find_alignment(adata, align), "metric": metric, "init": init}
    chosen["pca"] = features.pca
    others = {name: arguments[name] for name in DEFAULTS if name not in chosen}
    model = ConditionalTSNE(**others, **chosen)
    model.fit(features.matrix, labels=known)
    if trust:
        model.trust()
    heard = verbose or logging.getLogger("ctsne").isEnabledFor(logging.INFO)
    if heard and (advice := model.advise()) is not None:
        for text in advice.lines():
            StageLog(model.get_params(deep=False)).write(text)
    if heard and trust:
        matched = model.diagnostics_.matched
        doubt = doubt_line(model.trust_, model.labels_, matched=matched)
        StageLog(model.get_params(deep=False)).write(doubt)
    # Nothing is written before everything that can fail is done.
    parameters = model.get_params(deep=False)
    named = isinstance(align, str) and align not in ALIGN_CHOICES
    record = Record(
        "ctsne.tl.ctsne",
        {
            # A data frame as its values, of which the record keeps the shape.
            parameter: np.asarray(value) if hasattr(value, "to_numpy") else value
            for parameter, value in parameters.items()
            if is_used(parameter, parameters) and parameter not in NO_EFFECT
        },
        labels=(*column_names(adata, labels), *column_names(adata, numbers)),
        source=features.source,
        options={
            **features.options,
            **({"align_rep": align} if named else {}),
            **({"numbers": column_names(adata, numbers)} if numbers is not None else {}),
        },
        results=fit_results(model),
    )
    diagnostics = point_diagnostics(model)
    summary = summarize_diagnostics(model.diagnostics_)
    if "other_share" not in diagnostics:
        summary = {name: value for name, value in summary.items() if "other_share" not in name}
    target = fields.store_map(
        adata, name, model.embedding_, diagnostics, record, copy=copy, diagnostics=summary
    )
    if store_graph:
        fields.store_graph(target, name, model, features)
    return target if copy else None
