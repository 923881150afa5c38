"""Bandwidths by perplexity."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ctsne._reference._shared import Floats


def log_softmax(logits: Floats) -> Floats:
    """Logarithms of the distribution proportional to ``exp(logits)``."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def _entropy(logits: Floats) -> Floats:
    log_p = log_softmax(logits)
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
    log_p = log_softmax(log_weights - coarse[:, None] * x)
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
    rounded = misses.round(12)
    signs = np.sign(np.diff(rounded, prepend=rounded[0], append=rounded[-1]))
    before, after = signs[:-1], signs[1:]
    found = [(float(misses[0]), float(grid[0]))]
    for at in np.flatnonzero((before <= 0) & (after >= 0) & (before != after)):
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
