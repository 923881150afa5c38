"""``ConditionalTSNE``: the whole pipeline as a scikit-learn estimator."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ctsne._core import checks, page_html
from ctsne._core.components import Projection
from ctsne._core.messages import warn
from ctsne._core.progress import Report
from ctsne.evaluate.trust import trust_of
from ctsne.fit.advice import Advice, advise
from ctsne.fit.fit import Fit, StageLog
from ctsne.fit.memory import explained_memory, map_need, require_memory
from ctsne.fit.summary import fitted_html, with_page
from ctsne.labels import Labels, add_numbers, encode_labels
from ctsne.labels.columns import given_columns
from ctsne.layout import Layout
from ctsne.methods import is_used
from ctsne.placing import place as placing
from ctsne.placing.extend import moved_distance, start_extended
from ctsne.placing.place import Placement
from ctsne.placing.reference import LazyReference, Reference, source_of
from ctsne.placing.request import Request, check_request
from ctsne.settings import Parameters, check_settings, knob_by_column
from ctsne.storage.model import read_model, write_model
from ctsne.storage.record import Record, record_of

# What placing needs, which is not estimated, and what lowers it: positions stay the same.
PLACED = None, "fewer new points at a time"
NOT_KEPT = "it was loaded from a file, which does not keep the similarities; fit again to get them"


class ConditionalTSNE(
    Parameters,
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
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
        Larger values mix more and keep fewer neighbours. The default is 0.7 for ``"joint"`` and 1
        for ``"balanced"``. With several label columns, this and all other numbers per label are
        one for all columns, or a mapping of column name to a number or to a mapping of label to
        number; a column with strength 0 is left out.
    beta : float or mapping of label to float, optional
        The paper's parameter, in (0, 1]; smaller values condition more strongly, 1 not at all: the
        weight of same-label similarities for ``"revised"`` (default 1e-4), and of different-label
        pairs in the map for ``"original"`` (default 0.1).
    align : {"none", "mutual", "local", "mean", "auto"} or array of shape (n, d'), optional
        The space in which points of different labels are compared. Points of the same label are
        always compared in ``X``. ``"mutual"`` shifts each label towards its mutual nearest
        neighbours in other labels, ``"local"`` (the default of ``"joint"``) lets that shift vary
        from place to place, ``"mean"`` subtracts each label's mean, ``"auto"`` picks the best of
        these three, and ``"none"`` (the default of other methods) uses ``X`` as it is. An array is
        a representation with one row per point, for example from Harmony or scVI.
        With several label columns, their combinations are aligned with each other.
    odds : float or mapping of label to float, optional
        How many times more strongly two points with the same label repel each other in the map than
        two with different labels; at least 1. Larger values let labels overlap more. Works with
        every method, and replaces the value that ``"joint"`` derives from its strength.
    beta_low : float or mapping of label to float, optional
        The same as the paper's beta: the weight of different-label pairs in the map. Its effect
        depends on the number of labels, so prefer ``odds``.
    numbers_period : float or mapping of column to float, optional
        The period of circular numbers that are factored out, such as 24 for the hour of the day.
    bandwidth : {"r", "p"}, default="r"
        For ``"revised"``: which similarities have the requested perplexity, the conditioned ones
        (``"r"``) or those before conditioning (``"p"``).
    perplexity : float, default=30
        Effective number of neighbours per point, from 1 to n - 1. Larger values show larger
        structures, and take more time and memory.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        With ``"precomputed"``, ``X`` is a distance matrix or a sparse graph of distances.
    pca : int, "auto" or None, default="auto"
        Number of principal components to reduce the features to first. ``"auto"`` keeps 50 if there
        are more than 50 columns; None uses the features as they are. With ``metric="cosine"`` the
        data are not centred, because angles are measured from the origin.
    recall : float, default=0.99
        Required share of true nearest neighbours, from 0.5 to 1. Larger values take more time.
        Below 1, more than 30,000 points are searched approximately, and the recall is measured
        (``diagnostics_.recall``).
    init : {"pca", "random", "spectral"} or array of shape (n, n_components), default="pca"
        Initial positions. Scale an array to a spread of about 1e-4 for the best map.
    n_iter : int, default=750
        Number of iterations, including early exaggeration. Larger values let the map spread more.
    early_exaggeration : float, default=12
        Factor on the attraction during early exaggeration.
    early_exaggeration_iter : int, default=250
        Number of iterations with early exaggeration.
    exaggeration : float, default=1
        Factor on the attraction afterwards. Larger values draw clusters together.
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
        The labels as they were read: names of the columns, and for each its labels and codes.
    strength_, beta_ : float, mapping of label to float, or None
        The value that was used: given, default, or found for ``mixing``; None if it had no effect.
        With several label columns, a mapping of column name to float.
    mixing_ : float, mapping of label column to float, or None
        The mixing of the map, if ``mixing`` was given.
    trust_ : ndarray of float32, shape (n,)
        How far the place of each point can be believed, once :meth:`trust` has computed it.
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
    one is mixed at least as far as the outer. If you interrupt the iterations with Ctrl-C, or the
    callback fails, the current map is kept.

    Examples
    --------
    >>> from ctsne import ConditionalTSNE
    >>> from ctsne.datasets import make_synthetic
    >>> data = make_synthetic(300, random_state=0)
    >>> model = ConditionalTSNE(perplexity=20, n_iter=300, random_state=0)
    >>> model.fit_transform(data.X, labels=data.known).shape
    (300, 2)
    """

    def fit(
        self, X: ArrayLike, y: object = None, *, labels: object = None, numbers: object = None
    ) -> Self:
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
        numbers : array-like of shape (n,) or (n, c), mapping or list of columns, optional
            Numbers to factor out, such as age or depth, None or NaN where missing; with labels,
            three columns in all. Only their order counts: a number is divided into ten groups by
            rank. Points of other groups are compared without its trend, unless ``align="none"``.

        Returns
        -------
        ConditionalTSNE

        Examples
        --------
        >>> model.labels_.columns[0].names, model.strength_
        (('blue', 'orange'), 0.7)
        """
        matrix = checks.check_data(X)
        for column in (*given_columns(labels), *given_columns(numbers)):
            checks.check_same_rows(X, column)
        checks.check_same_rows(X, self.align, argument="align")
        known = _encoded(labels, matrix.shape[0], numbers, self.numbers_period)
        checks.check_names(X)
        validate_data(BaseEstimator(), X, skip_check_array=True)  # refuses odd column names
        given = self.get_params(deep=False)
        log = StageLog(given)
        settings = check_settings(given, matrix, known, y_given=y is not None)
        for message in settings.warnings:
            warn(message)
        if settings.labels is not None:
            log.stage("labels", settings.labels.describe())
        log.stage("memory", require_memory(*map_need(matrix, settings)))
        with explained_memory(*map_need(matrix, settings)):
            fit = Fit(matrix, settings, log)
            # Attributes are set only after everything that can fail.
            try:
                stopped = fit.run()
            finally:  # keeps the map even if the callback fails
                self._keep_map(fit.layout, log)
                # Sets n_features_in_ and feature_names_in_.
                validate_data(self, X, skip_check_array=True)
                self.labels_ = known
                self._record: Record | None = None
                self._take(fit)
            if not stopped:
                fit.correct()
                self._keep_map(fit.layout)
                self._take(fit)
        return self

    def fit_transform(
        self, X: ArrayLike, y: object = None, *, labels: object = None, numbers: object = None
    ) -> NDArray[np.float32]:
        """Compute the map and return it.

        Parameters
        ----------
        X, y, labels, numbers
            As in :meth:`fit`.

        Returns
        -------
        ndarray of float32, shape (n, n_components)
        """
        return self.fit(X, y, labels=labels, numbers=numbers).embedding_

    def advise(self, *, other: Mapping[str, ArrayLike] | None = None) -> Advice | None:
        """Say which labels stay apart in the map, why, and which change would help.

        If a change can help, a short run estimates the mixing it would reach.

        Parameters
        ----------
        other : mapping of name to array-like of shape (n,), optional
            Labels to look for. They say where labels stay apart: "mostly T cells".

        Returns
        -------
        Advice or None
            Its ``lines()`` are for reading; ``apart``, ``cause``, ``change`` and ``reaches`` for
            programs. None without labels, or if a mixing was requested.

        Examples
        --------
        >>> model.advise().lines()
        ['all labels are mixed to 0.8 of random or more']
        """
        check_is_fitted(self)
        source = self._lazy_reference.source
        if source is None:
            raise ValueError(f"advise has nothing to go by: {NOT_KEPT}")
        made = self.embedding_, source.settings, source.features
        with explained_memory(*map_need(source.features, source.settings)):
            matched = self.diagnostics_.column_matched
            return advise(*made, source.aligned(), matched=matched, other=other)

    def trust(self) -> NDArray[np.float32]:
        """Say how far the place of each point in the map can be believed.

        A point is trusted if the map keeps its nearest points, those of the method's similarities,
        at several scales; if the points around it are trusted; and if it lands among the same
        points when it is placed again without itself. In other maps of the same data, points with
        more trust keep more of their neighbours. Below 0.3, most would be others.

        Returns
        -------
        ndarray of float32, shape (n,)
            From 0 to 1; larger values are more reliable. Also kept as ``trust_`` until the map
            changes.

        Examples
        --------
        >>> trust = model.trust()
        >>> trust.shape, bool(trust.min() >= 0), bool(trust.max() <= 1)
        ((300,), True, True)
        """
        check_is_fitted(self)
        source, jobs = self._lazy_reference.source, checks.check_jobs(self.n_jobs)
        if source is None:
            raise ValueError(f"trust has nothing to go by: {NOT_KEPT}")
        with explained_memory(*map_need(source.features, source.settings)):
            again = self._reference.place_again(source.features, jobs)
            self.trust_ = trust_of(self.affinities_, self.embedding_, again, jobs)
        return self.trust_

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
        >>> model.resume(50).n_iter_
        150
        """
        check_is_fitted(self)
        log = StageLog(self.get_params(deep=False))
        count = checks.check_count(n_iter, "n_iter", low=1)
        if not hasattr(self, "_layout"):
            raise ValueError(f"resume cannot continue this run: {NOT_KEPT}")
        try:
            log.run(self._layout, count)
        finally:
            self._keep_map(self._layout, log)
            self._lazy_reference.forget()  # the map has changed
        return self

    def place(
        self,
        X: ArrayLike,
        labels: object = None,
        *,
        numbers: object = None,
        aligned: ArrayLike | None = None,
        perplexity: float | None = None,
    ) -> Placement:
        """Place new points in the map, which stays as it is, with diagnostics.

        Each new point goes where its nearest points of the map attract it, by the similarities of
        the method and with its label factored out. New points do not feel each other, so their
        positions depend neither on their order nor on which of them are placed together. One
        exception: if the map was aligned, the shift of a label (with several columns, of a
        combination) that is not in it is estimated from all points given with that label.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (m, d)
            Features, with the columns of the fit; distances to the points of the map, of shape
            (m, n), with ``metric="precomputed"``.
        labels : array-like of shape (m,), optional
            The labels to factor out. Points without a label, or with a missing one, are placed next
            to their nearest points of any label; a label that is not in the map differs from all.
        numbers : array-like of shape (m,) or (m, c), mapping or list of columns, optional
            The numbers to factor out, if the map was made with some.
        aligned : array-like, shape (m, d'), optional
            The new points in the representation that ``align`` was in the fit; only if that was
            an array.
        perplexity : float, optional
            Effective number of neighbours that determine the position of a new point, at most a
            third of the points of the map. The default is half of the perplexity of the fit, and
            at most 15.

        Returns
        -------
        Placement

        Examples
        --------
        >>> data = make_synthetic(400, random_state=0)
        >>> model = ConditionalTSNE(n_iter=100, random_state=0)
        >>> model = model.fit(data.X[:300], labels=data.known[:300])
        >>> placed = model.place(data.X[300:], labels=data.known[300:])
        >>> placed.embedding.shape, bool(placed.far.mean() < 0.02)
        ((100, 2), True)
        """
        labels = labels if numbers is None else add_numbers(labels, numbers)
        return place_in(self, X, labels, aligned=aligned, perplexity=perplexity)

    def transform(
        self,
        X: ArrayLike,
        labels: object = None,
        *,
        numbers: object = None,
        aligned: ArrayLike | None = None,
        perplexity: float | None = None,
    ) -> NDArray[np.float32]:
        """Place new points in the map, which stays as it is.

        The points of the fit land next to their positions in the map, not on them.

        Parameters
        ----------
        X, labels, numbers, aligned, perplexity
            As in :meth:`place`.

        Returns
        -------
        ndarray of float32, shape (m, n_components)
        """
        placed = self.place(X, labels, numbers=numbers, aligned=aligned, perplexity=perplexity)
        return placed.embedding

    def extend(
        self,
        X: ArrayLike,
        labels: object = None,
        *,
        numbers: object = None,
        aligned: ArrayLike | None = None,
        n_iter: int = 250,
    ) -> Self:
        """Take new points into the map, and run it on with all points free.

        The new points are placed first. Then the similarities of all points are computed with the
        settings of the fit and the strength (or beta) it found, and the map is continued without
        early exaggeration, so that it stays recognisable.

        Parameters
        ----------
        X, labels, numbers, aligned
            As in :meth:`place`.
        n_iter : int, default=250
            Number of iterations.

        Returns
        -------
        ConditionalTSNE
            With the points of the map first in ``embedding_``, and the new ones after them.
            Parameters with an entry per point or per label have entries for the new ones.
            ``procrustes_`` says how much the former have moved, from 0 (not at all, apart from
            position, turn and scale) to 1.

        Examples
        --------
        >>> data = make_synthetic(400, random_state=0)
        >>> model = ConditionalTSNE(n_iter=400, random_state=0)
        >>> model = model.fit(data.X[:300], labels=data.known[:300])
        >>> model = model.extend(data.X[300:], labels=data.known[300:], n_iter=50)
        >>> model.embedding_.shape, model.procrustes_ < 0.1
        ((400, 2), True)
        """
        check_is_fitted(self)
        if self.metric == "precomputed":
            raise ValueError(
                'extend needs features, but metric="precomputed" has only distances to the points '
                "of the map, not those between new points; fit a new map, or use place"
            )
        count = checks.check_count(n_iter, "n_iter", low=1)
        labels = labels if numbers is None else add_numbers(labels, numbers)
        request, n_jobs = self._checked(X, labels, aligned), checks.check_jobs(self.n_jobs)
        reference = self._reference
        with explained_memory(*PLACED):
            placed = placing.place(reference, request, shifts={}, n_jobs=n_jobs)
        before, done, mixed = self.embedding_, self.n_iter_, self.mixing_ is not None
        fit, known, grown, log = start_extended(
            self, reference, request, labels, placed, count, n_jobs
        )
        try:
            with explained_memory(*map_need(fit.points, fit.settings)):
                log.run(fit.layout, count)
        finally:  # keeps the map even if the callback fails
            self._keep_map(fit.layout, log)
            self.n_iter_ += done
            self.labels_ = known
            self.set_params(**grown)
            if mixed:
                fit.measure()
            self._take(fit, projection=reference.projection)
            self.procrustes_ = moved_distance(before, self.embedding_[: len(before)])
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file for :func:`ctsne.load`, to place new points elsewhere.

        The file is not a pickle, so it is safe to load one from others. It holds the parameters,
        the map, labels and diagnostics, and everything that :meth:`place` needs, but not the
        similarities and the data as they were given. It is about as large as the features (reduced
        ones if there is a PCA) in memory. Equal models give equal bytes.

        Parameters
        ----------
        path : path-like
            A file whose name ends in ``.ctsne``; replaced if it exists, whole or not at all.

        Notes
        -----
        Labels that are text, numbers, booleans or dates keep their type; others become text. A
        callback and a ``RandomState`` are not stored.
        """
        save_model(self, path)

    def _adopt(self, matrix: Any, labels: Labels | None, embedding: NDArray[np.float32]) -> Self:
        """Take over a finished map of these points, instead of computing one."""
        given = self.get_params(deep=False)
        settings = check_settings(given, matrix, labels)
        with explained_memory(*map_need(matrix, settings)):
            fit = Fit(matrix, settings, StageLog(given))
        self._keep_map(fit.layout)
        self.embedding_, self.labels_, self._record = embedding, labels, None
        self.n_features_in_ = matrix.shape[1]
        self._take(fit)
        return self

    def _take(self, fit: Fit, projection: Projection | None = None) -> None:
        """Keep the similarities, and the value that controlled them."""
        settings, labels = fit.settings, self.labels_
        knob, value, mixing = settings.method.knob, None, None
        if knob is not None and labels is not None and is_used(knob, self.get_params(deep=False)):
            value = knob_by_column(settings, labels)
        if fit.mixing is not None and labels is not None and settings.labels is not None:
            named = dict(zip(settings.labels.names, map(float, fit.mixing), strict=True))
            mixing = named if labels.n_columns > 1 else float(fit.mixing[0])
        self.strength_ = value if knob == "strength" else None
        self.beta_ = value if knob == "beta" else None
        self.mixing_ = mixing
        self.affinities_ = fit.affinities.matrix
        self.diagnostics_ = replace(
            fit.affinities.diagnostics,
            alignment=fit.alignment.name,
            alignment_scores=fit.alignment.scores,
        )
        source = source_of(fit, labels)
        if projection is not None:  # the features of the fit were projected before
            source = replace(source, projection=projection)
        self._lazy_reference = LazyReference(source)

    def _keep_map(self, layout: Layout, log: StageLog | None = None) -> None:
        """Keep the positions; if they are not finite, fail and keep the ones before."""
        self.__dict__.pop("trust_", None)  # of the map before
        self.kl_divergence_ = layout.loss()
        self.embedding_ = layout.embedding
        self.n_iter_ = layout.iteration
        self._layout = layout
        if log is not None:
            log.stage("map", f"{self.n_iter_} iterations, KL divergence {self.kl_divergence_:.4f}")

    def __getattr__(self, name: str) -> Any:
        if name == "affinities_" and "embedding_" in self.__dict__:
            raise AttributeError(f"this model has no affinities_: {NOT_KEPT}")
        if name == "trust_" and "embedding_" in self.__dict__:
            raise AttributeError("trust_ is not computed yet; call trust()")
        return object.__getattribute__(self, name)  # raises the usual error

    @property
    def _reference(self) -> Reference:
        jobs = checks.check_jobs(self.n_jobs)
        return self._lazy_reference.get(self.embedding_, self.diagnostics_, jobs)

    def _checked(self, X: Any, labels: Any, *more: Any) -> Request:
        check_is_fitted(self)
        return check_request(self, self._lazy_reference.known, X, labels, *more)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ConditionalTSNE:
        """Load a model from a file, as :func:`ctsne.load` does."""
        return load(path)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the names of the map's columns, as in files: ``ctsne_1``, ``ctsne_2``."""
        check_is_fitted(self)
        return np.array([f"ctsne_{c + 1}" for c in range(self.embedding_.shape[1])], object)

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


def _encoded(labels: Any, n: int, numbers: Any = None, period: Any = None) -> Labels | None:
    known = None if labels is None else encode_labels(labels, n=n).without_unused()
    return add_numbers(known, numbers, n=n, period=period)


def place_in(
    model: ConditionalTSNE,
    X: Any,
    labels: Any = None,
    *,
    aligned: Any = None,
    perplexity: Any = None,
    shifts: Mapping[Any, Any] | None = None,
    after_part: Report | None = None,
) -> Placement:
    """Place new points, those of new labels moved by given shifts (:func:`new_label_shifts`)."""
    request = model._checked(X, labels, aligned, perplexity)
    how: Any = {"n_jobs": checks.check_jobs(model.n_jobs), "after_part": after_part}
    with explained_memory(*PLACED):
        return placing.place(model._reference, request, shifts=shifts or {}, **how)


def new_label_shifts(model: ConditionalTSNE, X: Any, labels: Any) -> dict[Any, Any]:
    """Estimate the shift of every label that is not in the map, if that is aligned."""
    request, n_jobs = model._checked(X, labels), checks.check_jobs(model.n_jobs)
    with explained_memory(*PLACED):
        return placing.new_label_shifts(model._reference, request, n_jobs)


def kept_points(model: ConditionalTSNE) -> tuple[Any, str]:
    """Return where a fit searched neighbours, None in a loaded model, and the metric."""
    source = model._lazy_reference.source
    return None if source is None else source.features, model.metric


def model_of_map(
    parameters: Mapping[str, Any], matrix: Any, labels: Any, positions: Any
) -> ConditionalTSNE:
    """Return the model of a finished map: similarities are computed again, the map is not."""
    model = ConditionalTSNE(**parameters)
    known = _encoded(labels, matrix.shape[0])
    embedding = np.ascontiguousarray(positions, np.float32)
    if embedding.shape != (matrix.shape[0], model.n_components):
        wanted = f"({matrix.shape[0]}, {model.n_components})"
        raise ValueError(f"the map must have the shape {wanted}, got {embedding.shape}")
    checks.check_finite(embedding, argument="the map")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they were shown when the map was made
        return model._adopt(matrix, known, embedding)


def save_model(model: ConditionalTSNE, path: object, *, record: Record | None = None) -> None:
    """Write a fitted model to a file, with a record of how it was made."""
    check_is_fitted(model)
    write_model(path, model, model._reference, record or record_of(model))


def load(path: str | os.PathLike[str]) -> ConditionalTSNE:
    """Load a model that :meth:`ConditionalTSNE.save` or ``ctsne embed --model`` wrote.

    It places new points exactly like the model that was saved. Arrays stay in the file and are read
    when they are needed, so do not change the file while the model is in use; replacing it is fine.
    Everything in it is checked first. It must not be trusted more than any other data, but it
    cannot run code.

    Parameters
    ----------
    path : path-like
        A file whose name ends in ``.ctsne``.

    Returns
    -------
    ConditionalTSNE
        A fitted model without ``affinities_``; ``resume`` is not possible.

    Examples
    --------
    >>> import ctsne
    >>> ctsne.ConditionalTSNE(n_iter=100).fit(data.X, labels=data.known).save("model.ctsne")
    >>> ctsne.load("model.ctsne").transform(data.X[:50], data.known[:50]).shape
    (50, 2)
    """
    record, reference, attributes = read_model(path)
    model = ConditionalTSNE(**record.parameters)
    for name, value in attributes.items():
        setattr(model, name, value)
    model._lazy_reference, model._record = LazyReference(None, reference), record
    return model
