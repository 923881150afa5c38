"""Raw counts, which should be normalised before a map is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ctsne._core.checks import is_sparse

# Values that are looked at, at most, in rows spread over the matrix.
_LOOKED_AT = 2**20
# Counts have a long tail: most are small and a few are large. The largest grey value of an image
# or answer of a questionnaire is not this many times the usual one, and indicators are all 1.
_TAIL = 10
# Outside AnnData, where a matrix may be anything, counts have more columns than this.
FEWEST_COLUMNS = 50

# With scanpy as sc.
NORMALIZE = "sc.pp.normalize_total(adata); sc.pp.log1p(adata); sc.pp.pca(adata)"


def looks_like_counts(X: Any) -> bool:
    """Tell whether a matrix seems to hold raw counts: whole numbers from 0 up with a long tail.

    About a million values are looked at, at most.
    """
    values = X.data if is_sparse(X) else X
    sample = np.asarray(values[:: max(1, -(-values.size // _LOOKED_AT))])
    sample = sample[sample != 0]
    if sample.size == 0 or sample.dtype.kind == "b" or sample.min() < 0:
        return False
    return not np.mod(sample, 1).any() and bool(sample.max() >= _TAIL * np.median(sample))
