"""``ConditionalTSNE``: the scikit-learn face of the whole pipeline."""

from __future__ import annotations

import copy
import logging
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ctsne._display import fitted_html
from ctsne._memory import check_memory
from ctsne._parameters import (
    CONDITIONED_ABOVE,
    altered,
    check_callback,
    check_same_rows,
    check_settings,
    check_verbose,
)
from ctsne._pipeline import (
    affinities_of,
    features_of,
    layout_of,
    neighbors_of,
)
from ctsne._progress import Progress, in_notebook
from ctsne._validation import check_count, check_matrix
from ctsne._warnings import warn
from ctsne.affinity.result import kept_diagnostics
from ctsne.labels import Labels, encode_labels
from ctsne.layout.descent import Callback
from ctsne.sweep.auto import Choice, choose_strength, steering_on_auto
from ctsne.sweep.grid import USED_BY, is_used

_log = logging.getLogger("ctsne")


class ConditionalTSNE(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A t-SNE map with known labels factored out.

    Parameters
    ----------
    n_components : {1, 2, 3}, default=2
        Dimensions of the map.
    method : {"revised", "tsne", "original", "balanced", "joint"}, default="revised"
        ``"tsne"`` ignores labels. ``"original"`` weakens the repulsion between different labels in
        the map. ``"revised"`` strengthens the similarities across labels. ``"balanced"`` gives
        other labels a fixed share of every point's neighbourhood. ``"joint"`` conditions both
        sides, with one strength.
    bandwidth : {"r", "p"}, default="r"
        For ``"revised"``: whether the conditioned similarities have the perplexity asked for, or
        those before conditioning.
    beta : float, mapping of label to float, or "auto", default=1e-4
        Weight of same-label similarities for ``"revised"``, of different-label pairs in the map for
        ``"original"``; in (0, 1], 1 conditions nothing, smaller conditions more.
    strength : float, mapping of label to float, or "auto", default=1.0
        For ``"balanced"`` and ``"joint"``; in [0, 1], larger conditions more.
    mixing : float, default=0.5
        What ``"auto"`` aims at: the weakest conditioning is taken that mixes the labels to this
        share of what random labels would give (mean share of other labels among the 30 nearest
        neighbours in the map). It costs four to eight runs more: strengths are tried from the
        weakest on, each from the map of the one before; the choice is checked on a map of its own,
        and the result is the same as if that strength had been given. Ctrl-C while it chooses ends
        the fit without a map.
    beta_low : float or mapping of label to float, optional
        Weight of different-label pairs in the map, beside any method; replaces the one that
        ``"joint"`` derives from its strength.
    perplexity : float, default=30
        Roughly the number of neighbours that count; at least 1, at most one less than the points.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        With ``"precomputed"``, ``X`` is a matrix of distances, or a sparse graph of them.
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
        Per point: sigma, effective perplexity, share of mass on other labels, largest weight,
        whether the perplexity was reached; and the recall of the neighbour search.
    labels_ : Labels or None
        The labels as they were understood.
    beta_, strength_ : float or mapping of label to float
        What was given, or chosen by ``"auto"``.
    mixing_ : float or None
        How far the map mixes the labels, where ``"auto"`` has measured it.
    sweep_ : SweepResult or None
        The strengths that ``"auto"`` tried, with their maps and measures.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only for data frames.

    Notes
    -----
    Labels are their own argument, never ``y``: elsewhere ``y`` pulls classes together, here labels
    are taken out. Missing labels (None, NaN) condition nothing. Sparse features with more than 50
    columns are reduced to 50 principal components first (not centred if the metric is cosine, which
    measures angles from the origin). Ctrl-C during the iterations keeps the map reached, and so
    does an error in the callback.

    Examples
    --------
    >>> from ctsne import ConditionalTSNE
    >>> from ctsne.datasets import make_synthetic
    >>> data = make_synthetic(300, random_state=0)
    >>> model = ConditionalTSNE(method="joint", perplexity=20, n_iter=300, random_state=0)
    >>> model.fit_transform(data.X, labels=data.known).shape
    (300, 2)
    """

    def __init__(
        self,
        *,
        n_components: int = 2,
        method: str = "revised",
        bandwidth: str = "r",
        beta: float | str | Mapping[Any, float] = 1e-4,
        strength: float | str | Mapping[Any, float] = 1.0,
        mixing: float = 0.5,
        beta_low: float | Mapping[Any, float] | None = None,
        perplexity: float = 30,
        metric: str = "euclidean",
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
        self.bandwidth = bandwidth
        self.beta = beta
        self.strength = strength
        self.mixing = mixing
        self.beta_low = beta_low
        self.perplexity = perplexity
        self.metric = metric
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

        Returns
        -------
        ConditionalTSNE
        """
        matrix = check_matrix(X)
        check_same_rows(X, labels)
        known = None if labels is None else encode_labels(labels, n=matrix.shape[0])
        validate_data(BaseEstimator(), X, skip_check_array=True)  # refuses odd column names
        clock = _Clock(check_verbose(self))
        model, choice = self._chosen(matrix, known)
        settings = check_settings(model, matrix, known, y_given=y is not None)
        for message in (*settings.warnings, *self._idle_strengths()):
            warn(message)
        if choice is not None:
            clock.log(f"strength: {choice.value:g} mixes to {choice.mixing:.2f} of random")
        clock.log(f"memory: {check_memory(matrix, settings)}")
        features = features_of(matrix, settings)
        neighbors = neighbors_of(matrix if features is None else features, settings)
        found = "all" if neighbors.recall == 1 else f"{neighbors.recall:.1%}"
        clock.log(
            f"neighbours: {neighbors.indices.shape[1]} for each of {matrix.shape[0]} points, "
            f"{found} of the true ones"
        )
        affinities = affinities_of(neighbors, settings)
        del neighbors  # the map needs the memory
        clock.log(f"similarities: {affinities.matrix.nnz} stored")
        layout = layout_of(affinities.matrix, features, settings)
        # Nothing is set before all that can fail is done.
        validate_data(self, X, skip_check_array=True)  # n_features_in_ and feature_names_in_
        self.labels_ = known
        self.beta_, self.strength_ = model.beta, model.strength
        self.mixing_ = None if choice is None else choice.mixing
        self.sweep_ = None if choice is None else choice.tried
        self.affinities_ = affinities.matrix
        self.diagnostics_ = affinities.diagnostics
        self._layout = layout
        self._run(settings.n_iter, clock)
        return self

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
        check_callback(self)
        self._run(check_count(n_iter, "n_iter", low=1), _Clock(check_verbose(self)))
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

    def _chosen(self, matrix: Any, known: Labels | None) -> tuple[Any, Choice | None]:
        """Choose what is "auto"; all else is checked first, with a strength any data can have."""
        name = steering_on_auto(self)
        if name is None:
            return self, None
        state = copy.deepcopy(self.random_state)
        trial = altered(self, **{name: 1.0}, random_state=state, callback=None)
        usable = check_settings(altered(trial, random_state=0), matrix, known).labels
        if known is None or usable is None:
            return altered(self, **{name: 1.0}), None
        choice = choose_strength(trial, name, matrix, known)
        return altered(self, **{name: choice.value}), choice

    def _idle_strengths(self) -> Iterator[str]:
        """Tell of a strength that was given to a method steered by another one."""
        given, usual = self.get_params(deep=False), ConditionalTSNE().get_params(deep=False)
        for name in ("beta", "strength"):
            if is_used(name, given) or given[name] == usual[name]:
                continue
            methods = " and ".join(f'"{method}"' for method in USED_BY[name])
            yield (
                f'{name}={given[name]!r:.60} has no effect with method="{self.method}"'
                f"{' and a beta_low' if self.method in USED_BY[name] else ''}: it is for {methods}."
            )

    def _kept_diagnostics(self) -> dict[str, NDArray[np.float32]]:
        """Return what is kept of every point with a map, in files and AnnData."""
        labelled = self.labels_ is not None and self.labels_.n_labels > 1
        know_labels = labelled and self.method in CONDITIONED_ABOVE
        return kept_diagnostics(self.diagnostics_, know_labels=know_labels)

    def _run(self, n_iter: int, clock: _Clock) -> None:
        bar = clock.bar(n_iter)
        try:
            self._layout.run(
                n_iter,
                callback=clock.watch(self.callback),
                callback_every=self.callback_every,
                after_step=bar.step,
            )
        finally:  # an error in the callback does not lose the map either
            bar.close()
            self.embedding_ = self._layout.embedding
            self.kl_divergence_ = self._layout.loss()
            self.n_iter_ = self._layout.iteration
        clock.log(f"map: {self.n_iter_} iterations, KL divergence {self.kl_divergence_:.4f}")


class _Clock:
    """Logs stages with the seconds they took.

    Who asks for it sees it: where logging is not set up, the messages go to standard error, in a
    notebook to the cell's output.
    """

    def __init__(self, verbose: int) -> None:
        self._verbose = verbose
        self._last = time.perf_counter()
        if verbose and not _log.isEnabledFor(logging.INFO):
            _log.setLevel(logging.INFO)
        if verbose and not _log.hasHandlers():
            # In a notebook, standard error has the red ground of errors.
            _log.addHandler(logging.StreamHandler(sys.stdout if in_notebook() else None))

    def log(self, message: str) -> None:
        now = time.perf_counter()
        if self._verbose:
            _log.info("%s (%.2f s)", message, now - self._last)
        self._last = now

    def bar(self, n_iter: int) -> Progress:
        """Make a bar for the iterations, unless the loss is logged on the way.

        It stands where it can be replaced only: a log has the stages.
        """
        return Progress(n_iter, "iterations", shown=self._verbose == 1, logged=False)

    def watch(self, callback: Callback | None) -> Callback | None:
        """Log the loss on the way too, if asked to."""
        if self._verbose < 2:
            return callback

        def logged(iteration: int, loss: float, embedding: NDArray[np.float32]) -> object:
            _log.info("iteration %d: KL divergence %.4f", iteration, loss)
            return callback(iteration, loss, embedding) if callback is not None else None

        return logged
