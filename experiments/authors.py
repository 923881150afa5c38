"""Compare our scores with the authors' tables: cell by cell, and over neighbourhood sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import common
import pandas as pd
from figure5_setup import AUTHORS, COMMON, MEASURES, SPREAD


def compare(
    scores: pd.DataFrame, authors: pd.DataFrame, lines: Mapping[str, str] = AUTHORS
) -> pd.DataFrame:
    """Return one row per cell of the authors' table and line of ours to compare.

    ``scores`` has one row per line, setting and repeat. Cells of settings that we did not compute
    are left out.
    """
    rows = []
    for line, theirs in lines.items():
        spread = SPREAD[theirs.split()[0]]
        for _, cell in authors[authors["line"] == theirs].iterrows():
            ours = scores[at(scores, line, cell["beta"])]
            if ours.empty:
                continue
            for measure, (column, _) in MEASURES.items():
                difference = ours[measure].mean() - cell[column]
                rows.append(
                    {
                        "line": line,
                        "beta": cell["beta"],
                        "measure": measure,
                        "authors": cell[column],
                        "ours": ours[measure].to_numpy(),
                        "difference": difference,
                        "within": abs(difference) <= spread[measure],
                    }
                )
    return pd.DataFrame(rows)


def at(scores: pd.DataFrame, line: str, beta: float) -> pd.Series:
    """Return which rows have this setting."""
    return (scores["line"] == line) & (scores["setting"] == beta)


def summary(compared: pd.DataFrame, repeats: str = "seeds") -> str:
    """State the rule, count the cells within it per line, and list those outside."""
    rows = []
    for line, own in compared.groupby("line", sort=False):
        row = [line]
        for measure in MEASURES:
            cells = own[own["measure"] == measure]
            worst = cells.loc[cells["difference"].abs().idxmax()]
            row += [
                f"{cells['within'].sum()} of {len(cells)}",
                f"{common.difference(worst['difference'], 0)} at {worst['beta']:g}",
            ]
        rows.append(row)
    header = ["line"]
    for _, name in MEASURES.values():
        header += [f"{name}: within", "largest difference"]
    fair = compared[compared["line"] != COMMON]
    outside = fair[~fair["within"]]
    return "\n\n".join(
        [
            f"A cell is one β and one score. It is *within* if the mean of our {repeats} differs "
            "from the authors' single run by no more than their own runs differ by seed: "
            f"{_spread_text('revised')} for the revised method, {_spread_text('original')} for the "
            "original.",
            common.table(header, rows),
            "With starts like the authors' (without the common start), "
            f"{len(fair) - len(outside)} of {len(fair)} cells are within, {len(outside)} outside. "
            + _outside_text(outside),
        ]
    )


def _spread_text(method: str) -> str:
    spread = SPREAD[method]
    return (
        f"{common.number(spread['adjusted_rnx'])} in R_NX and "
        f"{common.number(spread['laplacian'])} in the Laplacians"
    )


def _outside_text(outside: pd.DataFrame) -> str:
    parts = [
        f"{line}, {MEASURES[measure][1]}: "
        + ", ".join(
            f"{common.difference(cell.difference, 0)} at β = {cell.beta:g}"
            for cell in cells.itertuples()
        )
        for (line, measure), cells in outside.groupby(["line", "measure"], sort=False)
    ]
    return "**Outside:** " + "; ".join(parts) + "." if parts else ""


def full_tables(compared: pd.DataFrame) -> list[str]:
    """Return all cells, as one folded table per line."""
    header = ["β"]
    for _, name in MEASURES.values():
        header += [f"{name}: authors", "ours", "difference"]
    parts = []
    for line, cells in compared.groupby("line", sort=False):
        rows = []
        for beta, row_cells in cells.groupby("beta", sort=False):
            row = [f"{beta:g}"]
            for cell in row_cells.itertuples():
                row += [
                    common.number(cell.authors),
                    common.mean_and_spread(cell.ours),
                    common.difference(cell.difference, 0),
                ]
            outside = [
                MEASURES[measure][1] for measure in row_cells["measure"][~row_cells["within"]]
            ]
            rows.append([*row, "not " + ", ".join(outside) if outside else "all"])
        parts.append(
            f"<details><summary>{line}: every β</summary>\n\n"
            + common.table([*header, "within"], rows)
            + "\n\n</details>"
        )
    return parts


def curve_table(curves: pd.DataFrame) -> str:
    """Return the mean and largest difference of our curves and the authors', per line."""
    rows: list[list[Any]] = []
    for line, part in curves.groupby("line", sort=False):
        row = [line]
        for measure in MEASURES:
            difference = part[measure] - part[f"authors_{measure}"]
            worst = part.loc[difference.abs().idxmax()]
            row += [
                common.number(difference.abs().mean()),
                f"{common.difference(worst[measure], worst[f'authors_{measure}'])} "
                f"at k = {worst['k']}, β = {worst['beta']:g}",
            ]
        rows.append(row)
    header = ["line"]
    for _, name in MEASURES.values():
        header += [f"{name}: mean difference", "largest"]
    return common.table(header, rows)
