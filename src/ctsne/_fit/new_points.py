"""The methods of the estimator for new points in a finished map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ctsne._core.checks import check_jobs, check_matrix, check_names, check_same_rows
from ctsne._fit import placing
from ctsne._fit.placing import Placement
from ctsne._fit.reference import NEW_PERPLEXITY, Fitted, Reference, make_reference


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
    _kept: Kept

    def place(
        self,
        X: ArrayLike,
        labels: object = None,
        *,
        aligned: ArrayLike | None = None,
        perplexity: float = NEW_PERPLEXITY,
    ) -> Placement:
        """Place new points in the map, which stays as it is, with diagnostics.

        Each new point goes where its nearest points of the map attract it, by the similarities of
        the method and with its label factored out. New points do not feel each other, so their
        positions depend neither on their order nor on which of them are placed together.

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
        perplexity : float, default=5
            Effective number of neighbours that determine the position of a new point.

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
        >>> placed.embedding.shape, placed.far.sum().item()
        ((100, 2), 0)
        """
        check_is_fitted(self)
        matrix = check_matrix(X, least=1)
        check_names(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        n_jobs = check_jobs(self.n_jobs)
        kept = self._kept
        source = kept.fitted if kept.reference is None else kept.reference
        assert source is not None
        check_same_rows(X, labels)
        check_same_rows(X, aligned, argument="aligned")
        request = placing.check_request(
            matrix, labels, aligned, perplexity, fitted=source, known=self.labels_
        )
        return placing.place(self._reference, request, n_jobs=n_jobs)

    def transform(
        self,
        X: ArrayLike,
        labels: object = None,
        *,
        aligned: ArrayLike | None = None,
        perplexity: float = NEW_PERPLEXITY,
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

    @property
    def _reference(self) -> Reference:
        """All that new points need, made the first time."""
        kept = self._kept
        if kept.reference is None:
            assert kept.fitted is not None
            n_jobs = check_jobs(self.n_jobs)
            kept.reference = make_reference(kept.fitted, self.embedding_, self.diagnostics_, n_jobs)
        return kept.reference
