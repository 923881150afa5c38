"""Tables and figures of the comparison on real data, from the raw measures that `real.py` left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from common import LINES, number, table, write_section
from equal_mixing import (
    SHARES,
    Line,
    Standing,
    is_monotone,
    make_line,
    place,
    point_place,
    span,
    standing,
)
from real import PAIRS, TSNE, YARDSTICKS, csv_path, what_was_computed
from real_figures import draw_trade_off
from real_words import PAPER, duel, lost_duels, share_text, standing_sentence, tally, verdict

__all__ = ["lines_of", "run"]

HOPE = "joint"
_MEASURES = ("mixing", "adjusted_rnx", "other_laplacian")


def run(output: Path) -> None:
    """Write the section from the files of measures that are there."""
    measured = {
        name: pd.read_csv(csv_path(output, name))
        for name in PAIRS
        if csv_path(output, name).exists()
    }
    if not measured:
        raise FileNotFoundError(
            f"there are no measures in {output}: compute them with run.py real first"
        )
    lines = {name: lines_of(each, LINES) for name, each in measured.items()}
    points = {name: lines_of(each, (TSNE, *YARDSTICKS)) for name, each in measured.items()}
    standings = {name: [standing(each, share) for share in SHARES] for name, each in lines.items()}
    asked = {
        name: [found for found in each if found.share > _unconditioned(points[name])]
        for name, each in standings.items()
    }
    write_section(
        output,
        "real_tables",
        "## Real data: the methods at equal mixing",
        _introduction(lines, measured),
        *what_was_computed(output),
        "### All datasets together",
        *_summary(asked),
        *_against_yardsticks(lines, points),
        *(
            part
            for name in measured
            for part in _dataset(output, name, lines[name], points[name], standings[name])
        ),
    )


def lines_of(
    measured: pd.DataFrame, names: Sequence[str] | Mapping[str, object]
) -> dict[str, Line]:
    """Take lines out of a table of raw measures, settings in the order of the table.

    Parameters
    ----------
    measured : pandas.DataFrame
        What `real.compute` returns.
    names : iterable of str
        Of the lines; those without a map are left out.

    Returns
    -------
    dict of str to Line
    """
    lines = {}
    for name in names:
        rows = measured[measured["line"] == name]
        # A yardstick has no setting, and missing values would be no group.
        rows = rows.assign(setting=rows["setting"].fillna(0.0))
        if rows["mixing"].notna().any():
            order = rows["setting"].drop_duplicates()
            grids = [rows.pivot(index="seed", columns="setting", values=m) for m in _MEASURES]
            lines[name] = make_line(*(grid[order] for grid in grids))
    return lines


def _unconditioned(points: Mapping[str, Line]) -> float:
    """Return the mixing of t-SNE; up to there nothing needs to be factored out."""
    return span(points[TSNE])[1] if TSNE in points else 0.0


def _introduction(
    lines: Mapping[str, Mapping[str, Line]], measured: Mapping[str, pd.DataFrame]
) -> str:
    seeds = sorted({int(seed) for each in measured.values() for seed in each["seed"]})
    back = [
        f"{line} on {name}"
        for name, each in lines.items()
        for line, settings in each.items()
        if not is_monotone(settings)
    ]
    missing = [name for name in PAIRS if name not in measured]
    text = [
        "*Mixing* is the Laplacian of the label factored out as a share of what random labels "
        "would give, *R_NX* the label-adjusted share of neighbours kept (higher is better), "
        "*Laplacian* that of the label looked for (lower is purer). Every method is a line through "
        f"its settings, averaged over {len(seeds)} seeds and read at equal mixing by straight "
        "lines between settings; the settings are taken in order of their mixing, which along "
        f"{len(back)} of {sum(map(len, lines.values()))} lines is not that of their strength. "
        "Two methods are tied where their ranges over the seeds overlap or the three digits shown "
        "are the same; a method *dominates* if it is best in both measures without a tie. In the "
        "tables the best and those tied with it are bold, – marks a share that no setting reaches "
        "and < one that every setting exceeds. No setting was tuned for a dataset.",
        "The yardsticks have no strength, so each is a point: Harmony, then t-SNE of its corrected "
        "components; and t-SNE of a batch-balanced neighbour graph as in bbknn, once with weights "
        "calibrated to the perplexity, once with equal weights. The second was added after the "
        "first had been seen to mix little: calibrated weights leave the mass on neighbours of the "
        "own label. R_NX counts neighbours in the data as they are, not as Harmony corrects them.",
    ]
    if missing:
        text.append(f"**Not computed yet: {', '.join(missing)}.**")
    return "\n\n".join(text)


def _summary(standings: Mapping[str, Sequence[Standing]]) -> list[str]:
    every = [found for each in standings.values() for found in each]
    methods = [m for m in LINES if any(m in (*f.places, *f.short, *f.past) for f in every)]
    contested = [found for found in every if found.contested]
    rows = [
        [
            method,
            *(sum(method not in f.short for f in every if f.share == share) for share in SHARES),
            sum(method in f.keeps_most for f in contested),
            sum(f.keeps_most == (method,) for f in contested),
            sum(method in f.purest for f in contested),
            sum(f.purest == (method,) for f in contested),
            sum(f.dominant == method for f in contested),
        ]
        for method in methods
    ]
    header = [
        "method",
        *(
            f"reaches {share_text(share)} (of {sum(f.share == share for f in every)})"
            for share in SHARES
        ),
        "most R_NX",
        "alone",
        "purest",
        "alone",
        "dominates",
    ]
    parts = [
        " ".join(verdict(standings, hope=HOPE)),
        "On how many of the datasets each method reaches a share, where t-SNE does not, and how "
        f"often it is best, or tied with the best, of the {len(contested)} comparisons with two "
        "methods or more:",
        table(header, rows),
        f"{HOPE} against each other method where both can be read (better : tied : worse), and "
        "revised r, which the paper proposes, against original:",
        table(["", "R_NX", "purity"], _duels(standings, methods)),
        _papers_claim(standings),
    ]
    lost = lost_duels(standings, HOPE, PAPER)
    if lost:
        parts.append(
            f"Against our hopes, {HOPE} is worse than one of the papers' methods here:\n\n"
            + "\n".join(f"- {each}" for each in lost)
        )
    else:
        parts.append(f"{HOPE} is nowhere worse than one of the papers' methods, beyond ties.")
    return parts


def _duels(standings: Mapping[str, Sequence[Standing]], methods: Sequence[str]) -> list[list[str]]:
    pairs = [(HOPE, method) for method in methods if method != HOPE] + [("revised r", "original")]
    return [
        [f"{one} : {two}", *(" : ".join(map(str, counts)) for counts in duel(standings, one, two))]
        for one, two in pairs
    ]


def _against_yardsticks(
    lines: Mapping[str, Mapping[str, Line]], points: Mapping[str, Mapping[str, Line]]
) -> list[str]:
    """Compare each yardstick, where it happens to mix, with the hoped-for line."""
    rows = []
    for yardstick in YARDSTICKS:
        made = [name for name in lines if yardstick in points[name] and HOPE in lines[name]]
        own = {name: point_place(points[name][yardstick]) for name in made}
        there = {name: place(lines[name][HOPE], own[name][0]) for name in made}
        counts = tally((line, own[name][1]) for name, line in there.items() if line is not None)
        beyond = sum(own[name][0] > span(lines[name][HOPE])[1] for name in made)
        rows.append(
            [f"{HOPE} : {yardstick}", *(" : ".join(map(str, each)) for each in counts), beyond]
        )
    return [
        f"{HOPE} against the yardsticks, each at the mixing the yardstick has (better : tied : "
        "worse), and on how many datasets the yardstick mixes more than any setting of "
        f"{HOPE}:",
        table(["", "R_NX", "purity", "beyond"], rows),
    ]


def _papers_claim(standings: Mapping[str, Sequence[Standing]]) -> str:
    """Hold the paper's finding on pancreas cells against every dataset."""
    agree, total = 0, 0
    for each in standings.values():
        kept, pure = duel({"": each}, "original", "revised r")
        if sum(kept):
            total += 1
            agree += kept[0] > kept[2] and pure[2] > pure[0]
    if not total:
        return "original and revised r reach no share together, so the paper's claim is not tested."
    return (
        "The paper found on its pancreas data that original keeps more neighbours at equal mixing "
        "and revised is purer. Of the datasets where both can be read at some share, that is so, "
        f"more often than the opposite in both measures, on {agree} of {total}."
    )


def _dataset(
    output: Path,
    name: str,
    lines: Mapping[str, Line],
    points: Mapping[str, Line],
    standings: Sequence[Standing],
) -> list[str]:
    pair = PAIRS[name]
    rows = [
        [method, *(_cell(method, found) for found in standings), number(span(line)[1], 2)]
        for method, line in lines.items()
    ]
    header = ["R_NX / Laplacian at", *(share_text(share) for share in SHARES), "most mixing"]
    return [
        f"### {name}: without {pair.known}, looking for {pair.hidden}",
        draw_trade_off(output, name, lines, points),
        table(header, rows),
        "\n".join(f"- {_sentence(name, found, _unconditioned(points))}" for found in standings),
        "Single points, and the lines at their mixing (R_NX / Laplacian):",
        _points_table(lines, points),
    ]


def _sentence(name: str, found: Standing, unconditioned: float) -> str:
    if found.share > unconditioned:
        return standing_sentence(name, found)
    return (
        f"On {name} at {share_text(found.share)}: t-SNE alone mixes {number(unconditioned, 2)}, so "
        "nothing needs to be factored out; not counted."
    )


def _cell(method: str, found: Standing) -> str:
    there = found.places.get(method)
    if there is None:
        return "<" if method in found.past else "–"
    kept, impure = number(there.kept.value), number(there.impure.value)
    if found.contested and method in found.keeps_most:
        kept = f"**{kept}**"
    if found.contested and method in found.purest:
        impure = f"**{impure}**"
    return f"{kept} / {impure}"


def _points_table(lines: Mapping[str, Line], points: Mapping[str, Line]) -> str:
    """Write each yardstick with the best and the hoped-for line at the same mixing."""
    rows = []
    for name, point in points.items():
        mixing, own = point_place(point)
        there = {method: place(line, mixing) for method, line in lines.items()}
        found = {method: each for method, each in there.items() if each is not None}
        most = max(found, key=lambda m: found[m].kept.value, default=None)
        pure = min(found, key=lambda m: found[m].impure.value, default=None)
        rows.append(
            [
                name,
                f"{number(mixing, 2)} ({number(np.nanmin(point.mixing), 2)}"
                f" to {number(np.nanmax(point.mixing), 2)})",
                f"{number(own.kept.value)} / {number(own.impure.value)}",
                "–"
                if HOPE not in found
                else f"{number(found[HOPE].kept.value)} / {number(found[HOPE].impure.value)}",
                "–" if most is None else f"{number(found[most].kept.value)} ({most})",
                "–" if pure is None else f"{number(found[pure].impure.value)} ({pure})",
            ]
        )
    return table(
        ["method", "mixing (seeds)", "R_NX / Laplacian", HOPE, "most R_NX of a line", "purest"],
        rows,
    )
