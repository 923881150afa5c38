"""Check the paper's claims about Figure 5, and compare the lines at equal mixing."""

from __future__ import annotations

from collections.abc import Mapping

import common
import numpy as np
import pandas as pd
from equal_mixing import SHARES, Line, Standing, at_mixing, compare, make_line, standing
from figure5_setup import AUTHORS, COMMON, LINES, MEASURES, RANDOM, SPREAD


def check_claims(means: pd.DataFrame, random: float) -> str:
    """Check the paper's statements about its figure against the means of our lines."""
    number = common.number
    tsne = means.loc[COMMON, 1]
    peaks = {line: means.loc[line]["laplacian"].idxmax() for line in AUTHORS}
    most = {line: means.loc[(line, peaks[line])] for line in AUTHORS}
    claims = [
        (
            "The Laplacian (colour) of t-SNE is 0",
            tsne["laplacian"] < 0.0005,
            f"it is {number(tsne['laplacian'])}",
        )
    ]
    for line in ("revised p", "revised r"):
        end = means.loc[(line, 1e-30), "laplacian"]
        claims.append(
            (
                f"Revised ct-SNE converges to random mixing ({line})",
                abs(end - random) < SPREAD["revised"]["laplacian"],
                f"{number(end)} at β = 1e-30; random labels: {number(random)}",
            )
        )
    for line in (RANDOM, COMMON):
        claims += [
            (
                f"Original ct-SNE mixes colours less ({line})",
                most[line]["laplacian"] < most["revised r"]["laplacian"],
                f"{number(most[line]['laplacian'])} at its best β = {peaks[line]:g}; revised r: "
                f"{number(most['revised r']['laplacian'])}",
            ),
            (
                f"Original ct-SNE mixes shapes, too ({line})",
                most[line]["other_laplacian"]
                > most["revised r"]["other_laplacian"] + SPREAD["revised"]["other_laplacian"],
                f"{number(most[line]['other_laplacian'])} there; revised r: "
                f"{number(most['revised r']['other_laplacian'])}",
            ),
        ]
        for revised in ("revised p", "revised r"):
            levels = np.arange(0.05, 0.5, 0.05)
            read = [
                [
                    at_mixing(means.loc[each]["laplacian"], means.loc[each]["adjusted_rnx"], level)
                    for each in (line, revised)
                ]
                for level in levels
            ]
            gains = [b - a for a, b in read if a is not None and b is not None]
            if not gains:  # nothing to compare
                continue
            claims.append(
                (
                    f"At equal Laplacian (colour), {revised} keeps more neighbours than {line}",
                    min(gains) > 0,
                    f"R_NX higher by {number(min(gains))} to {number(max(gains))} at "
                    f"{len(gains)} levels that both reach",
                )
            )
    return common.checked(claims)


def compare_at_equal_mixing(scores: pd.DataFrame, random: float) -> str:
    """Compare all lines at equal mixing of the known label."""
    lines = {line: _line(scores[scores["line"] == line], random) for line in LINES}
    found = {share: standing(lines, share) for share in SHARES}
    rows = []
    for line in LINES:
        row = [line]
        for there in found.values():
            if line not in there.places:
                row.append("–")
                continue
            place = there.places[line]
            kept = common.number(place.kept.value)
            kept = f"**{kept}**" if line in there.keeps_most else kept
            row.append(f"{kept} / {common.number(place.impure.value)}")
        most = float(np.nanmax(np.nanmean(lines[line].mixing, axis=0)))
        rows.append([*row, common.number(most, 2)])
    return "\n\n".join(
        [
            "R_NX / Laplacian hidden at a given mixing of the known label, interpolated between "
            "settings; “–” where no setting mixes that far. Bold: most neighbours kept, or tied "
            "with the most over the seeds.",
            common.table(["line", *(f"{share:.2f}" for share in SHARES), "most mixing"], rows),
            "Compared with the better of the two revised lines (as many: the ranges over the seeds "
            "overlap), "
            + "; ".join(_against_revised(found, line) for line in ("balanced", "joint"))
            + ".",
        ]
    )


def _against_revised(found: Mapping[float, Standing], line: str) -> str:
    """Describe where a method keeps more neighbours than the two revised lines."""
    words = {1: "more", 0: "as many", -1: "fewer"}
    shares: dict[str, list[str]] = {}
    for share, there in found.items():
        if line in there.places:
            kept = [
                compare(there.places[line], there.places[other])[0]
                for other in ("revised p", "revised r")
                if other in there.places
            ]
            shares.setdefault(words[min(kept, default=1)], []).append(f"{share:.2f}")
    return f"`{line}` keeps " + ", ".join(
        f"{word} neighbours at {' and '.join(at)}" for word, at in shares.items()
    )


def _line(part: pd.DataFrame, random: float) -> Line:
    columns = [part.pivot(index="seed", columns="setting", values=measure) for measure in MEASURES]
    kept, known, hidden = (each.to_numpy() for each in columns)
    return make_line(known / random, kept, hidden)
