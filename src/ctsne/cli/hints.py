"""What to do next: columns that could be labels, and commands that fit what was just made."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ctsne.cli.main import spell_command
from ctsne.labels import Column, encode_column

if TYPE_CHECKING:
    from ctsne.cli.inputs import Input
    from ctsne.io import Dataset

# A label has at most this many values, and this many points per value on average.
_MOST_VALUES, _LEAST_POINTS = 200, 4
# More whole numbers than this are counts.
_MOST_NUMBERS = 50
_SHOWN = 6
_LOOKED_AT = 10_000
_MOST_FEATURES = 1000
# Columns of these names usually hold what is known before an experiment, or what it looks for.
_KNOWN = re.compile(
    r"batch|donor|sample|patient|subject|individual|replicate|plate|run|lane|tech|method|platform"
    r"|protocol|study|dataset|condition|stim|treat|site|lab$|center|centre|day",
    re.IGNORECASE,
)
_LOOKED_FOR = re.compile(r"type|class|cluster|label|annot|lineage|state|digit", re.IGNORECASE)


def label_columns(columns: Mapping[str, Any]) -> dict[str, Column]:
    """Return the columns that could be labels, those that are usually known first."""
    found = {}
    for name, column in columns.items():
        kind = getattr(getattr(column, "dtype", None), "kind", "O")
        most = min(_MOST_NUMBERS if kind in "iu" else _MOST_VALUES, len(column) // _LEAST_POINTS)
        # Fractions are measurements. Of many values, the first rows already have too many.
        if kind == "f" or _encoded(column[:_LOOKED_AT]) is None:
            continue
        labels = _encoded(column)
        if labels is not None and 2 <= labels.n_labels <= most:
            found[name] = labels
    return dict(sorted(found.items(), key=lambda item: (_rank(item[0]), item[1].n_labels)))


def candidates(data: Dataset) -> dict[str, Column]:
    """Return the columns of a file that could be labels, whole numbers among its features too."""
    from ctsne._core.checks import is_sparse

    if is_sparse(data.X) or len(data.features) > _MOST_FEATURES:  # genes
        return label_columns(data.columns)
    whole = (np.mod(data.X, 1) == 0).all(axis=0)
    numbers: dict[str, Any] = {}
    if 2 * whole.sum() < len(whole):  # else they are counts
        places = np.flatnonzero(whole).tolist()
        numbers = {data.features[i]: data.X[:, i].astype(np.int64) for i in places}
    return label_columns({**data.columns, **numbers})


def _encoded(column: Any) -> Column | None:
    """Return a column as labels, unless it cannot be one."""
    try:
        labels = encode_column(column)
    except (TypeError, ValueError):
        return None
    return labels if labels.n_labels <= _MOST_VALUES else None


def _rank(name: str) -> int:
    if _LOOKED_FOR.search(name):
        return 2
    return 0 if _KNOWN.search(name) else 1


def label_to_see(names: Sequence[str]) -> str | None:
    """Return the column that one probably looks for."""
    return next((name for name in names if _LOOKED_FOR.search(name)), None)


def second_label(
    columns: Mapping[str, Any], known: Sequence[str], other: str | None, key: str
) -> list[str]:
    """Return the column to colour by besides those factored out: the label to look for.

    Without a name, it is the one that is named like that, or the only one that could be a label.
    """
    from ctsne.io.tables import is_of_map

    if other is not None:
        return [other] if other in columns else []
    own = {name: each for name, each in columns.items() if not is_of_map(name, key)}
    found = [name for name in label_columns(own) if name not in known]
    likely = label_to_see(found)
    return found if len(found) == 1 else [likely] if likely is not None else []


def missing_labels(options: Namespace, otherwise: str = "") -> str:
    """Explain that no label is named, with the columns of the input that could be one."""
    from ctsne.io import read_data

    what = f"--labels COLUMN is missing: name the label to factor out{otherwise}"
    try:
        data = read_data(
            options.input,
            label_file=options.label_file,
            use_rep=options.use_rep,
            layer=options.layer,
            features=options.features,
            index=options.index,
            join_on=options.join_on,
        )
    except (ImportError, OSError, TypeError, ValueError):  # reported once the label is named
        return what
    found = candidates(data)
    if not found:
        return f"{what}. {options.input} has no column that looks like a label"
    some = [f"{name} ({labels.n_labels} values)" for name, labels in found.items()][:_SHOWN]
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"{what}. Columns that could be labels: {', '.join(some)}{more}"


def report_command(file: str, settings: Mapping[str, Any], page: str) -> str:
    """Return the command that compares strengths of the same labels on a page."""
    values = {name: value for name, value in settings.items() if value is not None}
    return spell_command(["report", file], {**values, "output": page})


def after_map(data: Input, options: Namespace, settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the commands that look at a map, or compare it with others, by what they are for."""
    from ctsne.cli.plot import plot_command
    from ctsne.io import suffix_of

    suffix = suffix_of(options.output)
    stem = options.output.removesuffix(suffix)
    commands = {}
    if options.plot is None and find_spec("matplotlib") is not None:
        color = None
        if suffix != ".npy":  # which holds positions alone
            known = [*data.factored, *(options.labels or ())]
            seen = second_label(data.dataset.columns, known, options.other, options.key)
            # A combination of columns is drawn by default, but is not stored as a column.
            stored = [name for name in data.factored if name in data.dataset.columns]
            color = [*stored, *seen] if seen and len(stored) == len(data.factored) else None
        picture = plot_command(options.output, f"{stem}.png", key=options.key, color=color)
        commands["to draw the map"] = picture
    if data.factored and options.mixing is None and options.dimensions < 3:
        page = report_command(options.input, settings, f"{stem}-strengths.html")
        commands["to compare strengths"] = page
    return commands
