"""``ConditionalTSNE``: the scikit-learn face of the whole pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ctsne._core.checks import check_count, check_matrix, check_same_rows
from ctsne._core.display import fitted_html
from ctsne._core.messages import warn
from ctsne._fit.clock import Clock
from ctsne._fit.conditioning import knob_value
from ctsne._fit.fitting import Fitting
from ctsne._fit.memory import check_memory
from ctsne._fit.settings import (
    check_callback,
    check_settings,
    check_verbose,
)
from ctsne.affinity.result import kept_diagnostics
from ctsne.labels import encode_labels
from ctsne.layout.descent import Callback
from ctsne.methods import METHODS


class ConditionalTSNE(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A t-SNE map with known labels factored out.

    Parameters
    ----------
    n_components : {1, 2, 3}, default=2
        Dimensions of the map.
    method : {"joint", "revised", "balanced", "original", "tsne"}, default="joint"
        ``"joint"`` conditions similarities and map together. ``"revised"`` is the paper: it
        strengthens the similarities across labels. ``"balanced"`` gives other labels a fixed share
        of every point's neighbourhood. ``"original"`` weakens the repulsion between different
        labels in the map. ``"tsne"`` ignores labels.
    mixing : float, optional
        How far the map should mix the labels, from 0 to 1, as a share of what random labels would
        give (mean share of other labels among the 30 nearest neighbours). The strength (or beta)
        that reaches it is found on a sample of the points and checked on the whole map; if that
        misses it, another map is made, twice at most. The result is the same as if the value found,
        ``strength_`` or ``beta_``, had been given.
    strength : float or mapping of label to float, optional
        For ``"joint"`` and ``"balanced"``: 0 conditions nothing, 1 most. By default 0.6 for
        ``"joint"`` and 1 for ``"balanced"``.
    beta : float or mapping of label to float, optional
        Weight of same-label similarities for ``"revised"``, of different-label pairs in the map for
        ``"original"``; in (0, 1], 1 conditions nothing, smaller conditions more. By default 1e-4
        for ``"revised"`` and 0.1 for ``"original"``.
    align : {"none", "mutual", "local", "mean", "auto"} or array (n, d'), default="none"
        In which space points of other labels are compared; those of the same label are always
        compared in ``X``. ``"mutual"`` shifts each label towards its mutual nearest neighbours
        under other labels, ``"local"`` does so differently from place to place, ``"mean"`` removes
        each label's mean, ``"auto"`` takes of none, mutual and mean the one that fits best. An
        array, such as a representation corrected by Harmony or scVI, has a row for each point.
    odds : float or mapping of label to float, optional
        How many times as hard two points with the same label repel each other in the map as two
        with different labels; 1 or more, beside any method. Replaces what ``"joint"`` derives from
        its strength.
    beta_low : float or mapping of label to float, optional
        The same in the paper's words: the weight of different-label pairs in the map. What it means
        depends on the number of labels, so prefer ``odds``.
    bandwidth : {"r", "p"}, default="r"
        For ``"revised"``: whether the conditioned similarities have the perplexity asked for, or
        those before conditioning.
    perplexity : float, default=30
        Roughly the number of neighbours that count; at least 1, at most one less than the points.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        With ``"precomputed"``, ``X`` is a matrix of distances, or a sparse graph of them.
    pca : int, "auto" or None, default="auto"
        Number of principal components to reduce the features to before anything else. ``"auto"``
        takes 50 if there are more than 50 columns, None keeps the features as they are. With
        ``metric="cosine"``, which measures angles from the origin, the data are not centred.
    recall : float, default=0.99
        Share of the true nearest neighbours that is enough, from 0.5 to 1. Below 1, data of more
        than 30,000 points are searched approximately; what was reached is measured on 1,000 points
        (``diagnostics_.recall``). 1 is exact always.
    init : {"pca", "random", "spectral"} or array of shape (n, n_components), default="pca"
        Where the points start; the map is best from an array as small as 1e-4 across.
    n_iter : int, default=750
        All iterations, early exaggeration included.
    early_exaggeration : float, default=12
        Factor on the attraction in the first iterations.
    early_exaggeration_iter : int, default=250
        Number of those.
    exaggeration : float, default=1
        Factor on the attraction afterwards.
    learning_rate : float or "auto", default="auto"
        ``"auto"`` is the larger of 200 and n over the exaggeration, in each of the two phases; in
        three dimensions, where wide maps cost most, the larger of 200 and n / 12 in both.
    dof : float, default=1
        Degrees of freedom of the map's kernel; less than one gives heavier tails and finer
        clusters.
    callback : callable, optional
        Called as ``callback(iteration, loss, embedding)``; returning True stops the run.
    callback_every : int, default=50
        Iterations between two calls.
    n_jobs : int, default=-1
        Threads; -1 uses all cores that the process may use (its share of them inside a worker of
        joblib or Dask). The result is the same, bit for bit, whatever it is.
    random_state : int, RandomState instance or None, default=None
        Seed of the random start, and of the noise where a start is degenerate.
    verbose : int or bool, default=0
        1 logs the stages and the memory needed (logger ``ctsne``) and shows a bar with the time
        left in terminals and notebooks, 2 logs the loss every ``callback_every`` iterations
        instead of the bar.

    Attributes
    ----------
    embedding_ : ndarray of float32, shape (n, n_components)
    kl_divergence_ : float
        Final loss.
    n_iter_ : int
        Iterations done.
    affinities_ : csr_array of float32, shape (n, n)
        Symmetric similarities.
    diagnostics_ : Diagnostics
        Per point: sigma, effective perplexity, share of weight on other labels, largest weight,
        how well it is matched under other labels, whether the perplexity was reached; and the
        recall of the neighbour search, the alignment and its scores.
    labels_ : Labels or None
        The labels as they were understood.
    beta_, strength_ : float, mapping of label to float, or None
        What steered the method: given, its default, or found for ``mixing``; None for the one that
        it does not use.
    mixing_ : float or None
        How far the map mixes the labels, where ``mixing`` asked for it.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only for data frames.

    Notes
    -----
    Labels are their own argument, never ``y``: elsewhere ``y`` pulls classes together, here labels
    are taken out. Missing labels (None, NaN) condition nothing. Ctrl-C during the iterations keeps
    the map reached, and so does an error in the callback.

    Examples
    --------
    >>> from ctsne import ConditionalTSNE
    >>> from ctsne.datasets import make_synthetic
    >>> data = make_synthetic(300, random_state=0)
    >>> model = ConditionalTSNE(perplexity=20, n_iter=300, random_state=0)
    >>> model.fit_transform(data.X, labels=data.known).shape
    (300, 2)
    """

    def __init__(
        self,
        *,
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
        pca: int | str | None = "auto",
        recall: float = 0.99,
        init: str | ArrayLike = "pca",
        n_iter: int = 750,
        early_exaggeration: float = 12,
        early_exaggeration_iter: int = 250,
        exaggeration: float = 1,
        learning_rate: float | str = "auto",
        dof: float = 1,
        callback: Callback | None = None,
        callback_every: int = 50,
        n_jobs: int | None = -1,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.mixing = mixing
        self.strength = strength
        self.beta = beta
        self.align = align
        self.odds = odds
        self.beta_low = beta_low
        self.bandwidth = bandwidth
        self.perplexity = perplexity
        self.metric = metric
        self.pca = pca
        self.recall = recall
        self.init = init
        self.n_iter = n_iter
        self.early_exaggeration = early_exaggeration
        self.early_exaggeration_iter = early_exaggeration_iter
        self.exaggeration = exaggeration
        self.learning_rate = learning_rate
        self.dof = dof
        self.callback = callback
        self.callback_every = callback_every
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: object = None, *, labels: object = None) -> Self:
        """Compute the map.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
            Features; with ``metric="precomputed"`` distances of shape (n, n).
        y : ignored
            There for scikit-learn; labels go to ``labels``.
        labels : array-like of length n, optional
            What to factor out: strings, numbers, booleans, categories; None or NaN where missing.
            Of several columns (a data frame, a 2-D array), each combination of values is a label.

        Returns
        -------
        ConditionalTSNE
        """
        matrix = check_matrix(X)
        check_same_rows(X, labels)
        check_same_rows(X, self.align, argument="align")
        known = None if labels is None else encode_labels(labels, n=matrix.shape[0])
        validate_data(BaseEstimator(), X, skip_check_array=True)  # refuses odd column names
        given = self.get_params(deep=False)
        clock = Clock(check_verbose(self.verbose))
        settings = check_settings(given, matrix, known, y_given=y is not None)
        for message in settings.warnings:
            warn(message)
        if settings.labels is not None:
            clock.log(f"labels: {settings.labels.describe()}")
        clock.log(f"memory: {check_memory(matrix, settings)}")
        fitting = Fitting(matrix, settings, clock)
        # Nothing is set before all that can fail is done.
        validate_data(self, X, skip_check_array=True)  # n_features_in_ and feature_names_in_
        self.labels_ = known
        self._take(fitting)
        if not self._run(settings.n_iter, clock):
            fitting.correct(clock.watch(self.callback), self.callback_every)
            self._take(fitting)
            self._keep_map()
        return self

    def _take(self, fitting: Fitting) -> None:
        """Keep what a map is made of."""
        knob, found = METHODS[self.method].knob, knob_value(self.get_params(deep=False))
        if self.mixing is not None and fitting.settings.method.knob is not None:
            found = float(fitting.settings.knob[0])
        self.strength_ = found if knob == "strength" else None
        self.beta_ = found if knob == "beta" else None
        self.mixing_ = fitting.mixing
        self.affinities_ = fitting.affinities.matrix
        self.diagnostics_ = replace(
            fitting.affinities.diagnostics,
            alignment=fitting.alignment,
            alignment_scores=fitting.alignment_scores,
        )
        self._layout = fitting.layout

    def fit_transform(
        self, X: ArrayLike, y: object = None, *, labels: object = None
    ) -> NDArray[np.float32]:
        """Compute the map and return it; the parameters are those of :meth:`fit`.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
        y : ignored
        labels : array-like of length n, optional

        Returns
        -------
        ndarray of float32, shape (n, n_components)
        """
        return self.fit(X, y, labels=labels).embedding_

    def resume(self, n_iter: int) -> Self:
        """Go on from where the last run ended, with all momentum kept.

        Parameters
        ----------
        n_iter : int
            Further iterations.

        Returns
        -------
        ConditionalTSNE
        """
        check_is_fitted(self)
        check_callback(self.get_params(deep=False))
        self._run(check_count(n_iter, "n_iter", low=1), Clock(check_verbose(self.verbose)))
        return self

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _repr_html_inner(self) -> str:
        return f"{super()._repr_html_inner()}{fitted_html(self)}"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:  # the user may have set scikit-learn to plain text
            bundle["text/html"] += fitted_html(self)
        return bundle

    def _kept_diagnostics(self) -> dict[str, NDArray[np.float32]]:
        """Return what is kept of every point with a map, in files and AnnData."""
        labelled = self.labels_ is not None and self.labels_.n_labels > 1
        know_labels = labelled and METHODS[self.method].two_lists
        return kept_diagnostics(self.diagnostics_, know_labels=know_labels)

    def _run(self, n_iter: int, clock: Clock) -> bool:
        """Take some steps, and return whether they were stopped before the last."""
        bar = clock.bar(n_iter)
        try:
            return self._layout.run(
                n_iter,
                callback=clock.watch(self.callback),
                callback_every=self.callback_every,
                after_step=bar.step,
            )
        finally:  # an error in the callback does not lose the map either
            bar.close()
            self._keep_map()
            clock.log(f"map: {self.n_iter_} iterations, KL divergence {self.kl_divergence_:.4f}")

    def _keep_map(self) -> None:
        self.embedding_ = self._layout.embedding
        self.kl_divergence_ = self._layout.loss()
        self.n_iter_ = self._layout.iteration
