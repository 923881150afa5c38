"""Labels that a map does not have: in an aligned map, their shift is estimated once for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ctsne._core.messages import label_text, warn
from ctsne.distributed.collection import Collection
from ctsne.distributed.sampling import count_rows, take_sample
from ctsne.labels import Column
from ctsne.placing.new_points import new_label_shifts

if TYPE_CHECKING:
    from ctsne.estimator import ConditionalTSNE

# Points that the shifts are estimated from: for each new label, and in all.
_PER_LABEL, _MOST = 5000, 50_000


def estimate_shifts(
    model: ConditionalTSNE, found: Collection, client: Any
) -> dict[str, list[float]]:
    """Return the shift of every new label by its text, from a sample of the collection."""
    if not found.labels or model.diagnostics_.alignment in ("none", "array"):
        return {}
    if not isinstance(model.labels_, Column) or len(found.labels) > 1:
        warn(
            "the map is aligned and has several label columns: combinations that it does not have "
            "are aligned by the points of each part of a shard, so their places depend on the parts"
        )
        return {}
    known = {label_text(name) for name in model.labels_.names}
    counts = [
        {key: count for key, count in each.items() if key[0] is not None and key[0] not in known}
        for each in count_rows(found, found.labels, client)
    ]
    new = {key for each in counts for key in each}
    if not new:
        return {}
    n = min(_MOST, _PER_LABEL * len(new))
    sample = take_sample(found, counts, n, found.labels, 0, client)
    X = sample.X if hasattr(model, "feature_names_in_") else np.asarray(sample.X)
    shifts = new_label_shifts(model, X, sample.columns[found.labels[0]])
    return {label_text(name): shift.tolist() for name, shift in shifts.items()}
