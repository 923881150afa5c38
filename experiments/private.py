"""Types that occur under one label only, which should stay together when the label is factored out.

Each type is removed from all labels except the one where it is most frequent. In a map with the
label factored out, its points should still be next to their own type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from common import PAIRS, Data, K, load, number, table, write, write_section
from equal_mixing import at_mixing
from numpy.typing import NDArray
from real import JOINT, LARGE, TSNE, make_map, parallel

from ctsne.evaluate import laplacian, map_neighbors, mixing

LEVELS = (0.5, 0.7, 0.85)
FEWEST = 40
REVISED, HARMONY = "revised r", "Harmony"
# Both former defaults, and today's.
JOINTS = (JOINT["none"], JOINT["mutual"], JOINT["local"])
BETAS = (0.1, 1e-2, 1e-3, 1e-4, 1e-8, 1e-20)
STRENGTHS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
# Fewer settings for the largest sets, to save time.
LARGE_BETAS = (0.1, 1e-2, 1e-4, 1e-8)
LARGE_STRENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0)


def run(output: Path) -> None:
    """Map all datasets with each of their types made private, and compare the lines."""
    tasks = [
        (name, kind, line, setting)
        for name in PAIRS
        for kind in private_types(_labelled(load(name)))
        for line, setting in settings_of(name)
    ]
    measured = pd.DataFrame(parallel(_row, tasks))
    write(output / "private.csv", measured.to_csv(index=False, float_format="%.6g"))
    report(measured, output)


def settings_of(name: str) -> list[tuple[str, float | None]]:
    """List line and setting of all maps of a type."""
    strengths = LARGE_STRENGTHS if name in LARGE else STRENGTHS
    betas = LARGE_BETAS if name in LARGE else BETAS
    values = {REVISED: betas, **dict.fromkeys(JOINTS, strengths)}
    along = [(line, float(value)) for line, each in values.items() for value in each]
    return [(TSNE, None), *along, (HARMONY, None)]


def _labelled(data: Data) -> Data:
    """Drop points without a hidden label."""
    known = np.array([each is not None for each in data.hidden])
    return replace(
        data, X=data.X[known], known=data.known[known], hidden=data.hidden[known].astype(str)
    )


def private_types(data: Data) -> list[str]:
    """Return the hidden types with enough points under their most frequent label."""
    counts = pd.crosstab(data.hidden, data.known).max(axis=1)
    return [str(kind) for kind in counts.index[counts >= FEWEST]]


def make_private(data: Data, kind: str) -> Data:
    """Remove a type from all labels except the one where it is most frequent."""
    own = data.hidden == kind
    labels, counts = np.unique(data.known[own], return_counts=True)
    keep = ~own | (data.known == labels[counts.argmax()])
    return replace(data, X=data.X[keep], known=data.known[keep], hidden=data.hidden[keep])


def measure(embedding: NDArray[np.floating], data: Data, kind: str) -> dict[str, float]:
    """Measure the share of wrong neighbours of a type, and the mixing of all other types."""
    found = map_neighbors(embedding, k=K, n_jobs=1)
    own = data.hidden == kind
    rest = np.where(own, None, data.known.astype(object))  # missing labels are not measured
    wrong = np.asarray(laplacian(found, data.hidden, k=K, pointwise=True))[own]
    return {
        "mixing": mixing(found, rest, k=K),
        "wrong": float(wrong.mean()),
    }


def _row(name: str, kind: str, line: str, setting: float | None) -> dict[str, float | str | None]:
    data = make_private(_labelled(load(name)), kind)
    measures = measure(make_map(data, line, setting), data, kind)
    points = int((data.hidden == kind).sum())
    what = {"dataset": name, "type": kind, "points": points, "line": line, "setting": setting}
    return {**what, **measures}


def paths(measured: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the lines of one type; t-SNE is the weak end of the revised line."""
    lines = {line: measured[measured["line"] == line] for line in (REVISED, *JOINTS)}
    lines[REVISED] = pd.concat([measured[measured["line"] == TSNE], lines[REVISED]])
    return lines


def read_types(measured: pd.DataFrame) -> pd.DataFrame:
    """Read the lines of every type at each level within the range of all of them."""
    rows = []
    for (name, kind), part in measured.groupby(["dataset", "type"], sort=False):
        for level in LEVELS:
            values = {
                line: at_mixing(path["mixing"], path["wrong"], level)
                for line, path in paths(part).items()
            }
            if None not in values.values():
                rows.append({"dataset": name, "type": kind, "level": level, **values})
    columns = ["dataset", "type", "level", REVISED, *JOINTS]
    return pd.DataFrame(rows, columns=columns)


def against_harmony(measured: pd.DataFrame) -> pd.DataFrame:
    """Read the joint lines at Harmony's mixing, or at their nearest end."""
    rows = []
    for (name, kind), part in measured.groupby(["dataset", "type"], sort=False):
        point = part[part["line"] == HARMONY].iloc[0]
        row = {"dataset": name, "type": kind, "mixing": point["mixing"], HARMONY: point["wrong"]}
        for line in JOINTS:
            path = paths(part)[line]
            at = float(np.clip(point["mixing"], path["mixing"].min(), path["mixing"].max()))
            row[line] = at_mixing(path["mixing"], path["wrong"], at)
            row[f"{line} at"] = at
        rows.append(row)
    return pd.DataFrame(rows)


def report(measured: pd.DataFrame, output: Path) -> None:
    """Write the section."""
    read, harmony = read_types(measured), against_harmony(measured)
    types = measured.drop_duplicates(["dataset", "type"])
    skipped = [name for name in PAIRS if name not in set(types["dataset"])]
    write_section(
        output,
        "private",
        "## Private populations",
        f"Each hidden type with at least {FEWEST} points under one label was removed from all "
        "other labels, and the label factored out. *Wrong* is the share of the type's 30 nearest "
        "map neighbours that are of another type; *mixing* is that of all other types. One seed, "
        f"{len(types)} types. Points without a hidden label are left out, and "
        f"{' and '.join(LARGE)} have fewer settings. Datasets without such a type: "
        f"{', '.join(skipped) or 'none'}. "
        "Raw values: [private.csv](private.csv).",
        "Mean share of wrong neighbours over the types where the range of all lines includes the "
        "mixing:",
        _levels_table(read, measured),
        _verdict(read),
        "At Harmony's own mixing, mean over types. If that is outside the range of a line, its "
        "nearest end is taken (*ends*: for how many types), which favours a line that ends below:",
        _harmony_table(harmony),
        _harmony_verdict(harmony),
    )


def _levels_table(read: pd.DataFrame, measured: pd.DataFrame) -> str:
    plain = measured[measured["line"] == TSNE].set_index(["dataset", "type"])["wrong"]
    rows = []
    for level in LEVELS:
        here = read[read["level"] == level]
        groups = [(name, here[here["dataset"] == name]) for name in PAIRS]
        for name, part in [*groups, ("**all types**", here)]:
            if len(part) == 0:
                continue
            revised, joint = part[REVISED].mean(), [part[line].mean() for line in JOINTS]
            rows.append(
                [
                    number(level, 2),
                    name,
                    len(part),
                    number(plain.loc[list(zip(part["dataset"], part["type"], strict=True))].mean()),
                    *map(number, (revised, *joint)),
                    *(number(mean / revised, 2) for mean in joint),
                ]
            )
    header = [
        "mixing",
        "dataset",
        "types",
        "t-SNE (unmixed)",
        REVISED,
        *JOINTS,
        *(f"{line} : {REVISED}" for line in JOINTS),
    ]
    return table(header, rows)


def _verdict(read: pd.DataFrame) -> str:
    parts = []
    for level in (0.7, 0.85):
        means = read[read["level"] == level][[REVISED, *JOINTS]].mean()
        ratios = {line: means[line] / means[REVISED] for line in JOINTS}
        said = ", ".join(f"{line} {number(ratio, 2)}" for line, ratio in ratios.items())
        missed = [line for line, ratio in ratios.items() if not ratio <= 0.75]
        parts.append(f"at {number(level, 2)}: {said} ({_held(missed)})")
    return f"Aim: at most .75 of the wrong neighbours of {REVISED}. Ratios {'; '.join(parts)}."


def _held(missed: list[str]) -> str:
    return f"**missed by {' and '.join(missed)}**" if missed else "reached"


def _harmony_table(harmony: pd.DataFrame) -> str:
    groups: Mapping[str, pd.DataFrame] = {
        **{name: harmony[harmony["dataset"] == name] for name in PAIRS},
        "**all types**": harmony,
    }
    rows = []
    for name, part in groups.items():
        if len(part):
            cells = [len(part), number(part["mixing"].mean(), 2), number(part[HARMONY].mean())]
            for line in JOINTS:
                gap = part[line] - part[HARMONY]
                ends = int((part[f"{line} at"] != part["mixing"]).sum())
                cells += [number(part[line].mean()), number(gap.mean()), number(gap.max()), ends]
            rows.append([name, *cells])
    columns = [
        f"{line}{what}" for line in JOINTS for what in ("", ": difference", ": worst", ": ends")
    ]
    return table(["dataset", "types", "mixing", HARMONY, *columns], rows)


def _harmony_verdict(harmony: pd.DataFrame) -> str:
    passed = {line: harmony[harmony[f"{line} at"] == harmony["mixing"]] for line in JOINTS}
    gaps, inner = (
        {line: (part[line] - part[HARMONY]).mean() for line, part in parts.items()}
        for parts in (dict.fromkeys(passed, harmony), passed)
    )
    said, without_ends = (
        ", ".join(f"{line} {number(gap)}" for line, gap in each.items()) for each in (gaps, inner)
    )
    missed = [line for line, gap in gaps.items() if not gap <= 0.01]
    return (
        f"Aim: at most .01 above Harmony on average. Differences: {said} ({_held(missed)}); over "
        f"the types where the line includes Harmony's mixing: {without_ends}."
    )
