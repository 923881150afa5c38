"""The paper's similarities: those of t-SNE, and those of revised conditional t-SNE."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ctsne._core.checks import check_choice, check_kind, check_number
from ctsne._core.vocabulary import BANDWIDTHS
from ctsne.affinity.columns import known_labels, revised_columns
from ctsne.affinity.result import Affinities
from ctsne.affinity.rows import Rows
from ctsne.affinity.weights import of_points, per_label, revised_weights
from ctsne.labels import Labels
from ctsne.neighbors import Neighbors


def tsne_affinities(neighbors: Neighbors, *, perplexity: float, n_jobs: int = 1) -> Affinities:
    """Compute the similarities of t-SNE, without conditioning.

    Parameters
    ----------
    neighbors : Neighbors
        Usually one list of three times the perplexity.
    perplexity : float
    n_jobs : int

    Returns
    -------
    Affinities

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.affinity import tsne_affinities
    >>> from ctsne.neighbors import find_neighbors
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> result = tsne_affinities(find_neighbors(X, lengths=15), perplexity=5)
    >>> bool(np.allclose(result.diagnostics.perplexity, 5, rtol=1e-5))
    True
    """
    check_kind(neighbors, Neighbors, "neighbors")
    target = check_number(perplexity, "perplexity", low=1)
    rows = Rows(neighbors, n_jobs=n_jobs)
    return rows.affinities(*rows.bandwidths(target, weighted=False))


def revised_affinities(
    neighbors: Neighbors,
    labels: object,
    *,
    perplexity: float,
    beta: ArrayLike,
    bandwidth: str = "r",
    n_jobs: int = 1,
) -> Affinities:
    """Compute the similarities of revised ct-SNE: same label times beta, others times alpha.

    See the paper, section 3.

    Parameters
    ----------
    neighbors : Neighbors
    labels : array-like of length n, Column or Labels
        With several columns, ``neighbors`` must hold a list for each pattern of columns that
        differ, as from :func:`ctsne.neighbors.find_neighbors`; the weights of all columns are
        multiplied.
    perplexity : float
    beta : float or ndarray of shape (n_labels,) or (n_columns,)
        In (0, 1], one for all labels, or one per label or per label column. alpha follows from it.
    bandwidth : {"r", "p"}
        Whether the final ``r`` or the unconditioned ``p`` has the perplexity. For ``r`` several
        bandwidths can fit; this chooses the same one as the authors' program: starting from a
        kernel as wide as the data, precision is doubled until the perplexity falls below the
        target, and then bisected. If this finds none, it is the smallest that fits, or else the one
        with the nearest perplexity.
    n_jobs : int

    Returns
    -------
    Affinities

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.affinity import revised_affinities
    >>> from ctsne.neighbors import find_neighbors
    >>> X, labels = np.random.default_rng(0).normal(size=(50, 3)), list("ab") * 25
    >>> neighbors = find_neighbors(X, labels, lengths=(8, 7))
    >>> result = revised_affinities(neighbors, labels, perplexity=5, beta=1e-4)
    >>> bool(result.diagnostics.other_share.mean() > 0.9)
    True
    """
    check_choice(bandwidth, "bandwidth", BANDWIDTHS)
    check_kind(neighbors, Neighbors, "neighbors")
    target = check_number(perplexity, "perplexity", low=1)
    known = known_labels(neighbors, labels)
    if isinstance(known, Labels):
        return revised_columns(
            neighbors, known, perplexity=target, beta=beta, bandwidth=bandwidth, n_jobs=n_jobs
        )
    betas = per_label(beta, "beta", known, open_low=True)
    weights = [of_points(each, known.codes) for each in revised_weights(known, betas)]
    rows = Rows(neighbors, np.stack(weights, axis=1), n_jobs=n_jobs)
    return rows.affinities(*rows.bandwidths(target, weighted=bandwidth == "r"))
