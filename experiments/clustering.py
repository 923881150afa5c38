"""Leiden clusters of the conditioned graph, next to those of other graphs.

Nothing is chosen by the result: for every graph, the resolution is the one whose number of clusters
is nearest to the number of hidden types.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import PAIRS, Data, load, mean_and_spread, number, table, write, write_section
from real import parallel
from yardsticks import harmony_correct

from ctsne import tl

# Of the largest datasets, this many points drawn at random.
MOST_POINTS = 5000
RESOLUTIONS = tuple(float(f"{each:.3g}") for each in np.geomspace(0.02, 4, 24))
SEEDS = range(3)
# The map itself is not needed for a graph, unless its mixing is to be measured.
ONLY_GRAPH = {"n_iter": 1, "early_exaggeration_iter": 0}
FEATURES, BATCH, GRAPH = "X_pca", "batch", "graph"
PLAIN, HARMONY, BBKNN, DEFAULT = "scanpy", "Harmony", "bbknn", "ctsne"


def run(output: Path) -> None:
    """Cluster every graph of all datasets."""
    tasks = [(name, graph) for name in PAIRS for graph in GRAPHS]
    rows = [row for part in parallel(_rows, tasks) for row in part]
    clustered = pd.DataFrame(rows)
    write(output / "clustering.csv", clustered.to_csv(index=False, float_format="%.6g"))
    report(clustered, output)


def plain_graph(adata: Any) -> None:
    """Make scanpy's graph of the 15 nearest neighbours."""
    import scanpy as sc

    sc.pp.neighbors(adata, use_rep=FEATURES, key_added=GRAPH)


def harmony_graph(adata: Any) -> None:
    """Make scanpy's graph of components corrected with Harmony."""
    import scanpy as sc

    adata.obsm["corrected"] = harmony_correct(adata.obsm[FEATURES], adata.obs[BATCH])
    sc.pp.neighbors(adata, use_rep="corrected", key_added=GRAPH)


def bbknn_graph(adata: Any) -> None:
    """Make the graph of bbknn with its defaults: three neighbours from each label."""
    import bbknn

    bbknn.bbknn(adata, batch_key=BATCH, use_rep=FEATURES, key_added=GRAPH)


def conditioned(**parameters: Any) -> Callable[[Any], None]:
    """Return a function that makes the conditioned graph."""

    def make(adata: Any) -> None:
        quick = {} if "mixing" in parameters else ONLY_GRAPH
        tl.ctsne(adata, BATCH, store_graph=True, n_jobs=1, **{**quick, **parameters})
        adata.uns[GRAPH] = adata.uns["ctsne_neighbors"]

    return make


GRAPHS: dict[str, Callable[[Any], None]] = {
    PLAIN: plain_graph,
    BBKNN: bbknn_graph,
    HARMONY: harmony_graph,
    DEFAULT: conditioned(),
    "ctsne, strength 0": conditioned(strength=0.0),
    "ctsne, strength 1": conditioned(strength=1.0),
    "ctsne, mixing .7": conditioned(mixing=0.7),
    "ctsne, mutual": conditioned(align="mutual"),
    "ctsne, mutual, strength 1": conditioned(align="mutual", strength=1.0),
}


@lru_cache(maxsize=1)
def sample(name: str) -> Data:
    """Load a dataset, or a random part of a large one."""
    data = load(name)
    n = len(data.X)
    if n <= MOST_POINTS:
        return data
    chosen = np.sort(np.random.default_rng(0).choice(n, MOST_POINTS, replace=False))
    return replace(data, X=data.X[chosen], known=data.known[chosen], hidden=data.hidden[chosen])


def _rows(name: str, graph: str) -> list[dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unmatched points, and of what scanpy will change
        return [{"dataset": name, "graph": graph, **row} for row in clusters(sample(name), graph)]


def clusters(data: Data, graph: str) -> list[dict[str, float]]:
    """Return clusters and scores of one graph for all resolutions and seeds."""
    import anndata
    import scanpy as sc
    from sklearn.metrics import adjusted_rand_score

    adata = anndata.AnnData(
        obs=pd.DataFrame({BATCH: data.known.astype(str)}).set_index(
            np.arange(len(data.X)).astype(str)
        ),
        obsm={FEATURES: np.asarray(data.X, np.float32)},
    )
    GRAPHS[graph](adata)
    typed = np.array([each is not None for each in data.hidden])
    types = data.hidden[typed].astype(str)
    n_types = len(np.unique(types))
    rows = []
    for seed in SEEDS:
        for resolution in RESOLUTIONS:
            sc.tl.leiden(
                adata,
                resolution,
                neighbors_key=GRAPH,
                random_state=seed,
                flavor="igraph",
                n_iterations=2,
                directed=False,
            )
            found = adata.obs["leiden"].to_numpy()
            n_found = len(np.unique(found))
            rows.append(
                {
                    "seed": seed,
                    "resolution": resolution,
                    "clusters": n_found,
                    "types": n_types,
                    "ari_type": adjusted_rand_score(types, found[typed]),
                    "ari_batch": adjusted_rand_score(data.known, found),
                }
            )
            if n_found > 2 * n_types:  # only more from here on
                break
    return rows


def choose(clustered: pd.DataFrame) -> pd.DataFrame:
    """Keep the resolution with the most fitting number of clusters, and the best score of all."""
    keys = ["dataset", "graph", "seed"]
    best = clustered.groupby(keys, sort=False)["ari_type"].max().rename("highest")
    off = (clustered["clusters"] - clustered["types"]).abs()
    chosen = clustered.loc[off.groupby([clustered[key] for key in keys], sort=False).idxmin()]
    return chosen.join(best, on=keys)


def report(clustered: pd.DataFrame, output: Path) -> None:
    """Write the section."""
    chosen = choose(clustered)
    means = chosen.groupby(["dataset", "graph"], sort=False).mean(numeric_only=True)
    names = list(dict.fromkeys(chosen["dataset"]))
    parts = []
    for column in ("ari_type", "ari_batch"):
        rows = []
        for graph in GRAPHS:
            part = chosen[chosen["graph"] == graph].groupby("dataset")[column]
            rows.append([graph, *(mean_and_spread(part.get_group(name), 2) for name in names)])
        parts.append(table(["graph", *names], rows))
    highest = [
        [graph, *(number(means.loc[(name, graph), "highest"], 2) for name in names)]
        for graph in GRAPHS
    ]
    sizes = ", ".join(
        f"{name} {int(means.loc[(name, PLAIN), 'types'])} types of {PAIRS[name][2]}, without "
        f"{PAIRS[name][1]}"
        for name in names
    )
    write_section(
        output,
        "clustering",
        "## Clusters of the conditioned graph",
        "Leiden (scanpy, igraph) on graphs that `tl.ctsne(adata, label, store_graph=True)` stores, "
        "next to scanpy's plain graph of 15 neighbours, bbknn, and the same graph after "
        f"Harmony, all with their defaults. Of {len(RESOLUTIONS)} resolutions, every graph gets "
        "the one whose number of clusters is nearest to the number of hidden types. Mean of "
        f"{len(SEEDS)} seeds of Leiden ± half their range; hapt and ifnb are samples of "
        f"{MOST_POINTS:,} points. {sizes}. Raw values: [clustering.csv](clustering.csv).",
        "Adjusted Rand index against the hidden type: 1 if clusters and types are the same, 0 for "
        "random clusters.",
        parts[0],
        "Adjusted Rand index against the label that was factored out, which should be near 0. "
        "Types that differ in frequency between labels keep it above.",
        parts[1],
        "For comparison, the highest index against the type over all resolutions, which nobody "
        "can choose without knowing the types:",
        table(["graph", *names], highest),
        *_verdict(means, names),
    )


def _verdict(means: pd.DataFrame, names: list[str]) -> list[str]:
    """Say on which datasets the default graph is better or worse than the others."""
    lines = []
    for other in (PLAIN, BBKNN, HARMONY):
        lines.append(f"- {_compared(means, names, DEFAULT, other)}")
    changed = [each for each in GRAPHS if each.startswith(f"{DEFAULT},")]
    lines += [f"- {_compared(means, names, each, DEFAULT)}" for each in changed]
    return ["Against the type, counting differences of more than .02:", "\n".join(lines)]


def _compared(means: pd.DataFrame, names: list[str], one: str, two: str) -> str:
    apart = {
        name: means.loc[(name, one), "ari_type"] - means.loc[(name, two), "ari_type"]
        for name in names
    }
    better = [f"{name} (+{number(by, 2)})" for name, by in apart.items() if by > 0.02]
    worse = [f"{name} ({number(by, 2)})" for name, by in apart.items() if by < -0.02]
    return (
        f"`{one}` compared with `{two}`: better on {', '.join(better) or 'none'}; "
        f"worse on {', '.join(worse) or 'none'}."
    )
