"""The authors' measurements on the paper's synthetic data, so that tests need no extra files.

Source: the public repository of the paper's authors (aida-ugent/revised-conditional-t-SNE, MIT
licence), the runs shown in figure 5 of Heiter et al. 2023: 1500 points, perplexity 30, 750
iterations, all measures at 30 neighbours. The folder ``CTSNE_REFERENCE`` holds the same numbers in
``authors_results.csv`` (dataset "synthetic"); a test checks that they agree.
"""

from __future__ import annotations

from typing import NamedTuple


class Measured(NamedTuple):
    """Adjusted R_NX and Jaccard index, and the Laplacian scores of both labels."""

    rnx: float
    jaccard: float
    known: float
    hidden: float


# By method, bandwidth and beta. Original at beta 1 is t-SNE.
AUTHORS: dict[tuple[str, str, float], Measured] = {
    ("original", "", 1.0): Measured(0.5627, 0.4143, 0.0000, 0.0015),
    ("revised", "p", 1e-2): Measured(0.5767, 0.4275, 0.0019, 0.0000),
    ("revised", "p", 1e-4): Measured(0.5555, 0.4091, 0.0774, 0.0000),
    ("revised", "p", 1e-10): Measured(0.4765, 0.3333, 0.4507, 0.0012),
    ("revised", "p", 1e-20): Measured(0.4633, 0.3229, 0.4798, 0.0008),
    ("revised", "p", 1e-30): Measured(0.4645, 0.3240, 0.4799, 0.0009),
    ("revised", "r", 1e-2): Measured(0.5693, 0.4204, 0.0000, 0.0001),
    ("revised", "r", 1e-4): Measured(0.5672, 0.4183, 0.0142, 0.0002),
    ("revised", "r", 1e-10): Measured(0.4719, 0.3307, 0.4325, 0.0008),
    ("revised", "r", 1e-20): Measured(0.4670, 0.3261, 0.4899, 0.0000),
    ("revised", "r", 1e-30): Measured(0.4685, 0.3274, 0.4909, 0.0008),
}

# Laplacian of random labels, known and hidden (section 4.1).
RANDOM = (0.480, 0.667)
