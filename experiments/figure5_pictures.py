"""Draw scores, trade-offs and curves next to the authors': Figure 5 and those of the cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from figure5_setup import ALIKE, AUTHORS, MEASURES
from strength_chart import draw_measure, draw_trade_off


def draw_scores(
    scores: pd.DataFrame,
    authors: pd.DataFrame,
    random: float,
    over_strength: Sequence[str] = ("balanced", "joint"),
) -> Any:
    """Draw the scores over beta, one row of panels per line of the authors, then over strength."""
    from matplotlib import pyplot as plt

    theirs = list(dict.fromkeys(AUTHORS.values()))
    figure, axes = plt.subplots(
        len(theirs) + 1, len(MEASURES), figsize=(14, 3.1 * (len(theirs) + 1)), sharey="col"
    )
    expected = {"laplacian": random}
    for row, line in zip(axes, theirs, strict=False):
        ours = [name for name, other in AUTHORS.items() if other == line]
        for ax, (measure, (column, title)) in zip(row, MEASURES.items(), strict=True):
            rows = authors[authors["line"] == line]
            strengths, values = {"authors": rows["beta"]}, {"authors": rows[column]}
            for name in ours:
                label = name.replace(line, "ours")
                strengths[label], values[label] = _by_setting(scores, name, measure)
            draw_measure(
                strengths, values, ax, expected=expected.get(measure), xlabel="β", ylabel=title
            )
        row[0].set_title(line, loc="left", fontweight="bold")
    for ax, (measure, (_, title)) in zip(axes[-1], MEASURES.items(), strict=True):
        pairs = {name: _by_setting(scores, name, measure) for name in over_strength}
        strengths, values = ({name: pair[i] for name, pair in pairs.items()} for i in (0, 1))
        draw_measure(
            strengths, values, ax, expected=expected.get(measure), xlabel="strength", ylabel=title
        )
    axes[-1, 0].set_title(" and ".join(over_strength), loc="left", fontweight="bold")
    _finish(figure, axes)
    return figure


def draw_trade_offs(means: pd.DataFrame, authors: pd.DataFrame) -> Any:
    """Draw both trade-offs, the authors' and ours."""
    from matplotlib import pyplot as plt

    names = list(dict.fromkeys(means.index.get_level_values("line")))
    figure, axes = plt.subplots(2, 2, figsize=(11, 8.4), sharex=True, sharey="row")
    for row, measure in zip(axes, ("adjusted_rnx", "other_laplacian"), strict=True):
        for ax, source in zip(row, ("authors", "ours"), strict=True):
            values = {
                name: _ours(means, name) if source == "ours" else _theirs(authors, ALIKE.get(name))
                for name in names
            }
            x, y = (
                {name: table[each].to_numpy() for name, table in values.items()}
                for each in ("laplacian", measure)
            )
            titles = {"xlabel": MEASURES["laplacian"][1], "ylabel": MEASURES[measure][1]}
            draw_trade_off(x, y, ax, **titles)
            ax.set_title(source, loc="left", fontweight="bold")
    _finish(figure, axes)
    return figure


def draw_curves(curves: pd.DataFrame, beta: float) -> Any:
    """Draw the scores over neighbourhood sizes at one beta."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(
        len(MEASURES), len(ALIKE), figsize=(13, 8.4), sharex=True, sharey="row"
    )
    for column, line in zip(axes.T, ALIKE, strict=True):
        rows = curves[(curves["line"] == line) & (curves["beta"] == beta)]
        for ax, (measure, (_, title)) in zip(column, MEASURES.items(), strict=True):
            values = {"authors": rows[f"authors_{measure}"], "ours": rows[measure]}
            sizes = dict.fromkeys(values, rows["k"])
            draw_measure(sizes, values, ax, xlabel="k", ylabel=title)
            ax.set_xscale("log")
        column[0].set_title(f"{line}, β = {beta:g}", loc="left", fontweight="bold")
    _finish(figure, axes)
    return figure


def _by_setting(scores: pd.DataFrame, line: str, measure: str) -> tuple[Any, Any]:
    """Return the settings of a line, and a measure by seed and setting."""
    rows = scores[scores["line"] == line]
    values = rows.pivot(index="seed", columns="setting", values=measure)
    return values.columns.to_numpy(), values.to_numpy()


def _ours(means: pd.DataFrame, line: str) -> pd.DataFrame:
    """Return the means of a line, the weakest setting first."""
    return means.loc[line].sort_index(ascending=line.startswith(("balanced", "joint")))


def _theirs(authors: pd.DataFrame, line: str | None) -> pd.DataFrame:
    """Return the authors' values of a line under our names; NaN if they have no such line."""
    names = {column: measure for measure, (column, _) in MEASURES.items()}
    rows = authors[authors["line"] == line].rename(columns=names)[list(MEASURES)]
    return rows if len(rows) else pd.DataFrame({measure: [np.nan] for measure in MEASURES})


def _finish(figure: Any, axes: Any) -> None:
    """Keep only the legend of the last panel of each row, and adjust the layout."""
    for ax in axes[:, :-1].ravel():
        ax.get_legend().remove()
    figure.tight_layout()
