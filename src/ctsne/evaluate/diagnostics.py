"""What the similarities look like over all points, in a few numbers."""

from __future__ import annotations

import numpy as np

from ctsne.affinity.result import Diagnostics

__all__ = ["summarize_diagnostics"]


def summarize_diagnostics(diagnostics: Diagnostics) -> dict[str, float]:
    """Effective perplexity and mass on other labels, over all points.

    Parameters
    ----------
    diagnostics : Diagnostics
        As in ``ConditionalTSNE.diagnostics_``.

    Returns
    -------
    dict of str to float
        ``perplexity_mean``, ``perplexity_median``, ``perplexity_p05`` (only one point in twenty
        has less), ``other_share_mean``, ``other_share_median``, ``largest_weight_mean`` and
        ``reached``, the share of points that have the perplexity asked for.

    Examples
    --------
    >>> from ctsne.affinity import tsne_affinities
    >>> from ctsne.evaluate import summarize_diagnostics
    >>> from ctsne.neighbors import find_neighbors
    >>> neighbors = find_neighbors([[0.0], [1.0], [2.0]], k_same=2)
    >>> summary = summarize_diagnostics(tsne_affinities(neighbors, perplexity=1.5).diagnostics)
    >>> round(summary["perplexity_mean"], 3), round(summary["reached"], 3)
    (1.667, 0.667)
    """
    return {
        "perplexity_mean": float(np.mean(diagnostics.perplexity)),
        "perplexity_median": float(np.median(diagnostics.perplexity)),
        "perplexity_p05": float(np.quantile(diagnostics.perplexity, 0.05)),
        "other_share_mean": float(np.mean(diagnostics.other_share)),
        "other_share_median": float(np.median(diagnostics.other_share)),
        "largest_weight_mean": float(np.mean(diagnostics.largest_weight)),
        "reached": float(np.mean(diagnostics.reached)),
    }
