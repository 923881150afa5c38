"""Labels of new points, as the codes of the map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ctsne._core.messages import label_text, listed
from ctsne.affinity.new_rows import Codes
from ctsne.labels import Column, Labels, encode_labels
from ctsne.labels.columns import without_unused


def check_new_labels(
    labels: Any, known: Column | Labels | None, used: tuple[int, ...], m: int
) -> tuple[Codes, tuple[Any, ...]]:
    """Return the codes of new points in the columns that have an effect, and names of new labels.

    Missing labels are -1; labels that the map does not have get further codes, in the order of the
    names. These are returned only for one column.
    """
    if labels is None:
        return np.full((m, len(used)), -1, np.int32), ()
    given = without_unused(encode_labels(labels, n=m))
    if known is None or not used:
        return np.full((m, len(used)), -1, np.int32), ()
    columns = known.columns if isinstance(known, Labels) else (known,)
    made = [_codes(_matching(given, known)[place], columns[place]) for place in used]
    codes = np.ascontiguousarray(np.stack([codes for codes, _ in made], axis=1))
    return codes, made[0][1] if len(made) == 1 else ()


def in_order(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return names of label columns in the order of the map's, if they are the same."""
    return list(known if set(names) == set(known) else names)


def _matching(given: Column | Labels, known: Column | Labels) -> tuple[Column, ...]:
    """Return the columns given in the order of the map's."""
    columns = given.columns if isinstance(given, Labels) else (given,)
    if isinstance(known, Column):
        if len(columns) != 1:
            raise ValueError(
                f"labels has {len(columns)} columns, but the model was fitted with one"
            )
        return columns
    wanted = f"the model was fitted with {known.n_columns} ({listed(known.names)})"
    if len(columns) != known.n_columns:
        raise ValueError(
            f"labels has {len(columns)} column{'s' if len(columns) > 1 else ''}, but {wanted}"
        )
    assert isinstance(given, Labels)
    if set(given.names) == set(known.names):
        return tuple(columns[given.names.index(name)] for name in known.names)
    unnamed = tuple(str(place + 1) for place in range(known.n_columns))
    if given.names == unnamed or known.names == unnamed:
        return columns  # of an array, in the order of the fit
    raise ValueError(f"labels has the columns {listed(given.names)}, but {wanted}")


def _codes(given: Column, known: Column) -> tuple[Codes, tuple[Any, ...]]:
    """Find each label by its value, or by its text if that is unambiguous."""
    by_value = {name: code for code, name in enumerate(known.names)}
    by_text: dict[str, list[int]] = {}
    for code, name in enumerate(known.names):
        by_text.setdefault(label_text(name), []).append(code)
    codes: list[int] = []
    new: list[Any] = []
    for name in given.names:
        found = [by_value[name]] if name in by_value else by_text.get(label_text(name), [])
        if len(found) != 1:
            found = [known.n_labels + len(new)]
            new.append(name)
        codes += found
    return np.append(np.array(codes, np.int32), np.int32(-1))[given.codes], tuple(new)
