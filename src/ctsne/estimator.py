"""``ConditionalTSNE``: the whole pipeline as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ctsne._core import page_html
from ctsne._core.checks import (
    check_count,
    check_finite,
    check_matrix,
    check_names,
    check_same_rows,
)
from ctsne._core.messages import warn
from ctsne.fit.conditioning import by_column, knob_value
from ctsne.fit.display import fitted_html, with_page
from ctsne.fit.fitting import Fitting, StageLog
from ctsne.fit.memory import check_memory
from ctsne.labels import Column, Labels, encode_labels
from ctsne.labels.columns import listed_columns, name_of, without_unused
from ctsne.layout import Layout
from ctsne.methods import is_used
from ctsne.placing.new_points import Kept, NewPoints
from ctsne.settings import Parameters, check_settings
from ctsne.storage.model import NOT_KEPT, Saved


class ConditionalTSNE(Parameters, Saved, ClassNamePrefixFeaturesOutMixin, NewPoints, BaseEstimator):  # type: ignore[misc]
    """t-SNE map with known labels factored out.

    A label such as a batch, a donor or a known cluster often dominates a t-SNE map. Without its
    effect, the map shows the structure that the label does not explain.

    Parameters
    ----------
    n_components : {1, 2, 3}, default=2
        Dimensions of the map.
    method : {"joint", "revised", "balanced", "original", "tsne"}, default="joint"
        How to condition on the labels:

        - ``"joint"`` conditions the similarities and the map together.
        - ``"revised"`` increases the similarities between labels (Heiter et al. 2023).
        - ``"balanced"`` gives other labels a fixed share of every neighbourhood.
        - ``"original"`` reduces the repulsion between labels in the map (Kang et al. 2021).
        - ``"tsne"`` ignores the labels.
    mixing : float or mapping of label column to float, optional
        How well the map should mix the labels: 0 not at all, 1 like random labels. It is the share
        of other labels among the 30 nearest neighbours, relative to random labels. The strength (or
        beta) that reaches it is found on a sample of the points; a map that misses the target is
        computed again, at most twice. Passing the value it found, ``strength_`` or ``beta_``, gives
        the same map.
    strength : float or mapping of label to float, optional
        For ``"joint"`` and ``"balanced"``: how strongly to condition, from 0 (not at all) to 1.
        The default is 0.6 for ``"joint"`` and 1 for ``"balanced"``. With several label columns,
        this and all other numbers per label are one for all columns, or a mapping of column name
        to number; a column with strength 0 is left out.
    beta : float or mapping of label to float, optional
        The paper's parameter, in (0, 1]; smaller values condition more strongly, 1 not at all: the
        weight of same-label similarities for ``"revised"`` (default 1e-4), and of different-label
        pairs in the map for ``"original"`` (default 0.1).
    align : {"none", "mutual", "local", "mean", "auto"} or array of shape (n, d'), default="none"
        The space in which points of different labels are compared. Points of the same label are
        always compared in ``X``. ``"mutual"`` shifts each label towards its mutual nearest
        neighbours in other labels, ``"local"`` lets that shift vary from place to place,
        ``"mean"`` subtracts each label's mean, and ``"auto"`` picks the best of none, mutual and
        mean. An array is a representation with one row per point, for example from Harmony or scVI.
        With several label columns, their combinations are aligned with each other.
    odds : float or mapping of label to float, optional
        How many times more strongly two points with the same label repel each other in the map than
        two with different labels; at least 1. Works with every method, and replaces the value that
        ``"joint"`` derives from its strength.
    beta_low : float or mapping of label to float, optional
        The same as the paper's beta: the weight of different-label pairs in the map. Its effect
        depends on the number of labels, so prefer ``odds``.
    bandwidth : {"r", "p"}, default="r"
        For ``"revised"``: which similarities have the requested perplexity, the conditioned ones
        (``"r"``) or those before conditioning (``"p"``).
    perplexity : float, default=30
        Effective number of neighbours per point, from 1 to n - 1.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        With ``"precomputed"``, ``X`` is a distance matrix or a sparse graph of distances.
    pca : int, "auto" or None, default="auto"
        Number of principal components to reduce the features to first. ``"auto"`` keeps 50 if there
        are more than 50 columns; None uses the features as they are. With ``metric="cosine"`` the
        data are not centred, because angles are measured from the origin.
    recall : float, default=0.99
        Required share of true nearest neighbours, from 0.5 to 1. Below 1, more than 30,000 points
        are searched approximately, and the recall is measured (``diagnostics_.recall``).
    init : {"pca", "random", "spectral"} or array of shape (n, n_components), default="pca"
        Initial positions. Scale an array to a spread of about 1e-4 for the best map.
    n_iter : int, default=750
        Number of iterations, including early exaggeration.
    early_exaggeration : float, default=12
        Factor on the attraction during early exaggeration.
    early_exaggeration_iter : int, default=250
        Number of iterations with early exaggeration.
    exaggeration : float, default=1
        Factor on the attraction afterwards.
    learning_rate : float or "auto", default="auto"
        ``"auto"`` is ``max(200, n / exaggeration)`` in each phase, and at most ``max(200, n / 12)``
        in three dimensions.
    dof : float, default=1
        Degrees of freedom of the kernel in the map. Values below 1 show finer clusters.
    callback : callable, optional
        Called as ``callback(iteration, loss, embedding)``. Return True to stop.
    callback_every : int, default=50
        Iterations between calls of ``callback``.
    n_jobs : int, default=-1
        Number of threads. -1 uses all available cores, inside joblib or Dask the worker's share of
        them. The map does not depend on it, bit for bit.
    random_state : int, RandomState instance or None, default=None
        Seed of a random start, and of the noise added to a degenerate one.
    verbose : int or bool, default=0
        1 logs the stages and the memory needed (on standard error if logging is not set up) and
        shows a progress bar. 2 logs the loss every ``callback_every`` iterations instead of it.

    Attributes
    ----------
    embedding_ : ndarray of float32, shape (n, n_components)
        The map.
    kl_divergence_ : float
        Final loss.
    n_iter_ : int
        Number of iterations run.
    affinities_ : csr_array of float32, shape (n, n)
        Symmetric similarities.
    diagnostics_ : Diagnostics
        Per point: sigma, effective perplexity, share of weight on other labels, largest weight,
        match in other labels, and whether the perplexity was reached; also recall and alignment.
    labels_ : Column, Labels or None
        The labels as they were read.
    strength_, beta_ : float, mapping of label to float, or None
        The value that was used: given, default, or found for ``mixing``; None if it had no effect.
        With several label columns, a mapping of column name to float.
    mixing_ : float, mapping of label column to float, or None
        The mixing of the map, if ``mixing`` was given.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : ndarray of str
        Names of the columns, for data frames.

    Notes
    -----
    Labels are passed as ``labels``, never as ``y``, which supervised methods use to pull classes
    together. Points with a missing label (None, NaN) are not conditioned. Up to three label columns
    are factored out together, each with its own strength: two points attract each other by the
    product of what each column gives. If one column is nested in another, such as donors in
    technologies, points that differ in the outer column differ in the inner one too, so the inner
    one is mixed at least as far as the outer. If you interrupt the
    iterations with Ctrl-C, or the callback fails, the current map is kept.

    Examples
    --------
    >>> from ctsne import ConditionalTSNE
    >>> from ctsne.datasets import make_synthetic
    >>> data = make_synthetic(300, random_state=0)
    >>> model = ConditionalTSNE(perplexity=20, n_iter=300, random_state=0)
    >>> model.fit_transform(data.X, labels=data.known).shape
    (300, 2)
    """

    def fit(self, X: ArrayLike, y: object = None, *, labels: object = None) -> Self:
        """Compute the map.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
            Features; distances of shape (n, n) with ``metric="precomputed"``.
        y : ignored
            For compatibility with scikit-learn.
        labels : array-like of shape (n,) or (n, c), mapping or list of columns, optional
            The labels to factor out: strings, numbers, booleans or categories; None or NaN where
            missing. Up to three columns, as a data frame, a two-dimensional array, a mapping of
            name to column or a list of columns, are factored out together; columns without names
            are called ``"1"``, ``"2"`` and ``"3"``. The model keeps the name of a single column
            too, to show it.

        Returns
        -------
        ConditionalTSNE

        Examples
        --------
        >>> from ctsne import ConditionalTSNE
        >>> from ctsne.datasets import make_synthetic
        >>> data = make_synthetic(300, random_state=0)
        >>> model = ConditionalTSNE(n_iter=100, random_state=0).fit(data.X, labels=data.known)
        >>> model.labels_.names, model.strength_
        (('blue', 'orange'), 0.6)
        """
        matrix = check_matrix(X)
        for column in listed_columns(labels):
            check_same_rows(X, column)
        check_same_rows(X, self.align, argument="align")
        known = _encoded(labels, matrix.shape[0])
        check_names(X)
        validate_data(BaseEstimator(), X, skip_check_array=True)  # refuses odd column names
        given = self.get_params(deep=False)
        log = StageLog(given)
        settings = check_settings(given, matrix, known, y_given=y is not None)
        for message in settings.warnings:
            warn(message)
        if settings.labels is not None:
            log.stage(f"labels: {settings.labels.describe()}")
        log.stage(f"memory: {check_memory(matrix, settings)}")
        fitting = Fitting(matrix, settings, log)
        # Attributes are set only after everything that can fail.
        try:
            stopped = fitting.run()
        finally:  # keeps the map even if the callback fails
            self._keep_map(fitting.layout, log)
            validate_data(self, X, skip_check_array=True)  # n_features_in_ and feature_names_in_
            self.labels_, self._label_name, self._record = known, name_of(labels), None
            self._take(fitting)
        if not stopped:
            fitting.correct()
            self._keep_map(fitting.layout)
            self._take(fitting)
        return self

    def fit_transform(
        self, X: ArrayLike, y: object = None, *, labels: object = None
    ) -> NDArray[np.float32]:
        """Compute the map and return it.

        Parameters
        ----------
        X, y, labels
            As in :meth:`fit`.

        Returns
        -------
        ndarray of float32, shape (n, n_components)

        Examples
        --------
        >>> from ctsne import ConditionalTSNE
        >>> from ctsne.datasets import make_synthetic
        >>> data = make_synthetic(300, random_state=0)
        >>> ConditionalTSNE(n_iter=100).fit_transform(data.X, labels=data.known).shape
        (300, 2)
        """
        return self.fit(X, y, labels=labels).embedding_

    def resume(self, n_iter: int) -> Self:
        """Continue the last run, with its momentum.

        Parameters
        ----------
        n_iter : int
            Number of further iterations.

        Returns
        -------
        ConditionalTSNE

        Examples
        --------
        >>> from ctsne import ConditionalTSNE
        >>> from ctsne.datasets import make_synthetic
        >>> data = make_synthetic(300, random_state=0)
        >>> model = ConditionalTSNE(n_iter=100, random_state=0).fit(data.X, labels=data.known)
        >>> model.resume(50).n_iter_
        150
        """
        check_is_fitted(self)
        log = StageLog(self.get_params(deep=False))
        count = check_count(n_iter, "n_iter", low=1)
        if not hasattr(self, "_layout"):
            raise ValueError(f"resume cannot continue this run: {NOT_KEPT}")
        try:
            log.run(self._layout, count)
        finally:
            self._keep_map(self._layout, log)
            self._kept = Kept(self._kept.fitted)  # the map has changed
        return self

    def _adopt(
        self, matrix: Any, labels: Column | Labels | None, embedding: NDArray[np.float32]
    ) -> Self:
        """Take over a finished map of these points, instead of computing one."""
        given = self.get_params(deep=False)
        fitting = Fitting(matrix, check_settings(given, matrix, labels), StageLog(given))
        self._keep_map(fitting.layout)
        self.embedding_, self.labels_, self._record = embedding, labels, None
        self.n_features_in_ = matrix.shape[1]
        self._take(fitting)
        return self

    def _take(self, fitting: Fitting) -> None:
        """Keep the similarities, and the value that controlled them."""
        given, knob = self.get_params(deep=False), fitting.settings.method.knob
        value: Any = None
        mixing: Any = fitting.mixing
        if knob is not None and is_used(knob, given):
            found = self.mixing is not None
            value = float(fitting.settings.knob[0]) if found else knob_value(given)
        if isinstance(self.labels_, Labels):
            used, method = fitting.settings.labels, fitting.settings.method
            if value is not None:
                value = by_column(self.labels_, used, method, fitting.settings.knob)
            if mixing is not None and used is not None and not isinstance(used, Labels):
                place = self.labels_.columns.index(used)  # the only one that can be mixed
                mixing = {self.labels_.names[place]: mixing}
        self.strength_ = value if knob == "strength" else None
        self.beta_ = value if knob == "beta" else None
        self.mixing_ = mixing
        self.affinities_ = fitting.affinities.matrix
        self.diagnostics_ = replace(fitting.affinities.diagnostics, **fitting.alignment)
        self._kept = Kept(fitting.fitted(self.labels_))

    def _keep_map(self, layout: Layout, log: StageLog | None = None) -> None:
        """Keep the positions; if they are not finite, fail and keep the ones before."""
        self.kl_divergence_ = layout.loss()
        self.embedding_ = layout.embedding
        self.n_iter_ = layout.iteration
        self._layout = layout
        if log is not None:
            log.stage(f"map: {self.n_iter_} iterations, KL divergence {self.kl_divergence_:.4f}")

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
        return self._with_page(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:  # scikit-learn can be set to plain text
            bundle["text/html"] = self._with_page(bundle["text/html"])
        return bundle

    def _with_page(self, diagram: str) -> str:
        """Return the page of the map, and what was fitted below it; before the fit the diagram."""
        facts = fitted_html(self)
        return with_page(page_html(self) if facts else "", f"{facts}{diagram}")


def _encoded(labels: Any, n: int) -> Column | Labels | None:
    return None if labels is None else without_unused(encode_labels(labels, n=n))


def model_of_map(
    parameters: Mapping[str, Any], matrix: Any, labels: Any, positions: Any
) -> ConditionalTSNE:
    """Return the model of a finished map, given its parameters, checked features and labels.

    Neighbours and similarities are computed again, the map is not.
    """
    model = ConditionalTSNE(**parameters)
    model._label_name = name_of(labels)
    known = _encoded(labels, matrix.shape[0])
    embedding = np.ascontiguousarray(positions, np.float32)
    if embedding.shape != (matrix.shape[0], model.n_components):
        wanted = f"({matrix.shape[0]}, {model.n_components})"
        raise ValueError(f"the map must have the shape {wanted}, got {embedding.shape}")
    check_finite(embedding, argument="the map")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they were shown when the map was made
        return model._adopt(matrix, known, embedding)
