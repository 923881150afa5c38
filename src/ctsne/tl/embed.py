"""A map of an AnnData object with known labels factored out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ctsne._core.checks import check_same_rows
from ctsne._core.choices import ALIGN_CHOICES
from ctsne._core.messages import unknown
from ctsne._fit.settings import check_settings
from ctsne._io.anndata import column_of
from ctsne._io.h5ad_maps import is_ours
from ctsne.estimator import ConditionalTSNE
from ctsne.labels import Labels, encode_labels
from ctsne.layout.descent import Callback
from ctsne.methods import METHODS
from ctsne.tl._representation import (
    check_adata,
    check_writable,
    choose_representation,
    neighbor_graph,
)
from ctsne.tl._results import kept_params, store_map, taken_fields

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["ctsne"]


def ctsne(
    adata: AnnData,
    labels: object,
    *,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    neighbors_key: str | None = None,
    key_added: str = "ctsne",
    random_state: int | np.random.RandomState | None = 0,
    copy: bool = False,
    n_components: int = 2,
    method: str = "joint",
    mixing: float | None = None,
    strength: float | Mapping[Any, float] | None = None,
    beta: float | Mapping[Any, float] | None = None,
    align: str | ArrayLike = "none",
    odds: float | Mapping[Any, float] | None = None,
    beta_low: float | Mapping[Any, float] | None = None,
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

    The map is that of :class:`ctsne.ConditionalTSNE` with the same parameters, to the last bit.

    Parameters
    ----------
    adata : AnnData
        Cells in rows. In memory, or backed by a file; a view becomes an object of its own, as with
        scanpy.
    labels : str, list of str, array-like of length n_obs, or None
        What to factor out: a column of ``adata.obs``, several of them (their combination is
        factored out), or the labels themselves. Missing labels condition nothing.
    use_rep : str, optional
        What the map is made of: a key of ``adata.obsm``, or ``"X"``. By default the principal
        components in ``adata.obsm["X_pca"]``. Where there are none, ``X`` of up to 50 columns is
        taken as it is, and of a wider one scanpy makes 50 components, which are kept.
    n_pcs : int, optional
        Take this many of the first columns of the representation, or make so many components; 0
        takes ``X``.
    neighbors_key : str, optional
        Take the neighbours from a graph that is there already: that of ``adata.uns[neighbors_key]``
        (``"neighbors"`` for the usual one), as made by ``scanpy.pp.neighbors`` or bbknn. It must
        hold at least ``perplexity`` neighbours of each point, better three times as many, and
        neighbours with other labels among them. Without it, neighbours with the same and with
        other labels are searched, which is what the methods are made for.
    key_added : str, default="ctsne"
        Name of the map and of all that goes with it.
    random_state : int, RandomState instance or None, default=0
        Seed of the random start, and of the noise where a start is degenerate.
    copy : bool, default=False
        Return a copy with the results, in memory, instead of writing them into ``adata``.
    align : {"none", "mutual", "local", "mean", "auto"}, str or array, default="none"
        In which space cells of other labels are compared: an alignment, a key of ``adata.obsm``
        such as ``"X_pca_harmony"``, or an array with a row for each cell.
    n_components, method, mixing, strength, beta, odds, beta_low, bandwidth, perplexity, recall, \
n_iter, early_exaggeration, early_exaggeration_iter, exaggeration, learning_rate, dof, callback, \
callback_every, n_jobs, verbose
        As in :class:`ctsne.ConditionalTSNE`, with the same defaults.
    metric : {"euclidean", "cosine"}, default="euclidean"
        How neighbours are searched; has no effect with ``neighbors_key``.
    init : {"pca", "random", "spectral"} or array of shape (n_obs, n_components), optional
        Where the points start: ``"pca"`` by default, ``"spectral"`` with ``neighbors_key``.

    Returns
    -------
    AnnData or None
        The copy if ``copy=True``, else None. These fields are set:

        - ``obsm[key_added]``: the map, float32. ``scanpy.pl.embedding(adata, key_added)`` draws it
        - ``obs[key_added + "_perplexity"]``, ``"_other_share"``, ``"_matched"``,
          ``"_largest_weight"``: the diagnostics of every cell, to colour the map by; no
          ``"_other_share"`` and ``"_matched"`` for ``"tsne"`` and ``"original"``, whose
          similarities do not use labels
        - ``obsp[key_added + "_affinities"]``: the symmetric similarities, sparse
        - ``uns[key_added]``: ``"params"``, those that the method uses (a number for each
          label as two arrays, ``"label"`` and ``"value"``); ``"kl_divergence"``, ``"n_iter"`` and
          ``"recall"``; the names of the fields above, ``"affinities_key"`` and
          ``"diagnostics_keys"``; ``"diagnostics"``, their summary over all cells; and ``"found"``,
          strength (or beta) and mixing of the map, where ``mixing`` asked for one
        - ``obsm["X_pca"]``, ``varm["PCs"]``, ``uns["pca"]``: where components were made

    Raises
    ------
    ImportError
        If principal components have to be made and scanpy is not installed.
    TypeError, ValueError
        If something cannot work, with nothing changed.

    Examples
    --------
    >>> import anndata
    >>> from ctsne.datasets import make_synthetic
    >>> from ctsne.tl import ctsne
    >>> data = make_synthetic(300, random_state=0)
    >>> adata = anndata.AnnData(data.X)
    >>> adata.obs["batch"] = data.known
    >>> ctsne(adata, "batch", perplexity=20, n_iter=300)
    >>> adata.obsm["ctsne"].shape
    (300, 2)
    >>> adata.uns["ctsne"]["params"]["method"], adata.uns["ctsne"]["params"]["labels"]
    ('joint', 'batch')
    """
    check_adata(adata)
    _check_target(adata, key_added, copy=copy)
    column = None if labels is None else column_of(adata, labels, argument="labels")
    known = None if column is None else encode_labels(column, n=adata.n_obs)
    if init is None:
        init = "pca" if neighbors_key is None else "spectral"
    model = ConditionalTSNE(
        n_components=n_components,
        method=method,
        mixing=mixing,
        strength=strength,
        beta=beta,
        align=_alignment(adata, align),
        odds=odds,
        beta_low=beta_low,
        bandwidth=bandwidth,
        perplexity=perplexity,
        metric=_check_metric(metric, neighbors_key),
        recall=recall,
        init=init,
        n_iter=n_iter,
        early_exaggeration=early_exaggeration,
        early_exaggeration_iter=early_exaggeration_iter,
        exaggeration=exaggeration,
        learning_rate=learning_rate,
        dof=dof,
        callback=callback,
        callback_every=callback_every,
        n_jobs=n_jobs,
        random_state=random_state,
        verbose=verbose,
    )
    if neighbors_key is None:
        source = choose_representation(
            adata, use_rep, n_pcs, check=lambda X: _check_settings(model, X, known)
        )
    else:
        _check_graph_alone(use_rep, n_pcs)
        listed = known if method in METHODS and METHODS[method].two_lists else None
        source = neighbor_graph(adata, neighbors_key, listed, perplexity)
    if key_added == source.params.get("use_rep"):
        raise ValueError(
            f"key_added={key_added!r} would replace what the map is made of; choose another name"
        )
    model.fit(source.matrix, labels=known)
    # Nothing is written before all that can fail is done.
    target = _copied(adata) if copy else adata
    source.store_components(target)
    params = {**_named(labels, column), **source.params, **kept_params(model)}
    if isinstance(align, str) and "align" in params:
        params["align"] = align  # the name of a representation, not what is in it
    store_map(target, key_added, model, params)
    return target if copy else None


def _check_target(adata: Any, key: object, *, copy: bool) -> None:
    if not isinstance(key, str) or not key or "/" in key:
        raise ValueError(f'key_added must be a name without slashes, like "ctsne", got {key!r:.60}')
    taken = [] if is_ours(adata.uns.get(key)) else taken_fields(adata, key)
    if taken:
        raise ValueError(
            f"key_added={key!r} would replace {' and '.join(taken[:3])}, not written by ctsne; "
            f'choose another name, such as "{key}_map"'
        )
    if not copy:
        check_writable(adata, instead="copy=True to have a copy with the results")


def _check_metric(metric: str, neighbors_key: str | None) -> str:
    if neighbors_key is not None:
        if metric != "euclidean":
            raise ValueError(
                f"metric={metric!r:.60} has no effect with neighbors_key, whose graph has "
                "distances already; leave one of them out"
            )
        return "precomputed"
    if metric == "precomputed":
        raise ValueError(
            'metric="precomputed" takes distances: name a graph of them with neighbors_key, or '
            "give a matrix of them to ctsne.ConditionalTSNE"
        )
    return metric


def _check_graph_alone(use_rep: object, n_pcs: object) -> None:
    for name, value in (("use_rep", use_rep), ("n_pcs", n_pcs)):
        if value is not None:
            raise ValueError(
                f"{name}={value!r:.60} has no effect with neighbors_key, whose graph has distances "
                "already; leave one of them out"
            )


def _check_settings(model: Any, X: Any, known: Labels | None) -> None:
    """Refuse what the estimator will refuse, before principal components are made."""
    check_settings({**model.get_params(deep=False), "random_state": 0}, X, known)


def _alignment(adata: Any, align: Any) -> Any:
    """Take a representation of the object where its name is given."""
    if not isinstance(align, str):
        check_same_rows(adata.obs, align, argument="align")
        return align
    if align in ALIGN_CHOICES:
        return align
    if align not in adata.obsm:
        names = [*ALIGN_CHOICES, *adata.obsm]
        raise ValueError(f"align: {unknown(align, names, what='alignment', where='adata.obsm')}")
    return np.asarray(adata.obsm[align])


def _copied(adata: Any) -> Any:
    return adata.to_memory() if adata.isbacked else adata.copy()


def _named(labels: Any, column: Any) -> dict[str, Any]:
    """Return the names of the columns that were factored out, if that is how they were given."""
    if isinstance(labels, str):
        return {"labels": labels}
    if isinstance(labels, list | tuple) and column is not labels:
        return {"labels": np.array(labels, dtype=object)}
    return {}
