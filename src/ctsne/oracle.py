"""Every formula as plain, slow, exact NumPy: what the tests compare the fast code with.

All work is in float64 with dense n × n matrices. ``codes`` are integer labels from 0, with -1
where the label is missing. Two points are *different* when both are labelled and the labels
differ; everything else goes to the list called *same*. Nothing here imports the rest of the
package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]
Metric = Literal["euclidean", "cosine"]

# The largest weight `joint` puts on other labels, as a logarithm: exp(700) is nearly the largest
# float64. The same bound serves all implementations.
MAX_LOG_WEIGHT = 700.0


# ---- neighbours ----------------------------------------------------------------------------------


def squared_distances(X: ArrayLike, *, metric: Metric = "euclidean") -> Floats:
    """Squared distances between all pairs, from differences so that no digits cancel.

    The cosine distance is ``1 - cos``, here ``|a - b|² / 2`` of the rows scaled to length one.

    Examples
    --------
    >>> squared_distances([[0.0], [3.0]]).tolist()
    [[0.0, 9.0], [9.0, 0.0]]
    """
    rows = np.asarray(X, dtype=np.float64)
    if metric == "euclidean":
        return np.array([((rows - row) ** 2).sum(axis=1) for row in rows])
    if metric != "cosine":
        raise ValueError(f"metric must be 'euclidean' or 'cosine', got {metric!r}")
    norms = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    if (norms == 0).any():
        raise ValueError("metric='cosine' needs a direction for every row, got a row of zeros")
    return (squared_distances(rows / norms) / 2) ** 2


def _different(codes: Integers) -> NDArray[np.bool_]:
    labelled = np.asarray(codes >= 0)
    unequal = np.asarray(codes[:, None] != codes[None, :])
    return unequal & labelled[:, None] & labelled[None, :]


def _counts(codes: Integers) -> NDArray[np.intp]:
    return np.bincount(codes[codes >= 0])


def _fill_lists(codes: Integers, total: int, wanted_other: Integers) -> tuple[Integers, Integers]:
    """Give what a short list lacks to the other one."""
    available_other = _different(codes).sum(axis=1)
    available_same = len(codes) - 1 - available_other
    k_other = np.minimum(wanted_other, available_other)
    k_same = np.minimum(total - k_other, available_same)
    return k_same, total - k_same


def _total_length(n: int, perplexity: float) -> int:
    return min(int(np.ceil(3 * perplexity)), n - 1)


def list_lengths(codes: Integers, perplexity: float) -> tuple[Integers, Integers]:
    """Lengths of the two neighbour lists in the paper's methods: 1.5 u each.

    They sum to ``min(ceil(3u), n - 1)`` in every row.

    Examples
    --------
    >>> same, other = list_lengths(np.array([0, 0, 0, 0, 1]), 1.0)
    >>> same.tolist(), other.tolist()
    ([2, 2, 2, 2, 0], [1, 1, 1, 1, 3])
    """
    total = _total_length(len(codes), perplexity)
    return _fill_lists(codes, total, np.full(len(codes), total // 2))


def list_lengths_balanced(
    codes: Integers, perplexity: float, strength: ArrayLike
) -> tuple[Integers, Integers]:
    """Lengths of the two neighbour lists in ``balanced``: three times each perplexity.

    The rounding leaves the own label one point at least.

    Examples
    --------
    >>> same, other = list_lengths_balanced(np.array([0, 0, 0, 1, 1]), 1.0, 0.5)
    >>> same.tolist(), other.tolist()
    ([2, 2, 2, 1, 1], [1, 1, 1, 2, 2])
    """
    total = _total_length(len(codes), perplexity)
    wanted = np.ceil(3 * other_shares(codes, strength) * perplexity).astype(np.intp)
    return _fill_lists(codes, total, np.minimum(wanted, total - 1))


def neighbor_lists(
    D2: Floats, codes: Integers, k_same: Integers, k_other: Integers
) -> tuple[Integers, Integers]:
    """List the nearest points of both kinds, each list ordered by distance, then index.

    Row i holds ``k_same[i]`` points that are not different, then ``k_other[i]`` that are.
    Returns the rows and where the second list starts.

    Examples
    --------
    >>> D2 = squared_distances([[0.0], [1.0], [2.0], [4.0]])
    >>> one = np.ones(4, dtype=int)
    >>> neighbor_lists(D2, np.array([0, 1, 0, 1]), one, one)[0].tolist()
    [[2, 1], [3, 0], [0, 1], [1, 2]]
    """
    different = _different(codes)
    rows = []
    for i in range(len(codes)):
        order = np.argsort(D2[i], kind="stable")
        order = order[order != i]
        other = different[i, order]
        rows.append(np.concatenate([order[~other][: k_same[i]], order[other][: k_other[i]]]))
    return np.array(rows), np.asarray(k_same)


# ---- weights -------------------------------------------------------------------------------------


def rho(codes: Integers) -> float:
    """Chance that two labelled points drawn at random share their label (1 if there are not two).

    Examples
    --------
    >>> round(rho(np.array([0, 0, 1, -1])), 3)
    0.333
    """
    counts = _counts(codes)
    m = counts.sum()
    return float((counts * (counts - 1)).sum() / (m * (m - 1))) if m > 1 else 1.0


def high_weights(codes: Integers, beta: ArrayLike) -> tuple[Floats, Floats]:
    """Logarithms of β and α for each label: ``α = (1 - βρ) / (1 - ρ)``.

    With one label there is nothing to factor out, and both weights are 1.

    Examples
    --------
    >>> log_beta, log_alpha = high_weights(np.array([0, 0, 1, 1]), 0.5)
    >>> np.exp(log_alpha).round(3).tolist()
    [1.25, 1.25]
    """
    beta = np.broadcast_to(np.asarray(beta, dtype=np.float64), _counts(codes).shape)
    share = rho(codes)
    if share == 1:
        return np.zeros(beta.shape), np.zeros(beta.shape)
    return np.log(beta), np.log1p(-beta * share) - np.log1p(-share)


def low_weights(codes: Integers, beta: ArrayLike) -> Floats:
    """Pair weights of low-dimensional conditioning (paper, section 2), n × n.

    Same label: ``α = (1 - β(1 - ρ)) / ρ``; labels a and b: ``sqrt(β_a β_b)``; with an unlabelled
    point: 1; on the diagonal: 0.

    Examples
    --------
    >>> low_weights(np.array([0, 0, 1, 1]), 0.25)[0].round(3).tolist()
    [0.0, 2.5, 0.25, 0.25]
    """
    beta = np.broadcast_to(np.asarray(beta, dtype=np.float64), _counts(codes).shape)
    share = rho(codes)
    alpha = (1 - beta * (1 - share)) / share if share > 0 else np.ones(beta.shape)
    weights = np.ones((len(codes), len(codes)))
    for a in range(len(beta)):
        for b in range(len(beta)):
            # Logarithms: the product of two small betas can underflow.
            pair = alpha[a] if a == b else np.exp((np.log(beta[a]) + np.log(beta[b])) / 2)
            weights[np.ix_(codes == a, codes == b)] = pair
    np.fill_diagonal(weights, 0.0)
    return weights


def other_shares(codes: Integers, strength: ArrayLike) -> Floats:
    """Share of row mass that ``balanced`` gives to other labels, for each point.

    ``w_i = t (m - n_l) / (n - 1)`` with m labelled points of n; 0 without a label.

    Examples
    --------
    >>> other_shares(np.array([0, 0, 1, -1, -1]), 1.0).tolist()
    [0.25, 0.25, 0.5, 0.0, 0.0]
    """
    counts = _counts(codes)
    strength = np.broadcast_to(np.asarray(strength, dtype=np.float64), counts.shape)
    shares = np.append(strength * (counts.sum() - counts) / (len(codes) - 1), 0.0)
    return np.asarray(shares[codes])


# ---- bandwidths ----------------------------------------------------------------------------------


def _log_softmax(logits: Floats) -> Floats:
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def _entropy(logits: Floats) -> Floats:
    log_p = _log_softmax(logits)
    return np.asarray(-(np.exp(log_p) * log_p).sum(axis=-1))


def perplexity(row: ArrayLike) -> float:
    """Exponential of the entropy of a distribution.

    Examples
    --------
    >>> perplexity([0.5, 0.5, 0.0])
    2.0
    """
    p = np.asarray(row, dtype=np.float64)
    p = p[p > 0]
    return float(np.exp(-(p * np.log(p)).sum()))


def _precision_grid(x: Floats, log_weights: Floats) -> Floats:
    """Falling precisions, the last one 0, so close that no probability jumps between two.

    ``x`` are squared distances moved to minimum 0 and scaled to maximum 1.
    """
    # Above the first, only the nearest points count; below the second, distance does not matter.
    first = (np.ptp(log_weights) + 60) / x[x > 0].min()
    step = 0.04 if np.ptp(log_weights) > 0 else 1.0  # equal weights have one solution at most
    coarse = np.append(np.exp(np.arange(np.log(first), np.log(1e-9), -step)), 0.0)
    if np.ptp(log_weights) == 0:
        return coarse
    # Strong weights switch a row from one list to the other within a tiny range of precisions.
    log_p = _log_softmax(log_weights - coarse[:, None] * x)
    counts = np.maximum(log_p[1:], log_p[:-1]) > -40
    jumps = (np.abs(np.diff(log_p, axis=0)) * counts).max(axis=1)
    ends = np.cumsum(np.append(0, np.ceil(jumps / 0.3).clip(1)))
    return np.asarray(np.interp(np.arange(ends[-1] + 1), ends, coarse))


def search_precision(
    d2: Floats, log_weights: Floats, perplexity: float, scale: float
) -> tuple[float, bool]:
    """Precision ``τ = 1 / 2σ²`` at which a weighted row has a given perplexity, and whether it has.

    With weights the perplexity is not monotone in σ (paper, Fig. 4). The solution taken is that of
    the authors' program: from ``1 / scale²``, with the half-width of the data as scale, the
    precision is doubled, or halved, until the target lies between, and then bisected. Where this
    finds no interval, `solve_precision` decides.

    Examples
    --------
    >>> d2, log_weights = np.array([1.0, 2.0, 5.0]), np.array([0.0, 1.0, 1.0])
    >>> tau, reached = search_precision(d2, log_weights, 2.0, 4.0)
    >>> row = np.exp(log_weights - tau * d2)
    >>> reached, round(perplexity(row / row.sum()), 6)
    (True, 2.0)
    """
    x = d2 - d2.min()

    def too_wide(tau: float) -> bool:
        return bool(_entropy(log_weights - tau * x) >= np.log(perplexity))

    low = high = scale**-2
    if too_wide(low):
        only_nearest = (np.ptp(log_weights) + 60) / x[x > 0].min(initial=np.inf)
        while too_wide(high):
            if high > only_nearest:
                return solve_precision(d2, log_weights, perplexity)
            low, high = high, 2 * high
    else:
        while not too_wide(low):
            if low * x.max() < 1e-6:  # distance does not matter any more
                return solve_precision(d2, log_weights, perplexity)
            low, high = low / 2, low
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if too_wide(middle) else (low, middle)
    return (low + high) / 2, True


def solve_precision(
    d2: Floats, log_weights: Floats, perplexity: float, *, tolerance: float = 1e-10
) -> tuple[float, bool]:
    """Precision of the smallest σ at which a weighted row has a given perplexity.

    Without weights there is no other one. Where no σ reaches the target, this is the precision of
    the nearest reachable perplexity, and reached if that misses by less than ``tolerance`` (as
    logarithms).

    Examples
    --------
    >>> tau, reached = solve_precision(np.array([1.0, 2.0, 5.0]), np.zeros(3), 2.0)
    >>> row = np.exp(-tau * np.array([1.0, 2.0, 5.0]))
    >>> reached, round(perplexity(row / row.sum()), 6)
    (True, 2.0)
    """
    spread = d2 - d2.min()
    scale = float(spread.max())
    if scale == 0:
        return 0.0, bool(abs(_entropy(log_weights) - np.log(perplexity)) <= tolerance)
    x = spread / scale

    def excess(tau: Floats) -> Floats:
        return np.asarray(_entropy(log_weights - tau[..., None] * x) - np.log(perplexity))

    grid = _precision_grid(x, log_weights)
    values = excess(grid)
    crossings = np.flatnonzero((values[1:] >= 0) != (values[:-1] >= 0))
    if len(crossings) == 0:
        miss, tau = _nearest(excess, grid, np.abs(values))
        return tau / scale, miss <= tolerance
    at = crossings[0]
    high, low = grid[at], grid[at + 1]
    for _ in range(60):
        middle = (low + high) / 2
        if (excess(middle) >= 0) == (values[at] >= 0):
            high = middle
        else:
            low = middle
    return float(low + high) / 2 / scale, True


def _nearest(
    excess: Callable[[Floats], Floats], grid: Floats, misses: Floats
) -> tuple[float, float]:
    """Zoom in on the places that come near the target; the smallest miss and where it is."""
    before, here, after = np.lib.stride_tricks.sliding_window_view(
        np.pad(misses.round(12), 1, mode="edge"), len(misses)
    )
    found = [(float(misses[0]), float(grid[0]))]
    for at in np.flatnonzero(
        (here <= before) & (here <= after) & ((here < before) | (here < after))
    ):
        fine = grid[max(at - 1, 0) : at + 2]
        for _ in range(8):
            fine = np.linspace(fine[0], fine[-1], 41)
            nearest = int(np.argmin(np.abs(excess(fine))))
            fine = fine[max(nearest - 1, 0) : nearest + 2]
        found.append(min((float(np.abs(excess(tau))), float(tau)) for tau in fine))
    return min(found, key=lambda pair: round(pair[0], 10))  # of equal ones the first


def continue_precision(
    d2: Floats, log_weights: Floats, perplexity: float, *, steps: int = 200
) -> float:
    """Follow the solution without weights as the weights grow to their full size.

    No method uses it: it shows which of the solutions belongs to the unweighted one. The weights
    are scaled from 0 to 1 in steps so small that the solution never jumps to another branch; the
    precision is nan where the branch ends on the way.

    Examples
    --------
    >>> d2, log_weights = np.array([1.0, 2.0, 5.0]), np.array([0.0, 0.1, 0.1])
    >>> tau, _ = solve_precision(d2, log_weights, 2.0)
    >>> bool(np.isclose(continue_precision(d2, log_weights, 2.0), tau))
    True
    """
    tau, reached = solve_precision(d2, np.zeros(len(d2)), perplexity)
    x = d2 - d2.min()
    if not reached or tau == 0:
        return float("nan")
    s, step, log_tau = 0.0, 1 / steps, float(np.log(tau))
    while s < 1:
        following = min(s + step, 1.0)
        found = _follow(x, following * log_weights, perplexity, log_tau)
        if found is None:
            step /= 2
            if step < 1e-9:
                return float("nan")
        else:
            s, step, log_tau = following, min(2 * step, 1 / steps), found
    return float(np.exp(log_tau))


def _follow(x: Floats, log_weights: Floats, perplexity: float, log_tau: float) -> float | None:
    """Find the solution close to ``log_tau`` at which the perplexity falls with the precision."""
    half = 1 / (4 + np.ptp(log_weights))
    grid = log_tau + half * np.linspace(-1, 1, 41)
    for _ in range(10):
        below = _entropy(log_weights - np.exp(grid)[:, None] * x) < np.log(perplexity)
        crossings = np.flatnonzero(below[1:] & ~below[:-1])
        if len(crossings) == 0:
            return None
        at = crossings[np.argmin(np.abs(grid[crossings] - log_tau))]
        grid = np.linspace(grid[at], grid[at + 1], 41)
        if grid[1] <= grid[0]:
            break
    return float(grid[20])


# ---- similarities --------------------------------------------------------------------------------


def _row(d2: Floats, log_weights: Floats, tau: float) -> Floats:
    return np.exp(_log_softmax(log_weights - tau * (d2 - d2.min())))


def _precisions(D2: Floats, indices: Integers, perplexity: float) -> Floats:
    """Precisions without weights, over the given neighbours."""
    zeros = np.zeros(indices.shape[1])
    return np.array(
        [solve_precision(D2[i, row], zeros, perplexity)[0] for i, row in enumerate(indices)]
    )


def symmetrize(indices: Integers, rows: Floats) -> Floats:
    """Dense ``r_ij = (r_{j|i} + r_{i|j}) / 2n`` from conditional rows over neighbour lists.

    Examples
    --------
    >>> symmetrize(np.array([[1], [0]]), np.ones((2, 1))).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    n = len(indices)
    dense = np.zeros((n, n))
    np.put_along_axis(dense, indices, rows, axis=1)
    return (dense + dense.T) / (2 * n)


def tsne_rows(D2: Floats, indices: Integers, perplexity: float) -> Floats:
    """Conditional ``p_{j|i}`` over the given neighbours.

    Examples
    --------
    >>> D2 = squared_distances([[0.0], [1.0], [2.0]])
    >>> tsne_rows(D2, np.array([[1, 2], [0, 2], [1, 0]]), 2.0)[0].round(6).tolist()
    [0.5, 0.5]
    """
    taus = _precisions(D2, indices, perplexity)
    zeros = np.zeros(indices.shape[1])
    return np.array([_row(D2[i, row], zeros, taus[i]) for i, row in enumerate(indices)])


def tsne_affinities(X: ArrayLike, perplexity: float, *, metric: Metric = "euclidean") -> Floats:
    """Symmetric similarities of plain t-SNE over ``3u`` neighbours, n × n.

    Examples
    --------
    >>> round(float(tsne_affinities([[0.0], [1.0], [3.0]], 1.5).sum()), 6)
    1.0
    """
    D2 = squared_distances(X, metric=metric)
    k = np.full(len(D2), _total_length(len(D2), perplexity))
    indices, _ = neighbor_lists(D2, np.full(len(D2), -1), k, np.zeros_like(k))
    return symmetrize(indices, tsne_rows(D2, indices, perplexity))


def _high_weight_matrix(codes: Integers, beta: ArrayLike) -> Floats:
    log_beta, log_alpha = (np.append(w, 0.0)[codes][:, None] for w in high_weights(codes, beta))
    labelled = (codes >= 0)[None, :]
    return np.where(labelled, np.where(_different(codes), log_alpha, log_beta), 0.0)


def revised_rows(
    D2: Floats,
    indices: Integers,
    codes: Integers,
    perplexity: float,
    beta: ArrayLike,
    *,
    bandwidth: Literal["r", "p"] = "r",
    scale: float = 1.0,
) -> Floats:
    """Conditional ``r_{j|i}`` of revised conditional t-SNE (paper, section 3).

    Same-label neighbours are weighted by β, those of different label by α, unlabelled ones by 1.
    ``bandwidth`` says whether the weighted row (r) or the unweighted one (p) has the perplexity;
    for r, ``scale`` is where `search_precision` starts.

    Examples
    --------
    >>> D2 = squared_distances([[0.0], [1.0], [1.0], [0.0]])
    >>> indices = np.array([[3, 1], [2, 0], [1, 0], [0, 1]])
    >>> revised_rows(D2, indices, np.array([0, 1, 1, 0]), 2.0, 0.5, bandwidth="p")[0].round(3)
    array([0.286, 0.714])
    """
    if bandwidth not in ("r", "p"):
        raise ValueError(f"bandwidth must be 'r' or 'p', got {bandwidth!r}")
    weights = _high_weight_matrix(codes, beta)
    rows = []
    for i, row in enumerate(indices):
        d2, log_weights = D2[i, row], weights[i, row]
        if bandwidth == "r":
            tau, _ = search_precision(d2, log_weights, perplexity, scale)
        else:
            tau, _ = solve_precision(d2, np.zeros(len(row)), perplexity)
        rows.append(_row(d2, log_weights, tau))
    return np.array(rows)


def revised_affinities(
    X: ArrayLike,
    codes: Integers,
    perplexity: float,
    beta: ArrayLike,
    *,
    bandwidth: Literal["r", "p"] = "r",
    metric: Metric = "euclidean",
) -> Floats:
    """Symmetric similarities of revised conditional t-SNE, n × n.

    The scale of the data is its largest absolute coordinate around the mean; 1 for cosine.

    Examples
    --------
    >>> X, codes = [[0.0], [1.0], [3.0], [7.0]], np.array([0, 1, 0, 1])
    >>> round(float(revised_affinities(X, codes, 1.0, 1e-4).sum()), 6)
    1.0
    """
    D2 = squared_distances(X, metric=metric)
    indices, _ = neighbor_lists(D2, codes, *list_lengths(codes, perplexity))
    points = np.asarray(X, dtype=np.float64)
    largest = float(np.abs(points - points.mean(axis=0)).max())
    scale = 1.0 if metric == "cosine" else largest or 1.0
    rows = revised_rows(D2, indices, codes, perplexity, beta, bandwidth=bandwidth, scale=scale)
    return symmetrize(indices, rows)


def _split_perplexity(w: float, u: float, k_same: int, k_other: int) -> tuple[float, float]:
    """Perplexities of the two lists such that the mixture has perplexity u.

    The entropy of the mixture is ``h(w) + (1 - w) log u_same + w log u_other``. Unless a list is
    too short, or its part is below one point, this is ``(1 - w) u`` and ``w u``.
    """
    if w in (0, 1):
        return min(max(u, 1.0), float(k_same)), min(max(u, 1.0), float(k_other))
    left = np.log(u) + w * np.log(w) + (1 - w) * np.log(1 - w)
    log_other = np.clip(np.log(w * u), 0.0, np.log(k_other))
    log_same = (left - w * log_other) / (1 - w)
    if not 0 <= log_same <= np.log(k_same):
        log_same = np.clip(log_same, 0.0, np.log(k_same))
        with np.errstate(over="ignore"):  # the smallest of all shares
            log_other = np.clip((left - (1 - w) * log_same) / w, 0.0, np.log(k_other))
    return float(np.exp(log_same)), float(np.exp(log_other))


def balanced_rows(
    D2: Floats,
    indices: Integers,
    n_same: Integers,
    codes: Integers,
    perplexity: float,
    strength: ArrayLike,
) -> Floats:
    """Conditional rows of ``balanced``: ``(1 - w) p^same + w p^other``, each calibrated alone.

    Examples
    --------
    >>> D2 = squared_distances([[0.0], [1.0], [3.0], [7.0]])
    >>> indices = np.array([[2, 1, 3], [3, 0, 2], [0, 1, 3], [1, 2, 0]])
    >>> codes, n_same = np.array([0, 1, 0, 1]), np.ones(4, dtype=int)
    >>> balanced_rows(D2, indices, n_same, codes, 1.8, 0.6)[0, 0].round(6).item()
    0.6
    """
    rows = []
    for i, w in enumerate(other_shares(codes, strength)):
        lists = indices[i, : n_same[i]], indices[i, n_same[i] :]
        w = 0.0 if len(lists[1]) == 0 else 1.0 if len(lists[0]) == 0 else float(w)
        targets = _split_perplexity(w, perplexity, len(lists[0]), len(lists[1]))
        parts = []
        for members, mass, target in zip(lists, (1 - w, w), targets, strict=True):
            if mass == 0:
                parts.append(np.zeros(len(members)))
            else:
                d2, zeros = D2[i, members], np.zeros(len(members))
                parts.append(mass * _row(d2, zeros, solve_precision(d2, zeros, target)[0]))
        rows.append(np.concatenate(parts))
    return np.array(rows)


def balanced_affinities(
    X: ArrayLike,
    codes: Integers,
    perplexity: float,
    strength: ArrayLike,
    *,
    metric: Metric = "euclidean",
) -> Floats:
    """Symmetric similarities of ``balanced``, n × n.

    Examples
    --------
    >>> X, codes = [[0.0], [1.0], [3.0], [7.0]], np.array([0, 1, 0, 1])
    >>> round(float(balanced_affinities(X, codes, 1.0, 0.5).sum()), 6)
    1.0
    """
    D2 = squared_distances(X, metric=metric)
    lengths = list_lengths_balanced(codes, perplexity, strength)
    indices, n_same = neighbor_lists(D2, codes, *lengths)
    return symmetrize(indices, balanced_rows(D2, indices, n_same, codes, perplexity, strength))


def joint_beta_low(strength: ArrayLike) -> Floats:
    """Give the β of low-dimensional conditioning in ``joint``: ``10^(-2s)``.

    Examples
    --------
    >>> joint_beta_low([0.0, 0.5, 1.0]).round(3).tolist()
    [1.0, 0.1, 0.01]
    """
    return np.asarray(10.0 ** (-2 * np.asarray(strength, dtype=np.float64)))


def _solve_joint_weight(logits: Floats, other: NDArray[np.bool_], s: float, w1: float) -> float:
    """λ that brings the mean share of other labels to ``w0 + 0.9 s (w1 - w0)``."""

    def share(weight: float) -> float:
        rows = np.exp(_log_softmax(logits + weight * other))
        return float((rows * other).sum(axis=1).mean())

    w0 = share(0.0)
    target = w0 + 0.9 * s * (w1 - w0)
    if target <= w0:
        return 0.0
    if share(MAX_LOG_WEIGHT) < target:
        return MAX_LOG_WEIGHT
    low, high = 0.0, MAX_LOG_WEIGHT
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if share(middle) < target else (low, middle)
    return (low + high) / 2


def joint_rows(
    D2: Floats, indices: Integers, codes: Integers, perplexity: float, strength: ArrayLike
) -> Floats:
    """Conditional rows of ``joint``: bandwidths without weights, then ``e^λ`` on other labels.

    For each strength, one λ is solved over all labelled points; the rows of a label use the λ of
    the label's strength.

    Examples
    --------
    >>> D2 = squared_distances([[0.0], [1.0], [1.0], [0.0]])
    >>> indices = np.array([[3, 1], [2, 0], [1, 0], [0, 1]])
    >>> joint_rows(D2, indices, np.array([0, 1, 1, 0]), 2.0, 1.0)[0].round(3)
    array([0.35, 0.65])
    """
    taus = _precisions(D2, indices, perplexity)
    logits = -taus[:, None] * np.take_along_axis(D2, indices, axis=1)
    labelled = codes >= 0
    if not labelled.any():
        return np.exp(_log_softmax(logits))
    other = np.take_along_axis(_different(codes), indices, axis=1)
    counts = _counts(codes)
    w1 = float(other_shares(codes, 1.0)[labelled].mean())
    strengths = np.broadcast_to(np.asarray(strength, dtype=np.float64), counts.shape)
    solved = {
        s: _solve_joint_weight(logits[labelled], other[labelled], s, w1) for s in set(strengths)
    }
    weights = np.append([solved[s] for s in strengths], 0.0)[codes]
    return np.exp(_log_softmax(logits + weights[:, None] * other))


def joint_affinities(
    X: ArrayLike,
    codes: Integers,
    perplexity: float,
    strength: ArrayLike,
    *,
    metric: Metric = "euclidean",
) -> Floats:
    """Symmetric similarities of ``joint``, n × n.

    Examples
    --------
    >>> X, codes = [[0.0], [1.0], [3.0], [7.0]], np.array([0, 1, 0, 1])
    >>> round(float(joint_affinities(X, codes, 1.0, 0.5).sum()), 6)
    1.0
    """
    D2 = squared_distances(X, metric=metric)
    indices, _ = neighbor_lists(D2, codes, *list_lengths(codes, perplexity))
    return symmetrize(indices, joint_rows(D2, indices, codes, perplexity, strength))


# ---- layout --------------------------------------------------------------------------------------


def _pair_weights(n: int, weights: Floats | None) -> Floats:
    return (np.ones((n, n)) if weights is None else weights) * (1 - np.eye(n))


def kernel(d2: ArrayLike, dof: float = 1.0) -> Floats:
    """Evaluate the low-dimensional kernel ``(1 + d²/ν)^(-(ν+1)/2)``.

    Examples
    --------
    >>> kernel([0.0, 3.0]).tolist()
    [1.0, 0.25]
    """
    return np.asarray((1 + np.asarray(d2, dtype=np.float64) / dof) ** (-(dof + 1) / 2))


def normalizer(Y: ArrayLike, weights: Floats | None = None, dof: float = 1.0) -> float:
    """``U``, the sum of all weighted kernel values (``Z`` without weights).

    Examples
    --------
    >>> normalizer([[0.0], [1.0]])
    1.0
    """
    D2 = squared_distances(Y)
    return float((_pair_weights(len(D2), weights) * kernel(D2, dof)).sum())


def gradient(P: Floats, Y: ArrayLike, *, weights: Floats | None = None, dof: float = 1.0) -> Floats:
    """Gradient of `kl_divergence` with respect to Y (paper, section 2, for any ν). P sums to 1.

    Examples
    --------
    >>> P = np.array([[0.0, 0.5], [0.5, 0.0]])
    >>> bool(np.allclose(gradient(P, [[0.0], [1.0]]), 0.0))
    True
    """
    Y = np.asarray(Y, dtype=np.float64)
    D2 = squared_distances(Y)
    Q = _pair_weights(len(D2), weights) * kernel(D2, dof)
    pull = (P - Q / Q.sum()) / (1 + D2 / dof)
    return 2 * (dof + 1) / dof * np.array([pull[i] @ (y - Y) for i, y in enumerate(Y)])


def kl_divergence(
    P: Floats, Y: ArrayLike, *, weights: Floats | None = None, dof: float = 1.0
) -> float:
    """``Σ p log(p / q)`` with ``q = c K / U``, over the pairs with p > 0.

    Examples
    --------
    >>> P = np.array([[0.0, 0.5], [0.5, 0.0]])
    >>> round(kl_divergence(P, [[0.0], [1.0]]), 6)
    0.0
    """
    D2 = squared_distances(Y)
    some = P > 0
    p = P[some]
    log_q = np.log(_pair_weights(len(D2), weights)[some]) + np.log(kernel(D2, dof)[some])
    return float((p * (np.log(p) - log_q + np.log(normalizer(Y, weights, dof)))).sum())


# ---- evaluation ----------------------------------------------------------------------------------


def _nearest_points(A: ArrayLike) -> Integers:
    """All other points of each point, nearest first."""
    D2 = squared_distances(A)
    n = len(D2)
    unlabelled = np.full(n, -1)
    return neighbor_lists(D2, unlabelled, np.full(n, n - 1), np.zeros(n, dtype=int))[0]


def adjusted_rnx(embedding: ArrayLike, X: ArrayLike, codes: Integers | None, k: int) -> float:
    """Label-adjusted ``R_NX(k)`` (paper, section 4.1); without labels the usual one.

    Examples
    --------
    >>> X = [[0.0], [1.0], [3.0], [7.0]]
    >>> adjusted_rnx(X, X, None, 1)
    1.0
    """
    low, high = _nearest_points(embedding), _nearest_points(X)
    n = len(low)
    different = _different(np.full(n, -1) if codes is None else codes)
    overlap = 0
    for i in range(n):
        found = low[i, :k]
        n_other = int(different[i, found].sum())
        other = different[i, high[i]]
        expected = [*high[i][~other][: k - n_other], *high[i][other][:n_other]]
        overlap += len(np.intersect1d(found, expected))
    return float(((n - 1) * overlap / (n * k) - k) / (n - 1 - k))


def laplacian(embedding: ArrayLike, codes: Integers, k: int) -> float:
    """Mean share of different labels among the k nearest neighbours in the map.

    Unlabelled points and neighbours do not count; nan if no labelled point has a labelled
    neighbour.

    Examples
    --------
    >>> laplacian([[0.0], [1.0], [3.0], [7.0]], np.array([0, 0, 1, 1]), 1)
    0.25
    """
    near = _nearest_points(embedding)[:, :k]
    shares = [
        (codes[row] != codes[i])[codes[row] >= 0].mean()
        for i, row in enumerate(near)
        if codes[i] >= 0 and (codes[row] >= 0).any()
    ]
    return float(np.mean(shares)) if shares else float("nan")


def expected_laplacian(codes: Integers) -> float:
    """Laplacian score expected of randomly assigned labels; nan below two labelled points.

    Examples
    --------
    >>> round(expected_laplacian(np.array([0, 0, 1, 1])), 3)
    0.667
    """
    counts = _counts(codes)
    m = counts.sum()
    return float((counts * (m - counts)).sum() / (m * (m - 1))) if m > 1 else float("nan")
