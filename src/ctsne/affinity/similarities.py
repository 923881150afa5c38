"""The similarities of every method, for one label column or several."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ctsne.affinity.result import Affinities, symmetric_matrix
from ctsne.affinity.rows import Rows
from ctsne.affinity.shares import (
    column_shares,
    filled_shares,
    joint_shares,
    natural_log_shares,
    split_perplexities,
)
from ctsne.affinity.weights import Floats, PerLabel, list_log_weights, of_points, random_share
from ctsne.labels import Labels
from ctsne.neighbors import Neighbors, lists
from ctsne.neighbors.matching import matched_shares
from ctsne.neighbors.patterns import differing_lists

# A share of this much of a point is not negligible where rows are divided between lists.
_LEAST_SHARE = 2e-6


def tsne_affinities(neighbors: Neighbors, *, perplexity: float, n_jobs: int = 1) -> Affinities:
    """Compute the similarities of t-SNE, which ignore labels."""
    rows = Rows(neighbors, n_jobs=n_jobs)
    made, diagnostics, _ = rows.similarities(*rows.bandwidths(perplexity, weighted=False))
    return Affinities(symmetric_matrix(neighbors.indices, made, n_jobs), diagnostics)


def revised_affinities(
    neighbors: Neighbors,
    labels: Labels,
    *,
    perplexity: float,
    beta: PerLabel,
    bandwidth: str = "r",
    n_jobs: int = 1,
) -> Affinities:
    """Weight same-label similarities by beta and others by alpha, for each column (paper, sec. 3).

    With ``bandwidth="r"`` the conditioned row has the perplexity, with ``"p"`` the row before
    conditioning. Several bandwidths may reach it for r; this chooses the one of the authors'
    program: from a kernel as wide as the data, precision is doubled until the perplexity falls
    below the target, and then bisected; else the smallest that fits, or the nearest perplexity.
    """
    counts = [column.counts for column in labels.columns]
    weights = list_log_weights(neighbors.patterns, labels.codes, counts, beta)
    rows = Rows(neighbors, weights, n_jobs=n_jobs)
    precision, reached = rows.bandwidths(perplexity, weighted=bandwidth == "r")
    return _finished(rows, neighbors, labels, precision, reached, n_jobs=n_jobs)


def balanced_affinities(
    neighbors: Neighbors, labels: Labels, *, perplexity: float, strength: PerLabel, n_jobs: int = 1
) -> Affinities:
    """Calibrate every list separately, and mix them by shares that are set beforehand."""
    # At strength 0, the share of a column is that of each point's plain t-SNE similarities; at
    # strength 1, that of a random draw. Each list has the product of the shares of all columns.
    length = neighbors.indices.shape[1]
    natural = natural_log_shares(neighbors, labels, perplexity=length / 2, n_jobs=n_jobs)
    differs = differing_lists(neighbors.patterns, labels.n_columns)
    shares = column_shares(np.exp(natural), differs)
    for c, (column, strengths) in enumerate(zip(labels.columns, strength, strict=True)):
        step = of_points(strengths, column.codes)
        shares[:, c] += step * (random_share(column) - shares[:, c])
    wanted = lists.product_shares(shares, neighbors.patterns)
    return _split(neighbors, labels, wanted, perplexity=perplexity, n_jobs=n_jobs)


def joint_affinities(
    neighbors: Neighbors, labels: Labels, *, perplexity: float, strength: PerLabel, n_jobs: int = 1
) -> Affinities:
    """Give other labels a share of every row that depends on how near they are (docs/joint.md)."""
    # The lists of ``neighbors`` are as long as a row each; the best of them are kept.
    length = min(int(lists.joint_lengths((0, 1), perplexity).sum()), neighbors.indices.shape[1])
    natural = natural_log_shares(neighbors, labels, perplexity=length / 2, n_jobs=n_jobs)
    matched = matched_shares(neighbors, labels)
    shares = joint_shares(natural, matched, labels, strength, neighbors.patterns)
    total = (length + 1) // 2
    filled = filled_shares(shares, neighbors.lengths)
    # The nearest point that differs in nothing is kept, however small its share.
    least = np.where(neighbors.lengths[:, 0] > 0, _LEAST_SHARE, 0.0)
    filled[:, 0] = np.maximum(filled[:, 0], least / total)
    wanted = lists.divide_rows(filled, total)
    kept = lists.fill_lists(wanted, neighbors.lengths.astype(np.int64), total)
    best = lists.select_neighbors(neighbors, kept)
    return _split(best, labels, shares, perplexity=perplexity, n_jobs=n_jobs, matched=matched)


def _split(
    neighbors: Neighbors,
    labels: Labels,
    shares: Floats,
    *,
    perplexity: float,
    n_jobs: int,
    matched: Floats | None = None,
) -> Affinities:
    """Calibrate all lists of every row separately and mix them by their shares."""
    rows = Rows(neighbors, n_jobs=n_jobs)
    shares = filled_shares(shares, neighbors.lengths)
    precisions, _ = rows.split_bandwidths(split_perplexities(perplexity, shares, neighbors.lengths))
    reached = np.ones(len(shares), bool)
    result = _finished(
        rows, neighbors, labels, precisions, reached, shares=shares, n_jobs=n_jobs, matched=matched
    )
    # Only the mixture counts: one list may miss its perplexity if the others make up for it.
    reached = np.abs(np.log(result.diagnostics.perplexity / perplexity)) < 1e-5
    return replace(result, diagnostics=replace(result.diagnostics, reached=reached))


def _finished(
    rows: Rows,
    neighbors: Neighbors,
    labels: Labels,
    precisions: Floats,
    reached: NDArray[np.bool_],
    *,
    n_jobs: int,
    shares: Floats | None = None,
    matched: Floats | None = None,
) -> Affinities:
    """Compute the rows, symmetrise them and add the diagnostics of each column."""
    made, diagnostics, found = rows.similarities(precisions, reached, shares=shares)
    of_columns = column_shares(found, differing_lists(neighbors.patterns, labels.n_columns))
    if matched is None:
        matched = matched_shares(neighbors, labels)
    diagnostics = replace(
        diagnostics,
        matched=matched.min(axis=1),  # the worst column counts
        column_shares={name: of_columns[:, c].copy() for c, name in enumerate(labels.names)},
        column_matched={name: matched[:, c].copy() for c, name in enumerate(labels.names)},
    )
    return Affinities(symmetric_matrix(neighbors.indices, made, n_jobs), diagnostics)
