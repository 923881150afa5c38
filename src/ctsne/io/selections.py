"""Selections that a page saved as csv, joined to the points they were made of."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.messages import quoted

# The columns of the file with the names of the points and of their selections, always text.
POINT, SELECTION = "name", "selection"


def is_selection(columns: Iterable[str]) -> bool:
    """Tell whether a table with these columns was saved by a page."""
    return {POINT, SELECTION, "map_1"} <= {*columns}


def selection_of(
    table: Mapping[str, Any], names: Iterable[object] | None, n: int, path: object, where: object
) -> NDArray[np.object_]:
    """Return the selection of each of n points, None if it has none; refuse other points."""
    # Points without names are called by their rows on a page.
    row_of = {f"row {row}": row for row in range(n)}
    texts = [str(name) for name in names] if names is not None else []
    row_of |= {name: row for row, name in enumerate(texts)}
    wanted = [str(name) for name in table[POINT]]
    if foreign := [name for name in wanted if name not in row_of]:
        what = f"{len(foreign):,} of the {len(wanted):,} points of {path}"
        raise ValueError(f"{what} are not in {where}: {quoted(foreign, most=3)}")
    selected = {*wanted}
    for owner, listed in ((path, wanted), (where, [name for name in texts if name in selected])):
        name, times = Counter(listed or [""]).most_common(1)[0]
        if times > 1:
            raise ValueError(f"names of points must be unique, but {owner} repeats {name!r:.60}")
    found = np.full(n, None, object)
    found[[row_of[name] for name in wanted]] = [str(value) for value in table[SELECTION]]
    return found
