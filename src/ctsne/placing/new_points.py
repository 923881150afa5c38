"""The methods of the estimator for new points in a finished map."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ctsne._core.checks import (
    check_count,
    check_jobs,
    check_matrix,
    check_names,
    check_same_rows,
)
from ctsne._core.progress import Report
from ctsne.labels.columns import listed_columns
from ctsne.placing import extend as extending
from ctsne.placing import place as placing
from ctsne.placing.build import Fitted, make_reference
from ctsne.placing.place import Placement
from ctsne.placing.reference import Reference


@dataclass
class Kept:
    """What a fitted model keeps for new points: the fit, and once needed, the reference.

    An object of its own, because the attributes of a fitted model must not change.
    """

    fitted: Fitted | None
    reference: Reference | None = None


class NewPoints(TransformerMixin):  # type: ignore[misc]
    """What a fitted model does with new points."""

    n_jobs: int | None
    embedding_: NDArray[np.float32]
    diagnostics_: Any
    labels_: Any
    metric: str
    mixing_: Any
    n_iter_: int
    _kept: Kept
    _keep_map: Callable[..., None]
    _take: Callable[..., None]
    set_params: Callable[..., Any]

    def place(
        self,
        X: ArrayLike,
        labels: object = None,
        *,
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
        >>> from ctsne import ConditionalTSNE
        >>> from ctsne.datasets import make_synthetic
        >>> data = make_synthetic(300, random_state=0)
        >>> model = ConditionalTSNE(n_iter=100, random_state=0)
        >>> model = model.fit(data.X[:200], labels=data.known[:200])
        >>> placed = model.place(data.X[200:], labels=data.known[200:])
        >>> placed.embedding.shape, bool(placed.far.mean() < 0.02)
        ((100, 2), True)
        """
        return place_in(self, X, labels, aligned=aligned, perplexity=perplexity)

    def transform(
        self,
        X: ArrayLike,
        labels: object = None,
        *,
        aligned: ArrayLike | None = None,
        perplexity: float | None = None,
    ) -> NDArray[np.float32]:
        """Place new points in the map, which stays as it is.

        The points of the fit land next to their positions in the map, not on them.

        Parameters
        ----------
        X, labels, aligned, perplexity
            As in :meth:`place`.

        Returns
        -------
        ndarray of float32, shape (m, n_components)

        Examples
        --------
        >>> from ctsne import ConditionalTSNE
        >>> from ctsne.datasets import make_synthetic
        >>> data = make_synthetic(300, random_state=0)
        >>> model = ConditionalTSNE(n_iter=100, random_state=0)
        >>> model = model.fit(data.X[:200], labels=data.known[:200])
        >>> model.transform(data.X[200:], labels=data.known[200:]).shape
        (100, 2)
        """
        return self.place(X, labels, aligned=aligned, perplexity=perplexity).embedding

    def extend(
        self,
        X: ArrayLike,
        labels: object = None,
        *,
        aligned: ArrayLike | None = None,
        n_iter: int = 250,
    ) -> Self:
        """Take new points into the map, and run it on with all points free.

        The new points are placed first. Then the similarities of all points are computed with the
        settings of the fit and the strength (or beta) it found, and the map is continued without
        early exaggeration, so that it stays recognisable.

        Parameters
        ----------
        X, labels, aligned
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
        >>> from ctsne import ConditionalTSNE
        >>> from ctsne.datasets import make_synthetic
        >>> data = make_synthetic(300, random_state=0)
        >>> model = ConditionalTSNE(n_iter=400, random_state=0)
        >>> model = model.fit(data.X[:200], labels=data.known[:200])
        >>> model = model.extend(data.X[200:], labels=data.known[200:], n_iter=50)
        >>> model.embedding_.shape, model.procrustes_ < 0.1
        ((300, 2), True)
        """
        check_is_fitted(self)
        extending.check_extendable(self.metric)
        count = check_count(n_iter, "n_iter", low=1)
        request, n_jobs = _request(self, X, labels, aligned, None)
        reference = prepared_reference(self)
        placed = placing.place(reference, request, shifts={}, n_jobs=n_jobs)
        before, done, mixed = self.embedding_, self.n_iter_, self.mixing_ is not None
        fitting, known, grown, log = extending.start_extended(
            self, reference, request, labels, placed, count, n_jobs
        )
        try:
            log.run(fitting.layout, count)
        finally:  # keeps the map even if the callback fails
            self._keep_map(fitting.layout, log)
            self.n_iter_ += done
            self.labels_ = known
            self.set_params(**grown)
            if mixed:
                fitting.measure()
            self._take(fitting)
            fitted = replace(fitting.fitted(known), projection=reference.projection)
            self._kept = Kept(fitted)
            self.procrustes_ = extending.moved_distance(before, self.embedding_[: len(before)])
        return self

    @property
    def _reference(self) -> Reference:
        return prepared_reference(self)


def prepared_reference(model: Any) -> Reference:
    """Return all that new points need of a fitted model, made the first time."""
    kept = model._kept
    if kept.reference is None:
        n_jobs = check_jobs(model.n_jobs)
        kept.reference = make_reference(kept.fitted, model.embedding_, model.diagnostics_, n_jobs)
    return cast(Reference, kept.reference)


def place_in(
    model: Any,
    X: Any,
    labels: Any = None,
    *,
    aligned: Any = None,
    perplexity: Any = None,
    shifts: Mapping[Any, Any] | None = None,
    after_part: Report | None = None,
) -> Placement:
    """Place new points, those of new labels moved by given shifts (:func:`new_label_shifts`)."""
    request, n_jobs = _request(model, X, labels, aligned, perplexity)
    return placing.place(
        prepared_reference(model),
        request,
        shifts=shifts or {},
        n_jobs=n_jobs,
        after_part=after_part,
    )


def new_label_shifts(model: Any, X: Any, labels: Any) -> dict[Any, NDArray[np.float64]]:
    """Estimate the shift of every label that is not in the map, if that is aligned.

    Points that are placed in several parts, with these shifts given, land as in one part.
    """
    request, n_jobs = _request(model, X, labels, None, None)
    reference = prepared_reference(model)
    if len(reference.columns) != 1 or reference.alignment.name in ("none", "array"):
        return {}
    combined = request.codes[:, 0]
    mover = placing.collected_shifts(reference, request, combined, {}, n_jobs)
    first = len(reference.columns[0].counts)
    return {name: mover.shift(first + number) for number, name in enumerate(request.names)}


def _request(
    model: Any, X: Any, labels: Any, aligned: Any, perplexity: Any
) -> tuple[placing.Request, int]:
    check_is_fitted(model)
    matrix = check_matrix(X, least=1)
    check_names(X)
    validate_data(model, X, reset=False, skip_check_array=True)
    for column in listed_columns(labels):
        check_same_rows(X, column)
    check_same_rows(X, aligned, argument="aligned")
    kept = model._kept
    source = kept.fitted if kept.reference is None else kept.reference
    request = placing.check_request(
        matrix, labels, aligned, perplexity, fitted=source, known=model.labels_
    )
    return request, check_jobs(model.n_jobs)
