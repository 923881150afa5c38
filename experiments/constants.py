"""The constants and parts of ``joint``, changed one at a time, at equal mixing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from common import difference, load, number, table, write, write_section
from equal_mixing import at_mixing
from private import make_private, private_types
from private import measure as measure_private
from real import JOINT, make_map, measure, parallel

from ctsne.affinity.weights import joint_share

DATASETS = ("synthetic", "kang_muscat", "isolet", "pancreas3")
STRENGTHS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
LEVELS = (0.5, 0.7, 0.85)
AS_IS = "as it is"


def way(reach: float, power: float) -> Callable[[Any, Any, float], float]:
    """Return how far the mean share moves towards a random one: a factor, and a power of s."""
    return lambda share, column, s: joint_share(share, column, reach * s**power)


# What is changed: a constant or a function, in the modules that use it, and its value.
VARIANTS: dict[str, tuple[str, Any] | None] = {
    AS_IS: None,
    "odds of 1: similarities alone": ("ctsne.affinity.weights.ODDS_DECADES", 0.0),
    "odds up to 10": ("ctsne.affinity.weights.ODDS_DECADES", 1.0),
    "odds up to 1000": ("ctsne.affinity.weights.ODDS_DECADES", 3.0),
    "natural shares: repulsion alone": ("ctsne.affinity.shares.joint_share", way(0.0, 1.0)),
    "shares .65 of the way": ("ctsne.affinity.shares.joint_share", way(0.65, 1.0)),
    "shares .65 of the way, power .75": ("ctsne.affinity.shares.joint_share", way(0.65, 0.75)),
    "matching ignored": ("ctsne.affinity.shares.LEAST_MATCHED", 1.0),
    "least matched .2": ("ctsne.affinity.shares.LEAST_MATCHED", 0.2),
    "rows of 3 u neighbours": (
        "ctsne.neighbors.lists.JOINT_LENGTH",
        3.0,
    ),
}
# Types that only one label has, with and without matching.
PRIVATE = {"kang_muscat": (AS_IS, "matching ignored"), "synthetic": (AS_IS, "matching ignored")}
MEASURES = {"rnx": "R_NX", "area": "area", "other_laplacian": "Laplacian"}


def run(output: Path) -> None:
    """Map the datasets with every variant, and compare at equal mixing."""
    tasks = [(name, each, s) for name in DATASETS for each in VARIANTS for s in STRENGTHS]
    measured = pd.DataFrame(parallel(_row, tasks))
    types = [
        (name, kind, each, s)
        for name, variants in PRIVATE.items()
        for kind in private_types(load(name))
        for each in variants
        for s in STRENGTHS
    ]
    private = pd.DataFrame(parallel(_private_row, types))
    for file, rows in {"constants": measured, "constants_private": private}.items():
        write(output / f"{file}.csv", rows.to_csv(index=False, float_format="%.6g"))
    report(measured, private, output)


@contextmanager
def changed(variant: str) -> Iterator[None]:
    """Change a constant of the package for a while."""
    change = VARIANTS[variant]
    if change is None:
        yield
        return
    names, value = change
    with ExitStack() as stack:
        for name in names.split():
            stack.enter_context(patch(name, value))
        yield


def _row(name: str, variant: str, strength: float) -> dict[str, Any]:
    with changed(variant):
        embedding = make_map(load(name), JOINT["none"], strength)
    found = measure(embedding, load(name))
    return {"dataset": name, "variant": variant, "strength": strength, **found}


def _private_row(name: str, kind: str, variant: str, strength: float) -> dict[str, Any]:
    data = make_private(load(name), kind)
    with changed(variant):
        embedding = make_map(data, JOINT["none"], strength)
    what = {"dataset": name, "type": kind, "variant": variant, "strength": strength}
    return {**what, **measure_private(embedding, data, kind)}


def differences(measured: pd.DataFrame, variant: str) -> pd.DataFrame:
    """Return a variant minus ``joint`` as it is, for all datasets and levels that both reach."""
    rows = []
    for name, part in measured.groupby("dataset", sort=False):
        ours = part[part["variant"] == AS_IS]
        other = part[part["variant"] == variant]
        for level in LEVELS:
            cell: dict[str, Any] = {"dataset": name, "level": level}
            for value in MEASURES:
                one = at_mixing(other["mixing"], other[value], level)
                two = at_mixing(ours["mixing"], ours[value], level)
                cell[value] = np.nan if one is None or two is None else one - two
            rows.append(cell)
    return pd.DataFrame(rows).dropna()


def report(measured: pd.DataFrame, private: pd.DataFrame, output: Path) -> None:
    """Write the section."""
    most = measured.groupby(["variant", "dataset"], sort=False)["mixing"].max().unstack()
    rows = []
    for variant in VARIANTS:
        found = differences(measured, variant)
        cells = ["–" if variant == AS_IS else _mean_and_worst(found[each]) for each in MEASURES]
        reached = [number(each, 2) for each in most.loc[variant, list(DATASETS)]]
        rows.append([variant, len(found), *cells, " ".join(reached)])
    write_section(
        output,
        "constants",
        "## Constants of joint",
        "One constant or part of `joint` changed at a time: the mean difference from `joint` as "
        "it is, and the worst, at a mixing of "
        f"{', '.join(number(level, 2) for level in LEVELS)} on {', '.join(DATASETS)}, over the "
        "cells that both reach; R_NX and area: higher is better, Laplacian of the hidden label: "
        "lower is better. *Most mixing* is that at strength 1 or below, for each dataset. "
        "One seed, so differences below .005 mean little. "
        "Raw values: [constants.csv](constants.csv).",
        table(["variant", "cells", *MEASURES.values(), "most mixing"], rows),
        "Types that only one label has, as in the section on private populations: mean share of "
        "wrong neighbours over the types that both reach. "
        "Raw values: [constants_private.csv](constants_private.csv).",
        _private_table(private),
    )


def _mean_and_worst(values: pd.Series) -> str:
    worst = values.max() if values.name == "other_laplacian" else values.min()
    return f"{difference(values.mean(), 0)} / {difference(worst, 0)}"


def _private_table(private: pd.DataFrame) -> str:
    rows = []
    for name in PRIVATE:
        for level in LEVELS:
            pairs = []
            for _, part in private[private["dataset"] == name].groupby("type", sort=False):
                both = [
                    at_mixing(each["mixing"], each["wrong"], level)
                    for each in (part[part["variant"] == v] for v in PRIVATE[name])
                ]
                if None not in both:
                    pairs.append(both)
            if pairs:
                means = np.mean(np.array(pairs, float), axis=0)
                rows.append([name, number(level, 2), len(pairs), *map(number, means)])
    return table(["dataset", "mixing", "types", AS_IS, "matching ignored"], rows)
